//! A server on loopback that plays what it is told, and what providers make of it: statuses, cuts,
//! silence, and that a request given up closes its connection.

use std::time::Duration;

use openprogram_core::llm::{
    LlmDetail, LlmError, LlmFailure, LlmReason, ModelReply, NoEvents, Provider,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::profile::Protocol;
use crate::requests::{generous, plain};
use crate::{Secret, ServerModel, ServerOptions, TextProtocol, Transport, TransportOptions};

/// How long a test waits for what never comes.
const SHORT: Duration = Duration::from_millis(100);
/// How long a test waits for what comes; a machine may be busy.
const LONG: Duration = Duration::from_secs(60);
pub(crate) const KEY: &str = "sk-very-secret";

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// Answers and keeps the connection.
    Keep(String),
    /// Answers, or answers in part, and closes the connection.
    Close(String),
    /// Answers in part and waits until the client closes the connection.
    Wait(String),
}

/// An answer that is a stream, in chunks, without the mark that ends it.
fn cut_stream(chunks: &[&str]) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                transfer-encoding: chunked\r\n\r\n";
    let chunk = |text: &&str| format!("{:x}\r\n{text}\r\n", text.len());
    let chunks: String = chunks.iter().map(chunk).collect();
    format!("{head}{chunks}")
}

/// An answer that is a stream, in chunks.
pub(crate) fn stream(chunks: &[&str]) -> String {
    cut_stream(chunks) + "0\r\n\r\n"
}

/// An answer that is one document.
pub(crate) fn document(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// What the server saw.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// The requests, head and body.
    pub(crate) requests: Vec<String>,
    n_connections: usize,
    /// Whether the client closed a connection while an answer was under way.
    client_closed: bool,
}

/// Starts a server that plays one answer for each request and ends.
pub(crate) async fn serve(plays: Vec<Play>) -> (String, JoinHandle<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut seen = Seen::default();
        let mut connection: Option<TcpStream> = None;
        for play in plays {
            let mut stream = match connection.take() {
                Some(stream) => stream,
                None => {
                    seen.n_connections += 1;
                    listener.accept().await.unwrap().0
                }
            };
            seen.requests.push(read_request(&mut stream).await);
            let (Play::Keep(text) | Play::Close(text) | Play::Wait(text)) = &play;
            stream.write_all(text.as_bytes()).await.unwrap();
            match play {
                Play::Keep(_) => connection = Some(stream),
                Play::Close(_) => {}
                Play::Wait(_) => {
                    // Reading nothing, or an error, is what a closed connection looks like.
                    let read = stream.read(&mut [0]).await;
                    seen.client_closed = read.unwrap_or(0) == 0;
                }
            }
        }
        seen
    });
    (format!("http://{address}"), server)
}

/// Reads one request: its head, and as much body as the head says.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let n = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if n == 0 || body.len() >= length.unwrap_or("0").parse().unwrap() {
                return text;
            }
        }
    }
}

fn transport(patience: Duration) -> Transport {
    Transport::new(TransportOptions {
        first_byte: patience,
        idle: patience,
        reply_bytes_max: 2000,
        ..TransportOptions::default()
    })
    .unwrap()
}

pub(crate) fn openai(base_url: &str) -> ServerModel {
    openai_with(base_url, LONG)
}

fn openai_with(base_url: &str, patience: Duration) -> ServerModel {
    let options = ServerOptions {
        protocol: TextProtocol::OpenAi,
        name: "openai:m".to_owned(),
        base_url: format!("{base_url}/v1"),
        key: Some(Secret::new(KEY)),
        model: "m".to_owned(),
        profile: generous(Protocol::OpenAi),
    };
    ServerModel::new(options, transport(patience)).unwrap()
}

pub(crate) fn anthropic(base_url: &str) -> ServerModel {
    let options = ServerOptions {
        protocol: TextProtocol::Anthropic,
        name: "anthropic:m".to_owned(),
        base_url: base_url.to_owned(),
        key: Some(Secret::new(KEY)),
        model: "m".to_owned(),
        profile: generous(Protocol::Anthropic),
    };
    ServerModel::new(options, transport(LONG)).unwrap()
}

pub(crate) async fn ask(provider: &dyn Provider) -> Result<ModelReply, LlmFailure> {
    match provider.complete(&plain(), &NoEvents).await {
        Ok(reply) => Ok(reply),
        Err(LlmError::Failed(failure)) => Err(failure),
        Err(other) => panic!("{other}"),
    }
}

/// What a Chat Completions client makes of one answer.
pub(crate) async fn answered(answer: String) -> Result<String, LlmFailure> {
    let (url, server) = serve(vec![Play::Close(answer)]).await;
    let reply = ask(&openai(&url)).await;
    server.await.unwrap();
    reply.map(|reply| reply.text())
}

const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"index\":0}]}\n\n";
const END: &str = "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn a_chat_request_is_sent_whole_and_connections_are_used_again() {
    let answer = stream(&[TEXT, END, DONE]);
    let (url, server) = serve(vec![Play::Keep(answer.clone()), Play::Keep(answer)]).await;
    let provider = openai(&url);
    for _ in 0..2 {
        assert_eq!(ask(&provider).await.unwrap().text(), "Hi");
    }
    let seen = server.await.unwrap();
    assert_eq!(seen.n_connections, 1);
    let host = url.strip_prefix("http://").unwrap();
    let body = "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\
        \"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},\
        {\"role\":\"user\",\"content\":\"Hello\"}]}";
    for request in seen.requests {
        let (head, sent) = request.split_once("\r\n\r\n").unwrap();
        let (line, headers) = head.split_once("\r\n").unwrap();
        let mut headers: Vec<_> = headers.lines().collect();
        headers.sort_unstable();
        let expected = [
            "accept: */*".to_owned(),
            format!("authorization: Bearer {KEY}"),
            format!("content-length: {}", body.len()),
            "content-type: application/json".to_owned(),
            format!("host: {host}"),
            concat!("user-agent: openprogram/", env!("CARGO_PKG_VERSION")).to_owned(),
        ];
        assert_eq!(line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(
            (headers, sent),
            (expected.each_ref().map(String::as_str).to_vec(), body)
        );
    }
}

#[tokio::test]
async fn a_messages_request_carries_version_and_key() {
    let answer = stream(&[
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\
         \"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\
         \"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
    ]);
    let (url, server) = serve(vec![Play::Close(answer)]).await;
    assert_eq!(ask(&anthropic(&url)).await.unwrap().text(), "Hi");
    let request = server.await.unwrap().requests.remove(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
    for header in ["anthropic-version: 2026-10-21", "x-api-key: sk-very-secret"] {
        assert!(head.lines().any(|line| line == header), "{head}");
    }
    assert!(!head.contains("authorization"), "{head}");
    assert!(
        body.starts_with("{\"model\":\"m\",\"max_tokens\":8192,"),
        "{body}"
    );
}

#[tokio::test]
async fn a_redirect_is_an_error_and_is_not_followed() {
    let moved = document("307 Temporary Redirect", "location: /elsewhere\r\n", "");
    let failure = answered(moved).await.unwrap_err();
    assert_eq!((failure.http_status, failure.retryable), (Some(307), false));
    let message = failure.message;
    assert!(message.contains("redirects are not followed"), "{message}");
}

#[tokio::test]
async fn an_early_end_is_an_error_and_a_late_one_is_not() {
    let half = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 500\r\n\r\n{TEXT}"
    );
    for answer in [cut_stream(&[TEXT]), stream(&[TEXT]), half] {
        let failure = answered(answer).await.unwrap_err();
        let detail = Some(LlmDetail::TruncatedStream);
        assert_eq!(
            (failure.reason, failure.detail),
            (LlmReason::Transport, detail)
        );
        assert!(failure.retryable);
    }
    for answer in [cut_stream(&[TEXT, END]), cut_stream(&[TEXT, END, DONE])] {
        assert_eq!(answered(answer).await, Ok("Hi".to_owned()));
    }
}

#[tokio::test]
async fn silence_is_an_error_of_the_connection() {
    for (answer, message) in [
        (String::new(), "no answer within 100.0ms"),
        (cut_stream(&[TEXT]), "no more of the reply within 100.0ms"),
    ] {
        let (url, server) = serve(vec![Play::Wait(answer)]).await;
        let failure = ask(&openai_with(&url, SHORT)).await.unwrap_err();
        let expected = LlmFailure::new(LlmReason::Transport, true, message);
        assert_eq!(failure, expected);
        assert!(server.await.unwrap().client_closed);
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_closes_its_connection() {
    for answer in [String::new(), cut_stream(&[TEXT])] {
        let (url, server) = serve(vec![Play::Wait(answer)]).await;
        let provider = openai(&url);
        let asked = tokio::time::timeout(SHORT, ask(&provider)).await;
        assert!(asked.is_err(), "the silent server has answered");
        // The client and its pool are still there: it is the dropped request that closes.
        let seen = tokio::time::timeout(LONG, server).await;
        let seen = seen.expect("the connection stays open").unwrap();
        assert!(seen.client_closed);
        drop(provider);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_of_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}");
    drop(listener);
    let failure = ask(&openai(&url)).await.unwrap_err();
    let message = failure.message.clone();
    let expected = LlmFailure::new(LlmReason::Transport, true, &*message);
    assert_eq!(failure, expected);
    assert!(
        message.starts_with(&format!("no connection to `{address}`: ")),
        "{message}"
    );
}

#[tokio::test]
async fn a_reply_may_come_as_one_document_but_not_as_a_page() {
    let json = "content-type: application/json; charset=utf-8\r\n";
    let whole = "{\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}";
    let whole = document("200 OK", json, whole);
    assert_eq!(answered(whole).await, Ok("Hi".to_owned()));
    let busy = "{\"error\":{\"message\":\"Busy\",\"code\":503}}";
    let page = "the server answers with a web page; check the base URL";
    for (answer, reason, message) in [
        (
            document("200 OK", json, busy),
            LlmReason::Provider,
            "the reply is an error: `503`: Busy",
        ),
        (
            document("200 OK", "content-type: text/html\r\n", "<html></html>"),
            LlmReason::Invalid,
            page,
        ),
    ] {
        let failure = answered(answer).await.unwrap_err();
        assert_eq!((failure.reason, &*failure.message), (reason, message));
    }
}

#[tokio::test]
async fn an_endless_reply_is_cut_off() {
    let chunks = [": nothing\n"; 201];
    let failure = answered(stream(&chunks)).await.unwrap_err();
    let message = "the reply is larger than 2000 bytes";
    let expected = LlmFailure::new(LlmReason::Provider, false, message);
    assert_eq!(failure, expected);
}

#[tokio::test]
async fn a_proxy_is_used_when_one_is_given() {
    let (url, server) = serve(vec![Play::Close(stream(&[TEXT, END]))]).await;
    let options = ServerOptions {
        protocol: TextProtocol::OpenAi,
        name: "openai:m".to_owned(),
        base_url: "http://model.invalid/v1".to_owned(),
        key: None,
        model: "m".to_owned(),
        profile: generous(Protocol::OpenAi),
    };
    let transport = Transport::new(TransportOptions {
        proxy: Some(url),
        ..TransportOptions::default()
    });
    let provider = ServerModel::new(options, transport.unwrap()).unwrap();
    assert_eq!(ask(&provider).await.unwrap().text(), "Hi");
    let request = server.await.unwrap().requests.remove(0);
    let line = request.lines().next();
    let expected = "POST http://model.invalid/v1/chat/completions HTTP/1.1";
    assert_eq!(line, Some(expected));
    assert!(!request.contains("authorization"), "{request}");
}
