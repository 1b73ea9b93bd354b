//! WebAssembly components: loading, reflection, sandboxed calls.
//!
//! The whole of it in use:
//!
//! ```no_run
//! # async fn example(bytes: Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
//! use openprogram_component::{
//!     ComponentHost, Engine, EngineOptions, Limits, GuestProvider, LoadedComponent, MetadataMode,
//! };
//!
//! // Cheap: the engine is built by the first compilation or call.
//! let engine = Engine::new(EngineOptions {
//!     cache_folder: Some("cache".into()),
//!     ..EngineOptions::default()
//! });
//! let support = LoadedComponent::load(&engine, "support", bytes, MetadataMode::Run).await?;
//! for function in support.functions() {
//!     // Give these to `Catalog::add("support", …)`.
//!     let _ = &function.name;
//! }
//! let mut host = ComponentHost::new(engine.clone(), Limits::default());
//! host.add(support.clone());
//! // `host` is the `FunctionHost` of a runtime. A component that writes or picks is a provider:
//! if support.is_provider() {
//!     let _model = GuestProvider::new("component:support", engine.clone(), support, Limits::default())?;
//! }
//! // After the first call: whether the pool of slots did not fit, for a person to see.
//! let _ = engine.notice();
//! # Ok(())
//! # }
//! ```
//!
//! What a guest can cause goes through the [`HostServices`](openprogram_core::guest::HostServices)
//! of its call. Everything it uses up is bounded by [`Limits`].
#![warn(missing_docs)]
#![deny(unsafe_code)]

mod limits;

mod limit_table;

mod counters;
mod cpu;

mod log;

mod contract;
mod facts;
mod sections;
mod skill;

mod cache;
mod error;
mod source;

mod handles;
mod network;
mod permissions;

mod files;

mod http;

mod reach;

mod bindings;
mod convert;
mod started;
mod state;

mod imported;
mod imports;
mod trap;

mod sockets;

mod linking;
mod ticker;

mod engine;

mod docs;

mod decode_types;

mod contract_types;

mod decode;
mod link_facts;
mod link_types;
mod links;
mod types;
mod weight;
mod words;

mod wit;
mod wit_comments;

mod assemble;
mod async_parts;
mod async_types;
mod instance;
mod invoke;
mod live;
mod prepare;

mod code;
mod compile;

mod sandbox;
mod structure;

mod loader;

mod exporter;

mod bytes_call;
mod guest;
mod host;
mod prompt;

mod decider;
mod model;

mod provider;

#[cfg(feature = "testing")]
pub mod testing;

#[cfg(test)]
mod tests;

pub use cache::CacheError;
pub use contract::{contract_hash, contract_of};
pub use engine::{CacheCounts, Engine, EngineOptions, InUse};
pub use error::{EngineError, LoadError, MetadataError, MissingImport};
pub use exporter::{ImportedInterface, LinkError};
pub use files::AllowedFolder;
pub use host::ComponentHost;
pub use limit_table::LimitError;
pub use limits::Limits;
pub use links::{Link, Links};
pub use loader::{LoadedComponent, MetadataMode};
pub use network::{Network, Resolver};
pub use permissions::Permissions;
pub use provider::GuestProvider;
pub use skill::with_skill;
pub use source::{ComponentSource, check_digest, digest_of, read_component};
pub use wit::{Wit, WitError};
pub use words::{FUNCTION_WORDS_BYTES_MAX, LABEL_BYTES_MAX, PART_WORDS_BYTES_MAX};
