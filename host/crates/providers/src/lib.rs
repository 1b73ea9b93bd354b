//! Providers: from the name of a model to something that answers model requests.
//!
//! Reads no file and no environment. What a provider needs from the world is handed in by the
//! binary, which also registers the providers that live in other crates.
#![warn(missing_docs)]

pub mod registry;
pub mod script;

pub use registry::{OpenError, ProviderFactory, Registry};
pub use script::{ScriptError, ScriptProvider};
