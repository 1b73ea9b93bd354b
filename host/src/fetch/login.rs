//! Logins of registries: one that was set for a registry, and those that `docker login` wrote.
//!
//! A login belongs to one registry and is told to no other one. Programs that keep passwords
//! (`credHelpers`, `credsStore`) are not started.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{ErrorKind, Read as _};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::secret::Secret;
use serde::Deserialize;

use super::FetchError;
use crate::input::open_found;

/// Largest file of logins. It holds a line for each registry.
const LOGINS_BYTES_MAX: u64 = 1024 * 1024;

/// Where logins are.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Logins {
    /// A registry, and the user and password there.
    pub set: Option<(String, String, Secret)>,
    /// The file that `docker login` writes; it may not exist.
    pub docker_config: Option<PathBuf>,
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registry = self.set.as_ref().map(|(registry, ..)| registry);
        let mut shown = f.debug_struct("Logins");
        shown.field("set", &registry);
        shown.field("docker_config", &self.docker_config).finish()
    }
}

/// The login for one registry.
#[derive(Debug, Default)]
pub(super) struct Login {
    /// A whole `Authorization` of the basic kind.
    pub(super) basic: Option<Secret>,
    /// What a person should know when there is none.
    pub(super) remark: Option<String>,
}

#[derive(Deserialize)]
struct DockerConfig {
    #[serde(default)]
    auths: BTreeMap<String, DockerAuth>,
    #[serde(default, rename = "credHelpers")]
    helpers: BTreeMap<String, String>,
    #[serde(default, rename = "credsStore")]
    store: Option<String>,
}

#[derive(Deserialize)]
struct DockerAuth {
    #[serde(default)]
    auth: String,
}

impl Logins {
    /// The login for a registry.
    ///
    /// # Errors
    /// When the file of `docker login` is there and cannot be read.
    pub(super) fn of(&self, registry: &str) -> Result<Login, FetchError> {
        if let Some((of, user, password)) = &self.set
            && of.eq_ignore_ascii_case(registry)
        {
            let plain = format!("{user}:{}", password.expose());
            return Ok(Login {
                basic: Some(basic(&STANDARD.encode(plain))),
                remark: None,
            });
        }
        let Some(config) = self.read()? else {
            return Ok(Login::default());
        };
        let is_it = |key: &&String| registry_of(key).eq_ignore_ascii_case(registry);
        let key = config.auths.keys().find(is_it);
        let auth = key.map(|key| config.auths[key].auth.trim());
        if let Some(auth) = auth.filter(|auth| !auth.is_empty()) {
            let plain = STANDARD.decode(auth).ok();
            if plain.is_some_and(|plain| plain.contains(&b':')) {
                return Ok(Login {
                    basic: Some(basic(auth)),
                    remark: None,
                });
            }
            return Err(self.unusable(format!("the `auth` of `{registry}` is no login")));
        }
        let is_helped =
            config.helpers.keys().any(|key| is_it(&key)) || key.is_some() && config.store.is_some();
        let remark = is_helped.then(|| {
            "docker keeps its login in a credential helper, which is not asked".to_owned()
        });
        Ok(Login {
            basic: None,
            remark,
        })
    }

    fn read(&self) -> Result<Option<DockerConfig>, FetchError> {
        let Some(path) = &self.docker_config else {
            return Ok(None);
        };
        let file = match open_found(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unusable(error.to_string())),
        };
        let mut bytes = Vec::new();
        let read = file.take(LOGINS_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.unusable(error.to_string()))?;
        if bytes.len() as u64 > LOGINS_BYTES_MAX {
            return Err(self.unusable(format!("it is larger than {LOGINS_BYTES_MAX} bytes")));
        }
        // What the parser quotes may be a password.
        let config = serde_json::from_slice(&bytes);
        let config = config.map_err(|error| {
            let (line, column) = (error.line(), error.column());
            self.unusable(format!(
                "line {line}, column {column}: it is not of that form"
            ))
        })?;
        Ok(Some(config))
    }

    fn unusable(&self, message: String) -> FetchError {
        let path = self.docker_config.as_ref();
        FetchError::Logins {
            path: path.map_or_else(String::new, |path| path.display().to_string()),
            message,
        }
    }
}

/// The registry of a key as docker writes it, with or without a scheme and a path.
fn registry_of(key: &str) -> &str {
    let key = key.split_once("://").map_or(key, |(_, rest)| rest);
    let host = key.split('/').next().unwrap_or(key);
    if host == "index.docker.io" {
        "docker.io"
    } else {
        host
    }
}

fn basic(encoded: &str) -> Secret {
    Secret::verbatim(format!("Basic {encoded}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_for_its_registry_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let auth = STANDARD.encode("me:from-docker");
        let text = format!(
            "{{\"auths\": {{\"https://index.docker.io/v1/\": {{\"auth\": \"{auth}\"}}, \
             \"one.example:5000\": {{\"auth\": \"{auth}\", \"email\": \"\"}}, \
             \"kept.example\": {{}}}}, \"credsStore\": \"desktop\", \"other\": 1}}"
        );
        std::fs::write(&path, text).unwrap();
        let logins = Logins {
            set: Some(("Set.example".to_owned(), "u".to_owned(), Secret::new("pw"))),
            docker_config: Some(path.clone()),
        };
        let of = |registry: &str| logins.of(registry).unwrap();
        let docker = format!("Basic {auth}");
        for (registry, expected) in [
            ("set.example", Some("Basic dTpwdw==")),
            ("docker.io", Some(docker.as_str())),
            ("one.example:5000", Some(docker.as_str())),
            ("one.example", None),
            ("set.example:5000", None),
            ("kept.example", None),
            ("evil-set.example", None),
        ] {
            let login = of(registry);
            assert_eq!(
                login.basic.as_ref().map(Secret::expose),
                expected,
                "{registry}"
            );
        }
        assert!(of("kept.example").remark.is_some());
        assert!(!format!("{logins:?}").contains("pw"));

        std::fs::write(&path, "{\"auths\": {\"a\": {\"auth\": 7}}}").unwrap();
        assert!(logins.of("other").is_err());
        std::fs::write(&path, "{\"auths\": {\"a\": {\"auth\": \"hunter2\"}}}").unwrap();
        let error = logins.of("a").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(logins.of("other").unwrap().basic.is_none());
    }
}
