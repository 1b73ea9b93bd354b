//! A large menu in two stages: the model picks a group, then one option of it.
//!
//! Both stages are ordinary menus, so their replies are read and checked like any other.

use std::collections::HashMap;

use super::menu::{Menu, MenuError};
use super::option::{MenuOption, Payload};
use super::pick::Pick;
use crate::schema::{names_equal, quoted};

/// How many groups one menu may have.
pub const GROUPS_MAX: usize = 64;
/// How many of the options of a group its line in the first menu names.
const NAMED_MAX: usize = 20;

/// Options that are picked from together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionGroup {
    /// The name the model picks first; no option outside the groups may have it.
    pub name: String,
    /// When to look into it.
    pub description: Option<String>,
    /// The names of its options, at least one; no option is in two groups.
    pub options: Vec<String>,
}

/// Why groups do not fit a menu.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// There are too many.
    #[error("the menu has {count} groups, more than the limit of {GROUPS_MAX}; merge some")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A group without options.
    #[error("the group {group} has no options; add one or leave the group out")]
    Empty {
        /// Its name, quoted and cut.
        group: String,
    },
    /// A group names an option that the menu does not have.
    #[error("the group {group} names {option}, which is not one of the options")]
    Unknown {
        /// The name of the group, quoted and cut.
        group: String,
        /// The name of the option, quoted and cut.
        option: String,
    },
    /// An option stands in two groups, or twice in one.
    #[error("the option {option} is in the groups twice; name it once")]
    Twice {
        /// The name of the option, quoted and cut.
        option: String,
    },
    /// The menu of one of the stages cannot be made.
    #[error("the menu of the groups cannot be made: {0}")]
    Menu(#[from] MenuError),
}

/// A menu in two stages.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupedMenu {
    first: Menu,
    /// The second menu of each group; they stand first in the first menu.
    second: Vec<Menu>,
}

impl GroupedMenu {
    /// Makes the stages: the groups and then the options outside them; the options of each group.
    ///
    /// # Errors
    /// When a group is empty, or an option is unknown or in the groups twice.
    pub fn new(menu: &Menu, groups: &[OptionGroup]) -> Result<Self, GroupError> {
        let count = groups.len();
        if count > GROUPS_MAX {
            return Err(GroupError::TooMany { count });
        }
        let places = menu.options().iter().enumerate();
        let places: HashMap<_, _> = places
            .map(|(place, option)| (folded(&option.name), place))
            .collect();
        let mut is_free = vec![true; menu.options().len()];
        let mut first = Vec::new();
        let mut second = Vec::with_capacity(count);
        for group in groups {
            if group.options.is_empty() {
                let group = quoted(&group.name);
                return Err(GroupError::Empty { group });
            }
            let mut options = Vec::with_capacity(group.options.len());
            for name in &group.options {
                let Some(place) = places.get(&folded(name)).copied() else {
                    return Err(GroupError::Unknown {
                        group: quoted(&group.name),
                        option: quoted(name),
                    });
                };
                if !std::mem::take(&mut is_free[place]) {
                    let option = quoted(name);
                    return Err(GroupError::Twice { option });
                }
                options.push(menu.options()[place].clone());
            }
            first.push(as_option(group, &options));
            second.push(Menu::new(options)?);
        }
        let rest = menu.options().iter().zip(is_free);
        first.extend(
            rest.filter(|(_, free)| *free)
                .map(|(option, _)| option.clone()),
        );
        Ok(Self {
            first: Menu::new(first)?,
            second,
        })
    }

    /// The menu that the model sees first.
    #[must_use]
    pub fn first(&self) -> &Menu {
        &self.first
    }

    /// The menu to show after a pick from the first one; `None` when the pick is no group.
    #[must_use]
    pub fn second(&self, pick: &Pick) -> Option<&Menu> {
        self.second.get(pick.index)
    }
}

fn folded(name: &str) -> String {
    name.replace('-', "_")
}

/// A group as an option of the first menu: what it is for, and the names of what it holds.
fn as_option(group: &OptionGroup, options: &[MenuOption]) -> MenuOption {
    let mut names: Vec<_> = options
        .iter()
        .take(NAMED_MAX)
        .map(|o| quoted(&o.name))
        .collect();
    if options.len() > NAMED_MAX {
        names.push(format!("… {} more", options.len() - NAMED_MAX));
    }
    let holds = format!("Leads to: {}", names.join(", "));
    let own = group
        .description
        .as_deref()
        .map(str::trim)
        .unwrap_or_default();
    let description = if own.is_empty() {
        holds
    } else {
        format!("{own}\n{holds}")
    };
    let payload = Payload::Value(group.name.as_str().into());
    MenuOption::new(group.name.clone(), Some(description), payload)
}

impl Menu {
    /// The same pick as one of this menu, told by the name of its option; `None` when the menu has
    /// no such option.
    #[must_use]
    pub fn adopt(&self, pick: Pick) -> Option<Pick> {
        let own = self.options().get(pick.index);
        if own.is_some_and(|option| names_equal(&option.name, &pick.name)) {
            return Some(pick);
        }
        let (index, _) = self.find(&pick.name)?;
        Some(Pick { index, ..pick })
    }
}
