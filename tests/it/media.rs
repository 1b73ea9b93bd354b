//! Pictures, films and sound of guests: by their bytes and by the path of a file, as a model gets
//! them and as the record tells; what may not be read, and what is no media.

use std::fs;
use std::sync::Arc;

use expect_test::{Expect, expect};
use openprogram_core::Json;
use openprogram_core::content::ContentBlock;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_tests::cli;
use openprogram_tests::host::{RunningHost, TestHost, named};
use openprogram_tests::web::{Answer, Asked, Server};
use serde_json::json;

use crate::cli::BINARY;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const MP3: &[u8] = b"ID3\x04\0\0\0\0\0\0";
const MP4: &[u8] = b"\0\0\0\x18ftypisom\0\0\0\0";

/// A project with a granted folder, and one beside it that is not.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let project = tempfile::tempdir().unwrap();
        let file = |path: &str, bytes: &[u8]| {
            let path = project.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        file("photos/a.png", PNG);
        file("photos/deep/clip.mp4", PNG);
        file("photos/sound.mp3", MP3);
        file("photos/film.mp4", MP4);
        file("photos/notes.txt", b"no picture");
        file("beside/secret.png", PNG);
        std::os::unix::fs::symlink(
            "../beside/secret.png",
            project.path().join("photos/way.png"),
        )
        .unwrap();
        Self(project)
    }

    async fn host(&self, grants: &[&str], model: &Arc<ScriptedProvider>) -> RunningHost {
        let host = TestHost::new().guest("looker").provider(model.clone());
        let grant = |host: TestHost, line: &&str| host.folder("looker", line, self.0.path());
        grants.iter().fold(host, grant).start().await
    }
}

fn model() -> Arc<ScriptedProvider> {
    Arc::new(ScriptedProvider::new(vec![ScriptedReply::from("Seen.")]))
}

/// What a model is given, one word for each block.
fn blocks(model: &ScriptedProvider) -> Vec<String> {
    let requests = model.requests();
    let said = requests.iter().flat_map(|r| &r.messages);
    // The first block tells the model where it is.
    let blocks = said.flat_map(|message| &message.content).skip(1);
    let word = |block: &ContentBlock| match block.as_media() {
        Some(media) => format!("{} {}", media.mime_type, media.data.len()),
        None if block.is_cache_mark() => format!("{block:?}"),
        None => block.as_text().unwrap_or("other").to_owned(),
    };
    blocks.map(word).collect()
}

#[tokio::test]
async fn looker_shows_files_whose_bytes_it_never_holds() {
    let (project, model) = (Project::new(), model());
    let host = project.host(&["ro:photos"], &model).await;
    let files = json!([
        "photos/a.png",
        "./photos//deep/../sound.mp3",
        "photos/deep/clip.mp4",
        "photos/film.mp4"
    ]);
    let arguments = json!({"prompt": "look", "files": files, "mark": true, "hour": true});
    let outcome = host.run("show", arguments).await;
    outcome.result.unwrap();
    assert_eq!(
        blocks(&model),
        [
            "look",
            "image/png 16",
            "audio/mpeg 10",
            "image/png 16",
            "video/mp4 16",
            "CacheMark(Usual)",
            "CacheMark(Hour)"
        ]
    );
    let nodes = host.nodes(&outcome.session.unwrap()).await;
    let asked = &nodes[1].opened;
    expect![[r#""look\n\n[image/png, 16 bytes]\n\n[audio/mpeg, 10 bytes]\n\n[image/png, 16 bytes]\n\n[video/mp4, 16 bytes]""#]]
    .assert_eq(&asked.input.to_string());
    expect![[r#"[{"part":3,"said":"video/mp4","found":"image/png"}]"#]]
        .assert_eq(&asked.facts["media_mismatch"].to_string());
    let facts = &nodes[0].end.as_ref().unwrap().facts;
    expect![[r#"[{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1}]"#]]
        .assert_eq(&facts["access"].to_string());
}

#[tokio::test]
async fn looker_shows_bytes_as_what_they_are() {
    let bytes = |data: &[u8]| Json::from(base64(data));
    for (arguments, expected) in [
        (
            json!({"image": bytes(PNG), "video": bytes(MP4), "audio": bytes(MP3)}),
            &["x", "image/png 16", "video/mp4 16", "audio/mpeg 10"][..],
        ),
        // A container with sound alone.
        (json!({"audio": bytes(MP4)}), &["x", "audio/mp4 16"]),
        (
            json!({"video": bytes(PNG), "mime_type": "video/mp4"}),
            &["x", "image/png 16"],
        ),
    ] {
        let (project, model) = (Project::new(), model());
        let host = project.host(&[], &model).await;
        let mut arguments = arguments;
        arguments["prompt"] = "x".into();
        host.call("show", arguments).await.unwrap();
        assert_eq!(blocks(&model), expected);
    }
}

pub(crate) fn base64(data: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(data)
}

/// How a turn with one file ends before any model is asked, and what is noted.
async fn check_refused(grants: &[&str], path: &str, expected: Expect) {
    let (project, model) = (Project::new(), model());
    let host = project.host(grants, &model).await;
    let arguments = json!({"prompt": "x", "files": [path]});
    let outcome = host.run("show", arguments).await;
    let failure = outcome.result.unwrap_err();
    let how = failure.details.get("how_to_allow").and_then(Json::as_str);
    let nodes = host.nodes(&outcome.session.unwrap()).await;
    let facts = &nodes[0].end.as_ref().unwrap().facts;
    let told = format!(
        "{}: {failure}\n{}\n{}\n",
        named(&failure),
        how.unwrap_or("no grant allows it"),
        facts.get("access").unwrap_or(&Json::Null),
    );
    expected.assert_eq(&told);
    assert_eq!(model.n_left(), 1, "a model was asked about {path}");
}

#[tokio::test]
async fn looker_is_refused_files_that_it_may_not_read() {
    check_refused(&[], "photos/a.png", expect![[r#"
        denied read photos/a.png: `looker` may not read `photos/a.png`: it lies in no granted folder
        openprogram grant looker --dir ro:photos
        [{"kind":"dirs","what":"read photos/a.png","refused":"`looker` may not read `photos/a.png`: it lies in no granted folder","needed":"ro:photos","n":1}]
    "#]]).await;
    check_refused(&["ro:photos"], "beside/secret.png", expect![[r#"
        denied read beside/secret.png: `looker` may not read `beside/secret.png`: it lies in no granted folder
        openprogram grant looker --dir ro:beside
        [{"kind":"dirs","what":"read beside/secret.png","refused":"`looker` may not read `beside/secret.png`: it lies in no granted folder","needed":"ro:beside","n":1}]
    "#]]).await;
    check_refused(
        &["ro:photos"],
        "photos/../beside/secret.png",
        expect![[r#"
            denied read photos/../beside/secret.png: `photos/../beside/secret.png` may not be read by this component
            no grant allows it
            [{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1},{"kind":"dirs","what":"photos/../beside/secret.png","refused":"`photos/../beside/secret.png` leads out of the granted folder","n":1}]
        "#]],
    )
    .await;
    check_refused(&["ro:photos"], "photos/way.png", expect![[r#"
        denied read photos/way.png: `photos/way.png` may not be read by this component
        no grant allows it
        [{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1},{"kind":"dirs","what":"photos/way.png","refused":"`photos/way.png` leads out of the granted folder","n":1}]
    "#]]).await;
    check_refused(&["ask ro:photos"], "photos/a.png", expect![[r#"
        denied read photos/a.png: `photos/a.png` may not be read by this component
        no grant allows it
        [{"kind":"dirs","what":"photos/a.png","refused":"`photos/a.png` needs a yes, which was not given","n":1}]
    "#]]).await;
}

#[tokio::test]
async fn looker_is_told_of_files_that_are_not_there_or_are_no_media() {
    check_refused(
        &["ro:photos"],
        "photos/none.png",
        expect![[r#"
        invalid-argument content[1]: `photos/none.png` is not there
        no grant allows it
        [{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1}]
    "#]],
    )
    .await;
    check_refused(
        &["ro:photos"],
        "photos/deep",
        expect![[r#"
        invalid-argument content[1]: `photos/deep` is a folder; name a file
        no grant allows it
        [{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1}]
    "#]],
    )
    .await;
    check_refused(
        &["ro:photos"],
        "photos",
        expect![[r#"
        invalid-argument content[1]: `photos` is a folder; name a file
        no grant allows it
        [{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1}]
    "#]],
    )
    .await;
    check_refused(&["ro:photos"], "photos/notes.txt", expect![[r#"
        invalid-argument content[1]: `photos/notes.txt` is no picture (PNG, JPEG, GIF, WebP), no film (MP4, QuickTime, WebM, Matroska, MPEG, AVI) and no sound (WAV, MP3, M4A, AAC, Ogg, FLAC, AIFF): its first bytes are of another kind
        no grant allows it
        [{"kind":"dirs","what":"read photos","grant":"ro:photos","n":1}]
    "#]]).await;
}

#[tokio::test]
async fn looker_may_show_so_much_of_each_kind_and_no_more() {
    let (project, model) = (Project::new(), model());
    fs::write(project.0.path().join("photos/big.png"), {
        let mut bytes = PNG.to_vec();
        bytes.resize(3_000, 0);
        bytes
    })
    .unwrap();
    let host = TestHost::new()
        .guest("looker")
        .provider(model.clone())
        .folder("looker", "ro:photos", project.0.path())
        .limits(|limits| {
            limits.image_bytes = 2_000;
            limits.video_bytes = 2_500;
            limits.audio_bytes = 2_000;
        })
        .start()
        .await;
    let files = |files: Json| json!({"prompt": "x", "files": files});
    for (arguments, expected) in [
        (
            files(json!(["photos/big.png"])),
            "limit-reached video_bytes",
        ),
        (
            json!({"prompt": "x", "image": base64(&[PNG, &[0; 2_000]].concat())}),
            "limit-reached image_bytes",
        ),
        (
            json!({"prompt": "x", "audio": base64(&[MP4, &[0; 2_000]].concat())}),
            "limit-reached audio_bytes",
        ),
    ] {
        let failure = host.failure("show", arguments).await;
        assert_eq!(named(&failure), expected);
    }
    assert_eq!(model.n_left(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn looker_tells_anthropic_how_long_to_keep_what_comes_again() {
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "Seen."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let json = ["content-type: application/json"];
    let server = Server::start(move |_: &Asked| Answer::of("200 OK", &json, &message.to_string()));
    let server = server.await;
    let file = format!(
        "model = \"home:m\"\n[providers.home]\nprotocol = \"anthropic\"\nbase_url = \"{}\"\n\
         [[profiles]]\nprotocol = \"anthropic\"\nmax_output_tokens = 100\n[components]\n\
         looker = \"looker.wasm\"\n",
        server.url("")
    );
    let project = cli::Project::new(BINARY).guests(&["looker"]);
    let project = project.file("openprogram.toml", file);
    for (set, kept) in [
        ("mark", json!({"type": "ephemeral"})),
        ("hour", json!({"type": "ephemeral", "ttl": "1h"})),
    ] {
        let given = format!("{set}=true");
        let run = ["run", "show", "--arg", "prompt=A book.", "--arg", &given];
        let ran = project.run(&run);
        assert_eq!((ran.code, ran.stdout.trim()), (0, "Seen."), "{ran:?}");
        let asked = server.asked().pop().unwrap();
        let body: Json = serde_json::from_slice(&asked.body).unwrap();
        let parts = body["messages"][0]["content"].as_array().unwrap();
        let told = json!({"type": "text", "text": "A book.", "cache_control": kept});
        assert_eq!(parts.last(), Some(&told));
    }
}

#[tokio::test]
async fn looker_decides_by_what_it_shows() {
    let pick = || ScriptedReply::from(r#"{"call": "dog"}"#);
    let model = Arc::new(ScriptedProvider::new([
        "A bird.".into(),
        pick(),
        pick(),
        pick(),
    ]));
    let project = Project::new();
    let host = project.host(&["ro:photos"], &model).await;
    let files = json!(["photos/deep/clip.mp4"]);
    let arguments = json!({"prompt": "What is it?", "image": base64(PNG), "files": files});
    let outcome = host.run("decide", arguments).await;
    assert_eq!(outcome.result.unwrap(), "a dog");
    let shown = blocks(&model);
    assert_eq!(shown[..2], ["image/png 16", "image/png 16"]);
    assert!(shown[2].starts_with("What is it?"), "{shown:?}");
    // Asked again, it is shown again.
    let all = shown.iter().filter(|block| *block == "image/png 16");
    assert_eq!(all.count(), 4);
    let nodes = host.nodes(&outcome.session.unwrap()).await;
    expect![[r#"[{"part":1,"said":"video/mp4","found":"image/png"}]"#]]
        .assert_eq(&nodes[1].opened.facts["media_mismatch"].to_string());
    // A reply of elsewhere that picks nothing is asked about with what is shown.
    let arguments = json!({"prompt": "", "audio": base64(MP3), "reply": "No."});
    assert_eq!(host.call("decide", arguments).await.unwrap(), "a dog");
    let arguments = json!({"prompt": "What is it?", "video": base64(MP4)});
    assert_eq!(host.call("decide", arguments).await.unwrap(), "a dog");
    let shown = blocks(&model);
    for word in ["audio/mpeg 10", "video/mp4 16"] {
        assert!(shown.iter().any(|block| block == word), "{word}: {shown:?}");
    }
}

#[tokio::test]
async fn looker_decides_by_no_file_that_it_may_not_show() {
    let (project, model) = (Project::new(), model());
    let host = project.host(&["ro:photos"], &model).await;
    let files = |path: &str| json!({"prompt": "x", "files": [path]});
    let secret = "beside/secret.png";
    for (function, arguments, expected) in [
        (
            "decide",
            files(secret),
            "denied read beside/secret.png: `looker` may not read `beside/secret.png`: it lies in no \
             granted folder",
        ),
        (
            "decide",
            files("photos/none.png"),
            "invalid-argument media[0]: `photos/none.png` is not there",
        ),
        (
            "decide",
            files("photos/notes.txt"),
            "invalid-argument media[0]: `photos/notes.txt` is no picture (PNG, JPEG, GIF, WebP), no \
             film (MP4, QuickTime, WebM, Matroska, MPEG, AVI) and no sound (WAV, MP3, M4A, AAC, Ogg, \
             FLAC, AIFF): its first bytes are of another kind",
        ),
        (
            "close",
            json!({"path": "photos/a.png"}),
            "invalid-argument media: a turn that closes with a decision shows what its request \
             shows; leave pictures, films and sound out of the menu",
        ),
    ] {
        let failure = host.failure(function, arguments).await;
        assert_eq!(format!("{}: {failure}", named(&failure)), expected);
    }
    assert_eq!(model.n_left(), 1);
}
