//! A registry as its distribution specification has it: manifests, blobs, and how it wants a login.
//!
//! Written here over the bounded client instead of taken from a library, because every answer has to
//! be bounded while it is read, and a login must reach no server but its own.

use openprogram_core::secret::Secret;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::login::Login;
use super::manifest::{self, Blob};
use super::place::{checked, is_same_server};
use super::reference::Reference;
use super::web::{Answer, Get, Web};
use super::{FetchError, Fetched, RemoteSignature, SIGNATURE_BYTES_MAX};

/// The largest manifest. One of a component has about a thousand bytes.
const MANIFEST_BYTES_MAX: u64 = 256 * 1024;
/// The largest answer of a server of tokens.
const TOKEN_BYTES_MAX: u64 = 64 * 1024;

/// Servers that give tokens for a registry of another name, which its operator says publicly.
const TOKEN_SERVERS: [(&str, &str); 2] = [
    ("registry-1.docker.io", "auth.docker.io"),
    ("registry.gitlab.com", "gitlab.com"),
];

/// One repository of a registry.
pub(super) struct Registry<'a> {
    web: &'a Web,
    reference: &'a Reference,
    base: Url,
    login: Login,
    /// What the registry wanted at last: a token or the login. A whole `Authorization`.
    authorization: Option<Secret>,
    /// The server of tokens that the login was not told to.
    withheld: Option<String>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl<'a> Registry<'a> {
    pub(super) fn new(
        web: &'a Web,
        reference: &'a Reference,
        login: Login,
    ) -> Result<Self, FetchError> {
        Ok(Self {
            web,
            base: reference.base()?,
            reference,
            login,
            authorization: None,
            withheld: None,
        })
    }

    /// What the reference stands for now.
    pub(super) async fn pull(mut self, bytes_max: u64) -> Result<Fetched, FetchError> {
        let answer = self.manifest(self.reference.wanted()).await?;
        let text = answer.successful()?;
        let digest = digest_of(&text);
        if let Some(expected) = self.reference.digest() {
            self.check("the manifest", expected, &digest)?;
        }
        self.component(&text, digest, bytes_max).await
    }

    /// What the manifest with this digest names.
    pub(super) async fn pull_pinned(
        &mut self,
        manifest: &str,
        bytes_max: u64,
    ) -> Result<Fetched, FetchError> {
        let answer = self.manifest(manifest).await?;
        let (reference, locked) = (self.reference.to_string(), manifest.to_owned());
        let text = match (answer.is_absent(), self.reference.tag()) {
            (false, _) => answer.successful()?,
            (true, None) => return Err(FetchError::Gone { reference, locked }),
            (true, Some(tag)) => {
                let answer = self.manifest(tag).await?;
                if answer.is_absent() {
                    return Err(FetchError::Gone { reference, locked });
                }
                let text = answer.successful()?;
                let found = digest_of(&text);
                if found != locked {
                    return Err(FetchError::Moved {
                        reference,
                        locked,
                        found,
                    });
                }
                text
            }
        };
        let digest = digest_of(&text);
        self.check("the manifest", manifest, &digest)?;
        self.component(&text, digest, bytes_max).await
    }

    /// The signatures of an artifact, which stand under a tag that is made of its digest.
    pub(super) async fn signatures(
        mut self,
        manifest: &str,
    ) -> Result<Vec<RemoteSignature>, FetchError> {
        let tag = format!("{}.sig", manifest.replace(':', "-"));
        let answer = self.manifest(&tag).await?;
        if answer.is_absent() {
            return Ok(Vec::new());
        }
        let found = manifest::signatures(&answer.successful()?);
        let found = found.map_err(|message| FetchError::Reference {
            source_text: format!("{}:{tag}", self.reference.repository()),
            message,
        })?;
        let mut signatures = Vec::new();
        for (blob, signature) in found {
            let payload = self
                .blob("the signature", &blob, SIGNATURE_BYTES_MAX)
                .await?;
            signatures.push(RemoteSignature::Artifact { payload, signature });
        }
        Ok(signatures)
    }

    async fn component(
        &mut self,
        text: &[u8],
        manifest: String,
        bytes_max: u64,
    ) -> Result<Fetched, FetchError> {
        let blob = manifest::component(text).map_err(|message| FetchError::NotAComponent {
            reference: self.reference.to_string(),
            message,
        })?;
        let bytes = self.blob("the component", &blob, bytes_max).await?;
        Ok(Fetched {
            bytes,
            manifest: Some(manifest),
        })
    }

    /// A blob, which has the digest that names it.
    async fn blob(
        &mut self,
        what: &'static str,
        blob: &Blob,
        bytes_max: u64,
    ) -> Result<Vec<u8>, FetchError> {
        let path = format!("blobs/{}", blob.digest);
        if blob.size > bytes_max {
            return Err(FetchError::TooLarge {
                url: self.url(&path)?.to_string(),
                what,
                max: bytes_max,
            });
        }
        // A registry that sends more than it said is cut there.
        let bytes = self.get(&path, what, blob.size, None).await?.successful()?;
        self.check(what, &blob.digest, &digest_of(&bytes))?;
        Ok(bytes)
    }

    async fn manifest(&mut self, tag_or_digest: &str) -> Result<Answer, FetchError> {
        let path = format!("manifests/{tag_or_digest}");
        let accept = Some(manifest::ACCEPT);
        self.get(&path, "the manifest", MANIFEST_BYTES_MAX, accept)
            .await
    }

    /// Asks, and asks again with what the registry wants when it wants something.
    async fn get(
        &mut self,
        path: &str,
        what: &'static str,
        bytes_max: u64,
        accept: Option<&'static str>,
    ) -> Result<Answer, FetchError> {
        let url = self.url(path)?;
        let get = |authorization| Get {
            accept,
            authorization,
            ..Get::new(url.clone(), what, bytes_max)
        };
        let told = self.authorization.clone();
        let answer = self.web.get(get(told.as_ref())).await?;
        if answer.status != 401 {
            return self.allowed(answer);
        }
        let told = self.authorize(&answer.challenges).await?;
        if told.is_none() {
            return self.allowed(answer);
        }
        let answer = self.web.get(get(told.as_ref())).await?;
        self.authorization.clone_from(&told);
        self.allowed(answer)
    }

    fn url(&self, path: &str) -> Result<Url, FetchError> {
        checked(&format!(
            "{}v2/{}/{path}",
            self.base,
            self.reference.repository()
        ))
    }

    /// What a registry wants to be told, by its challenge.
    async fn authorize(&mut self, challenges: &[String]) -> Result<Option<Secret>, FetchError> {
        let of_kind = |kind: &str| {
            challenges.iter().find_map(|challenge| {
                let (found, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
                found.eq_ignore_ascii_case(kind).then(|| rest.to_owned())
            })
        };
        if let Some(challenge) = of_kind("bearer") {
            return self.token(&challenge).await.map(Some);
        }
        if of_kind("basic").is_some() {
            return Ok(self.login.basic.clone());
        }
        Ok(None)
    }

    /// A token to read this repository, from the server that the registry names for that.
    async fn token(&mut self, challenge: &str) -> Result<Secret, FetchError> {
        let realm = parameter(challenge, "realm");
        let realm = realm.ok_or_else(|| self.no_access("it wants a token and names no server"))?;
        let mut url = checked(&realm)?;
        if self.base.scheme() == "https" && url.scheme() != "https" {
            return Err(self.no_access("it wants a token that does not come by https"));
        }
        if let Some(service) = parameter(challenge, "service") {
            url.query_pairs_mut().append_pair("service", &service);
        }
        // Never more than that, whatever it asks for.
        let scope = format!("repository:{}:pull", self.reference.repository());
        url.query_pairs_mut().append_pair("scope", &scope);
        let is_known = TOKEN_SERVERS.iter().any(|(registry, server)| {
            self.base.host_str() == Some(registry) && url.host_str() == Some(server)
        });
        let may_know = is_same_server(&self.base, &url) || is_known;
        let login = self.login.basic.as_ref().filter(|_| may_know);
        if self.login.basic.is_some() && !may_know {
            self.withheld = url.host_str().map(str::to_owned);
        }
        let get = Get {
            authorization: login,
            ..Get::new(url, "the token", TOKEN_BYTES_MAX)
        };
        let answer = self.web.get(get).await?;
        if matches!(answer.status, 401 | 403) {
            return Err(self.no_access("its server of tokens gives none"));
        }
        let token: Option<Token> = serde_json::from_slice(&answer.successful()?).ok();
        let token = token.and_then(|token| token.token.or(token.access_token));
        let token = token.filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| self.no_access("its server of tokens sent none"))?;
        Ok(Secret::verbatim(format!("Bearer {token}")))
    }

    /// The answer, unless it says that we may not.
    fn allowed(&self, answer: Answer) -> Result<Answer, FetchError> {
        match answer.status {
            401 | 403 => {
                let message = format!("the registry answered {}", answer.status);
                Err(self.no_access(&message))
            }
            _ => Ok(answer),
        }
    }

    fn no_access(&self, why: &str) -> FetchError {
        let registry = self.reference.registry();
        let advice = match (&self.withheld, &self.login) {
            (Some(server), _) => format!(
                "the login for `{registry}` was not told to `{server}`, which is another server"
            ),
            (None, Login { basic: Some(_), .. }) => {
                format!("the login for `{registry}` does not open it")
            }
            (None, Login { remark, .. }) => {
                let remark = remark.as_ref().map(|remark| format!("{remark}; "));
                format!(
                    "{}set OPENPROGRAM_REGISTRY to `{registry}`, and OPENPROGRAM_REGISTRY_USER and \
                     OPENPROGRAM_REGISTRY_PASSWORD, or use `docker login {registry}`",
                    remark.unwrap_or_default()
                )
            }
        };
        FetchError::NoAccess {
            reference: self.reference.to_string(),
            message: format!("{why}; {advice}"),
        }
    }

    fn check(&self, what: &'static str, expected: &str, found: &str) -> Result<(), FetchError> {
        if expected == found {
            return Ok(());
        }
        Err(FetchError::Digest {
            reference: self.reference.to_string(),
            what,
            expected: expected.to_owned(),
            found: found.to_owned(),
        })
    }
}

/// The value of a parameter of a challenge.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim_matches([' ', ',']);
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = next;
    }
    None
}

fn digest_of(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_of_a_challenge_is_found_by_its_name() {
        let challenge = "realm=\"https://a/token?x=1,2\", service=reg, scope=\"a:b,c\"";
        for (name, value) in [
            ("realm", Some("https://a/token?x=1,2")),
            ("Service", Some("reg")),
            ("scope", Some("a:b,c")),
            ("other", None),
        ] {
            assert_eq!(parameter(challenge, name).as_deref(), value);
        }
        assert_eq!(parameter("realm=\"open", "realm"), None);
    }
}
