//! The granted folders of one component: found and opened once, and looked at again before each
//! call, since a folder can be replaced meanwhile.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use openprogram_core::grant::{
    FolderAccess, FolderGrant, Grant, GrantKind, grant_words, revoke_command, shell_word,
};
use openprogram_core::guest::CallError;
use wasmtime_wasi::filesystem::Dir as OpenDir;
use wasmtime_wasi::{FsPerms, OpenMode};

use super::names::{is_bad_on_windows, is_own};
use super::protected::{Guard, Identity, Known, Protected, concerns};
use crate::permissions::Permissions;

/// The granted folders of one component. Nothing is opened before the first call.
#[derive(Default)]
pub(crate) struct Folders {
    permissions: Arc<Permissions>,
    opened: Mutex<Option<Arc<OpenFolders>>>,
}

/// The folders as they are open, with what is kept from guests in them.
#[derive(Default)]
pub(crate) struct OpenFolders {
    /// The component that they are granted to.
    pub(super) component: String,
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
    pub(crate) fn of(permissions: &Arc<Permissions>) -> Self {
        Self {
            permissions: Arc::clone(permissions),
            opened: Mutex::default(),
        }
    }

    /// Whether one of them is known to the guest under this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let wanted = plain_path(path);
        let mut granted = self.permissions.folders.iter();
        granted.any(|(grant, _)| guest_name(&grant.what) == wanted)
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
        let Permissions {
            folders: granted,
            protected: hidden,
            kept,
            anchors,
            ..
        } = &*self.permissions;
        if granted.is_empty() {
            return Ok(OpenFolders {
                component: self.permissions.component.clone(),
                ..OpenFolders::default()
            });
        }
        let all = Protected::of(hidden, kept, anchors).now();
        let mut folders: Vec<OpenFolder> = Vec::new();
        for (grant, path) in granted {
            let folder = self.open_one(grant, path, &all)?;
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
        let concerned = |places: &[PathBuf], writes: bool| -> Vec<PathBuf> {
            let is_concerned = |place: &&PathBuf| {
                let mut folders = folders.iter().filter(|f| f.write.is_some() || !writes);
                folders.any(|folder| concerns(place, &folder.real))
            };
            places.iter().filter(is_concerned).cloned().collect()
        };
        let (hidden, kept) = (concerned(hidden, false), concerned(kept, true));
        let protected = Protected::of(&hidden, &kept, &concerned(anchors, true));
        Ok(OpenFolders {
            component: self.permissions.component.clone(),
            folders,
            protected: Arc::new(protected),
        })
    }

    fn open_one(
        &self,
        grant: &Grant<FolderGrant>,
        path: &Path,
        protected: &Known,
    ) -> Result<OpenFolder, CallError> {
        if let Some(link) = self.link_on_the_way(path) {
            return Err(self.refused(grant, self.instead_of_link(grant, path, &link)));
        }
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
        let guard = protected.guard_of_path(&real);
        let is_ours = real
            .components()
            .any(|part| is_own(&part.as_os_str().to_string_lossy()));
        if is_ours || guard == Some(Guard::Hidden) {
            let problem = "means what belongs to this program itself, which is never granted";
            return Err(self.refused(grant, problem.to_owned()));
        }
        let writes = grant.what.access == FolderAccess::ReadWrite;
        if writes && guard == Some(Guard::Kept) {
            let problem = "lies in what a component is built from, which functions do not change; \
                           grant it with `ro:`, or a folder elsewhere";
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
        Ok(OpenFolder {
            read: grant.clone(),
            write: writes.then(|| grant.clone()),
            dir: open_dir(dir.into_std_file(), writes),
            identity: Identity::at(&real),
            real,
        })
    }

    /// The first link on the way from the folder of the project to a granted one. A link can come
    /// with a clone, and says on no screen where it leads.
    fn link_on_the_way(&self, path: &Path) -> Option<PathBuf> {
        let project = &self.permissions.project;
        let below = path.strip_prefix(project).ok()?;
        let mut place = project.clone();
        below.components().find_map(|part| {
            place.push(part);
            let found = place.symlink_metadata();
            found
                .is_ok_and(|found| found.is_symlink())
                .then(|| place.clone())
        })
    }

    fn instead_of_link(&self, grant: &Grant<FolderGrant>, path: &Path, link: &Path) -> String {
        let link = shell_word(&link.to_string_lossy());
        let real = path.canonicalize().ok().and_then(|real| {
            let mut instead = grant.clone();
            instead.what.path = real.to_str()?.to_owned();
            Some(grant_words(GrantKind::Dirs, &instead.to_string()))
        });
        let remedy = real.map_or("put a folder there".to_owned(), |words| {
            format!(
                "grant what is meant with `openprogram grant {} {words}`",
                self.permissions.component
            )
        });
        format!("leads through the link {link}, which shows nobody where it leads; {remedy}")
    }

    fn refused(&self, grant: &Grant<FolderGrant>, problem: String) -> CallError {
        let line = grant.to_string();
        let component = &self.permissions.component;
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
    /// Whether functions do not write to what has this identity, as it is now.
    pub(super) fn is_guarded(&self, identity: Option<Identity>) -> bool {
        self.protected.now().guard(identity).is_some()
    }

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
    plain_path(&grant.guest_path)
}

/// A path without what means nothing in it.
pub(super) fn plain_path(path: &str) -> String {
    let parts = path.split('/');
    let parts: Vec<_> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}
