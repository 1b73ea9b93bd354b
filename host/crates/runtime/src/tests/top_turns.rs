//! Turns at the top: a person or a program speaks to a model in a session.

use std::future::ready;
use std::sync::Arc;

use expect_test::expect;
use openprogram_core::content::{ContentBlock, Role};
use openprogram_core::guest::{Closing, ToolsWanted};
use openprogram_core::id::SessionId;
use openprogram_core::llm::ModelEvent;
use openprogram_core::session::{NodeQuery, Usage};
use serde_json::json;

use super::shop::{call, shop};
use super::turns::model;
use super::{object, runs, runtime_with};
use crate::testing::{ScriptedProvider, ScriptedReply, shown_graph, shown_request};
use crate::{Event, Providers, Runtime, TurnRequest, event_channel};

fn runtime(model: &Arc<ScriptedProvider>) -> Runtime {
    let model = Arc::clone(model);
    runtime_with(shop(), |parts| parts.providers = Providers::all(model))
}

/// What a customer says, with one tool.
fn says(text: &str) -> TurnRequest {
    let mut request = TurnRequest::text(text);
    request.turn.tools = ToolsWanted::Named(vec!["look-up".to_owned()]);
    request.context = object(json!({"customer": "MY-SECRET-CUSTOMER"}));
    request
}

async fn graph(runtime: &Runtime, session: &SessionId) -> String {
    let all = NodeQuery::default();
    shown_graph(&runtime.store().nodes(session, all).await.unwrap())
}

#[tokio::test]
async fn a_conversation_is_kept_in_its_session() {
    let replies = vec![
        call("a", "look_up", "{\"order\": \"A-1\"}"),
        "It was sent.".into(),
        "You are welcome.".into(),
    ];
    let model = model(replies);
    let runtime = runtime(&model);
    let first = runtime.exec(says("Where is A-1?")).await;
    let session = first.session.unwrap();
    let mut second = TurnRequest::text("Thank you.");
    second.turn.tools = ToolsWanted::Named(Vec::new());
    second.turn.content.push(ContentBlock::Image {
        mime_type: "image/png".to_owned(),
        data: b"\x89PNG\r\n\x1a\n".as_slice().into(),
    });
    second.session = Some(session.clone());
    let second = runtime.exec(second).await;
    assert_eq!(second.result.unwrap().text, "You are welcome.");
    expect![[r#"
        [user]
        Where is A-1?
        [user]
        Call: look_up({"order":"A-1"})
        Result: {"order":"A-1","state":"sent"}
        [assistant]
        It was sent.
        [user]
        Thank you.
        [user]
        (image/png, 8 bytes)
    "#]]
    .assert_eq(&shown_request(&model.requests()[2]));
    expect![[r#"
        1 user user
          in   "Where is A-1?"
        2 llm scripted:text after=1 reads=1
          in   "Where is A-1?"
          fact tools=["look_up"]
          fact runtime="runtime"
          fact calls=[{"id":"a","name":"look_up","arguments":"{\"order\": \"A-1\"}"}]
        3 code test:shop/api.look-up caller=2
          in   {"order":"A-1","customer":"MY-SECRET-CUSTOMER"}
          fact hidden_arguments=["customer"]
          out  {"order":"A-1","state":"sent"}
        4 llm scripted:text after=2 reads=1,2,3
          in   null
          fact continues=node 2
          fact answers=[{"id":"a","node":"n-0000000000000004"}]
          fact runtime="runtime"
          out  "It was sent."
        5 user user after=4
          in   "Thank you.\n\n[image/png, 8 bytes]"
        6 llm scripted:text after=5 reads=1,3,4,5
          in   "Thank you.\n\n[image/png, 8 bytes]"
          fact runtime="runtime"
          out  "You are welcome."
    "#]]
    .assert_eq(&graph(&runtime, &session).await);
    assert_eq!(
        runtime.store().sessions(9).await.unwrap()[0].title,
        "Where is A-1?"
    );
}

#[tokio::test]
async fn a_watcher_is_told_everything_that_a_model_writes_and_does() {
    let usage = |input_tokens, output_tokens| Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    };
    let first = ScriptedReply::calls("Let me see.", [("a", "look_up", "{\"order\": \"A-1\"}")]);
    let replies = vec![
        first.costing(usage(10, 5)),
        ScriptedReply::from("It was sent.").costing(usage(30, 3)),
    ];
    let model = model(replies);
    let runtime = runtime(&model);
    let (sender, mut receiver) = event_channel(100);
    let mut request = says("Where is A-1?");
    request.events = Some(sender);
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().usage, usage(40, 8));
    let mut told = String::new();
    while let Some(event) = receiver.next().await {
        told.push_str(&shown(&event));
        told.push('\n');
    }
    expect![[r#"
        asking scripted:text
        text "Let me see."
        asked Completed Some(Usage { input_tokens: 10, output_tokens: 5, cache_read: 0, cache_create: 0 })
        use a look_up({"order": "A-1"})
        call test:shop/api.look-up 0
        called test:shop/api.look-up Completed
        result a look_up "{\"order\":\"A-1\",\"state\":\"sent\"}" false
        asking scripted:text
        text "It was sent."
        asked Completed Some(Usage { input_tokens: 30, output_tokens: 3, cache_read: 0, cache_create: 0 })
        turn 2 Usage { input_tokens: 40, output_tokens: 8, cache_read: 0, cache_create: 0 } End
    "#]].assert_eq(&told);
}

fn shown(event: &Event) -> String {
    match event {
        Event::ModelRequestStarted { model, .. } => format!("asking {model}"),
        Event::ModelRequestEnded { status, usage, .. } => format!("asked {status:?} {usage:?}"),
        Event::Text { text, .. } => format!("text {text:?}"),
        Event::ToolUse { call, .. } => format!("use {} {}({})", call.id, call.name, call.arguments),
        Event::ToolResult { tool, result, .. } => {
            format!(
                "result {} {tool} {:?} {}",
                result.id, result.text, result.is_error
            )
        }
        Event::CallStarted {
            function, depth, ..
        } => format!("call {function} {depth}"),
        Event::CallEnded {
            function, status, ..
        } => format!("called {function} {status:?}"),
        Event::TurnEnded {
            usage,
            n_requests,
            stop,
            ..
        } => format!("turn {n_requests} {usage:?} {stop:?}"),
        Event::DecisionAsked { options, .. } => format!("ask {options:?}"),
        Event::DecisionRetried {
            kind, retries_left, ..
        } => format!("again {kind} {retries_left}"),
        Event::DecisionPicked { option, method, .. } => format!("picked {option} {method}"),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_turn_at_the_top_can_close_with_a_decision() {
    let usage = Usage {
        input_tokens: 10,
        ..Usage::default()
    };
    let find = "{\"call\": \"find\", \"args\": {\"order\": \"A-1\"}}";
    let replies = ["Hm.", find].map(|text| ScriptedReply::from(text).costing(usage));
    let model = model(replies.to_vec());
    let runtime = runtime(&model);
    let (sender, mut receiver) = event_channel(100);
    let mut request = says("Where is A-1?");
    request.events = Some(sender);
    let closing = Closing {
        options: vec![runs("find", "look-up")],
        context: object(json!({"customer": "MY-SECRET-CUSTOMER"})),
    };
    let outcome = runtime.exec_closing(request, closing).await;
    assert_eq!(outcome.result, Ok(json!({"order": "A-1", "state": "sent"})));
    // What was said stands in the session, so the re-ask does not say it again.
    let again = &model.requests()[1];
    let said = again.messages.iter().filter(|m| m.role == Role::User);
    let said: Vec<_> = said
        .flat_map(|m| &m.content)
        .filter_map(ContentBlock::as_text)
        .collect();
    let n_said = said
        .iter()
        .filter(|text| text.contains("Where is A-1?"))
        .count();
    assert_eq!((n_said, again.tools.len()), (1, 0), "{said:#?}");
    let mut told = Vec::new();
    while let Some(event) = receiver.next().await {
        if !matches!(
            event,
            Event::ModelRequestStarted { .. } | Event::ModelRequestEnded { .. }
        ) {
            told.push(shown(&event));
        }
    }
    expect![[r#"
        ask ["find"]
        text "Hm."
        again no_action 1
        picked find text
        turn 2 Usage { input_tokens: 20, output_tokens: 0, cache_read: 0, cache_create: 0 } End
        call test:shop/api.look-up 0
        called test:shop/api.look-up Completed"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn a_refused_turn_leaves_no_session_and_a_stopped_one_is_closed() {
    let model = model(vec![ScriptedReply::Silence]);
    let runtime = runtime(&model);
    let refused = runtime.exec(TurnRequest::text(" ")).await;
    assert_eq!((refused.session, refused.result.is_err()), (None, true));
    assert_eq!(runtime.store().sessions(9).await.unwrap(), []);

    let mut lost = says("Hello?");
    lost.session = Some(SessionId::from_bits(77));
    let failure = runtime.exec(lost).await.result.unwrap_err();
    assert_eq!(failure.code.as_str(), "not-found");

    let stopped = runtime.exec_until(says("Hello?"), ready(())).await;
    assert_eq!(stopped.result.unwrap_err().code.as_str(), "cancelled");
    expect![[r#"
        1 user user
          in   "Hello?"
        2 llm scripted:text after=1 reads=1
          in   "Hello?"
          fact tools=["look_up"]
          fact runtime="runtime"
          cancelled: the run was cancelled
          cancelled
    "#]]
    .assert_eq(&graph(&runtime, &stopped.session.unwrap()).await);
}

#[tokio::test]
async fn a_watcher_never_gets_more_of_a_reply_than_may_be_read() {
    let piece = |text: &str| ModelEvent::Text(text.to_owned());
    let lost = openprogram_core::llm::LlmFailure::new(
        openprogram_core::llm::LlmReason::Provider,
        false,
        "gone",
    );
    let pieces = vec![piece("12345"), piece("67890"), piece("1")];
    let broken = ScriptedReply::Broken(pieces, openprogram_core::llm::LlmError::Failed(lost));
    let model = model(vec![broken]);
    let runtime = runtime_with(shop(), |parts| {
        parts.providers = Providers::all(model);
        parts.limits.reply_bytes = 10;
    });
    let (sender, mut receiver) = event_channel(100);
    let mut request = says("Hello?");
    request.events = Some(sender);
    runtime.exec(request).await.result.unwrap_err();
    let mut texts = Vec::new();
    while let Some(event) = receiver.next().await {
        if let Event::Text { text, .. } = event {
            texts.push(text);
        }
    }
    assert_eq!(texts, ["12345", "67890"]);
}
