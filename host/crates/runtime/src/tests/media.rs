//! Content as programs write it, at the top: media under its true type, told where it was mistaken.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, MediaFiles, MediaKind, MediaMismatch, NoFiles};
use openprogram_core::decision::{MenuOption, Payload};
use openprogram_core::llm::Provider;
use openprogram_core::session::NodeQuery;
use serde_json::json;

use super::shop::{run_work, shop};
use super::turns::model;
use super::{decision, nodes, runtime_with, text, value};
use crate::testing::{NativeCall, ScriptedDecider, function, passed_on, shown_request};
use crate::{DecideRequest, Event, Providers, Runtime, TurnRequest, event_channel};

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

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Which of two things a picture shows, said to be a film.
fn showing(data: &[u8]) -> DecideRequest {
    let option = |name: &str| MenuOption::new(name.to_owned(), None, Payload::Value(name.into()));
    let mut request = DecideRequest::new("What is this?", vec![option("cat"), option("dog")]);
    request.media = vec![ContentBlock::media(MediaKind::Video, "", data.into())];
    request
}

fn deciding(provider: Arc<dyn Provider>) -> Runtime {
    runtime_with(shop(), |parts| parts.providers = Providers::all(provider))
}

#[tokio::test]
async fn a_decision_is_shown_a_picture_every_time_it_is_asked() {
    let model = model(vec!["a bird".into(), r#"{"call": "dog"}"#.into()]);
    let runtime = deciding(model.clone());
    let (sender, mut receiver) = event_channel(64);
    let mut request = showing(PNG);
    request.events = Some(sender);
    let outcome = runtime.decide(request).await;
    assert_eq!(outcome.result.unwrap().option, "dog");
    let requests = model.requests();
    expect_test::expect![[r#"
        [user]
        (image/png, 8 bytes)
        [user]
        What is this?

        cat()
            Call: {"call": "cat"}

        dog()
            Call: {"call": "dog"}
    "#]]
    .assert_eq(&shown_request(&requests[0]));
    for request in &requests {
        let blocks = request.messages.iter().flat_map(|message| &message.content);
        let media: Vec<_> = blocks.filter_map(ContentBlock::as_media).collect();
        assert_eq!(media.last().unwrap().mime_type, "image/png");
        assert_eq!(&**media.last().unwrap().data, PNG);
    }
    let session = outcome.session.unwrap();
    let nodes = runtime.store().nodes(&session, NodeQuery::default());
    let facts = nodes.await.unwrap().remove(0).opened.facts;
    let mismatch = json!([{"part": 0, "said": "video", "found": "image/png"}]);
    assert_eq!(facts["media_mismatch"], mismatch);
    let mut n_told = 0;
    while let Some(event) = receiver.next().await {
        n_told += usize::from(matches!(event, Event::MediaMismatch { .. }));
    }
    assert_eq!(n_told, 1);
}

#[tokio::test]
async fn a_decision_of_a_function_is_shown_the_same() {
    let model = model(vec![
        "a bird".into(),
        r#"{"call": "dog"}"#.into(),
        r#"{"call": "cat"}"#.into(),
    ]);
    let deciding = |call: NativeCall| async move {
        let options = [value("cat", json!("meow")), value("dog", json!("wow"))];
        let mut request = decision("What is this?", options.into());
        request.media = vec![ContentBlock::media(MediaKind::Video, "", PNG.into())];
        let made = call.services.make(request.clone()).await;
        made.map_err(passed_on)?;
        // Whoever reads a reply of elsewhere shows the same when it asks again.
        let read = call
            .services
            .parse("a bird".to_owned(), request.clone())
            .await;
        assert_eq!(read.map_err(passed_on)?.name, "cat");
        request.media = vec![ContentBlock::Text("words".to_owned())];
        let refused = call.services.make(request).await.unwrap_err();
        Ok(Json::from(refused.message))
    };
    let work = function("shop", "work", "Works.", [text("runtime")]);
    let (runtime, outcome) = run_work(shop().with(work, deciding), model.clone(), |_| ()).await;
    let refused = "a decision is shown images, video and audio only; texts go into its prompt";
    assert_eq!(outcome.result.clone().unwrap(), refused);
    for request in &model.requests() {
        let blocks = request.messages.iter().flat_map(|message| &message.content);
        let media: Vec<_> = blocks.filter_map(ContentBlock::as_media).collect();
        assert_eq!(media.last().unwrap().mime_type, "image/png");
    }
    let nodes = nodes(&runtime, &outcome).await;
    let mismatch = json!([{"part": 0, "said": "video", "found": "image/png"}]);
    assert_eq!(nodes[1].opened.facts["media_mismatch"], mismatch);
}

#[tokio::test]
async fn a_model_that_weighs_sees_no_picture_and_is_not_asked() {
    let weights = || [[("cat", 0.9), ("dog", 0.1)]];
    let alone = Arc::new(ScriptedDecider::new(weights()));
    let outcome = deciding(alone.clone()).decide(showing(PNG)).await;
    let refused = "`scripted:decider` cannot make this decision: it weighs options by words alone, \
                   and the decision shows a file; name a model that writes";
    assert_eq!(outcome.result.unwrap_err().to_string(), refused);
    // One that writes too writes its pick.
    let writer = crate::testing::ScriptedProvider::new([r#"{"call": "dog"}"#]);
    let both = Arc::new(ScriptedDecider::new(weights()).writing(writer));
    let runtime = deciding(both.clone());
    let outcome = runtime.decide(showing(PNG)).await;
    let pick = outcome.result.unwrap();
    assert_eq!((&*pick.option, pick.method), ("dog", "text"));
    let session = outcome.session.unwrap();
    let nodes = runtime.store().nodes(&session, NodeQuery::default());
    let facts = nodes.await.unwrap().remove(0).opened.facts;
    let why = "it weighs options by words alone, and the decision shows a file";
    assert_eq!(facts["passed_over"]["endpoint"], why);
    for decider in [alone, both] {
        assert!(decider.states().is_empty());
    }
}

#[tokio::test]
async fn a_decision_is_shown_media_alone_and_of_known_kinds() {
    let model = model(Vec::new());
    let runtime = deciding(model.clone());
    let mut text = showing(PNG);
    text.media = vec![ContentBlock::Text("words".to_owned())];
    for (request, path) in [(text, "media"), (showing(b"words"), "content[0]")] {
        let outcome = runtime.decide(request).await;
        let failure = outcome.result.unwrap_err();
        assert_eq!(failure.code.as_str(), "invalid-argument");
        assert_eq!(failure.details["path"], path);
        assert_eq!(outcome.session, None);
    }
}

#[tokio::test]
async fn a_turn_is_checked_without_being_made() {
    let model = model(Vec::new());
    let runtime = deciding(model.clone());
    assert_eq!(
        runtime.check_turn(TurnRequest::text("Hello.")).await,
        Ok(())
    );
    let mut searching = TurnRequest::text("Hello.");
    searching.turn.web_search = true;
    let refused = runtime.check_turn(searching).await.unwrap_err();
    let part = "`scripted:text` is not known to search the web";
    assert!(refused.to_string().starts_with(part), "{refused}");
}
