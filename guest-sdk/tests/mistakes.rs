//! What a test is told that has prepared too little for a function, or something else.

use openprogram_guest::ask::{self, Question};
use openprogram_guest::decision::{self, Menu};
use openprogram_guest::testing::MockRuntime;
use openprogram_guest::{Request, Runtime, Usage, functions, json};

fn tell(runtime: &Runtime) {
    drop(runtime.exec("Tell."));
}

fn handle(runtime: &Runtime) {
    let choices = Menu::new()
        .function_named("refund", "example:desk/desk.refund")
        .schema("reply", json!({"text": "The answer."}))
        .value("ignore", "IGNORED");
    drop(runtime.exec(Request::new("Message: Money!").choices(choices)));
}

/// What a mistake of a test says.
fn mistake(work: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let Err(panicked) = std::panic::catch_unwind(work) else {
        return "nothing was amiss".to_owned();
    };
    let fixed = panicked
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = panicked.downcast_ref::<String>().cloned();
    text.or(fixed).unwrap_or_default()
}

/// What a mistake says that is made with a mock.
fn mistake_with(prepare: fn(MockRuntime) -> MockRuntime, work: fn(&Runtime)) -> String {
    mistake(|| {
        let mock = prepare(MockRuntime::new());
        work(mock.runtime());
    })
}

#[test]
fn what_is_not_prepared_is_a_mistake_that_names_what_was_asked() {
    let none = mistake(|| drop(functions::call("pay", json!({}))));
    let cases = [
        none,
        mistake_with(|mock| mock, tell),
        mistake_with(|mock| mock, handle),
        mistake_with(
            |mock| mock,
            |_| drop(decision::make("Go on?", &Menu::new().value("yes", true))),
        ),
        mistake_with(|mock| mock.pick("refund", json!({"order": "A-1"})), handle),
        mistake_with(|mock| mock, |_| drop(ask::ask("Where to?"))),
        mistake_with(|mock| mock, |_| drop(ask::confirm("Go?", None))),
        mistake_with(
            |mock| mock,
            |_| drop(decision::render(&Menu::new().value("yes", true))),
        ),
    ];
    let expected = [
        "`pay` is called by name, which needs a host, and there is none in a native build; make an \
         `openprogram_guest::testing::MockRuntime` in the test",
        "a turn is made (\"Tell.\"), and no answer is prepared for that; add one to the \
         `MockRuntime` with `reply`",
        "a turn is made that picks one of `refund`, `reply`, `ignore` (\"Message: Money!\"), and no \
         answer is prepared for that; add one to the `MockRuntime` with `pick`",
        "a decision between `yes` is made (\"Go on?\"), and no answer is prepared for that; add one \
         to the `MockRuntime` with `pick`",
        "`example:desk/desk.refund` is called with {\"order\":\"A-1\"}, and no result is prepared \
         for that; add one with `MockRuntime::call`",
        "a person is asked (\"Where to?\"), and no answer is prepared for that; add one to the \
         `MockRuntime` with `answer`",
        "a person is asked for a yes or a no (\"Go?\"), and no answer is prepared for that; add one \
         to the `MockRuntime` with `confirm`",
        "a menu of `yes` is rendered, which the host alone does, and no text is prepared for that; \
         add one with `MockRuntime::rendered`",
    ];
    assert_eq!(cases, expected);
}

#[test]
fn what_is_prepared_for_something_else_is_a_mistake_too() {
    let format = |runtime: &Runtime| {
        let request = Request::new("Count.").response_format(json!({}));
        drop(runtime.exec(request));
    };
    let pick = |_: &Runtime| {
        let which = Question::new("Which?").options(["A", "B"]);
        drop(ask::ask(which));
    };
    let cases = [
        mistake_with(|mock| mock.reply("text"), handle),
        mistake_with(|mock| mock.pick("fly", json!({})), handle),
        mistake_with(|mock| mock.pick("fly", json!({})), tell),
        mistake_with(|mock| mock.reply("text"), format),
        mistake_with(|mock| mock.structured(1), tell),
        mistake_with(|mock| mock.local_call("add", json!({})).reply(""), tell),
        mistake_with(|mock| mock.answer("C"), pick),
        mistake_with(|mock| mock.confirm(true), pick),
        mistake_with(|mock| mock.usage(Usage::new(1, 1)), tell),
    ];
    let expected = [
        "a turn is made that picks one of `refund`, `reply`, `ignore` (\"Message: Money!\"), and \
         the next prepared answer is no pick; prepare one with `pick`",
        "`fly` is prepared as a pick, and the options are `refund`, `reply`, `ignore`",
        "a turn is made (\"Tell.\"), and the next prepared answer picks `fly`",
        "a turn with a response format is made (\"Count.\"), and the next prepared answer is a \
         text; prepare the value with `structured`",
        "a turn is made (\"Tell.\"), and the next prepared answer is a value; prepare the text with \
         `reply`",
        "a turn is made (\"Tell.\"), and the prepared call is of the local tool `add`; it has none",
        "a person is asked (\"Which?\"), and `C` is prepared; the options are `A`, `B`",
        "a person is asked (\"Which?\"), and the next prepared answer is one to another kind of \
         question; prepare it with `answer`",
        "`usage` is about an answer that was prepared before it",
    ];
    assert_eq!(cases, expected);
}
