//! The granted folders of one component: found and opened once, and looked at again before each
//! call, since a folder can be replaced meanwhile.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use openprogram_core::grant::{
    FolderAccess, FolderGrant, Grant, GrantKind, revoke_command, shell_word,
};
use openprogram_core::guest::CallError;
use wasmtime_wasi::filesystem::Dir as OpenDir;
use wasmtime_wasi::{FsPerms, OpenMode};

use super::names::{is_bad_on_windows, is_own};
use super::protected::{Identity, Protected};
use crate::permissions::Permissions;

/// The granted folders of one component. Nothing is opened before the first call.
#[derive(Default)]
pub(crate) struct Folders {
    component: String,
    granted: Vec<(Grant<FolderGrant>, PathBuf)>,
    places: Vec<PathBuf>,
    opened: Mutex<Option<Arc<OpenFolders>>>,
}

/// The folders as they are open, with what is kept from guests in them.
#[derive(Default)]
pub(crate) struct OpenFolders {
    pub(super) folders: Vec<OpenFolder>,
    pub(super) protected: Arc<Protected>,
}

/// One folder under the name that the guest knows.
pub(super) struct OpenFolder {
    /// The grant that lets it be read, and the one that lets it be written.
    pub(super) read: Grant<FolderGrant>,
    pub(super) write: Option<Grant<FolderGrant>>,
    pub(super) dir: OpenDir,
    real: PathBuf,
    identity: Option<Identity>,
}

impl Folders {
    pub(crate) fn of(permissions: &Permissions) -> Self {
        Self {
            component: permissions.component.clone(),
            granted: permissions.folders.clone(),
            places: permissions.protected.clone(),
            opened: Mutex::default(),
        }
    }

    /// The folders for one call. It makes a few calls of the system, and none without folders.
    ///
    /// # Errors
    /// [`CallError::Denied`] for a folder that is not there, is none, or is never granted.
    pub(crate) fn open(&self) -> Result<Arc<OpenFolders>, CallError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.as_ref().filter(|opened| opened.is_still()) {
            return Ok(Arc::clone(opened));
        }
        let fresh = Arc::new(self.open_all()?);
        *opened = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    fn open_all(&self) -> Result<OpenFolders, CallError> {
        if self.granted.is_empty() {
            return Ok(OpenFolders::default());
        }
        let protected = Protected::of(&self.places);
        let mut folders: Vec<OpenFolder> = Vec::new();
        for (grant, path) in &self.granted {
            let folder = self.open_one(grant, path, &protected)?;
            let name = guest_name(&grant.what);
            let same = |known: &&mut OpenFolder| guest_name(&known.read.what) == name;
            match folders.iter_mut().find(same) {
                None => folders.push(folder),
                Some(known) if known.real == folder.real => known.join(folder),
                Some(known) => {
                    let other = &known.read;
                    let problem = format!(
                        "shows another folder under the name `{name}` than `{other}`; give one of \
                         them another name with `=NAME`"
                    );
                    return Err(self.refused(grant, problem));
                }
            }
        }
        Ok(OpenFolders {
            folders,
            protected: Arc::new(protected),
        })
    }

    fn open_one(
        &self,
        grant: &Grant<FolderGrant>,
        path: &Path,
        protected: &Protected,
    ) -> Result<OpenFolder, CallError> {
        let real = path.canonicalize().map_err(|error| {
            let path = shell_word(&path.to_string_lossy());
            let problem = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    format!("means a folder that is not there; make it with `mkdir -p {path}`")
                }
                _ => format!("means {path}, which cannot be opened: {error}"),
            };
            self.refused(grant, problem)
        })?;
        let is_ours = real
            .components()
            .any(|part| is_own(&part.as_os_str().to_string_lossy()))
            || protected.holds(&real);
        if is_ours {
            let problem = "means what belongs to this program itself, which is never granted";
            return Err(self.refused(grant, problem.to_owned()));
        }
        if cfg!(windows) && guest_name(&grant.what).split('/').any(is_bad_on_windows) {
            let problem =
                "has a name that Windows reads otherwise; give it another one with `=NAME`";
            return Err(self.refused(grant, problem.to_owned()));
        }
        if !real.is_dir() {
            let problem = "means a file; grant the folder that it lies in".to_owned();
            return Err(self.refused(grant, problem));
        }
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(|error| {
            let problem = format!("means a folder that cannot be opened: {error}");
            self.refused(grant, problem)
        })?;
        let writes = grant.what.access == FolderAccess::ReadWrite;
        Ok(OpenFolder {
            read: grant.clone(),
            write: writes.then(|| grant.clone()),
            dir: open_dir(dir.into_std_file(), writes),
            identity: Identity::at(&real),
            real,
        })
    }

    fn refused(&self, grant: &Grant<FolderGrant>, problem: String) -> CallError {
        let line = grant.to_string();
        let component = &self.component;
        let revoke = revoke_command(component, GrantKind::Dirs, &line);
        CallError::Denied {
            message: format!(
                "the grant `{line}` of `{component}` {problem}, or take the grant back with \
                 `{revoke}`"
            ),
            what: line,
        }
    }
}

impl OpenFolders {
    /// Whether every path still leads to the folder that is open.
    fn is_still(&self) -> bool {
        let is_still = |folder: &OpenFolder| Identity::at(&folder.real) == folder.identity;
        self.folders.iter().all(is_still)
    }
}

impl OpenFolder {
    /// Adds what another grant allows in the same folder; a grant that asks nobody wins.
    fn join(&mut self, other: Self) {
        if other.write.is_some() && self.write.is_none() {
            self.dir = other.dir;
        }
        if self.read.asks && !other.read.asks {
            self.read = other.read;
        }
        match (&self.write, other.write) {
            (None, Some(write)) => self.write = Some(write),
            (Some(known), Some(write)) if known.asks && !write.asks => self.write = Some(write),
            _ => {}
        }
    }
}

fn open_dir(folder: std::fs::File, writes: bool) -> OpenDir {
    if writes {
        let mode = OpenMode::READ | OpenMode::WRITE;
        return OpenDir::new(folder, FsPerms::ReadWrite, mode, false);
    }
    OpenDir::new(folder, FsPerms::ReadOnly, OpenMode::READ, false)
}

/// The name of a folder for the guest, without what means nothing in it.
fn guest_name(grant: &FolderGrant) -> String {
    let parts = grant.guest_path.split('/');
    let parts: Vec<_> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}
