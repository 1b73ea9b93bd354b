//! What one call reached for, for its record: every use of a grant and every refusal, equal ones
//! counted, and the receipts of what was approved. Bounded, because what a function asks for is up to it.

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::grant::{Access, AccessOutcome, GrantKind};
use openprogram_core::question::Receipt;
use openprogram_core::text::cut;
use openprogram_core::{Json, JsonObject};

/// How many different accesses of one sort a node lists, so that no sort can crowd another one out: a
/// sort is a kind of grant, the line that allowed it, and a verb. Those beyond are one entry with
/// their number where something was allowed; [`Access::LEFT_OUT_FACT`] counts refusals beyond.
const OF_ONE_SORT_MAX: usize = 32;
/// How many different accesses a node lists in all.
const ACCESSES_LISTED_MAX: usize = 1_000;
/// The verbs that sorts tell apart; whatever else a guest makes up is one sort.
const VERBS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "read", "write",
];
/// Most bytes of each text of an access, cut in its middle.
const ACCESS_TEXT_BYTES_MAX: usize = 1_000;
/// Most bytes of the line that would allow something; longer ones are no grants.
const GRANT_BYTES_MAX: usize = 4_096;

/// How often one call may ask for an approval; a person who is asked more often reads nothing. The
/// next question is refused as the limit `approvals`.
const APPROVALS_MAX: u64 = 64;

/// How many questions one call may put; a person who is asked more often gives up. The next one is
/// refused as the limit `questions`.
const QUESTIONS_MAX: u64 = 64;

/// The accesses of one call.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    listed: Vec<(Access, u64)>,
    /// What was allowed beyond what is listed of its sort.
    others: Vec<(Access, u64)>,
    n_left_out: u64,
    n_approvals: u64,
    n_questions: u64,
    receipts: Vec<Json>,
}

impl Accesses {
    /// Takes one in.
    pub(crate) fn note(&mut self, access: Access) {
        if let Some((_, n)) = self.listed.iter_mut().find(|(known, _)| *known == access) {
            *n += 1;
            return;
        }
        let sort = sort_of(&access);
        let alike = self
            .listed
            .iter()
            .filter(|(known, _)| sort_of(known) == sort);
        if alike.count() < OF_ONE_SORT_MAX && self.listed.len() < ACCESSES_LISTED_MAX {
            self.listed.push((access, 1));
            return;
        }
        let (kind, Some(grant), verb) = sort else {
            self.n_left_out += 1;
            return;
        };
        let what = match verb {
            Some(verb) => format!("{verb} (other places)"),
            None => "(others)".to_owned(),
        };
        let other = Access::granted(kind, what, grant);
        match self.others.iter_mut().find(|(known, _)| *known == other) {
            Some((_, n)) => *n += 1,
            // As many as there are grants, times the verbs.
            None => self.others.push((other, 1)),
        }
    }

    /// Counts one question for an approval.
    ///
    /// # Errors
    /// `limit-reached` when the call has asked often enough.
    pub(crate) fn count_approval(&mut self) -> Result<(), Failure> {
        if self.n_approvals >= APPROVALS_MAX {
            let message = format!("one call asked for more than {APPROVALS_MAX} approvals");
            return Err(Failure::limit("approvals", APPROVALS_MAX, message));
        }
        self.n_approvals += 1;
        Ok(())
    }

    /// Counts one question of the function itself.
    ///
    /// # Errors
    /// `limit-reached` when the call has asked often enough.
    pub(crate) fn count_question(&mut self) -> Result<(), Failure> {
        if self.n_questions >= QUESTIONS_MAX {
            let message = format!("one call asked more than {QUESTIONS_MAX} questions");
            return Err(Failure::limit("questions", QUESTIONS_MAX, message));
        }
        self.n_questions += 1;
        Ok(())
    }

    /// Whether there is a receipt already of the answer that is kept for this question.
    pub(crate) fn has_receipt_by_memory(&self, question: &str) -> bool {
        let mut receipts = self.receipts.iter();
        receipts.any(|known| known["question"] == question && known["by"] == Receipt::BY_MEMORY)
    }

    /// Keeps the receipt of a question for an approval.
    pub(crate) fn keep_receipt(&mut self, receipt: &Receipt) {
        self.receipts.push(receipt.to_json());
    }

    /// Adds them to the facts of a node.
    pub(crate) fn add_to(&self, facts: &mut JsonObject) {
        let one = |(access, n): &(Access, u64)| {
            let mut json = access.to_json();
            json["n"] = (*n).into();
            json
        };
        if !self.listed.is_empty() {
            let listed: Json = self.listed.iter().chain(&self.others).map(one).collect();
            facts.insert(Access::FACT.to_owned(), listed);
        }
        if self.n_left_out > 0 {
            facts.insert(Access::LEFT_OUT_FACT.to_owned(), self.n_left_out.into());
        }
        if !self.receipts.is_empty() {
            facts.insert(Receipt::FACT.to_owned(), self.receipts.clone().into());
        }
    }
}

/// What tells one sort of access from another: its kind, the line that allowed it, a known verb.
fn sort_of(access: &Access) -> (GrantKind, Option<&str>, Option<&'static str>) {
    let grant = match &access.outcome {
        AccessOutcome::Granted { grant } => Some(grant.as_str()),
        AccessOutcome::Refused { .. } => None,
    };
    let word = access.what.split(' ').next();
    let verb = VERBS.into_iter().find(|verb| Some(*verb) == word);
    (access.kind, grant, verb)
}

/// The access with texts of bounded length. The line that would allow it is kept whole, since a part
/// of it allows something else; grants are bounded themselves.
pub(crate) fn bounded(access: Access) -> Access {
    let short = |text: String| match text.len() {
        0..=ACCESS_TEXT_BYTES_MAX => text,
        _ => cut(&text, ACCESS_TEXT_BYTES_MAX).into_owned(),
    };
    let outcome = match access.outcome {
        AccessOutcome::Granted { grant } => AccessOutcome::Granted { grant },
        AccessOutcome::Refused { message, needed } => AccessOutcome::Refused {
            message: short(message),
            needed: needed.filter(|line| line.len() <= GRANT_BYTES_MAX),
        },
    };
    Access {
        kind: access.kind,
        what: short(access.what),
        outcome,
    }
}

/// The function whose call was not granted, where that is why something was refused.
pub(crate) fn denied_call(failure: &Failure) -> Option<&str> {
    if failure.code != FailureCode::Denied {
        return None;
    }
    failure.details.get("what")?.as_str()?.strip_prefix("call ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(what: &str) -> Access {
        Access::refused(GrantKind::Env, what, "not granted", Some(what.to_owned()))
    }

    #[test]
    fn equal_accesses_are_counted_and_too_many_different_ones_too() {
        let mut accesses = Accesses::default();
        let mut facts = JsonObject::new();
        accesses.add_to(&mut facts);
        assert_eq!(facts, JsonObject::new());
        for number in 0..OF_ONE_SORT_MAX + 3 {
            accesses.note(refused(&format!("VARIABLE_{number}")));
            accesses.note(refused("VARIABLE_0"));
        }
        accesses.add_to(&mut facts);
        let listed = facts[Access::FACT].as_array().unwrap();
        assert_eq!(listed.len(), OF_ONE_SORT_MAX);
        let first = json!({
            "kind": "env", "what": "VARIABLE_0", "refused": "not granted",
            "needed": "VARIABLE_0", "n": OF_ONE_SORT_MAX + 4,
        });
        assert_eq!(
            (&listed[0], &facts[Access::LEFT_OUT_FACT]),
            (&first, &json!(3))
        );
        assert_eq!(Access::from_json(&listed[0]), Some(refused("VARIABLE_0")));
    }

    #[test]
    fn many_uses_of_a_grant_hide_no_other_sort_of_use() {
        let get =
            |n: usize| Access::granted(GrantKind::Http, format!("GET https://a.example/{n}"), "*");
        let post = |path: &str| {
            Access::granted(
                GrantKind::Http,
                format!("POST https://a.example/{path}"),
                "*",
            )
        };
        let mut accesses = Accesses::default();
        for number in 0..10_000 {
            accesses.note(get(number));
            accesses.note(refused(&format!("VARIABLE_{number}")));
        }
        accesses.note(post("exfiltrate"));
        for number in 0..OF_ONE_SORT_MAX {
            accesses.note(post(&number.to_string()));
        }
        let mut facts = JsonObject::new();
        accesses.add_to(&mut facts);
        let listed = facts[Access::FACT].as_array().unwrap();
        let n_of = |what: &str| {
            let mut found = listed.iter().filter(|access| access["what"] == what);
            found.next().map(|access| access["n"].clone())
        };
        assert_eq!(n_of("POST https://a.example/exfiltrate"), Some(json!(1)));
        assert_eq!(n_of("POST (other places)"), Some(json!(1)));
        assert_eq!(
            n_of("GET (other places)"),
            Some(json!(10_000 - OF_ONE_SORT_MAX))
        );
        assert_eq!(
            facts[Access::LEFT_OUT_FACT],
            json!(10_000 - OF_ONE_SORT_MAX)
        );
    }

    #[test]
    fn long_texts_are_cut_and_a_line_is_whole_or_not_there() {
        let long = "ä".repeat(3_000);
        let Access { what, outcome, .. } = bounded(Access::refused(
            GrantKind::Http,
            &long,
            &long,
            Some(long.clone()),
        ));
        assert!(what.len() < 1_200, "{}", what.len());
        let AccessOutcome::Refused { message, needed } = outcome else {
            panic!("a refusal stays one");
        };
        assert!(message.len() < 1_200 && needed.is_none());
    }
}
