//! The language model runtimes that a function works with.
//!
//! The host lends them for one call, or opens them; a native test makes one with prepared answers,
//! [`MockRuntime`](crate::testing::MockRuntime).

use crate::host::runtime as raw;
use crate::{Ending, Failure, Request, StartedTurn, ThinkingLevel, Turn, Usage, failure};

/// A handle to one runtime, lent to a function for one call or opened by it.
///
/// A function receives it by declaring a parameter `runtime`, `exec_runtime` or `review_runtime` of
/// type `&Runtime` or `Option<&Runtime>`; callers and models never supply it. What a function sets
/// holds for its call and the calls below it, and ends with the call.
#[derive(Debug)]
#[repr(transparent)]
pub struct Runtime(raw::Runtime);

impl Runtime {
    /// Opens a runtime with the model of this name, for this call alone.
    ///
    /// A person has to grant the model to the component, with a number of tokens that all its calls
    /// in one run spend together. Calls below are not lent it. It ends when it is dropped.
    ///
    /// ```
    /// use openprogram_guest::{Failure, Runtime};
    ///
    /// fn second_opinion(question: &str, runtime: &Runtime) -> Result<[String; 2], Failure> {
    ///     let other = Runtime::open("openai:gpt-5-mini")?;
    ///     Ok([runtime.exec(question)?.text(), other.exec(question)?.text()])
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Denied`](crate::FailureKind::Denied) without the grant,
    /// [`NoProvider`](crate::FailureKind::NoProvider) when there is no such model,
    /// [`LimitReached`](crate::FailureKind::LimitReached) when the call has opened 64 of them.
    pub fn open(model: &str) -> Result<Self, Failure> {
        raw::Runtime::open(model)
            .map(Self)
            .map_err(failure::from_host)
    }

    /// Makes one turn: the model works, calls tools where it may, and answers.
    ///
    /// A turn is a text or a [`Request`](crate::Request). It gives the [`Reply`](crate::Reply) of the
    /// model; a request with [`choices`](crate::Request::choices) ends in a pick instead, and gives
    /// the result of the picked option. What this function reads of the session stands in front of it.
    ///
    /// ```
    /// use openprogram_guest::decision::Menu;
    /// use openprogram_guest::{Failure, Json, Request, Runtime, json};
    ///
    /// fn title(text: &str, runtime: &Runtime) -> Result<String, Failure> {
    ///     Ok(runtime.exec(format!("Give this text a title:\n\n{text}"))?.text())
    /// }
    ///
    /// fn triage(report: &str, runtime: &Runtime) -> Result<Json, Failure> {
    ///     let choices = Menu::new()
    ///         .value("duplicate", "DUPLICATE")
    ///         .schema("fix", json!({"file": "The file to change.", "why": "The reason."}));
    ///     runtime.exec(Request::new(report).tool_named("search").choices(choices))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Llm`](crate::FailureKind::Llm) when the model did not answer,
    /// [`LimitReached`](crate::FailureKind::LimitReached) when the turn went on for too long,
    /// [`Decision`](crate::FailureKind::Decision) when no valid pick was made; the other kinds say
    /// why the turn was not made, or how the picked function failed.
    pub fn exec<T: Turn>(&self, turn: T) -> Result<T::Output, Failure> {
        turn.make(self)
    }

    /// Makes one turn with a [response format](crate::Request::response_format) and reads its value
    /// as a type, which derives `serde::Deserialize` (`cargo add serde --features derive`).
    ///
    /// ```
    /// use openprogram_guest::{Failure, Request, Runtime, json};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Dish {
    ///     name: String,
    ///     minutes: u32,
    /// }
    ///
    /// fn quickest(menu: &str, runtime: &Runtime) -> Result<String, Failure> {
    ///     let format = json!({
    ///         "type": "object",
    ///         "properties": {"name": {"type": "string"}, "minutes": {"type": "integer"}},
    ///         "required": ["name", "minutes"],
    ///         "additionalProperties": false,
    ///     });
    ///     let request = Request::new(menu).no_tools().response_format(format);
    ///     let dish: Dish = runtime.exec_as(&request)?;
    ///     Ok(format!("{} in {} minutes", dish.name, dish.minutes))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Runtime::exec`], [`Structured`](crate::FailureKind::Structured) when there is no
    /// value, and `invalid-argument` when the turn has no format or its value does not fit the type.
    pub fn exec_as<T: serde::de::DeserializeOwned>(&self, request: &Request) -> Result<T, Failure> {
        match self.exec(request)?.structured() {
            Some(value) => value.parse(),
            None => Err(Failure::invalid_argument(
                "response_format",
                "the request has no response format; set one",
            )),
        }
    }

    /// Starts a turn that goes on while this function does: for several turns at once, or to read the
    /// reply while it arrives.
    ///
    /// A turn that is dropped before its end is cancelled, and so is one that the function leaves
    /// behind when it returns.
    ///
    /// ```
    /// use openprogram_guest::{Failure, Request, Runtime, join_all};
    ///
    /// fn translate(text: &str, runtime: &Runtime) -> Result<Vec<String>, Failure> {
    ///     let mut turns = Vec::new();
    ///     for language in ["French", "Finnish"] {
    ///         let say = format!("Translate into {language}:\n\n{text}");
    ///         turns.push(runtime.start(Request::new(say).no_tools())?);
    ///     }
    ///     join_all(turns).into_iter().map(|reply| Ok(reply?.text())).collect()
    /// }
    /// ```
    ///
    /// A turn with [`choices`](crate::Request::choices) is started in the same way.
    ///
    /// # Errors
    ///
    /// Why the turn cannot be made; [`LimitReached`](crate::FailureKind::LimitReached) when the
    /// function holds 64 turns already.
    pub fn start<'a, End: Ending>(
        &self,
        request: Request<'a, End>,
    ) -> Result<StartedTurn<'a, End>, Failure> {
        request.start(self)
    }

    /// The name of the model, for example `anthropic:claude-sonnet-4-6`.
    pub fn model(&self) -> String {
        self.0.model()
    }

    /// The system prompt that holds for turns made now, if there is one.
    pub fn system(&self) -> Option<String> {
        self.0.system()
    }

    /// Sets the system prompt for this call and the calls below it.
    ///
    /// # Errors
    ///
    /// [`LimitReached`](crate::FailureKind::LimitReached) when the text is longer than 64 KiB.
    pub fn set_system(&self, text: Option<&str>) -> Result<(), Failure> {
        self.0.set_system(text).map_err(failure::from_host)
    }

    /// How much the model thinks in turns and decisions made now.
    pub fn thinking_level(&self) -> ThinkingLevel {
        ThinkingLevel::from_host(self.0.thinking_level())
    }

    /// Sets how much the model thinks, for this call and the calls below it.
    ///
    /// A level that the model does not have becomes the nearest one that it has.
    ///
    /// # Errors
    ///
    /// [`NoProvider`](crate::FailureKind::NoProvider) for another level than
    /// [`Off`](ThinkingLevel::Off) when the model is not known to think in levels.
    pub fn set_thinking_level(&self, level: ThinkingLevel) -> Result<(), Failure> {
        let set = self.0.set_thinking_level(level.to_host());
        set.map_err(failure::from_host)
    }

    /// How often a model request is made at most before a turn fails, the first try included.
    pub fn max_retries(&self) -> u32 {
        self.0.max_retries()
    }

    /// Tokens of the last model request that this call made with the runtime, if its provider told
    /// them.
    pub fn last_usage(&self) -> Option<Usage> {
        self.0.last_usage().as_ref().map(Usage::from_host)
    }

    /// The id of the session, `op-` and 16 hexadecimal digits.
    pub fn session_id(&self) -> String {
        self.0.session_id()
    }

    /// Closes a runtime that this function has opened: turns and decisions with it fail as
    /// [`Closed`](crate::FailureKind::Closed) from now on. Dropping it does as well.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for one that the function was lent: it ends with the call.
    pub fn close(&self) -> Result<(), Failure> {
        self.0.close().map_err(failure::from_host)
    }

    /// The runtime of a test.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn of_mock(raw: raw::Runtime) -> Self {
        Self(raw)
    }

    pub(crate) fn raw(&self) -> &raw::Runtime {
        &self.0
    }
}

/// The view of the host on a runtime.
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub fn to_host(runtime: &Runtime) -> &raw::Runtime {
    runtime.raw()
}

/// The view of authors on a runtime that the host lends. Natively there is no host that lends one.
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
pub fn from_host(_: &crate::__private::runtime::Runtime) -> &Runtime {
    unreachable!("exports are called by a host alone")
}

/// The view of authors on a runtime that the host lends.
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub fn from_host(runtime: &raw::Runtime) -> &Runtime {
    // SAFETY: `Runtime` is `repr(transparent)` over `raw::Runtime`, so both references have one
    // layout, and the lifetime of the result is that of the argument.
    #[allow(unsafe_code, reason = "a view on a borrowed handle")]
    unsafe {
        &*std::ptr::from_ref(runtime).cast::<Runtime>()
    }
}
