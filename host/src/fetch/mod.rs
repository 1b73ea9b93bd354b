//! Fetches components from other machines: files over https, and artifacts of OCI registries.
//!
//! Everything that a server sends is bounded and belongs to nobody: what it is taken for is decided
//! by its digest, and by whoever calls. Nothing here writes a file.

mod error;
mod login;
mod manifest;
mod place;
mod reference;
mod registry;
mod web;

use std::sync::OnceLock;

use url::Url;

pub use self::error::FetchError;
pub use self::login::Logins;
pub use self::reference::Reference;
use self::registry::Registry;
pub use self::web::WebOptions;
use self::web::{Get, Web};

/// The largest signature file, in bytes: one of another kind has some hundreds, a bundle some
/// thousands.
pub const SIGNATURE_BYTES_MAX: u64 = 64 * 1024;
/// The extensions of signature files beside a component: of the signature alone, and of a bundle.
pub const SIGNATURE_EXTENSIONS: [&str; 2] = ["sig", "sigstore.json"];

/// A component on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// A file behind a URL.
    Web(Url),
    /// An artifact of a registry.
    Oci(Reference),
}

/// What was fetched. Its digest was compared where one was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes of the component, as they are claimed to be.
    pub bytes: Vec<u8>,
    /// The digest of the manifest of an artifact that names them.
    pub manifest: Option<String>,
}

/// One signature that a server has of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteSignature {
    /// The content of a file with one of [`SIGNATURE_EXTENSIONS`], which signs the bytes.
    File {
        /// Its URL.
        place: String,
        /// What it holds.
        content: Vec<u8>,
    },
    /// A signature of a registry, which signs a text that names the digest of the manifest.
    Artifact {
        /// The text that is signed.
        payload: Vec<u8>,
        /// The signature in base64.
        signature: String,
    },
}

impl Remote {
    /// What a source means when it is a URL; `None` when it has no scheme, as a path.
    ///
    /// # Errors
    /// When components are not fetched by that scheme, or the URL cannot be used.
    pub fn parse(source: &str) -> Result<Option<Self>, FetchError> {
        let is_scheme_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let scheme = source.split_once("://").map(|(scheme, _)| scheme);
        let scheme = scheme.filter(|s| !s.is_empty() && s.chars().all(is_scheme_char));
        match scheme.map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("oci") => Ok(Some(Self::Oci(Reference::parse(source)?))),
            Some("http" | "https") => Ok(Some(Self::Web(place::checked(source)?))),
            Some(scheme) => Err(FetchError::Scheme {
                source_text: source.to_owned(),
                scheme: scheme.to_owned(),
            }),
        }
    }

    /// The file name or the repository, without what stands before it: what a component is called
    /// that is not named otherwise.
    #[must_use]
    pub fn file_name(&self) -> &str {
        let path = match self {
            Self::Web(url) => url.path(),
            Self::Oci(reference) => reference.repository(),
        };
        path.rsplit('/').next().unwrap_or(path)
    }
}

impl std::fmt::Display for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Web(url) => url.fmt(f),
            Self::Oci(reference) => reference.fmt(f),
        }
    }
}

/// Fetches. Nothing is set up before the first request.
#[derive(Debug)]
pub struct Fetcher {
    options: WebOptions,
    logins: Logins,
    web: OnceLock<Web>,
}

impl Fetcher {
    /// A fetcher that logs in where it has a login and is asked for one.
    #[must_use]
    pub fn new(options: WebOptions, logins: Logins) -> Self {
        Self {
            options,
            logins,
            web: OnceLock::new(),
        }
    }

    /// Fetches what a source is now.
    ///
    /// # Errors
    /// When it cannot be reached, has more than `bytes_max` bytes, or is no component by its manifest.
    pub async fn fetch(&self, remote: &Remote, bytes_max: u64) -> Result<Fetched, FetchError> {
        match remote {
            Remote::Web(url) => {
                let get = Get::new(url.clone(), "the file", bytes_max);
                let bytes = self.web()?.get(get).await?.successful()?;
                Ok(Fetched {
                    bytes,
                    manifest: None,
                })
            }
            Remote::Oci(reference) => self.registry(reference)?.pull(bytes_max).await,
        }
    }

    /// Fetches an artifact by the digest of its manifest. Where the registry does not have that any
    /// more, the tag is looked at, so that a moved one is told.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`], and [`FetchError::Moved`].
    pub async fn fetch_pinned(
        &self,
        reference: &Reference,
        manifest: &str,
        bytes_max: u64,
    ) -> Result<Fetched, FetchError> {
        let registry = &mut self.registry(reference)?;
        registry.pull_pinned(manifest, bytes_max).await
    }

    /// The signatures that stand beside a component; none when there is no such thing.
    ///
    /// # Errors
    /// When a server fails otherwise than by not having one, or what it has is too large or not of
    /// that form.
    pub async fn signatures(
        &self,
        remote: &Remote,
        manifest: Option<&str>,
    ) -> Result<Vec<RemoteSignature>, FetchError> {
        match (remote, manifest) {
            (Remote::Web(url), _) => {
                let mut found = Vec::new();
                for extension in SIGNATURE_EXTENSIONS {
                    let mut url = url.clone();
                    url.set_path(&format!("{}.{extension}", url.path()));
                    let get = Get::new(url.clone(), "the signature", SIGNATURE_BYTES_MAX);
                    let answer = self.web()?.get(get).await?;
                    // Stores of files say `403` of what they do not have. Whoever can say so falsely
                    // can say `404` as well.
                    if answer.is_absent() || answer.status == 403 {
                        continue;
                    }
                    found.push(RemoteSignature::File {
                        place: url.to_string(),
                        content: answer.successful()?,
                    });
                }
                Ok(found)
            }
            (Remote::Oci(reference), Some(manifest)) => {
                self.registry(reference)?.signatures(manifest).await
            }
            (Remote::Oci(_), None) => Ok(Vec::new()),
        }
    }

    fn registry<'a>(&'a self, reference: &'a Reference) -> Result<Registry<'a>, FetchError> {
        let login = self.logins.of(reference.registry())?;
        Registry::new(self.web()?, reference, login)
    }

    fn web(&self) -> Result<&Web, FetchError> {
        if let Some(web) = self.web.get() {
            return Ok(web);
        }
        let made = Web::new(&self.options)?;
        Ok(self.web.get_or_init(|| made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_url_by_its_scheme_and_a_path_otherwise() {
        for path in ["a.wasm", "../b", "/c.wasm", "://x", "oci:x", "a b://c"] {
            assert_eq!(Remote::parse(path).unwrap(), None, "{path}");
        }
        for (source, shown, name) in [
            ("https://host/a/b.wasm", "https://host/a/b.wasm", "b.wasm"),
            (
                "HTTPS://Host:443/b.wasm?x",
                "https://host/b.wasm?x",
                "b.wasm",
            ),
            ("http://127.0.0.1:8/b", "http://127.0.0.1:8/b", "b"),
            ("oci://host/a/shop:1", "oci://host/a/shop:1", "shop"),
        ] {
            let remote = Remote::parse(source).unwrap().unwrap();
            assert_eq!(remote.to_string(), shown);
            assert_eq!(remote.file_name(), name);
        }
        let error = Remote::parse("git+ssh://host/a").unwrap_err().to_string();
        assert_eq!(
            error,
            "`git+ssh://host/a` cannot be fetched: components come by `https` and `oci`, not by \
             `git+ssh`; download it, and add the `.wasm` file"
        );
    }
}
