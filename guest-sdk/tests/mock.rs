//! Functions natively, with a runtime whose answers the test has prepared.

use std::time::Duration;

use openprogram_guest::decision::{self, Menu};
use openprogram_guest::model::StopReason;
use openprogram_guest::testing::{MockKind, MockMediumKind, MockRuntime};
use openprogram_guest::{
    Failure, FailureKind, Json, Request, Runtime, StartedTurn, ThinkingLevel, ToolChoice,
    TurnEvent, Usage, Value, functions, join_all, json,
};

/// A component of which some functions work with a model.
#[openprogram_guest::functions(package = "example:desk")]
pub mod desk {
    use openprogram_guest::decision::Menu;
    use openprogram_guest::{Failure, Json, Request, Runtime, json};

    /// Handles a message.
    pub fn handle(message: String, runtime: &Runtime) -> Result<Json, Failure> {
        let choices = Menu::new()
            .function::<refund>("refund")
            .schema("reply", json!({"text": "The answer."}))
            .value("ignore", "IGNORED")
            .context(json!({ "message": message }));
        let request = Request::new(format!("Message: {message}"))
            .system_text("Be brief.")
            .tool::<refund>()
            .choices(choices);
        runtime.exec(request)
    }

    /// Refunds an order.
    pub fn refund(order: String) -> String {
        format!("refunded {order}")
    }
}

fn handled(mock: &MockRuntime) -> Result<Json, Failure> {
    desk::handle("Give me my money.".to_owned(), mock.runtime())
}

#[test]
fn a_picked_function_gives_what_is_prepared_for_it() {
    let mock = MockRuntime::new()
        .pick("refund", json!({"order": "A-1"}))
        .call("refund", "refunded A-1");
    assert_eq!(handled(&mock).unwrap(), Json::from(json!("refunded A-1")));
    let asked = &mock.requests()[0];
    assert_eq!(
        (asked.kind, asked.model.as_str()),
        (MockKind::Choice, "mock:model")
    );
    assert_eq!(asked.text(), "Message: Give me my money.");
    assert_eq!(asked.system, ["Be brief."]);
    assert_eq!(asked.options, ["refund", "reply", "ignore"]);
    assert_eq!(asked.context, json!({"message": "Give me my money."}));
    let tools = asked.tools.as_ref().unwrap();
    assert_eq!(tools, &["example:desk/desk.refund"]);
    let calls = mock.calls();
    assert_eq!(calls[0].function, "example:desk/desk.refund");
    assert_eq!(calls[0].arguments, json!({"order": "A-1"}));
    assert_eq!(mock.n_left(), 0);
}

#[test]
fn picked_schemas_and_values_are_results_and_failures_are_given_on() {
    let mock = MockRuntime::new()
        .pick("reply", json!({"text": "No."}))
        .pick("ignore", json!({}))
        .fail(Failure::llm("rate_limit", true, "busy"));
    let replied = handled(&mock).unwrap();
    assert_eq!(
        replied,
        Json::from(json!({"decision": "reply", "text": "No."}))
    );
    assert_eq!(handled(&mock).unwrap(), Json::from(json!("IGNORED")));
    let failed = handled(&mock).unwrap_err();
    assert_eq!(
        (failed.kind(), failed.retryable()),
        (FailureKind::Llm, true)
    );
}

fn told(runtime: &Runtime) -> Result<(String, u64), Failure> {
    let reply = runtime.exec("Tell.")?;
    Ok((reply.text(), reply.usage().output_tokens))
}

#[test]
fn turns_answer_with_texts_values_and_usage() {
    let mock = MockRuntime::new()
        .model("mock:strong")
        .reply("Told.")
        .usage(Usage::new(10, 3))
        .reply("Cut")
        .stopped(StopReason::Length)
        .structured(json!({"n": 1}));
    let runtime = mock.runtime();
    assert_eq!(runtime.last_usage(), None);
    assert_eq!(told(runtime), Ok(("Told.".to_owned(), 3)));
    assert_eq!(runtime.last_usage(), Some(Usage::new(10, 3)));
    assert_eq!(runtime.exec("Go on.").unwrap().stop(), StopReason::Length);
    let format = json!({"type": "object"});
    let request = Request::new("Count.").response_format(format.clone());
    let counted: Value = runtime.exec_as(&request).unwrap();
    assert_eq!(counted, json!({"n": 1}));
    assert_eq!(mock.requests()[2].response_format, Some(format));
    assert_eq!(runtime.last_usage(), None);
    assert_eq!(runtime.model(), "mock:strong");
}

#[test]
fn everything_that_a_request_says_is_kept() {
    let mock = MockRuntime::new().reply("").reply("");
    let runtime = mock.runtime();
    runtime.set_system(Some("Be kind.")).unwrap();
    runtime.set_thinking_level(ThinkingLevel::High).unwrap();
    assert_eq!(runtime.system().as_deref(), Some("Be kind."));
    assert_eq!(runtime.thinking_level(), ThinkingLevel::High);
    let request = Request::new("Look.")
        .mark_cache()
        .text("And listen.")
        .system_text("Be brief.")
        .image(b"png", "image/png")
        .video(b"mp4", "")
        .audio(b"wav", "audio/wav")
        .file("photos/a.jpg")
        .toolset("default")
        .tools_source("telegram")
        .tools_allow(["look"])
        .tools_deny(["listen"])
        .tool_choice(ToolChoice::Required)
        .parallel_tool_calls(false)
        .web_search(true)
        .max_iterations(3)
        .timeout(Duration::from_secs(9));
    runtime.exec(&request).unwrap();
    runtime.exec(request.tool_named("look")).unwrap();
    let asked = mock.requests();
    assert_eq!(asked[0].text(), "Look.\n\nAnd listen.");
    assert_eq!(asked[0].system, ["Be kind.", "Be brief."]);
    assert_eq!(asked[0].thinking_level, ThinkingLevel::High);
    assert_eq!(asked[0].cache_marks, [None]);
    let media = asked[0].media.iter();
    let media: Vec<_> = media
        .map(|medium| (medium.kind, medium.data.len(), medium.path.as_str()))
        .collect();
    let expected = [
        (MockMediumKind::Image, 3, ""),
        (MockMediumKind::Video, 3, ""),
        (MockMediumKind::Audio, 3, ""),
        (MockMediumKind::File, 0, "photos/a.jpg"),
    ];
    assert_eq!(media, expected);
    assert_eq!(asked[0].media[0].mime_type, "image/png");
    let toolset = |n: usize| (asked[n].toolset.clone(), asked[n].tools.clone());
    assert_eq!(toolset(0), (Some("default".to_owned()), None));
    assert_eq!(toolset(1), (None, Some(vec!["look".to_owned()])));
    assert_eq!(asked[0].tools_source.as_deref(), Some("telegram"));
    assert_eq!(asked[0].tools_allow, Some(vec!["look".to_owned()]));
    assert_eq!(asked[0].tools_deny, ["listen"]);
    assert_eq!(asked[0].tool_choice, ToolChoice::Required);
    assert_eq!(asked[0].parallel_tool_calls, Some(false));
    assert!(asked[0].web_search);
    assert_eq!(asked[0].max_iterations, Some(3));
    assert_eq!(asked[0].timeout, Some(Duration::from_secs(9)));
}

#[test]
fn runtimes_are_opened_closed_and_refused_and_several_have_their_own_answers() {
    let exec = MockRuntime::new().model("mock:exec").reply("Planned.");
    let review = MockRuntime::new()
        .model("mock:review")
        .pick("good", json!({}))
        .reply("Opened.")
        .open_fails("mock:secret", Failure::new("denied", "not granted"));
    assert_eq!(exec.runtime().exec("Plan.").unwrap().text(), "Planned.");
    let menu = Menu::new().value("good", true).value("bad", false);
    let menu = menu.runtime(review.runtime());
    assert_eq!(
        decision::make("Is it good?", &menu).unwrap().as_str(),
        "true"
    );
    let denied = Runtime::open("mock:secret").unwrap_err();
    assert_eq!(denied.kind(), FailureKind::Denied);
    let opened = Runtime::open("mock:other").unwrap();
    assert_eq!(opened.exec("Open.").unwrap().text(), "Opened.");
    opened.close().unwrap();
    let closed = opened.exec("Again.").unwrap_err();
    assert_eq!(closed.kind(), FailureKind::Closed);
    let lent = exec.runtime().close().unwrap_err();
    assert_eq!(lent.kind(), FailureKind::InvalidArgument);
    let models = review.requests().into_iter().map(|asked| asked.model);
    assert_eq!(models.collect::<Vec<_>>(), ["mock:review", "mock:other"]);
}

#[test]
fn decisions_of_the_call_chain_and_calls_by_name_are_answered_too() {
    let mock = MockRuntime::new()
        .pick("yes", json!({}))
        .call("shop/api.look-up", json!({"state": "sent"}))
        .call_fails("pay", Failure::new("denied", "no"));
    let menu = Menu::new().value("yes", true).value("no", false);
    assert_eq!(
        decision::make("Go on?", &menu).unwrap(),
        Json::from(json!(true))
    );
    assert_eq!(mock.requests()[0].kind, MockKind::Decision);
    let found = functions::call("shop/api.look_up", json!({"order": "A-1"})).unwrap();
    assert_eq!(found, Json::from(json!({"state": "sent"})));
    let refused = functions::call("bank/api.pay", json!({})).unwrap_err();
    assert_eq!(refused.kind(), FailureKind::Denied);
    let called: Vec<_> = mock.calls().into_iter().map(|call| call.function).collect();
    assert_eq!(called, ["shop/api.look_up", "bank/api.pay"]);
}

#[test]
fn menus_are_rendered_and_read_as_prepared_and_closures_run() {
    let mock = MockRuntime::new()
        .rendered("1. add")
        .pick("add", json!({}))
        .pick("add", json!({}));
    let mut count = 0;
    let menu = Menu::new().closure("add", |(): ()| {
        count += 1;
        Ok(count)
    });
    assert_eq!(decision::render(&menu).unwrap(), "1. add");
    let picked = decision::parse("I add.", &menu).unwrap();
    assert_eq!(picked.name(), "add");
    assert_eq!(decision::resolve(&picked, &menu).unwrap().as_str(), "1");
    assert_eq!(decision::make("Go on?", &menu).unwrap().as_str(), "2");
    let kinds = mock.requests().into_iter().map(|asked| asked.kind);
    let expected = [MockKind::Parse, MockKind::Decision];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    let nothing = decision::make("Go on?", &Menu::new()).unwrap_err();
    assert_eq!(nothing.kind(), FailureKind::InvalidArgument);
}

#[test]
fn local_tools_run_and_turns_go_on_beside_each_other() {
    let mock = MockRuntime::new()
        .local_call("add", json!({"by": 1}))
        .local_call("add", json!({"by": 2}))
        .reply("Added.")
        .reply("One.")
        .reply("Two.");
    let mut count = 0;
    let request = Request::new("Add.").local_tool("add", "Adds one.", |(): ()| {
        count += 1;
        Ok(count)
    });
    assert_eq!(mock.runtime().exec(&request).unwrap().text(), "Added.");
    drop(request);
    assert_eq!(count, 2);
    let asked = &mock.requests()[0];
    assert_eq!(asked.local_tools, ["add"]);
    let call = &asked.local_calls[1];
    assert_eq!((&*call.name, &call.result), ("add", &Ok(json!(2))));
    assert_eq!(call.arguments, json!({"by": 2}));
    assert_eq!(asked.local_calls.len(), 2);
    let start = |text: &str| mock.runtime().start(Request::new(text)).unwrap();
    let turns: Vec<StartedTurn<'_>> = vec![start("a"), start("b")];
    let replies: Vec<_> = join_all(turns)
        .into_iter()
        .map(|r| r.unwrap().text())
        .collect();
    assert_eq!(replies, ["One.", "Two."]);
}

#[test]
fn events_are_told_as_prepared() {
    let mock = MockRuntime::new()
        .retry(Failure::llm("rate_limit", true, "busy").with("http_status", 429))
        .thinking("Hm.")
        .tool_call("look_up", json!({"id": 1}), Ok("found"))
        .local_call("stop", json!({}))
        .reply_in_pieces(["So ", "be it."])
        .usage(Usage::new(5, 2));
    let mut told = Vec::new();
    let mut retries = Vec::new();
    let request = Request::new("Go.")
        .local_tool("stop", "Stops.", |(): ()| {
            Err::<(), _>(Failure::new("no", "not now"))
        })
        .on_retry(|retry| retries.push((retry.attempt, retry.reason.clone(), retry.http_status)))
        .on_stream(|event| told.push(short(event)));
    assert_eq!(mock.runtime().exec(&request).unwrap().text(), "So be it.");
    drop(request);
    assert_eq!(retries, [(1, "rate_limit".to_owned(), Some(429))]);
    let expected = [
        "retry 1 of 6",
        "thinking Hm.",
        "look_up {\"id\":1}",
        "look_up gave found, false",
        "stop {}",
        "stop gave no: not now, true",
        "So ",
        "be it.",
        "usage 5 2",
    ];
    assert_eq!(told, expected);
}

fn short(event: &TurnEvent) -> String {
    match event {
        TurnEvent::Text(text) => text.clone(),
        TurnEvent::Thinking(text) => format!("thinking {text}"),
        TurnEvent::ToolUse {
            name, arguments, ..
        } => format!("{name} {arguments}"),
        TurnEvent::ToolResult {
            name,
            text,
            is_error,
            ..
        } => format!("{name} gave {text}, {is_error}"),
        TurnEvent::Retry(retry) => format!("retry {} of {}", retry.attempt, retry.attempts_max),
        TurnEvent::Usage(usage) => {
            format!("usage {} {}", usage.input_tokens, usage.output_tokens)
        }
        other => format!("{other:?}"),
    }
}
