//! Secrets: keys of providers, and what the host adds to requests of components. A secret is shown as
//! stars wherever it is printed, and becomes a header at the last moment. Nothing here looks for one:
//! the binary hands them in.

mod forms;

use std::fmt;

pub use forms::{SECRET_BYTES_MIN, SecretForms, forms_of, forms_of_basic};

/// What stands in place of a secret.
const STARS: &str = "***";

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
        self.forms().replace(text, STARS)
    }

    /// The forms in which others may repeat it; none of one that is too short.
    #[must_use]
    pub fn forms(&self) -> SecretForms {
        if self.0.len() < SECRET_BYTES_MIN {
            return SecretForms::default();
        }
        SecretForms::new(forms_of(self.0.as_bytes()))
    }

    /// The same for a text that was cut: the beginning of a key at its end goes too.
    #[must_use]
    pub fn redact_with_end(&self, text: &str) -> String {
        let forms = self.forms();
        let mut text = forms.replace(text, STARS);
        let starts = forms.in_text().filter_map(|form| {
            let mut lengths = (SECRET_BYTES_MIN..form.len()).rev();
            lengths.find(|length| {
                form.get(..*length)
                    .is_some_and(|start| text.ends_with(start))
            })
        });
        if let Some(length) = starts.max() {
            text.truncate(text.len() - length);
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
    fn a_key_is_taken_out_of_messages_in_other_forms_too() {
        let key = Secret::new("sk/12345+6");
        let forms = [
            "c2svMTIzNDUrNg==",
            "6+54321/ks",
            "sk%2F12345%2B6",
            "736b2f31323334352b36",
            "sk\\/12345+6",
        ];
        for form in forms {
            let told = key.redact(&format!("key {form} is wrong"));
            assert!(
                told.starts_with("key ***") && told.ends_with(" is wrong"),
                "{told}"
            );
            assert!(!told.contains("345"), "{told}");
        }
        assert_eq!(key.redact_with_end("bad 6+5432"), "bad ***");
        assert_eq!(format!("{:?}", key.forms()), "***");
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
