//! One grant as a line of text: what it allows, and whether a person is asked each time.

use std::fmt;
use std::str::FromStr;

/// The word before a grant whose every use is put to a person first.
const ASK: &str = "ask ";
/// Longest line of a grant, in bytes. Paths and URLs fit.
const GRANT_BYTES_MAX: usize = 4096;

/// A line that is no grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GrantTextError(pub(super) String);

impl GrantTextError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// One grant. Its text is `ask ` where it asks, and then what it allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant<T> {
    /// What it allows.
    pub what: T,
    /// Whether a person is asked before each use.
    pub asks: bool,
}

impl<T> Grant<T> {
    /// A grant that asks nobody.
    pub fn new(what: T) -> Self {
        Self { what, asks: false }
    }
}

impl<T: FromStr<Err = GrantTextError>> FromStr for Grant<T> {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        if text.len() > GRANT_BYTES_MAX {
            let message = format!("a grant is longer than {GRANT_BYTES_MAX} bytes");
            return Err(GrantTextError(message));
        }
        if text.contains(char::is_control) {
            return Err(GrantTextError::new("a grant holds a control character"));
        }
        let text = text.trim();
        let asked = text.strip_prefix(ASK).map(str::trim_start);
        Ok(Self {
            what: asked.unwrap_or(text).parse()?,
            asks: asked.is_some(),
        })
    }
}

impl<T: fmt::Display> fmt::Display for Grant<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.asks {
            f.write_str(ASK)?;
        }
        self.what.fmt(f)
    }
}
