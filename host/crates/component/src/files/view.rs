//! The files of one call: which handle belongs to which folder, what was asked and noted, and the
//! rules that hold before anything is done.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::sync::Arc;

use cap_std::fs::Dir;
use openprogram_core::grant::{Access, FolderAccess, FolderGrant, Grant, GrantKind};
use openprogram_core::guest::{ApprovalRequest, HostServices};
use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{FsError, FsResult};

use super::folders::{OpenFolder, OpenFolders};
use super::protected::Identity;
use super::walk::{Astray, Last, Walked, walk};
use crate::counters::Counters;
use crate::cpu::Beside;
use crate::limits::Limits;

/// What is to be done in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    Read,
    Write,
}

/// The files of one call.
pub(crate) struct Files {
    pub(super) open: Arc<OpenFolders>,
    pub(super) counters: Counters,
    pub(super) limits: Arc<Limits>,
    services: Option<Arc<dyn HostServices>>,
    /// Where the time is counted that is computed beside the call.
    pub(super) beside: Beside,
    /// The folder of each handle.
    pub(super) of_handle: HashMap<u32, usize>,
    /// The handles of what may be read and is not changed.
    pub(super) kept_handles: HashSet<u32>,
    /// The number of entries of each listing.
    pub(super) listings: HashMap<u32, u64>,
    /// What was answered about a use of a folder.
    answers: HashMap<(usize, Use), bool>,
    noted: HashSet<(usize, &'static str)>,
}

/// The files of one call, with the filesystem below.
pub(crate) struct FilesView<'a> {
    pub(crate) wasi: WasiFilesystemCtxView<'a>,
    pub(crate) files: &'a mut Files,
}

/// Links [`FilesView`] as the filesystem of guests.
pub(crate) struct GuestFiles;

impl HasData for GuestFiles {
    type Data<'a> = FilesView<'a>;
}

impl Files {
    pub(crate) fn new(
        open: Arc<OpenFolders>,
        counters: Counters,
        limits: Arc<Limits>,
        services: Option<Arc<dyn HostServices>>,
        beside: Beside,
    ) -> Self {
        Self {
            open,
            counters,
            limits,
            services,
            beside,
            of_handle: HashMap::new(),
            kept_handles: HashSet::new(),
            listings: HashMap::new(),
            answers: HashMap::new(),
            noted: HashSet::new(),
        }
    }

    /// Goes on for another call: what was answered and noted held for the one before.
    pub(crate) fn begin(&mut self, services: Option<Arc<dyn HostServices>>) {
        self.services = services;
        self.answers.clear();
        self.noted.clear();
    }

    fn folder(&self, index: usize) -> Option<&OpenFolder> {
        self.open.folders.get(index)
    }

    /// Notes something once per folder and kind, not for every read.
    fn note(&mut self, folder: usize, kind: &'static str, access: impl FnOnce() -> Access) {
        if let Some(services) = &self.services
            && self.noted.insert((folder, kind))
        {
            services.note(access());
        }
    }

    /// Notes what lies in no folder.
    pub(super) fn note_outside(&self, access: Access) {
        if let Some(services) = &self.services {
            services.note(access);
        }
    }

    /// Notes that something was refused in a folder, and gives the error that the guest sees.
    fn refuse(&mut self, at: usize, path: &str, refusal: &Refusal) -> ErrorCode {
        let Some(folder) = self.folder(at) else {
            return refusal.code;
        };
        let what = match path {
            "" | "." => folder.read.what.path.clone(),
            path => format!("{}/{}", folder.read.what.path, shortened(path)),
        };
        let needed = refusal.needs_write.then(|| {
            let mut grant = folder.read.clone();
            grant.what.access = FolderAccess::ReadWrite;
            grant.to_string()
        });
        let message = format!("`{what}` {}", refusal.why);
        self.note(at, refusal.why, || {
            Access::refused(GrantKind::Dirs, what, message, needed)
        });
        refusal.code
    }
}

/// A refusal: why, the error for the guest, and whether a grant to write would allow it.
struct Refusal {
    why: &'static str,
    code: ErrorCode,
    needs_write: bool,
}

const fn never(why: &'static str) -> Refusal {
    Refusal {
        why,
        code: ErrorCode::NotPermitted,
        needs_write: false,
    }
}

const READ_ONLY: Refusal = Refusal {
    why: "is granted to be read and not to be changed",
    code: ErrorCode::ReadOnly,
    needs_write: true,
};
const OUTSIDE: Refusal = never("leads out of the granted folder");
const PROTECTED: Refusal = never("belongs to this program itself, which is never granted");
const KEPT: Refusal =
    never("decides what this program builds or trusts, and functions do not change it");
const SPECIAL: Refusal = never("is neither a file nor a folder");
const LINK: Refusal = never("would be a link, and functions make none");
const LINK_MOVED: Refusal = never("is a link, and functions move none");
const BAD_NAME: Refusal = never("has a name that this system reads otherwise");
const UNANSWERED: Refusal = never("needs a yes, which was not given");

impl FilesView<'_> {
    /// The folder of a handle, once it is allowed to be used so.
    pub(super) async fn enter(
        &mut self,
        handle: &Resource<Descriptor>,
        wanted: Use,
        path: &str,
    ) -> FsResult<usize> {
        let at = self.files.of_handle.get(&handle.rep()).copied();
        let at = at.ok_or(ErrorCode::BadDescriptor)?;
        let folder = self.files.folder(at).ok_or(ErrorCode::BadDescriptor)?;
        let grant = match wanted {
            Use::Read => Some(folder.read.clone()),
            Use::Write => folder.write.clone(),
        };
        let Some(grant) = grant else {
            return Err(self.files.refuse(at, path, &READ_ONLY).into());
        };
        if wanted == Use::Write && self.files.kept_handles.contains(&handle.rep()) {
            return Err(self.files.refuse(at, path, &KEPT).into());
        }
        if grant.asks && !self.is_approved(at, wanted, &grant).await {
            return Err(self.files.refuse(at, path, &UNANSWERED).into());
        }
        let verb = verb(wanted);
        self.files.note(at, verb, || {
            let what = format!("{verb} {}", grant.what.path);
            Access::granted(GrantKind::Dirs, what, grant.to_string())
        });
        Ok(at)
    }

    /// Asks once per call, about the folder as it is granted.
    async fn is_approved(&mut self, at: usize, wanted: Use, grant: &Grant<FolderGrant>) -> bool {
        if let Some(answer) = self.files.answers.get(&(at, wanted)) {
            return *answer;
        }
        let Some(services) = self.files.services.clone() else {
            return false;
        };
        let is_one_grant = self
            .files
            .folder(at)
            .is_some_and(|folder| folder.write.as_ref() == Some(&folder.read));
        let request = ApprovalRequest {
            kind: GrantKind::Dirs,
            what: format!("{} {}", verb(wanted), grant.what.path),
            grant: grant.to_string(),
            sends: None,
        };
        let answer = services.approve(request).await.is_ok();
        self.files.answers.insert((at, wanted), answer);
        // To be let write is to be let read.
        if is_one_grant && (wanted == Use::Write || !answer) {
            self.files.answers.insert((at, Use::Read), answer);
        }
        answer
    }

    /// The folder that a handle holds.
    pub(super) fn dir(&self, handle: &Resource<Descriptor>) -> FsResult<Arc<File>> {
        match self.wasi.table.get(handle)? {
            Descriptor::Dir(dir) => Ok(Arc::clone(&dir.dir)),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Follows a path from the folder that a handle holds, as [`walk`] does.
    pub(super) async fn walked(
        &mut self,
        handle: &Resource<Descriptor>,
        at: usize,
        path: &str,
        last: Last,
    ) -> FsResult<Walked> {
        let file = self.dir(handle)?;
        let protected = Arc::clone(&self.files.open.protected);
        let owned = path.to_owned();
        let walked = blocking(&self.files.beside, move || {
            let dir = Dir::from_std_file(file.try_clone().map_err(Astray::System)?);
            walk(&dir, &owned, last, &protected.now())
        });
        walked.await?.map_err(|astray| {
            let refusal = match astray {
                Astray::Outside => &OUTSIDE,
                Astray::Protected => &PROTECTED,
                Astray::BadName => &BAD_NAME,
                Astray::TooLong => return ErrorCode::NameTooLong.into(),
                Astray::TooManyLinks => return ErrorCode::Loop.into(),
                Astray::NotFound => return ErrorCode::NoEntry.into(),
                Astray::NotAFolder => return ErrorCode::NotDirectory.into(),
                Astray::NotText => return ErrorCode::IllegalByteSequence.into(),
                Astray::System(error) => return error.into(),
            };
            self.files.refuse(at, path, refusal).into()
        })
    }

    /// Refuses to open what is neither file nor folder: opening a pipe waits for its other end.
    pub(super) fn refuse_special(&mut self, at: usize, path: &str) -> FsError {
        self.files.refuse(at, path, &SPECIAL).into()
    }

    /// Refuses to write into a file that has become one of ours since it was opened.
    pub(super) fn check_not_ours(&mut self, handle: &Resource<Descriptor>) -> FsResult<()> {
        let Descriptor::File(file) = self.wasi.table.get(handle)? else {
            return Ok(());
        };
        if !self.files.open.is_guarded(Identity::of_open(&file.file)) {
            return Ok(());
        }
        let at = self.files.of_handle.get(&handle.rep()).copied();
        let at = at.ok_or(ErrorCode::BadDescriptor)?;
        Err(self.files.refuse(at, "", &PROTECTED).into())
    }

    /// Refuses to change what decides what this program builds or trusts.
    pub(super) fn refuse_kept(&mut self, at: usize, path: &str) -> FsError {
        self.files.refuse(at, path, &KEPT).into()
    }

    /// Refuses to move a link: elsewhere it could stand for a folder that is granted.
    pub(super) fn refuse_moved_link(
        &mut self,
        path: &str,
        handle: &Resource<Descriptor>,
    ) -> FsError {
        match self.files.of_handle.get(&handle.rep()).copied() {
            Some(at) => self.files.refuse(at, path, &LINK_MOVED).into(),
            None => ErrorCode::BadDescriptor.into(),
        }
    }

    /// Refuses what belongs to this program.
    pub(super) fn refuse_protected(&mut self, at: usize, path: &str) -> FsError {
        self.files.refuse(at, path, &PROTECTED).into()
    }

    /// Refuses to make a link, hard or symbolic: through one, what was looked at changes.
    pub(super) fn refuse_link(&mut self, at: usize, path: &str) -> FsError {
        self.files.refuse(at, path, &LINK).into()
    }
}

/// Runs what waits for the disk beside the threads that run guests. What it computes is the guest's.
pub(super) async fn blocking<T: Send + 'static>(
    beside: &Beside,
    work: impl FnOnce() -> T + Send + 'static,
) -> FsResult<T> {
    let beside = beside.clone();
    tokio::task::spawn_blocking(move || beside.counted(work))
        .await
        .map_err(|error| FsError::trap(wasmtime::Error::msg(error.to_string())))
}

fn verb(wanted: Use) -> &'static str {
    match wanted {
        Use::Read => "read",
        Use::Write => "write",
    }
}

/// A path as it stands in a record.
fn shortened(path: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let shown = path.chars().filter(|c| !c.is_control());
    shown.take(SHOWN_CHARS_MAX).collect()
}
