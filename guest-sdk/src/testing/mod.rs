//! Functions under plain `cargo test`: a runtime whose answers the test has prepared.
//!
//! Nothing of it is in a component: it exists in native builds alone.
//!
//! ```
//! use openprogram_guest::ask;
//! use openprogram_guest::decision::Menu;
//! use openprogram_guest::testing::MockRuntime;
//! use openprogram_guest::{Failure, Json, Request, Runtime, json};
//!
//! fn handle(message: &str, runtime: &Runtime) -> Result<Json, Failure> {
//!     let mut seen = 0;
//!     let request = Request::new(message)
//!         .no_tools()
//!         .local_tool("count", "Counts.", |(): ()| {
//!             seen += 1;
//!             Ok(seen)
//!         });
//!     let summary = runtime.exec(&request)?.text();
//!     let menu = Menu::new()
//!         .function_named("refund", "shop:desk/orders.refund")
//!         .value("ignore", "IGNORED")
//!         .runtime(runtime);
//!     if ask::confirm(&format!("Shall I act on this? {summary}"), false)? {
//!         return openprogram_guest::decision::make(&summary, &menu);
//!     }
//!     Ok(Json::from(json!("left alone")))
//! }
//!
//! let mock = MockRuntime::new()
//!     .local_call("count", json!({}))
//!     .reply("Wants money back.")
//!     .confirm(true)
//!     .pick("refund", json!({"order": "A-1"}))
//!     .call("refund", "refunded A-1");
//! let handled = handle("Give me my money.", mock.runtime()).unwrap();
//! assert_eq!(handled, Json::from(json!("refunded A-1")));
//!
//! let requests = mock.requests();
//! assert_eq!(requests[0].text(), "Give me my money.");
//! assert_eq!(requests[0].local_calls[0].result, Ok(json!(1)));
//! assert_eq!(requests[1].options, ["refund", "ignore"]);
//! assert_eq!(mock.questions()[0].prompt, "Shall I act on this? Wants money back.");
//! assert_eq!(mock.calls()[0].arguments, json!({"order": "A-1"}));
//! assert_eq!(mock.n_left(), 0);
//! ```

mod told;

use serde::Serialize;

use crate::model::StopReason;
use crate::native::runtime::Runtime as NativeRuntime;
use crate::native::script::{Answer, Ended, Ending, Happening, Response, Script};
use crate::native::{install, remove};
use crate::{Failure, Runtime, Usage, Value};

pub use told::{
    MockCall, MockKind, MockLocalCall, MockMedium, MockMediumKind, MockProgress, MockQuestion,
    MockQuestionKind, MockRequest,
};

/// A runtime that answers as it was told to, and keeps what it was asked.
///
/// Answers are taken in the order in which they were prepared, by whatever the function does: a turn
/// takes a reply, a decision a pick, a question to a person the answer of one. A function that asks
/// for more than is prepared, or for something else, is a mistake of the test, which panics and says
/// what was asked for.
///
/// While it lives, it is also the runtime of the call chain of its thread: decisions that name no
/// runtime, runtimes that the function opens, calls by name, questions and progress go to the newest
/// one. A function with several runtimes is given several of these, each with its own answers.
///
/// ```
/// use openprogram_guest::testing::MockRuntime;
/// use openprogram_guest::{Failure, Runtime};
///
/// fn title(text: &str, runtime: &Runtime) -> Result<String, Failure> {
///     Ok(runtime.exec(format!("Give this text a title:\n\n{text}"))?.text())
/// }
///
/// let mock = MockRuntime::new().reply("On whales");
/// assert_eq!(title("Call me Ishmael.", mock.runtime()).unwrap(), "On whales");
/// assert!(mock.requests()[0].text().ends_with("Call me Ishmael."));
/// ```
///
/// Prepared are the answers of a model, not a host: schemas, grants, limits and the types of arguments
/// are checked when the component runs, see `openprogram run --model script:FILE`.
#[derive(Debug)]
pub struct MockRuntime {
    runtime: Runtime,
}

impl MockRuntime {
    /// A runtime without any answer, with the model `mock:model`.
    #[allow(
        clippy::new_without_default,
        reason = "it counts for its thread from here on"
    )]
    pub fn new() -> Self {
        let native = NativeRuntime::lent("mock:model");
        install(&native);
        MockRuntime {
            runtime: Runtime::of_mock(native),
        }
    }

    /// What a function under test is given.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn with<T>(&self, work: impl FnOnce(&mut Script) -> T) -> T {
        work(&mut self.runtime.raw().script.borrow_mut())
    }

    fn happening(self, happening: Happening) -> Self {
        self.with(|script| script.answers.push_back(Answer::Before(happening)));
        self
    }

    fn ending(self, ending: Ending) -> Self {
        let ended = Ended {
            ending,
            usage: None,
            stop: StopReason::End,
        };
        self.with(|script| script.answers.push_back(Answer::End(ended)));
        self
    }

    fn of_last(self, name: &str, change: impl FnOnce(&mut Ended)) -> Self {
        self.with(|script| match script.answers.back_mut() {
            Some(Answer::End(ended)) => change(ended),
            _ => panic!("`{name}` is about an answer that was prepared before it"),
        });
        self
    }

    fn response(self, response: Response) -> Self {
        self.with(|script| script.replies.push_back(response));
        self
    }
}

/// What the model answers.
impl MockRuntime {
    /// The next turn answers with this text.
    pub fn reply(self, text: impl Into<String>) -> Self {
        self.reply_in_pieces([text.into()])
    }

    /// The next turn answers with a text that arrives in these pieces.
    pub fn reply_in_pieces<T: Into<String>>(self, pieces: impl IntoIterator<Item = T>) -> Self {
        let pieces = pieces.into_iter().map(Into::into);
        self.ending(Ending::Reply(pieces.collect()))
    }

    /// The next turn, which has a response format, answers with this value.
    ///
    /// # Panics
    ///
    /// When JSON cannot express it.
    pub fn structured(self, value: impl Serialize) -> Self {
        self.ending(Ending::Structured(to_json(&value)))
    }

    /// The next decision picks this option with these arguments, `json!({})` for none. So does a turn
    /// that ends in a pick, and [`decision::parse`](crate::decision::parse).
    ///
    /// # Panics
    ///
    /// When JSON cannot express them.
    pub fn pick(self, option: impl Into<String>, arguments: impl Serialize) -> Self {
        self.ending(Ending::Pick {
            option: option.into(),
            arguments: to_json(&arguments),
        })
    }

    /// The next turn or decision fails.
    pub fn fail(self, failure: Failure) -> Self {
        self.ending(Ending::Fail(failure))
    }

    /// The answer that was prepared last used these tokens. Nobody knows how many it used otherwise.
    ///
    /// # Panics
    ///
    /// When no answer was prepared just before.
    pub fn usage(self, usage: Usage) -> Self {
        self.of_last("usage", |ended| ended.usage = Some(usage))
    }

    /// The answer that was prepared last ended for this reason, [`StopReason::End`] unless said.
    ///
    /// # Panics
    ///
    /// When no answer was prepared just before.
    pub fn stopped(self, stop: StopReason) -> Self {
        self.of_last("stopped", |ended| ended.stop = stop)
    }

    /// The next turn calls a [local tool](crate::Request::local_tool) before it answers.
    ///
    /// # Panics
    ///
    /// When JSON cannot express the arguments.
    pub fn local_call(self, tool: impl Into<String>, arguments: impl Serialize) -> Self {
        self.happening(Happening::LocalCall {
            name: tool.into(),
            arguments: to_json(&arguments),
        })
    }

    /// The next turn calls a function before it answers, which gives this result to the model.
    ///
    /// Nothing runs: the function under test sees it in the events of the turn alone.
    ///
    /// # Panics
    ///
    /// When JSON cannot express the arguments or the result.
    pub fn tool_call(
        self,
        tool: impl Into<String>,
        arguments: impl Serialize,
        result: Result<impl Serialize, Failure>,
    ) -> Self {
        self.happening(Happening::ToolCall {
            name: tool.into(),
            arguments: to_json(&arguments),
            result: result.map(|result| to_json(&result)),
        })
    }

    /// The next turn tells this piece of thinking before it answers.
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.happening(Happening::Thinking(text.into()))
    }

    /// The next request fails so, and is made again: [`on_retry`](crate::Request::on_retry) is told.
    pub fn retry(self, failure: Failure) -> Self {
        self.retry_after([""; 0], failure)
    }

    /// The next request tells these pieces of a reply, fails so, and is made again.
    ///
    /// The pieces are told where the request lets replies [begin anew](crate::Request::restarts);
    /// otherwise this is a reply of which nobody took any.
    pub fn retry_after<T: Into<String>>(
        self,
        pieces: impl IntoIterator<Item = T>,
        failure: Failure,
    ) -> Self {
        let pieces = pieces.into_iter().map(Into::into).collect();
        self.happening(Happening::Retry { pieces, failure })
    }

    /// Sets the name of the model.
    pub fn model(self, name: impl Into<String>) -> Self {
        self.runtime.raw().state.borrow_mut().model = name.into();
        self
    }

    /// [`Runtime::open`] fails for this model. Every other one is opened, and its turns take their
    /// answers here.
    pub fn open_fails(self, model: impl Into<String>, failure: Failure) -> Self {
        let refused = (model.into(), failure);
        self.with(|script| script.refused_models.push(refused));
        self
    }

    /// The next menu that is [rendered](crate::decision::render) gives this text.
    pub fn rendered(self, menu: impl Into<String>) -> Self {
        self.with(|script| script.menus.push_back(menu.into()));
        self
    }
}

/// What functions give that are called.
impl MockRuntime {
    /// The next call of a function by name gives this, and so does the function of a picked option.
    /// The name is that of the function alone or with its interface; such results may be prepared in
    /// any order.
    ///
    /// # Panics
    ///
    /// When JSON cannot express the result.
    pub fn call(self, function: impl Into<String>, result: impl Serialize) -> Self {
        let result = (function.into(), Ok(to_json(&result)));
        self.with(|script| script.results.push(result));
        self
    }

    /// The next call of this function fails.
    pub fn call_fails(self, function: impl Into<String>, failure: Failure) -> Self {
        let result = (function.into(), Err(failure));
        self.with(|script| script.results.push(result));
        self
    }
}

/// What a person answers.
impl MockRuntime {
    /// The next question is answered so; of a card, each question takes one answer.
    pub fn answer(self, text: impl Into<String>) -> Self {
        self.answer_all([text.into()])
    }

    /// The next question, of which several options may be chosen, is answered so.
    pub fn answer_all<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        let texts = texts.into_iter().map(Into::into);
        self.response(Response::Texts(texts.collect()))
    }

    /// The next question for a yes or a no is answered so.
    pub fn confirm(self, yes: bool) -> Self {
        self.response(Response::Yes(yes))
    }

    /// The next form is filled in so, with an object of its values.
    ///
    /// # Panics
    ///
    /// When JSON cannot express them.
    pub fn form(self, values: impl Serialize) -> Self {
        self.response(Response::Form(to_json(&values)))
    }

    /// Nobody answers the next question in time: its defaults hold, where it has them for everything,
    /// and it fails as `ask-timeout` otherwise.
    pub fn unanswered(self) -> Self {
        self.response(Response::Nothing)
    }

    /// The next question fails, for example as `declined`.
    pub fn ask_fails(self, failure: Failure) -> Self {
        self.response(Response::Fail(failure))
    }

    /// There is nobody to ask: [`can_ask`](crate::ask::can_ask) says so, defaults hold, and a question
    /// without them fails as `nobody-there`.
    pub fn nobody_there(self) -> Self {
        self.with(|script| script.is_nobody_there = true);
        self
    }
}

/// What was asked for.
impl MockRuntime {
    /// What the model was asked so far, in order.
    pub fn requests(&self) -> Vec<MockRequest> {
        self.with(|script| script.told.requests.clone())
    }

    /// Which functions were called by name so far, or by a pick, in order.
    pub fn calls(&self) -> Vec<MockCall> {
        self.with(|script| script.told.calls.clone())
    }

    /// What a person was asked so far, in order.
    pub fn questions(&self) -> Vec<MockQuestion> {
        self.with(|script| script.told.questions.clone())
    }

    /// How far the function told to have come, in order.
    pub fn progress(&self) -> Vec<MockProgress> {
        self.with(|script| script.told.progress.clone())
    }

    /// How many of the prepared answers, results and texts nobody has taken.
    pub fn n_left(&self) -> usize {
        self.with(|script| {
            script.answers.len() + script.results.len() + script.replies.len() + script.menus.len()
        })
    }
}

impl Drop for MockRuntime {
    fn drop(&mut self) {
        remove(self.runtime.raw());
    }
}

fn to_json(value: &impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("JSON cannot express what is prepared: {error}"),
    }
}
