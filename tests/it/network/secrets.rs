//! Secrets: sent where they are granted and nowhere else, and never seen by the guest.

use expect_test::expect;
use openprogram_tests::web::{Answer, Asked, Server, WebHost};

const VALUE: &str = "s3cr3t-value";

/// A server that answers with everything that it was asked, as header and as body.
async fn echo() -> Server {
    Server::start(|asked: &Asked| {
        let authorization = asked.header("authorization").unwrap_or("none");
        let header = format!("x-echo: {authorization}");
        Answer::of("200 OK", &[&header], &format!("I got: {authorization}"))
    })
    .await
}

fn received(server: &Server) -> Vec<Option<String>> {
    let asked = server.asked();
    let values = asked.iter().map(|asked| asked.header("authorization"));
    values.map(|value| value.map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_secret_is_added_to_the_request_and_taken_out_of_the_answer() {
    let server = echo().await;
    let (url, port) = (server.url("/"), server.port().to_string());
    let host = WebHost::new()
        .http(&url)
        .secret(&format!("KEY={url}"), Some(VALUE));
    let called = host.get(&url).await;
    assert_eq!(received(&server), [Some(format!("Bearer {VALUE}"))]);
    expect![[r#"
        200
        content-length: 26
        x-echo: Bearer ************

        I got: Bearer ************
        http GET http://127.0.0.1:PORT/: by `http://127.0.0.1:PORT/`
        secrets `KEY` in GET http://127.0.0.1:PORT/: by `KEY=http://127.0.0.1:PORT/`"#]]
    .assert_eq(&called.all().replace(&port, "PORT"));
}

#[tokio::test]
async fn without_the_grant_of_the_secret_the_request_goes_without_it() {
    let server = echo().await;
    let called = WebHost::new()
        .http(&server.url("/"))
        .get(&server.url("/"))
        .await;
    assert!(called.seen().ends_with("I got: none"), "{}", called.all());
}

#[tokio::test]
async fn a_secret_goes_nowhere_but_below_its_own_place() {
    let server = echo().await;
    let other = echo().await;
    let host = WebHost::new().http(&server.url("/")).http(&other.url("/"));
    let host = host.secret(&format!("KEY={}", server.url("/v1")), Some(VALUE));
    for url in [server.url("/v10"), server.url("/"), other.url("/v1")] {
        let called = host.get(&url).await;
        assert!(
            called.seen().ends_with("I got: none"),
            "{url}: {}",
            called.all()
        );
    }
    let called = host.get(&server.url("/v1/x")).await;
    assert!(
        called.seen().ends_with("I got: Bearer ************"),
        "{}",
        called.all()
    );
}

#[tokio::test]
async fn a_secret_is_no_grant_of_the_network() {
    let server = echo().await;
    let host = WebHost::new().secret(&format!("KEY={}", server.url("/")), Some(VALUE));
    let called = host.get(&server.url("/")).await;
    assert_eq!(called.seen(), "error: ErrorCode::HttpRequestDenied");
    assert_eq!(server.asked(), []);
}

#[tokio::test]
async fn a_header_of_the_guest_gives_way_to_the_secret() {
    let server = echo().await;
    let url = server.url("/");
    let host = WebHost::new()
        .http(&url)
        .secret(&format!("KEY={url}"), Some(VALUE));
    let mine = [
        "Authorization: Bearer mine",
        "authorization: Bearer too",
        "accept-encoding: gzip",
        "range: bytes=3-5",
    ];
    host.send("GET", &url, &mine, None).await;
    let head = server.asked().remove(0).head;
    assert_eq!(head.matches("authorization").count(), 1, "{head}");
    assert!(
        head.contains(&format!("authorization: Bearer {VALUE}\n")),
        "{head}"
    );
    assert!(head.contains("accept-encoding: identity\n"), "{head}");
    assert!(!head.contains("range:"), "{head}");
}

#[tokio::test]
async fn a_secret_whose_variable_is_not_set_stops_the_request() {
    let server = echo().await;
    let url = server.url("/");
    let host = WebHost::new()
        .http(&url)
        .secret(&format!("KEY={url}"), None);
    let called = host.get(&url).await;
    let port = server.port().to_string();
    expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http GET http://127.0.0.1:PORT/: by `http://127.0.0.1:PORT/`
        secrets `KEY` in GET http://127.0.0.1:PORT/: refused, the variable `KEY` is not set; set it where openprogram runs, or revoke the secret"#]].assert_eq(&called.all().replace(&port, "PORT"));
    assert_eq!(server.asked(), []);
}

#[tokio::test]
async fn secrets_that_cannot_be_sent_or_kept_stop_the_request() {
    let server = echo().await;
    let url = server.url("/");
    let port = server.port().to_string();
    for (grant, value, expected) in [
        ("KEY=URL", "abc", "too short to be kept from the component"),
        ("KEY=URL", "line\nline", "cannot stand in a header"),
    ] {
        let host = WebHost::new()
            .http(&url)
            .secret(&grant.replace("URL", &url), Some(value));
        let called = host.get(&url).await;
        let all = called.all().replace(&port, "PORT");
        assert!(all.contains(expected), "{all}");
        assert!(!all.contains(value), "{all}");
    }
    let host = WebHost::new()
        .http(&url)
        .secret(&format!("KEY={url}"), Some("first-value"));
    let host = host.secret(&format!("OTHER={url}"), Some("second-value"));
    let called = host.get(&url).await;
    assert!(
        called
            .noted()
            .contains("several secrets are the header `authorization`")
    );
    assert_eq!(server.asked(), []);
}

#[tokio::test]
async fn a_secret_that_comes_back_in_pieces_encoded_or_later_is_not_seen() {
    let server = Server::start(|asked: &Asked| match asked.line().split(' ').nth(1) {
        Some("/chunked") => {
            let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            let pieces = VALUE.as_bytes().chunks(5);
            let pieces =
                pieces.map(|p| format!("{:x}\r\n{}\r\n", p.len(), str::from_utf8(p).unwrap()));
            Answer::Bytes(format!("{start}{}0\r\n\r\n", pieces.collect::<String>()).into_bytes())
        }
        // `user:s3cr3t-value`, as a server shows what it decoded or would encode.
        Some("/encoded") => Answer::ok("dXNlcjpzM2NyM3QtdmFsdWU="),
        Some("/gzip") => Answer::of("200 OK", &["content-encoding: gzip"], "unreadable"),
        // Not below the place of the secret.
        _ => Answer::of(
            "404 Not Found",
            &["x-last: s3cr3t-value"],
            "the last was s3cr3t-value",
        ),
    })
    .await;
    let host = WebHost::new().http(&server.url("/"));
    let mut seen = Vec::new();
    for path in ["/chunked", "/encoded", "/gzip"] {
        let host = WebHost::new().http(&server.url("/"));
        let host = host.secret(&format!("KEY={}", server.url(path)), Some(VALUE));
        seen.push(host.get(&server.url(path)).await.seen());
    }
    let host = host.secret(&format!("KEY={}", server.url("/chunked")), Some(VALUE));
    seen.push(host.get(&server.url("/elsewhere")).await.seen());
    expect![[r#"
        200

        ************
        ---
        200
        content-length: 24

        dXNlcjp***************U=
        ---
        error: ErrorCode::HttpResponseContentCoding(Some("gzip"))
        ---
        404
        content-length: 25
        x-last: ************

        the last was ************"#]]
    .assert_eq(&seen.join("\n---\n"));
}

#[tokio::test]
async fn a_secret_that_the_guest_knows_from_elsewhere_is_not_in_its_log() {
    let host = WebHost::new().secret("KEY=https://api.example.com/", Some(VALUE));
    let called = host
        .call("say", serde_json::json!({"text": format!("it is {VALUE}")}))
        .await;
    assert_eq!(called.report.log, "it is ************\n");
}

#[tokio::test]
async fn a_secret_that_asks_is_put_to_the_person_each_time() {
    let server = echo().await;
    let url = server.url("/");
    let host = WebHost::new()
        .http(&url)
        .secret(&format!("ask KEY={url}"), Some(VALUE));
    let called = host.get(&url).await;
    assert_eq!(called.seen(), "error: ErrorCode::HttpRequestDenied");
    assert_eq!((called.asked.len(), server.asked().len()), (1, 0));
    let called = host.approving().get(&url).await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    assert_eq!(received(&server), [Some(format!("Bearer {VALUE}"))]);
}
