//! What the calls of one component may touch, in the form in which they use it: made once, when the
//! permissions are known, and shared by all of its calls.

use std::sync::Arc;

use openprogram_core::grant::{Access, GrantKind};

use crate::files::Folders;
use crate::http::Patterns;
use crate::permissions::Permissions;

/// The reach of one component. The default is none.
pub(crate) struct Reach {
    pub(crate) permissions: Arc<Permissions>,
    /// The granted folders.
    pub(crate) folders: Folders,
    /// The forms of its secrets, which are taken out of what comes back.
    pub(crate) patterns: Arc<Patterns>,
    /// Its variables as uses of their grants. A guest has them all from the start, and what it looks
    /// at is not seen.
    pub(crate) env_uses: Vec<Access>,
}

impl Reach {
    pub(crate) fn of(permissions: Permissions) -> Self {
        let permissions = Arc::new(permissions);
        Self {
            folders: Folders::of(&permissions),
            patterns: Arc::new(Patterns::of(&permissions)),
            env_uses: env_uses(&permissions),
            permissions,
        }
    }

    /// Whether a folder is granted under this path.
    pub(crate) fn has_dir(&self, path: &str) -> bool {
        self.folders.has(path)
    }

    /// Whether a variable is granted and set.
    pub(crate) fn has_env(&self, name: &str) -> bool {
        let mut set = self.permissions.variables.iter();
        set.any(|(variable, _)| variable == name)
    }
}

fn env_uses(permissions: &Permissions) -> Vec<Access> {
    let variables = permissions.variables.iter();
    let uses = variables.flat_map(|(name, _)| {
        let grants = permissions.grants.env.iter();
        let grants = grants.filter(move |grant| grant.what.name == *name);
        grants.map(move |grant| Access::granted(GrantKind::Env, name, grant.to_string()))
    });
    uses.collect()
}

impl Default for Reach {
    fn default() -> Self {
        Self::of(Permissions::default())
    }
}
