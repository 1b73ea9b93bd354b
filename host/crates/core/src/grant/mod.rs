//! Grants: what a person lets one component touch beyond itself, as values and rules.
//!
//! Deny by default: an empty set allows nothing. Every grant has one line of text, which is the same
//! in the project file, on the command line and in the refusal that asks for it. Enforcement is the
//! business of whoever does the thing; what is allowed is decided here alone.

mod access;
mod address;
mod change;
mod command;
mod folder;
mod http;
mod item;
mod named;
mod path;

#[cfg(test)]
mod tests;

pub use access::{Access, AccessOutcome};
pub use address::{AddressKind, address_kind};
pub use change::GrantLine;
pub use command::{
    GrantKind, copied_grant_command, grant_command, grant_words, revoke_command, shell_word,
};
pub use folder::{FolderAccess, FolderGrant};
pub use http::{HttpGrant, HttpTarget, TargetError};
pub use item::{Grant, GrantTextError};
pub use named::{CallGrant, MODEL_TOKENS_DEFAULT, ModelGrant, SecretGrant, VariableGrant};

/// Everything that a person granted to one component. Empty lists mean none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Folders with their files, `dirs` in the project file.
    pub dirs: Vec<Grant<FolderGrant>>,
    /// Variables of the environment, `env`.
    pub env: Vec<Grant<VariableGrant>>,
    /// Places of the network, `http`.
    pub http: Vec<Grant<HttpGrant>>,
    /// Secrets that the host adds to requests, `secrets`.
    pub secrets: Vec<Grant<SecretGrant>>,
    /// Models besides those that it is lent, `models`.
    pub models: Vec<Grant<ModelGrant>>,
    /// Functions of other components, `calls`.
    pub calls: Vec<Grant<CallGrant>>,
    /// Whether it may put questions to the person who runs it, `ask_user`.
    pub ask_user: bool,
}

impl Grants {
    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The grants of one kind, each as the line that a person writes.
    #[must_use]
    pub fn lines_of(&self, kind: GrantKind) -> Vec<String> {
        fn lines<T: std::fmt::Display>(grants: &[Grant<T>]) -> Vec<String> {
            grants.iter().map(ToString::to_string).collect()
        }
        match kind {
            GrantKind::Dirs => lines(&self.dirs),
            GrantKind::Env => lines(&self.env),
            GrantKind::Http => lines(&self.http),
            GrantKind::Secrets => lines(&self.secrets),
            GrantKind::Models => lines(&self.models),
            GrantKind::Calls => lines(&self.calls),
            GrantKind::AskUser if self.ask_user => vec!["true".to_owned()],
            GrantKind::AskUser => Vec::new(),
        }
    }

    /// All grants in one text that is the same for the same grants: sorted, each with its kind. A
    /// hash of it binds the grants to what they were given to.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let mut text = String::new();
        for kind in GrantKind::ALL {
            let mut lines = self.lines_of(kind);
            lines.sort();
            lines.dedup();
            for line in lines {
                text.push_str(kind.key());
                text.push(' ');
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }

    /// The grant that covers this request, those that ask nobody first.
    #[must_use]
    pub fn http_for(&self, method: &str, target: &HttpTarget) -> Option<&Grant<HttpGrant>> {
        first_unasked(&self.http, |grant| grant.covers(method, target))
    }

    /// The secrets that belong into a request to this target.
    pub fn secrets_for<'a>(
        &'a self,
        target: &'a HttpTarget,
    ) -> impl Iterator<Item = &'a Grant<SecretGrant>> {
        let covers = |grant: &&Grant<SecretGrant>| grant.what.covers(target);
        self.secrets.iter().filter(covers)
    }

    /// The grant of this model, those that ask nobody first.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&Grant<ModelGrant>> {
        first_unasked(&self.models, |grant| grant.model == name)
    }
}

fn first_unasked<T>(grants: &[Grant<T>], covers: impl Fn(&T) -> bool) -> Option<&Grant<T>> {
    let mut covering = grants.iter().filter(|grant| covers(&grant.what));
    let first = covering.next()?;
    Some(if first.asks {
        covering.find(|grant| !grant.asks).unwrap_or(first)
    } else {
        first
    })
}
