//! Decision endpoints over a connection: what reaches the server, and answers whole, in chunks, cut
//! and too long.

use openprogram_core::llm::{
    Choice, DecisionReply, DecisionState, LlmDetail, LlmError, LlmFailure, LlmReason, Provider,
};
use serde_json::{Value, json};

use crate::profile::{DecisionProtocol, Profile, Protocol};
use crate::replay::{Play, document, serve};
use crate::{DecisionEndpoint, DecisionOptions, Secret, Transport, TransportOptions};

const KEY: &str = "sk-very-secret";

/// Where each form is spoken, how its key is sent, and an answer of it.
fn forms() -> [(DecisionProtocol, &'static str, String, Value); 3] {
    let by_id = json!({"answers": {"next_step": {"type": "choice",
        "probabilities": {"stay": 0.25, "go": 0.75}}}});
    let listed = json!({"answers": [{"type": "choice", "choice": "go", "confidence": 0.5,
        "probabilities": [{"value": "stay", "probability": 0.25}, {"value": "go", "probability": 0.75}]}]});
    let bearer = format!("authorization: Bearer {KEY}");
    [
        (
            DecisionProtocol::OpenAi,
            "/decisions",
            bearer.clone(),
            listed,
        ),
        (
            DecisionProtocol::Google,
            "/v1beta/decisions",
            format!("x-goog-api-key: {KEY}"),
            by_id.clone(),
        ),
        (DecisionProtocol::SystemOne, "/v1/systemone", bearer, by_id),
    ]
}

fn endpoint(protocol: DecisionProtocol, base_url: &str) -> DecisionEndpoint {
    let options = DecisionOptions {
        name: "home:m".to_owned(),
        protocol,
        base_url: base_url.to_owned(),
        key: Some(Secret::new(KEY)),
        model: "m".to_owned(),
        profile: Profile::conservative(Protocol::SystemOne),
    };
    DecisionEndpoint::new(
        options,
        Transport::new(TransportOptions::default()).unwrap(),
    )
    .unwrap()
}

fn state() -> DecisionState {
    let choice = |name: &str| Choice {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({}),
    };
    DecisionState {
        prompt: "Stay or go?".to_owned(),
        system: None,
        messages: Vec::new(),
        choices: vec![choice("stay"), choice("go")],
        session: openprogram_core::id::SessionId::from_bits(1),
        totals: std::sync::Arc::default(),
    }
}

async fn decided(
    protocol: DecisionProtocol,
    answer: String,
) -> (Result<DecisionReply, LlmFailure>, String) {
    let (url, server) = serve(vec![Play::Close(answer)]).await;
    let replied = match endpoint(protocol, &url).decide(&state()).await {
        Ok(reply) => Ok(reply),
        Err(LlmError::Failed(failure)) => Err(failure),
        Err(other) => panic!("{other}"),
    };
    (replied, server.await.unwrap().requests.remove(0))
}

/// The body in chunks of so many bytes.
fn chunked(body: &str, size: usize) -> String {
    let mut answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                      transfer-encoding: chunked\r\n\r\n"
        .to_owned();
    for chunk in body.as_bytes().chunks(size) {
        let text = String::from_utf8_lossy(chunk);
        answer.push_str(&format!("{:x}\r\n{text}\r\n", chunk.len()));
    }
    answer + "0\r\n\r\n"
}

#[tokio::test]
async fn a_question_is_sent_whole_and_its_answer_is_read_whole_and_in_chunks() {
    for (protocol, path, key, answer) in forms() {
        let body = answer.to_string();
        let type_ = "content-type: application/json\r\n";
        let mut answers = vec![
            document("200 OK", type_, &body),
            document("200 OK", "", &body),
        ];
        answers.extend([1, 2, 7, 40].map(|size| chunked(&body, size)));
        for answer in answers {
            let (reply, request) = decided(protocol, answer).await;
            let weights = reply.unwrap().weights;
            let weights: Vec<_> = weights
                .iter()
                .map(|w| (&*w.option, w.probability))
                .collect();
            assert_eq!(weights, [("stay", 0.25), ("go", 0.75)], "{protocol:?}");
            assert!(
                request.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
                "{request}"
            );
            assert!(request.contains(&format!("{key}\r\n")), "{request}");
            let (_, body) = request.split_once("\r\n\r\n").unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            assert!(body["questions"].is_array() || body["questions"]["next_step"].is_object());
        }
    }
}

#[tokio::test]
async fn errors_are_classified_without_the_key() {
    let body = format!("{{\"detail\":\"next_step: too many options for {KEY}\"}}");
    for (status, reason, retryable) in [
        ("422 Unprocessable Entity", LlmReason::Invalid, false),
        ("429 Too Many Requests", LlmReason::RateLimit, true),
        ("401 Unauthorized", LlmReason::Auth, false),
        ("503 Service Unavailable", LlmReason::Provider, true),
        ("307 Temporary Redirect", LlmReason::Invalid, false),
    ] {
        for (protocol, ..) in forms() {
            let type_ = "content-type: application/json\r\nlocation: http://127.0.0.1:1/\r\n";
            let (reply, _) = decided(protocol, document(status, type_, &body)).await;
            let failure = reply.unwrap_err();
            let class = (failure.reason, failure.retryable);
            assert_eq!(class, (reason, retryable), "{failure}");
            assert!(!failure.message.contains(KEY), "{failure}");
        }
    }
}

#[tokio::test]
async fn what_is_cut_or_too_long_or_a_page_is_no_answer() {
    for (protocol, _, _, answer) in forms() {
        let body = answer.to_string();
        let whole = chunked(&body, 10);
        let cut = whole[..whole.len() - 20].to_owned();
        let (reply, _) = decided(protocol, cut).await;
        assert_eq!(reply.unwrap_err().detail, Some(LlmDetail::TruncatedStream));

        let long = format!("{}{}", " ".repeat(1024 * 1024), body);
        let (reply, _) = decided(protocol, document("200 OK", "", &long)).await;
        let failure = reply.unwrap_err();
        assert!(
            failure.message.contains("larger than 1048576 bytes"),
            "{failure}"
        );
        assert!(!failure.retryable);

        let type_ = "content-type: text/html\r\n";
        let (reply, _) = decided(protocol, document("200 OK", type_, "<html>")).await;
        let failure = reply.unwrap_err();
        assert!(failure.message.contains("web page"), "{failure}");
    }
}

#[tokio::test]
async fn a_failure_never_holds_the_key_that_an_answer_repeats() {
    for (protocol, _, _, _) in forms() {
        let answer = json!({"answers": {"next_step": {"probabilities": {KEY: 1.0}}}});
        let (reply, _) = decided(protocol, document("200 OK", "", &answer.to_string())).await;
        let failure = reply.unwrap_err();
        assert!(!failure.message.contains(KEY), "{failure}");
    }
}
