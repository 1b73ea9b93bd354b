//! The filesystem interfaces of WASI as guests see them: the rules first, then the implementation
//! below.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntryStream, ErrorCode,
    Filesize, HostDescriptor, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::place::last;
use super::view::{FilesView, Use};
use super::walk::{Kind, Last};

impl preopens::Host for FilesView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let open = Arc::clone(&self.files.open);
        let mut directories = Vec::with_capacity(open.folders.len());
        for (index, folder) in open.folders.iter().enumerate() {
            let handle = Descriptor::Dir(folder.dir.clone());
            let handle = self.wasi.table.push(handle)?;
            self.files.of_handle.insert(handle.rep(), index);
            directories.push((handle, folder.read.what.guest_path.clone()));
        }
        Ok(directories)
    }
}

impl types::Host for FilesView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.wasi.convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.wasi.filesystem_error_code(error)
    }
}

impl HostDescriptor for FilesView<'_> {
    async fn advise(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
        length: Filesize,
        advice: Advice,
    ) -> FsResult<()> {
        self.wasi.advise(fd, offset, length, advice).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.wasi.sync_data(fd).await
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.wasi.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.wasi.get_type(fd).await
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        self.enter(&fd, Use::Write, "").await?;
        self.check_not_ours(&fd)?;
        // Growing writes everything between the old end and the new one.
        let old = match self.wasi.table.get(&fd)? {
            Descriptor::File(file) => file.file.metadata().map_or(0, |metadata| metadata.len()),
            Descriptor::Dir(_) => return Err(ErrorCode::IsDirectory.into()),
        };
        let counted = self.reserve(&fd, old, size.saturating_sub(old))?;
        let done = self.wasi.set_size(fd, size).await;
        if done.is_err() {
            self.files.counters.give_back(counted);
        }
        done
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.enter(&fd, Use::Write, "").await?;
        self.wasi.set_times(fd, accessed, modified).await
    }

    async fn read(
        &mut self,
        fd: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        self.wasi.read(fd, length, offset).await
    }

    async fn write(
        &mut self,
        fd: Resource<Descriptor>,
        bytes: Vec<u8>,
        offset: Filesize,
    ) -> FsResult<Filesize> {
        self.enter(&fd, Use::Write, "").await?;
        self.check_not_ours(&fd)?;
        let counted = self.reserve(&fd, offset, bytes.len() as u64)?;
        let written = self.wasi.write(fd, bytes, offset).await;
        if written.is_err() {
            self.files.counters.give_back(counted);
        }
        written
    }

    async fn read_directory(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DirectoryEntryStream>> {
        self.list(fd).await
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.wasi.sync(fd).await
    }

    async fn create_directory_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        let (_, mut walked) = self.reach(&fd, Use::Write, &path, Last::Keep).await?;
        self.count_made(&walked)?;
        let place = self.place(&fd, &mut walked)?;
        let handle = place.handle();
        let done = self.wasi.create_directory_at(handle, walked.name).await;
        self.left(&place, done)
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.enter(&fd, Use::Read, "").await?;
        self.wasi.stat(fd).await
    }

    async fn stat_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let (_, mut walked) = self.reach(&fd, Use::Read, &path, last(flags)).await?;
        let flags = PathFlags::empty();
        let place = self.place(&fd, &mut walked)?;
        let done = self.wasi.stat_at(place.handle(), flags, walked.name).await;
        self.left(&place, done)
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let (_, mut walked) = self.reach(&fd, Use::Write, &path, last(flags)).await?;
        let flags = PathFlags::empty();
        let place = self.place(&fd, &mut walked)?;
        let (handle, name) = (place.handle(), walked.name);
        let set = self
            .wasi
            .set_times_at(handle, flags, name, accessed, modified);
        let done = set.await;
        self.left(&place, done)
    }

    async fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        let at = self.enter(&fd, Use::Write, &path).await?;
        Err(self.refuse_link(at, &path))
    }

    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let makes = open_flags.contains(OpenFlags::CREATE);
        let writes = makes
            || open_flags.contains(OpenFlags::TRUNCATE)
            || flags.contains(DescriptorFlags::WRITE);
        let wanted = if writes { Use::Write } else { Use::Read };
        // A link in the place of a new file is something that is there already.
        let is_new = makes && open_flags.contains(OpenFlags::EXCLUSIVE);
        let last = if is_new { Last::Keep } else { last(path_flags) };
        let (at, mut walked) = self.reach(&fd, wanted, &path, last).await?;
        match walked.kind {
            Some(Kind::Special) => return Err(self.refuse_special(at, &path)),
            Some(Kind::Link) if !is_new => return Err(ErrorCode::Loop.into()),
            None if makes && walked.is_folder_wanted => return Err(ErrorCode::IsDirectory.into()),
            None if makes => self.count_made(&walked)?,
            _ => {}
        }
        let folder = fd.rep();
        let place = self.place(&fd, &mut walked)?;
        let (handle, name) = (place.handle(), walked.name);
        let opened = self
            .wasi
            .open_at(handle, PathFlags::empty(), name, open_flags, flags)
            .await;
        self.leave(&place)?;
        let opened = opened?;
        self.files.of_handle.insert(opened.rep(), at);
        if walked.is_kept || self.files.kept_handles.contains(&folder) {
            self.files.kept_handles.insert(opened.rep());
        }
        Ok(opened)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.files.of_handle.remove(&fd.rep());
        self.files.kept_handles.remove(&fd.rep());
        HostDescriptor::drop(&mut self.wasi, fd)
    }

    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        let (_, mut walked) = self.reach(&fd, Use::Read, &path, Last::Keep).await?;
        let place = self.place(&fd, &mut walked)?;
        let done = self.wasi.readlink_at(place.handle(), walked.name).await;
        self.left(&place, done)
    }

    async fn remove_directory_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        let mut walked = self.reach_to_change(&fd, &path).await?;
        let place = self.place(&fd, &mut walked)?;
        let done = self
            .wasi
            .remove_directory_at(place.handle(), walked.name)
            .await;
        self.left(&place, done)
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let mut old = self.reach_to_change(&fd, &path).await?;
        if old.kind == Some(Kind::Link) {
            return Err(self.refuse_moved_link(&path, &fd));
        }
        let mut new = self.reach_to_change(&new_fd, &new_path).await?;
        let from = self.place(&fd, &mut old)?;
        let to = self.place(&new_fd, &mut new)?;
        let (handle, new_handle) = (from.handle(), to.handle());
        let renamed = self
            .wasi
            .rename_at(handle, old.name, new_handle, new.name)
            .await;
        self.leave(&from)?;
        self.leave(&to)?;
        renamed
    }

    async fn symlink_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: String,
        path: String,
    ) -> FsResult<()> {
        let at = self.enter(&fd, Use::Write, &path).await?;
        Err(self.refuse_link(at, &path))
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let mut walked = self.reach_to_change(&fd, &path).await?;
        let place = self.place(&fd, &mut walked)?;
        let done = self.wasi.unlink_file_at(place.handle(), walked.name).await;
        self.left(&place, done)
    }

    fn read_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        self.wasi.read_via_stream(fd, offset)
    }

    fn write_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.check_not_ours(&fd)?;
        let handle = fd.rep();
        let stream = self.wasi.write_via_stream(fd, offset)?;
        self.counted(handle, stream, Some(offset))
    }

    fn append_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.check_not_ours(&fd)?;
        let handle = fd.rep();
        let stream = self.wasi.append_via_stream(fd)?;
        self.counted(handle, stream, None)
    }

    async fn is_same_object(
        &mut self,
        a: Resource<Descriptor>,
        b: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        self.wasi.is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.enter(&fd, Use::Read, "").await?;
        self.wasi.metadata_hash(fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let (_, mut walked) = self.reach(&fd, Use::Read, &path, last(flags)).await?;
        let flags = PathFlags::empty();
        let place = self.place(&fd, &mut walked)?;
        let handle = place.handle();
        let done = self.wasi.metadata_hash_at(handle, flags, walked.name).await;
        self.left(&place, done)
    }
}
