//! What the nodes of a session keep of grants, refusals and approvals.

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::grant::{Access, AccessOutcome, GrantKind, copied_grant_command};
use openprogram_core::question::Receipt;
use openprogram_core::session::Node;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::text::is_clean_line;

/// The fact that lists requests that were refused as failures, and the one that counts them.
const REFUSED: &str = "refused";
const N_REFUSED: &str = "n_refused";

/// Whether it was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Used,
    Refused,
}

impl Outcome {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Refused => "refused",
        }
    }
}

/// One thing that a call reached for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The kind of grant; `None` for a refusal that no grant would change.
    pub(super) kind: Option<GrantKind>,
    pub(super) what: String,
    pub(super) outcome: Outcome,
    /// The grant that allowed it.
    pub(super) grant: Option<String>,
    /// Why it was refused.
    pub(super) message: Option<String>,
    /// The command that would allow it.
    pub(super) command: Option<String>,
    /// How often it happened.
    pub(super) n: u64,
}

/// A call and what it reached for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AuditedCall {
    pub(super) seq: u64,
    pub(super) node: String,
    pub(super) name: String,
    pub(super) component: Option<String>,
    pub(super) entries: Vec<Entry>,
    /// How many more things it reached for than are recorded.
    pub(super) left_out: u64,
    /// The receipts as they are recorded.
    pub(super) approvals: Vec<Json>,
}

impl AuditedCall {
    /// Reads the facts of a node. What has another form than ours is left out: a damaged record is
    /// shown as far as it can be read.
    pub(super) fn of(node: &Node) -> Self {
        let opened = &node.opened;
        let facts = |key: &str| {
            let ended = node.end.as_ref().and_then(|end| end.facts.get(key));
            ended.or_else(|| opened.facts.get(key))
        };
        let list = |key: &str| {
            facts(key)
                .and_then(Json::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let count = |key: &str| facts(key).and_then(Json::as_u64).unwrap_or(0);
        let component = facts("component").and_then(Json::as_str).map(str::to_owned);
        let mut entries = Vec::new();
        for access in list(Access::FACT) {
            if let Some(entry) = access_entry(&access, component.as_deref()) {
                entries.push(entry);
            }
        }
        // A refused call may stand in both lists; the accesses have it with its number.
        let known: Vec<_> = entries.iter().map(|entry| entry.what.clone()).collect();
        let refused = list(REFUSED);
        let n_unlisted = count(N_REFUSED).saturating_sub(refused.len() as u64);
        for failure in refused.iter().filter_map(Failure::from_json) {
            let entry = refused_entry(&failure);
            if known.contains(&entry.what) {
                continue;
            }
            match entries
                .iter_mut()
                .find(|there| (&there.what, &there.message) == (&entry.what, &entry.message))
            {
                Some(there) => there.n = there.n.saturating_add(1),
                None => entries.push(entry),
            }
        }
        Self {
            seq: node.seq,
            node: opened.id.to_string(),
            name: opened.name.clone(),
            component,
            entries,
            left_out: count(Access::LEFT_OUT_FACT).saturating_add(n_unlisted),
            approvals: list(Receipt::FACT),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.approvals.is_empty() && self.left_out == 0
    }

    pub(super) fn to_json(&self) -> Json {
        let entries: Vec<_> = self.entries.iter().map(Entry::to_json).collect();
        json!({
            "seq": self.seq,
            "node": self.node,
            "name": self.name,
            "component": self.component,
            "entries": entries,
            "left_out": self.left_out,
            "approvals": self.approvals,
        })
    }
}

impl Entry {
    fn to_json(&self) -> Json {
        json!({
            "kind": self.kind.map(GrantKind::key),
            "what": self.what,
            "outcome": self.outcome.as_str(),
            "grant": self.grant,
            "message": self.message,
            "n": self.n,
            "command": self.command,
        })
    }
}

fn access_entry(recorded: &Json, component: Option<&str>) -> Option<Entry> {
    let Access {
        kind,
        what,
        outcome,
    } = Access::from_json(recorded)?;
    let n = recorded.get("n").and_then(Json::as_u64).unwrap_or(1);
    let entry = Entry {
        kind: Some(kind),
        what,
        outcome: Outcome::Used,
        grant: None,
        message: None,
        command: None,
        n,
    };
    Some(match outcome {
        AccessOutcome::Granted { grant } => Entry {
            grant: Some(grant),
            ..entry
        },
        AccessOutcome::Refused { message, needed } => Entry {
            outcome: Outcome::Refused,
            message: Some(message),
            command: needed
                .zip(component)
                .and_then(|(line, component)| copied_grant_command(component, kind, &line)),
            ..entry
        },
    })
}

fn refused_entry(failure: &Failure) -> Entry {
    let detail = |details: &JsonObject, key: &str| {
        let text = details.get(key).and_then(Json::as_str);
        text.map(str::to_owned)
    };
    let is_denied = failure.code == FailureCode::Denied;
    let what = detail(&failure.details, "what").or_else(|| detail(&failure.details, "name"));
    Entry {
        kind: is_denied.then_some(GrantKind::Calls),
        what: what.unwrap_or_else(|| failure.code.as_str().to_owned()),
        outcome: Outcome::Refused,
        grant: None,
        message: Some(failure.message.clone()),
        command: detail(&failure.details, "how_to_allow").filter(|how| is_clean_line(how)),
        n: 1,
    }
}
