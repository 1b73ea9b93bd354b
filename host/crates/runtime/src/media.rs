//! Pictures, films and sound of turns and decisions: within their limits, under their true type, and
//! told where they were mistaken for something else.

use openprogram_core::JsonObject;
use openprogram_core::content::{ContentBlock, MediaKind, MediaMismatch, settle_media};
use openprogram_core::failure::{Failure, FailureCode};
use serde_json::json;

use crate::events::Event;
use crate::frame::Frame;
use crate::ports::Ports;

/// Gives all media the type of its bytes, and tells what it was mistaken for.
///
/// # Errors
/// `limit-reached` for more of a kind than a turn may hold, `invalid-argument` for bytes of no known
/// kind.
pub(crate) fn settled(
    ports: &Ports,
    content: &mut [ContentBlock],
) -> Result<Vec<MediaMismatch>, Failure> {
    for kind in MediaKind::ALL {
        let media = content.iter().filter_map(ContentBlock::as_media);
        let of_kind = media.filter(|media| media.kind == kind);
        let (which, most) = ports.parts.limits.media().of(kind);
        check_bytes(
            which,
            of_kind.map(|media| media.data.len()),
            most,
            kind.as_str(),
        )?;
    }
    settle_media(content).map_err(|error| {
        let path = format!("content[{}]", error.part);
        Failure::new(FailureCode::InvalidArgument, error.to_string()).with("path", path)
    })
}

/// Checks that content has no more bytes than it may.
///
/// # Errors
/// `limit-reached`, named `which`.
pub(crate) fn check_bytes(
    which: &'static str,
    lengths: impl Iterator<Item = usize>,
    most: u64,
    what: &str,
) -> Result<(), Failure> {
    let count: u64 = lengths.map(|length| length as u64).sum();
    if count <= most {
        return Ok(());
    }
    let message = format!("the turn has {count} bytes of {what}; the most is {most}");
    Err(Failure::limit(which, most, message))
}

/// What a node says of media that was mistaken for something else.
pub(crate) fn mismatch_facts(mismatches: &[MediaMismatch]) -> JsonObject {
    let mut facts = JsonObject::new();
    if !mismatches.is_empty() {
        let listed = mismatches
            .iter()
            .map(|m| json!({"part": m.part, "said": m.said, "found": m.found}));
        facts.insert("media_mismatch".to_owned(), listed.collect());
    }
    facts
}

/// Tells the watcher of it.
pub(crate) fn tell_mismatches(frame: &Frame, mismatches: &[MediaMismatch]) {
    for mismatch in mismatches {
        frame.run.emit(|| Event::MediaMismatch {
            caller: frame.node.clone(),
            mismatch: mismatch.clone(),
        });
    }
}
