//! Decision endpoints whose servers nobody can install here: servers of our own, built from the
//! shapes that their owners publish, which judge the request before they answer.

use std::io::Write as _;
use std::net::TcpListener;
use std::thread::JoinHandle;

use openprogram_core::Json;
use openprogram_tests::cli::{Outcome, Project};
use serde_json::json;

use super::insisting::read_request;
use crate::cli::BINARY;

const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "refund", "handler": {"kind": "value", "value": 1, "desc": "Pay back."}},
    {"key": "done", "handler": {"kind": "value", "value": "CLOSED"}}
]}"#;
const KEY: &str = "sk-a-key-that-nobody-sees";

/// A protocol: its name, the path, the header of the key, the judge that answers.
type Endpoint = (&'static str, &'static str, String, fn(&Json) -> Json);

fn endpoints() -> [Endpoint; 2] {
    [
        (
            "openai_decisions",
            "/v1/decisions",
            format!("authorization: Bearer {KEY}"),
            openai,
        ),
        (
            "google_decisions",
            "/v1beta/decisions",
            format!("x-goog-api-key: {KEY}"),
            google,
        ),
    ]
}

/// Judges a request by the published types of OpenAI and answers it.
fn openai(body: &Json) -> Json {
    let keys: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["model", "questions", "input"]);
    assert_eq!(body["model"], "m");
    let input = json!([{"role": "user", "content": "What next?"}]);
    assert_eq!(body["input"], input);
    let [question] = body["questions"].as_array().unwrap().as_slice() else {
        panic!("not one question: {body}");
    };
    assert_eq!(question["type"], "choice");
    assert!(question["instructions"].is_string() && question["name"].is_string());
    let choices = json!([{"value": "refund", "description": "Pay back."}, {"value": "done"}]);
    assert_eq!(question["choices"], choices);
    json!({
        "answers": [{
            "type": "choice", "name": question["name"], "choice": "done", "confidence": 0.5,
            "probabilities": [
                {"value": "refund", "probability": 0.25}, {"value": "done", "probability": 0.75},
            ],
        }],
        "model": "m",
        "usage": {
            "input_tokens": 40, "output_tokens": 0, "total_tokens": 40,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    })
}

/// Judges a request by the published types of Google and answers it.
fn google(body: &Json) -> Json {
    let keys: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["model", "questions", "input"]);
    assert_eq!(body["model"], "models/m");
    assert_eq!(body["input"], "What next?");
    let questions: Vec<_> = body["questions"].as_object().unwrap().iter().collect();
    let [(id, question)] = questions.as_slice() else {
        panic!("not one question: {body}");
    };
    assert_eq!(question["type"], "choice");
    assert!(question["instructions"].is_string());
    assert_eq!(
        question["criteria"],
        json!({"refund": "Pay back.", "done": ""})
    );
    let answer = json!({"type": "choice", "choice": "done", "confidence": 0.75,
        "probabilities": {"refund": 0.25, "done": 0.75}});
    json!({
        "answers": {id.as_str(): answer},
        "usage": {"total_input_tokens": 40, "total_output_tokens": 0, "total_tokens": 40},
    })
}

/// Answers one request by this judge, and gives its head.
fn serve(judge: fn(&Json) -> Json) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = read_request(&mut stream).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let answer = judge(&serde_json::from_str(body).unwrap()).to_string();
        let length = answer.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{answer}"
        );
        // Piece by piece, as a network may deliver it.
        for piece in answer.as_bytes().chunks(7) {
            stream.write_all(piece).unwrap();
            stream.flush().unwrap();
        }
        head.to_owned()
    });
    (url, serving)
}

fn project(protocol: &str, url: &str) -> Project {
    let base_url = match protocol {
        "openai_decisions" => format!("{url}/v1"),
        _ => url.to_owned(),
    };
    let file = format!(
        "model = \"mine:m\"\n\n[providers.mine]\nprotocol = \"{protocol}\"\n\
         base_url = \"{base_url}\"\nkey_env = \"MY_KEY\"\n"
    );
    Project::new(BINARY)
        .file("options.json", OPTIONS)
        .file("openprogram.toml", file)
        .variable("MY_KEY", KEY)
}

fn decide(project: &Project) -> Outcome {
    let arguments = [
        "decide",
        "--options",
        "options.json",
        "--prompt",
        "What next?",
        "--json",
    ];
    project.run(&arguments)
}

#[test]
fn a_decision_reaches_each_endpoint_in_its_published_form() {
    for (protocol, path, key, judge) in endpoints() {
        let (url, serving) = serve(judge);
        let project = project(protocol, &url);
        let outcome = decide(&project);
        let head = serving.join().expect("the judge accepts the request");
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let expected = json!({
            "pick": "done", "arguments": {}, "value": "CLOSED", "method": "endpoint",
            "coerced": [], "confidence": 0.75, "confidence_source": "endpoint",
        });
        assert_eq!(outcome.json(), expected);
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1")), "{head}");
        assert!(head.contains(&key), "{head}");
        let session = outcome
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("session "));
        let shown = project.run(&["show", session.unwrap(), "--json"]);
        assert!(!shown.stdout.contains(KEY) && !outcome.stderr.contains(KEY));
        let node = &shown.json()["nodes"][0];
        assert_eq!(node["usage"]["input_tokens"], 40, "{node:#}");
    }
}

#[test]
fn an_answer_that_is_no_distribution_is_a_failure_of_the_endpoint() {
    let wrong: fn(&Json) -> Json = |_| {
        json!({"answers": {"next_step": {"type": "choice", "choice": "done", "confidence": 1,
            "probabilities": {"done": 0.75, "delete": 0.25}}}})
    };
    let (url, serving) = serve(wrong);
    let outcome = decide(&project("google_decisions", &url));
    serving.join().unwrap();
    assert_eq!(outcome.code, 4, "{outcome:?}");
    let error = &outcome.json()["error"];
    assert_eq!(error["kind"], "llm");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("\"delete\" is not one of the options"),
        "{message}"
    );
}

#[test]
fn what_an_endpoint_chooses_among_equals_is_picked() {
    let even: fn(&Json) -> Json = |_| {
        json!({"answers": {"next_step": {"type": "choice", "choice": "done", "confidence": 0.5,
            "probabilities": {"refund": 0.5, "done": 0.5}}}})
    };
    let (url, serving) = serve(even);
    let outcome = decide(&project("google_decisions", &url));
    serving.join().unwrap();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.json()["pick"], "done", "{outcome:?}");
}
