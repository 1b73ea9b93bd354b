//! The forms in which others may repeat a secret, and how they are taken out of what they say.
//!
//! Found are the value itself and what common servers make of it: base64 (also within a longer text),
//! percent-encoding, a JSON string, hexadecimal, and its characters in reverse. Whatever else is
//! computed from it is not recognised.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// A shorter form is too common to be taken out of texts.
pub const SECRET_BYTES_MIN: usize = 4;
/// A shorter part of an encoding says too little, and stands everywhere.
const ENCODED_BYTES_MIN: usize = 6;
const STAR: u8 = b'*';

/// The forms of some secrets, the longest first.
#[derive(Clone, Default)]
pub struct SecretForms {
    forms: Vec<Vec<u8>>,
    /// Whether a form begins with this byte.
    starts: Vec<bool>,
}

impl SecretForms {
    /// These forms; what is shorter than [`SECRET_BYTES_MIN`] is left out.
    #[must_use]
    pub fn new(mut forms: Vec<Vec<u8>>) -> Self {
        forms.retain(|form| form.len() >= SECRET_BYTES_MIN);
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        let mut starts = vec![false; 256];
        for form in &forms {
            if let Some(start) = form.first().and_then(|b| starts.get_mut(usize::from(*b))) {
                *start = true;
            }
        }
        Self { forms, starts }
    }

    /// Whether there is nothing to take out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// How many bytes at the end of a text may be the beginning of a secret, whatever they are.
    #[must_use]
    pub fn n_open(&self) -> usize {
        let longest = self.forms.first().map_or(0, Vec::len);
        longest.saturating_sub(1)
    }

    /// A whole text without secrets.
    #[must_use]
    pub fn clean(&self, text: String) -> String {
        if self.is_empty() {
            return text;
        }
        let mut bytes = text.into_bytes();
        let end = bytes.len();
        self.cover(&mut bytes, end);
        // A form is a whole text and stars are ASCII, so it is valid as it was.
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Those that are texts.
    pub fn in_text(&self) -> impl Iterator<Item = &str> {
        self.forms
            .iter()
            .filter_map(|form| str::from_utf8(form).ok())
    }

    /// The length of the secret that this begins with.
    fn at_start_of(&self, rest: &[u8]) -> Option<usize> {
        let first = usize::from(*rest.first()?);
        let is_start = self.starts.get(first).copied().unwrap_or_default();
        let mut forms = self.forms.iter().filter(|_| is_start);
        forms.find(|form| rest.starts_with(form)).map(Vec::len)
    }

    /// Covers with stars every find that begins before `end`.
    pub fn cover(&self, bytes: &mut [u8], end: usize) {
        let mut at = 0;
        while at < end
            && let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty())
        {
            let length = self.at_start_of(rest);
            let found = rest.iter_mut().take(length.unwrap_or_default());
            found.for_each(|b| *b = STAR);
            at += length.unwrap_or(1);
        }
    }

    /// A text with this in place of every find.
    #[must_use]
    pub fn replace(&self, text: &str, with: &str) -> String {
        let mut replaced = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some(first) = rest.first() {
            let length = self.at_start_of(rest);
            match length {
                Some(_) => replaced.extend_from_slice(with.as_bytes()),
                None => replaced.push(*first),
            }
            rest = rest.get(length.unwrap_or(1)..).unwrap_or_default();
        }
        String::from_utf8(replaced)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

impl fmt::Debug for SecretForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A value as servers may repeat it.
#[must_use]
pub fn forms_of(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec()];
    for alphabet in [&STANDARD, &URL_SAFE] {
        forms.extend((0..3).filter_map(|before| within_base64(alphabet, value, before)));
    }
    let hex = |format: fn(&u8) -> String| value.iter().map(format).collect::<String>();
    forms.push(hex(|b| format!("{b:02x}")).into_bytes());
    forms.push(hex(|b| format!("{b:02X}")).into_bytes());
    let percent = |format: fn(u8) -> String| -> Vec<u8> {
        let one = |b: &u8| match b {
            b'-' | b'.' | b'_' | b'~' => char::from(*b).to_string(),
            b if b.is_ascii_alphanumeric() => char::from(*b).to_string(),
            b => format(*b),
        };
        value.iter().map(one).collect::<String>().into_bytes()
    };
    forms.push(percent(|b| format!("%{b:02X}")));
    forms.push(percent(|b| format!("%{b:02x}")));
    if let Ok(text) = str::from_utf8(value) {
        let quoted = serde_json::Value::from(text).to_string();
        let inner = quoted.trim_start_matches('"').strip_suffix('"');
        let inner = inner.unwrap_or_default();
        forms.push(inner.as_bytes().to_vec());
        forms.push(inner.replace('/', "\\/").into_bytes());
        forms.push(text.chars().rev().collect::<String>().into_bytes());
    }
    forms
}

/// The part of a base64 text that a value alone decides, when so many bytes (modulo 3) stand before
/// it.
fn within_base64(alphabet: &impl base64::Engine, value: &[u8], before: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value);
    let encoded = alphabet.encode(&bytes);
    let from = (before * 8).div_ceil(6);
    let to = bytes.len() * 8 / 6;
    let part = encoded.get(from..to)?;
    (part.len() >= ENCODED_BYTES_MIN).then(|| part.as_bytes().to_vec())
}

/// What a `Basic` value encodes: user and password, and the password.
#[must_use]
pub fn forms_of_basic(value: &str) -> Vec<Vec<u8>> {
    let Ok(decoded) = STANDARD.decode(value) else {
        return Vec::new();
    };
    let colon = decoded.iter().position(|b| *b == b':');
    let password = colon.and_then(|at| decoded.get(at + 1..));
    let mut forms = password.map(forms_of).unwrap_or_default();
    forms.extend(forms_of(&decoded));
    forms
}
