//! Limits of requests and answers, each reached and named.

use std::time::Duration;

use expect_test::{Expect, expect};
use openprogram_component::Limits;
use openprogram_core::Json;
use openprogram_tests::web::{Answer, Asked, Server, WebHost};
use serde_json::json;

const MIB: usize = 1 << 20;

/// A guest that may do everything at a server of many answers, within these limits.
async fn check(
    limits: impl FnOnce(&mut Limits),
    function: &str,
    path: &str,
    mut arguments: Json,
    expected: Expect,
) {
    let server = Server::start(answer).await;
    let host = WebHost::new()
        .http(&format!("* {}", server.url("/")))
        .limits(limits);
    arguments["url"] = server.url(path).into();
    let called = host.call(function, arguments).await;
    let port = server.port().to_string();
    expected.assert_eq(&called.all().replace(&port, "PORT"));
}

fn answer(asked: &Asked) -> Answer {
    let start = "HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n";
    let again = |piece: Vec<u8>, pause| Answer::Repeated {
        start: start.as_bytes().to_vec(),
        piece,
        pause: Duration::from_millis(pause),
    };
    match asked.line().split(' ').nth(1).unwrap_or_default() {
        "/endless" => again(vec![b'x'; MIB], 0),
        "/slow" => again(b"x".to_vec(), 20),
        "/stuck" => again(b"x".to_vec(), 3_600_000),
        "/silent" => Answer::Silence,
        "/cut" => Answer::Bytes(format!("{start}not all of it").into_bytes()),
        "/garbage" => Answer::Bytes(b"what?\r\n\r\n".to_vec()),
        "/heads" => Answer::of("200 OK", &["x: y"; 600], ""),
        "/head" => Answer::of("200 OK", &[&format!("x: {}", "y".repeat(70_000))], ""),
        "/upgrade" => Answer::of(
            "101 Switching Protocols",
            &["upgrade: x", "connection: upgrade"],
            "",
        ),
        "/kib" => Answer::ok(&"x".repeat(1024)),
        _ => Answer::ok(&asked.body.len().to_string()),
    }
}

#[tokio::test]
async fn an_answer_of_10_gigabytes_is_cut() {
    let server = Server::start(answer).await;
    let host = WebHost::new().http(&server.url("/"));
    let called = host
        .call("size", json!({"url": server.url("/endless")}))
        .await;
    let seen = called.seen();
    let end = " bytes, then HTTP response body size exceeds limit: 67108864 bytes";
    assert!(seen.ends_with(end), "{seen}");
    let noted = called.noted();
    let end = "the body of the response is larger than 67108864 bytes (`http_response_bytes`)";
    assert!(noted.ends_with(end), "{noted}");
    // Little more came than was read.
    let max = Limits::default().http_response_bytes + 8 * MIB as u64;
    assert!(
        called.report.ingress_bytes < max,
        "{}",
        called.report.ingress_bytes
    );
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn an_answer_within_its_limit_comes_whole_and_one_byte_more_does_not() {
    let limit = |bytes| move |limits: &mut Limits| limits.http_response_bytes = bytes;
    check(
        limit(1024),
        "size",
        "/kib",
        json!({}),
        expect![[r#"
        1024 bytes, then end
        http GET http://127.0.0.1:PORT/kib: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(limit(1023), "size", "/kib", json!({}), expect![[r#"
        0 bytes, then HTTP response body size exceeds limit: 1023 bytes
        http GET http://127.0.0.1:PORT/kib: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/kib: refused, the body of the response is larger than 1023 bytes (`http_response_bytes`)"#]]).await;
}

#[tokio::test]
async fn an_answer_that_takes_too_long_ends_at_the_limit_that_it_reaches() {
    let server = Server::start(answer).await;
    let host = WebHost::new().http(&server.url("/"));
    let host = host.limits(|limits| limits.http_total_ms = 300);
    let called = host.call("size", json!({"url": server.url("/slow")})).await;
    assert!(
        called
            .seen()
            .ends_with(" bytes, then HTTP response timeout")
    );
    let end = "the end of the response did not come within 300 ms (`http_total_ms`)";
    assert!(called.noted().ends_with(end), "{}", called.noted());
    check(
        |l| l.http_idle_ms = 100,
        "size",
        "/stuck",
        json!({}),
        expect![[r#"
            1 bytes, then connection read timeout
            http GET http://127.0.0.1:PORT/stuck: by `* http://127.0.0.1:PORT/`
            http GET http://127.0.0.1:PORT/stuck: refused, the next piece of the response did not come within 100 ms (`http_idle_ms`)"#]],
    )
    .await;
    check(
        |l| l.http_first_byte_ms = 100,
        "size",
        "/silent",
        json!({}),
        expect![[r#"
            error: ErrorCode::ConnectionReadTimeout
            http GET http://127.0.0.1:PORT/silent: by `* http://127.0.0.1:PORT/`
            http GET http://127.0.0.1:PORT/silent: refused, the response did not come within 100 ms (`http_first_byte_ms`)"#]],
    )
    .await;
    // A shorter time of the guest's own is its own business; a longer one is not heard.
    check(
        |_| {},
        "size",
        "/stuck",
        json!({"idle_ms": 100}),
        expect![[r#"
            1 bytes, then connection read timeout
            http GET http://127.0.0.1:PORT/stuck: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(
        |l| l.http_idle_ms = 100,
        "size",
        "/stuck",
        json!({"idle_ms": 10_000}),
        expect![[r#"
            1 bytes, then connection read timeout
            http GET http://127.0.0.1:PORT/stuck: by `* http://127.0.0.1:PORT/`
            http GET http://127.0.0.1:PORT/stuck: refused, the next piece of the response did not come within 100 ms (`http_idle_ms`)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    check(|_| {}, "size", "/head", json!({}), expect![[r#"
        error: ErrorCode::HttpResponseHeaderSectionSize(Some(65536))
        http GET http://127.0.0.1:PORT/head: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/head: refused, the head of the response is larger than 65536 bytes (`http_head_bytes`) or has more than 512 headers"#]]).await;
    check(|_| {}, "size", "/heads", json!({}), expect![[r#"
        error: ErrorCode::HttpResponseHeaderSectionSize(Some(65536))
        http GET http://127.0.0.1:PORT/heads: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/heads: refused, the head of the response is larger than 65536 bytes (`http_head_bytes`) or has more than 512 headers"#]]).await;
    check(
        |l| l.http_head_bytes = 20,
        "size",
        "/kib",
        json!({}),
        expect![[r#"
            error: ErrorCode::HttpResponseHeaderSectionSize(Some(20))
            http GET http://127.0.0.1:PORT/kib: by `* http://127.0.0.1:PORT/`
            http GET http://127.0.0.1:PORT/kib: refused, the head of the response is larger than 20 bytes (`http_head_bytes`) or has more than 512 headers"#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_told_as_what_it_is() {
    check(
        |_| {},
        "size",
        "/cut",
        json!({}),
        expect![[r#"
        13 bytes, then connection terminated
        http GET http://127.0.0.1:PORT/cut: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(
        |_| {},
        "size",
        "/garbage",
        json!({}),
        expect![[r#"
        error: ErrorCode::HttpProtocolError
        http GET http://127.0.0.1:PORT/garbage: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(
        |_| {},
        "size",
        "/upgrade",
        json!({}),
        expect![[r#"
        error: ErrorCode::HttpUpgradeFailed
        http GET http://127.0.0.1:PORT/upgrade: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
}

#[tokio::test]
async fn a_request_body_is_held_to_its_limit_announced_or_not() {
    let limit = |limits: &mut Limits| limits.http_request_bytes = 10_000;
    check(
        limit,
        "upload",
        "/",
        json!({"bytes": 10_000}),
        expect![[r#"
            200
            content-length: 5

            10028
            http POST http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(
        limit,
        "upload",
        "/",
        json!({"bytes": 10_001}),
        expect![[r#"
            error: ErrorCode::HttpRequestBodySize(Some(10000))
            http POST http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
            http POST http://127.0.0.1:PORT/: refused, the body of the request is larger than 10000 bytes (`http_request_bytes`)"#]],
    )
    .await;
    let announced = json!({"bytes": 10_001, "announced": 10_001});
    check(limit, "upload", "/", announced, expect![[r#"
        error: ErrorCode::HttpRequestBodySize(Some(10000))
        http POST http://127.0.0.1:PORT/: refused, the body of the request is larger than 10000 bytes (`http_request_bytes`)"#]]).await;
    // What is announced and not sent never becomes a whole request.
    let short = json!({"bytes": 5, "announced": 10});
    check(
        limit,
        "upload",
        "/",
        short,
        expect![[r#"
        error: ErrorCode::HttpProtocolError
        http POST http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
}

#[tokio::test]
async fn requests_are_counted_refused_ones_included() {
    let limit = |limits: &mut Limits| limits.http_requests = 3;
    check(
        limit,
        "series",
        "/",
        json!({"times": 3}),
        expect![[r#"
        3
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(limit, "series", "/", json!({"times": 9}), expect![[r#"
        3, then the component made more than 3 requests in one run (`http_requests`)
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: refused, the component made more than 3 requests in one run (`http_requests`)"#]]).await;
    let host = WebHost::new().limits(limit);
    let arguments = json!({"url": "http://127.0.0.1:1/", "times": 9});
    let called = host.call("parallel", arguments).await;
    expect![[r#"["ErrorCode::HttpRequestDenied","ErrorCode::HttpRequestDenied","ErrorCode::HttpRequestDenied","the component made more than 3 requests in one run (`http_requests`)","the component made more than 3 requests in one run (`http_requests`)","the component made more than 3 requests in one run (`http_requests`)","the component made more than 3 requests in one run (`http_requests`)","the component made more than 3 requests in one run (`http_requests`)","the component made more than 3 requests in one run (`http_requests`)"]"#]].assert_eq(&called.seen());
}

#[tokio::test]
async fn calls_of_one_run_make_so_many_requests_together() {
    let host = WebHost::new().limits(|limits| limits.http_requests = 3);
    let host = host.in_one_run();
    let arguments = json!({"url": "http://127.0.0.1:1/", "times": 2});
    host.call("parallel", arguments.clone()).await;
    let called = host.call("parallel", arguments).await;
    expect![[r#"["ErrorCode::HttpRequestDenied","the component made more than 3 requests in one run (`http_requests`)"]"#]].assert_eq(&called.seen());
}

#[tokio::test]
async fn requests_in_flight_are_bounded() {
    let limit = |limits: &mut Limits| {
        limits.http_in_flight = 2;
        limits.http_first_byte_ms = 200;
    };
    check(
        limit,
        "parallel",
        "/silent",
        json!({"times": 3}),
        expect![[r#"
            ["ErrorCode::ConnectionLimitReached","ErrorCode::ConnectionReadTimeout","ErrorCode::ConnectionReadTimeout"]
            http GET http://127.0.0.1:PORT/silent: by `* http://127.0.0.1:PORT/`
            http GET http://127.0.0.1:PORT/silent: by `* http://127.0.0.1:PORT/`
            http GET http://127.0.0.1:PORT/silent: refused, the function has more than 2 requests in flight (`http_in_flight`)
            http GET http://127.0.0.1:PORT/silent: refused, the response did not come within 200 ms (`http_first_byte_ms`)
            http GET http://127.0.0.1:PORT/silent: refused, the response did not come within 200 ms (`http_first_byte_ms`)"#]],
    )
    .await;
}

#[tokio::test]
async fn requests_beyond_the_rate_wait_and_are_refused_when_they_would_wait_too_long() {
    let limit = |limits: &mut Limits| {
        limits.http_per_second = 1;
        limits.http_total_ms = 500;
    };
    check(limit, "series", "/", json!({"times": 2}), expect![[r#"
        1, then the function makes more than 1 requests per second (`http_per_second`), and this one would wait longer than it may take
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`
        http GET http://127.0.0.1:PORT/: refused, the function makes more than 1 requests per second (`http_per_second`), and this one would wait longer than it may take"#]]).await;
    let server = Server::start(answer).await;
    let host = WebHost::new().http(&server.url("/"));
    let host = host.limits(|limits| limits.http_per_second = 20);
    let called = host
        .call("series", json!({"url": server.url("/"), "times": 25}))
        .await;
    assert_eq!(called.seen(), "25");
    // Twenty at once, and five that wait a twentieth of a second each.
    assert!(called.report.wall_us > 200_000, "{}", called.report.wall_us);
}

#[tokio::test]
async fn headers_beyond_the_limit_end_the_call_by_its_name() {
    let host = WebHost::new();
    for arguments in [
        json!({"count": 40_000, "bytes": 0}),
        json!({"count": 1, "bytes": MIB}),
        json!({"count": 33_000, "bytes": 1}),
    ] {
        let called = host.call("fields", arguments.clone()).await;
        let expected =
            "failed: the headers of a request are too many, or take more than 131072 bytes";
        assert_eq!(called.seen(), expected, "{arguments}");
    }
    let called = host.call("append", json!({"count": 40_000})).await;
    assert_eq!(
        called.seen(),
        "failed: the headers of a request are too many, or take more than 131072 bytes"
    );
    // Nor is there a panic where the HTTP library can hold no more.
    let host = host.limits(|limits| limits.http_fields_bytes = 1 << 30);
    let called = host
        .call("fields", json!({"count": 33_000, "bytes": 0}))
        .await;
    let expected =
        "failed: the headers of a request are too many, or take more than 1073741824 bytes";
    assert_eq!(called.seen(), expected);
    let called = host
        .call("fields", json!({"count": 1, "bytes": 1000}))
        .await;
    assert_eq!(called.seen(), "made");
}

#[tokio::test]
async fn a_request_in_flight_ends_with_its_call() {
    let server = Server::start(|_| Answer::Silence).await;
    let host = WebHost::new().http(&server.url("/"));
    let called = host.call("abandon", json!({"url": server.url("/")})).await;
    assert_eq!(called.seen(), "sent");
    while server.open() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.asked().len(), 1);
}
