//! Where the logins of registries are: in variables for one registry, and in the file of docker.

use std::path::PathBuf;

use openprogram_core::secret::Secret;

use super::Variables;
use crate::fetch::Logins;

/// The registry that the login in the next two variables is for, `HOST` or `HOST:PORT`.
pub const REGISTRY_VARIABLE: &str = "OPENPROGRAM_REGISTRY";
const USER: &str = "OPENPROGRAM_REGISTRY_USER";
const PASSWORD: &str = "OPENPROGRAM_REGISTRY_PASSWORD";

/// The logins that variables name. Nothing is read.
pub(super) fn logins(variables: Variables<'_>) -> Logins {
    let text = |name: &str| {
        let value = variables(name)?.into_string().ok()?;
        (!value.trim().is_empty()).then(|| value.trim().to_owned())
    };
    let set = match (text(REGISTRY_VARIABLE), text(USER), text(PASSWORD)) {
        (Some(registry), Some(user), Some(password)) => {
            Some((registry, user, Secret::new(password)))
        }
        _ => None,
    };
    let folder = |name: &str| {
        variables(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let docker = folder("DOCKER_CONFIG").or_else(|| Some(folder("HOME")?.join(".docker")));
    Logins {
        set,
        docker_config: docker.map(|folder| folder.join("config.json")),
    }
}
