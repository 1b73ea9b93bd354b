//! `runtime`: what a function may ask of a model runtime that it was lent or has opened.

use openprogram_core::content::ThinkingLevel;
use openprogram_core::failure::Failure;
use openprogram_core::function::RuntimeRef;
use wasmtime::component::Resource;

use super::to_wire;
use crate::bindings::openprogram::agentic::runtime as wire;
use crate::bindings::openprogram::agentic::types;
use crate::handles::{ReplyHandle, RequestHandle, RuntimeHandle, TurnHandle, UsageHandle};
use crate::state::CallState;

impl wire::Host for CallState {}

impl CallState {
    /// What a handle stands for.
    pub(super) fn runtime_of(
        &self,
        handle: &Resource<RuntimeHandle>,
    ) -> wasmtime::Result<RuntimeRef> {
        let handle = self.table.get(handle)?;
        if handle.call == self.call {
            return Ok(handle.runtime);
        }
        // No call opens so many, so this one is told that it has none of this number.
        Ok(RuntimeRef::Opened(u32::MAX))
    }
}

impl wire::HostRuntime for CallState {
    async fn open(
        &mut self,
        model: String,
    ) -> wasmtime::Result<Result<Resource<RuntimeHandle>, types::Failure>> {
        let opened = match self.services() {
            Ok(services) => services.open(&model).await,
            Err(failure) => Err(failure),
        };
        let opened = opened.map(|runtime| self.runtime_handle(runtime));
        self.pushed(opened)
    }

    async fn model(&mut self, runtime: Resource<RuntimeHandle>) -> wasmtime::Result<String> {
        let of = self.runtime_of(&runtime)?;
        let model = self.services().and_then(|services| services.model(of));
        // The getter has no failure in the contract; a runtime has a model.
        Ok(model.unwrap_or_default())
    }

    async fn system(
        &mut self,
        runtime: Resource<RuntimeHandle>,
    ) -> wasmtime::Result<Option<String>> {
        let of = self.runtime_of(&runtime)?;
        let system = self.services().and_then(|services| services.system(of));
        Ok(system.unwrap_or_default())
    }

    async fn set_system(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        text: Option<String>,
    ) -> wasmtime::Result<Result<(), types::Failure>> {
        let of = self.runtime_of(&runtime)?;
        let max = self.limits.system_bytes;
        if text.as_ref().is_some_and(|text| text.len() as u64 > max) {
            let message = format!("the system prompt is longer than {max} bytes");
            let failure = Failure::limit("system_bytes", max, message);
            return Ok(Err(to_wire(&failure)));
        }
        let set = self
            .services()
            .and_then(|services| services.set_system(of, text));
        Ok(set.map_err(|failure| to_wire(&failure)))
    }

    async fn thinking_level(
        &mut self,
        runtime: Resource<RuntimeHandle>,
    ) -> wasmtime::Result<wire::ThinkingLevel> {
        let of = self.runtime_of(&runtime)?;
        let level = self.services().and_then(|s| s.thinking_level(of));
        Ok(match level.unwrap_or_default() {
            ThinkingLevel::Off => wire::ThinkingLevel::Off,
            ThinkingLevel::Low => wire::ThinkingLevel::Low,
            ThinkingLevel::Medium => wire::ThinkingLevel::Medium,
            ThinkingLevel::High => wire::ThinkingLevel::High,
            ThinkingLevel::XHigh => wire::ThinkingLevel::Xhigh,
        })
    }

    async fn set_thinking_level(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        level: wire::ThinkingLevel,
    ) -> wasmtime::Result<Result<(), types::Failure>> {
        let of = self.runtime_of(&runtime)?;
        let level = match level {
            wire::ThinkingLevel::Off => ThinkingLevel::Off,
            wire::ThinkingLevel::Low => ThinkingLevel::Low,
            wire::ThinkingLevel::Medium => ThinkingLevel::Medium,
            wire::ThinkingLevel::High => ThinkingLevel::High,
            wire::ThinkingLevel::Xhigh => ThinkingLevel::XHigh,
        };
        let services = self.services();
        let set = services.and_then(|services| services.set_thinking_level(of, level));
        Ok(set.map_err(|failure| to_wire(&failure)))
    }

    async fn max_retries(&mut self, runtime: Resource<RuntimeHandle>) -> wasmtime::Result<u32> {
        let of = self.runtime_of(&runtime)?;
        let most = self
            .services()
            .and_then(|services| services.max_retries(of));
        // The getter has no failure in the contract; a request is made once at least.
        Ok(most.unwrap_or(1))
    }

    async fn last_usage(
        &mut self,
        runtime: Resource<RuntimeHandle>,
    ) -> wasmtime::Result<Option<Resource<UsageHandle>>> {
        let of = self.runtime_of(&runtime)?;
        let usage = self.services().and_then(|services| services.last_usage(of));
        let usage = usage.unwrap_or_default().map(UsageHandle);
        Ok(usage.map(|usage| self.table.push(usage)).transpose()?)
    }

    async fn session_id(&mut self, runtime: Resource<RuntimeHandle>) -> wasmtime::Result<String> {
        self.runtime_of(&runtime)?;
        let services = self.services();
        Ok(services.map_or_else(|_| String::new(), |services| services.session_id()))
    }

    async fn exec(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        request: Resource<RequestHandle>,
    ) -> wasmtime::Result<Result<Resource<ReplyHandle>, types::Failure>> {
        let of = self.runtime_of(&runtime)?;
        let made = match self.turn(of, &request)? {
            Ok(turn) => match self.services() {
                Ok(services) => services.exec(turn).await,
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        self.pushed(made.map(ReplyHandle))
    }

    async fn close(
        &mut self,
        runtime: Resource<RuntimeHandle>,
    ) -> wasmtime::Result<Result<(), types::Failure>> {
        let of = self.runtime_of(&runtime)?;
        let closed = self.services().and_then(|services| services.close(of));
        Ok(closed.map_err(|failure| to_wire(&failure)))
    }

    async fn start(
        &mut self,
        runtime: Resource<RuntimeHandle>,
        request: Resource<RequestHandle>,
    ) -> wasmtime::Result<Result<Resource<TurnHandle>, types::Failure>> {
        let of = self.runtime_of(&runtime)?;
        let started = match self.turn(of, &request)? {
            Ok(turn) => {
                let takes_restarts = self.takes_restarts(&request)?;
                self.start_turn(turn, takes_restarts).await
            }
            Err(failure) => Err(failure),
        };
        self.pushed(started)
    }

    async fn drop(&mut self, runtime: Resource<RuntimeHandle>) -> wasmtime::Result<()> {
        self.table.delete(runtime)?;
        Ok(())
    }
}
