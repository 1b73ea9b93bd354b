//! The reference of an artifact: `oci://REGISTRY/REPOSITORY:TAG` or `@sha256:…`.

use std::fmt;

use url::Url;

use super::FetchError;
use super::place::{checked, is_loopback};

/// Longest name of a repository, as registries have it.
const REPOSITORY_BYTES_MAX: usize = 255;
/// Longest tag, as registries have it.
const TAG_BYTES_MAX: usize = 128;

/// A checked reference. It names a tag, a digest of a manifest, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl Reference {
    /// Reads a reference with its scheme.
    ///
    /// # Errors
    /// When it has another form, or names neither a tag nor a digest.
    pub fn parse(source: &str) -> Result<Self, FetchError> {
        let refused = |message: &str| FetchError::Reference {
            source_text: source.chars().take(300).collect(),
            message: message.to_owned(),
        };
        let after = source.split_once("://").map_or(source, |(_, rest)| rest);
        let Some((registry, rest)) = after.split_once('/') else {
            return Err(refused("it looks like `oci://REGISTRY/REPOSITORY:TAG`"));
        };
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (rest, None),
        };
        let (repository, tag) = match rest.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (rest, None),
        };
        if repository.len() > REPOSITORY_BYTES_MAX || !repository.split('/').all(is_repository_part)
        {
            return Err(refused(
                "the repository is lower-case words of letters and digits, joined by `/`, `-`, \
                 `_` and `.`",
            ));
        }
        if !tag.is_none_or(is_tag) {
            return Err(refused("the tag is letters, digits, `-`, `_` and `.`"));
        }
        if !digest.is_none_or(is_sha256) {
            return Err(refused(
                "the digest is `sha256:` and 64 hexadecimal digits in lower case",
            ));
        }
        if tag.is_none() && digest.is_none() {
            return Err(refused(
                "it names neither a tag nor a digest; add `:TAG` or `@sha256:…`",
            ));
        }
        let reference = Self {
            registry: registry.to_ascii_lowercase(),
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        };
        let base = reference.base()?;
        if registry.contains(['@', '?', '#', '\\']) || base.path() != "/" {
            return Err(refused("the registry is `HOST` or `HOST:PORT`"));
        }
        Ok(reference)
    }

    /// The registry, `HOST` or `HOST:PORT`.
    #[must_use]
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag.
    pub(super) fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest of the manifest.
    pub(super) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// What is asked for: the digest where there is one, whatever the tag is.
    pub(super) fn wanted(&self) -> &str {
        let wanted = self.digest.as_ref().or(self.tag.as_ref());
        wanted.map_or("latest", String::as_str)
    }

    /// Where the registry is. One on this machine needs no TLS.
    pub(super) fn base(&self) -> Result<Url, FetchError> {
        // The name by which people know it serves no artifacts.
        let host = match self.registry.as_str() {
            "docker.io" => "registry-1.docker.io",
            other => other,
        };
        let plain = Url::parse(&format!("http://{host}/"));
        match plain {
            Ok(url) if is_loopback(&url) => Ok(url),
            _ => checked(&format!("https://{host}/")),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oci://{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

fn is_repository_part(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    part.starts_with(is_word)
        && part.ends_with(is_word)
        && part
            .chars()
            .all(|c| is_word(c) || matches!(c, '.' | '_' | '-'))
        && !part.contains("..")
}

fn is_tag(tag: &str) -> bool {
    let is_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !tag.is_empty()
        && tag.len() <= TAG_BYTES_MAX
        && tag.chars().all(is_char)
        && !tag.starts_with(['.', '-'])
}

/// Whether a text is a digest as we take it.
pub(super) fn is_sha256(text: &str) -> bool {
    let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("sha256:")
        .is_some_and(|hash| hash.len() == 64 && hash.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_registry_a_repository_and_a_tag_or_a_digest() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (reference, base) in [
            ("oci://ghcr.io/acme/shop:1.0".to_owned(), "https://ghcr.io/"),
            (
                "oci://docker.io/acme/shop:1".to_owned(),
                "https://registry-1.docker.io/",
            ),
            (
                "oci://host:5000/a/b/c_d--e:v1".to_owned(),
                "https://host:5000/",
            ),
            (
                "oci://127.0.0.1:5000/shop:v1".to_owned(),
                "http://127.0.0.1:5000/",
            ),
            (
                "oci://localhost:5000/shop:v1".to_owned(),
                "http://localhost:5000/",
            ),
            ("oci://[::1]:5000/shop:v1".to_owned(), "http://[::1]:5000/"),
            (format!("oci://host/shop@{digest}"), "https://host/"),
            (format!("oci://host/shop:1@{digest}"), "https://host/"),
        ] {
            let parsed = Reference::parse(&reference).unwrap();
            assert_eq!(parsed.to_string(), reference);
            assert_eq!(parsed.base().unwrap().as_str(), base);
        }
        for reference in [
            "oci://host",
            "oci://host/",
            "oci:///shop:1",
            "oci://host/shop",
            "oci://host/shop:",
            "oci://host/shop:a/b",
            "oci://host/shop:a b",
            "oci://host/Shop:1",
            "oci://host/a//b:1",
            "oci://host/../b:1",
            "oci://host/a/../../x:1",
            "oci://host/shop?x:1",
            "oci://user@host/shop:1",
            "oci://user:pass@host/shop:1",
            "oci://ho st/shop:1",
            "oci://host:x/shop:1",
            "oci://host/shop@sha256:00",
            "oci://host/shop@sha512:00",
            "oci://host/shop:1@",
        ] {
            let parsed = Reference::parse(reference);
            assert!(parsed.is_err(), "{reference}: {parsed:?}");
        }
        let long = format!("oci://host/{}:1", "a".repeat(256));
        assert!(Reference::parse(&long).is_err());
    }
}
