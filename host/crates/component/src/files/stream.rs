//! Writing to files, counted before it is done.

use std::fs::File;
use std::sync::Arc;

use bytes::Bytes;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{
    DynOutputStream, FsError, FsResult, OutputStream, Pollable, StreamError, StreamResult,
};

use super::folders::OpenFolders;
use super::protected::Identity;
use super::view::FilesView;
use crate::counters::Counters;
use crate::limits::LimitReached;

/// Counts what is about to be written at this place of a file, or at its end. A hole before it
/// counts as written: some file systems fill it.
///
/// # Errors
/// `file_size` or `files_bytes`. It ends the call: a guest could ignore an error and go on.
pub(super) fn reserve(
    file: &File,
    at: Option<u64>,
    bytes: u64,
    file_size_max: u64,
    counters: &Counters,
) -> Result<u64, LimitReached> {
    if bytes == 0 {
        return Ok(0);
    }
    // The size of an open file is at hand; that of one which cannot tell counts as nothing.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let start = at.unwrap_or(size);
    let end = start.saturating_add(bytes);
    if end > file_size_max {
        let message = format!("the function made a file larger than {file_size_max} bytes");
        return Err(LimitReached::new("file_size", file_size_max, message));
    }
    let counted = bytes.saturating_add(start.saturating_sub(size));
    counters.write(counted)?;
    Ok(counted)
}

impl FilesView<'_> {
    /// The stream into a file that was made below, with the counter around it.
    pub(super) fn counted(
        &mut self,
        handle: u32,
        stream: Resource<DynOutputStream>,
        at: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let inner = self.wasi.table.delete(stream)?;
        let Descriptor::File(file) = self.wasi.table.get(&Resource::new_borrow(handle))? else {
            return Err(ErrorCode::IsDirectory.into());
        };
        let counted: DynOutputStream = Box::new(CountedStream {
            inner,
            file: Arc::clone(&file.file),
            at,
            file_size_max: self.files.limits.file_size,
            counters: self.files.counters.clone(),
            open: Arc::clone(&self.files.open),
        });
        Ok(self.wasi.table.push(counted)?)
    }

    /// Counts what a file is about to hold beyond what it has.
    pub(super) fn reserve(
        &mut self,
        handle: &Resource<Descriptor>,
        at: u64,
        bytes: u64,
    ) -> FsResult<u64> {
        let Descriptor::File(file) = self.wasi.table.get(handle)? else {
            return Ok(0);
        };
        let max = self.files.limits.file_size;
        let reserved = reserve(&file.file, Some(at), bytes, max, &self.files.counters);
        reserved.map_err(FsError::trap)
    }
}

/// A stream into a file that counts.
pub(super) struct CountedStream {
    pub(super) inner: DynOutputStream,
    pub(super) file: Arc<File>,
    /// Where the next bytes go; `None` for the end of the file.
    pub(super) at: Option<u64>,
    pub(super) file_size_max: u64,
    pub(super) counters: Counters,
    pub(super) open: Arc<OpenFolders>,
}

impl CountedStream {
    fn count(&mut self, bytes: usize) -> StreamResult<u64> {
        // What was any file when the stream was made may have become one of ours.
        if self.open.is_guarded(Identity::of_open(&self.file)) {
            let error = wasmtime::Error::msg("the file belongs to the host now");
            return Err(StreamError::LastOperationFailed(error));
        }
        let bytes = bytes as u64;
        let counted = reserve(
            &self.file,
            self.at,
            bytes,
            self.file_size_max,
            &self.counters,
        );
        let counted = counted.map_err(|reached| StreamError::Trap(reached.into()))?;
        self.at = self.at.map(|at| at.saturating_add(bytes));
        Ok(counted)
    }
}

#[async_trait::async_trait]
impl Pollable for CountedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait::async_trait]
impl OutputStream for CountedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.count(bytes.len())?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.inner.check_write()
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        let counted = self.count(bytes.len())?;
        let written = self.inner.blocking_write_and_flush(bytes).await;
        if written.is_err() {
            self.counters.give_back(counted);
        }
        written
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
