//! `decision`: menus are collected here, decided by the services of the call.

use std::collections::HashSet;

use openprogram_core::JsonObject;
use openprogram_core::decision::{OptionKind, OptionSpec};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::{DecisionRequest, PickedOption};
use wasmtime::component::Resource;

use super::functions::not_json;
use super::{RuntimeHandle, menu_schema, to_wire};
use crate::bindings::openprogram::agentic::decision as wire;
use crate::bindings::openprogram::agentic::types;
use crate::convert::parse_json;
use crate::instance::CallState;
use crate::limits::Limits;

/// How many times a model is asked again when a menu does not say; from the contract.
const RETRIES_DEFAULT: u32 = 1;
/// The most times a model is asked again; from the contract.
const RETRIES_MAX: u32 = 10;

/// The options of one decision as a guest collects them.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct MenuHandle {
    options: Vec<OptionSpec>,
    names: HashSet<String>,
    context: JsonObject,
    max_retries: u32,
    runtime: Option<RuntimeRole>,
    bytes: u64,
    /// The first thing a setter could not accept; told when the menu is used.
    refused: Option<Failure>,
}

/// A pick that was not carried out.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct PickedHandle(PickedOption);

impl MenuHandle {
    fn new() -> Self {
        Self {
            options: Vec::new(),
            names: HashSet::new(),
            context: JsonObject::new(),
            max_retries: RETRIES_DEFAULT,
            runtime: None,
            bytes: 0,
            refused: None,
        }
    }

    /// Lets a setter work, unless an earlier one was refused: a menu that cannot be used must not
    /// grow either.
    fn set(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) {
        if self.refused.is_none()
            && let Err(failure) = work(self)
        {
            self.refused = Some(failure);
        }
    }

    /// Counts the texts of the menu.
    fn pay(&mut self, texts: &[&str], limits: &Limits) -> Result<(), Failure> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        self.bytes = self.bytes.saturating_add(bytes as u64);
        let max = limits.menu_bytes;
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
    fn path(&self) -> String {
        format!("options[{}]", self.options.len())
    }

    fn add(
        &mut self,
        name: String,
        description: Option<String>,
        kind: OptionKind,
        limits: &Limits,
    ) -> Result<(), Failure> {
        let path = self.path();
        let max = limits.menu_options;
        if self.options.len() as u64 >= max {
            let message = format!("the menu has more than {max} options");
            return Err(invalid(&path, message));
        }
        if name.is_empty() {
            return Err(invalid(&path, "the option has no name".to_owned()));
        }
        if !self.names.insert(name.clone()) {
            let shown: String = name.chars().take(128).collect();
            let message = format!("the menu has two options `{shown}`");
            return Err(invalid(&path, message));
        }
        self.options.push(OptionSpec {
            name,
            description,
            kind,
        });
        Ok(())
    }
}

fn invalid(path: &str, message: String) -> Failure {
    Failure::new(FailureCode::InvalidArgument, message).with("path", path)
}

impl CallState {
    /// The decision that a menu stands for.
    fn request(
        &self,
        prompt: String,
        menu: &Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<DecisionRequest, Failure>> {
        let menu = self.table.get(menu)?;
        if let Some(refused) = &menu.refused {
            return Ok(Err(refused.clone()));
        }
        let request = self.check_text("the prompt", &prompt);
        Ok(request.map(|()| DecisionRequest {
            prompt,
            options: menu.options.clone(),
            context: menu.context.clone(),
            max_retries: menu.max_retries,
            runtime: menu.runtime,
        }))
    }
}

impl wire::Host for CallState {
    async fn make(
        &mut self,
        prompt: String,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let made = match self.request(prompt, &menu)? {
            Ok(request) => match self.services() {
                Ok(services) => services.make(request).await,
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        Ok(match made {
            Ok(value) => Ok(value.to_string()),
            Err(failure) => Err(to_wire(&failure)),
        })
    }

    async fn pick(
        &mut self,
        prompt: String,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Resource<PickedHandle>, types::Failure>> {
        let picked = match self.request(prompt, &menu)? {
            Ok(request) => match self.services() {
                Ok(services) => services.pick(request).await,
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        Ok(match picked {
            Ok(picked) => Ok(self.table.push(PickedHandle(picked))?),
            Err(failure) => Err(to_wire(&failure)),
        })
    }
}

impl wire::HostMenu for CallState {
    async fn new(&mut self) -> wasmtime::Result<Resource<MenuHandle>> {
        Ok(self.table.push(MenuHandle::new())?)
    }

    async fn add_function(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        function: String,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, limits) = (self.table.get_mut(&menu)?, &self.limits);
        menu.set(|menu| {
            let texts = [&name, &function, description.as_deref().unwrap_or("")];
            menu.pay(&texts, limits)?;
            menu.add(name, description, OptionKind::Function(function), limits)
        });
        Ok(())
    }

    async fn add_value(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        value: String,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, limits) = (self.table.get_mut(&menu)?, &self.limits);
        menu.set(|menu| {
            let texts = [&name, &value, description.as_deref().unwrap_or("")];
            menu.pay(&texts, limits)?;
            let path = format!("{}.value", menu.path());
            let value = parse_json(&value, limits.json_depth)
                .map_err(|error| not_json(&path, &error, limits.json_depth))?;
            menu.add(name, description, OptionKind::Value(value), limits)
        });
        Ok(())
    }

    async fn add_schema(
        &mut self,
        menu: Resource<MenuHandle>,
        name: String,
        schema: String,
        description: Option<String>,
    ) -> wasmtime::Result<()> {
        let (menu, limits) = (self.table.get_mut(&menu)?, &self.limits);
        menu.set(|menu| {
            let texts = [&name, &schema, description.as_deref().unwrap_or("")];
            menu.pay(&texts, limits)?;
            let path = format!("{}.schema", menu.path());
            let schema = parse_json(&schema, limits.json_depth)
                .map_err(|error| not_json(&path, &error, limits.json_depth))?;
            let fields = menu_schema::parse(&schema, &path)?;
            menu.add(name, description, OptionKind::Schema(fields), limits)
        });
        Ok(())
    }

    async fn set_context(
        &mut self,
        menu: Resource<MenuHandle>,
        context: String,
    ) -> wasmtime::Result<()> {
        let (menu, limits) = (self.table.get_mut(&menu)?, &self.limits);
        menu.set(|menu| {
            menu.pay(&[&context], limits)?;
            let context = parse_json(&context, limits.json_depth)
                .map_err(|error| not_json("context", &error, limits.json_depth))?;
            let openprogram_core::Json::Object(context) = context else {
                let message = "`context` must be a JSON object".to_owned();
                return Err(invalid("context", message));
            };
            menu.context = context;
            Ok(())
        });
        Ok(())
    }

    async fn set_max_retries(
        &mut self,
        menu: Resource<MenuHandle>,
        max_retries: u32,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&menu)?.set(|menu| {
            if max_retries > RETRIES_MAX {
                let message = format!("a model is asked again at most {RETRIES_MAX} times");
                return Err(invalid("max_retries", message));
            }
            menu.max_retries = max_retries;
            Ok(())
        });
        Ok(())
    }

    async fn set_runtime(
        &mut self,
        menu: Resource<MenuHandle>,
        runtime: Resource<RuntimeHandle>,
    ) -> wasmtime::Result<()> {
        let role = self.table.get(&runtime)?.role;
        self.table.get_mut(&menu)?.runtime = Some(role);
        Ok(())
    }

    async fn drop(&mut self, menu: Resource<MenuHandle>) -> wasmtime::Result<()> {
        self.table.delete(menu)?;
        Ok(())
    }
}

impl wire::HostPicked for CallState {
    async fn name(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&picked)?.0.name.clone())
    }

    async fn arguments(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        let arguments = self.table.get(&picked)?.0.arguments.clone();
        Ok(openprogram_core::Json::Object(arguments).to_string())
    }

    async fn how(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&picked)?.0.how.clone())
    }

    async fn drop(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<()> {
        self.table.delete(picked)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(menu: &mut MenuHandle, name: &str, limits: &Limits) {
        menu.set(|menu| {
            menu.pay(&[name], limits)?;
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
}
