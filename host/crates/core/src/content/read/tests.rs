//! The vectors of content blocks, and what they do not hold.
//!
//! All of them are information and none is law. Their data and their files are stand-ins: `QQ==`
//! becomes bytes of the kind of its block, a file those of its extension, PNG for want of one.

use serde_json::json;

use super::*;
use crate::content::{CacheTtl, settle_media};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";
const MP3: &[u8] = b"ID3\x04rest";
const MP4: &[u8] = b"\0\0\0\x18ftypisom\0\0";

/// What ours gives where the vectors have something else, and why.
const DIFFERENCES: [(&str, &str, &str); 9] = [
    (
        "content/only_unknown",
        r#"{"system":null,"parts":[]}"#,
        "nothing is said: the turn is refused, and no empty text is sent",
    ),
    (
        "content/system_only",
        r#"{"system":"S","parts":[]}"#,
        "nothing is said: the turn is refused, and no empty text is sent",
    ),
    (
        "content/image_nothing_skipped",
        r#"{"system":null,"parts":[]}"#,
        "nothing is said: the turn is refused, and no empty text is sent",
    ),
    (
        "content/text_without_text",
        "`content[0].text`: a block of the type `text` needs a text under this name",
        "the same end in our words",
    ),
    (
        "content/image_missing_file",
        "`content[0].path`: `$TMP/none.png` is not there",
        "the same end in our words",
    ),
    (
        "content/video_path/v.mp4",
        r#"{"system":null,"parts":[{"type":"image","data":"$B64","mime_type":"image/png"}]}"#,
        "a PNG is a picture, whatever it is called",
    ),
    (
        "content/video_path/v.webm",
        r#"{"system":null,"parts":[{"type":"image","data":"$B64","mime_type":"image/png"}]}"#,
        "a PNG is a picture, whatever it is called",
    ),
    (
        "content/video_path/a.png",
        r#"{"system":null,"parts":[{"type":"image","data":"$B64","mime_type":"image/png"}]}"#,
        "a PNG is a picture, whatever it is called",
    ),
    (
        "content/invalid_base64_passes",
        "`content[0].data`: it is not base64; encode the bytes of the file",
        "what is no base64 is refused before any request",
    ),
];

struct Files;

impl MediaFiles for Files {
    fn read(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
        let name = path.rsplit('/').next().unwrap();
        let bytes: &[u8] = match name {
            "none.png" => return Err(format!("`{path}` is not there")),
            "b.jpg" | "c.JPEG" => b"\xff\xd8\xff\xe0",
            "d.gif" => b"GIF89a",
            "e.webp" => b"RIFF\x10\0\0\0WEBPVP8 ",
            _ => PNG,
        };
        match bytes.len() as u64 <= bytes_max {
            true => Ok(bytes.to_vec()),
            false => Err(format!("`{path}` holds more than {bytes_max} bytes")),
        }
    }
}

/// The blocks of a case, with bytes of the right kind for the stand-in.
fn blocks_of(case: &Json) -> Json {
    let mut blocks = case["blocks"].clone();
    for block in blocks.as_array_mut().unwrap() {
        if block["data"] == "QQ==" {
            let bytes = match block["type"].as_str().unwrap() {
                "audio" => MP3,
                "video" => MP4,
                _ => PNG,
            };
            block["data"] = STANDARD.encode(bytes).into();
        }
    }
    blocks
}

/// What was read, as the vectors write it.
fn told(mut read: ContentRead, from_file: bool, case: &Json) -> String {
    settle_media(&mut read.content).unwrap();
    let mut parts: Vec<Json> = Vec::new();
    for block in &read.content {
        if let Some(media) = block.as_media() {
            let data = match from_file {
                true => "$B64".to_owned(),
                false => "QQ==".to_owned(),
            };
            // The vectors call it by another of its names.
            let mime_type = match (media.mime_type, case["id"].as_str()) {
                ("audio/mpeg", Some("content/audio_data")) => "audio/mp3",
                (mime_type, _) => mime_type,
            };
            let kind = media.kind.as_str();
            parts.push(json!({"type": kind, "data": data, "mime_type": mime_type}));
        } else if let Some(text) = block.as_text() {
            parts.push(json!({"type": "text", "text": text}));
        } else if let Some(Json::Object(last)) = parts.last_mut() {
            last.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
    }
    let system = (!read.system.is_empty()).then(|| read.system.join("\n\n"));
    json!({"system": system, "parts": parts}).to_string()
}

#[test]
fn content_is_read_as_in_the_vectors_but_for_what_is_tabled() {
    let file = include_str!("../../../fixtures/vectors/content_blocks.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut n_different = 0;
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let from_file = case["blocks"].to_string().contains("\"path\"");
        let ours = match read_content(&blocks_of(case), &Files, &MediaLimits::default()) {
            Ok(read) => told(read, from_file, case),
            Err(error) => error.to_string(),
        };
        let theirs = match case.get("error") {
            Some(error) => error.to_string(),
            None => json!({"system": case["system"], "parts": case["parts"]}).to_string(),
        };
        match DIFFERENCES.iter().find(|(tabled, ..)| *tabled == id) {
            Some((_, expected, reason)) => {
                assert_eq!(ours, *expected, "{id}: {reason}");
                assert_ne!(ours, theirs, "{id} is no difference");
                n_different += 1;
            }
            None => assert_eq!(ours, theirs, "{id}"),
        }
    }
    assert_eq!((cases.len(), n_different), (27, DIFFERENCES.len()));
}

#[track_caller]
fn check_refused(content: Json, files: &dyn MediaFiles, expected: &str) {
    let limits = MediaLimits {
        image_bytes: 20,
        ..MediaLimits::default()
    };
    let error = read_content(&content, files, &limits).unwrap_err();
    let failure = error.to_failure();
    let which = failure.details.get("which").and_then(Json::as_str);
    let path = failure.details.get("path").and_then(Json::as_str);
    let named = which.or(path).unwrap_or_default();
    let told = format!("{} {named}: {error}", failure.code.as_str());
    assert_eq!(told, expected);
}

#[test]
fn what_is_not_of_its_form_is_refused_and_named() {
    let png = STANDARD.encode(PNG);
    for (content, expected) in [
        (
            json!(7),
            "invalid-argument content: `content`: it must be a text or an array of blocks",
        ),
        (
            json!(["hello"]),
            "invalid-argument content[0]: `content[0]`: it must be an object, such as \
             {\"type\": \"text\", \"text\": \"…\"}",
        ),
        (
            json!([{"type": 1}]),
            "invalid-argument content[0].type: `content[0].type`: it must be a text",
        ),
        (
            json!([{"type": "image", "path": 1}]),
            "invalid-argument content[0].path: `content[0].path`: it must be a text",
        ),
        (
            json!([{"text": "a", "cache_control": true}]),
            "invalid-argument content[0].cache_control: `content[0].cache_control`: it must be \
             {\"type\": \"ephemeral\"}, with or without `ttl`",
        ),
        (
            json!([{"text": "a", "cache_control": {"type": "ephemeral", "ttl": "2h"}}]),
            "invalid-argument content[0].cache_control.ttl: `content[0].cache_control.ttl`: it must be \
             `5m` or `1h`",
        ),
        (
            json!([{"text": "a", "cache_control": {"type": "ephemeral", "ttl": 3600}}]),
            "invalid-argument content[0].cache_control.ttl: `content[0].cache_control.ttl`: it must be \
             `5m` or `1h`",
        ),
        (
            json!([{"type": "image", "data": png}, {"type": "image", "data": png}]),
            "limit-reached image_bytes: `content[1].data`: the turn has more than 20 bytes of image",
        ),
        (
            json!([{"type": "image", "data": png}, {"type": "image", "path": "a.png"}]),
            "invalid-argument content[1].path: `content[1].path`: `a.png` holds more than 8 bytes",
        ),
        (
            json!(vec![json!({"text": "a"}); 1_001]),
            "limit-reached turn_parts: `content`: it has more than 1000 blocks",
        ),
    ] {
        check_refused(content, &Files, expected);
    }
    check_refused(
        json!([{"type": "audio", "path": "in/\u{7}a.wav"}]),
        &NoFiles,
        "invalid-argument content[0].path: `content[0].path`: `in/a.wav` may not be read: files are \
         not offered here; give the bytes as `data` in base64",
    );
}

#[test]
fn a_text_alone_is_content_and_marks_stand_behind_what_they_close() {
    let read = |content: Json| read_content(&content, &NoFiles, &MediaLimits::default()).unwrap();
    let text = |text: &str| ContentBlock::Text(text.to_owned());
    assert_eq!(read(json!("hi")).content, [text("hi")]);
    let marked = read(json!([
        {"text": "rules", "role": "system", "cache_control": {"type": "ephemeral"}},
        {"text": "long", "cache_control": {"type": "ephemeral"}},
        {"text": "short", "cache_control": null},
    ]));
    let mark = ContentBlock::CacheMark;
    assert_eq!(
        marked.content,
        [
            mark(CacheTtl::Usual),
            text("long"),
            mark(CacheTtl::Usual),
            text("short")
        ]
    );
    assert_eq!(marked.system, ["rules"]);
    let kept = |ttl: &str| json!({"type": "ephemeral", "ttl": ttl});
    let marked = read(json!([
        {"text": "rules", "role": "system", "cache_control": kept("5m")},
        {"text": "more", "role": "system", "cache_control": kept("1h")},
        {"text": "long", "cache_control": kept("5m")},
    ]));
    assert_eq!(
        marked.content,
        [
            mark(CacheTtl::Hour),
            text("long"),
            mark(CacheTtl::FiveMinutes)
        ]
    );
}
