//! Pictures, films and sound that a guest shows in a turn or with a decision, and hints for the cache.

use std::sync::Arc;

use openprogram_core::content::{CacheTtl, ContentBlock, MediaKind, media_of, media_of_file};
use openprogram_core::failure::Failure;

use super::invalid;
use super::menu::MenuHandle;
use super::turn::{Held, RequestHandle, check, hold_with_turns};
use crate::limits::Limits;

/// How many bytes of each kind one turn or decision shows, in the order of the kinds.
#[derive(Default)]
pub(super) struct MediaCount([u64; 3]);

impl MediaCount {
    /// What a guest calls a picture, a film or sound, counted; what it is, is looked at when it is
    /// sent.
    fn block(
        &mut self,
        part: &str,
        kind: MediaKind,
        (data, mime_type): (Vec<u8>, &str),
        limits: &Limits,
    ) -> Result<ContentBlock, Failure> {
        let (true_kind, _) = media_of(&data).ok_or_else(|| unknown(part, part))?;
        // A container that holds sound alone looks like a film.
        let counted = match (true_kind, kind) {
            (MediaKind::Video, MediaKind::Audio) => kind,
            _ => true_kind,
        };
        self.count(counted, data.len(), limits)?;
        Ok(ContentBlock::media(
            kind,
            shortened(mime_type),
            Arc::from(data),
        ))
    }

    /// A file that was read for the guest, counted.
    fn file_block(
        &mut self,
        part: &str,
        path: &str,
        data: Vec<u8>,
        limits: &Limits,
    ) -> Result<ContentBlock, Failure> {
        let found = media_of_file(path, &data);
        let (kind, said) = found.ok_or_else(|| unknown(part, &shortened(path)))?;
        self.count(kind, data.len(), limits)?;
        Ok(ContentBlock::media(kind, said, Arc::from(data)))
    }

    /// The most bytes that the next file may have, and the limit that says so.
    fn file_bytes_max(&self, held: &Held<'_>) -> Option<(&'static str, u64)> {
        // Which kind it is, is known once it was read.
        let of_kinds = MediaKind::ALL.map(|kind| {
            let (which, max) = limit(held.limits, kind);
            (which, max.saturating_sub(self.0[kind as usize]))
        });
        let left = held.limits.turn_bytes.saturating_sub(*held.bytes);
        let largest = of_kinds.into_iter().max_by_key(|(_, left)| *left)?;
        let all = ("turn_bytes", left);
        [largest, all].into_iter().min_by_key(|(_, left)| *left)
    }

    fn count(&mut self, kind: MediaKind, bytes: usize, limits: &Limits) -> Result<(), Failure> {
        let (which, max) = limit(limits, kind);
        let used = &mut self.0[kind as usize];
        *used += bytes as u64;
        check(*used, which, max, &format!("bytes of {}", kind.as_str()))
    }
}

impl RequestHandle {
    /// Adds what a guest calls a picture, a film or sound.
    pub(crate) fn add_media(
        &mut self,
        kind: MediaKind,
        data: Vec<u8>,
        mime_type: &str,
        held: Held<'_>,
    ) {
        self.set(|handle| {
            let (part, bytes) = (handle.next_part(), data.len());
            let limits = held.limits;
            let block = handle.media.block(&part, kind, (data, mime_type), limits)?;
            handle.pay(bytes, held)?;
            handle.request.content.push(block);
            Ok(())
        });
    }

    /// Adds a file that was read for the guest.
    pub(crate) fn add_file(&mut self, path: &str, read: Result<Vec<u8>, Failure>, held: Held<'_>) {
        self.set(|handle| {
            let data = read?;
            let (part, bytes) = (handle.next_part(), data.len());
            let block = handle.media.file_block(&part, path, data, held.limits)?;
            handle.pay(bytes, held)?;
            handle.request.content.push(block);
            Ok(())
        });
    }

    /// Marks everything so far for the cache of the provider, for this time where one is named.
    pub(crate) fn mark_cache(&mut self, ttl: Option<&str>, held: Held<'_>) {
        self.set(|handle| {
            let ttl = match ttl {
                None => CacheTtl::Usual,
                Some(word) => word.parse().map_err(|wrong| {
                    let message = format!("the time of a mark for the cache: {wrong}");
                    invalid(&handle.next_part(), message)
                })?,
            };
            handle.pay(0, held)?;
            handle.request.content.push(ContentBlock::CacheMark(ttl));
            Ok(())
        });
    }

    /// The most bytes that the next file of this turn may have, and the limit that says so; `None`
    /// when no more is read for it.
    pub(crate) fn file_bytes_max(&self, held: &Held<'_>) -> Option<(&'static str, u64)> {
        match self.is_refused() {
            true => None,
            false => self.media.file_bytes_max(held),
        }
    }

    /// The place of what is added next.
    pub(crate) fn next_part(&self) -> String {
        format!("content[{}]", self.request.content.len())
    }
}

/// What a decision shows is held with the turns that are being prepared: a menu is words.
impl MenuHandle {
    /// Shows what a guest calls a picture, a film or sound.
    pub(crate) fn add_media(
        &mut self,
        kind: MediaKind,
        data: Vec<u8>,
        mime_type: &str,
        held: Held<'_>,
    ) {
        self.set(|menu| {
            let (part, bytes) = (menu.next_medium(), data.len());
            let limits = held.limits;
            let block = menu.counted.block(&part, kind, (data, mime_type), limits)?;
            menu.show(block, bytes, held)
        });
    }

    /// Shows a file that was read for the guest.
    pub(crate) fn add_file(&mut self, path: &str, read: Result<Vec<u8>, Failure>, held: Held<'_>) {
        self.set(|menu| {
            let data = read?;
            let (part, bytes) = (menu.next_medium(), data.len());
            let block = menu.counted.file_block(&part, path, data, held.limits)?;
            menu.show(block, bytes, held)
        });
    }

    /// The most bytes that the next file of this menu may have, and the limit that says so; `None`
    /// when no more is read for it.
    pub(crate) fn file_bytes_max(&self, held: &Held<'_>) -> Option<(&'static str, u64)> {
        match self.refused {
            Some(_) => None,
            None => self.counted.file_bytes_max(held),
        }
    }

    /// The place of what is shown next.
    pub(crate) fn next_medium(&self) -> String {
        format!("media[{}]", self.media.len())
    }

    fn show(&mut self, block: ContentBlock, bytes: usize, held: Held<'_>) -> Result<(), Failure> {
        let count = self.media.len() as u64 + 1;
        check(count, "turn_parts", held.limits.turn_parts, "parts")?;
        hold_with_turns(bytes as u64, held)?;
        self.media_bytes += bytes as u64;
        self.media.push(block);
        Ok(())
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
