//! Listings of folders: bounded before they are read, and without what belongs to this program.

use cap_std::fs::Dir;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DirectoryEntry, DirectoryEntryStream, HostDescriptor, HostDirectoryEntryStream,
};
use wasmtime_wasi::p2::{FsError, FsResult};

use super::names::is_own;
use super::view::{FilesView, Use, blocking};
use crate::limits::LimitReached;
use wasmtime_wasi::filesystem::Descriptor;

impl FilesView<'_> {
    /// Lists a folder whose entries fit beside those of the listings that are open.
    pub(super) async fn list(
        &mut self,
        handle: Resource<Descriptor>,
    ) -> FsResult<Resource<DirectoryEntryStream>> {
        self.enter(&handle, Use::Read, ".").await?;
        let file = self.dir(&handle)?;
        let max = self.files.limits.folder_entries;
        let held: u64 = self.files.listings.values().sum();
        let left = max.saturating_sub(held);
        let count = blocking(&self.files.beside, move || {
            let entries = Dir::from_std_file(file.try_clone()?).entries()?;
            let most = usize::try_from(left)
                .unwrap_or(usize::MAX)
                .saturating_add(1);
            Ok::<_, std::io::Error>(entries.take(most).count() as u64)
        });
        let count = count.await??;
        if count > left {
            let message = format!("the function listed more than {max} entries of folders at once");
            return Err(FsError::trap(LimitReached::new(
                "folder_entries",
                max,
                message,
            )));
        }
        let listing = self.wasi.read_directory(handle).await?;
        self.files.listings.insert(listing.rep(), count);
        Ok(listing)
    }
}

impl HostDirectoryEntryStream for FilesView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        loop {
            let stream = Resource::new_borrow(stream.rep());
            let entry = self.wasi.read_directory_entry(stream).await?;
            if !entry.as_ref().is_some_and(|entry| is_own(&entry.name)) {
                return Ok(entry);
            }
        }
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.files.listings.remove(&stream.rep());
        HostDirectoryEntryStream::drop(&mut self.wasi, stream)
    }
}
