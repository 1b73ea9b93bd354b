//! What authors of OpenProgram functions use.
//!
//! A component is a crate of type `cdylib`, built for the target `wasm32-wasip2`, with one module
//! under the attribute [`functions`](macro@functions). Its `pub fn`s become the exports of the
//! component, with the types that they have in Rust:
//!
//! ```
//! #[openprogram_guest::functions(package = "example:library")]
//! pub mod library {
//!     use openprogram_guest::decision::{self, Menu};
//!     use openprogram_guest::{Failure, Json, Runtime, json};
//!
//!     /// Handles a question of a reader.
//!     pub fn handle(
//!         /// What the reader asks.
//!         #[param(placeholder = "Do you have Moby Dick?", multiline)]
//!         question: String,
//!         runtime: &Runtime,
//!     ) -> Result<Json, Failure> {
//!         let menu = Menu::new()
//!             .function::<find_book>("find")
//!             .value_described("closed", "CLOSED", "Nothing is left to do.")
//!             .schema_described("order", json!({"title": "The title of the book."}), "Order a book.")
//!             .context(json!({ "reader": "guest" }))
//!             .runtime(runtime);
//!         decision::make(&question, &menu)
//!     }
//!
//!     /// Looks a book up by its title.
//!     pub fn find_book(
//!         /// The title, or a part of it.
//!         title: String,
//!         #[param(default = "any")] shelf: Shelf,
//!         /// Who asks.
//!         #[param(hidden)]
//!         reader: String,
//!     ) -> Vec<Book> {
//!         let known = [Book { title: "Moby Dick".to_owned(), pages: Some(635) }];
//!         let fits = |book: &Book| book.title.contains(&title) && shelf != Shelf::Maps;
//!         known.into_iter().filter(|book| fits(book) && !reader.is_empty()).collect()
//!     }
//!
//!     /// A book.
//!     #[derive(Debug, PartialEq)]
//!     pub struct Book {
//!         pub title: String,
//!         /// How long it is, if anyone has counted.
//!         pub pages: Option<u32>,
//!     }
//!
//!     /// Where to look.
//!     #[derive(PartialEq)]
//!     pub enum Shelf {
//!         Any,
//!         Maps,
//!     }
//! }
//!
//! # fn main() {
//! // Functions that do not reach for the host are plain Rust, here as under `cargo test`.
//! let found = library::find_book("Moby".into(), library::Shelf::Any, "guest".into());
//! assert_eq!(found, [library::Book { title: "Moby Dick".into(), pages: Some(635) }]);
//! # }
//! ```
//!
//! # What becomes of the module
//!
//! Its name becomes the interface and each `pub fn` a function of it, in kebab case; other items are
//! the author's own. The package is `component:CRATE-NAME` unless given as above, its version is the
//! crate's. Only what stands between the braces counts: one attributed module per crate, not in a
//! file of its own, and no functions made by other macros or chosen by `cfg`.
//!
//! | Rust | WIT |
//! | --- | --- |
//! | `bool`, `char`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the same, `i` as `s` |
//! | `String`, and `&str` as a parameter | `string` |
//! | `Vec<u8>`, `Vec<T>` | `list<u8>` (bytes), `list<T>` |
//! | `Option<T>`, `Result<T, E>`, tuples | `option`, `result`, `tuple` |
//! | `BTreeMap<String, T>` | `map<string, T>` |
//! | [`Json`] | `json`, any value |
//! | a struct with named fields | `record` |
//! | an enum; an enum whose cases carry a value | `enum`; `variant` |
//! | [`&Runtime`](Runtime), `Option<&Runtime>` | `borrow<runtime>`, or an `option` of it |
//!
//! Types are recognised by their names, so structs, enums and aliases in signatures are written in
//! the module. The crate may deny `unsafe_code`, but not forbid it: generated code exports symbols.
//!
//! Natively there is no host. In a test a [`MockRuntime`](testing::MockRuntime) stands in for it, with
//! the answers to turns, decisions, calls and questions that the test has prepared; without one what
//! reaches for the host panics there.
//!
//! # What the signature cannot say
//!
//! Doc comments on functions, parameters, types, fields and cases become descriptions; the first
//! paragraph of a function is what models read. Above a function, `#[function(…)]` takes
//!
//! - `name = "…"` and `description = "…"`: what models see instead of its own name and of that
//!   paragraph; `category = "…"`, its group in lists and forms,
//! - `system = "…"`, the system prompt while it runs; `expose = "…"`, what callers see of it (`io`,
//!   `llm`, `full` or `hidden`); `render_range(callers = N, subcalls = N)`, how much of the session its
//!   own turns read,
//! - `timeout = SECONDS`: a call that takes longer is stopped,
//! - `toolset = "…"`, a preset of tools that it belongs to; `unsafe_in = "…"`, a source of turns in
//!   which models are not offered it; both also as a list,
//! - `available_if = CONDITION`: models are offered it where that holds,
//! - `defer`, or `defer = "words"`: models have to look for it before they see its schema,
//! - `cache` and `cache_ttl = SECONDS`: results of calls by models are kept for the same arguments,
//! - `requires_approval`, `requires_approval = "why"` or
//!   `requires_approval = {"when": CONDITION, "reason": "why"}`: a person approves each call that a
//!   model or another function makes; without an approval the call fails as `approval-denied` and the
//!   function does not run,
//! - `read_only`: it changes nothing outside of itself, and calls of it that a model asks for in one
//!   reply may run at the same time; `idempotent`, `destructive`, `open_world` say more of what it does.
//!
//! A condition is `{"dir": "PATH"}` or `{"env": "NAME"}` (granted to the component),
//! `{"model": "PROVIDER"}`, `{"argument": "NAME", "equals": VALUE}` with `in` or `above` for `equals`,
//! `{"export": "NAME"}` (another `pub fn` says so, see `wit/metadata.wit`), or `{"all": […]}`,
//! `{"any": […]}` and `{"not": …}` of these. At a parameter, `#[param(…)]` takes
//!
//! - `default = VALUE`, which makes it optional,
//! - `options = [VALUE, …]`, the allowed values,
//! - `options_from = "functions"`, for a choice among what is there at run time,
//! - `hidden`: filled from the context, never shown to a model nor taken from it,
//! - `placeholder = "…"` and `multiline`, for forms.
//!
//! Values are JSON (`null`, `["a", 1]`, `{"width": 3}`, an enum's case as a text) and are checked
//! against the type of the parameter.
#![warn(missing_docs)]

pub mod ask;
pub mod decider;
pub mod decision;
pub mod functions;
pub mod model;
pub mod progress;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

mod contract;
mod ending;
mod failure;
mod host;
mod media;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod reply;
mod runtime;
mod started;
mod thinking;
mod turn;
mod value;

pub use ending::Ending;
pub use failure::{DecisionKind, Failure, FailureKind, StructuredCode};
pub use media::CacheTtl;
pub use openprogram_guest_macros::functions;
pub use reply::{Reply, Usage};
pub use runtime::Runtime;
pub use serde_json::{Value, json};
pub use started::{RetryInfo, StartedTurn, TurnEvent, join_all, next_of};
pub use thinking::ThinkingLevel;
pub use turn::tools::{ToolChoice, ToolSet};
pub use turn::{Answer, Chosen, Request, Turn};
pub use value::Json;

/// A result whose error is, unless said otherwise, a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// An exported function, as menus and requests name it.
///
/// The attribute [`functions`](macro@functions) implements this for a type with the name of each
/// function, so `Menu::function::<refund>` and `Request::tool::<refund>` name the function `refund`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an exported function",
    label = "not a `pub fn` of a module under `#[openprogram_guest::functions]`"
)]
pub trait ExportedFunction {
    /// The full name, `namespace:package/interface.function`.
    const NAME: &'static str;
}

/// The generated bindings of everything that a component may import from the host.
mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated code")]
    wit_bindgen::generate!({
        path: "../wit",
        world: "imports",
        generate_all,
    });
}

/// For generated code only.
#[doc(hidden)]
pub mod __private {
    pub use super::bindings::openprogram::agentic::{
        ask, decision, functions, progress, runtime, types,
    };
    pub use super::bindings::wasi::io::poll;
    pub use super::contract::link_contract;
    pub use super::decider::Adapter as DeciderAdapter;
    pub use super::decider::bindings as decider;
    pub use super::failure::{from_host as failure_from_host, to_host as failure_to_host};
    pub use super::model::Adapter as ModelAdapter;
    pub use super::model::bindings as model;
    pub use super::runtime::from_host as runtime_from_host;
    #[cfg(target_arch = "wasm32")]
    pub use super::runtime::to_host as runtime_to_host;
    pub use super::value::{from_host as json_from_host, to_host as json_to_host};
    pub use wit_bindgen;
}
