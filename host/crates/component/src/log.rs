//! What a guest writes to stdout and stderr: kept in memory up to a limit, in the order written.
//!
//! Control characters are kept as they are; whoever shows the log must deal with them.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::limits::LimitReached;

/// What one write may hold; larger writes come in pieces.
const WRITE_BYTES: usize = 64 << 10;

/// The log of one call. Clones share it: stdout and stderr are one stream.
#[derive(Clone)]
pub(crate) struct Log(Arc<Mutex<Inner>>);

struct Inner {
    text: Vec<u8>,
    bytes: u64,
    bytes_max: u64,
}

impl Log {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            text: Vec::new(),
            bytes: 0,
            bytes_max,
        })))
    }

    /// Begins anew, for another call that writes to the same streams.
    pub(crate) fn begin(&self) {
        self.with(|inner| {
            inner.text.clear();
            inner.bytes = 0;
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The text, cut at the limit, and how many bytes were written in all.
    pub(crate) fn take(&self) -> (String, u64) {
        self.with(|inner| {
            let text = std::mem::take(&mut inner.text);
            (String::from_utf8_lossy(&text).into_owned(), inner.bytes)
        })
    }

    /// The last so many bytes of the text, cleaned of what cannot be seen.
    pub(crate) fn end(&self, bytes_max: usize) -> String {
        self.with(|inner| {
            let at = inner.text.len().saturating_sub(bytes_max);
            let text = String::from_utf8_lossy(&inner.text[at..]);
            // The first line may be the end of one.
            let text = match text.split_once('\n') {
                Some((_, whole)) if at > 0 && !whole.trim().is_empty() => whole,
                _ => &text,
            };
            openprogram_core::text::clean(text.trim()).into_owned()
        })
    }

    /// Appends; beyond the limit the call ends, so that a flood costs no time either.
    fn append(&self, bytes: &[u8]) -> Result<(), LimitReached> {
        self.with(|inner| {
            let left = inner.bytes_max.saturating_sub(inner.bytes);
            inner.bytes = inner.bytes.saturating_add(bytes.len() as u64);
            let kept = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            inner.text.extend_from_slice(&bytes[..kept]);
            if kept == bytes.len() {
                return Ok(());
            }
            let max = inner.bytes_max;
            Err(LimitReached::new(
                "log_bytes",
                max,
                format!("the function wrote more than {max} bytes to its log"),
            ))
        })
    }
}

impl IsTerminal for Log {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Log {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait::async_trait]
impl Pollable for Log {
    async fn ready(&mut self) {}
}

#[async_trait::async_trait]
impl OutputStream for Log {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        // A trap, not an error of the stream: a guest could ignore the latter and go on.
        self.append(&bytes)
            .map_err(|reached| StreamError::Trap(reached.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}

impl AsyncWrite for Log {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.append(bytes).map(|()| bytes.len());
        Poll::Ready(written.map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_at_its_limit_and_the_rest_is_counted() {
        let log = Log::new(5);
        assert_eq!(log.append(b"abc"), Ok(()));
        assert_eq!(log.append(b"defg").unwrap_err().which, "log_bytes");
        assert_eq!(log.take(), ("abcde".to_owned(), 7));
    }

    #[test]
    fn the_end_of_a_log_is_bounded_clean_and_made_of_whole_lines() {
        let log = Log::new(100);
        assert_eq!(log.end(10), "");
        assert_eq!(log.append(b"first line\nlast\x1b[2J one\n"), Ok(()));
        assert_eq!(log.end(100), "first line\nlast one");
        assert_eq!(log.end(16), "last one");
        assert_eq!(log.end(4), "one");
    }
}
