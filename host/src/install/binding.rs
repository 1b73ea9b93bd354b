//! What the grants of a component were given to: its bytes, and exactly these grants.
//!
//! A person says yes to both at once. When one of them is another one now, the yes does not count.

use openprogram_core::grant::{GrantKind, Grants};
use serde::Deserialize;

/// Most grants that a sentence names.
const NAMED_MAX: usize = 8;

/// A yes of a person, as the lock file keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The digest of the component that the grants were given to.
    pub digest: String,
    /// The grants: key and line of each, sorted.
    pub given: Vec<String>,
}

impl Binding {
    /// A yes to these grants for these bytes.
    #[must_use]
    pub fn new(digest: &str, grants: &Grants) -> Self {
        let mut given = grants.canonical_lines();
        given.sort();
        Self {
            digest: digest.to_owned(),
            given,
        }
    }

    /// Whether the list has the form that is written.
    pub(super) fn has_form(&self) -> bool {
        let is_line = |line: &String| {
            let kind = line.split_once(' ').map(|(key, _)| key);
            kind.and_then(GrantKind::of_key).is_some() && !line.contains(char::is_control)
        };
        !self.given.is_empty()
            && self.given.iter().all(is_line)
            && self.given.is_sorted_by(|a, b| a < b)
    }
}

/// Why grants do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbound {
    /// Whether the bytes are others than those that the grants were given to; nothing is known of
    /// bytes before when there was no yes.
    pub other_bytes: bool,
    /// Grants that nobody said yes to.
    pub added: Vec<String>,
    /// Grants that somebody said yes to and that are gone.
    pub removed: Vec<String>,
}

/// Compares the grants of a component with the yes of a person. Grants that are not there need none.
///
/// # Errors
/// What differs.
pub fn check_binding(
    bound: Option<&Binding>,
    digest: &str,
    grants: &Grants,
) -> Result<(), Unbound> {
    let now = Binding::new(digest, grants);
    if now.given.is_empty() || bound == Some(&now) {
        return Ok(());
    }
    let before = bound.map_or(&[][..], |bound| &bound.given);
    let without = |lines: &[String], others: &[String]| {
        let mut lines = lines.to_vec();
        lines.retain(|line| !others.contains(line));
        lines
    };
    Err(Unbound {
        other_bytes: bound.is_some_and(|bound| bound.digest != digest),
        added: without(&now.given, before),
        removed: without(before, &now.given),
    })
}

impl std::fmt::Display for Unbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if self.other_bytes {
            parts.push("its bytes are others than those that they were given to".to_owned());
        }
        for (lines, what) in [(&self.added, "new"), (&self.removed, "gone")] {
            if lines.is_empty() {
                continue;
            }
            let named = lines.iter().take(NAMED_MAX);
            let named: Vec<_> = named.map(|line| format!("`{line}`")).collect();
            let left = lines.len().saturating_sub(NAMED_MAX);
            let more = if left > 0 {
                format!(" and {left} more")
            } else {
                String::new()
            };
            parts.push(format!("{what}: {}{more}", named.join(", ")));
        }
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(env: &[&str]) -> Grants {
        Grants {
            env: env.iter().map(|name| name.parse().unwrap()).collect(),
            ..Grants::default()
        }
    }

    fn told(bound: Option<&Binding>, digest: &str, env: &[&str]) -> String {
        let checked = check_binding(bound, digest, &grants(env));
        checked.map_or_else(|unbound| unbound.to_string(), |()| "ok".to_owned())
    }

    #[test]
    fn a_yes_counts_for_these_bytes_and_exactly_these_grants() {
        let bound = Binding::new("sha256:1", &grants(&["B", "A"]));
        assert_eq!(bound.given, ["env A", "env B"]);
        for (bound, digest, env, expected) in [
            (None, "sha256:1", &[][..], "ok"),
            (Some(&bound), "sha256:2", &[], "ok"),
            (Some(&bound), "sha256:1", &["A", "B"], "ok"),
            (Some(&bound), "sha256:1", &["B", "A"], "ok"),
            (None, "sha256:1", &["A"], "new: `env A`"),
            (Some(&bound), "sha256:1", &["A"], "gone: `env B`"),
            (
                Some(&bound),
                "sha256:1",
                &["A", "C"],
                "new: `env C`; gone: `env B`",
            ),
            (
                Some(&bound),
                "sha256:2",
                &["A", "B"],
                "its bytes are others than those that they were given to",
            ),
            (
                Some(&bound),
                "sha256:1",
                &["A", "ask B"],
                "new: `env ask B`; gone: `env B`",
            ),
        ] {
            assert_eq!(told(bound, digest, env), expected, "{env:?}");
        }
        let many: Vec<String> = (0..20).map(|n| format!("V{n:02}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let shown = told(None, "sha256:1", &many);
        assert!(shown.ends_with("`env V07` and 12 more"), "{shown}");
    }
}
