//! Secrets: keys of providers, and what the host adds to requests of components. A secret is shown as
//! stars wherever it is printed, and becomes a header at the last moment. Nothing here looks for one:
//! the binary hands them in.

use std::fmt;

/// What stands in place of a secret.
const STARS: &str = "***";
/// A shorter text is too common to be taken out of messages.
const REDACTED_BYTES_MIN: usize = 4;

/// A key, or another secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key as its owner wrote it; spaces and line ends around it are dropped.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// Takes a text exactly as it is.
    pub fn verbatim(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether there is no key in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for a header.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text of others without the key; some servers repeat the key they refuse.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < REDACTED_BYTES_MIN {
            return text.to_owned();
        }
        text.replace(&self.0, STARS)
    }

    /// The same for a text that was cut: the beginning of a key at its end goes too.
    #[must_use]
    pub fn redact_with_end(&self, text: &str) -> String {
        let mut text = self.redact(text);
        let starts = (REDACTED_BYTES_MIN..self.0.len()).rev();
        let cut = starts
            .filter_map(|length| self.0.get(..length))
            .find(|start| text.ends_with(start));
        if let Some(start) = cut {
            text.truncate(text.len() - start.len());
            text.push_str(STARS);
        }
        text
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STARS)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STARS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_of_messages_also_when_it_is_cut_at_their_end() {
        let key = Secret::new("sk-12345");
        for (text, expected) in [
            ("bad sk-12345 twice: sk-12345", "bad *** twice: ***"),
            ("bad sk-123", "bad ***"),
            ("bad sk-1", "bad ***"),
            ("bad sk-", "bad sk-"),
            ("sk-12 is not at the end", "sk-12 is not at the end"),
        ] {
            assert_eq!(key.redact_with_end(text), expected);
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = Secret::new(" sk-12345\n");
        assert_eq!(key.expose(), "sk-12345");
        assert_eq!(format!("{key} {key:?}"), "*** ***");
        assert_eq!(format!("{:?}", Some(&key)), "Some(***)");
        assert_eq!(key.redact("key sk-12345 is wrong"), "key *** is wrong");
        assert_eq!(Secret::new("a").redact("banana"), "banana");
        assert!(Secret::new(" \n").is_empty());
    }
}
