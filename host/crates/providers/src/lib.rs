//! Providers: from the name of a model to something that answers model requests.
//!
//! Reads no file and no environment. What a provider needs from the world is handed in by the
//! binary, which also registers the providers that live in other crates.
#![warn(missing_docs)]

pub mod anthropic;
mod checks;
pub mod decisions;
mod dialect;
mod exchange;
mod failure;
mod history;
pub mod known;
pub mod openai;
pub mod profile;
mod redact;
pub mod registry;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod replay_decisions;
#[cfg(test)]
mod replay_key;
#[cfg(test)]
mod replay_media;
#[cfg(test)]
mod requests;
pub mod script;
pub mod server;
mod setup;
mod shown;
mod sse;
mod thinking;
pub mod transport;

pub use openprogram_core::secret::Secret;

pub use anthropic::ANTHROPIC_BASE_URL;
pub use decisions::{DecisionEndpoint, DecisionOptions, WithDecisions};
pub use known::{KnownServer, known_models};
pub use openai::OPENAI_BASE_URL;
pub use profile::{
    DecisionProtocol, MaxTokensField, Profile, ProfileError, ProfileRow, Profiles, Protocol,
    ThinkingForm,
};
pub use registry::{OpenError, ProviderFactory, Registry};
pub use script::{ScriptError, ScriptProvider};
pub use server::{ServerModel, ServerOptions, TextProtocol};
pub use setup::SetupError;
pub use shown::tools_as_sent;
pub use transport::{Transport, TransportError, TransportOptions, tls_config};
