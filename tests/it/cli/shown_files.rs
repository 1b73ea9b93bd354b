//! Pictures and sound that a person shows to a model, and what else is asked of it: from the command
//! line to the bytes of a request.

use openprogram_core::Json;
use openprogram_tests::cli::Project;
use openprogram_tests::web::{Answer, Asked, Server};
use serde_json::json;

use super::project;
use crate::media::base64;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const WAV: &[u8] = b"RIFF\x10\0\0\0WAVEfmt ";
const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "cat", "handler": {"kind": "value", "value": 1}},
    {"key": "dog", "handler": {"kind": "value", "value": 2}}
]}"#;

/// A server whose model always says this.
async fn saying(text: &str) -> Server {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let reply = json!({"choices": [choice]}).to_string();
    let json = ["content-type: application/json"];
    Server::start(move |_: &Asked| Answer::of("200 OK", &json, &reply)).await
}

/// A project with this model, of which these lines tell what it takes.
fn on(server: &Server, profile: &str) -> Project {
    let file = format!(
        "model = \"home:m\"\n[providers.home]\nprotocol = \"openai\"\nbase_url = \"{}\"\n\
         [[profiles]]\nprotocol = \"openai\"\n{profile}\n",
        server.url("/v1")
    );
    project()
        .file("openprogram.toml", file)
        .file("options.json", OPTIONS)
        // The bytes tell what it is.
        .file("my holiday.mp4", PNG)
        .file("sound.wav", WAV)
        .file("notes.txt", "words")
        .variable("OPENPROGRAM_MAX_RETRIES", "1")
        .variable("TERM", "dumb")
}

const TAKES_ALL: &str = "images = true\naudio = true\nweb_search = true\nthinking = \"effort\"\n\
                         thinking_efforts = [\"low\", \"high\"]";

/// The bodies of all requests.
fn bodies(server: &Server) -> Vec<Json> {
    let asked = server.asked();
    let bodies = asked
        .iter()
        .map(|asked| serde_json::from_slice(&asked.body));
    bodies.map(Result::unwrap).collect()
}

/// The parts of the last message of a request.
fn parts(body: &Json) -> Json {
    let messages = body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].clone()
}

fn image() -> Json {
    let url = format!("data:image/png;base64,{}", base64(PNG));
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn sound() -> Json {
    let audio = json!({"data": base64(WAV), "format": "wav"});
    json!({"type": "input_audio", "input_audio": audio})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_shows_files_with_one_turn_and_thinks_and_searches_as_it_is_told() {
    let server = saying("Seen.").await;
    let project = on(&server, TAKES_ALL);
    let typed = "what is this?\n/file my holiday.mp4\n/file sound.wav\n/file\nand these?\n/file\n\
                 /thinking\n/thinking low\n/web-search\n/web-search off\nno more\n\
                 /file sound.wav\n/file none\nnothing\n";
    let typed_first = ["chat", "--file", "my holiday.mp4", "--thinking", "high"];
    let told = project.run_with_input(&[&typed_first[..], &["--web-search"]].concat(), typed);
    assert_eq!(told.code, 0, "{told:?}");
    insta::assert_snapshot!("chat_shows_files", told.shown(&project));
    let bodies = bodies(&server);
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(parts(&bodies[0]), json!([image(), text("what is this?")]));
    assert_eq!(
        parts(&bodies[1]),
        json!([image(), sound(), text("and these?")])
    );
    assert_eq!(parts(&bodies[2]), "no more");
    assert_eq!(parts(&bodies[3]), "nothing");
    let asked = |body: &Json| {
        let searches = body.get("web_search_options").is_some();
        (body["reasoning_effort"].clone(), searches)
    };
    let all: Vec<_> = bodies.iter().map(asked).collect();
    let (high, low) = (Json::from("high"), Json::from("low"));
    let expected = [
        (high.clone(), true),
        (high, true),
        (low.clone(), false),
        (low, false),
    ];
    assert_eq!(all, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_does_not_do_is_refused_by_name_and_nothing_is_sent() {
    let server = saying("never").await;
    let project = on(&server, "");
    for (options, code, why) in [
        (
            &["--web-search"][..],
            4,
            "`home:m` is not known to search the web",
        ),
        (
            &["--thinking", "high"],
            4,
            "the model is not known to think in levels such as `high`",
        ),
        // No server has to be asked for this.
        (
            &["--model", "home:m "],
            2,
            "no server has a model named `m`: the name begins or ends with white space",
        ),
        (
            &["--model", "openai:gpt 4o"],
            2,
            "no server has a model named `gpt 4o`: the name holds a blank",
        ),
        (&["--file", "notes.txt"], 2, "`notes.txt` is no picture"),
        (&["--file", "gone.png"], 2, "cannot read `gone.png`"),
    ] {
        let told = project.run_with_input(&[&["chat"][..], options].concat(), "hello\n");
        assert_eq!(told.code, code, "{told:?}");
        assert!(told.stderr.contains(why), "`{why}`: {told:?}");
    }
    let typed = "/file notes.txt\n/file gone.png\n/web-search on\n/thinking high\n\
                 /file my holiday.mp4\nwhat is this?\n";
    let told = project.run_with_input(&["chat"], typed);
    insta::assert_snapshot!("chat_refuses", told.shown(&project));
    assert_eq!(bodies(&server), Vec::<Json>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_shown_files_before_its_prompt() {
    let server = saying(r#"{"call": "dog"}"#).await;
    let project = on(&server, TAKES_ALL);
    let ask = ["decide", "--options", "options.json", "--json"];
    let files = ["--file", "my holiday.mp4", "--file", "sound.wav"];
    let picked = project.run(&[&ask[..], &files, &["--prompt", "Which?"]].concat());
    assert_eq!(picked.json()["pick"], "dog", "{picked:?}");
    // A file asks a model by itself.
    let picked = project.run(&[&ask[..], &files[..2]].concat());
    assert_eq!(picked.json()["value"], 2, "{picked:?}");
    let bodies = bodies(&server);
    let (first, second) = (parts(&bodies[0]), parts(&bodies[1]));
    assert_eq!((&first[0], &first[1]), (&image(), &sound()));
    let prompt = first[2]["text"].as_str().unwrap();
    assert!(prompt.starts_with("Which?\n\n"), "{prompt}");
    assert_eq!(second[0], image());
    let refused = project.run(&[&ask[..], &["--file", "notes.txt"]].concat());
    assert_eq!(refused.code, 2, "{refused:?}");
    let part = "`notes.txt` is no picture";
    assert!(refused.stderr.contains(part), "{refused:?}");
}
