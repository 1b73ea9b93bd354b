//! Why a model request failed.

use std::time::Duration;

use super::classify::{ErrorSigns, classify};
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

    /// The name of such an error in reports.
    #[must_use]
    pub fn error_name(self) -> &'static str {
        match self {
            Self::Transport => "ConnectionError",
            Self::RateLimit => "RateLimitError",
            Self::Provider => "ProviderError",
            Self::Auth => "AuthenticationError",
            Self::Authz => "PermissionError",
            Self::Invalid => "InvalidRequestError",
            Self::Context => "ContextLengthError",
            Self::Policy => "PolicyError",
            Self::Timeout => "TimeoutError",
            Self::Unknown => "UnknownError",
        }
    }
}

/// What a reason alone does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LlmDetail {
    /// The money or the allowance of the account is spent; waiting does not help.
    Quota,
    /// The provider has too much to do.
    Overloaded,
    /// The reply ended before its end mark.
    TruncatedStream,
    /// There is no such model or address.
    NotFound,
}

impl LlmDetail {
    /// The word in failures and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::TruncatedStream => "truncated_stream",
            Self::NotFound => "not_found",
        }
    }
}

/// An error of a provider, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LlmFailure {
    /// The class of the error.
    pub reason: LlmReason,
    /// What the class alone does not say.
    pub detail: Option<LlmDetail>,
    /// What happened, without prompts, keys or whole bodies.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// The HTTP status, where there was one.
    pub http_status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after_ms: Option<u64>,
    /// Whether the transport below has used up tries of its own.
    pub transport_exhausted: bool,
}

impl LlmFailure {
    /// A failure of which only the class is known.
    pub fn new(reason: LlmReason, retryable: bool, message: impl Into<String>) -> Self {
        Self {
            reason,
            detail: None,
            message: message.into(),
            retryable,
            http_status: None,
            retry_after_ms: None,
            transport_exhausted: false,
        }
    }

    /// The failure that words without any other sign stand for: a provider that gives nothing but a
    /// sentence is understood by that.
    ///
    /// Words that nobody recognises are tried again, as errors of the network are.
    pub fn of_words(message: impl Into<String>) -> Self {
        let message = message.into();
        let signs = ErrorSigns {
            text: &message,
            ..ErrorSigns::default()
        };
        classify(&signs).to_failure(message)
    }

    /// The failure that an HTTP status and the words of the server stand for.
    pub fn of_status(status: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        let signs = ErrorSigns {
            status: Some(status),
            text: &message,
            ..ErrorSigns::default()
        };
        let mut failure = classify(&signs).to_failure(message);
        failure.http_status = Some(status);
        failure
    }

    /// The same failure, with the time that the provider asks to wait: a lower bound.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        // Rounded up, so that the bound holds.
        let milliseconds = wait.as_nanos().div_ceil(1_000_000);
        self.retry_after_ms = Some(u64::try_from(milliseconds).unwrap_or(u64::MAX));
        self
    }

    /// The same failure of a transport that has used up tries of its own, so that none follows.
    #[must_use]
    pub fn transport_exhausted(mut self) -> Self {
        self.transport_exhausted = true;
        self
    }
}

/// Why a model request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The provider could not be asked, or answered with an error.
    #[error(transparent)]
    Failed(LlmFailure),
    /// The provider cannot do what was asked, for example write text.
    #[error("{0}")]
    Unsupported(String),
    /// The provider is a sandboxed component and it failed as a guest: trap, limit, bad answer.
    #[error("{0}")]
    Guest(Failure),
}

impl From<LlmFailure> for LlmError {
    fn from(failure: LlmFailure) -> Self {
        Self::Failed(failure)
    }
}

impl LlmError {
    /// The error as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self, model: &str) -> Failure {
        match self {
            Self::Failed(failed) => {
                let mut failure = Failure::new(FailureCode::Llm, failed.message.clone())
                    .with("reason", failed.reason.as_str())
                    .with("retryable", failed.retryable)
                    .with("model", model);
                if let Some(detail) = failed.detail {
                    failure = failure.with("detail", detail.as_str());
                }
                if let Some(status) = failed.http_status {
                    failure = failure.with("http_status", status);
                }
                if let Some(wait_ms) = failed.retry_after_ms {
                    let wait = Duration::from_millis(wait_ms);
                    failure = failure.with("retry_after_s", wait.as_secs_f64());
                }
                failure
            }
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
