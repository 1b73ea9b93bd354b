//! Content as programs write it, at the top: media under its true type, told where it was mistaken.

use std::sync::Arc;

use openprogram_core::content::{MediaFiles, MediaMismatch, NoFiles};
use openprogram_core::session::NodeQuery;
use serde_json::json;

use super::runtime_with;
use super::shop::shop;
use super::turns::model;
use crate::testing::shown_request;
use crate::{Event, Providers, TurnRequest, event_channel};

/// One file, a picture that is called a film.
struct OneFile;

impl MediaFiles for OneFile {
    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, String> {
        match path {
            "clip.mp4" => Ok(b"\x89PNG\r\n\x1a\n".to_vec()),
            _ => Err(format!("`{path}` is not there")),
        }
    }
}

#[tokio::test]
async fn media_is_sent_as_what_it_is_and_the_slip_is_told() {
    let model = model(vec!["Four colours.".into()]);
    let provider = Arc::clone(&model);
    let runtime = runtime_with(shop(), |parts| parts.providers = Providers::all(provider));
    let content = json!([
        {"text": "Be brief.", "role": "system"},
        {"text": "What is this?", "cache_control": {"type": "ephemeral"}},
        {"type": "hologram"},
        {"type": "video", "path": "clip.mp4"},
    ]);
    let (sender, mut receiver) = event_channel(64);
    let mut request = TurnRequest::read(&content, &OneFile).unwrap();
    request.turn.tools = openprogram_core::guest::ToolsWanted::Named(Vec::new());
    request.events = Some(sender);
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().text, "Four colours.");
    let requests = model.requests();
    expect_test::expect![[r#"
        [system]
        Be brief.
        [user]
        What is this?
        [user]
        (cached up to here)
        [user]
        (image/png, 8 bytes)
    "#]]
    .assert_eq(&shown_request(&requests[0]));
    let session = outcome.session.unwrap();
    let nodes = runtime.store().nodes(&session, NodeQuery::default());
    let nodes = nodes.await.unwrap();
    assert_eq!(
        nodes[1].opened.facts["media_mismatch"],
        json!([{"part": 2, "said": "video/mp4", "found": "image/png"}])
    );
    let mut told = Vec::new();
    while let Some(event) = receiver.next().await {
        if let Event::MediaMismatch { caller, mismatch } = event {
            told.push((caller, mismatch));
        }
    }
    let mismatch = MediaMismatch {
        part: 2,
        said: "video/mp4".to_owned(),
        found: "image/png",
    };
    assert_eq!(told, [(None, mismatch)]);
}

#[tokio::test]
async fn content_that_cannot_be_read_is_refused_before_anything_is_asked() {
    let told = |content, files: &dyn MediaFiles| {
        let refused = TurnRequest::read(&content, files).map(drop);
        refused.map_err(|failure| format!("{}: {failure}", failure.code.as_str()))
    };
    let gone = json!([{"type": "image", "path": "gone.png"}]);
    assert_eq!(
        told(gone.clone(), &OneFile),
        Err("invalid-argument: `content[0].path`: `gone.png` is not there".into())
    );
    assert!(told(gone, &NoFiles).is_err());
    // What says nothing is refused when the turn is made.
    let nothing = json!([{"type": "hologram"}]);
    let request = TurnRequest::read(&nothing, &NoFiles).unwrap();
    let model = model(vec!["never".into()]);
    let provider = Arc::clone(&model);
    let runtime = runtime_with(shop(), |parts| parts.providers = Providers::all(provider));
    let failure = runtime.exec(request).await.result.unwrap_err();
    assert_eq!(failure.details["path"], "content");
    assert_eq!(model.n_left(), 1);
}
