//! Turns: what a model is asked, with which tools and within which bounds, and what it gave.
//!
//! [`Runtime::exec`](crate::Runtime::exec) makes them.

pub(crate) mod tools;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::bindings::openprogram::agentic::{decision, runtime as raw};
use crate::decision::{Choice, Menu, Picked, picked_from_host, resolve};
use crate::{Failure, Json, Runtime, failure, value};

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
pub struct Request<End = Answer> {
    raw: raw::Request,
    tools: Vec<String>,
    end: End,
}

/// The end of a turn that answers in text.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer;

/// The end of a turn that picks one case of a type.
#[derive(Debug)]
pub struct Chosen<C> {
    menu: Menu<'static>,
    case: PhantomData<C>,
}

impl Request {
    /// A turn that says a text.
    pub fn new(text: impl AsRef<str>) -> Self {
        let request = Request {
            raw: raw::Request::new(),
            tools: Vec::new(),
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
    pub fn choices<'a>(self, menu: Menu<'a>) -> Request<Menu<'a>> {
        let Request { raw, tools, end: _ } = self;
        let end = menu;
        Request { raw, tools, end }
    }

    /// Closes the turn with a decision that only tells the pick, as one case of a type.
    pub fn choose<C: Choice>(self) -> Request<Chosen<C>> {
        let Request { raw, tools, end: _ } = self;
        let end = Chosen {
            menu: Menu::of::<C>(),
            case: PhantomData,
        };
        Request { raw, tools, end }
    }
}

impl<End> Request<End> {
    /// Says a further text.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.raw.add_text(text.as_ref());
        self
    }

    /// Shows a picture: the bytes of a PNG, JPEG, GIF or WebP file.
    ///
    /// The bytes tell the type; a media type that says otherwise is not used.
    pub fn image(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_image(data, mime_type);
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
    impl<End> Sealed for super::Request<End> {}
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

impl Turn for Request {
    type Output = Reply;

    fn make(&self, runtime: &Runtime) -> Result<Reply, Failure> {
        let reply = runtime.raw().exec(&self.raw);
        reply.map(Reply).map_err(failure::from_host)
    }
}

/// Gives the result of the picked option, as [`decision::make`](crate::decision::make) does.
impl Turn for Request<Menu<'_>> {
    type Output = Json;

    fn make(&self, runtime: &Runtime) -> Result<Json, Failure> {
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
impl<C: Choice> Turn for Request<Chosen<C>> {
    type Output = C;

    fn make(&self, runtime: &Runtime) -> Result<C, Failure> {
        self.pick(runtime, self.end.menu.checked()?)?.read()
    }
}

impl<End> Request<End> {
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

/// What a turn gave.
#[derive(Debug)]
pub struct Reply(raw::Reply);

impl Reply {
    /// The text of the last reply of the model.
    pub fn text(&self) -> String {
        self.0.text()
    }

    /// The checked value of a turn with a [response format](Request::response_format).
    pub fn structured(&self) -> Option<Json> {
        self.0.structured().map(value::from_host)
    }

    /// Tokens used by all model requests of the turn.
    pub fn usage(&self) -> Usage {
        let usage = self.0.usage();
        Usage {
            input_tokens: usage.input_tokens(),
            output_tokens: usage.output_tokens(),
            cache_read: usage.cache_read(),
            cache_create: usage.cache_create(),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

/// Tokens used by a model, as far as its provider tells; 0 where it does not. Later versions may
/// add fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Everything the model read, cached parts included.
    pub input_tokens: u64,
    /// Everything the model wrote.
    pub output_tokens: u64,
    /// The part of the input that was read from a cache.
    pub cache_read: u64,
    /// The part of the input that was written to a cache.
    pub cache_create: u64,
}

impl Usage {
    /// Usage of which no part is known to be cached.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        }
    }

    /// Says which parts of the input were read from a cache and written to one.
    #[must_use]
    pub fn cached(self, read: u64, create: u64) -> Self {
        Usage {
            cache_read: read,
            cache_create: create,
            ..self
        }
    }
}
