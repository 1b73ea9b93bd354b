//! What the calls of one component may touch, in the form in which they use it: made once, when the
//! permissions are known, and shared by all of its calls.

use std::sync::Arc;

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
}

impl Reach {
    pub(crate) fn of(permissions: Permissions) -> Self {
        let permissions = Arc::new(permissions);
        Self {
            folders: Folders::of(&permissions),
            patterns: Arc::new(Patterns::of(&permissions)),
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

impl Default for Reach {
    fn default() -> Self {
        Self::of(Permissions::default())
    }
}
