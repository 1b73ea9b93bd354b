//! `decision`: menus are collected here, decided by the services of the call.

use openprogram_core::Json;
use openprogram_core::decision::{OptionKind, parse_schema};
use openprogram_core::failure::Failure;
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::{Closing, DecisionRequest};
use wasmtime::component::Resource;

use super::functions::not_json;
use super::to_wire;
use crate::bindings::openprogram::agentic::decision as wire;
use crate::bindings::openprogram::agentic::types;
use crate::convert::parse_json;
use crate::handles::{
    MenuHandle, PickedHandle, RETRIES_DEFAULT, RequestHandle, RuntimeHandle, invalid,
};
use crate::state::CallState;

/// The most times a model is asked again; from the contract.
const RETRIES_MAX: u32 = 10;

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

    /// The ending that a menu stands for, of a turn made with this runtime.
    fn closing(
        &self,
        role: RuntimeRole,
        menu: &Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Closing, Failure>> {
        let menu = self.table.get(menu)?;
        Ok(if let Some(refused) = &menu.refused {
            Err(refused.clone())
        } else if menu.runtime.is_some_and(|own| own != role) {
            let message = "a turn closes with the runtime that makes it, and the menu names \
                           another; leave the runtime of the menu out";
            Err(invalid("runtime", message.to_owned()))
        } else if menu.max_retries != RETRIES_DEFAULT {
            let message = "a turn that closes with a decision asks again once; leave the retries \
                           of the menu out";
            Err(invalid("max_retries", message.to_owned()))
        } else {
            Ok(Closing {
                options: menu.options.clone(),
                context: menu.context.clone(),
            })
        })
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

    async fn close_with(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        request: Resource<RequestHandle>,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let role = self.role(&runtime)?;
        let turn = self.turn(role, &request)?;
        let closing = self.closing(role, &menu)?;
        let closed = match turn.and_then(|turn| Ok((turn, closing?, self.services()?))) {
            Ok((turn, closing, services)) => services.exec_closing(turn, closing).await,
            Err(failure) => Err(failure),
        };
        Ok(match closed {
            Ok(value) => Ok(value.to_string()),
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
            let path = menu.path();
            let schema = parse_json(&schema, limits.json_depth)
                .map_err(|error| not_json(&format!("{path}.schema"), &error, limits.json_depth))?;
            let fields = parse_schema(&schema).map_err(|error| {
                let path = format!("{path}.{}", error.path);
                invalid(&path, format!("`{path}`: {}", error.message))
            })?;
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
            let Json::Object(context) = context else {
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
        Ok(Json::Object(arguments).to_string())
    }

    async fn how(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&picked)?.0.how.clone())
    }

    async fn drop(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<()> {
        self.table.delete(picked)?;
        Ok(())
    }
}
