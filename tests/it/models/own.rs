//! A server of our own, for what the others do not do: errors inside a stream, and keys.

use std::io::Write as _;
use std::net::TcpListener;
use std::thread::JoinHandle;

use openprogram_core::session::NodeKind;
use openprogram_runtime::TurnRequest;
use openprogram_tests::cli::Project;
use openprogram_tests::host::named;
use serde_json::json;

use super::insisting::read_request;
use super::{PROTOCOLS, nodes, prepared, project};
use crate::cli::BINARY;

/// Answers one request with each of these, and gives the heads of the requests at its end.
fn serve(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let answer_one = |answer: &String| {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read_request(&mut stream).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            request
        };
        answers.iter().map(answer_one).collect()
    });
    (url, serving)
}

fn answer(status: &str, media_type: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n{body}")
}

/// A stream of these events, in the form of the protocol.
fn stream(protocol: &str, events: &[serde_json::Value]) -> String {
    let mut body = String::new();
    for event in events {
        if protocol == "anthropic" {
            body.push_str(&format!("event: {}\n", event["type"].as_str().unwrap()));
        }
        body.push_str(&format!("data: {event}\n\n"));
    }
    answer("200 OK", "text/event-stream", &body)
}

/// A reply, or the beginning of one with an error after it.
fn reply(protocol: &str, text: &str, is_broken: bool) -> String {
    let mut events = if protocol == "anthropic" {
        vec![
            json!({"type": "message_start", "message": {"id": "m", "type": "message",
                "role": "assistant", "model": "m", "content": [],
                "usage": {"input_tokens": 3, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text}}),
        ]
    } else {
        vec![
            json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}),
        ]
    };
    match (protocol, is_broken) {
        ("anthropic", true) => events.push(json!({"type": "error",
            "error": {"type": "overloaded_error", "message": "Overloaded"}})),
        ("anthropic", false) => events.extend([
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ]),
        (_, true) => events.push(json!({"error": {"message": "Overloaded",
            "type": "server_error", "code": "server_error"}})),
        (_, false) => events.push(json!({"id": "c", "object": "chat.completion.chunk",
            "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})),
    }
    stream(protocol, &events)
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_error_and_its_beginning_is_not_a_reply() {
    for (protocol, path) in PROTOCOLS {
        let answers = [("Hel", true), ("Hello.", false)];
        let answers = answers.map(|(text, is_broken)| reply(protocol, text, is_broken));
        let (url, serving) = serve(answers.to_vec());
        let project = project(&format!("{url}{path}"), protocol, &[]);
        let prepared = prepared(&project).await;
        let outcome = prepared.runtime.exec(TurnRequest::text("hello")).await;
        assert_eq!(outcome.result.unwrap().text, "Hello.", "{protocol}");
        let nodes = nodes(&prepared, outcome.session.as_ref()).await;
        let turn = nodes
            .iter()
            .find(|n| n.opened.kind == NodeKind::Llm)
            .unwrap();
        let failed: Vec<_> = turn.end.as_ref().unwrap().attempts.iter().collect();
        let failed: Vec<_> = failed
            .iter()
            .map(|attempt| named(&attempt.failure))
            .collect();
        assert_eq!(failed, ["llm provider"], "{protocol}");
        assert_eq!(serving.join().unwrap().len(), 2, "{protocol}");
    }
}

const KEY: &str = "sk-a-key-that-nobody-sees";
const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "one", "handler": {"kind": "value", "value": 1}},
    {"key": "two", "handler": {"kind": "value", "value": 2}}
]}"#;

#[test]
fn a_key_reaches_its_server_and_nothing_else() {
    for (protocol, path, header) in [
        ("openai", "/v1", format!("authorization: Bearer {KEY}")),
        ("anthropic", "", format!("x-api-key: {KEY}")),
    ] {
        let body = json!({"error": {"type": "authentication_error", "code": "invalid_api_key",
            "message": format!("the key {KEY} is wrong")}});
        let refused = answer("401 Unauthorized", "application/json", &body.to_string());
        let (url, serving) = serve(vec![refused]);
        let prefix = protocol.to_uppercase();
        let project = Project::new(BINARY)
            .file("options.json", OPTIONS)
            .variable(&format!("{prefix}_API_KEY"), KEY)
            .variable(&format!("{prefix}_BASE_URL"), &format!("{url}{path}"));
        let model = format!("{protocol}:m");
        let arguments = [
            "decide",
            "--options",
            "options.json",
            "--json",
            "--model",
            &model,
        ];
        let outcome = project.run(&arguments);
        assert_eq!(outcome.code, 4, "{outcome:?}");
        let heads = serving.join().unwrap();
        assert!(heads[0].contains(&header), "{heads:?}");
        let session = outcome
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("session "));
        let shown = project.run(&["show", session.unwrap(), "--json"]);
        let database = std::fs::read(project.path(".openprogram/sessions.db")).unwrap();
        let database = String::from_utf8_lossy(&database);
        for text in [&outcome.stdout, &outcome.stderr, &shown.stdout, &*database] {
            assert!(text.contains("401") || text.contains("auth"), "{text}");
            assert!(!text.contains(KEY), "{text}");
        }
    }
}

#[test]
fn a_missing_key_is_named_by_its_variable() {
    let file = "[providers.mine]\nprotocol = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                key_env = \"MY_KEY\"\n";
    let project = Project::new(BINARY)
        .file("options.json", OPTIONS)
        .file("openprogram.toml", file);
    for (model, variable) in [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude-opus-5", "ANTHROPIC_API_KEY"),
        ("mine:m", "MY_KEY"),
    ] {
        let arguments = [
            "decide",
            "--options",
            "options.json",
            "--json",
            "--model",
            model,
        ];
        let outcome = project.run(&arguments);
        let expected = json!({"error": {"kind": "no-provider", "message": format!(
            "there is no key for `{model}`; put it into the variable `{variable}`, or choose \
             another model with `--model`"
        )}});
        assert_eq!((outcome.code, outcome.json()), (4, expected));
    }
}
