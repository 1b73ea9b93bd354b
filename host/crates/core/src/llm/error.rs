//! Why a model request failed.

use crate::failure::{Failure, FailureCode};

/// The class of an error of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LlmReason {
    /// The connection failed.
    Transport,
    /// Too many requests.
    RateLimit,
    /// The provider is at fault or overloaded.
    Provider,
    /// The credentials are wrong.
    Auth,
    /// The credentials do not allow this, or the quota is used up.
    Authz,
    /// The request is invalid.
    Invalid,
    /// The request is larger than the model takes.
    Context,
    /// The provider's policy forbids it.
    Policy,
    /// The time was up.
    Timeout,
    /// Anything else.
    Unknown,
}

impl LlmReason {
    /// The word in failures and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::RateLimit => "rate_limit",
            Self::Provider => "provider",
            Self::Auth => "auth",
            Self::Authz => "authz",
            Self::Invalid => "invalid",
            Self::Context => "context",
            Self::Policy => "policy",
            Self::Timeout => "timeout",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a model request failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The provider could not be asked, or answered with an error.
    #[error("{message}")]
    Failed {
        /// The class of the error.
        reason: LlmReason,
        /// What happened, without prompts, keys or whole bodies.
        message: String,
        /// Whether the same request may succeed later.
        retryable: bool,
    },
    /// The provider cannot do what was asked, for example write text.
    #[error("{0}")]
    Unsupported(String),
    /// The provider is a sandboxed component and it failed as a guest: trap, limit, bad answer.
    #[error("{0}")]
    Guest(Failure),
}

impl LlmError {
    /// The error as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self, model: &str) -> Failure {
        match self {
            Self::Failed {
                reason,
                message,
                retryable,
            } => Failure::new(FailureCode::Llm, message.clone())
                .with("reason", reason.as_str())
                .with("retryable", *retryable)
                .with("model", model),
            Self::Unsupported(message) => {
                Failure::new(FailureCode::NoProvider, message.clone()).with("model", model)
            }
            Self::Guest(failure) => Failure::new(FailureCode::Llm, failure.message.clone())
                .with("reason", "provider")
                .with("retryable", false)
                .with("model", model)
                .with("cause", failure.to_json()),
        }
    }
}
