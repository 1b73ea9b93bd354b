//! The options of one decision as a guest collects them, setter by setter.
//!
//! What a setter cannot accept is remembered and told when the menu is used, because setters have
//! no result in the contract.

use std::collections::HashSet;

use openprogram_core::JsonObject;
use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{
    DecisionSettings, GROUPS_MAX, OptionGroup, OptionKind, OptionSpec,
};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;

use super::media::MediaCount;
use super::turn::Held;
use crate::limits::Limits;

/// How many times a model is asked again when a menu does not say; from the contract.
pub(crate) const RETRIES_DEFAULT: u32 = 1;

/// The options of one decision as a guest collects them.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct MenuHandle {
    options: Vec<OptionSpec>,
    names: HashSet<String>,
    pub(crate) context: JsonObject,
    pub(crate) max_retries: u32,
    pub(crate) runtime: Option<RuntimeRef>,
    pub(crate) settings: DecisionSettings,
    /// What is shown with the prompt.
    pub(crate) media: Vec<ContentBlock>,
    pub(super) counted: MediaCount,
    /// How much the media holds, to be given back when the menu is dropped.
    pub(crate) media_bytes: u64,
    /// The option for none of the others, which stands after them.
    exit: Option<OptionSpec>,
    bytes: u64,
    /// The first thing a setter could not accept; told when the menu is used.
    pub(crate) refused: Option<Failure>,
}

impl MenuHandle {
    pub(crate) fn new() -> Self {
        Self {
            options: Vec::new(),
            names: HashSet::new(),
            context: JsonObject::new(),
            max_retries: RETRIES_DEFAULT,
            runtime: None,
            settings: DecisionSettings::default(),
            media: Vec::new(),
            counted: MediaCount::default(),
            media_bytes: 0,
            exit: None,
            bytes: 0,
            refused: None,
        }
    }

    /// Lets a setter work, unless an earlier one was refused: a menu that cannot be used must not
    /// grow either.
    pub(crate) fn set(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) {
        if self.refused.is_none()
            && let Err(failure) = work(self)
        {
            self.refused = Some(failure);
        }
    }

    /// How much its words hold, to be given back when it is dropped.
    pub(crate) fn held(&self) -> u64 {
        self.bytes
    }

    /// Counts the texts of the menu.
    pub(crate) fn pay(&mut self, texts: &[&str], held: &mut Held<'_>) -> Result<(), Failure> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        hold(bytes as u64, held)?;
        self.bytes = self.bytes.saturating_add(bytes as u64);
        let max = held.limits.menu_bytes;
        if self.bytes <= max {
            return Ok(());
        }
        let path = self.path();
        Err(invalid(
            &path,
            format!("the menu is longer than {max} bytes"),
        ))
    }

    /// Where the option stands that is being added.
    pub(crate) fn path(&self) -> String {
        format!("options[{}]", self.options.len())
    }

    pub(crate) fn add(
        &mut self,
        name: String,
        description: Option<String>,
        kind: OptionKind,
        limits: &Limits,
    ) -> Result<(), Failure> {
        self.name(&name, limits)?;
        self.options.push(OptionSpec {
            name,
            description,
            kind,
        });
        Ok(())
    }

    /// Takes the name of an option, which must be its own.
    fn name(&mut self, name: &str, limits: &Limits) -> Result<(), Failure> {
        let path = self.path();
        let max = limits.menu_options;
        if self.names.len() as u64 >= max {
            let message = format!("the menu has more than {max} options");
            return Err(invalid(&path, message));
        }
        if name.is_empty() {
            return Err(invalid(&path, "the option has no name".to_owned()));
        }
        if !self.names.insert(name.to_owned()) {
            let shown: String = name.chars().take(128).collect();
            let message = format!("the menu has two options `{shown}`");
            return Err(invalid(&path, message));
        }
        Ok(())
    }

    /// Sets the option for none of the others; a later one takes the place of an earlier one.
    pub(crate) fn set_exit(&mut self, exit: OptionSpec, limits: &Limits) -> Result<(), Failure> {
        if let Some(earlier) = self.exit.take() {
            self.names.remove(&earlier.name);
        }
        self.name(&exit.name, limits)?;
        self.exit = Some(exit);
        Ok(())
    }

    pub(crate) fn add_group(&mut self, group: OptionGroup) -> Result<(), Failure> {
        if self.settings.groups.len() >= GROUPS_MAX {
            let message = format!("the menu has more than {GROUPS_MAX} groups");
            return Err(invalid("groups", message));
        }
        self.settings.groups.push(group);
        Ok(())
    }

    /// All options, the one for none of the others last.
    pub(crate) fn all_options(&self) -> Vec<OptionSpec> {
        self.options.iter().chain(&self.exit).cloned().collect()
    }
}

/// Counts what all menus and picks of a call hold together.
///
/// # Errors
/// `limit-reached`, and nothing is counted.
pub(crate) fn hold(bytes: u64, held: &mut Held<'_>) -> Result<(), Failure> {
    let max = held.limits.menus_bytes;
    if *held.bytes + bytes > max {
        let message = format!("all menus and picks of one call hold at most {max} bytes together");
        return Err(Failure::limit("menus_bytes", max, message));
    }
    *held.bytes += bytes;
    Ok(())
}

pub(crate) fn invalid(path: &str, message: String) -> Failure {
    Failure::new(FailureCode::InvalidArgument, message).with("path", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(menu: &mut MenuHandle, name: &str, limits: &Limits) {
        let mut bytes = 0;
        let mut held = Held {
            limits,
            bytes: &mut bytes,
        };
        menu.set(|menu| {
            menu.pay(&[name], &mut held)?;
            let kind = OptionKind::Function("f".to_owned());
            menu.add(name.to_owned(), None, kind, limits)
        });
    }

    #[track_caller]
    fn check(names: &[&str], limits: &Limits, expected: Option<&str>) {
        let mut menu = MenuHandle::new();
        for name in names {
            add(&mut menu, name, limits);
        }
        let told = menu.refused.as_ref().map(ToString::to_string);
        assert_eq!(told.as_deref(), expected);
    }

    #[test]
    fn what_a_setter_cannot_accept_is_told_later_and_stops_the_menu() {
        let limits = Limits {
            menu_options: 3,
            menu_bytes: 10,
            ..Limits::default()
        };
        check(&["a", "b", "c"], &limits, None);
        check(&["a", "a"], &limits, Some("the menu has two options `a`"));
        check(&["a", ""], &limits, Some("the option has no name"));
        check(
            &["a", "b", "c", "d"],
            &limits,
            Some("the menu has more than 3 options"),
        );
        check(
            &["aaaaaa", "bbbbbb"],
            &limits,
            Some("the menu is longer than 10 bytes"),
        );
        let mut menu = MenuHandle::new();
        for name in ["a", "a", "b"] {
            add(&mut menu, name, &limits);
        }
        assert_eq!(menu.options.len(), 1);
        let path = menu.refused.and_then(|f| f.details.get("path").cloned());
        assert_eq!(path, Some("options[1]".into()));
    }

    #[test]
    fn all_menus_of_a_call_hold_so_much_together() {
        let limits = Limits {
            menus_bytes: 10,
            ..Limits::default()
        };
        let mut bytes = 0;
        let mut pay = |text: &str| {
            let mut held = Held {
                limits: &limits,
                bytes: &mut bytes,
            };
            MenuHandle::new().pay(&[text], &mut held)
        };
        assert_eq!(pay("123456"), Ok(()));
        let failure = pay("12345").unwrap_err();
        assert_eq!(failure.details["which"], "menus_bytes");
        assert_eq!(pay("1234"), Ok(()), "what was refused is not held");
    }
}
