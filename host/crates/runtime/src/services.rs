//! What one function may ask while it runs: the gate between a guest and everything else.

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::content::ThinkingLevel;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, RuntimeRef};
use openprogram_core::grant::Access;
use openprogram_core::guest::{
    ApprovalRequest, Closing, DecisionRequest, ExecReply, ExecRequest, HostServices, ImportError,
    PickedOption, StartedPick, StartedTurn, TurnWatcher, not_ones_own,
};
use openprogram_core::question::{AskReply, AskRequest};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};

use crate::approval::approve_use;
use crate::asking::{ask_user, can_ask};
use crate::call::call_by_name;
use crate::chosen_provider::provider_of;
use crate::closing::{exec_closing, exec_picking, start_picking};
use crate::complete::thinking_facts;
use crate::decide::{make_decision, pick_option};
use crate::events::Event;
use crate::exec::{exec, start};
use crate::frame::Frame;
use crate::imported::call_import;
use crate::limits::SYSTEM_BYTES_MAX;
use crate::menu::render_for_frame;
use crate::open_runtime::open_runtime;
use crate::parse::parse_for_frame;
use crate::ports::{Ports, ServicesForFrame};
use crate::reports::told;
use crate::resolve::resolve_picked;

/// Makes the services of child frames; the other end of the knot in [`ServicesForFrame`].
pub(crate) struct FrameServices;

impl ServicesForFrame for FrameServices {
    fn services(&self, ports: &Arc<Ports>, frame: &Arc<Frame>) -> Arc<dyn HostServices> {
        Arc::new(Services {
            ports: Arc::clone(ports),
            frame: Arc::clone(frame),
        })
    }
}

struct Services {
    ports: Arc<Ports>,
    frame: Arc<Frame>,
}

impl Services {
    /// A handle that outlived its call has no rights any more.
    fn check_running(&self) -> Result<(), Failure> {
        if self.frame.has_ended() {
            return Err(Failure::new(
                FailureCode::Cancelled,
                "the call that asks is over",
            ));
        }
        Ok(())
    }

    fn check_usable(&self, runtime: RuntimeRef) -> Result<(), Failure> {
        self.check_running()?;
        self.frame.check_usable(runtime)
    }
}

#[async_trait]
impl HostServices for Services {
    async fn open(&self, model: &str) -> Result<RuntimeRef, Failure> {
        self.check_running()?;
        open_runtime(&self.ports, &self.frame, self, model).await
    }

    fn close(&self, runtime: RuntimeRef) -> Result<(), Failure> {
        self.check_running()?;
        match runtime {
            RuntimeRef::Lent(_) => Err(not_ones_own(runtime)),
            RuntimeRef::Opened(number) => self.frame.opened.close(number),
        }
    }

    fn model(&self, runtime: RuntimeRef) -> Result<String, Failure> {
        self.check_running()?;
        if let RuntimeRef::Opened(number) = runtime {
            let opened = self.frame.opened.find(number)?;
            return Ok(opened.provider.name().to_owned());
        }
        self.check_usable(runtime)?;
        let provider = provider_of(&self.ports, &self.frame, runtime)?;
        Ok(provider.name().to_owned())
    }

    fn system(&self, runtime: RuntimeRef) -> Result<Option<String>, Failure> {
        self.check_usable(runtime)?;
        Ok(self.frame.system(runtime))
    }

    fn set_system(&self, runtime: RuntimeRef, text: Option<String>) -> Result<(), Failure> {
        self.check_usable(runtime)?;
        let length = text.as_ref().map_or(0, String::len) as u64;
        if length > SYSTEM_BYTES_MAX {
            let message =
                format!("the system prompt is {length} bytes long; the most is {SYSTEM_BYTES_MAX}");
            return Err(Failure::limit("system_bytes", SYSTEM_BYTES_MAX, message));
        }
        self.frame.set_system(runtime, text);
        Ok(())
    }

    fn thinking_level(&self, runtime: RuntimeRef) -> Result<ThinkingLevel, Failure> {
        self.check_usable(runtime)?;
        Ok(self.frame.thinking(runtime))
    }

    fn set_thinking_level(&self, runtime: RuntimeRef, level: ThinkingLevel) -> Result<(), Failure> {
        self.check_usable(runtime)?;
        let provider = provider_of(&self.ports, &self.frame, runtime)?;
        thinking_facts(provider, level)?;
        self.frame.set_thinking(runtime, level);
        Ok(())
    }

    fn max_retries(&self, runtime: RuntimeRef) -> Result<u32, Failure> {
        self.check_usable(runtime)?;
        Ok(self.ports.parts.retry.attempts_max.get())
    }

    fn last_usage(&self, runtime: RuntimeRef) -> Result<Option<Usage>, Failure> {
        self.check_usable(runtime)?;
        Ok(self.frame.last_usage(runtime))
    }

    fn session_id(&self) -> String {
        self.frame.run.session.as_str().to_owned()
    }

    async fn make(&self, request: DecisionRequest) -> Result<Json, Failure> {
        self.check_running()?;
        make_decision(&self.ports, &self.frame, request).await
    }

    async fn pick(&self, request: DecisionRequest) -> Result<PickedOption, Failure> {
        self.check_running()?;
        pick_option(&self.ports, &self.frame, request).await
    }

    async fn render(&self, request: DecisionRequest) -> Result<String, Failure> {
        self.check_running()?;
        render_for_frame(&self.ports, &self.frame, request)
    }

    async fn parse(
        &self,
        reply: String,
        request: DecisionRequest,
    ) -> Result<PickedOption, Failure> {
        self.check_running()?;
        parse_for_frame(&self.ports, &self.frame, &reply, request).await
    }

    async fn resolve(
        &self,
        request: DecisionRequest,
        picked: PickedOption,
    ) -> Result<Json, Failure> {
        self.check_running()?;
        resolve_picked(&self.ports, &self.frame, request, picked).await
    }

    fn note(&self, access: Access) {
        // What comes after the end has no record to go into.
        if !self.frame.has_ended() {
            self.frame.note_access(access);
        }
    }

    async fn approve(&self, request: ApprovalRequest) -> Result<(), Failure> {
        self.check_running()?;
        approve_use(&self.ports, &self.frame, request).await
    }

    fn can_ask(&self) -> bool {
        self.check_running().is_ok() && can_ask(&self.ports, &self.frame)
    }

    async fn ask_user(&self, request: AskRequest) -> Result<AskReply, Failure> {
        self.check_running()?;
        ask_user(&self.ports, &self.frame, request).await
    }

    async fn call(&self, name: &str, arguments: Json) -> Result<Json, Failure> {
        self.check_running()?;
        call_by_name(&self.ports, &self.frame, name, &arguments).await
    }

    async fn call_import(
        &self,
        function: &FunctionRef,
        arguments: JsonObject,
    ) -> Result<Json, ImportError> {
        self.check_running().map_err(ImportError::Failed)?;
        call_import(&self.ports, &self.frame, function, &arguments).await
    }

    async fn exec(&self, request: ExecRequest) -> Result<ExecReply, Failure> {
        self.check_usable(request.runtime)?;
        exec(&self.ports, &self.frame, request).await
    }

    async fn start(
        &self,
        request: ExecRequest,
        watcher: Arc<dyn TurnWatcher>,
    ) -> Result<StartedTurn, Failure> {
        self.check_usable(request.runtime)?;
        start(&self.ports, &self.frame, request, watcher).await
    }

    fn report(&self, message: &str, fraction: Option<f64>) {
        let Some(function) = &self.frame.function else {
            return;
        };
        let now = self.ports.parts.timer.elapsed();
        if self.frame.has_ended() || !self.frame.reports.admits(now) {
            return;
        }
        let (message, percent) = told(message, fraction);
        self.frame.run.emit(|| Event::Progress {
            node: self.frame.node.clone(),
            function: function.name.to_string(),
            message,
            percent,
        });
    }

    async fn exec_closing(&self, request: ExecRequest, closing: Closing) -> Result<Json, Failure> {
        self.check_usable(request.runtime)?;
        exec_closing(&self.ports, &self.frame, request, closing).await
    }

    async fn exec_picking(
        &self,
        request: ExecRequest,
        closing: Closing,
    ) -> Result<PickedOption, Failure> {
        self.check_usable(request.runtime)?;
        exec_picking(&self.ports, &self.frame, request, closing).await
    }

    async fn start_picking(
        &self,
        request: ExecRequest,
        closing: Closing,
        watcher: Arc<dyn TurnWatcher>,
    ) -> Result<StartedPick, Failure> {
        self.check_usable(request.runtime)?;
        start_picking(&self.ports, &self.frame, request, closing, watcher).await
    }
}
