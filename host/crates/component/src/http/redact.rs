//! Takes secrets out of what comes back: headers, bodies in pieces, logs.
//!
//! Every byte of a find becomes a star, so that lengths stay true. What is found is told by
//! `core::secret`; of a value that was sent as `Basic`, what it encodes is found too.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use openprogram_core::grant::{HttpTarget, SecretGrant};
use openprogram_core::secret::{SecretForms, forms_of, forms_of_basic};

use crate::permissions::Permissions;

/// What is taken out of what comes back to a component.
///
/// Only the servers that a secret is sent to can tell it, so only their answers are searched for it.
/// A search of others would tell the component whether what its own server says is a secret.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// The forms of all of its secrets, for what only people read.
    all: Forms,
    /// Those of the secrets that servers are sent, by any place on the server.
    by_origin: Vec<(HttpTarget, Arc<Forms>)>,
}

impl Patterns {
    /// Those of the secrets that are set.
    pub(crate) fn of(permissions: &Permissions) -> Self {
        let mut by_origin: Vec<(HttpTarget, Arc<Forms>)> = Vec::new();
        let grants = &permissions.grants.secrets;
        for target in grants.iter().map(|grant| grant.what.target.target()) {
            if by_origin
                .iter()
                .any(|(known, _)| known.is_same_origin(target))
            {
                continue;
            }
            let goes_there = |grant: &SecretGrant| grant.target.target().is_same_origin(target);
            let forms = Forms::of(permissions, goes_there);
            by_origin.push((target.clone(), Arc::new(forms)));
        }
        Self {
            all: Forms::of(permissions, |_| true),
            by_origin,
        }
    }

    /// The forms that an answer of the server of this target is searched for; `None` where it is sent
    /// no secret, on whatever path.
    pub(super) fn of_server(&self, target: &HttpTarget) -> Option<&Arc<Forms>> {
        let mut servers = self.by_origin.iter();
        let found = servers.find(|(server, _)| server.is_same_origin(target));
        found.map(|(_, forms)| forms)
    }

    /// A text for people without any secret.
    pub(crate) fn clean(&self, text: String) -> String {
        self.all.0.clean(text)
    }
}

/// The forms of some secrets.
#[derive(Debug, Default)]
pub(super) struct Forms(SecretForms);

impl Forms {
    /// Those of the secrets that are set and have a grant like this.
    fn of(permissions: &Permissions, wanted: impl Fn(&SecretGrant) -> bool) -> Self {
        let mut forms = Vec::new();
        for (variable, secret) in &permissions.secrets {
            let grants = permissions.grants.secrets.iter().map(|grant| &grant.what);
            let grants = || {
                let of_variable = |grant: &&SecretGrant| grant.variable == *variable;
                grants.clone().filter(of_variable)
            };
            if !grants().any(&wanted) {
                continue;
            }
            forms.extend(forms_of(secret.expose().as_bytes()));
            let is_basic =
                |grant: &SecretGrant| grant.prefix.trim_end().eq_ignore_ascii_case("basic");
            if grants().any(is_basic) {
                forms.extend(forms_of_basic(secret.expose()));
            }
        }
        Self(SecretForms::new(forms))
    }

    /// Headers without secrets. One that has a secret in its name is left out.
    pub(super) fn clean_headers(&self, headers: HeaderMap) -> HeaderMap {
        if self.0.is_empty() {
            return headers;
        }
        let mut cleaned = HeaderMap::with_capacity(headers.len());
        let mut last: Option<HeaderName> = None;
        for (name, value) in headers {
            let Some(name) = name.or_else(|| last.clone()) else {
                continue;
            };
            last = Some(name.clone());
            if self.is_in_name(&name) {
                continue;
            }
            let mut bytes = value.as_bytes().to_vec();
            let end = bytes.len();
            self.0.cover(&mut bytes, end);
            let value = HeaderValue::from_bytes(&bytes).unwrap_or(value);
            cleaned.append(name, value);
        }
        cleaned
    }

    /// Names are lower case on arrival.
    fn is_in_name(&self, name: &HeaderName) -> bool {
        let name = name.as_str();
        let mut forms = self.0.in_text().map(str::to_ascii_lowercase);
        forms.any(|form| name.contains(&form))
    }
}

/// Takes secrets out of a body that comes in pieces.
///
/// The last bytes, as many as may be the beginning of a secret, come with the next piece or at the
/// end, whatever they are: to hold back only what looks like a beginning would tell what looks like
/// one, and so the secret, byte by byte.
#[derive(Debug)]
pub(super) struct Stream {
    /// What is searched for; `None` for a body in which no secret can be.
    forms: Option<Arc<Forms>>,
    held: Vec<u8>,
}

impl Stream {
    pub(super) fn new(forms: Option<Arc<Forms>>) -> Self {
        Self {
            forms: forms.filter(|forms| !forms.0.is_empty()),
            held: Vec::new(),
        }
    }

    /// What can be given on once this piece has come; may be nothing.
    pub(super) fn push(&mut self, piece: Bytes) -> Bytes {
        let Some(forms) = &self.forms else {
            return piece;
        };
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(&piece);
        let settled = bytes.len().saturating_sub(forms.0.n_open());
        forms.0.cover(&mut bytes, settled);
        self.held = bytes.split_off(settled);
        bytes.into()
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> Bytes {
        let mut bytes = std::mem::take(&mut self.held);
        if let Some(forms) = &self.forms {
            let end = bytes.len();
            forms.0.cover(&mut bytes, end);
        }
        bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use openprogram_core::grant::Grants;
    use openprogram_core::secret::Secret;

    use super::*;

    fn patterns(value: &str, grant: &str) -> Forms {
        Forms::of(&permissions(value, grant), |_| true)
    }

    fn permissions(value: &str, grant: &str) -> Permissions {
        let grants = Grants {
            secrets: vec![grant.parse().unwrap()],
            ..Grants::default()
        };
        Permissions {
            grants: Arc::new(grants),
            secrets: vec![("KEY".to_owned(), Secret::new(value))],
            ..Permissions::default()
        }
    }

    fn bearer(value: &str) -> Forms {
        patterns(value, "KEY=https://a.example/")
    }

    /// The text as it comes in pieces of each size, which must not matter.
    #[track_caller]
    fn check(forms: Forms, text: &str, expected: &str) {
        let forms = Arc::new(forms);
        for size in 1..=text.len() {
            let mut stream = Stream::new(Some(Arc::clone(&forms)));
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                out.extend(stream.push(Bytes::copy_from_slice(piece)));
            }
            out.extend(stream.finish());
            assert_eq!(
                String::from_utf8(out).unwrap(),
                expected,
                "pieces of {size}"
            );
        }
        assert_eq!(forms.0.clean(text.to_owned()), expected);
    }

    #[test]
    fn a_secret_is_taken_out_wherever_the_pieces_end() {
        check(
            bearer("s3cr3t"),
            "a s3cr3t, s3cr3ts3cr3t.",
            "a ******, ************.",
        );
        check(
            bearer("s3cr3t"),
            "s3cr s3cs3cr3t s3cr3",
            "s3cr s3c****** s3cr3",
        );
        check(bearer("aaab"), "aaaaaab", "aaa****");
    }

    #[test]
    fn what_is_held_back_says_nothing_of_a_secret() {
        let forms = Arc::new(bearer("s3cr3t"));
        let lengths = |text: &str| {
            let mut stream = Stream::new(Some(Arc::clone(&forms)));
            let pieces = text.as_bytes().chunks(3).map(Bytes::copy_from_slice);
            pieces
                .map(|piece| stream.push(piece).len())
                .collect::<Vec<_>>()
        };
        let before = "x".repeat(100);
        for guess in ["s3cr3t", "s3cr3", "s", "eHMzY3", "733363", "no"] {
            let other = "x".repeat(guess.len());
            assert_eq!(
                lengths(&format!("{before}{guess}")),
                lengths(&format!("{before}{other}"))
            );
        }
    }

    #[test]
    fn only_answers_of_servers_that_get_a_secret_are_searched_for_it() {
        let patterns = Patterns::of(&permissions("s3cr3t", "KEY=https://a.example/v1/"));
        let forms = |url: &str| {
            let target = HttpTarget::parse(url).unwrap();
            patterns.of_server(&target).is_some()
        };
        assert!(forms("https://a.example/v1/x") && forms("https://A.example:443/dump"));
        for other in [
            "https://b.example/v1/",
            "http://a.example/v1/",
            "https://a.example:8443/",
        ] {
            assert!(!forms(other), "{other}");
        }
    }

    #[test]
    fn common_encodings_of_a_secret_are_taken_out_too() {
        let value = "p/4\"ss+wörd";
        let stars = |text: &str| "*".repeat(text.len());
        for form in [
            "p%2F4%22ss%2Bw%C3%B6rd",
            "p%2f4%22ss%2bw%c3%b6rd",
            "p/4\\\"ss+wörd",
            "p\\/4\\\"ss+wörd",
            "702f342273732b77c3b67264",
            "702F342273732B77C3B67264",
        ] {
            check(
                bearer(value),
                &format!("x{form}y"),
                &format!("x{}y", stars(form)),
            );
        }
    }

    #[test]
    fn base64_of_a_text_around_the_secret_does_not_hide_it() {
        for before in ["", "u", "us", "use", "user:"] {
            let encoded = STANDARD.encode(format!("{before}hunter2-hunter2{before}"));
            let cleaned = bearer("hunter2-hunter2").0.clean(encoded);
            let decoded = STANDARD.decode(cleaned.replace('*', "A")).unwrap();
            let decoded = String::from_utf8_lossy(&decoded).into_owned();
            assert!(!decoded.contains("unter"), "{before}: {decoded}");
        }
    }

    #[test]
    fn what_a_basic_value_encodes_is_taken_out_and_what_a_bearer_value_encodes_is_not() {
        let value = STANDARD.encode("user:open sesame");
        let basic = "KEY=https://a.example/ authorization: Basic";
        check(
            patterns(&value, basic),
            "user:open sesame",
            "****************",
        );
        check(
            patterns(&value, basic),
            "it is open sesame",
            "it is ***********",
        );
        check(bearer(&value), "open sesame", "open sesame");
    }

    #[test]
    fn headers_lose_the_secret_and_those_named_by_it_are_gone() {
        let mut headers = HeaderMap::new();
        headers.append("x-echo", HeaderValue::from_static("Bearer S3cr3t"));
        headers.append("x-echo", HeaderValue::from_static("other"));
        headers.append("x-s3cr3t", HeaderValue::from_static("1"));
        let cleaned = bearer("S3cr3t").clean_headers(headers);
        let shown: Vec<_> = cleaned.iter().map(|(n, v)| (n.as_str(), v)).collect();
        assert_eq!(
            format!("{shown:?}"),
            r#"[("x-echo", "Bearer ******"), ("x-echo", "other")]"#
        );
    }
}
