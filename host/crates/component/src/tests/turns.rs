//! Tests of turns as guests ask for them: from the setters of the contract to the services.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{OptionKind, OptionSpec};
use openprogram_core::failure::Failure;
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::guest::{
    Closing, DecisionRequest, ExecReply, ExecRequest, HostServices, PickedOption, ToolsWanted,
};
use openprogram_core::llm::StopReason;
use openprogram_core::session::Usage;
use openprogram_core::tool::ToolChoice;
use openprogram_core::tool_filter::ToolFilter;
use openprogram_core::{Json, JsonObject};
use wasmtime::Store;
use wasmtime::component::Resource;

use crate::Limits;
use crate::bindings::openprogram::agentic::decision::{Host as DecisionHost, HostMenu};
use crate::bindings::openprogram::agentic::runtime::{
    HostReply, HostRequest, HostRuntime, HostUsage, ToolChoice as WireChoice,
};
use crate::bindings::openprogram::agentic::types;
use crate::handles::{MenuHandle, ReplyHandle, RequestHandle, RuntimeHandle};
use crate::reach::Reach;
use crate::state::{CallState, store};

const GIF: &[u8] = b"GIF89a";

/// What the services were asked to make.
#[derive(Clone, Debug, PartialEq)]
enum Made {
    Turn(ExecRequest),
    Closing(ExecRequest, Closing),
}

/// Services that make every turn and keep what they were asked.
#[derive(Default)]
struct KeepingServices(Mutex<Vec<Made>>);

#[async_trait]
impl HostServices for KeepingServices {
    fn model(&self, _runtime: RuntimeRef) -> Result<String, Failure> {
        Ok(String::new())
    }

    fn system(&self, _runtime: RuntimeRef) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn set_system(&self, _runtime: RuntimeRef, _text: Option<String>) -> Result<(), Failure> {
        Ok(())
    }

    fn session_id(&self) -> String {
        String::new()
    }

    async fn make(&self, _request: DecisionRequest) -> Result<Json, Failure> {
        Ok(Json::Null)
    }

    async fn pick(&self, _request: DecisionRequest) -> Result<PickedOption, Failure> {
        unreachable!("no test picks")
    }

    async fn call(&self, _name: &str, _arguments: Json) -> Result<Json, Failure> {
        Ok(Json::Null)
    }

    async fn exec(&self, request: ExecRequest) -> Result<ExecReply, Failure> {
        let structured = request.response_format.clone();
        self.0.lock().unwrap().push(Made::Turn(request));
        Ok(ExecReply {
            structured,
            text: "done".to_owned(),
            usage: Usage {
                input_tokens: 1,
                output_tokens: 2,
                cache_read: 3,
                cache_create: 4,
            },
            stop: StopReason::Length,
        })
    }

    async fn exec_closing(&self, request: ExecRequest, closing: Closing) -> Result<Json, Failure> {
        self.0.lock().unwrap().push(Made::Closing(request, closing));
        Ok(Json::String("closed".to_owned()))
    }
}

/// The state of a call that was lent a runtime, as its guest drives it.
struct Guest {
    store: Store<CallState>,
    services: Arc<KeepingServices>,
}

fn lent<T: 'static>(own: &Resource<T>) -> Resource<T> {
    Resource::new_borrow(own.rep())
}

impl Guest {
    fn new(limits: Limits) -> Self {
        let services = Arc::new(KeepingServices::default());
        let engine = super::engine();
        let given: Arc<dyn HostServices> = services.clone();
        let store = store(
            &engine.built().unwrap().wasmtime,
            Arc::new(limits),
            Some(given),
            &Reach::default(),
            Arc::default(),
            Arc::default(),
        );
        Self { store, services }
    }

    fn state(&mut self) -> &mut CallState {
        self.store.data_mut()
    }

    fn runtime(&mut self, role: RuntimeRole) -> Resource<RuntimeHandle> {
        self.state()
            .table
            .push(RuntimeHandle {
                runtime: role.into(),
                call: 0,
            })
            .unwrap()
    }

    async fn request(&mut self) -> Resource<RequestHandle> {
        HostRequest::new(self.state()).await.unwrap()
    }

    async fn text(&mut self, request: &Resource<RequestHandle>, text: &str) {
        let text = text.to_owned();
        let set = self.state().add_text(lent(request), text);
        set.await.unwrap();
    }

    async fn menu(&mut self) -> Resource<MenuHandle> {
        let menu = HostMenu::new(self.state()).await.unwrap();
        let (name, value) = ("close".to_owned(), "1".to_owned());
        let added = self.state().add_value(lent(&menu), name, value, None);
        added.await.unwrap();
        menu
    }

    async fn exec(
        &mut self,
        runtime: &Resource<RuntimeHandle>,
        request: &Resource<RequestHandle>,
    ) -> Result<Resource<ReplyHandle>, types::Failure> {
        let made = HostRuntime::exec(self.state(), lent(runtime), lent(request));
        made.await.unwrap()
    }

    /// Closes a turn with this menu and gives the result, or code and sentence of the failure.
    async fn close(
        &mut self,
        runtime: &Resource<RuntimeHandle>,
        request: &Resource<RequestHandle>,
        menu: &Resource<MenuHandle>,
    ) -> String {
        let closed =
            DecisionHost::close_with(self.state(), lent(runtime), lent(request), lent(menu));
        closed.await.unwrap().unwrap_or_else(told)
    }

    fn made(&self) -> Vec<Made> {
        self.services.0.lock().unwrap().clone()
    }
}

fn told(failure: types::Failure) -> String {
    format!("{}: {}", failure.code, failure.message)
}

#[tokio::test]
async fn a_turn_reaches_the_services_as_it_was_set() {
    let mut guest = Guest::new(Limits::default());
    let runtime = guest.runtime(RuntimeRole::Exec);
    let request = guest.request().await;
    guest.text(&request, "look").await;
    let (handle, state) = (|| lent(&request), guest.state());
    let mime = "image/png".to_owned();
    HostRequest::add_image(state, handle(), GIF.into(), mime)
        .await
        .unwrap();
    state
        .add_system_text(handle(), "be brief".to_owned())
        .await
        .unwrap();
    let tools = vec!["look-up".to_owned()];
    state.set_tools(handle(), tools.clone()).await.unwrap();
    let filter = ToolFilter {
        sources: vec!["telegram".to_owned()],
        allow: Some(tools.clone()),
        deny: vec!["pay".to_owned()],
    };
    let (allow, deny) = (tools.clone(), filter.deny.clone());
    state.set_tools_allow(handle(), allow).await.unwrap();
    state.set_tools_deny(handle(), deny).await.unwrap();
    let source = "telegram".to_owned();
    state.set_tools_source(handle(), source).await.unwrap();
    let choice = WireChoice::Named("look-up".to_owned());
    state.set_tool_choice(handle(), choice).await.unwrap();
    state
        .set_parallel_tool_calls(handle(), false)
        .await
        .unwrap();
    state.set_web_search(handle(), true).await.unwrap();
    state.set_max_iterations(handle(), 7).await.unwrap();
    state.set_timeout_ms(handle(), 9_000).await.unwrap();

    let reply = guest.exec(&runtime, &request).await.unwrap();
    let state = guest.state();
    let text = HostReply::text(state, lent(&reply)).await.unwrap();
    let stop = HostReply::stop(state, lent(&reply)).await.unwrap();
    assert_eq!(stop, "length");
    let usage = HostReply::usage(state, lent(&reply)).await.unwrap();
    let tokens = [
        state.input_tokens(lent(&usage)).await.unwrap(),
        state.output_tokens(lent(&usage)).await.unwrap(),
        state.cache_read(lent(&usage)).await.unwrap(),
        state.cache_create(lent(&usage)).await.unwrap(),
    ];
    assert_eq!((text.as_str(), tokens), ("done", [1, 2, 3, 4]));
    let expected = ExecRequest {
        runtime: RuntimeRole::Exec.into(),
        content: vec![
            ContentBlock::Text("look".to_owned()),
            // As it was said; what it is, is looked at when the turn is made.
            ContentBlock::Image {
                mime_type: "image/png".to_owned(),
                data: GIF.into(),
            },
        ],
        system: vec!["be brief".to_owned()],
        tools: ToolsWanted::Named(tools),
        tool_filter: filter,
        host_tools: Vec::new(),
        local_tools: Vec::new(),
        tool_choice: ToolChoice::Named("look-up".to_owned()),
        parallel_tool_calls: Some(false),
        response_format: None,
        web_search: true,
        max_iterations: 7,
        timeout_ms: Some(9_000),
    };
    assert_eq!(guest.made(), [Made::Turn(expected)]);
}

#[tokio::test]
async fn of_tools_and_a_preset_the_last_one_holds() {
    let mut guest = Guest::new(Limits::default());
    let runtime = guest.runtime(RuntimeRole::Main);
    let request = guest.request().await;
    guest.text(&request, "hello").await;
    let (handle, state) = (|| lent(&request), guest.state());
    let tools = vec!["look-up".to_owned()];
    state.set_tools(handle(), tools.clone()).await.unwrap();
    let preset = "default".to_owned();
    state.set_toolset(handle(), preset.clone()).await.unwrap();
    guest.exec(&runtime, &request).await.unwrap();
    let state = guest.state();
    state.set_tools(handle(), tools.clone()).await.unwrap();
    guest.exec(&runtime, &request).await.unwrap();
    let made = guest.made().into_iter().map(|made| match made {
        Made::Turn(turn) => turn.tools,
        other => panic!("{other:?} is no turn"),
    });
    let wanted = [ToolsWanted::Preset(preset), ToolsWanted::Named(tools)];
    assert_eq!(made.collect::<Vec<_>>(), wanted);
}

#[tokio::test]
async fn what_is_not_set_has_its_default_and_a_request_may_be_made_twice() {
    let mut guest = Guest::new(Limits::default());
    let runtime = guest.runtime(RuntimeRole::Main);
    let request = guest.request().await;
    guest.text(&request, "hello").await;
    guest.exec(&runtime, &request).await.unwrap();
    guest.exec(&runtime, &request).await.unwrap();
    let content = vec![ContentBlock::Text("hello".to_owned())];
    let turn = Made::Turn(ExecRequest::new(RuntimeRole::Main, content));
    assert_eq!(guest.made(), [turn.clone(), turn]);
}

#[tokio::test]
async fn what_a_setter_refused_is_told_before_the_services_are_asked() {
    let mut guest = Guest::new(Limits {
        text_bytes: 4,
        ..Limits::default()
    });
    let runtime = guest.runtime(RuntimeRole::Main);
    let request = guest.request().await;
    let failure = guest.exec(&runtime, &request).await.map(|_| ());
    assert_eq!(
        failure.map_err(told),
        Err("invalid-argument: the turn says nothing; give it a text or a picture".to_owned())
    );
    guest.text(&request, "hello").await;
    let failure = guest.exec(&runtime, &request).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details.as_str()),
        ("limit-reached", r#"{"which":"text_bytes","limit":4}"#)
    );
    assert_eq!(guest.made(), []);
}

#[tokio::test]
async fn a_turn_closes_with_its_menu() {
    let mut guest = Guest::new(Limits::default());
    let runtime = guest.runtime(RuntimeRole::Review);
    let request = guest.request().await;
    guest.text(&request, "work").await;
    let menu = guest.menu().await;
    let context = r#"{"who": "ann"}"#.to_owned();
    let set = guest.state().set_context(lent(&menu), context);
    set.await.unwrap();
    assert_eq!(guest.close(&runtime, &request, &menu).await, r#""closed""#);
    let content = vec![ContentBlock::Text("work".to_owned())];
    let mut context = JsonObject::new();
    context.insert("who".to_owned(), "ann".into());
    let closing = Closing {
        options: vec![OptionSpec {
            name: "close".to_owned(),
            description: None,
            kind: OptionKind::Value(1.into()),
        }],
        context,
    };
    let turn = ExecRequest::new(RuntimeRole::Review, content);
    assert_eq!(guest.made(), [Made::Closing(turn, closing)]);
}

#[tokio::test]
async fn a_menu_that_says_how_to_decide_otherwise_closes_no_turn() {
    let mut guest = Guest::new(Limits::default());
    let runtime = guest.runtime(RuntimeRole::Main);
    let review = guest.runtime(RuntimeRole::Review);
    let request = guest.request().await;
    guest.text(&request, "work").await;
    let menu = guest.menu().await;
    // What the turn does anyway may be said.
    let set = guest.state().set_runtime(lent(&menu), lent(&runtime));
    set.await.unwrap();
    guest.state().set_max_retries(lent(&menu), 1).await.unwrap();
    assert_eq!(guest.close(&runtime, &request, &menu).await, r#""closed""#);
    assert_eq!(
        guest.close(&review, &request, &menu).await,
        "invalid-argument: a turn closes with the runtime that makes it, and the menu names \
         another; leave the runtime of the menu out"
    );
    let set = guest.state().set_max_retries(lent(&menu), 2);
    set.await.unwrap();
    assert_eq!(
        guest.close(&runtime, &request, &menu).await,
        "invalid-argument: a turn that closes with a decision asks again once; leave the retries \
         of the menu out"
    );
    let set = guest.state().set_max_retries(lent(&menu), 11);
    set.await.unwrap();
    assert_eq!(
        guest.close(&runtime, &request, &menu).await,
        "invalid-argument: a model is asked again at most 10 times"
    );
    let silent = guest.request().await;
    assert_eq!(
        guest.close(&runtime, &silent, &menu).await,
        "invalid-argument: the turn says nothing; give it a text or a picture"
    );
    assert_eq!(guest.made().len(), 1);
}

#[tokio::test]
async fn turns_that_are_dropped_give_back_what_they_held() {
    let mut guest = Guest::new(Limits {
        turn_bytes: 8,
        ..Limits::default()
    });
    let runtime = guest.runtime(RuntimeRole::Main);
    let kept = guest.request().await;
    guest.text(&kept, "12345").await;
    for round in 0..3 {
        let request = guest.request().await;
        guest.text(&request, "123").await;
        guest.exec(&runtime, &request).await.unwrap();
        let more = guest.request().await;
        guest.text(&more, "1").await;
        let failure = guest.exec(&runtime, &more).await.map(|_| ()).map_err(told);
        assert_eq!(
            failure,
            Err("limit-reached: the turns being prepared hold more than 8 bytes".to_owned()),
            "{round}"
        );
        for one in [request, more] {
            HostRequest::drop(guest.state(), one).await.unwrap();
        }
    }
}

#[tokio::test]
async fn without_services_no_turn_is_made_and_a_foreign_handle_is_a_trap() {
    let mut guest = Guest::new(Limits::default());
    let runtime = guest.runtime(RuntimeRole::Main);
    let request = guest.request().await;
    guest.text(&request, "hello").await;
    let unknown = Resource::<RequestHandle>::new_own(4_711);
    let made = HostRuntime::exec(guest.state(), lent(&runtime), lent(&unknown)).await;
    assert!(made.is_err());
    let set = guest.state().add_text(lent(&unknown), String::new()).await;
    assert!(set.is_err());
    guest.state().services = None;
    let failure = guest.exec(&runtime, &request).await.map(|_| ());
    assert_eq!(
        failure.map_err(told),
        Err("denied: this component runs without any grant here".to_owned())
    );
}
