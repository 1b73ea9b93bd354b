//! Turns: what the model sees, how its calls are answered, how a turn ends, what is recorded.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::content::{CacheTtl, ContentBlock, MediaKind, ToolResult};
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::ExecRequest;
use openprogram_core::llm::StopReason;
use openprogram_core::tool::ToolChoice;
use serde_json::json;

use super::shop::{call, results, run_work, shop, turn, working};
use super::{graph, nodes, told};
use crate::testing::{
    NativeCall, ScriptedDecider, ScriptedProvider, ScriptedReply, function, passed_on,
    shown_request,
};
use crate::{RunOutcome, Runtime, RuntimeParts};

type Replies = Vec<ScriptedReply>;

pub(super) fn model(replies: Replies) -> Arc<ScriptedProvider> {
    let forbidden = ["MY-SECRET-CUSTOMER", "`customer`", "\"customer\""];
    Arc::new(ScriptedProvider::new(replies).forbids(forbidden))
}

pub(super) async fn work(
    request: ExecRequest,
    replies: Replies,
) -> (Arc<ScriptedProvider>, Runtime, RunOutcome) {
    let model = model(replies);
    let (runtime, outcome) = run_work(working(request), model.clone(), |_| ()).await;
    (model, runtime, outcome)
}

#[tokio::test]
async fn a_turn_with_calls_is_a_chain_of_requests_with_the_calls_below_them() {
    let mut request = turn(&["look-up", "count"]);
    request.system = vec!["Today is Monday.".to_owned()];
    let calls = ScriptedReply::calls(
        "Let me see.",
        [
            ("a", "look_up", "{\"order\": \"A-1\", \"color\": \"red\",}"),
            ("b", "count", "{\"n\": \"7\"}"),
        ],
    );
    let (model, runtime, outcome) = work(request, vec![calls, "It was sent.".into()]).await;
    assert_eq!(told(&outcome), json!({"ok": "It was sent."}));
    expect![[r#"
        [system]
        Be brief.

        Today is Monday.
        [user]
        This turn is part of the function `work`.
        What the function is for: Works.
        Call path: work
        [user]
        Work.
        [assistant]
        Let me see.
        [assistant calls a]
        look_up({"order":"A-1","color":"red"})
        [assistant calls b]
        count({"n": "7"})
        [user result of a]
        {"order":"A-1","state":"sent"}
        [user result of b]
        {"n":7}
        [tool count]
        Counts.
        {"type":"object","properties":{"n":{"type":"integer","minimum":-128,"maximum":127}},"required":["n"],"additionalProperties":false}
        [tool look_up]
        Finds an order.
        {"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}
    "#]].assert_eq(&shown_request(&model.requests()[1]));
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          out  "It was sent."
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["count","look_up"]
          fact runtime="runtime"
          fact system="Be brief.\n\nToday is Monday."
          fact calls=[{"id":"a","name":"look_up","arguments":"{\"order\": \"A-1\", \"color\": \"red\",}"},{"id":"b","name":"count","arguments":"{\"n\": \"7\"}"}]
          out  "Let me see."
        3 code test:shop/api.look-up caller=2
          in   {"order":"A-1","customer":"MY-SECRET-CUSTOMER"}
          fact hidden_arguments=["customer"]
          fact coerced=[{"path":"","what":"trailing comma left out"},{"path":"color","what":"unknown name, dropped"}]
          out  {"order":"A-1","state":"sent"}
        4 code test:shop/api.count caller=2
          in   {"n":7}
          fact coerced=[{"path":"n","what":"\"7\" read as 7"}]
          out  {"n":7}
        5 llm scripted:text caller=1 reads=2,3,4
          in   null
          fact continues=node 2
          fact answers=[{"id":"a","node":"n-0000000000000004"},{"id":"b","node":"n-0000000000000005"}]
          fact runtime="runtime"
          fact system="Be brief.\n\nToday is Monday."
          out  "It was sent."
    "#]].assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn what_a_function_sets_as_system_prompt_stands_before_what_a_turn_adds() {
    let body = |call: NativeCall| async move {
        let services = &call.services;
        let set = Some("Be kind.".to_owned());
        services
            .set_system(RuntimeRole::Main.into(), set)
            .map_err(passed_on)?;
        let mut request = turn(&[]);
        request.system = vec![" ".to_owned(), "Hurry.".to_owned()];
        let reply = services.exec(request).await.map_err(passed_on)?;
        Ok(reply.text.into())
    };
    let mut work = function("shop", "work", "", [super::text("runtime")]);
    work.system = Some("Be brief.".to_owned());
    let model = model(vec!["done".into()]);
    let (runtime, outcome) = run_work(shop().with(work, body), model.clone(), |_| ()).await;
    let system = model.requests()[0].system.clone().unwrap();
    assert_eq!(system, "Be kind.\n\nHurry.");
    let recorded = nodes(&runtime, &outcome).await;
    assert_eq!(recorded[1].opened.facts["system"], system);
}

#[tokio::test]
async fn a_forced_call_is_forced_once() {
    for (choice, sent) in [
        (ToolChoice::Required, ToolChoice::Required),
        (
            ToolChoice::Named("look-up".to_owned()),
            ToolChoice::Named("look_up".to_owned()),
        ),
        (
            ToolChoice::Named("shop/api.look-up".to_owned()),
            ToolChoice::Named("look_up".to_owned()),
        ),
        (ToolChoice::Auto, ToolChoice::Auto),
    ] {
        let mut request = turn(&["look-up"]);
        request.tool_choice = choice;
        let replies = vec![call("a", "look_up", "{\"order\": \"A-1\"}"), "done".into()];
        let (model, ..) = work(request, replies).await;
        let choices: Vec<_> = model
            .requests()
            .into_iter()
            .map(|r| r.tool_choice)
            .collect();
        assert_eq!(choices, [sent, ToolChoice::Auto]);
    }
}

#[tokio::test]
async fn a_turn_that_may_not_call_shows_its_tools_and_runs_none() {
    let mut request = turn(&["nothing"]);
    request.tool_choice = ToolChoice::None;
    request.parallel_tool_calls = Some(false);
    let (model, ..) = work(request, vec![call("a", "nothing", ""), "done".into()]).await;
    expect![[r#"
        [system]
        Be brief.
        [user]
        This turn is part of the function `work`.
        What the function is for: Works.
        Call path: work
        [user]
        Work.
        [assistant calls a]
        nothing()
        [user error of a]
        Not run: this turn may not call tools. Answer in text.
        [tool nothing]
        Call nothing.
        {"type":"object","properties":{},"additionalProperties":false}
        [tool choice]
        None
        [parallel calls]
        false
    "#]]
    .assert_eq(&shown_request(&model.requests()[1]));
}

#[tokio::test]
async fn a_reply_cut_inside_a_call_runs_none_of_its_calls() {
    let cut = || {
        ScriptedReply::calls("", [("a", "nothing", ""), ("b", "count", "{\"n\": ")])
            .stopped(StopReason::Length)
    };
    let (model, runtime, outcome) =
        work(turn(&["nothing", "count"]), vec![cut(), "done".into()]).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
    let told_of_cut = "Not run: your message was cut off at its length limit, so no call of it is \
                       made. Call again with shorter arguments, one call at a time.";
    for result in results(&model.requests()[1]) {
        assert_eq!((result.text.as_str(), result.is_error), (told_of_cut, true));
    }
    assert_eq!(nodes(&runtime, &outcome).await.len(), 3);

    let (_, _, outcome) = work(turn(&["nothing", "count"]), vec![cut(), cut()]).await;
    assert_eq!(limit(&outcome), ("cut_replies".into(), 2.into(), "".into()));

    // Arguments that can be read are no sign that the call is whole. A cut text is the reply.
    let whole = call("a", "nothing", "{}").stopped(StopReason::Length);
    let text = ScriptedReply::from("It was se").stopped(StopReason::Length);
    let (model, _, outcome) = work(turn(&["nothing"]), vec![whole, text]).await;
    assert_eq!(told(&outcome), json!({"ok": "It was se"}));
    let answer = &results(&model.requests()[1])[0];
    assert_eq!((answer.text.as_str(), answer.is_error), (told_of_cut, true));
}

/// The limit that a turn reached, its value, and the text that the turn has left.
fn limit(outcome: &RunOutcome) -> (Json, Json, Json) {
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(failure.code.as_str(), "limit-reached", "{failure}");
    let detail = |name: &str| failure.details[name].clone();
    (detail("which"), detail("limit"), detail("partial"))
}

#[tokio::test]
async fn a_turn_ends_after_as_many_requests_as_it_may_take() {
    for (wanted, most) in [(0, 1), (1, 1), (2, 2), (50, 50), (51, 50), (u32::MAX, 50)] {
        let mut request = turn(&["count"]);
        request.max_iterations = wanted;
        let replies = (0..60).map(|n| {
            let arguments = format!("{{\"n\": {n}}}");
            ScriptedReply::calls("Hm.", [("a", "count", &*arguments)])
        });
        let (model, runtime, outcome) = work(request, replies.collect()).await;
        let expected = ("max_iterations".into(), most.into(), "Hm.".into());
        assert_eq!(limit(&outcome), expected);
        assert_eq!(model.requests().len(), most);
        // One node for the function, one for every request, one for every call but the last.
        assert_eq!(nodes(&runtime, &outcome).await.len(), 1 + most + most - 1);
    }
}

#[tokio::test]
async fn replies_and_results_of_a_turn_have_a_limit_together() {
    let model = model(
        (0..9)
            .map(|n| call("", "long", &format!("{{\"x\": {n}}}")))
            .collect(),
    );
    let change = |parts: &mut RuntimeParts| parts.limits.turn_bytes = 70_000;
    let (_, outcome) = run_work(working(turn(&["long"])), model.clone(), change).await;
    let expected = ("turn_bytes".into(), 70_000.into(), "".into());
    assert_eq!((limit(&outcome), model.requests().len()), (expected, 3));
}

#[tokio::test]
async fn a_reply_with_too_many_calls_is_not_read() {
    let calls = (0..3).map(|_| ("", "nothing", ""));
    let model = model(vec![ScriptedReply::calls("", calls)]);
    let functions = working(turn(&["nothing"]));
    let change = |parts: &mut RuntimeParts| parts.limits.reply_calls = 2;
    let (runtime, outcome) = run_work(functions, model, change).await;
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(failure.details["which"], "reply_calls");
    assert_eq!(nodes(&runtime, &outcome).await.len(), 2);
}

/// Checks that a turn is refused before the model is asked, and that its function shows why.
async fn refused(request: ExecRequest, expected: &str) {
    let model = model(vec![]);
    let (runtime, outcome) = run_work(working(request), model.clone(), |parts| {
        parts.limits.prompt_bytes = 100;
        parts.limits.image_bytes = 100;
        parts.limits.video_bytes = 100;
        parts.limits.audio_bytes = 100;
        parts.limits.turn_tools = 2;
    })
    .await;
    let failure = outcome.result.clone().unwrap_err();
    let details = ["path", "which", "what", "name"].map(|name| failure.details.get(name));
    let found = details.into_iter().flatten().next().unwrap();
    let refusal = format!("{} {}", failure.code.as_str(), found.as_str().unwrap());
    assert_eq!((refusal.as_str(), model.requests().len()), (expected, 0));
    let facts = nodes(&runtime, &outcome).await.remove(0).end.unwrap().facts;
    assert_eq!(facts["n_refused"], 1, "{expected}");
}

#[tokio::test]
async fn a_turn_that_cannot_work_is_refused_before_the_model_is_asked() {
    let text = |text: &str| ContentBlock::Text(text.to_owned());
    let media = |kind, length: usize| ContentBlock::media(kind, "", vec![0; length].into());
    let image = |length| media(MediaKind::Image, length);
    let result = ContentBlock::ToolResult(ToolResult {
        id: "a".to_owned(),
        text: "b".to_owned(),
        is_error: false,
    });
    for (content, expected) in [
        (vec![], "invalid-argument content"),
        (vec![text(" \n")], "invalid-argument content"),
        (vec![result], "invalid-argument content"),
        (vec![text(&"x".repeat(101))], "limit-reached prompt_bytes"),
        (vec![image(60), image(41)], "limit-reached image_bytes"),
        (
            vec![media(MediaKind::Video, 101)],
            "limit-reached video_bytes",
        ),
        (
            vec![media(MediaKind::Audio, 101)],
            "limit-reached audio_bytes",
        ),
        (vec![text("look"), image(9)], "invalid-argument content[1]"),
        (
            vec![ContentBlock::CacheMark(CacheTtl::Usual)],
            "invalid-argument content",
        ),
    ] {
        let mut request = turn(&[]);
        request.content = content;
        refused(request, expected).await;
    }
    let mut request = turn(&[]);
    request.system = vec!["x".repeat(65_536)];
    refused(request, "limit-reached system_bytes").await;
    for (tools, expected) in [
        (&["pay"][..], "denied call test:bank/api.pay"),
        (&["count", "sell"], "not-found sell"),
        (&["look-up", "count", "empty"], "limit-reached turn_tools"),
    ] {
        refused(turn(tools), expected).await;
    }
    for (tools, choice) in [
        (&[][..], ToolChoice::Required),
        (&["count"], ToolChoice::Named("look-up".to_owned())),
    ] {
        let mut request = turn(tools);
        request.tool_choice = choice;
        refused(request, "invalid-argument tool_choice").await;
    }
}

#[tokio::test]
async fn a_turn_needs_a_runtime_that_was_lent_and_a_model_that_writes() {
    let mut review = turn(&[]);
    review.runtime = RuntimeRole::Review.into();
    let (_, _, outcome) = work(review, vec![]).await;
    assert_eq!(outcome.result.unwrap_err().code.as_str(), "no-runtime");

    let decider = Arc::new(ScriptedDecider::new([[("done", 1.0)]]));
    let (_, outcome) = run_work(working(turn(&[])), decider, |_| ()).await;
    let expected = json!({
        "code": "no-provider",
        "message": "`scripted:decider` does not write text; name a model that does with `--model \
                    PROVIDER:MODEL`",
        "details": {"model": "scripted:decider"},
    });
    assert_eq!(told(&outcome), expected);
}
