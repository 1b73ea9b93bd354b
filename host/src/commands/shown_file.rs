//! Files that a person shows to a model: pictures, films and sound, told by their bytes.

use std::path::Path;

use openprogram_core::content::{ContentBlock, MediaKind, MediaLimits, media_of_file};

use super::exit::Usage;
use crate::input::read_bytes;

/// Reads a file that a model is shown.
///
/// # Errors
/// When it cannot be read, is larger than any file may be, or is of no known kind.
pub(super) fn read_shown(path: &Path) -> anyhow::Result<ContentBlock> {
    let limits = MediaLimits::default();
    let most = MediaKind::ALL.map(|kind| limits.of(kind).1);
    // How much each kind may have in all is looked at when the turn is made.
    let data = read_bytes(path, most.into_iter().max().unwrap_or_default())?;
    let shown = path.display();
    let Some((kind, said)) = media_of_file(&shown.to_string(), &data) else {
        return Err(Usage(format!(
            "`{shown}` is no picture (PNG, JPEG, GIF, WebP), no film (MP4, QuickTime, WebM, \
             Matroska, MPEG, AVI) and no sound (WAV, MP3, M4A, AAC, Ogg, FLAC, AIFF): its first \
             bytes are of another kind"
        ))
        .into());
    };
    Ok(ContentBlock::media(kind, said, data.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_bytes_are_and_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let png = b"\x89PNG\r\n\x1a\n";
        // What the name says is kept, so that the slip is told when the turn is made.
        let clip = read_shown(&path("clip.mp4", png)).unwrap();
        let expected = ContentBlock::media(MediaKind::Image, "video/mp4", png.as_slice().into());
        assert_eq!(clip, expected);
        let sound = read_shown(&path("sound.m4a", b"\0\0\0\x18ftypisom\0\0")).unwrap();
        assert_eq!(sound.as_media().unwrap().kind, MediaKind::Audio);
        let error = read_shown(&path("notes.txt", b"words")).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("notes.txt` is no picture (PNG,"), "{told}");
        let error = read_shown(&folder.path().join("gone.png")).unwrap_err();
        assert!(error.to_string().starts_with("cannot read `"), "{error}");
    }
}
