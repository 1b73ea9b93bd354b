//! Turns that close with a decision: the one instruction, the one re-ask, the one pick that runs.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::decision::OptionSpec;
use openprogram_core::guest::{Closing, ExecRequest};
use openprogram_core::session::NodeKind;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::shop::{call, closing, run_work, turn};
use super::turns::model;
use super::{graph, nodes, object, runs, told, value};
use crate::testing::{ScriptedDecider, ScriptedProvider, ScriptedReply, shown_request};
use crate::{RunOutcome, Runtime};

/// Finds an order, counts, or is done.
fn options() -> Vec<OptionSpec> {
    vec![
        runs("find", "look-up"),
        runs("count", "count"),
        value("close", json!({"status": "closed"})),
    ]
}

fn close(options: Vec<OptionSpec>) -> Closing {
    Closing {
        options,
        context: JsonObject::new(),
    }
}

async fn work(
    request: ExecRequest,
    replies: Vec<ScriptedReply>,
) -> (Arc<ScriptedProvider>, Runtime, RunOutcome) {
    let model = model(replies);
    let functions = closing(request, close(options()));
    let (runtime, outcome) = run_work(functions, model.clone(), |_| ()).await;
    assert_eq!(model.n_left(), 0);
    (model, runtime, outcome)
}

const FIND: &str = "It is an order. {\"call\": \"find\", \"args\": {\"order\": \"A-1\"}}";

#[tokio::test]
async fn a_turn_works_and_then_closes_with_a_pick_that_runs_once() {
    let replies = vec![call("a", "count", "{\"n\": 1}"), FIND.into()];
    let (model, runtime, outcome) = work(turn(&["count"]), replies).await;
    assert_eq!(
        told(&outcome),
        json!({"ok": {"order": "A-1", "state": "sent"}})
    );
    expect![[r#"
        [user]
        This turn is part of the function `work`.
        What the function is for: Works.
        Call path: work
        [user]
        Work.

        First do the work. When it is done, end your last message with exactly one JSON object that picks one of the options below, in the form of its `Call:` line, and write nothing after it.

        find(order: str)
            Finds an order.
            order (str)
            Call: {"call": "find", "args": {"order": "<str>"}}

        count(n: int)
            Counts.
            n (int from -128 to 127)
            Call: {"call": "count", "args": {"n": 0}}

        close()
            Call: {"call": "close"}
        [assistant calls a]
        count({"n": 1})
        [user result of a]
        {"n":1}
        [tool count]
        Counts.
        {"type":"object","properties":{"n":{"type":"integer","minimum":-128,"maximum":127}},"required":["n"],"additionalProperties":false}
    "#]].assert_eq(&shown_request(&model.requests()[1]));
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          out  {"order":"A-1","state":"sent"}
        2 llm scripted:text caller=1
          in   "Work.\n\nFirst do the work. When it is done, end your last message with exactly one JSON object that picks one of the options below, in the form of its `Call:` line, and write nothing after it.\n\nfind(order: str)\n    Finds an order.\n    order (str)\n    Call: {\"call\": \"find\", \"args\": {\"order\": \"<str>\"}}\n\ncount(n: int)\n    Counts.\n    n (int from -128 to 127)\n    Call: {\"call\": \"count\", \"args\": {\"n\": 0}}\n\nclose()\n    Call: {\"call\": \"close\"}"
          fact tools=["count"]
          fact runtime="runtime"
          fact calls=[{"id":"a","name":"count","arguments":"{\"n\": 1}"}]
        3 code test:shop/api.count caller=2
          in   {"n":1}
          out  {"n":1}
        4 llm scripted:text caller=1 reads=2,3
          in   null
          fact continues=node 2
          fact answers=[{"id":"a","node":"n-0000000000000004"}]
          fact runtime="runtime"
          fact method="text"
          fact pick="find"
          fact arguments={"order":"A-1"}
          out  "It is an order. {\"call\": \"find\", \"args\": {\"order\": \"A-1\"}}"
        5 code test:shop/api.look-up caller=1
          in   {"order":"A-1","customer":"MY-SECRET-CUSTOMER"}
          fact hidden_arguments=["customer"]
          fact picked_by=node 4
          out  {"order":"A-1","state":"sent"}
    "#]].assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn a_reply_without_a_pick_is_asked_about_once_without_tools() {
    let replies = vec![
        call("a", "count", "{\"n\": 1}"),
        "The work is done, I think.".into(),
        FIND.into(),
    ];
    let (model, runtime, outcome) = work(turn(&["count"]), replies).await;
    assert_eq!(
        told(&outcome),
        json!({"ok": {"order": "A-1", "state": "sent"}})
    );
    expect![[r#"
        [user]
        Call: count({"n":1})
        Result: {"n":1}
        [assistant]
        The work is done, I think.
        [user]
        This turn is part of the function `work`.
        What the function is for: Works.
        Call path: work
        [user]
        Work.

        Your previous reply gave no valid pick.

        Previous reply:
            The work is done, I think.

        Problem: the reply holds no JSON object with the key "call"

        Options:

        find(order: str)
            Finds an order.
            order (str)
            Call: {"call": "find", "args": {"order": "<str>"}}

        count(n: int)
            Counts.
            n (int from -128 to 127)
            Call: {"call": "count", "args": {"n": 0}}

        close()
            Call: {"call": "close"}

        Pick one of the options. Reply with one JSON object in the form of its `Call:` line and nothing else.
    "#]].assert_eq(&shown_request(&model.requests()[2]));
    let recorded = nodes(&runtime, &outcome).await;
    let kinds: Vec<_> = recorded.iter().map(|node| node.opened.kind).collect();
    let (code, llm) = (NodeKind::Code, NodeKind::Llm);
    assert_eq!(kinds, [code, llm, code, llm, llm, code]);
    assert_eq!(
        recorded[3].end.as_ref().unwrap().facts["no_pick"]["kind"],
        "no_action"
    );
    assert_eq!(
        recorded[4].opened.facts["retry_of"],
        recorded[3].opened.id.as_str()
    );
}

#[tokio::test]
async fn a_turn_that_never_picks_ends_as_a_decision() {
    let wrong = "{\"call\": \"find\", \"args\": {\"order\": 7}}";
    let (_, _, outcome) = work(turn(&[]), vec!["Done.".into(), wrong.into()]).await;
    let expected = json!({
        "code": "decision",
        "message": "no valid pick after 2 attempts: `order`: expected a string, got an integer",
        "details": {"kind": "type_mismatch", "attempts": 2, "reply_head": wrong},
    });
    assert_eq!(told(&outcome), expected);
}

/// Checks what a closing reply runs: the names of the functions, and the result.
async fn check(reply: &str, ran: &[&str], result: Json) {
    let (_, runtime, outcome) = work(turn(&[]), vec![reply.into()]).await;
    assert_eq!(told(&outcome), json!({"ok": result}), "{reply}");
    let recorded = nodes(&runtime, &outcome).await;
    let called = recorded[1..]
        .iter()
        .filter(|n| n.opened.kind == NodeKind::Code);
    let called: Vec<_> = called.map(|node| node.opened.name.as_str()).collect();
    assert_eq!(called, ran, "{reply}");
}

#[tokio::test]
async fn only_the_last_valid_pick_runs_and_it_runs_once() {
    let (find, count) = ("test:shop/api.look-up", "test:shop/api.count");
    let pick = "{\"call\": \"count\", \"args\": {\"n\": 1}}";
    let closed = json!({"status": "closed"});
    check(&format!("{pick}\n{pick}"), &[count], json!({"n": 1})).await;
    check(
        &format!("One could say {FIND}, but: {pick}"),
        &[count],
        json!({"n": 1}),
    )
    .await;
    check(
        &format!("```json\n{pick}\n```\nNo: {{\"call\": \"close\"}}"),
        &[],
        closed.clone(),
    )
    .await;
    check(
        &format!("{FIND} or {{\"call\": \"sell\"}}"),
        &[find],
        json!({"order": "A-1", "state": "sent"}),
    )
    .await;
    let quoted = "{\"call\": \"find\", \"args\": {\"order\": \"{\\\"call\\\": \\\"count\\\"}\"}}";
    let order = json!({"order": "{\"call\": \"count\"}", "state": "sent"});
    check(quoted, &[find], order).await;
    let thought = format!("<think>{pick}</think>{{\"call\": \"close\"}}");
    check(&thought, &[], closed).await;
}

#[tokio::test]
async fn a_call_in_the_middle_of_a_turn_is_no_pick() {
    // The text beside a call is not the last reply, whatever it holds.
    let replies = vec![
        ScriptedReply::calls("{\"call\": \"close\"}", [("a", "count", "{\"n\": 1}")]),
        FIND.into(),
    ];
    let (_, _, outcome) = work(turn(&["count"]), replies).await;
    assert_eq!(
        told(&outcome),
        json!({"ok": {"order": "A-1", "state": "sent"}})
    );

    let mut request = turn(&["count"]);
    request.max_iterations = 1;
    let picked_too_early = ScriptedReply::calls(FIND, [("a", "count", "{\"n\": 1}")]);
    let (_, _, outcome) = work(request, vec![picked_too_early]).await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.details["which"], "max_iterations");
    assert_eq!(failure.details["partial"], FIND);
}

#[tokio::test]
async fn the_context_of_the_closing_fills_what_the_pick_hides() {
    let model = model(vec![FIND.into()]);
    let mut closes = close(options());
    closes.context = object(json!({"customer": "MY-SECRET-CUSTOMER"}));
    let runtime = super::runtime(closing(turn(&[]), closes), crate::Providers::all(model));
    let outcome = super::run(&runtime, "work", json!({})).await;
    assert_eq!(
        told(&outcome),
        json!({"ok": {"order": "A-1", "state": "sent"}})
    );
}

#[tokio::test]
async fn a_pick_that_could_not_run_is_refused_before_any_work() {
    let model = model(vec![]);
    let functions = closing(turn(&[]), close(options()));
    let runtime = super::runtime(functions, crate::Providers::all(model));
    let failure = super::run(&runtime, "work", json!({})).await.result;
    let expected = "option `find`: argument `customer` of `test:shop/api.look-up`: hidden \
                    parameter, and the context has no value for it";
    assert_eq!(failure.unwrap_err().message, expected);
}

#[tokio::test]
async fn a_menu_that_cannot_work_is_refused_before_any_work() {
    let twice = vec![value("a", json!(1)), value("a", json!(2))];
    for (options, code) in [
        (vec![], "invalid-argument"),
        (twice, "invalid-argument"),
        (vec![runs("pay", "pay")], "denied"),
        (vec![runs("sell", "sell")], "not-found"),
    ] {
        let model = model(vec![]);
        let functions = closing(turn(&[]), close(options));
        let (_, outcome) = run_work(functions, model.clone(), |_| ()).await;
        assert_eq!(outcome.result.unwrap_err().code.as_str(), code);
        assert_eq!(model.requests().len(), 0);
    }
}

#[tokio::test]
async fn a_model_that_only_picks_cannot_work() {
    let decider = Arc::new(ScriptedDecider::new([[("close", 1.0)]]));
    let functions = closing(turn(&[]), close(options()));
    let (_, outcome) = run_work(functions, decider, |_| ()).await;
    assert_eq!(outcome.result.unwrap_err().code.as_str(), "no-provider");
}
