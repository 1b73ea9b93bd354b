//! Why a call gave no result.
//!
//! A failure crosses the boundary as a code, a sentence and details; this is the typed view of it.

use std::error::Error;
use std::fmt;

use crate::bindings::openprogram::agentic::types as raw;
use crate::{Json, Value, json};

/// Why a call gave no result.
///
/// A function may return its own error type; one that returns `Failure` passes on what the host said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    code: String,
    message: String,
    details: Json,
}

/// The kinds of failure that this version knows. Later versions may add some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The model never made a pick that counts; [`Failure::decision_kind`] says how the last one
    /// failed.
    Decision,
    /// A turn with a response format gave no value; [`Failure::structured_code`] says why.
    Structured,
    /// The model could not be asked or did not answer; see [`Failure::retryable`].
    Llm,
    /// No function on the call chain declares a runtime parameter.
    NoRuntime,
    /// No model is configured for the runtime, or it cannot do what was asked.
    NoProvider,
    /// An argument is wrong; the detail `path` names the part.
    InvalidArgument,
    /// No function answers to this name; the detail `nearest` may name one that does.
    NotFound,
    /// Not granted; the detail `how_to_allow` says what a person can do.
    Denied,
    /// A person had to approve it and did not; the detail `reason` is `declined`, `timeout` or
    /// `nobody-there`.
    ApprovalDenied,
    /// A person was asked and did not want to answer.
    Declined,
    /// A person was asked and gave no answer in time.
    AskTimeout,
    /// There is nobody to ask.
    NobodyThere,
    /// A limit was reached; the detail `which` names it.
    LimitReached,
    /// The called function returned its own error, which is the detail `error`.
    FunctionFailed,
    /// The called function stopped abnormally.
    Trapped,
    /// The run was cancelled.
    Cancelled,
    /// The runtime was closed.
    Closed,
    /// A code that this version does not know. It cannot be repaired.
    Unknown,
}

/// How the last pick of a failed decision was wrong. Later versions may add some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecisionKind {
    /// The reply holds no pick.
    NoAction,
    /// The pick is not on the menu.
    UnknownCall,
    /// The arguments are not an object.
    BadArgs,
    /// A required argument is missing.
    MissingRequired,
    /// An argument has a wrong type.
    TypeMismatch,
    /// An argument is not one of the allowed values.
    EnumViolation,
    /// The pick is valid and not sure enough; the details `pick` and `confidence` tell more.
    LowConfidence,
    /// The vote has no winner; the detail `tied` names the options.
    Tie,
    /// A kind that this version does not know.
    Unknown,
}

const CODES: [(&str, FailureKind); 17] = [
    ("decision", FailureKind::Decision),
    ("structured", FailureKind::Structured),
    ("llm", FailureKind::Llm),
    ("no-runtime", FailureKind::NoRuntime),
    ("no-provider", FailureKind::NoProvider),
    ("invalid-argument", FailureKind::InvalidArgument),
    ("not-found", FailureKind::NotFound),
    ("denied", FailureKind::Denied),
    ("approval-denied", FailureKind::ApprovalDenied),
    ("declined", FailureKind::Declined),
    ("ask-timeout", FailureKind::AskTimeout),
    ("nobody-there", FailureKind::NobodyThere),
    ("limit-reached", FailureKind::LimitReached),
    ("function-failed", FailureKind::FunctionFailed),
    ("trapped", FailureKind::Trapped),
    ("cancelled", FailureKind::Cancelled),
    ("closed", FailureKind::Closed),
];

/// Why a turn with a response format gave no value. Later versions may add some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StructuredCode {
    /// What was asked for is not a schema, or not a format.
    InvalidSchema,
    /// The model is not known to be held to the schema.
    Unsupported,
    /// The reply is not exactly one JSON value.
    InvalidJson,
    /// The reply does not fit the schema; the detail `issues` says where.
    ValidationFailed,
    /// The model ended without handing its value in.
    MissingSubmission,
    /// The model did something else beside handing its value in.
    MixedSubmission,
    /// The model refused.
    Refusal,
    /// The reply was cut off.
    Incomplete,
    /// A code that this version does not know.
    Unknown,
}

const STRUCTURED_CODES: [(&str, StructuredCode); 8] = [
    ("invalid_schema", StructuredCode::InvalidSchema),
    ("unsupported", StructuredCode::Unsupported),
    ("invalid_json", StructuredCode::InvalidJson),
    ("validation_failed", StructuredCode::ValidationFailed),
    ("missing_submission", StructuredCode::MissingSubmission),
    ("mixed_submission", StructuredCode::MixedSubmission),
    ("refusal", StructuredCode::Refusal),
    ("incomplete", StructuredCode::Incomplete),
];

const DECISION_KINDS: [(&str, DecisionKind); 8] = [
    ("no_action", DecisionKind::NoAction),
    ("unknown_call", DecisionKind::UnknownCall),
    ("bad_args", DecisionKind::BadArgs),
    ("missing_required", DecisionKind::MissingRequired),
    ("type_mismatch", DecisionKind::TypeMismatch),
    ("enum_violation", DecisionKind::EnumViolation),
    ("low_confidence", DecisionKind::LowConfidence),
    ("tie", DecisionKind::Tie),
];

impl Failure {
    /// A failure with a code of the contract, a sentence for a person and no details.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Failure {
            code: code.into(),
            message: message.into(),
            details: Json::from(json!({})),
        }
    }

    /// An argument cannot be used; `path` names the part, for example `order.amount`.
    pub fn invalid_argument(path: &str, message: impl Into<String>) -> Self {
        Failure {
            details: json!({ "path": path }).into(),
            ..Self::new("invalid-argument", message)
        }
    }

    /// A model did not answer, as a [`Model`](crate::model::Model) says it.
    ///
    /// `reason` is one of `transport`, `rate_limit`, `provider`, `auth`, `authz`, `invalid`,
    /// `context`, `policy`, `timeout` and `unknown`; with `retryable` the host may ask again.
    /// Further details: `http_status`, `retry_after_ms`, the least time to wait, and
    /// `transport_exhausted`, `true` after tries of one's own that are used up.
    pub fn llm(reason: &str, retryable: bool, message: impl Into<String>) -> Self {
        Self::new("llm", message)
            .with("reason", reason)
            .with("retryable", retryable)
    }

    /// Sets one of the details.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let details = self.details.parse::<serde_json::Map<String, Value>>();
        let mut details = details.unwrap_or_default();
        details.insert(key.to_owned(), value.into());
        self.details = Json::from(Value::Object(details));
        self
    }

    /// The kind of failure.
    pub fn kind(&self) -> FailureKind {
        look_up(&CODES, &self.code).unwrap_or(FailureKind::Unknown)
    }

    /// The code as the contract writes it.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// One sentence for a person.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// All details, a JSON object. Its keys depend on the code.
    pub fn details(&self) -> &Json {
        &self.details
    }

    /// One of the details.
    pub fn detail(&self, key: &str) -> Option<Value> {
        self.details.parse::<Value>().ok()?.get(key).cloned()
    }

    /// Whether the same call may succeed a little later: the model was not reached or overloaded.
    pub fn retryable(&self) -> bool {
        self.kind() == FailureKind::Llm && self.detail("retryable") == Some(Value::Bool(true))
    }

    /// How the last pick was wrong, when no valid pick was made.
    pub fn decision_kind(&self) -> Option<DecisionKind> {
        if self.kind() != FailureKind::Decision {
            return None;
        }
        let kind = self.detail("kind");
        let name = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        Some(look_up(&DECISION_KINDS, name).unwrap_or(DecisionKind::Unknown))
    }

    /// Why there is no value, when a turn with a response format gave none.
    pub fn structured_code(&self) -> Option<StructuredCode> {
        if self.kind() != FailureKind::Structured {
            return None;
        }
        let code = self.detail("code");
        let name = code.as_ref().and_then(Value::as_str).unwrap_or_default();
        Some(look_up(&STRUCTURED_CODES, name).unwrap_or(StructuredCode::Unknown))
    }
}

fn look_up<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table
        .iter()
        .find(|entry| entry.0 == name)
        .map(|entry| entry.1)
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl Error for Failure {}

#[doc(hidden)]
pub fn from_host(failure: raw::Failure) -> Failure {
    let raw::Failure {
        code,
        message,
        details,
    } = failure;
    Failure {
        code,
        message,
        details: crate::value::from_host(details),
    }
}

#[doc(hidden)]
pub fn to_host(failure: Failure) -> raw::Failure {
    let Failure {
        code,
        message,
        details,
    } = failure;
    raw::Failure {
        code,
        message,
        details: crate::value::to_host(details),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_details_have_a_typed_view() {
        let cases = [
            (
                "decision",
                r#"{"kind":"enum_violation"}"#,
                FailureKind::Decision,
                false,
            ),
            ("decision", "not JSON", FailureKind::Decision, false),
            ("llm", r#"{"retryable":true}"#, FailureKind::Llm, true),
            ("llm", r#"{"retryable":"yes"}"#, FailureKind::Llm, false),
            (
                "trapped",
                r#"{"retryable":true}"#,
                FailureKind::Trapped,
                false,
            ),
            ("of-tomorrow", "{}", FailureKind::Unknown, false),
        ];
        for (code, details, kind, retryable) in cases {
            let failure = from_host(raw::Failure {
                code: code.to_owned(),
                message: String::new(),
                details: details.to_owned(),
            });
            assert_eq!(
                (failure.kind(), failure.retryable()),
                (kind, retryable),
                "{code} {details}"
            );
        }
        let failure = Failure {
            details: json!({"kind": "enum_violation"}).into(),
            ..Failure::new("decision", "no valid pick")
        };
        assert_eq!(failure.decision_kind(), Some(DecisionKind::EnumViolation));
        assert_eq!(failure.to_string(), "decision: no valid pick");
        assert_eq!(Failure::new("llm", "").decision_kind(), None);
    }

    #[test]
    fn details_are_set_by_name() {
        let failure = Failure::llm("rate_limit", true, "slow down").with("retry_after_ms", 1_500);
        assert_eq!(
            failure.details().as_str(),
            r#"{"reason":"rate_limit","retryable":true,"retry_after_ms":1500}"#
        );
        let failure = failure.with("retryable", false);
        assert_eq!(failure.detail("retryable"), Some(Value::Bool(false)));
    }
}
