//! One newtype per id. Ids are made outside the core (a port of the runtime) and only carried here.

use std::fmt;

/// Whether a text is a prefix and 16 lower-case hexadecimal digits.
fn is_id(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).unwrap_or_default();
    let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    digits.len() == 16 && digits.chars().all(hexadecimal)
}

/// The id of a session: `op-` and 16 lower-case hexadecimal digits. Also the prompt-cache key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

/// The text is not a session id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a session id; it looks like `op-0123456789abcdef`")]
pub struct SessionIdError(String);

impl SessionId {
    /// Makes the id from its 64 random bits.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(format!("op-{bits:016x}"))
    }

    /// Reads an id as a person or a database gives it.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, SessionIdError> {
        if is_id(text, "op-") {
            Ok(Self(text.to_owned()))
        } else {
            Err(SessionIdError(text.chars().take(64).collect()))
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a node, unique over all sessions of a store: `n-` and 16 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(String);

impl NodeId {
    /// Makes the id from its 64 random bits.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(format!("n-{bits:016x}"))
    }

    /// Reads an id as a person or a file gives it; `None` for another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_id(text, "n-").then(|| Self(text.to_owned()))
    }

    /// Takes an id as a store gives it back; any text of a store is accepted.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A moment in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_round_trips_and_other_forms_are_refused() {
        let id = SessionId::from_bits(0x2a);
        assert_eq!(id.as_str(), "op-000000000000002a");
        assert_eq!(SessionId::parse(id.as_str()), Ok(id));
        for text in [
            "",
            "op-",
            "op-00000000000002a",
            "op-000000000000002A",
            "n-000000000000002a",
        ] {
            assert!(SessionId::parse(text).is_err(), "{text}");
        }
    }
}
