//! Turns that go on beside their function: what they tell, its own tools, and how they end.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use expect_test::{Expect, expect};
use openprogram_core::Json;
use openprogram_core::failure::Failure;
use openprogram_core::function::Expose;
use openprogram_core::guest::{
    CallError, ExecRequest, HostServices, LocalCall, LocalTool, ToolsWanted, TurnEvent, TurnWatcher,
};
use openprogram_core::llm::{LlmError, LlmFailure, LlmReason, ModelEvent, RetryPolicy};
use openprogram_core::session::{AnsweredBy, CallAnswer, NodeStatus, Usage};
use openprogram_core::tool::ToolChoice;
use serde_json::json;

use super::shop::{call, results, run_work, shop, turn};
use super::turns::model;
use super::{graph, nodes, text, told};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedReply, function, passed_on, shown_request,
};
use crate::{Event, RunRequest, Runtime, RuntimeParts, TurnRequest, event_channel};

/// Keeps what it is told, and adds up for the model.
#[derive(Default)]
struct Adder {
    told: Mutex<Vec<String>>,
    /// Whether what it is told was seen.
    has_shown: bool,
    /// The number of the first call that it never answers, if there is one.
    silent_from: Option<usize>,
    n_calls: AtomicUsize,
}

impl Adder {
    fn tell(&self, line: String) {
        self.told.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

#[async_trait]
impl TurnWatcher for Adder {
    fn event(&self, event: TurnEvent) {
        self.tell(match event {
            TurnEvent::Text(text) => format!("text {text}"),
            TurnEvent::Thinking(text) => format!("thinking {text}"),
            TurnEvent::ToolUse(call) => format!("use {} {}", call.id, call.name),
            TurnEvent::ToolResult { tool, result } => {
                format!("result {} {tool}: {}", result.id, result.text)
            }
            TurnEvent::Retry(retry) => format!("retry {}", retry.attempt),
            TurnEvent::Usage(usage) => format!("usage {}", usage.output_tokens),
            other => format!("{other:?}"),
        });
    }

    fn has_shown(&self) -> bool {
        self.has_shown
    }

    async fn call(&self, call: LocalCall) -> Result<Json, Failure> {
        let LocalCall {
            id,
            name,
            arguments,
        } = call;
        self.tell(format!(
            "call {id} {name} {}",
            Json::Object(arguments.clone())
        ));
        let number = self.n_calls.fetch_add(1, Ordering::Relaxed);
        if self.silent_from.is_some_and(|first| number >= first) {
            std::future::pending::<()>().await;
        }
        let sum = |name: &str| arguments.get(name).and_then(Json::as_i64);
        match (sum("a"), sum("b")) {
            (Some(a), Some(b)) => Ok((a + b).into()),
            _ => Err(Failure::from_json(&json!({
                "code": "function-failed", "message": "one is missing", "details": {},
            }))
            .unwrap()),
        }
    }
}

fn tool(name: &str) -> LocalTool {
    let parameters = json!({"a": {"type": "int"}, "b": {"$t": "option", "of": {"type": "int"}}});
    let description = "Adds up.\n\nFor people.";
    LocalTool::read("local_tools[0]", name.to_owned(), description, &parameters).unwrap()
}

fn with_tool(tools: &[&str], local: &[&str]) -> ExecRequest {
    let mut request = turn(tools);
    request.local_tools = local.iter().map(|name| tool(name)).collect();
    request
}

/// The shop with a `work` of this body.
fn started<F>(body: impl Fn(Arc<dyn HostServices>) -> F + Send + Sync + 'static) -> NativeFunctions
where
    F: Future<Output = Result<Json, Failure>> + Send + 'static,
{
    let work = move |call: NativeCall| {
        let made = body(Arc::clone(&call.services));
        async move { made.await.map_err(passed_on) }
    };
    shop().with(function("shop", "work", "Works.", [text("runtime")]), work)
}

/// A `work` that starts this turn and waits for its end.
fn waiting(request: ExecRequest, watcher: Arc<Adder>) -> NativeFunctions {
    started(move |services| {
        let (request, watcher) = (request.clone(), watcher.clone());
        async move {
            let reply = services.start(request, watcher).await?.await?;
            Ok(Json::String(reply.text))
        }
    })
}

#[tokio::test]
async fn a_started_turn_tells_what_happens_and_lets_its_function_run_its_own_tools() {
    let watcher = Arc::new(Adder::default());
    let request = with_tool(&["look-up"], &["add-up"]);
    let calls = ScriptedReply::calls(
        "Let me see.",
        [
            ("x", "add_up", "{\"a\": 1, \"b\": 2}"),
            ("y", "look_up", "{\"order\": \"A-1\"}"),
            ("z", "add_up", "{\"a\": 1}"),
        ],
    );
    let replies = vec![
        calls.costing(Usage {
            output_tokens: 5,
            ..Usage::default()
        }),
        "Three.".into(),
    ];
    let model = model(replies);
    let functions = waiting(request, Arc::clone(&watcher));
    let (runtime, outcome) = run_work(functions, model.clone(), |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": "Three."}));
    expect![[r#"
        text Let me see.
        usage 5
        use x add_up
        call x add-up {"a":1,"b":2}
        result x add_up: 3
        use y look_up
        result y look_up: {"order":"A-1","state":"sent"}
        use z add_up
        call z add-up {"a":1}
        result z add_up: The call failed (function-failed): one is missing
        text Three.
        usage 0
    "#]]
    .assert_eq(&(watcher.lines().join("\n") + "\n"));
    let offered = &model.requests()[0].tools;
    let names: Vec<_> = offered.iter().map(|tool| &tool.name).collect();
    assert_eq!(names, ["add-up", "look_up"]);
    expect![[r#"
        Adds up.
        {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}
    "#]].assert_eq(&format!(
        "{}\n{}\n",
        offered[0].description, offered[0].parameters
    ));
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          out  "Three."
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["add-up","look_up"]
          fact runtime="runtime"
          fact calls=[{"id":"x","name":"add_up","arguments":"{\"a\": 1, \"b\": 2}"},{"id":"y","name":"look_up","arguments":"{\"order\": \"A-1\"}"},{"id":"z","name":"add_up","arguments":"{\"a\": 1}"}]
          out  "Let me see."
        3 code test:shop/api.look-up caller=2
          in   {"order":"A-1","customer":"MY-SECRET-CUSTOMER"}
          fact hidden_arguments=["customer"]
          out  {"order":"A-1","state":"sent"}
        4 llm scripted:text caller=1 reads=2,3
          in   null
          fact continues=node 2
          fact answers=[{"id":"x","name":"add-up","arguments":{"a":1,"b":2},"status":"completed","output":3},{"id":"y","node":"n-0000000000000004"},{"id":"z","name":"add-up","arguments":{"a":1},"status":"failed","failure":{"code":"function-failed","message":"one is missing","details":{}}}]
          fact runtime="runtime"
          out  "Three."
    "#]].assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn arguments_that_do_not_fit_go_back_with_the_schema_and_are_not_run() {
    let watcher = Arc::new(Adder::default());
    let request = with_tool(&[], &["add"]);
    let replies = vec![
        call("x", "add", "{\"a\": \"one\"}"),
        call("y", "add", "{\"a\": "),
        call("z", "addd", "{}"),
        "Given up.".into(),
    ];
    let model = model(replies);
    let functions = waiting(request, Arc::clone(&watcher));
    let (_, outcome) = run_work(functions, model.clone(), |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": "Given up."}));
    let answers: Vec<_> = model.requests()[1..]
        .iter()
        .map(|request| results(request)[0].text.clone())
        .collect();
    expect![[r#"
        The arguments of `add` do not fit: at `/a`, by `/properties/a/type`. The call did not run. Call again with arguments that fit this JSON Schema: {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}
        The arguments of `add` cannot be read: the text ends inside the JSON object. The call did not run. Call again with arguments that fit this JSON Schema: {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}
        There is no tool `addd`. Did you mean `add`?
    "#]].assert_eq(&(answers.join("\n") + "\n"));
    let calls = watcher.lines();
    assert!(
        calls.iter().all(|line| !line.starts_with("call")),
        "{calls:?}"
    );
}

/// The failure of a turn that cannot be made.
async fn refusal(request: ExecRequest, is_started: bool) -> String {
    let functions = started(move |services| {
        let request = request.clone();
        async move {
            match is_started {
                true => services
                    .start(request, Arc::new(Adder::default()))
                    .await
                    .map(|_| Json::Null),
                false => services.exec(request).await.map(|_| Json::Null),
            }
        }
    });
    let (_, outcome) = run_work(functions, model(Vec::new()), |_| ()).await;
    let failure = outcome.result.unwrap_err();
    format!("{}: {}\n", failure.details["path"], failure.message)
}

async fn check_refusal(request: ExecRequest, is_started: bool, expected: Expect) {
    expected.assert_eq(&refusal(request, is_started).await);
}

#[tokio::test]
async fn a_local_tool_needs_a_started_turn_and_a_name_of_its_own() {
    let one = || with_tool(&["look-up"], &["add"]);
    check_refusal(one(), false, expect![[r#"
        "local_tools": the turn has the local tool `add`, which its function runs while the turn goes on; make it with `start`
    "#]]).await;
    let twice = with_tool(&[], &["add-up", "add_up"]);
    check_refusal(twice, true, expect![[r#"
        "local_tools[1].name": the local tools `add-up` and `add_up` would be one to a model; rename one of them
    "#]]).await;
    let taken = with_tool(&["look-up"], &["look_up"]);
    check_refusal(
        taken,
        true,
        expect![[r#"
        "tools": two tools of the turn have one name for a model: the function `test:shop/api.look-up` and the tool `look_up` of the turn itself; rename one of them
    "#]],
    )
    .await;
    let mut other = one();
    other.tool_choice = ToolChoice::Named("subtract".to_owned());
    check_refusal(
        other,
        true,
        expect![[r#"
        "tool_choice": a call of `subtract` is required, and it is none of the tools of the turn
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_local_tool_can_be_required_and_turns_below_cannot_call_it() {
    let mut request = with_tool(&["nested", "count"], &["add"]);
    request.tool_choice = ToolChoice::Named("add".to_owned());
    let replies = vec![
        call("x", "add", "{\"a\": 1, \"b\": 1}"),
        call("y", "nested", "{}"),
        "Nested.".into(),
        "Two.".into(),
    ];
    let model = model(replies);
    let nested = |call: NativeCall| async move {
        let mut request = turn(&[]);
        request.tools = ToolsWanted::Default;
        let reply = call.services.exec(request).await.map_err(passed_on)?;
        Ok(reply.text.into())
    };
    let functions = waiting(request, Arc::default()).with(
        function("shop", "nested", "Nests.", [text("runtime")]),
        nested,
    );
    let (_, outcome) = run_work(functions, model.clone(), |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": "Two."}));
    let requests = model.requests();
    let choices: Vec<_> = requests.iter().map(|r| r.tool_choice.clone()).collect();
    let auto = || ToolChoice::Auto;
    let forced = ToolChoice::Named("add".to_owned());
    assert_eq!(choices, [forced, auto(), auto(), auto()]);
    let tools: Vec<_> = requests[2].tools.iter().map(|tool| &tool.name).collect();
    assert_eq!(tools, ["count", "nested"]);
}

#[tokio::test(start_paused = true)]
async fn turns_of_one_function_go_on_at_once() {
    let functions = started(|services| async move {
        let watcher = || Arc::new(Adder::default());
        let (a, b) = (
            services.start(turn(&[]), watcher()).await?,
            services.start(turn(&[]), watcher()).await?,
        );
        let (a, b) = tokio::join!(a, b);
        Ok(json!([a?.text, b?.text]))
    });
    let late = |text: &str, ms| ScriptedReply::from(text).after(Duration::from_millis(ms));
    let started = tokio::time::Instant::now();
    let model = model(vec![late("a", 1_000), late("b", 1_000)]);
    let (runtime, outcome) = run_work(functions, model, |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": ["a", "b"]}));
    assert!(started.elapsed() < Duration::from_millis(1_900));
    let read: Vec<_> = nodes(&runtime, &outcome).await;
    let work = Some(read[0].opened.id.clone());
    assert!(read[1..].iter().all(|node| node.opened.caller == work));
    assert!(
        read[2].opened.reads.is_empty(),
        "it reads the turn beside it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_is_closed_as_cancelled_before_its_function() {
    let functions = started(|services| async move {
        let watcher = Arc::new(Adder::default());
        let turn = services.start(turn(&[]), watcher).await?;
        // Long enough for the request to be made.
        let cut = tokio::time::timeout(Duration::from_millis(50), turn).await;
        Ok(cut.is_err().into())
    });
    let model = model(vec![ScriptedReply::Silence]);
    let (runtime, outcome) = run_work(functions, model, |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": true}));
    let nodes = nodes(&runtime, &outcome).await;
    let ends: Vec<_> = nodes
        .iter()
        .map(|n| n.end.as_ref().unwrap().status)
        .collect();
    assert_eq!(ends, [NodeStatus::Completed, NodeStatus::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_ends_with_the_time_of_the_turn() {
    let watcher = Arc::new(Adder {
        silent_from: Some(0),
        ..Adder::default()
    });
    let mut request = with_tool(&[], &["add"]);
    request.timeout_ms = Some(50);
    let replies = vec![call("x", "add", "{\"a\": 1, \"b\": 1}")];
    let functions = waiting(request, watcher);
    let (_, outcome) = run_work(functions, model(replies), |_| ()).await;
    let failure = outcome.result.unwrap_err();
    let reason = (failure.code.as_str(), failure.details["reason"].as_str());
    assert_eq!(reason, ("llm", Some("timeout")), "{failure}");
}

/// What is told of a reply that breaks after a piece and is whole at the second try.
async fn broken(has_shown: bool) -> (Json, Vec<String>) {
    let watcher = Arc::new(Adder {
        has_shown,
        ..Adder::default()
    });
    let error = LlmError::Failed(LlmFailure::new(LlmReason::Transport, true, "cut"));
    let pieces = vec![ModelEvent::Text("Hal".to_owned())];
    let replies = vec![ScriptedReply::Broken(pieces, error), "Whole.".into()];
    let functions = waiting(turn(&[]), Arc::clone(&watcher));
    let (_, outcome) = run_work(functions, model(replies), |parts| {
        parts.retry = RetryPolicy {
            backoff_base: Duration::ZERO,
            ..RetryPolicy::default()
        };
    })
    .await;
    let result = outcome.result.map_err(|failure| failure.code.as_str());
    (json!(result.unwrap_or_else(Into::into)), watcher.lines())
}

#[tokio::test]
async fn a_broken_reply_is_tried_again_unless_its_beginning_was_seen() {
    let told = ["text Hal", "retry 1", "text Whole.", "usage 0"];
    let (result, lines) = broken(false).await;
    assert_eq!(
        (result, lines),
        (json!("Whole."), told.map(str::to_owned).into())
    );
    let (result, lines) = broken(true).await;
    assert_eq!((result, lines), (json!("llm"), vec!["text Hal".to_owned()]));
}

#[tokio::test]
async fn a_person_who_watches_is_told_of_progress_in_clean_lines() {
    let work = |call: NativeCall| async move {
        for n in 0..100 {
            call.services.report("Step\n\u{1b}[31m", Some(f64::from(n)));
        }
        Ok::<Json, CallError>(Json::Null)
    };
    let functions = shop().with(function("shop", "work", "Works.", []), work);
    let runtime: Runtime = super::runtime_with(functions, |_| ());
    let (sender, mut events) = event_channel(1_000);
    let mut request = RunRequest::new("work");
    request.events = Some(sender);
    let outcome = runtime.run_function(request).await;
    assert_eq!(told(&outcome), json!({"ok": null}));
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Progress {
            message, percent, ..
        } = event
        {
            told.push((message, percent));
        }
    }
    assert_eq!(told.len(), 10);
    assert_eq!(told[0].1, Some(0));
    assert_eq!(told[9].1, Some(100));
    assert!(!told[0].0.contains(['\n', '\u{1b}']), "{told:?}");
}

/// A `work` of this expose that starts the turn and then makes another one. Gives what the second
/// turn is asked with, and a turn of the person afterwards.
async fn asked_later(expose: Expose) -> (String, String) {
    let calls = [
        ("x", "add_up", "{\"a\": 1, \"b\": 2}"),
        ("y", "look_up", "{\"order\": \"A-1\"}"),
        ("z", "add_up", "{\"a\": 1}"),
        ("o", "add_up", "{\"a\": \"1\"}"),
    ];
    let model = model(vec![
        ScriptedReply::calls("Let me see.", calls),
        call("x", "add_up", "{\"a\": 3, \"b\": 4}"),
        "Three.".into(),
        "Seven.".into(),
        "Yes.".into(),
    ]);
    let request = with_tool(&["look-up"], &["add-up"]);
    let body = move |services: Arc<dyn HostServices>| {
        let request = request.clone();
        async move {
            let watcher = Arc::new(Adder::default());
            services.start(request, watcher).await?.await?;
            let reply = services.exec(turn(&[])).await?;
            Ok(Json::String(reply.text))
        }
    };
    let work = move |call: NativeCall| {
        let made = body(Arc::clone(&call.services));
        async move { made.await.map_err(passed_on) }
    };
    let mut declared = function("shop", "work", "Works.", [text("runtime")]);
    declared.expose = expose;
    let functions = shop().with(declared, work);
    let (runtime, outcome) = run_work(functions, model.clone(), |_| ()).await;
    let mut request = TurnRequest::text("Was it right?");
    request.session = outcome.session;
    request.turn.tools = ToolsWanted::Named(Vec::new());
    runtime.exec(request).await.result.unwrap();
    let requests = model.requests();
    (shown_request(&requests[3]), shown_request(&requests[4]))
}

#[tokio::test]
async fn later_turns_read_of_local_calls_as_of_those_of_functions() {
    let (own, _) = asked_later(Expose::Full).await;
    expect![[r#"
        [user]
        (What follows was written earlier in this work.)
        [assistant]
        Let me see.
        [user]
        Call: look_up({"order":"A-1"})
        Result: {"order":"A-1","state":"sent"}
        [user]
        Call: add_up({"a":1,"b":2})
        Result: 3
        [user]
        Call: add_up({"a":1})
        Failed (function-failed): one is missing
        [user]
        Call: add_up({"a":3,"b":4})
        Result: 7
        [assistant]
        Three.
        [user]
        This turn is part of the function `work`.
        What the function is for: Works.
        Call path: work
        [user]
        Work.
    "#]]
    .assert_eq(&own);
    for expose in [Expose::Io, Expose::Hidden] {
        let (inside, outside) = asked_later(expose).await;
        assert_eq!(inside, own);
        assert!(!outside.contains("add_up"), "{outside}");
    }
}

#[tokio::test]
async fn callers_see_local_calls_where_they_see_those_of_functions() {
    let (own, outside) = asked_later(Expose::Full).await;
    expect![[r#"
        [user]
        Call: work({})
        Result: Seven.
        [assistant]
        Let me see.
        [user]
        Call: look_up({"order":"A-1"})
        Result: {"order":"A-1","state":"sent"}
        [user]
        Call: add_up({"a":1,"b":2})
        Result: 3
        [user]
        Call: add_up({"a":1})
        Failed (function-failed): one is missing
        [user]
        Call: add_up({"a":3,"b":4})
        Result: 7
        [assistant]
        Three.
        [assistant]
        Seven.
        [user]
        Was it right?
    "#]]
    .assert_eq(&outside);
    let (inside, outside) = asked_later(Expose::Llm).await;
    assert_eq!(inside, own);
    expect![[r#"
        [user]
        (What follows was written earlier in this work.)
        [assistant]
        Let me see.
        [assistant]
        Three.
        [assistant]
        Seven.
        [user]
        Was it right?
    "#]]
    .assert_eq(&outside);
}

#[tokio::test]
async fn local_calls_are_recorded_where_no_request_goes_on_with_them() {
    let turns_max = |parts: &mut RuntimeParts| parts.limits.model_turns = 1;
    let replies = || vec![call("x", "add", "{\"a\": 1, \"b\": 1}")];
    let functions = || waiting(with_tool(&[], &["add"]), Arc::default());
    let (runtime, outcome) = run_work(functions(), model(replies()), turns_max).await;
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          limit-reached: more than 1 model requests
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["add"]
          fact runtime="runtime"
          fact calls=[{"id":"x","name":"add","arguments":"{\"a\": 1, \"b\": 1}"}]
        3 llm scripted:text caller=1 reads=2
          in   null
          fact continues=node 2
          fact answers=[{"id":"x","name":"add","arguments":{"a":1,"b":1},"status":"completed","output":2}]
          fact runtime="runtime"
          limit-reached: more than 1 model requests
    "#]].assert_eq(&graph(&runtime, &outcome).await);
    // The same call again and again ends the turn, and with it a reply that also holds another one.
    let same = ("", "add", "{\"a\": 1, \"b\": 1}");
    let mut replies: Vec<_> = (0..5).map(|_| ScriptedReply::calls("", [same])).collect();
    let other = ("", "add", "{\"a\": 5, \"b\": 5}");
    replies.push(ScriptedReply::calls("", [other, same]));
    let (runtime, outcome) = run_work(functions(), model(replies), |_| ()).await;
    let nodes = nodes(&runtime, &outcome).await;
    let last = nodes.last().unwrap();
    assert_eq!(last.status(), NodeStatus::Failed);
    let [first, second] = &CallAnswer::of_facts(&last.opened.facts).collect::<Vec<_>>()[..] else {
        panic!("{last:?}");
    };
    assert!(matches!(&first.ran, AnsweredBy::Own(call) if call.result == Ok(10.into())));
    assert!(matches!(&second.ran, AnsweredBy::Nothing(_)));
}

#[tokio::test(start_paused = true)]
async fn local_calls_are_recorded_where_the_time_ends_before_the_next_one() {
    let watcher = Arc::new(Adder {
        silent_from: Some(1),
        ..Adder::default()
    });
    let mut request = with_tool(&[], &["add"]);
    request.timeout_ms = Some(50);
    let calls = [
        ("x", "add", "{\"a\": 1, \"b\": 1}"),
        ("y", "add", "{\"a\": 1, \"b\": 2}"),
    ];
    let replies = vec![ScriptedReply::calls("", calls)];
    let functions = waiting(request, watcher);
    let (runtime, outcome) = run_work(functions, model(replies), |_| ()).await;
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          llm: the time budget of 50.0ms ended while the tool `add` ran
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["add"]
          fact runtime="runtime"
          fact calls=[{"id":"x","name":"add","arguments":"{\"a\": 1, \"b\": 1}"},{"id":"y","name":"add","arguments":"{\"a\": 1, \"b\": 2}"}]
        3 llm scripted:text caller=1 reads=2
          in   null
          fact continues=node 2
          fact answers=[{"id":"x","name":"add","arguments":{"a":1,"b":1},"status":"completed","output":2}]
          fact runtime="runtime"
          llm: the time budget of 50.0ms ended while the tool `add` ran
    "#]].assert_eq(&graph(&runtime, &outcome).await);
}
