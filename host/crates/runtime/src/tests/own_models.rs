//! Closures as models: what they are given, how their errors are understood, and one that stands in
//! for the model of the runtime in one turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, Message};
use openprogram_core::decision::{MenuOption, Payload};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, Parameter};
use openprogram_core::guest::RunTotals;
use openprogram_core::llm::{
    Abilities, DecisionReply, DecisionState, EventSink, LlmError, LlmFailure, LlmReason,
    ModelReply, ModelRequest, Provider, Weight,
};
use openprogram_core::schema::Type;
use openprogram_core::session::Usage;
use serde_json::json;

use super::shop::turn;
use super::{decision, run, runtime, runtime_with, told, value};
use crate::testing::{NativeCall, NativeFunctions, ScriptedProvider, function, passed_on};
use crate::{
    DecideRequest, Event, ModelFn, OnRetry, OwnProvider, Providers, TurnRequest, event_channel,
};

type Requests = Arc<Mutex<Vec<ModelRequest>>>;

/// A model that keeps its requests and answers with their number.
fn counting(requests: &Requests) -> ModelFn {
    let requests = Arc::clone(requests);
    ModelFn::new("own:counting", move |request: ModelRequest| {
        let requests = Arc::clone(&requests);
        async move {
            let mut requests = requests.lock().unwrap();
            requests.push(request);
            Ok::<_, LlmFailure>(format!("reply {}", requests.len()))
        }
    })
}

/// A function that makes turns.
fn takes_runtime(name: &str) -> Function {
    function("a", name, "", [Parameter::new("runtime", Type::Json)])
}

fn picture() -> ContentBlock {
    ContentBlock::Image {
        mime_type: "image/png".to_owned(),
        // More than text: the last byte is no UTF-8.
        data: b"\x89PNG\r\n\x1a\n\xff".as_slice().into(),
    }
}

#[tokio::test]
async fn a_closure_is_given_history_and_images_whole() {
    let requests = Requests::default();
    let model = Providers::all(Arc::new(counting(&requests)));
    let runtime = runtime(NativeFunctions::default(), model);
    let first = runtime.exec(TurnRequest::text("What is new?")).await;
    assert_eq!(first.result.unwrap().text, "reply 1");
    let mut request = TurnRequest::text("And what is this?");
    request.turn.content.push(picture());
    request.turn.system.push("Be brief.".to_owned());
    request.session = first.session;
    let second = runtime.exec(request).await;
    assert_eq!(second.result.unwrap().text, "reply 2");
    let requests = requests.lock().unwrap();
    let expected = [
        Message::user("What is new?"),
        Message::assistant("reply 1"),
        Message {
            content: vec![
                ContentBlock::Text("And what is this?".to_owned()),
                picture(),
            ],
            ..Message::user("")
        },
    ];
    assert_eq!(requests[1].messages, expected);
    assert_eq!(requests[1].system.as_deref(), Some("Be brief."));
    assert_eq!(requests[1].last_text(), "And what is this?");
    assert_eq!(requests[0].session, requests[1].session);
}

#[test]
fn a_closure_that_blocks_answers_with_and_without_an_async_runtime() {
    let model = || {
        let reply = |request: &ModelRequest| {
            Ok::<_, LlmFailure>(ModelReply {
                usage: Some(Usage {
                    input_tokens: 3,
                    ..Usage::default()
                }),
                ..ModelReply::text_only(request.last_text().to_uppercase())
            })
        };
        Providers::all(Arc::new(ModelFn::blocking("own:loud", reply)))
    };
    let runtime = runtime(NativeFunctions::default(), model());
    assert_eq!(runtime.last_usage(), None);
    let inside = runtime.exec_blocking(TurnRequest::text("in"));
    let outside = pollster::block_on(runtime.exec(TurnRequest::text("out")));
    let texts = [inside, outside].map(|outcome| outcome.result.unwrap().text);
    assert_eq!(texts, ["IN", "OUT"]);
    assert_eq!(runtime.last_usage().unwrap().input_tokens, 3);
    assert_eq!(runtime.max_retries().get(), 6);
}

/// Makes a turn with a model that fails with these errors and then answers. Gives the number of
/// requests, the time slept and what came of it.
async fn after(errors: Vec<LlmError>) -> (usize, Duration, Json) {
    let n_asked = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&n_asked);
    let model = ModelFn::blocking("own:failing", move |_: &ModelRequest| {
        let at = asked.fetch_add(1, Ordering::Relaxed);
        errors.get(at).cloned().map_or(Ok("done"), Err)
    });
    let runtime = runtime(NativeFunctions::default(), Providers::all(Arc::new(model)));
    let start = tokio::time::Instant::now();
    let outcome = runtime.exec(TurnRequest::text("go")).await;
    let told = match outcome.result {
        Ok(reply) => reply.text.into(),
        Err(failure) => json!([
            failure.code.as_str(),
            failure.details.get("reason"),
            failure.details.get("http_status"),
            failure.details.get("attempts"),
        ]),
    };
    (n_asked.load(Ordering::Relaxed), start.elapsed(), told)
}

#[tokio::test(start_paused = true)]
async fn errors_of_a_closure_say_whether_and_when_it_is_asked_again() {
    let lost = || LlmFailure::new(LlmReason::Transport, true, "lost");
    let wait = Duration::from_secs(30);
    let slow_down = LlmFailure::of_status(429, "slow down").retry_after(wait);
    let (n_asked, slept, told) = after(vec![slow_down.into()]).await;
    assert_eq!((n_asked, told), (2, json!("done")));
    assert!(slept >= wait && slept <= wait.mul_f64(1.25), "{slept:?}");
    for (error, expected) in [
        (
            lost().transport_exhausted().into(),
            json!(["llm", "transport", null, 1]),
        ),
        (
            LlmFailure::of_status(401, "who are you").into(),
            json!(["llm", "auth", 401, 1]),
        ),
        (
            LlmFailure::of_status(429, "insufficient_quota").into(),
            json!(["llm", "authz", 429, 1]),
        ),
        (
            LlmFailure::new(LlmReason::Provider, false, "never").into(),
            json!(["llm", "provider", null, 1]),
        ),
        (
            LlmError::Unsupported("not like this".to_owned()),
            json!(["no-provider", null, null, null]),
        ),
        (
            LlmError::Guest(Failure::new(FailureCode::InvalidArgument, "no such tool")),
            json!(["invalid-argument", null, null, null]),
        ),
    ] {
        assert_eq!(after(vec![error]).await, (1, Duration::ZERO, expected));
    }
    let (n_asked, _, told) = after(vec![LlmFailure::of_words("who knows").into()]).await;
    assert_eq!((n_asked, told), (2, json!("done")));
}

#[tokio::test(start_paused = true)]
async fn an_observer_is_told_once_for_each_failed_try_that_another_one_follows() {
    let failures = std::iter::repeat_with(|| LlmFailure::of_status(503, "busy").into());
    let failures: Vec<LlmError> = failures.take(3).collect();
    let model = ScriptedProvider::new(failures).named("own:busy");
    let runtime = runtime_with(NativeFunctions::default(), |parts| {
        parts.providers = Providers::all(Arc::new(model));
        parts.retry.attempts_max = std::num::NonZeroU32::new(3).unwrap();
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut request = TurnRequest::text("go");
    let kept = Arc::clone(&seen);
    request.on_retry = Some(OnRetry::new(move |retry| {
        let mut seen = kept.lock().unwrap();
        seen.push((retry.attempt, retry.attempts_max, retry.http_status));
        let is_first = seen.len() == 1;
        drop(seen);
        assert!(!is_first, "an observer that breaks");
        Err::<(), _>("an observer that fails")
    }));
    let outcome = runtime.exec(request).await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.details["attempts"], 3);
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, [(1, 3, Some(503)), (2, 3, Some(503))]);
}

#[tokio::test]
async fn a_provider_of_ones_own_stands_in_for_one_turn_and_not_for_what_it_causes() {
    let inner = |call: NativeCall| async move {
        let reply = call.services.exec(turn(&[])).await.map_err(passed_on)?;
        Ok(json!(reply.text))
    };
    let asks = takes_runtime("inner");
    let functions = NativeFunctions::default().with(asks, inner);
    let own = ScriptedProvider::new([
        crate::testing::ScriptedReply::calls("", [("1", "inner", "{}")]),
        "from the own one".into(),
    ]);
    let own = Arc::new(own.named("own:model"));
    let main = Arc::new(ScriptedProvider::new(["from the main one"]));
    let runtime = runtime(functions, Providers::all(main.clone()));
    let mut request = TurnRequest::text("go");
    request.provider = Some(own.clone().into());
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().text, "from the own one");
    assert_eq!((own.n_left(), main.n_left()), (0, 0));
    let results = &own.requests()[1].messages;
    let answered = format!("{:?}", results.last().unwrap());
    assert!(answered.contains("from the main one"), "{answered}");
}

#[tokio::test]
async fn a_decision_takes_a_provider_of_ones_own_without_any_other() {
    let own = ScriptedProvider::new(["none of them", r#"{"call": "wait"}"#]);
    let runtime = runtime(NativeFunctions::default(), Providers::default());
    let option =
        |name: &str| MenuOption::new(name.to_owned(), None, Payload::Value(name.len().into()));
    let mut request = DecideRequest::new("What now?", vec![option("go"), option("wait")]);
    request.provider = Some(OwnProvider::new(Arc::new(own)));
    let again = DecideRequest {
        provider: None,
        ..request.clone()
    };
    let outcome = runtime.decide(request).await;
    assert_eq!(outcome.result.unwrap().value, Some(json!(4)));
    let failure = runtime.decide(again).await.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::NoProvider);
}

/// A model that counts as one does that is a component: it keeps what its run had counted before.
#[derive(Default)]
struct Counted(Mutex<Vec<u64>>);

impl Counted {
    fn count(&self, totals: &RunTotals) {
        let before = totals.of("model").cpu_ns.fetch_add(1, Ordering::Relaxed);
        self.0.lock().unwrap().push(before);
    }
}

#[async_trait]
impl Provider for Counted {
    fn name(&self) -> &str {
        "own:counted"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: true,
        }
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        _: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.count(&request.totals);
        Ok("done".into())
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        self.count(&state.totals);
        let option = state.choices[0].name.clone();
        let probability = 1.0;
        Ok(DecisionReply::of(vec![Weight {
            option,
            probability,
        }]))
    }
}

#[tokio::test]
async fn all_that_a_run_asks_counts_together() {
    let asks = |call: NativeCall| async move {
        for _ in 0..2 {
            call.services.exec(turn(&[])).await.map_err(passed_on)?;
            let options = ["go", "wait"].map(|name| value(name, json!(name)));
            let request = decision("What now?", options.to_vec());
            call.services.pick(request).await.map_err(passed_on)?;
        }
        Ok(json!(null))
    };
    let functions = NativeFunctions::default().with(takes_runtime("asks"), asks);
    let model = Arc::new(Counted::default());
    let runtime = runtime(functions, Providers::all(model.clone()));
    for _ in 0..2 {
        assert!(run(&runtime, "asks", json!({})).await.result.is_ok());
    }
    assert_eq!(*model.0.lock().unwrap(), [0, 1, 2, 3, 0, 1, 2, 3]);
}

#[tokio::test]
async fn the_web_is_searched_where_the_model_can_and_refused_elsewhere() {
    let requests = Requests::default();
    let searching = Arc::new(counting(&requests).searching_the_web());
    let runtime = runtime(
        NativeFunctions::default(),
        Providers::all(Arc::new(counting(&requests))),
    );
    let mut request = TurnRequest::text("What is new?");
    request.turn.web_search = true;
    let refused = runtime.exec(request.clone()).await.result.unwrap_err();
    let expected = json!({
        "code": "no-provider",
        "message": "`own:counting` is not known to search the web; make the turn without it, use \
                    another model, or set `web_search = true` in a `[[profiles]]` row for it in \
                    openprogram.toml",
        "details": {"model": "own:counting"},
    });
    assert_eq!(refused.to_json(), expected);
    request.provider = Some(searching.into());
    assert!(runtime.exec(request).await.result.is_ok());
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 1, "what is refused is not sent");
    assert!(requests[0].web_search);
}

#[tokio::test]
async fn without_a_store_a_turn_is_one_message_and_nothing_is_recorded() {
    let requests = Requests::default();
    let inner = |call: NativeCall| async move {
        let reply = call.services.exec(turn(&[])).await.map_err(passed_on)?;
        Ok(json!(reply.text))
    };
    let functions = NativeFunctions::default()
        .with(takes_runtime("asks"), inner)
        .with(function("a", "quick", "", []), |_| async { Ok(json!(1)) });
    let catalog = Arc::new(functions.catalog());
    let mut parts = crate::RuntimeParts::without_store(Arc::new(functions), catalog);
    parts.providers = Providers::all(Arc::new(counting(&requests)));
    let runtime = crate::Runtime::new(parts);
    for text in ["first", "second"] {
        let outcome = runtime.exec(TurnRequest::text(text)).await;
        assert_eq!(outcome.session, None);
        assert!(outcome.result.is_ok());
    }
    let outcome = run(&runtime, "asks", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "reply 3"}));
    assert_eq!((outcome.session, outcome.node), (None, None));
    assert!(runtime.store().sessions(10).await.unwrap().is_empty());
    let requests = requests.lock().unwrap().clone();
    assert_eq!(requests[1].messages, [Message::user("second")]);
    assert_eq!(requests[2].messages.len(), 1);
    let sessions: std::collections::BTreeSet<_> = requests
        .iter()
        .map(|request| request.session.as_str())
        .collect();
    assert_eq!(sessions.len(), 1, "one key of the prompt cache");
    let mut request = TurnRequest::text("go on");
    request.session = Some(requests[0].session.clone());
    let outcome = runtime.exec(request).await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::NotFound);
    let why = "this runtime has no store, and records none";
    assert!(failure.message.ends_with(why), "{failure}");
}

/// Makes a turn whose first try is cut after a piece. Gives the result and the events that matter.
async fn cut_in_the_middle(agrees: bool, capacity: usize) -> (Result<String, Json>, Vec<String>) {
    use openprogram_core::llm::ModelEvent;
    let lost = LlmFailure::new(LlmReason::Transport, true, "cut").into();
    let model = ScriptedProvider::new([
        crate::testing::ScriptedReply::Broken(vec![ModelEvent::Text("Hel".to_owned())], lost),
        "Hello".into(),
    ]);
    let runtime = runtime(NativeFunctions::default(), Providers::all(Arc::new(model)));
    let (sender, mut receiver) = event_channel(capacity);
    let sender = if agrees {
        sender.accepting_restarts()
    } else {
        sender
    };
    let mut request = TurnRequest::text("Greet me.");
    request.events = Some(sender);
    let outcome = runtime.exec(request).await;
    let mut seen = Vec::new();
    while let Some(event) = receiver.next().await {
        match event {
            Event::Text { text, .. } => seen.push(text),
            Event::ModelRetried { .. } => seen.push("(again)".to_owned()),
            Event::ReplyRestarted { .. } => seen.push("(restart)".to_owned()),
            _ => {}
        }
    }
    let result = outcome.result.map(|reply| reply.text);
    (
        result.map_err(|failure| failure.details["attempts"].clone()),
        seen,
    )
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_is_asked_for_again_only_when_the_watcher_agreed_and_is_told() {
    let (result, seen) = cut_in_the_middle(false, 100).await;
    assert_eq!((result, seen), (Err(json!(1)), vec!["Hel".to_owned()]));
    let (result, seen) = cut_in_the_middle(true, 100).await;
    assert_eq!(result, Ok("Hello".to_owned()));
    assert_eq!(seen, ["Hel", "(again)", "(restart)", "Hello"]);
    // The beginning of the request and one piece fill the channel: nobody can be told.
    let (result, seen) = cut_in_the_middle(true, 2).await;
    assert_eq!((result, seen), (Err(json!(1)), vec!["Hel".to_owned()]));
}
