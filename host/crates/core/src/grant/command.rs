//! The kinds of grants, and the command with which a person gives one.

use crate::text::is_clean_line;

/// The kinds of grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantKind {
    /// Folders.
    Dirs,
    /// Variables of the environment.
    Env,
    /// The network.
    Http,
    /// Secrets that the host adds.
    Secrets,
    /// Models.
    Models,
    /// Functions of other components.
    Calls,
    /// Questions to the person who runs it.
    AskUser,
}

impl GrantKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Dirs,
        Self::Env,
        Self::Http,
        Self::Secrets,
        Self::Models,
        Self::Calls,
        Self::AskUser,
    ];

    /// The key under which the project file holds them.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Dirs => "dirs",
            Self::Env => "env",
            Self::Http => "http",
            Self::Secrets => "secrets",
            Self::Models => "models",
            Self::Calls => "calls",
            Self::AskUser => "ask_user",
        }
    }

    /// The option of `openprogram grant` and `openprogram revoke`.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Dirs => "--dir",
            Self::Env => "--env",
            Self::Http => "--http",
            Self::Secrets => "--secret",
            Self::Models => "--use-model",
            Self::Calls => "--call",
            Self::AskUser => "--ask-user",
        }
    }

    /// The kind with this key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.key() == key)
    }
}

/// The command that gives `component` the grant of this line, ready for a shell.
#[must_use]
pub fn grant_command(component: &str, kind: GrantKind, line: &str) -> String {
    let component = shell_word(component);
    format!("openprogram grant {component} {}", grant_words(kind, line))
}

/// The command that gives `component` the grant of this line, for a person to copy; `None` where a
/// person would not see all of it, and would copy another command than the one that was meant.
#[must_use]
pub fn copied_grant_command(component: &str, kind: GrantKind, line: &str) -> Option<String> {
    let command = grant_command(component, kind, line);
    is_clean_line(&command).then_some(command)
}

/// The command that takes the grant of this line away, ready for a shell.
#[must_use]
pub fn revoke_command(component: &str, kind: GrantKind, line: &str) -> String {
    let component = shell_word(component);
    format!("openprogram revoke {component} {}", grant_words(kind, line))
}

/// A grant as the options of these commands take it, ready for a shell.
#[must_use]
pub fn grant_words(kind: GrantKind, line: &str) -> String {
    match kind {
        GrantKind::AskUser => kind.option().to_owned(),
        // As a word of its own it would be read as an option.
        _ if line.starts_with('-') => format!("{}={}", kind.option(), shell_word(line)),
        _ => format!("{} {}", kind.option(), shell_word(line)),
    }
}

/// A text as one word of a POSIX shell: as it is where that is safe, else in single quotes.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    // Some shells read a word that begins with `=` otherwise.
    let is_word = !text.is_empty() && !text.starts_with('=');
    if is_word && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
