//! Pictures, films and sound: what bytes are, whatever they are said to be.
//!
//! The first bytes decide. A name or a media type that says otherwise is a mistake that is told, and
//! bytes of no known kind are refused: every provider would refuse them too, later and in other words.

use super::ContentBlock;

/// How many bytes of a container are looked through for the word that tells which one it is.
const HEAD_BYTES: usize = 64;

/// What a model is shown or played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A film.
    Video,
    /// Sound.
    Audio,
}

impl MediaKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Image, Self::Video, Self::Audio];

    /// The word in content blocks.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
        }
    }

    /// The kind of this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The most bytes of each kind in one turn. Providers take less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaLimits {
    /// Of pictures, as `image_bytes`.
    pub image_bytes: u64,
    /// Of films, as `video_bytes`.
    pub video_bytes: u64,
    /// Of sound, as `audio_bytes`.
    pub audio_bytes: u64,
}

impl Default for MediaLimits {
    /// More than any provider takes in one request.
    fn default() -> Self {
        Self {
            image_bytes: 32 << 20,
            video_bytes: 48 << 20,
            audio_bytes: 32 << 20,
        }
    }
}

impl MediaLimits {
    /// The name of the limit of a kind, and its value.
    #[must_use]
    pub fn of(&self, kind: MediaKind) -> (&'static str, u64) {
        match kind {
            MediaKind::Image => ("image_bytes", self.image_bytes),
            MediaKind::Video => ("video_bytes", self.video_bytes),
            MediaKind::Audio => ("audio_bytes", self.audio_bytes),
        }
    }
}

/// One piece of media that is something else than it was said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaMismatch {
    /// Its place in the content of the turn, from 0.
    pub part: usize,
    /// What it was said to be: a media type, or the word of a kind.
    pub said: String,
    /// What its bytes are, and what it is sent as.
    pub found: &'static str,
}

/// Bytes that are no picture, film or sound of a known kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`content[{part}]` is no {}, whatever its name says: its first bytes are those of no known kind; \
     known are PNG, JPEG, GIF and WebP, MP4, QuickTime, WebM, Matroska, MPEG and AVI, and WAV, MP3, \
     M4A, AAC, Ogg, FLAC and AIFF", kind.as_str()
)]
pub struct UnknownMedia {
    /// Its place in the content of the turn, from 0.
    pub part: usize,
    /// What it was said to be.
    pub kind: MediaKind,
}

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    One(MediaKind, &'static str),
    /// A container that holds a film or sound alone; the first one unless something else is said.
    Both(MediaKind, &'static str, MediaKind, &'static str),
}

/// Gives every piece of media of a turn the kind and the type that its bytes have, and tells which
/// ones were said to be something else.
///
/// # Errors
/// When bytes are of no known kind.
pub fn settle_media(content: &mut [ContentBlock]) -> Result<Vec<MediaMismatch>, UnknownMedia> {
    let mut mismatches = Vec::new();
    for (part, block) in content.iter_mut().enumerate() {
        let Some(media) = block.as_media() else {
            continue;
        };
        let kind = media.kind;
        let found = look(media.data).ok_or(UnknownMedia { part, kind })?;
        let (true_kind, mime_type) = found.as_said(kind, media.mime_type);
        let said = plain(media.mime_type);
        let is_other = true_kind != kind || !(said.is_empty() || said == mime_type);
        if is_other {
            let said = match said.is_empty() || said == mime_type {
                true => kind.as_str().to_owned(),
                false => said,
            };
            mismatches.push(MediaMismatch {
                part,
                said: said.chars().take(MIME_CHARS_MAX).collect(),
                found: mime_type,
            });
        }
        if is_other || media.mime_type != mime_type {
            let data = std::sync::Arc::clone(media.data);
            *block = ContentBlock::media(true_kind, mime_type, data);
        }
    }
    Ok(mismatches)
}

/// How much of what somebody called a media type is told again.
const MIME_CHARS_MAX: usize = 64;

/// What bytes are by themselves: the kind and the media type; `None` when it is not known.
#[must_use]
pub fn media_of(data: &[u8]) -> Option<(MediaKind, &'static str)> {
    let (Found::One(kind, mime_type) | Found::Both(kind, mime_type, ..)) = look(data)?;
    Some((kind, mime_type))
}

/// What a file is, of which the name may tell whether a container holds a film or sound alone: its
/// kind, and the media type that its name says, which may be another one or empty.
#[must_use]
pub fn media_of_file(path: &str, data: &[u8]) -> Option<(MediaKind, &'static str)> {
    let said = media_type_of_name(path);
    let found = look(data)?;
    let (Found::One(first, _) | Found::Both(first, ..)) = found;
    Some((found.as_said(first, said).0, said))
}

/// The media type that the extension of a file name says; empty when it says none.
#[must_use]
pub fn media_type_of_name(path: &str) -> &'static str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else {
        return "";
    };
    match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" | "jpe" | "jfif" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "bmp" => "image/bmp",
        "tif" | "tiff" => "image/tiff",
        "heic" => "image/heic",
        "avif" => "image/avif",
        "mp4" | "m4v" => "video/mp4",
        "mov" | "qt" => "video/quicktime",
        "webm" => "video/webm",
        "mkv" => "video/x-matroska",
        "mpg" | "mpeg" => "video/mpeg",
        "avi" => "video/x-msvideo",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "m4a" | "m4b" => "audio/mp4",
        "aac" => "audio/aac",
        "ogg" | "oga" | "opus" => "audio/ogg",
        "ogv" => "video/ogg",
        "flac" => "audio/flac",
        "aif" | "aiff" => "audio/aiff",
        "txt" | "md" => "text/plain",
        "pdf" => "application/pdf",
        _ => "",
    }
}

impl Found {
    /// The kind and the type, where a container may be what it was said to be.
    fn as_said(self, kind: MediaKind, mime_type: &str) -> (MediaKind, &'static str) {
        let said = plain(mime_type);
        match self {
            Self::One(kind, mime_type) => (kind, mime_type),
            Self::Both(_, _, other, other_type) if said == other_type => (other, other_type),
            Self::Both(first, first_type, ..) if said == first_type => (first, first_type),
            Self::Both(_, _, other, other_type) if kind == other => (other, other_type),
            Self::Both(first, first_type, ..) => (first, first_type),
        }
    }
}

/// A media type without parameters, in small letters, under its usual name; empty for none.
fn plain(mime_type: &str) -> String {
    let essence = mime_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/octet-stream" => "",
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "image/x-png" => "image/png",
        "audio/mp3" | "audio/x-mp3" | "audio/mpeg3" | "audio/x-mpeg" => "audio/mpeg",
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav",
        "audio/m4a" | "audio/x-m4a" => "audio/mp4",
        "audio/x-aac" | "audio/aacp" => "audio/aac",
        "audio/x-flac" => "audio/flac",
        "audio/x-aiff" => "audio/aiff",
        "audio/opus" => "audio/ogg",
        "video/mov" => "video/quicktime",
        "video/avi" | "video/msvideo" => "video/x-msvideo",
        "video/x-m4v" => "video/mp4",
        "video/matroska" => "video/x-matroska",
        other => other,
    }
    .to_owned()
}

fn look(data: &[u8]) -> Option<Found> {
    use Found::{Both, One};
    use MediaKind::{Audio, Image, Video};
    let at = |from: usize, word: &[u8]| data.get(from..from + word.len()) == Some(word);
    Some(if at(0, b"\x89PNG\r\n\x1a\n") {
        One(Image, "image/png")
    } else if at(0, b"\xff\xd8\xff") {
        One(Image, "image/jpeg")
    } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
        One(Image, "image/gif")
    } else if at(0, b"RIFF") {
        match data.get(8..12)? {
            b"WEBP" => One(Image, "image/webp"),
            b"WAVE" => One(Audio, "audio/wav"),
            b"AVI " => One(Video, "video/x-msvideo"),
            _ => return None,
        }
    } else if at(4, b"ftyp") {
        brand(data.get(8..12)?)?
    } else if at(0, b"\x1a\x45\xdf\xa3") {
        let head = data.get(..data.len().min(HEAD_BYTES))?;
        match head.windows(4).any(|word| word == b"webm") {
            true => Both(Video, "video/webm", Audio, "audio/webm"),
            false => Both(Video, "video/x-matroska", Audio, "audio/x-matroska"),
        }
    } else if at(0, b"\0\0\x01\xba") || at(0, b"\0\0\x01\xb3") {
        One(Video, "video/mpeg")
    } else if at(0, b"OggS") {
        Both(Audio, "audio/ogg", Video, "video/ogg")
    } else if at(0, b"fLaC") {
        One(Audio, "audio/flac")
    } else if at(0, b"FORM") && (at(8, b"AIFF") || at(8, b"AIFC")) {
        One(Audio, "audio/aiff")
    } else if at(0, b"ID3") || is_mp3_frame(data) {
        One(Audio, "audio/mpeg")
    } else if data.len() >= 7 && data[0] == 0xff && data[1] & 0xf6 == 0xf0 {
        One(Audio, "audio/aac")
    } else {
        return None;
    })
}

/// What the brand of an ISO container says; pictures in one (HEIC, AVIF) are not taken.
fn brand(brand: &[u8]) -> Option<Found> {
    use Found::{Both, One};
    use MediaKind::{Audio, Video};
    Some(match brand {
        b"qt  " => One(Video, "video/quicktime"),
        b"M4A " | b"M4B " | b"M4P " | b"F4A " => One(Audio, "audio/mp4"),
        b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1" | b"avif" | b"avis" => {
            return None;
        }
        _ => Both(Video, "video/mp4", Audio, "audio/mp4"),
    })
}

/// Whether a frame of MPEG audio, layer III, begins here: its sync bits and no value that is none.
fn is_mp3_frame(data: &[u8]) -> bool {
    let [first, second, third, _, ..] = *data else {
        return false;
    };
    let is_sync = first == 0xff && second & 0xe0 == 0xe0;
    let has_version = second & 0x18 != 0x08;
    let is_layer_three = second & 0x06 == 0x02;
    let has_rates = third & 0xf0 != 0xf0 && third & 0x0c != 0x0c;
    is_sync && has_version && is_layer_three && has_rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(data: &[u8], expected: Option<(MediaKind, &'static str)>) {
        assert_eq!(media_of(data), expected, "{data:?}");
    }

    #[test]
    fn the_first_bytes_tell_the_type() {
        use MediaKind::{Audio, Image, Video};
        for (data, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], (Image, "image/png")),
            (b"\xff\xd8\xff\xe0", (Image, "image/jpeg")),
            (b"GIF87a", (Image, "image/gif")),
            (b"GIF89a", (Image, "image/gif")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", (Image, "image/webp")),
            (b"RIFF\x10\0\0\0WAVEfmt ", (Audio, "audio/wav")),
            (b"RIFF\x10\0\0\0AVI LIST", (Video, "video/x-msvideo")),
            (b"\0\0\0\x18ftypmp42\0\0", (Video, "video/mp4")),
            (b"\0\0\0\x14ftypqt  \0\0", (Video, "video/quicktime")),
            (b"\0\0\0\x20ftypM4A \0\0", (Audio, "audio/mp4")),
            (b"\x1a\x45\xdf\xa3\x01B\x82webm", (Video, "video/webm")),
            (b"\x1a\x45\xdf\xa3\x01B\x82mat", (Video, "video/x-matroska")),
            (b"\0\0\x01\xba\x44", (Video, "video/mpeg")),
            (b"OggS\0\x02", (Audio, "audio/ogg")),
            (b"fLaC\0\0", (Audio, "audio/flac")),
            (b"FORM\0\0\0\x10AIFFCOMM", (Audio, "audio/aiff")),
            (b"ID3\x04\0\0", (Audio, "audio/mpeg")),
            (b"\xff\xfb\x90\x64\0", (Audio, "audio/mpeg")),
            (b"\xff\xf1\x50\x80\x03\x1f\xfc", (Audio, "audio/aac")),
        ] {
            check(data, Some(expected));
        }
        for data in [
            &b""[..],
            b"RIFF",
            b"RIFF\x10\0\0\0ACON",
            b"\x89PNG",
            b"<svg xmlns=",
            b"%PDF-1.7",
            b"\0\0\0\x18ftypheic",
            b"\0\0\0\x18ftyp",
            b"\xff\xfb\xf0\x64\0",
            b"\xff\xff\xff\xff\xff\xff\xff",
            b"\xff\xf1",
        ] {
            check(data, None);
        }
    }

    #[test]
    fn the_name_of_a_file_says_what_it_may_be() {
        for (path, expected) in [
            ("a.png", "image/png"),
            ("in/a.b.JPEG", "image/jpeg"),
            ("clip.mp4", "video/mp4"),
            ("in.png/clip", ""),
            ("noext", ""),
            (".png", "image/png"),
            ("a.bin", ""),
        ] {
            assert_eq!(media_type_of_name(path), expected, "{path}");
        }
    }

    #[test]
    fn a_file_is_what_its_bytes_are_and_its_name_tells_sound_from_film() {
        use MediaKind::{Audio, Image, Video};
        for (path, data, expected) in [
            ("a.mp4", PNG, Some((Image, "video/mp4"))),
            ("a.m4a", MP4, Some((Audio, "audio/mp4"))),
            ("a.mp4", MP4, Some((Video, "video/mp4"))),
            ("a", MP4, Some((Video, ""))),
            ("a.png", b"no", None),
        ] {
            assert_eq!(media_of_file(path, data), expected, "{path}");
        }
    }

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";
    const MP4: &[u8] = b"\0\0\0\x18ftypisom\0\0";
    const WEBM: &[u8] = b"\x1a\x45\xdf\xa3\x01B\x82webm";

    /// What becomes of one piece of media, after a text.
    #[track_caller]
    fn check_settled(kind: MediaKind, said: &str, data: &[u8], expected: &str) {
        let text = ContentBlock::Text("look".to_owned());
        let mut content = [text, ContentBlock::media(kind, said, data.into())];
        let told = match settle_media(&mut content) {
            Ok(mismatches) => {
                let media = content[1].as_media().unwrap();
                assert_eq!(&**media.data, data);
                let (kind, mime_type) = (media.kind.as_str(), media.mime_type);
                let told = mismatches
                    .iter()
                    .map(|m| format!("; part {} is {}, not {}", m.part, m.found, m.said));
                format!("{kind} {mime_type}{}", told.collect::<String>())
            }
            Err(error) => error.to_string().chars().take(24).collect(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn bytes_beat_what_is_said_about_them_and_the_slip_is_told() {
        use MediaKind::{Audio, Image, Video};
        for (kind, said, data, expected) in [
            (Image, "image/png", PNG, "image image/png"),
            (Image, "", PNG, "image image/png"),
            (Image, "IMAGE/PNG; q=1", PNG, "image image/png"),
            (Image, "application/octet-stream", PNG, "image image/png"),
            (
                Image,
                "image/jpeg",
                PNG,
                "image image/png; part 1 is image/png, not image/jpeg",
            ),
            (
                Video,
                "video/mp4",
                PNG,
                "image image/png; part 1 is image/png, not video/mp4",
            ),
            (
                Video,
                "",
                PNG,
                "image image/png; part 1 is image/png, not video",
            ),
            (
                Image,
                "nonsense",
                PNG,
                "image image/png; part 1 is image/png, not nonsense",
            ),
            (Image, "image/jpg", b"\xff\xd8\xff\xe0", "image image/jpeg"),
            (Audio, "audio/mp3", b"ID3\x04", "audio audio/mpeg"),
            // A container with sound alone is what it is said to be.
            (Video, "", MP4, "video video/mp4"),
            (Audio, "", MP4, "audio audio/mp4"),
            (Audio, "audio/x-m4a", MP4, "audio audio/mp4"),
            (Audio, "audio/webm;codecs=opus", WEBM, "audio audio/webm"),
            (
                Image,
                "",
                WEBM,
                "video video/webm; part 1 is video/webm, not image",
            ),
            (
                Image,
                "audio/webm",
                WEBM,
                "audio audio/webm; part 1 is audio/webm, not image",
            ),
            (Image, "image/png", b"%PDF-1.7", "`content[1]` is no image"),
        ] {
            check_settled(kind, said, data, expected);
        }
    }
}
