//! Failures as guests, callers and machines see them: a stable code, a sentence, details.

use std::fmt;

use crate::{Json, JsonObject};

/// Why something failed. The list only grows; the texts are part of the WIT contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureCode {
    /// The model could not be asked or did not answer.
    Llm,
    /// There is no structured value; `details.code` says why, `details.issues` where.
    Structured,
    /// The model never made a valid pick.
    Decision,
    /// No function on the call chain declares a runtime parameter.
    NoRuntime,
    /// No model is configured, or it cannot do what was asked.
    NoProvider,
    /// An argument does not fit; `details.path` says which.
    InvalidArgument,
    /// Not granted; `details.how_to_allow` says how.
    Denied,
    /// A person had to approve it and did not; `details.reason` says why there is no approval.
    ApprovalDenied,
    /// A person was asked and did not want to answer.
    Declined,
    /// A person was asked and gave no answer in time.
    AskTimeout,
    /// Nobody is there who could be asked.
    NobodyThere,
    /// A limit was reached; `details.which` names it.
    LimitReached,
    /// The run was cancelled.
    Cancelled,
    /// The runtime was closed.
    Closed,
    /// No such function.
    NotFound,
    /// The called function returned its own error, in `details.error`.
    FunctionFailed,
    /// The called function stopped abnormally.
    Trapped,
    /// The host itself failed, for example its database.
    Internal,
}

impl FailureCode {
    const ALL: [(Self, &str); 18] = [
        (Self::Llm, "llm"),
        (Self::Structured, "structured"),
        (Self::Decision, "decision"),
        (Self::NoRuntime, "no-runtime"),
        (Self::NoProvider, "no-provider"),
        (Self::InvalidArgument, "invalid-argument"),
        (Self::Denied, "denied"),
        (Self::ApprovalDenied, "approval-denied"),
        (Self::Declined, "declined"),
        (Self::AskTimeout, "ask-timeout"),
        (Self::NobodyThere, "nobody-there"),
        (Self::LimitReached, "limit-reached"),
        (Self::Cancelled, "cancelled"),
        (Self::Closed, "closed"),
        (Self::NotFound, "not-found"),
        (Self::FunctionFailed, "function-failed"),
        (Self::Trapped, "trapped"),
        (Self::Internal, "internal"),
    ];

    /// The code as it stands in the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(code, _)| *code == self)
            .map_or("internal", |(_, text)| text)
    }

    /// Reads a code; `None` for one this version does not know.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == text)
            .map(|(code, _)| *code)
    }
}

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub code: FailureCode,
    /// One sentence for a person: lower case, no final period.
    pub message: String,
    /// Details by key, as documented with the code.
    pub details: JsonObject,
}

impl Failure {
    /// A failure without details.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: JsonObject::new(),
        }
    }

    /// Adds one detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// A limit was reached. `which` is the name of the limit in DESIGN and in settings.
    #[must_use]
    pub fn limit(which: &str, limit: u64, message: impl Into<String>) -> Self {
        Self::new(FailureCode::LimitReached, message)
            .with("which", which)
            .with("limit", limit)
    }

    /// The failure as one JSON object with the keys `code`, `message` and `details`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut object = JsonObject::new();
        object.insert("code".to_owned(), self.code.as_str().into());
        object.insert("message".to_owned(), self.message.clone().into());
        object.insert("details".to_owned(), Json::Object(self.details.clone()));
        Json::Object(object)
    }

    /// Reads what [`Failure::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(json: &Json) -> Option<Self> {
        Some(Self {
            code: FailureCode::parse(json.get("code")?.as_str()?)?,
            message: json.get("message")?.as_str()?.to_owned(),
            details: json.get("details")?.as_object()?.clone(),
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_from_its_text() {
        for (code, text) in FailureCode::ALL {
            assert_eq!(
                (code.as_str(), FailureCode::parse(text)),
                (text, Some(code))
            );
        }
        assert_eq!(FailureCode::parse("no-such-code"), None);
    }

    #[test]
    fn a_failure_round_trips_through_json() {
        let failure = Failure::limit("memory", 64, "`f` needs more memory than 64 bytes");
        assert_eq!(Failure::from_json(&failure.to_json()), Some(failure));
    }
}
