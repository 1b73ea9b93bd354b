//! Where something is done in a folder: the place that a path was followed to, and no other one that
//! has taken its place meanwhile.

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir as OpenDir};
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, PathFlags};
use wasmtime_wasi::p2::{FsError, FsResult};

use super::view::{FilesView, Use};
use super::walk::{Last, Walked};

impl FilesView<'_> {
    /// Enters the folder of a handle and follows a path there.
    pub(super) async fn reach(
        &mut self,
        handle: &Resource<Descriptor>,
        wanted: Use,
        path: &str,
        last: Last,
    ) -> FsResult<(usize, Walked)> {
        let at = self.enter(handle, wanted, path).await?;
        let walked = self.walked(handle, at, path, last).await?;
        if wanted == Use::Write && walked.is_kept {
            return Err(self.refuse_kept(at, path));
        }
        Ok((at, walked))
    }

    /// The place of what is moved or removed, and not that of what it links to. A folder that is
    /// granted, or holds what is ours, stays where it is.
    pub(super) async fn reach_to_change(
        &mut self,
        handle: &Resource<Descriptor>,
        path: &str,
    ) -> FsResult<Walked> {
        let (at, walked) = self.reach(handle, Use::Write, path, Last::Keep).await?;
        if self.files.open.protected.now().lies_below(walked.identity) {
            return Err(self.refuse_protected(at, path));
        }
        Ok(walked)
    }

    /// The folder in which a walked path ends, as a handle of its own that ends with [`Self::leave`].
    pub(super) fn place(
        &mut self,
        fd: &Resource<Descriptor>,
        walked: &mut Walked,
    ) -> FsResult<Place> {
        let Some(parent) = walked.parent.take() else {
            return Ok(Place {
                rep: fd.rep(),
                is_own: false,
            });
        };
        let Descriptor::Dir(above) = self.wasi.table.get(fd)? else {
            return Err(ErrorCode::NotDirectory.into());
        };
        let (perms, mode) = (above.perms, above.open_mode);
        let parent = OpenDir::new(parent.into_std_file(), perms, mode, false);
        let handle = self.wasi.table.push(Descriptor::Dir(parent))?;
        Ok(Place {
            rep: handle.rep(),
            is_own: true,
        })
    }

    pub(super) fn leave(&mut self, place: &Place) -> FsResult<()> {
        if place.is_own {
            self.wasi
                .table
                .delete(Resource::<Descriptor>::new_own(place.rep))?;
        }
        Ok(())
    }

    /// What was done there, once the place is left.
    pub(super) fn left<T>(&mut self, place: &Place, done: FsResult<T>) -> FsResult<T> {
        self.leave(place)?;
        done
    }

    pub(super) fn count_made(&self, walked: &Walked) -> FsResult<()> {
        match walked.kind {
            None => self.files.counters.make_file().map_err(FsError::trap),
            Some(_) => Ok(()),
        }
    }
}

/// A folder in which something is done.
pub(super) struct Place {
    rep: u32,
    is_own: bool,
}

impl Place {
    pub(super) fn handle(&self) -> Resource<Descriptor> {
        Resource::new_borrow(self.rep)
    }
}

pub(super) fn last(flags: PathFlags) -> Last {
    if flags.contains(PathFlags::SYMLINK_FOLLOW) {
        Last::Follow
    } else {
        Last::Keep
    }
}
