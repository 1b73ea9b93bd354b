//! Why there is no structured value: a stable code, a sentence, and where it went wrong.

use crate::Json;
use crate::failure::{Failure, FailureCode};

use super::limits::ISSUES_MAX;

/// The kinds of error. The words are part of the contract and the list only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StructuredCode {
    /// What was asked for is not a schema, or not a format.
    InvalidSchema,
    /// Nobody has promised that this model, or this check, can hold a reply to the schema.
    Unsupported,
    /// The reply is not exactly one JSON value.
    InvalidJson,
    /// The reply does not fit the schema.
    ValidationFailed,
    /// The model ended without handing its value in.
    MissingSubmission,
    /// The model did something else beside handing its value in.
    MixedSubmission,
    /// The model refused.
    Refusal,
    /// The reply was cut off.
    Incomplete,
}

impl StructuredCode {
    /// Every code with its word.
    pub const ALL: [(Self, &str); 8] = [
        (Self::InvalidSchema, "invalid_schema"),
        (Self::Unsupported, "unsupported"),
        (Self::InvalidJson, "invalid_json"),
        (Self::ValidationFailed, "validation_failed"),
        (Self::MissingSubmission, "missing_submission"),
        (Self::MixedSubmission, "mixed_submission"),
        (Self::Refusal, "refusal"),
        (Self::Incomplete, "incomplete"),
    ];

    /// The word in failures and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let known = Self::ALL.iter().find(|(code, _)| *code == self);
        known.map_or("unsupported", |(_, word)| word)
    }

    /// Whether the model may be asked again: only for a whole reply that does not fit.
    #[must_use]
    pub fn repairable(self) -> bool {
        matches!(
            self,
            Self::InvalidJson
                | Self::ValidationFailed
                | Self::MissingSubmission
                | Self::MixedSubmission
        )
    }
}

/// What is wrong at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum IssueCode {
    /// The schema itself is wrong here.
    InvalidSchema,
    /// The schema asks here for something that cannot be promised.
    UnsupportedSchemaConstraint,
    /// The value does not fit the schema here.
    SchemaViolation,
    /// The check was given up: it took more work than one reply is worth.
    CheckLimit,
}

impl IssueCode {
    /// The word in failures and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidSchema => "invalid_schema",
            Self::UnsupportedSchemaConstraint => "unsupported_schema_constraint",
            Self::SchemaViolation => "schema_violation",
            Self::CheckLimit => "check_limit",
        }
    }
}

/// One place where something is wrong. Nothing of a value is in it but the keys on the way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Issue {
    /// The place in the value as a JSON pointer, `""` for all of it. For an issue of a schema, the
    /// place in the schema.
    pub path: String,
    /// The keyword that is not fulfilled, as a JSON pointer into the schema. References are
    /// followed and not named.
    pub schema_path: String,
    /// What is wrong.
    pub code: IssueCode,
}

impl Issue {
    /// An issue of a schema: both paths are the place in it.
    #[must_use]
    pub fn of_schema(code: IssueCode, schema_path: String) -> Self {
        Self {
            path: schema_path.clone(),
            schema_path,
            code,
        }
    }

    fn to_json(&self) -> Json {
        serde_json::json!({
            "code": self.code.as_str(),
            "path": self.path,
            "schema_path": self.schema_path,
        })
    }
}

/// Why there is no structured value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StructuredError {
    /// The kind.
    pub code: StructuredCode,
    /// One sentence. Names keywords and paths, never what a model wrote.
    pub message: String,
    /// Where it went wrong, at most [`ISSUES_MAX`] places in order.
    pub issues: Vec<Issue>,
}

impl StructuredError {
    /// An error that is about no place.
    pub fn new(code: StructuredCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            issues: Vec::new(),
        }
    }

    /// An error with the places it is about; the ones beyond [`ISSUES_MAX`] are left out.
    #[must_use]
    pub fn with_issues(mut self, issues: impl IntoIterator<Item = Issue>) -> Self {
        self.issues.extend(issues);
        self.issues.sort();
        self.issues.dedup();
        self.issues.truncate(ISSUES_MAX);
        self
    }

    /// Tells the places after the first one, which the sentence names, on a line each.
    pub(super) fn tell_more_places(&self, text: &mut String) {
        for issue in self.issues.iter().skip(1) {
            let place = match issue.path.as_str() {
                "" => "as a whole".to_owned(),
                path => format!("at `{path}`"),
            };
            text.push_str(&format!("Nor {place}, by `{}`.\n", issue.schema_path));
        }
    }

    /// An error of a schema at one place.
    pub(super) fn at(code: StructuredCode, path: String, message: String) -> Self {
        let issue = match code {
            StructuredCode::InvalidSchema => IssueCode::InvalidSchema,
            _ => IssueCode::UnsupportedSchemaConstraint,
        };
        Self::new(code, message).with_issues([Issue::of_schema(issue, path)])
    }

    /// The model refused.
    #[must_use]
    pub fn refusal() -> Self {
        Self::new(StructuredCode::Refusal, "the model refused to answer")
    }

    /// The reply ended before the model was done.
    #[must_use]
    pub fn incomplete() -> Self {
        let message = "the reply was cut off before its end; allow the model more tokens";
        Self::new(StructuredCode::Incomplete, message)
    }

    /// The issues as JSON: an array of `{"code", "path", "schema_path"}`.
    #[must_use]
    pub fn issues_to_json(&self) -> Json {
        self.issues.iter().map(Issue::to_json).collect()
    }

    /// The error as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        Failure::new(FailureCode::Structured, self.message.clone())
            .with("code", self.code.as_str())
            .with("issues", self.issues_to_json())
    }
}
