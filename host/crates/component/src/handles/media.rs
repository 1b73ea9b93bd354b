//! Pictures, films and sound of a turn that a guest prepares, and hints for the cache.

use std::sync::Arc;

use openprogram_core::content::{CacheTtl, ContentBlock, MediaKind, media_of, media_of_file};
use openprogram_core::failure::Failure;

use super::invalid;
use super::turn::{Held, RequestHandle, check};
use crate::limits::Limits;

impl RequestHandle {
    /// Adds what a guest calls a picture, a film or sound; what it is, is looked at when the turn is
    /// made.
    pub(crate) fn add_media(
        &mut self,
        kind: MediaKind,
        data: Vec<u8>,
        mime_type: &str,
        held: Held<'_>,
    ) {
        self.set(|handle| {
            let path = handle.next_part();
            let (true_kind, _) = media_of(&data).ok_or_else(|| unknown(&path, &path))?;
            // A container that holds sound alone looks like a film.
            let counted = match (true_kind, kind) {
                (MediaKind::Video, MediaKind::Audio) => kind,
                _ => true_kind,
            };
            handle.pay_media(counted, data.len(), held)?;
            let block = ContentBlock::media(kind, shortened(mime_type), Arc::from(data));
            handle.request.content.push(block);
            Ok(())
        });
    }

    /// Adds a file that was read for the guest.
    pub(crate) fn add_file(&mut self, path: &str, read: Result<Vec<u8>, Failure>, held: Held<'_>) {
        self.set(|handle| {
            let data = read?;
            let part = handle.next_part();
            let found = media_of_file(path, &data);
            let (kind, said) = found.ok_or_else(|| unknown(&part, &shortened(path)))?;
            handle.pay_media(kind, data.len(), held)?;
            let block = ContentBlock::media(kind, said, Arc::from(data));
            handle.request.content.push(block);
            Ok(())
        });
    }

    /// Marks everything so far for the cache of the provider.
    pub(crate) fn mark_cache(&mut self, held: Held<'_>) {
        self.set(|handle| {
            handle.pay(0, held)?;
            handle
                .request
                .content
                .push(ContentBlock::CacheMark(CacheTtl::Usual));
            Ok(())
        });
    }

    /// The most bytes that the next file of this turn may have, and the limit that says so; `None`
    /// when no more is read for it.
    pub(crate) fn file_bytes_max(&self, held: &Held<'_>) -> Option<(&'static str, u64)> {
        if self.is_refused() {
            return None;
        }
        // Which kind it is, is known once it was read.
        let of_kinds = MediaKind::ALL.map(|kind| {
            let (which, max) = limit(held.limits, kind);
            (which, max.saturating_sub(self.media_bytes[kind as usize]))
        });
        let left = held.limits.turn_bytes.saturating_sub(*held.bytes);
        let largest = of_kinds.into_iter().max_by_key(|(_, left)| *left)?;
        let all = ("turn_bytes", left);
        [largest, all].into_iter().min_by_key(|(_, left)| *left)
    }

    /// The place of what is added next.
    pub(crate) fn next_part(&self) -> String {
        format!("content[{}]", self.request.content.len())
    }

    fn pay_media(&mut self, kind: MediaKind, bytes: usize, held: Held<'_>) -> Result<(), Failure> {
        let (which, max) = limit(held.limits, kind);
        let used = &mut self.media_bytes[kind as usize];
        *used += bytes as u64;
        check(*used, which, max, &format!("bytes of {}", kind.as_str()))?;
        self.pay(bytes, held)
    }
}

fn limit(limits: &Limits, kind: MediaKind) -> (&'static str, u64) {
    match kind {
        MediaKind::Image => ("image_bytes", limits.image_bytes),
        MediaKind::Video => ("video_bytes", limits.video_bytes),
        MediaKind::Audio => ("audio_bytes", limits.audio_bytes),
    }
}

fn unknown(part: &str, shown: &str) -> Failure {
    let message = format!(
        "`{shown}` is no picture (PNG, JPEG, GIF, WebP), no film (MP4, QuickTime, WebM, Matroska, \
         MPEG, AVI) and no sound (WAV, MP3, M4A, AAC, Ogg, FLAC, AIFF): its first bytes are of \
         another kind"
    );
    invalid(part, message)
}

/// A word of a guest as an error or a record shows it.
fn shortened(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let shown = text.chars().filter(|c| !c.is_control());
    shown.take(SHOWN_CHARS_MAX).collect()
}
