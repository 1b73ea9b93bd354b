//! `decision`: what is decided over a menu is put to the services of the call.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::failure::Failure;
use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::{Closing, DecisionRequest, ExecRequest, HostServices, PickedOption};
use wasmtime::component::Resource;

use super::to_wire;
use crate::bindings::openprogram::agentic::decision as wire;
use crate::bindings::openprogram::agentic::types;
use crate::handles::{
    Held, MenuHandle, PickedHandle, RETRIES_DEFAULT, RequestHandle, RuntimeHandle, TurnHandle,
    hold, invalid,
};
use crate::started::Gave;
use crate::state::CallState;

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
            media: menu.media.clone(),
            options: menu.all_options(),
            context: menu.context.clone(),
            max_retries: menu.max_retries,
            runtime: menu.runtime,
            settings: menu.settings.clone(),
        }))
    }

    /// The ending that a menu stands for, of a turn made with this runtime.
    fn closing(
        &self,
        made_with: RuntimeRef,
        menu: &Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Closing, Failure>> {
        let menu = self.table.get(menu)?;
        Ok(if let Some(refused) = &menu.refused {
            Err(refused.clone())
        } else if menu.runtime.is_some_and(|own| own != made_with) {
            let message = "a turn closes with the runtime that makes it, and the menu names \
                           another; leave the runtime of the menu out";
            Err(invalid("runtime", message.to_owned()))
        } else if menu.max_retries != RETRIES_DEFAULT {
            let message = "a turn that closes with a decision asks again once; leave the retries \
                           of the menu out";
            Err(invalid("max_retries", message.to_owned()))
        } else if !menu.settings.is_default() {
            let message = "a turn that closes with a decision is made once; leave the votes, the \
                           groups and the minimum of confidence of the menu out";
            Err(invalid("settings", message.to_owned()))
        } else if !menu.media.is_empty() {
            let message = "a turn that closes with a decision shows what its request shows; leave \
                           pictures, films and sound out of the menu";
            Err(invalid("media", message.to_owned()))
        } else {
            Ok(Closing {
                options: menu.all_options(),
                context: menu.context.clone(),
            })
        })
    }
}

impl CallState {
    /// A turn that closes with a decision, both as the guest prepared them.
    fn turn_closing(
        &self,
        runtime: &Resource<RuntimeHandle>,
        request: &Resource<RequestHandle>,
        menu: &Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<(ExecRequest, Closing), Failure>> {
        let made_with = self.runtime_of(runtime)?;
        let turn = self.turn(made_with, request)?;
        let closing = self.closing(made_with, menu)?;
        Ok(turn.and_then(|turn| Ok((turn, closing?))))
    }

    /// Something prepared and the services to put it to.
    fn with_services<T>(
        &self,
        prepared: Result<T, Failure>,
    ) -> Result<(T, Arc<dyn HostServices>), Failure> {
        Ok((prepared?, self.services()?))
    }

    /// Lends a pick to the guest, or tells why there is none.
    fn lend(
        &mut self,
        picked: Result<PickedOption, Failure>,
    ) -> wasmtime::Result<Result<Resource<PickedHandle>, types::Failure>> {
        let lent = picked.and_then(|picked| {
            let arguments = Json::Object(picked.arguments.clone()).to_string();
            let held = arguments.len() as u64;
            let all = &mut Held {
                limits: &self.limits,
                bytes: &mut self.menu_bytes,
            };
            hold(held, all)?;
            Ok(PickedHandle { picked, held })
        });
        self.pushed(lent)
    }
}

fn as_text(value: Result<Json, Failure>) -> Result<String, types::Failure> {
    match value {
        Ok(value) => Ok(value.to_string()),
        Err(failure) => Err(to_wire(&failure)),
    }
}

impl wire::Host for CallState {
    async fn make(
        &mut self,
        prompt: String,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let request = self.request(prompt, &menu)?;
        Ok(as_text(match self.with_services(request) {
            Ok((request, services)) => services.make(request).await,
            Err(failure) => Err(failure),
        }))
    }

    async fn pick(
        &mut self,
        prompt: String,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Resource<PickedHandle>, types::Failure>> {
        let request = self.request(prompt, &menu)?;
        let picked = match self.with_services(request) {
            Ok((request, services)) => services.pick(request).await,
            Err(failure) => Err(failure),
        };
        self.lend(picked)
    }

    async fn resolve(
        &mut self,
        picked: Resource<PickedHandle>,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let request = self.request(String::new(), &menu)?;
        let picked = self.table.get(&picked)?.picked.clone();
        Ok(as_text(match self.with_services(request) {
            Ok((request, services)) => services.resolve(request, picked).await,
            Err(failure) => Err(failure),
        }))
    }

    async fn render(
        &mut self,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let request = self.request(String::new(), &menu)?;
        let text = match self.with_services(request) {
            Ok((request, services)) => services.render(request).await,
            Err(failure) => Err(failure),
        };
        Ok(text.map_err(|failure| to_wire(&failure)))
    }

    async fn parse(
        &mut self,
        reply: String,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Resource<PickedHandle>, types::Failure>> {
        let request = self.request(String::new(), &menu)?;
        let picked = match self.with_services(request) {
            Ok((request, services)) => services.parse(reply, request).await,
            Err(failure) => Err(failure),
        };
        self.lend(picked)
    }

    async fn close_with(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        request: Resource<RequestHandle>,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let planned = self.turn_closing(&runtime, &request, &menu)?;
        Ok(as_text(match self.with_services(planned) {
            Ok(((turn, closing), services)) => services.exec_closing(turn, closing).await,
            Err(failure) => Err(failure),
        }))
    }

    async fn pick_with(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        request: Resource<RequestHandle>,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Resource<PickedHandle>, types::Failure>> {
        let planned = self.turn_closing(&runtime, &request, &menu)?;
        let picked = match self.with_services(planned) {
            Ok(((turn, closing), services)) => services.exec_picking(turn, closing).await,
            Err(failure) => Err(failure),
        };
        self.lend(picked)
    }

    async fn start_with(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        request: Resource<RequestHandle>,
        menu: Resource<MenuHandle>,
    ) -> wasmtime::Result<Result<Resource<TurnHandle>, types::Failure>> {
        let started = match self.turn_closing(&runtime, &request, &menu)? {
            Ok(planned) => {
                let takes_restarts = self.takes_restarts(&request)?;
                self.start_choice(planned, takes_restarts).await
            }
            Err(failure) => Err(failure),
        };
        self.pushed(started)
    }

    async fn pick_of(
        &mut self,
        turn: Resource<TurnHandle>,
    ) -> wasmtime::Result<Option<Result<Resource<PickedHandle>, types::Failure>>> {
        let picked = match self.inbox(&turn)?.outcome() {
            None => return Ok(None),
            Some(Ok(Gave::Pick(picked))) => Ok(picked),
            Some(Ok(Gave::Reply(_))) => {
                let message = "the turn ends in an answer; its `outcome` tells it";
                Err(invalid("turn", message.to_owned()))
            }
            Some(Err(failure)) => Err(failure),
        };
        Ok(Some(self.lend(picked)?))
    }
}

impl wire::HostPicked for CallState {
    async fn name(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&picked)?.picked.name.clone())
    }

    async fn arguments(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        let arguments = self.table.get(&picked)?.picked.arguments.clone();
        Ok(Json::Object(arguments).to_string())
    }

    async fn how(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&picked)?.picked.how.clone())
    }

    async fn confidence(
        &mut self,
        picked: Resource<PickedHandle>,
    ) -> wasmtime::Result<Option<f64>> {
        let confidence = self.table.get(&picked)?.picked.confidence;
        Ok(confidence.map(|known| known.value))
    }

    async fn confidence_source(
        &mut self,
        picked: Resource<PickedHandle>,
    ) -> wasmtime::Result<Option<String>> {
        let confidence = self.table.get(&picked)?.picked.confidence;
        Ok(confidence.map(|known| known.source.as_str().to_owned()))
    }

    async fn handed_off(
        &mut self,
        picked: Resource<PickedHandle>,
    ) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&picked)?.picked.handed_off.clone())
    }

    async fn drop(&mut self, picked: Resource<PickedHandle>) -> wasmtime::Result<()> {
        let picked = self.table.delete(picked)?;
        self.menu_bytes -= picked.held;
        Ok(())
    }
}
