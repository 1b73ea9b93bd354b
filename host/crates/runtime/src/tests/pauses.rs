//! Replies that their provider pauses amid tools of its own, and how other ends of a reply are told.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::content::{ContentBlock, Role};
use openprogram_core::guest::ToolsWanted;
use openprogram_core::llm::{FormatAbility, ModelReply, StopReason};
use serde_json::json;

use super::shop::{call, shop, turn};
use super::turns::work;
use super::{graph, nodes, runtime_with, told};
use crate::testing::{ScriptedProvider, ScriptedReply, shown_request};
use crate::{Event, Providers, TurnRequest, event_channel};

/// A reply with a search of the server, paused after this text.
fn paused(text: &str) -> ScriptedReply {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search"});
    ScriptedReply::Reply(ModelReply {
        content: vec![
            ContentBlock::Text(text.to_owned()),
            ContentBlock::ServerTool(search),
        ],
        stop: StopReason::Paused,
        usage: None,
    })
}

#[tokio::test]
async fn a_paused_reply_goes_back_as_it_is_and_goes_on() {
    let replies = vec![paused("Let me "), paused("search. "), "It rains.".into()];
    let (model, runtime, outcome) = work(turn(&["nothing"]), replies).await;
    assert_eq!(told(&outcome), json!({"ok": "Let me search. It rains."}));
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    expect![[r#"
        [system]
        Be brief.
        [user]
        This turn is part of the function `work`.
        What the function is for: Works.
        Call path: work
        [user]
        Work.
        [assistant]
        Let me 
        [assistant]
        ServerTool(Object {"type": String("server_tool_use"), "id": String("s"), "name": String("web_search")})
        [assistant]
        search. 
        [assistant]
        ServerTool(Object {"type": String("server_tool_use"), "id": String("s"), "name": String("web_search")})
        [tool nothing]
        Call nothing.
        {"type":"object","properties":{},"additionalProperties":false}
    "#]]
    .assert_eq(&shown_request(&requests[2]));
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          out  "Let me search. It rains."
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["nothing"]
          fact runtime="runtime"
          fact system="Be brief."
          fact stop="paused"
          out  "Let me "
        3 llm scripted:text caller=1 reads=2
          in   null
          fact continues=node 2
          fact runtime="runtime"
          fact system="Be brief."
          fact stop="paused"
          out  "search. "
        4 llm scripted:text caller=1 reads=2,3
          in   null
          fact continues=node 3
          fact runtime="runtime"
          fact system="Be brief."
          out  "It rains."
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn calls_after_a_pause_stand_in_the_same_message() {
    let replies = vec![
        paused("Let me. "),
        call("a", "nothing", "{}"),
        "Done.".into(),
    ];
    let (model, _, outcome) = work(turn(&["nothing"]), replies).await;
    // What is said before calls is not the answer.
    assert_eq!(told(&outcome), json!({"ok": "Done."}));
    let requests = model.requests();
    let messages = &requests[2].messages;
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
    assert_eq!(messages[1].content.len(), 3, "{messages:#?}");
}

#[tokio::test]
async fn pauses_count_as_requests_of_the_turn() {
    let mut request = turn(&["nothing"]);
    request.max_iterations = 2;
    let (model, runtime, outcome) = work(request, vec![paused("One. "), paused("Two. ")]).await;
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(failure.details["which"], "max_iterations");
    assert_eq!(failure.details["partial"], "One. Two. ");
    assert_eq!(model.n_left(), 0);
    assert_eq!(nodes(&runtime, &outcome).await.len(), 3);
}

#[tokio::test]
async fn the_node_of_a_reply_says_what_ended_it() {
    for (stop, expected) in [
        (StopReason::End, None),
        (StopReason::ToolUse, None),
        (StopReason::Length, Some("length")),
        (StopReason::Refusal, Some("refusal")),
        (StopReason::Other, Some("other")),
    ] {
        let reply = ScriptedReply::from("So far.").stopped(stop);
        let (_, runtime, outcome) = work(turn(&["nothing"]), vec![reply.clone()]).await;
        assert_eq!(told(&outcome), json!({"ok": "So far."}));
        let asked = nodes(&runtime, &outcome).await.remove(1);
        let facts = asked.end.unwrap().facts;
        let told = facts.get("stop").and_then(|stop| stop.as_str());
        assert_eq!(told, expected, "{stop:?}");
        assert_eq!(at_the_top(reply).await, (stop, Some(stop)));
    }
}

/// How the reply of a turn at the top ended, by the reply and by the event.
async fn at_the_top(reply: ScriptedReply) -> (StopReason, Option<StopReason>) {
    let model = Arc::new(ScriptedProvider::new(vec![reply]));
    let providers = Providers::all(model);
    let runtime = runtime_with(shop(), |parts| parts.providers = providers);
    let (sender, mut receiver) = event_channel(100);
    let mut request = TurnRequest::text("go");
    request.turn.tools = ToolsWanted::Named(Vec::new());
    request.events = Some(sender);
    let given = runtime.exec(request).await.result.unwrap().stop;
    let mut told = None;
    while let Some(event) = receiver.next().await {
        if let Event::TurnEnded { stop, .. } = event {
            told = Some(stop);
        }
    }
    (given, told)
}

/// The messages of the last request, after a turn with a format whose first reply was paused, whose
/// second is this one, and whose third fits.
async fn repaired(second: ScriptedReply) -> Vec<(Role, usize)> {
    let ability = FormatAbility {
        is_held: true,
        with_tools: true,
        keeps_order: true,
    };
    let replies = vec![paused("Let me. "), second, "{\"n\": 1}".into()];
    let model = Arc::new(ScriptedProvider::new(replies).held_to_formats(ability));
    let providers = Providers::all(model.clone());
    let runtime = runtime_with(shop(), |parts| parts.providers = providers);
    let mut request = TurnRequest::text("go");
    request.turn.tools = ToolsWanted::Named(Vec::new());
    let n = json!({"type": "integer"});
    let format = json!({
        "type": "object",
        "properties": {"n": n},
        "required": ["n"],
        "additionalProperties": false,
    });
    request.turn.response_format = Some(format);
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().structured, Some(json!({"n": 1})));
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    let messages = requests[2].messages.iter();
    messages.map(|m| (m.role, m.content.len())).collect()
}

#[tokio::test]
async fn what_is_asked_for_again_after_a_pause_stays_with_who_said_it() {
    // The paused text and search, and the reply that did not fit, are one message.
    let expected = [(Role::User, 1), (Role::Assistant, 3), (Role::User, 1)];
    assert_eq!(repaired("{\"n\": \"x\"}".into()).await, expected);
    // Where nothing was said, what is asked for again is still no word of the model.
    let expected = [(Role::User, 1), (Role::Assistant, 2), (Role::User, 1)];
    assert_eq!(repaired("".into()).await, expected);
}
