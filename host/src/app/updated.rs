//! What an update of one component does, and whether a person has to say yes to it.

use openprogram_core::function::Function;
use openprogram_core::grant::Grants;
use openprogram_core::skill::Skill;

use crate::install::{Difference, LockEntry};

/// What updating one component does.
#[derive(Debug)]
pub struct Updated {
    /// Its name.
    pub name: String,
    /// What it was.
    pub old: LockEntry,
    /// What it is now; the same as it was when the source has not changed.
    pub new: LockEntry,
    /// What changed in its functions; `None` when it is not known what they were.
    pub difference: Option<Difference>,
    /// What it imports now and did not before, as far as that is known.
    pub new_imports: Vec<String>,
    /// What it is granted.
    pub grants: Grants,
    /// Whether what it is granted was confirmed for the bytes that it was.
    pub was_bound: bool,
    pub(super) before: Vec<Function>,
    pub(super) functions: Vec<Function>,
    /// The skill that it carried, as far as that is known, and the one that it carries now.
    pub(super) skill_before: Option<Skill>,
    pub(super) skill: Option<Skill>,
}

impl Updated {
    /// Whether the source has changed.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.old != self.new
    }

    /// The functions as they are now.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The functions as they were, as far as that is known.
    #[must_use]
    pub fn functions_before(&self) -> &[Function] {
        &self.before
    }

    /// The skill that it carries now.
    #[must_use]
    pub fn skill(&self) -> Option<&Skill> {
        self.skill.as_ref()
    }

    /// The skill that it carried, as far as that is known.
    #[must_use]
    pub fn skill_before(&self) -> Option<&Skill> {
        self.skill_before.as_ref()
    }

    /// Whether a person has to say yes: the component says of itself, or wants, something that no
    /// person has seen. What only went away needs no yes, and neither does other code behind the same
    /// functions.
    #[must_use]
    pub fn needs_yes(&self) -> bool {
        let is_said = |difference: &Difference| {
            !(difference.added.is_empty() && difference.changed.is_empty())
        };
        let is_news = self.difference.as_ref().is_none_or(is_said);
        let is_taught = self.skill.is_some() && self.skill != self.skill_before;
        self.is_changed() && (is_news || is_taught || !self.new_imports.is_empty())
    }

    /// Whether there are grants that other bytes would have to be given again.
    #[must_use]
    pub fn has_grants(&self) -> bool {
        self.is_changed() && !self.grants.is_empty()
    }
}
