//! Turns: what a model is asked, with which tools and within which bounds.
//!
//! [`Runtime::exec`](crate::Runtime::exec) makes them.

pub(crate) mod tools;

use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;

use crate::decision::{Choice, Fields, Menu, Picked, picked_from_host, resolve};
use crate::host::{decision, runtime as raw};
use crate::started::{RetryInfo, TurnEvent, Watch};
use crate::{Ending, Failure, Json, Reply, Runtime, StartedTurn, failure, value};

/// One turn being prepared. Whatever is not set has its default.
///
/// What the host cannot accept (an unknown tool, a file that is no picture, too much of anything)
/// is reported when the turn is made, before any model is asked. A request may be made several
/// times, by reference.
///
/// ```
/// #[openprogram_guest::functions(package = "example:kitchen")]
/// pub mod kitchen {
///     use std::time::Duration;
///
///     use openprogram_guest::{Failure, Request, Runtime};
///
///     /// Plans a dinner from a picture of the fridge.
///     pub fn plan_dinner(picture: Vec<u8>, runtime: &Runtime) -> Result<String, Failure> {
///         let request = Request::new("Plan a dinner with what you see.")
///             .image(&picture, "image/jpeg")
///             .system_text("Answer with one dish and its steps.")
///             .tools::<(look_up_recipe, convert_units)>()
///             .max_iterations(6)
///             .timeout(Duration::from_secs(90));
///         Ok(runtime.exec(request)?.text())
///     }
///
///     /// Finds recipes that use an ingredient.
///     pub fn look_up_recipe(ingredient: String) -> Vec<String> {
///         vec![format!("{ingredient} soup")]
///     }
///
///     /// Converts cups to millilitres.
///     pub fn convert_units(cups: f64) -> f64 {
///         cups * 240.0
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Request<'a, End = Answer> {
    pub(crate) raw: raw::Request,
    tools: Vec<String>,
    /// What the function does while the turn goes on.
    watch: Watch<'a>,
    end: End,
}

/// The end of a turn that answers in text.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer;

/// The end of a turn that picks one case of a type.
#[derive(Debug)]
pub struct Chosen<C> {
    pub(crate) menu: Menu<'static>,
    case: PhantomData<C>,
}

impl<'a> Request<'a> {
    /// A turn that says a text.
    pub fn new(text: impl AsRef<str>) -> Self {
        let request = Request {
            raw: raw::Request::new(),
            tools: Vec::new(),
            watch: Watch::default(),
            end: Answer,
        };
        request.text(text)
    }

    /// Makes the last reply one JSON value that fits a JSON Schema, which is checked before it is
    /// given: see [`Reply::structured`] and [`Runtime::exec_as`].
    ///
    /// An envelope around the schema says more: `json!({"type": "json_schema", "schema": …})` with
    /// `name`, `description`, `strict` and `max_validation_retries`, 1 unless it is 0. A schema that
    /// is wrong, or that the model is not known to be held to, ends the turn before it is asked.
    pub fn response_format(self, format: impl Into<Json>) -> Self {
        self.raw.set_response_format(&value::to_host(format.into()));
        self
    }

    /// Closes the turn with a decision: the model works first, with tools where it may, and its last
    /// reply picks one of these.
    ///
    /// After an invalid pick the model is asked again once, without tools. A menu that sets another
    /// number of retries, or another runtime than the one that makes the turn, is refused.
    pub fn choices<'m>(self, menu: Menu<'m>) -> Request<'a, Menu<'m>> {
        self.ending(menu)
    }

    /// Closes the turn with a decision that only tells the pick, as one case of a type.
    pub fn choose<C: Choice>(self) -> Request<'a, Chosen<C>> {
        self.ending(Chosen {
            menu: Menu::of::<C>(),
            case: PhantomData,
        })
    }

    fn ending<End>(self, end: End) -> Request<'a, End> {
        let Request {
            raw,
            tools,
            watch,
            end: Answer,
        } = self;
        Request {
            raw,
            tools,
            watch,
            end,
        }
    }
}

impl<'a, End: Ending> Request<'a, End> {
    pub(crate) fn start(self, runtime: &Runtime) -> Result<StartedTurn<'a, End>, Failure> {
        StartedTurn::new(runtime, &self.raw, self.watch, self.end)
    }
}

impl<'a, End> Request<'a, End> {
    /// Says a further text.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.raw.add_text(text.as_ref());
        self
    }

    /// Adds a text to the system prompt of this turn.
    pub fn system_text(self, text: impl AsRef<str>) -> Self {
        self.raw.add_system_text(text.as_ref());
        self
    }

    /// Sets whether the model may search the web. A turn whose model cannot ends as `no-provider`.
    pub fn web_search(self, allowed: bool) -> Self {
        self.raw.set_web_search(allowed);
        self
    }

    /// Lets the model call a closure, which runs here and not in a sandbox of its own.
    ///
    /// The model fills in the fields of its argument, which are checked before the closure runs; `()`
    /// has none. What it gives is the answer to the call. The name has letters, digits, `_` and `-`;
    /// an empty description leaves that of the type. Functions that are called by the model cannot
    /// call it. Beside it the model may call the functions
    /// that the request names, and no others.
    ///
    /// ```
    /// use openprogram_guest::decision::Schema;
    /// use openprogram_guest::{Failure, Request, Runtime};
    ///
    /// /// A line of the shopping list.
    /// #[derive(Schema)]
    /// struct Item {
    ///     name: String,
    ///     count: u32,
    /// }
    ///
    /// fn shopping_list(wish: &str, runtime: &Runtime) -> Result<Vec<String>, Failure> {
    ///     let mut list = Vec::new();
    ///     let request = Request::new(wish)
    ///         .no_tools()
    ///         .local_tool("add", "Puts something on the list.", |item: Item| {
    ///             list.push(format!("{} {}", item.count, item.name));
    ///             Ok(list.len())
    ///         });
    ///     runtime.exec(&request)?;
    ///     drop(request);
    ///     Ok(list)
    /// }
    /// ```
    pub fn local_tool<F: Fields, R: Serialize>(
        mut self,
        name: &str,
        description: &str,
        run: impl FnMut(F) -> Result<R, Failure> + 'a,
    ) -> Self {
        let own = description.trim().is_empty();
        let description = if own { F::DESCRIPTION } else { description };
        self.raw
            .add_local_tool(name, description, &F::fields().to_string());
        self.watch.add_tool(name, run);
        self
    }

    /// Runs a closure for everything that happens in the turn while it goes on: pieces of text and
    /// thinking, calls and their results, retries, usage.
    pub fn on_stream(mut self, told: impl FnMut(&TurnEvent) + 'a) -> Self {
        self.watch.on_stream(told);
        self
    }

    /// Runs a closure before each sleep after a failed model request that is made again.
    pub fn on_retry(mut self, told: impl FnMut(&RetryInfo) + 'a) -> Self {
        self.watch.on_retry(told);
        self
    }

    /// Lets a reply that fails in its middle begin anew after pieces of it were told, in place of
    /// failing the turn. Default: it may not.
    ///
    /// Whoever reads the pieces has to forget those of the failed reply then, as
    /// [`RetryInfo::restarts`] says.
    ///
    /// ```
    /// use openprogram_guest::{Failure, Request, Runtime, TurnEvent};
    ///
    /// fn longest_line(question: &str, runtime: &Runtime) -> Result<usize, Failure> {
    ///     let mut turn = runtime.start(Request::new(question).no_tools().restarts(true))?;
    ///     let mut text = String::new();
    ///     while let Some(event) = turn.wait() {
    ///         match event {
    ///             TurnEvent::Text(piece) => text.push_str(&piece),
    ///             TurnEvent::Retry(retry) if retry.restarts => text.clear(),
    ///             _ => {}
    ///         }
    ///     }
    ///     turn.finish()?;
    ///     Ok(text.lines().map(str::len).max().unwrap_or(0))
    /// }
    /// ```
    pub fn restarts(self, allowed: bool) -> Self {
        self.raw.set_restarts(allowed);
        self
    }

    /// Sets how many model requests the turn may take. Default 20; taken as 1 to 50.
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.raw.set_max_iterations(max_iterations);
        self
    }

    /// Sets the time for the whole turn: requests, waits between tries, calls and re-asks. Counted
    /// in whole milliseconds, of which there must be one.
    pub fn timeout(self, timeout: Duration) -> Self {
        let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.raw.set_timeout_ms(timeout_ms);
        self
    }
}

/// What [`Runtime::exec`] makes: a text, or a [`Request`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a turn",
    label = "expected a text or a `Request`"
)]
pub trait Turn: sealed::Sealed {
    /// What the turn gives.
    type Output;

    /// Makes the turn.
    #[doc(hidden)]
    fn make(&self, runtime: &Runtime) -> Result<Self::Output, Failure>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl<End> Sealed for super::Request<'_, End> {}
    impl<T: Sealed + ?Sized> Sealed for &T {}
}

impl Turn for str {
    type Output = Reply;

    fn make(&self, runtime: &Runtime) -> Result<Reply, Failure> {
        Request::new(self).make(runtime)
    }
}

impl Turn for String {
    type Output = Reply;

    fn make(&self, runtime: &Runtime) -> Result<Reply, Failure> {
        self.as_str().make(runtime)
    }
}

impl Turn for Request<'_> {
    type Output = Reply;

    fn make(&self, runtime: &Runtime) -> Result<Reply, Failure> {
        if !self.watch.is_empty() {
            return self.watch.make(runtime, &self.raw, &self.end);
        }
        let reply = runtime.raw().exec(&self.raw);
        reply.map(Reply).map_err(failure::from_host)
    }
}

/// Gives the result of the picked option, as [`decision::make`](crate::decision::make) does.
impl Turn for Request<'_, Menu<'_>> {
    type Output = Json;

    fn make(&self, runtime: &Runtime) -> Result<Json, Failure> {
        if !self.watch.is_empty() {
            return self.watch.make(runtime, &self.raw, &self.end);
        }
        let menu = self.end.checked()?;
        if self.end.has_closures() {
            return resolve(&self.pick(runtime, menu)?, &self.end);
        }
        decision::close_with(runtime.raw(), &self.raw, menu)
            .map(value::from_host)
            .map_err(failure::from_host)
    }
}

/// Gives the picked case; nothing runs.
impl<C: Choice> Turn for Request<'_, Chosen<C>> {
    type Output = C;

    fn make(&self, runtime: &Runtime) -> Result<C, Failure> {
        if !self.watch.is_empty() {
            return self.watch.make(runtime, &self.raw, &self.end);
        }
        self.pick(runtime, self.end.menu.checked()?)?.read()
    }
}

impl<End> Request<'_, End> {
    fn pick(&self, runtime: &Runtime, menu: &decision::Menu) -> Result<Picked, Failure> {
        decision::pick_with(runtime.raw(), &self.raw, menu)
            .map(picked_from_host)
            .map_err(failure::from_host)
    }
}

impl<T: Turn + ?Sized> Turn for &T {
    type Output = T::Output;

    fn make(&self, runtime: &Runtime) -> Result<T::Output, Failure> {
        (**self).make(runtime)
    }
}
