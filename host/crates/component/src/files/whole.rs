//! A file of a granted folder read whole by the host, for a guest that names it and never holds its
//! bytes.
//!
//! The path leads where it would lead if the guest opened it: the folder with the longest name that
//! the path begins with, then step by step from there.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::grant::{Access, FolderAccess, FolderGrant, GrantKind, grant_command};
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor as _, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{FsError, FsResult};

use super::folders::plain_path;
use super::view::{FilesView, blocking};

/// How much of a path is shown.
const SHOWN_CHARS_MAX: usize = 200;

/// What reading a file whole gives.
pub(super) enum Whole {
    Bytes(Vec<u8>),
    TooLarge,
    Folder,
}

impl FilesView<'_> {
    /// The bytes of a file, at most so many.
    ///
    /// # Errors
    /// The inner one is for the guest: `denied`, `invalid-argument` with this place, or
    /// `limit-reached` with this limit.
    pub(crate) async fn read_whole(
        &mut self,
        path: &str,
        place: &str,
        (which, bytes_max): (&'static str, u64),
    ) -> wasmtime::Result<Result<Vec<u8>, Failure>> {
        let shown: String = path.chars().filter(|c| !c.is_control()).collect();
        let shown: String = shown.chars().take(SHOWN_CHARS_MAX).collect();
        let invalid = |message: &str| {
            let message = format!("`{shown}` {message}");
            Failure::new(FailureCode::InvalidArgument, message).with("path", place)
        };
        let Some((at, rest)) = self.folder_of(path) else {
            return Ok(Err(self.not_granted(&shown)));
        };
        let read = match self.read_in(at, &rest, bytes_max).await {
            Ok(read) => read,
            Err(error) => match error.downcast()? {
                ErrorCode::NoEntry => return Ok(Err(invalid("is not there"))),
                ErrorCode::NotPermitted | ErrorCode::Access => {
                    let message = format!("`{shown}` may not be read by this component");
                    let what = format!("read {shown}");
                    let denied = Failure::new(FailureCode::Denied, message).with("what", what);
                    return Ok(Err(denied));
                }
                code => return Ok(Err(invalid(&format!("cannot be read: {}", code.message())))),
            },
        };
        Ok(match read {
            Whole::Bytes(bytes) => Ok(bytes),
            Whole::Folder => Err(invalid("is a folder; name a file")),
            Whole::TooLarge => {
                let message =
                    format!("`{shown}` holds more than the {bytes_max} bytes that are left");
                Err(Failure::limit(which, bytes_max, message))
            }
        })
    }

    /// The granted folder that a path lies in by its name, and the rest of the path.
    fn folder_of(&self, path: &str) -> Option<(usize, String)> {
        let path = plain_path(path);
        let folders = self.files.open.folders.iter().enumerate();
        let named = folders.filter_map(|(at, folder)| {
            let name = plain_path(&folder.read.what.guest_path);
            let rest = match name.as_str() {
                "" => path.as_str(),
                name if name == path => ".",
                name => path.strip_prefix(name)?.strip_prefix('/')?,
            };
            Some((name.len(), at, rest.to_owned()))
        });
        let (_, at, rest) = named.max_by_key(|(length, ..)| *length)?;
        Some((at, rest))
    }

    async fn read_in(&mut self, at: usize, path: &str, bytes_max: u64) -> FsResult<Whole> {
        let folder = self.files.open.folders.get(at).ok_or(ErrorCode::NoEntry)?;
        let dir = Descriptor::Dir(folder.dir.clone());
        let dir = self.wasi.table.push(dir)?;
        self.files.of_handle.insert(dir.rep(), at);
        let flags = (PathFlags::SYMLINK_FOLLOW, OpenFlags::empty());
        let borrowed = Resource::new_borrow(dir.rep());
        let opened = self
            .open_at(
                borrowed,
                flags.0,
                path.to_owned(),
                flags.1,
                DescriptorFlags::READ,
            )
            .await;
        self.files.of_handle.remove(&dir.rep());
        self.wasi.table.delete(dir)?;
        let opened = opened?;
        self.files.of_handle.remove(&opened.rep());
        let file = match self.wasi.table.delete(opened)? {
            Descriptor::File(file) => Arc::clone(&file.file),
            Descriptor::Dir(_) => return Ok(Whole::Folder),
        };
        blocking(&self.files.beside, move || read_at_most(&file, bytes_max))
            .await?
            .map_err(FsError::from)
    }

    /// Refuses a path that lies in no granted folder.
    fn not_granted(&mut self, path: &str) -> Failure {
        let folder = match path.rsplit_once('/') {
            Some((folder, _)) if !folder.is_empty() => folder,
            Some(_) => "/",
            None => ".",
        };
        let grant = FolderGrant {
            access: FolderAccess::ReadOnly,
            path: folder.to_owned(),
            guest_path: folder.to_owned(),
        };
        let line = grant.to_string();
        // What no grant can name is granted by none.
        let needed = (line.parse() == Ok(grant)).then_some(line);
        let component = &self.files.open.component;
        let message = format!("`{component}` may not read `{path}`: it lies in no granted folder");
        let mut failure =
            Failure::new(FailureCode::Denied, message.clone()).with("what", format!("read {path}"));
        if let Some(line) = &needed {
            let how = grant_command(component, GrantKind::Dirs, line);
            failure = failure.with("how_to_allow", how);
        }
        let access = Access::refused(GrantKind::Dirs, format!("read {path}"), message, needed);
        self.files.note_outside(access);
        failure
    }
}

/// The bytes of a file, unless it holds more than `bytes_max`.
pub(super) fn read_at_most(file: &File, bytes_max: u64) -> std::io::Result<Whole> {
    if file.metadata()?.len() > bytes_max {
        return Ok(Whole::TooLarge);
    }
    let mut bytes = Vec::new();
    // It may have grown meanwhile.
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(match bytes.len() as u64 <= bytes_max {
        true => Whole::Bytes(bytes),
        false => Whole::TooLarge,
    })
}
