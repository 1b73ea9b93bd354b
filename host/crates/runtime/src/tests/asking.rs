//! Questions of functions to the person who runs them: who may ask, how they end, what is recorded,
//! and what goes on meanwhile.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::grant::{Access, Grants};
use openprogram_core::guest::CallError;
use openprogram_core::question::{
    Answer, Approval, AskRequest, Prompt, QuestionBody, Unanswered, parse_form,
};
use openprogram_core::session::NodeStatus;
use serde_json::json;
use tokio::time::Instant;

use super::shop::{call, turn};
use super::{graph, nodes, object, run, runtime_with, text, told};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedAnswer, ScriptedProvider, ScriptedQuestions,
    ScriptedReply, function, passed_on,
};
use crate::{Providers, QUESTION_TIMEOUT_DEFAULT, RunRequest, Runtime, RuntimeParts, TurnRequest};

use ScriptedAnswer::{Given, Not, Silence};

/// A question with one prompt.
pub(super) fn prompt(options: &[&str], default: Option<&str>) -> QuestionBody {
    QuestionBody::Ask(vec![Prompt {
        text: "Which?".to_owned(),
        options: options.iter().map(ToString::to_string).collect(),
        default: default.map(|text| vec![text.to_owned()]),
        ..Prompt::default()
    }])
}

/// A component whose `ask` puts this question and gives what came of it, with whether it could ask.
pub(super) fn asks(request: AskRequest) -> NativeFunctions {
    let ask = move |call: NativeCall| {
        let request = request.clone();
        async move {
            let can_ask = call.services.can_ask();
            let reply = call.services.ask_user(request).await.map_err(passed_on)?;
            let answer = match reply.answer {
                Answer::Replies(replies) => json!(replies),
                Answer::Confirmed(is_yes) => json!(is_yes),
                Answer::Filled(values) => Json::Object(values),
                Answer::Approved(_) | Answer::Remembered(_) => json!("an approval"),
            };
            let default = reply.is_default;
            Ok(json!({"can_ask": can_ask, "answer": answer, "default": default}))
        }
    };
    NativeFunctions::default().with(function("desk", "ask", "", []), ask)
}

/// Lets the component `desk` ask.
pub(super) fn grant(parts: &mut RuntimeParts) {
    let grants = Grants {
        ask_user: true,
        ..Grants::default()
    };
    parts.grants = BTreeMap::from([("desk".to_owned(), Arc::new(grants))]);
}

fn of(body: QuestionBody) -> AskRequest {
    AskRequest {
        body,
        timeout_ms: None,
    }
}

fn replies(texts: &[&str]) -> Answer {
    let texts = texts.iter().map(|text| vec![(*text).to_owned()]);
    Answer::Replies(texts.collect())
}

/// A runtime whose person answers so.
fn answered(request: AskRequest, answer: ScriptedAnswer) -> (Runtime, Arc<ScriptedQuestions>) {
    let questions = Arc::new(ScriptedQuestions::new([answer]));
    let asked = Arc::clone(&questions);
    let runtime = runtime_with(asks(request), |parts| {
        grant(parts);
        parts.questions = asked;
    });
    (runtime, questions)
}

/// What the function was told: the answer, or the code of the failure.
async fn told_of(request: AskRequest, answer: ScriptedAnswer) -> Json {
    let (runtime, _) = answered(request, answer);
    let outcome = run(&runtime, "ask", json!({})).await;
    match told(&outcome) {
        Json::Object(told) if told.contains_key("ok") => told["ok"].clone(),
        failed => failed["code"].clone(),
    }
}

#[tokio::test]
async fn without_the_grant_a_question_is_denied_with_the_command_that_allows_it() {
    let questions = Arc::new(ScriptedQuestions::new([]));
    let asked = Arc::clone(&questions);
    let request = of(prompt(&[], Some("there is a default")));
    let runtime = runtime_with(asks(request), |parts| parts.questions = asked);
    let outcome = run(&runtime, "ask", json!({})).await;
    let failure = &told(&outcome);
    assert_eq!(
        *failure,
        json!({
            "code": "denied",
            "message": "`desk` may not ask the person who runs it",
            "details": {
                "what": "ask the person who runs it",
                "how_to_allow": "openprogram grant desk --ask-user",
            },
        })
    );
    assert_eq!(questions.asked(), []);
    let recorded = nodes(&runtime, &outcome).await;
    let [call] = &recorded[..] else {
        panic!("a refused question is no node: {recorded:?}");
    };
    let access = &call.end.as_ref().unwrap().facts[Access::FACT][0];
    assert_eq!(
        (&access["kind"], &access["needed"]),
        (&json!("ask_user"), &json!("true"))
    );
}

#[tokio::test]
async fn with_the_grant_the_person_is_asked_and_the_answer_is_recorded_below_the_call() {
    let (runtime, questions) = answered(
        of(prompt(&["Red", "Blue"], None)),
        Given(replies(&["blue"])),
    );
    let outcome = run(&runtime, "ask", json!({})).await;
    let expected = json!({"ok": {"can_ask": true, "answer": [["Blue"]], "default": false}});
    assert_eq!(told(&outcome), expected);
    let asked = questions.asked().remove(0);
    assert_eq!(asked.function.as_deref(), Some("test:desk/api.ask"));
    assert_eq!(asked.component.as_deref(), Some("desk"));
    expect![[r#"
        1 code test:desk/api.ask
          in   {}
          fact access=[{"kind":"ask_user","what":"ask the person who runs it","grant":"true","n":1}]
          out  {"can_ask":true,"answer":[["Blue"]],"default":false}
        2 code openprogram:agentic/ask.ask caller=1
          in   {"questions":[{"prompt":"Which?","options":["Red","Blue"]}]}
          fact by="script"
          out  [["Blue"]]
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
    let recorded = nodes(&runtime, &outcome).await;
    assert_eq!(recorded[1].end.as_ref().unwrap().facts["by"], "script");
    let access = &recorded[0].end.as_ref().unwrap().facts[Access::FACT][0];
    assert_eq!(access["grant"], "true");
}

#[tokio::test]
async fn where_nobody_is_nobody_is_waited_for() {
    for (default, expected) in [
        (None, json!("nobody-there")),
        (
            Some("Red"),
            json!({"can_ask": false, "answer": [["Red"]], "default": true}),
        ),
    ] {
        let request = of(prompt(&["Red"], default));
        let runtime = runtime_with(asks(request), |parts| {
            grant(parts);
            // A wait would be one for ever.
            parts.question_timeout = None;
        });
        let outcome = run(&runtime, "ask", json!({})).await;
        let told = told(&outcome);
        let told = match told.get("ok") {
            Some(value) => value,
            None => &told["code"],
        };
        assert_eq!(*told, expected);
        let asked = &nodes(&runtime, &outcome).await[1];
        let is_default = asked.end.as_ref().unwrap().facts.get("answer");
        assert_eq!(is_default.is_some(), default.is_some(), "{asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_and_no_answer_and_nobody_are_three_failures_and_a_default_is_for_silence() {
    let declined = || Not(Unanswered::Declined);
    let nobody = || Not(Unanswered::NobodyThere);
    let default = |answer: Json| json!({"can_ask": true, "answer": answer, "default": true});
    let confirm = |default| QuestionBody::Confirm {
        text: "Sure?".to_owned(),
        default,
    };
    let form = |fields: Json| QuestionBody::Form {
        title: "F".to_owned(),
        fields: parse_form(&fields).unwrap(),
    };
    for (body, answer, expected) in [
        (prompt(&[], None), declined(), json!("declined")),
        (prompt(&[], Some("d")), declined(), json!("declined")),
        (confirm(Some(true)), declined(), json!("declined")),
        (prompt(&[], None), Silence, json!("ask-timeout")),
        (prompt(&[], Some("d")), Silence, default(json!([["d"]]))),
        // A default of nothing is one too.
        (prompt(&[], Some("")), Silence, default(json!([[""]]))),
        (confirm(Some(false)), Silence, default(json!(false))),
        (confirm(None), Silence, json!("ask-timeout")),
        (
            form(json!({"n": {"type": "integer", "default": 1}, "note": {"required": false}})),
            Silence,
            default(json!({"n": 1})),
        ),
        (form(json!({"name": ""})), Silence, json!("ask-timeout")),
        (prompt(&[], None), nobody(), json!("nobody-there")),
        (prompt(&[], Some("d")), nobody(), default(json!([["d"]]))),
    ] {
        let shown = format!("{body:?} {answer:?}");
        assert_eq!(told_of(of(body), answer).await, expected, "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_as_long_as_it_says_and_no_longer_than_the_host_says() {
    for (timeout_ms, waits) in [
        (None, QUESTION_TIMEOUT_DEFAULT),
        (Some(2_000), Duration::from_secs(2)),
        (Some(3_600_000), QUESTION_TIMEOUT_DEFAULT),
    ] {
        let start = Instant::now();
        let request = AskRequest {
            body: prompt(&[], None),
            timeout_ms,
        };
        assert_eq!(told_of(request, Silence).await, "ask-timeout");
        assert_eq!(start.elapsed(), waits);
    }
    assert_eq!(QUESTION_TIMEOUT_DEFAULT, Duration::from_secs(300));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_run_ends_a_question_too() {
    let questions = Arc::new(ScriptedQuestions::new([Silence]));
    let runtime = runtime_with(asks(of(prompt(&[], Some("d")))), |parts| {
        grant(parts);
        parts.questions = questions;
        parts.limits.run_ms = Some(5_000);
    });
    let outcome = run(&runtime, "ask", json!({})).await;
    assert_eq!(told(&outcome)["details"]["which"], "run_ms");
    let recorded = nodes(&runtime, &outcome).await;
    let statuses: Vec<_> = recorded.iter().map(|node| node.status()).collect();
    assert_eq!(statuses, [NodeStatus::Cancelled; 2]);
}

#[tokio::test]
async fn a_stopped_run_withdraws_its_question() {
    let (runtime, questions) = answered(of(prompt(&[], Some("d"))), Silence);
    let stop = async {
        while questions.asked().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let request = RunRequest::new("ask");
    let outcome = runtime.run_function_until(request, stop).await;
    assert_eq!(told(&outcome)["code"], "cancelled");
    let recorded = nodes(&runtime, &outcome).await;
    assert_eq!(recorded[1].status(), NodeStatus::Cancelled);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_never_reaches_the_function() {
    let form = || QuestionBody::Form {
        title: "F".to_owned(),
        fields: parse_form(&json!({"n": {"type": "integer", "minimum": 1}})).unwrap(),
    };
    let filled = |values: Json| Given(Answer::Filled(object(values)));
    for (body, answer) in [
        (prompt(&["A"], None), Given(replies(&["Z"]))),
        (prompt(&["A"], None), Given(replies(&["A", "A"]))),
        (prompt(&["A"], None), Given(Answer::Approved(true))),
        (prompt(&["A"], None), Given(Answer::Confirmed(true))),
        (form(), filled(json!({"n": "notint"}))),
        (form(), filled(json!({"n": 0}))),
        (form(), filled(json!({"n": 1, "extra": 1}))),
        (form(), filled(json!({}))),
    ] {
        let shown = format!("{body:?} {answer:?}");
        assert_eq!(told_of(of(body), answer).await, "internal", "{shown}");
    }
}

#[tokio::test]
async fn a_function_cannot_put_a_question_that_is_an_approval() {
    let approval = Approval {
        function: "acme:bank/desk.pay".to_owned(),
        component: "bank".to_owned(),
        digest: "sha256:1".to_owned(),
        arguments: object(json!({})),
        hidden: Vec::new(),
        what: "run acme:bank/desk.pay".to_owned(),
        sends: None,
        grant: None,
        reason: None,
    };
    let body = QuestionBody::Approval(Box::new(approval));
    let (runtime, questions) = answered(of(body), Given(Answer::Approved(true)));
    let outcome = run(&runtime, "ask", json!({})).await;
    assert_eq!(told(&outcome)["code"], "denied");
    assert_eq!(questions.asked(), []);
}

#[tokio::test]
async fn one_call_asks_so_many_questions_and_no_more() {
    let flood = |call: NativeCall| async move {
        for n in 0.. {
            let request = of(prompt(&["A"], Some("A")));
            if let Err(failure) = call.services.ask_user(request).await {
                return Ok::<Json, CallError>(json!([n, failure.details["which"]]));
            }
        }
        Ok(Json::Null)
    };
    let functions = NativeFunctions::default().with(function("desk", "flood", "", []), flood);
    let runtime = runtime_with(functions, grant);
    let outcome = run(&runtime, "flood", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": [64, "questions"]}));
}

#[tokio::test]
async fn models_read_nothing_of_a_question_and_its_answer() {
    let form = json!({"city": "Where?", "key": {"secret": true}});
    let body = QuestionBody::Form {
        title: "MY-QUESTION".to_owned(),
        fields: parse_form(&form).unwrap(),
    };
    let values = object(json!({"city": "MY-ANSWER", "key": "MY-SECRET"}));
    let questions = Arc::new(ScriptedQuestions::new([Given(Answer::Filled(values))]));
    let model = Arc::new(ScriptedProvider::new([ScriptedReply::from("done")]));
    let seen = Arc::clone(&model);
    let ask = move |call: NativeCall| {
        let body = body.clone();
        async move {
            let reply = call.services.ask_user(of(body)).await.map_err(passed_on)?;
            assert!(format!("{reply:?}").contains("MY-SECRET"));
            call.services.exec(turn(&[])).await.map_err(passed_on)?;
            Ok(Json::Null)
        }
    };
    let asks = function("desk", "ask", "", [text("runtime")]);
    let functions = NativeFunctions::default().with(asks, ask);
    let runtime = runtime_with(functions, |parts| {
        grant(parts);
        parts.questions = questions;
        parts.providers = Providers::all(model);
    });
    let outcome = run(&runtime, "ask", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": null}));
    let read = format!("{:?}", seen.requests());
    for word in ["MY-QUESTION", "MY-ANSWER", "MY-SECRET"] {
        assert!(!read.contains(word), "{read}");
    }
    // The record has the answer, without the secret.
    let recorded = format!("{:?}", nodes(&runtime, &outcome).await);
    assert!(recorded.contains("MY-ANSWER") && !recorded.contains("MY-SECRET"));
}

/// One place for requests: a tool that waits for a person leaves it to another run.
#[tokio::test]
async fn who_waits_for_an_answer_holds_no_place_of_a_provider() {
    let questions = Arc::new(ScriptedQuestions::new([Silence]));
    let asked = Arc::clone(&questions);
    let model = ScriptedProvider::new([call("1", "ask", "{}"), ScriptedReply::from("done")]);
    let runtime = runtime_with(asks(of(prompt(&[], None))), |parts| {
        grant(parts);
        parts.questions = asked;
        parts.providers = Providers::all(Arc::new(model));
        parts.admission.requests = 1;
    });
    let asking = runtime.clone();
    let waiting = tokio::spawn(async move {
        let turn = TurnRequest::text("Ask.");
        asking.exec_until(turn, pending()).await
    });
    while questions.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    let other = runtime.exec(TurnRequest::text("Go on.")).await;
    assert_eq!(other.result.unwrap().text, "done");
    waiting.abort();
}
