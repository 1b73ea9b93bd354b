//! Content as programs write it down: a text, or a JSON array of blocks.
//!
//! Files are read by whoever may read them: nothing here opens one. A kind of block that is not
//! known says nothing, so that content of later versions is still read.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{CacheTtl, ContentBlock, MediaKind, MediaLimits, media_type_of_name};
use crate::failure::{Failure, FailureCode};
use crate::{Json, JsonObject};

/// Most blocks of one turn; the contract of `request.add-text`.
const BLOCKS_MAX: usize = 1_000;

/// Reads the files that content names, as far as its author may read them.
pub trait MediaFiles {
    /// The bytes of the file at this path.
    ///
    /// # Errors
    /// One sentence that names the path, when it may not be read, is not there, is no file, or holds
    /// more than `bytes_max` bytes. It is permanent: nothing is asked of a model.
    fn read(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, String>;
}

/// No file may be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl MediaFiles for NoFiles {
    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, String> {
        Err(format!(
            "`{}` may not be read: files are not offered here; give the bytes as `data` in base64",
            shown(path)
        ))
    }
}

/// Content that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentRead {
    /// What is said, in order. Media has the type that it is said to have: see
    /// [`settle_media`](super::settle_media).
    pub content: Vec<ContentBlock>,
    /// The texts of the role `system`, for the system prompt.
    pub system: Vec<String>,
}

/// Content that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {message}")]
pub struct ContentError {
    /// The place, for example `content[2].data`.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
    /// The limit that was reached, if it is that.
    pub limit: Option<(&'static str, u64)>,
}

impl ContentError {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            limit: None,
        }
    }

    /// The error as callers see it: `invalid-argument`, or `limit-reached`.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        match self.limit {
            Some((which, limit)) => Failure::limit(which, limit, self.to_string()),
            None => Failure::new(FailureCode::InvalidArgument, self.to_string())
                .with("path", self.path.clone()),
        }
    }
}

/// Reads content: a text, or an array of blocks.
///
/// - `{"type": "text", "text"}`; `type` may be left out. With `"role": "system"` the text belongs to
///   the system prompt.
/// - `{"type": "image" | "video" | "audio", "data", "mime_type"}`, the data in base64, or with
///   `path` in place of `data`.
/// - `"cache_control": {"type": "ephemeral"}`, with or without a `"ttl"` of `"5m"` or `"1h"`, on a
///   text or a picture becomes a [`ContentBlock::CacheMark`] behind it, at the front for a text of the
///   system prompt.
///
/// A block of another type is passed over, and so is a picture with neither data nor path.
///
/// # Errors
/// When a block is not of its form, data is not base64, or a file cannot be read.
pub fn read_content(
    content: &Json,
    files: &dyn MediaFiles,
    limits: &MediaLimits,
) -> Result<ContentRead, ContentError> {
    let blocks = match content {
        Json::String(text) => {
            return Ok(ContentRead {
                content: vec![ContentBlock::Text(text.clone())],
                system: Vec::new(),
            });
        }
        Json::Array(blocks) => blocks,
        _ => {
            let message = "it must be a text or an array of blocks";
            return Err(ContentError::new("content", message));
        }
    };
    if blocks.len() > BLOCKS_MAX {
        return Err(ContentError {
            limit: Some(("turn_parts", BLOCKS_MAX as u64)),
            ..ContentError::new("content", format!("it has more than {BLOCKS_MAX} blocks"))
        });
    }
    let mut reading = Reading {
        files,
        limits,
        used: [0; 3],
        read: ContentRead::default(),
    };
    for (index, block) in blocks.iter().enumerate() {
        reading.block(block, &format!("content[{index}]"))?;
    }
    Ok(reading.read)
}

struct Reading<'a> {
    files: &'a dyn MediaFiles,
    limits: &'a MediaLimits,
    /// Bytes of each kind so far.
    used: [u64; 3],
    read: ContentRead,
}

impl Reading<'_> {
    fn block(&mut self, block: &Json, path: &str) -> Result<(), ContentError> {
        let Json::Object(block) = block else {
            let message = "it must be an object, such as {\"type\": \"text\", \"text\": \"…\"}";
            return Err(ContentError::new(path, message));
        };
        let word = match block.get("type") {
            None => "text",
            Some(Json::String(word)) => word,
            Some(_) => {
                return Err(ContentError::new(
                    format!("{path}.type"),
                    "it must be a text",
                ));
            }
        };
        let mark = cache_mark(block, path)?;
        if word == "text" {
            return self.text(block, path, mark);
        }
        let Some(kind) = MediaKind::parse(word) else {
            return Ok(());
        };
        let Some(media) = self.media(kind, block, path)? else {
            return Ok(());
        };
        self.read.content.push(media);
        if kind == MediaKind::Image {
            self.read.content.extend(mark);
        }
        Ok(())
    }

    fn text(
        &mut self,
        block: &JsonObject,
        path: &str,
        mark: Option<ContentBlock>,
    ) -> Result<(), ContentError> {
        let Some(Json::String(text)) = block.get("text") else {
            let message = "a block of the type `text` needs a text under this name";
            return Err(ContentError::new(format!("{path}.text"), message));
        };
        let ContentRead { content, system } = &mut self.read;
        if block.get("role").and_then(Json::as_str) == Some("system") {
            system.push(text.clone());
            match (content.first_mut(), mark) {
                // The system prompt is one for the provider: the longest time counts.
                (Some(ContentBlock::CacheMark(ttl)), Some(ContentBlock::CacheMark(more))) => {
                    *ttl = (*ttl).max(more);
                }
                (_, Some(mark)) => content.insert(0, mark),
                (_, None) => {}
            }
            return Ok(());
        }
        content.push(ContentBlock::Text(text.clone()));
        content.extend(mark);
        Ok(())
    }

    fn media(
        &mut self,
        kind: MediaKind,
        block: &JsonObject,
        path: &str,
    ) -> Result<Option<ContentBlock>, ContentError> {
        let text = |name: &str| match block.get(name) {
            None | Some(Json::Null) => Ok(""),
            Some(Json::String(text)) => Ok(text.as_str()),
            Some(_) => Err(ContentError::new(
                format!("{path}.{name}"),
                "it must be a text",
            )),
        };
        let (data, file) = (text("data")?, text("path")?);
        let mut mime_type = text("mime_type")?;
        let (which, most) = self.limits.of(kind);
        let used = &mut self.used[kind as usize];
        let too_many = |place: String| ContentError {
            limit: Some((which, most)),
            ..ContentError::new(
                place,
                format!("the turn has more than {most} bytes of {}", kind.as_str()),
            )
        };
        let bytes = if !data.is_empty() {
            // Four characters are three bytes.
            if (data.len() as u64 / 4).saturating_mul(3) > most - *used + 3 {
                return Err(too_many(format!("{path}.data")));
            }
            STANDARD.decode(data).map_err(|_| {
                let message = "it is not base64; encode the bytes of the file";
                ContentError::new(format!("{path}.data"), message)
            })?
        } else if !file.is_empty() {
            if mime_type.is_empty() {
                mime_type = media_type_of_name(file);
            }
            let read = self.files.read(file, most - *used);
            read.map_err(|message| ContentError::new(format!("{path}.path"), message))?
        } else {
            return Ok(None);
        };
        *used = used.saturating_add(bytes.len() as u64);
        if *used > most {
            return Err(too_many(path.to_owned()));
        }
        Ok(Some(ContentBlock::media(kind, mime_type, Arc::from(bytes))))
    }
}

/// The hint of a block that asks to be kept in the cache of the provider.
fn cache_mark(block: &JsonObject, path: &str) -> Result<Option<ContentBlock>, ContentError> {
    let error = |place: &str, message: String| {
        let path = format!("{path}.cache_control{place}");
        Err(ContentError::new(path, message))
    };
    let control = match block.get("cache_control") {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Object(control)) if control.get("type") == Some(&"ephemeral".into()) => control,
        Some(_) => {
            let message = "it must be {\"type\": \"ephemeral\"}, with or without `ttl`";
            return error("", message.to_owned());
        }
    };
    let ttl = match control.get("ttl") {
        None | Some(Json::Null) => Ok(CacheTtl::Usual),
        Some(ttl) => ttl.as_str().unwrap_or_default().parse(),
    };
    match ttl {
        Ok(ttl) => Ok(Some(ContentBlock::CacheMark(ttl))),
        Err(wrong) => error(".ttl", wrong.to_string()),
    }
}

/// A path as an error shows it.
fn shown(path: &str) -> String {
    path.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests;
