//! What a person approves: functions that require it, grants that ask, and the receipts.

use std::sync::Arc;
use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::function::{Function, Parameter};
use openprogram_core::gating::RequiredApproval;
use openprogram_core::grant::{Access, GrantKind};
use openprogram_core::guest::{ApprovalRequest, CallError};
use openprogram_core::question::{
    Answer, AnswerMemory, KeptAnswer, ProcessMemory, QuestionBody, Receipt, Sending, Unanswered,
    unapproved,
};
use openprogram_core::schema::{IntegerKind, Type};
use openprogram_core::session::NodeStatus;
use serde_json::json;

use super::{hidden, nodes, object, run, runtime_with, text, told};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedAnswer, ScriptedProvider, ScriptedQuestions,
    ScriptedReply, function, passed_on,
};
use crate::{
    CallPolicy, Event, Providers, RunOutcome, RunRequest, Runtime, RuntimeParts, TurnRequest,
    event_channel,
};

const YES: ScriptedAnswer = ScriptedAnswer::Given(Answer::Approved(true));
const NO: ScriptedAnswer = ScriptedAnswer::Given(Answer::Approved(false));

/// Calls the function named in `name` with each of `arguments` in turn, and gives what came of it.
async fn relay(call: NativeCall) -> Result<Json, CallError> {
    let name = call.arguments["name"].as_str().unwrap();
    let mut results = Vec::new();
    for arguments in call.arguments["arguments"].as_array().unwrap() {
        let called = call.services.call(name, arguments.clone()).await;
        results.push(called.unwrap_or_else(|failure| failure.code.as_str().into()));
    }
    Ok(results.into())
}

/// Asks for a use of a grant and gives what came of it.
async fn reach(call: NativeCall) -> Result<Json, CallError> {
    let request = ApprovalRequest {
        kind: GrantKind::Http,
        what: "GET https://a.example/".to_owned(),
        grant: "ask https://a.example/".to_owned(),
        sends: None,
    };
    let grant = request.grant.clone();
    let what = request.what.clone();
    if let Err(failure) = call.services.approve(request).await {
        let refused = unapproved(GrantKind::Http, &what, &grant, &failure);
        call.services.note(refused);
        return Err(passed_on(failure));
    }
    call.services
        .note(Access::granted(GrantKind::Http, what, grant));
    Ok(json!("sent"))
}

fn pay() -> Function {
    let amount =
        openprogram_core::function::Parameter::new("amount", Type::Integer(IntegerKind::U8));
    let mut pay = function("desk", "pay", "Pays.", [amount, hidden("account")]);
    pay.gating.requires_approval = Some(RequiredApproval {
        reason: Some("It pays.".to_owned()),
        when: None,
    });
    pay
}

fn functions() -> NativeFunctions {
    let arguments = openprogram_core::function::Parameter::new("arguments", Type::Json);
    let relays = [text("name"), arguments];
    NativeFunctions::default()
        .with(
            pay(),
            |call| async move { Ok(call.arguments["amount"].clone()) },
        )
        .with(function("desk", "relay", "", relays), relay)
        .with(function("desk", "reach", "", []), reach)
        .with(function("shop", "refund", "", [text("order")]), |_| async {
            Ok(json!("refunded"))
        })
}

fn desk(
    answers: impl IntoIterator<Item = ScriptedAnswer>,
    change: impl FnOnce(&mut RuntimeParts),
) -> (Runtime, Arc<ScriptedQuestions>) {
    let questions = Arc::new(ScriptedQuestions::new(answers));
    let asked = Arc::clone(&questions);
    let runtime = runtime_with(functions(), |parts| {
        parts.questions = asked;
        let grant = "ask shop.refund".parse().unwrap();
        parts
            .policy
            .grant_line(&parts.catalog, "desk", &grant)
            .unwrap();
        change(parts);
    });
    (runtime, questions)
}

fn relayed(name: &str, arguments: Json) -> RunRequest {
    let mut request = RunRequest::new("relay");
    request.arguments = object(json!({"name": name, "arguments": arguments}));
    request.context = object(json!({"account": "A-1"}));
    request
}

/// What each question wanted, with the arguments.
fn wanted(questions: &ScriptedQuestions) -> Vec<String> {
    let asked = questions.asked();
    let bodies = asked.iter().map(|question| &question.body);
    let wanted = bodies.map(|body| match body {
        QuestionBody::Approval(approval) => {
            let arguments = Json::Object(approval.arguments.clone());
            format!("{} {arguments}", approval.what)
        }
        other => format!("{other:?}"),
    });
    wanted.collect()
}

#[tokio::test]
async fn every_call_of_a_function_that_requires_it_is_asked_about_anew() {
    let (runtime, questions) = desk([YES, NO, YES], |_| ());
    let same = json!([{"amount": 3}, {"amount": 4}, {"amount": 3}]);
    let outcome = runtime.run_function(relayed("pay", same)).await;
    assert_eq!(told(&outcome), json!({"ok": [3, "approval-denied", 3]}));
    let expected = [3, 4, 3]
        .map(|amount| format!(r#"run test:desk/api.pay {{"amount":{amount},"account":"A-1"}}"#));
    assert_eq!(wanted(&questions), expected);
    let QuestionBody::Approval(approval) = questions.asked().remove(0).body else {
        panic!("an approval");
    };
    assert_eq!(approval.hidden, ["account"]);
    assert_eq!(approval.reason.as_deref(), Some("It pays."));
    assert_eq!(approval.digest, "sha256:desk");

    let recorded = nodes(&runtime, &outcome).await;
    let receipts: Vec<_> = recorded[1..]
        .iter()
        .map(|node| {
            let facts = &node.end.as_ref().unwrap().facts;
            let receipt = Receipt::from_json(&facts[Receipt::FACT][0]).unwrap();
            (node.status(), receipt)
        })
        .collect();
    let answers: Vec<_> = receipts
        .iter()
        .map(|(status, receipt)| (*status, receipt.answer.as_str()))
        .collect();
    let expected = [
        (NodeStatus::Completed, "approved"),
        (NodeStatus::Failed, "declined"),
        (NodeStatus::Completed, "approved"),
    ];
    assert_eq!(answers, expected);
    let [first, second, third] = &receipts[..] else {
        panic!("three receipts");
    };
    assert_eq!(first.1.question, third.1.question);
    assert_ne!(first.1.question, second.1.question);
    assert!(first.1.question.starts_with("sha256:") && first.1.question.len() == 71);
    assert_eq!((first.1.by.as_str(), first.1.at.0), ("script", 1_000));
}

/// Who answered each call below the first node, and whether for good.
async fn answered(runtime: &Runtime, outcome: &RunOutcome) -> Vec<(String, String, bool)> {
    let recorded = nodes(runtime, outcome).await;
    let receipts = recorded[1..].iter().map(|node| {
        let facts = &node.end.as_ref().unwrap().facts;
        let receipt = Receipt::from_json(&facts[Receipt::FACT][0]).unwrap();
        (
            receipt.answer.as_str().to_owned(),
            receipt.by,
            receipt.remembered,
        )
    });
    receipts.collect()
}

const ALWAYS: ScriptedAnswer = ScriptedAnswer::Given(Answer::Remembered(true));
const NEVER: ScriptedAnswer = ScriptedAnswer::Given(Answer::Remembered(false));

#[tokio::test]
async fn an_answer_for_good_holds_for_the_same_arguments_and_the_same_digest() {
    let answers: Arc<ProcessMemory> = Arc::default();
    let same = json!([{"amount": 3}, {"amount": 4}, {"amount": 3}, {"amount": 4}]);
    let (runtime, questions) = desk([ALWAYS, NEVER], |parts| parts.answers = answers.clone());
    let outcome = runtime.run_function(relayed("pay", same)).await;
    let expected = json!({"ok": [3, "approval-denied", 3, "approval-denied"]});
    assert_eq!(told(&outcome), expected);
    assert_eq!(questions.asked().len(), 2);
    let expected = [
        ("approved", "script"),
        ("declined", "script"),
        ("approved", "memory"),
        ("declined", "memory"),
    ];
    let expected = expected.map(|(answer, by)| (answer.to_owned(), by.to_owned(), true));
    assert_eq!(answered(&runtime, &outcome).await, expected);

    // Over the same memory it holds where nobody is there too, and for nothing else.
    let (runtime, _) = desk([], |parts| {
        parts.answers = answers.clone();
        parts.questions = Arc::new(openprogram_core::question::Nobody);
    });
    let outcome = runtime
        .run_function(relayed("pay", json!([{"amount": 3}, {"amount": 5}])))
        .await;
    assert_eq!(told(&outcome), json!({"ok": [3, "approval-denied"]}));
    let expected = [
        ("approved", "memory", true),
        ("nobody-there", "nobody", false),
    ];
    let expected = expected.map(|(answer, by, kept)| (answer.to_owned(), by.to_owned(), kept));
    assert_eq!(answered(&runtime, &outcome).await, expected);

    // A hidden argument is an argument.
    let mut request = relayed("pay", json!([{"amount": 3}]));
    request.context = object(json!({"account": "A-2"}));
    let outcome = runtime.run_function(request).await;
    assert_eq!(told(&outcome), json!({"ok": ["approval-denied"]}));

    // Another version of the component is asked about anew.
    let mut newer = pay();
    newer.digest = "sha256:newer".to_owned();
    let relays = [text("name"), Parameter::new("arguments", Type::Json)];
    let functions = NativeFunctions::default()
        .with(newer, |_| async { Ok(json!("newer")) })
        .with(function("desk", "relay", "", relays), relay);
    let runtime = runtime_with(functions, |parts| parts.answers = answers);
    let outcome = runtime
        .run_function(relayed("pay", json!([{"amount": 3}])))
        .await;
    assert_eq!(told(&outcome), json!({"ok": ["approval-denied"]}));
}

#[tokio::test]
async fn an_answer_for_good_about_a_grant_holds_for_its_line_and_for_whoever_has_it() {
    let answers: Arc<ProcessMemory> = Arc::default();
    let orders = json!([{"order": "A-1"}, {"order": "A-1"}, {"order": "A-2"}]);
    let (runtime, questions) = desk([ALWAYS, NO], |parts| parts.answers = answers.clone());
    let outcome = runtime.run_function(relayed("shop.refund", orders)).await;
    let expected = json!({"ok": ["refunded", "refunded", "approval-denied"]});
    assert_eq!(told(&outcome), expected);
    assert_eq!(questions.asked().len(), 2);

    // The same grant in other words, and the component that has it in other bytes.
    let other_line = |parts: &mut RuntimeParts| {
        let grant = "ask test:shop/api.refund".parse().unwrap();
        parts.policy = CallPolicy::default();
        let catalog = Arc::clone(&parts.catalog);
        parts.policy.grant_line(&catalog, "desk", &grant).unwrap();
    };
    let (runtime, questions) = desk([NO], |parts| {
        parts.answers = answers.clone();
        other_line(parts);
    });
    let one = json!([{"order": "A-1"}]);
    let outcome = runtime
        .run_function(relayed("shop.refund", one.clone()))
        .await;
    assert_eq!(told(&outcome), json!({"ok": ["approval-denied"]}));
    assert_eq!(questions.asked().len(), 1);

    let mut caller = function(
        "desk",
        "relay",
        "",
        [text("name"), Parameter::new("arguments", Type::Json)],
    );
    caller.digest = "sha256:newer".to_owned();
    let functions = NativeFunctions::default()
        .with(caller, relay)
        .with(function("shop", "refund", "", [text("order")]), |_| async {
            Ok(json!("refunded"))
        });
    let runtime = runtime_with(functions, |parts| {
        parts.answers = answers;
        let grant = "ask shop.refund".parse().unwrap();
        let catalog = Arc::clone(&parts.catalog);
        parts.policy.grant_line(&catalog, "desk", &grant).unwrap();
    });
    let outcome = runtime.run_function(relayed("shop.refund", one)).await;
    assert_eq!(told(&outcome), json!({"ok": ["approval-denied"]}));
}

/// A request that a person allows for good is one entry of the record, and counts as one.
#[tokio::test]
async fn what_is_sent_for_good_is_exactly_this() {
    let sends = |digest: &str| Sending {
        url: "https://a.example/".to_owned(),
        headers: Vec::new(),
        header_bytes: 0,
        body: None,
        digest: digest.to_owned(),
    };
    let asks = move |call: NativeCall| async move {
        let mut n_sent = 0;
        for number in 0..200 {
            let request = ApprovalRequest {
                kind: GrantKind::Http,
                what: "POST https://a.example/".to_owned(),
                grant: "ask POST https://a.example/".to_owned(),
                sends: Some(sends(if number < 199 { "sha256:1" } else { "sha256:2" })),
            };
            n_sent += u64::from(call.services.approve(request).await.is_ok());
        }
        Ok(n_sent.into())
    };
    let functions = NativeFunctions::default().with(function("desk", "asks", "", []), asks);
    let questions = Arc::new(ScriptedQuestions::new([ALWAYS, NO]));
    let runtime = runtime_with(functions, |parts| parts.questions = questions.clone());
    let outcome = run(&runtime, "asks", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": 199}));
    assert_eq!(questions.asked().len(), 2);
    let node = nodes(&runtime, &outcome).await.remove(0);
    let receipts = node.end.unwrap().facts["approvals"].clone();
    let by: Vec<_> = receipts
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (&r["answer"], &r["by"]))
        .collect();
    let words = [
        ("approved", "script"),
        ("approved", "memory"),
        ("declined", "script"),
    ];
    let words = words.map(|(answer, by)| (json!(answer), json!(by)));
    assert_eq!(by, words.each_ref().map(|(answer, by)| (answer, by)));
}

struct FullMemory;

#[async_trait::async_trait]
impl AnswerMemory for FullMemory {
    async fn find(&self, _: &str) -> Option<bool> {
        None
    }

    async fn keep(&self, _: KeptAnswer) -> Result<(), String> {
        Err("the disk is full".to_owned())
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_holds_once_and_the_person_is_told() {
    let (runtime, questions) = desk([ALWAYS, NEVER], |parts| {
        parts.answers = Arc::new(FullMemory)
    });
    let (sender, mut receiver) = event_channel(64);
    let mut request = relayed("pay", json!([{"amount": 3}, {"amount": 3}]));
    request.events = Some(sender);
    let outcome = runtime.run_function(request).await;
    assert_eq!(told(&outcome), json!({"ok": [3, "approval-denied"]}));
    assert_eq!(questions.asked().len(), 2);
    let expected = [("approved", false), ("declined", false)];
    let expected = expected.map(|(answer, kept)| (answer.to_owned(), "script".to_owned(), kept));
    assert_eq!(answered(&runtime, &outcome).await, expected);
    let mut problems = Vec::new();
    while let Some(event) = receiver.next().await {
        if let Event::AnswerNotKept { what, problem, .. } = event {
            problems.push(format!("{what}: {problem}"));
        }
    }
    assert_eq!(problems, vec!["run test:desk/api.pay: the disk is full"; 2]);
}

#[tokio::test]
async fn what_a_person_runs_by_hand_is_not_asked_about() {
    let (runtime, questions) = desk([], |_| ());
    let mut request = RunRequest::new("pay");
    request.arguments = object(json!({"amount": 3}));
    request.context = object(json!({"account": "A-1"}));
    let outcome = runtime.run_function(request).await;
    assert_eq!(told(&outcome), json!({"ok": 3}));
    assert_eq!(questions.asked(), []);
}

#[tokio::test]
async fn a_model_is_told_that_its_call_was_not_approved_and_goes_on() {
    let call = ScriptedReply::calls("", [("c1", "pay", r#"{"amount": 3}"#)]);
    let model = Arc::new(ScriptedProvider::new([call, "Then not.".into()]));
    let (runtime, questions) = desk([NO], |parts| {
        parts.providers = Providers::all(model.clone());
    });
    let mut request = TurnRequest::text("Pay.");
    request.context = object(json!({"account": "A-1"}));
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().text, "Then not.");
    assert_eq!(wanted(&questions).len(), 1);
    let told = format!("{:?}", model.requests());
    let expected = "The call failed (approval-denied): a person did not approve `run \
                    test:desk/api.pay`";
    assert!(told.contains(expected), "{told}");
}

/// A grant that asks, three ways: yes, no, and nobody there.
#[tokio::test]
async fn a_call_by_a_grant_that_asks_needs_a_yes_for_each_of_its_arguments() {
    let orders = json!([{"order": "A-1"}, {"order": "A-2"}]);
    let (runtime, questions) = desk([YES, NO], |_| ());
    let outcome = runtime
        .run_function(relayed("shop.refund", orders.clone()))
        .await;
    assert_eq!(
        told(&outcome),
        json!({"ok": ["refunded", "approval-denied"]})
    );
    let expected =
        ["A-1", "A-2"].map(|order| format!(r#"call test:shop/api.refund {{"order":"{order}"}}"#));
    assert_eq!(wanted(&questions), expected);
    let recorded = nodes(&runtime, &outcome).await;
    let access = recorded[0].end.as_ref().unwrap().facts["access"].clone();
    let call = "call test:shop/api.refund";
    let expected = json!([
        {"kind": "calls", "what": call, "grant": "ask shop.refund", "n": 1},
        {
            "kind": "calls", "what": call, "n": 1,
            "refused": "a person did not approve `call test:shop/api.refund`",
        },
    ]);
    assert_eq!(access, expected);

    let (runtime, _) = desk([], |parts| {
        parts.questions = Arc::new(openprogram_core::question::Nobody);
    });
    let (sender, mut receiver) = event_channel(16);
    let mut request = relayed("shop.refund", orders);
    request.events = Some(sender);
    let outcome = runtime.run_function(request).await;
    let denied = json!({"ok": ["approval-denied", "approval-denied"]});
    assert_eq!(told(&outcome), denied);
    let mut commands = Vec::new();
    while let Some(event) = receiver.next().await {
        if let Event::AccessRefused { access, .. } = event {
            commands.push(access.outcome);
        }
    }
    let expected = Access::refused(
        GrantKind::Calls,
        call,
        "`call test:shop/api.refund` needs the approval of a person, and nobody is there to ask",
        Some("shop.refund".to_owned()),
    );
    assert_eq!(commands, [expected.outcome]);
}

#[tokio::test]
async fn a_grant_that_asks_nobody_comes_before_one_that_asks() {
    let (runtime, questions) = desk([], |parts| {
        let catalog = Arc::clone(&parts.catalog);
        parts.policy.grant(&catalog, "desk", "shop.refund").unwrap();
    });
    let orders = json!([{"order": "A-1"}]);
    let outcome = runtime.run_function(relayed("shop.refund", orders)).await;
    assert_eq!(told(&outcome), json!({"ok": ["refunded"]}));
    assert_eq!(questions.asked(), []);
}

#[tokio::test]
async fn without_a_yes_the_answer_is_no_and_the_receipt_says_why() {
    let wrong = ScriptedAnswer::Given(Answer::Confirmed(true));
    for (answer, reason) in [
        (NO, "declined"),
        (ScriptedAnswer::Not(Unanswered::Declined), "declined"),
        (wrong, "declined"),
        (ScriptedAnswer::Not(Unanswered::TimedOut), "timeout"),
        (ScriptedAnswer::Not(Unanswered::NobodyThere), "nobody-there"),
    ] {
        let (runtime, _) = desk([answer], |_| ());
        let outcome = run(&runtime, "reach", json!({})).await;
        let failure = told(&outcome);
        assert_eq!(failure["code"], "approval-denied", "{reason}");
        assert_eq!(failure["details"]["reason"], reason);
        let node = nodes(&runtime, &outcome).await.remove(0);
        let facts = node.end.unwrap().facts;
        assert_eq!(facts["approvals"][0]["answer"], reason);
        let needed = facts["access"][0].get("needed");
        let expected = json!("https://a.example/");
        assert_eq!(needed, (reason != "declined").then_some(&expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends_when_its_time_is_up() {
    let (runtime, questions) = desk([ScriptedAnswer::Silence], |parts| {
        parts.question_timeout = Some(Duration::from_secs(9));
    });
    let outcome = run(&runtime, "reach", json!({})).await;
    assert_eq!(told(&outcome)["details"]["reason"], "timeout");
    assert_eq!(questions.asked().len(), 1);
}

#[tokio::test]
async fn a_use_that_was_approved_is_in_the_record_with_its_receipt() {
    let (runtime, _) = desk([YES], |_| ());
    let outcome = run(&runtime, "reach", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "sent"}));
    let node = nodes(&runtime, &outcome).await.remove(0);
    let mut facts = node.end.unwrap().facts;
    let receipt = facts["approvals"][0].as_object_mut().unwrap();
    let question = receipt.remove("question").unwrap();
    assert!(question.as_str().unwrap().starts_with("sha256:"));
    let what = "GET https://a.example/";
    let line = "ask https://a.example/";
    let receipt = json!([
        {"what": what, "grant": line, "answer": "approved", "by": "script", "at": 1_000},
    ]);
    let access = json!([{"kind": "http", "what": what, "grant": line, "n": 1}]);
    assert_eq!((&facts["approvals"], &facts["access"]), (&receipt, &access));
}

#[tokio::test]
async fn a_call_that_asks_too_often_reaches_a_limit() {
    let asks = |call: NativeCall| async move {
        let mut codes = Vec::new();
        for number in 0..66 {
            let request = ApprovalRequest {
                kind: GrantKind::Http,
                what: format!("GET https://a.example/{number}"),
                grant: "ask https://a.example/".to_owned(),
                sends: None,
            };
            if let Err(failure) = call.services.approve(request).await {
                codes.push(failure.to_json());
            }
        }
        Ok(codes.into())
    };
    let functions = NativeFunctions::default().with(function("desk", "asks", "", []), asks);
    let questions = Arc::new(ScriptedQuestions::new(vec![YES; 64]));
    let runtime = runtime_with(functions, |parts| parts.questions = questions.clone());
    let outcome = run(&runtime, "asks", json!({})).await;
    let failures = told(&outcome)["ok"].clone();
    assert_eq!(failures.as_array().unwrap().len(), 2);
    assert_eq!(
        failures[0]["details"],
        json!({"which": "approvals", "limit": 64})
    );
    assert_eq!(questions.asked().len(), 64);
}
