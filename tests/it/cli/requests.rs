//! Requests of an installed component, from the project file to the server and back.

use openprogram_tests::cli::Outcome;
use openprogram_tests::web::{Answer, Asked, Server};
use serde_json::json;

use super::install::done;
use super::project;

/// The command that a refusal tells, as arguments.
fn told(outcome: &Outcome) -> Vec<String> {
    let line = outcome.stderr.lines().find_map(|line| {
        let (_, command) = line.split_once("to allow it: openprogram ")?;
        Some(command.split(' ').map(str::to_owned).collect())
    });
    line.unwrap_or_else(|| panic!("no command: {outcome:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_of_a_refused_request_allows_it_and_a_secret_stays_with_the_host() {
    let server = Server::start(|asked: &Asked| {
        Answer::ok(asked.header("authorization").unwrap_or("no key"))
    })
    .await;
    let project = project()
        .guests(&["http-client"])
        .variable("KEY", "s3cr3t-value");
    done(&project, &["add", "http-client.wasm"]);
    let argument = format!("url={}", server.url("/v1"));
    let headers = "headers=[]";
    let run = [
        "run",
        "fetch",
        "--arg",
        "method=GET",
        "--arg",
        &argument,
        "--arg",
        headers,
        "--json",
    ];
    let refused = done(&project, &run);
    let seen = |outcome: &Outcome| outcome.json()["ok"].clone();
    assert_eq!(seen(&refused), json!("error: ErrorCode::HttpRequestDenied"));
    assert_eq!(server.asked(), []);
    let command = told(&refused);
    let command: Vec<_> = command.iter().map(String::as_str).collect();
    done(&project, &command);
    let answered = |outcome: &Outcome, body: &str| {
        let seen = seen(outcome).to_string();
        assert!(seen.ends_with(&format!("{body}\"")), "{outcome:?}");
    };
    answered(&done(&project, &run), "no key");
    let secret = format!("KEY={}", server.url("/v1"));
    done(&project, &["grant", "http-client", "--secret", &secret]);
    let outcome = done(&project, &run);
    answered(&outcome, "Bearer ************");
    let asked = server.asked();
    assert_eq!(
        asked[1].header("authorization"),
        Some("Bearer s3cr3t-value")
    );
    // Nor is it in what is kept.
    let session = outcome.json()["session"].as_str().unwrap().to_owned();
    let shown = done(&project, &["show", &session, "--json"]);
    for text in [&shown.stdout, &outcome.stdout, &outcome.stderr] {
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_a_stream_tells_a_component_one_line_and_nothing_of_this_machine() {
    // An answer that ends before its announced length.
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";
    let server = Server::start(move |_: &Asked| Answer::Bytes(cut.as_bytes().to_vec())).await;
    let project = project()
        .guests(&["http-client"])
        .variable("RUST_BACKTRACE", "1");
    done(&project, &["add", "http-client.wasm"]);
    let url = server.url("/v1");
    done(&project, &["grant", "http-client", "--http", &url]);
    let argument = format!("url={url}");
    let outcome = done(&project, &["run", "size", "--arg", &argument, "--json"]);
    let told = outcome.json()["ok"].as_str().unwrap().to_owned();
    assert!(told.starts_with("3 "), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}
