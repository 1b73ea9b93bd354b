//! What a running function reached for, for the record: each grant that was used and each refusal.

use super::GrantKind;
use crate::{Json, JsonObject};

/// One thing that a function reached for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which kind of grant it needs.
    pub kind: GrantKind,
    /// What it wanted, for example `GET https://api.example.com/v1/items`. No secret is in it.
    pub what: String,
    /// Whether it got it.
    pub outcome: AccessOutcome,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessOutcome {
    /// A grant covered it.
    Granted {
        /// The line of the grant.
        grant: String,
    },
    /// Nothing was allowed.
    Refused {
        /// Why, as the guest was told too.
        message: String,
        /// The grant that would allow it, as a line of its kind; `None` where no grant would.
        needed: Option<String>,
    },
}

impl Access {
    /// The fact of a node that lists what its call reached for: an array of objects as
    /// [`Access::to_json`] gives them, each with `n`, how often it happened.
    pub const FACT: &'static str = "access";
    /// The fact that counts what is not listed.
    pub const LEFT_OUT_FACT: &'static str = "access_left_out";

    /// A use of a grant.
    pub fn granted(kind: GrantKind, what: impl Into<String>, grant: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            outcome: AccessOutcome::Granted {
                grant: grant.into(),
            },
        }
    }

    /// A refusal.
    pub fn refused(
        kind: GrantKind,
        what: impl Into<String>,
        message: impl Into<String>,
        needed: Option<String>,
    ) -> Self {
        let message = message.into();
        Self {
            kind,
            what: what.into(),
            outcome: AccessOutcome::Refused { message, needed },
        }
    }

    /// As one JSON object for a record: `kind`, `what`, and `grant`, or `refused` with `needed`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut object = JsonObject::new();
        object.insert("kind".to_owned(), self.kind.key().into());
        object.insert("what".to_owned(), self.what.clone().into());
        match &self.outcome {
            AccessOutcome::Granted { grant } => {
                object.insert("grant".to_owned(), grant.clone().into());
            }
            AccessOutcome::Refused { message, needed } => {
                object.insert("refused".to_owned(), message.clone().into());
                if let Some(needed) = needed {
                    object.insert("needed".to_owned(), needed.clone().into());
                }
            }
        }
        Json::Object(object)
    }

    /// Reads what [`Access::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(value: &Json) -> Option<Self> {
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let kind = GrantKind::of_key(&text("kind")?)?;
        let outcome = match text("grant") {
            Some(grant) => AccessOutcome::Granted { grant },
            None => AccessOutcome::Refused {
                message: text("refused")?,
                needed: text("needed"),
            },
        };
        Some(Self {
            kind,
            what: text("what")?,
            outcome,
        })
    }
}
