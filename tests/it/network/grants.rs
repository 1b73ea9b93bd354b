//! Grants of the network, each without, with, and narrower; and requests that try to look like
//! granted ones.

use expect_test::{Expect, expect};
use openprogram_tests::web::{Answer, Server, WebHost};

/// A server that tells the request line, and what the guest has at it with these grants.
async fn check(grant: &str, method: &str, path: &str, expected: Expect) {
    let server = Server::start(|asked| Answer::ok(asked.line())).await;
    let port = server.port().to_string();
    let with_port = |text: &str| text.replace("PORT", &port);
    let mut host = WebHost::new();
    if !grant.is_empty() {
        host = host.http(&with_port(grant));
    }
    let called = host.send(method, &with_port(path), &[], None).await;
    let seen = called.all().replace(&port, "PORT");
    expected.assert_eq(&seen);
    let reached = usize::from(called.seen().starts_with("200"));
    assert_eq!(server.asked().len(), reached, "{grant} {method} {path}");
}

#[tokio::test]
async fn http_client_without_a_grant_reaches_nothing() {
    check(
        "",
        "GET",
        "http://127.0.0.1:PORT/v1/items?key=1",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET http://127.0.0.1:PORT/v1/items: refused, `GET http://127.0.0.1:PORT/v1/items` is not granted to `client`; needs `http://127.0.0.1:PORT/v1/items`"#]],
    )
    .await;
    check("", "POST", "http://127.0.0.1:PORT/", expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http POST http://127.0.0.1:PORT/: refused, `POST http://127.0.0.1:PORT/` is not granted to `client`; needs `POST http://127.0.0.1:PORT/`"#]]).await;
    check("", "GET", "https://api.example.com/v1", expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http GET https://api.example.com/v1: refused, `GET https://api.example.com/v1` is not granted to `client`; needs `https://api.example.com/v1`"#]]).await;
}

#[tokio::test]
async fn a_granted_request_goes_out() {
    let grant = "http://127.0.0.1:PORT/v1";
    for path in ["/v1", "/v1/items?key=1", "/v1/a/../b"] {
        let path = format!("http://127.0.0.1:PORT{path}");
        let server = Server::start(|asked| Answer::ok(asked.line())).await;
        let port = server.port().to_string();
        let host = WebHost::new().http(&grant.replace("PORT", &port));
        let called = host.get(&path.replace("PORT", &port)).await;
        assert!(called.seen().starts_with("200\n"), "{}", called.all());
    }
    check(
        grant,
        "GET",
        "http://127.0.0.1:PORT/v1/a/../b?x=/../",
        expect![[r#"
            200
            content-length: 25

            GET /v1/b?x=/../ HTTP/1.1
            http GET http://127.0.0.1:PORT/v1/b: by `http://127.0.0.1:PORT/v1`"#]],
    )
    .await;
    check(
        "POST http://127.0.0.1:PORT",
        "POST",
        "http://127.0.0.1:PORT/form",
        expect![[r#"
            200
            content-length: 19

            POST /form HTTP/1.1
            http POST http://127.0.0.1:PORT/form: by `POST http://127.0.0.1:PORT/`"#]],
    )
    .await;
    check(
        "* http://127.0.0.1:PORT",
        "PURGE",
        "http://127.0.0.1:PORT/",
        expect![[r#"
            200
            content-length: 16

            PURGE / HTTP/1.1
            http PURGE http://127.0.0.1:PORT/: by `* http://127.0.0.1:PORT/`"#]],
    )
    .await;
}

#[tokio::test]
async fn a_request_just_outside_of_its_grant_is_refused() {
    let grant = "http://127.0.0.1:PORT/v1";
    // Another host, port, scheme, path beside it, path above it, method.
    check(
        grant,
        "GET",
        "http://localhost:PORT/v1/items",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET http://localhost:PORT/v1/items: refused, `GET http://localhost:PORT/v1/items` is not granted to `client`; needs `http://localhost:PORT/v1/items`"#]],
    )
    .await;
    check(
        grant,
        "GET",
        "http://127.0.0.2:PORT/v1/items",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET http://127.0.0.2:PORT/v1/items: refused, `GET http://127.0.0.2:PORT/v1/items` is not granted to `client`; needs `http://127.0.0.2:PORT/v1/items`"#]],
    )
    .await;
    check(grant, "GET", "http://127.0.0.1:1/v1/items", expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http GET http://127.0.0.1:1/v1/items: refused, `GET http://127.0.0.1:1/v1/items` is not granted to `client`; needs `http://127.0.0.1:1/v1/items`"#]]).await;
    check(
        grant,
        "GET",
        "https://127.0.0.1:PORT/v1/items",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET https://127.0.0.1:PORT/v1/items: refused, `GET https://127.0.0.1:PORT/v1/items` is not granted to `client`; needs `https://127.0.0.1:PORT/v1/items`"#]],
    )
    .await;
    check(grant, "GET", "http://127.0.0.1:PORT/v10", expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http GET http://127.0.0.1:PORT/v10: refused, `GET http://127.0.0.1:PORT/v10` is not granted to `client`; needs `http://127.0.0.1:PORT/v10`"#]]).await;
    check(
        grant,
        "GET",
        "http://127.0.0.1:PORT/v1/../v2",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET http://127.0.0.1:PORT/v2: refused, `GET http://127.0.0.1:PORT/v2` is not granted to `client`; needs `http://127.0.0.1:PORT/v2`"#]],
    )
    .await;
    check(
        grant,
        "GET",
        "http://127.0.0.1:PORT/v1/%2e%2e/v2",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET http://127.0.0.1:PORT/v2: refused, `GET http://127.0.0.1:PORT/v2` is not granted to `client`; needs `http://127.0.0.1:PORT/v2`"#]],
    )
    .await;
    check(
        grant,
        "DELETE",
        "http://127.0.0.1:PORT/v1/items",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http DELETE http://127.0.0.1:PORT/v1/items: refused, `DELETE http://127.0.0.1:PORT/v1/items` is not granted to `client`; needs `DELETE http://127.0.0.1:PORT/v1/items`"#]],
    )
    .await;
}

#[tokio::test]
async fn a_request_that_cannot_be_brought_into_a_normal_form_is_refused() {
    let grant = "* http://127.0.0.1:PORT";
    check(
        grant,
        "GET",
        "http://user:word@127.0.0.1:PORT/",
        expect![[r#"
            error: ErrorCode::HttpRequestUriInvalid
            http GET http://127.0.0.1:PORT/: refused, a URL holds a user or a password; nothing is sent with one"#]],
    )
    .await;
    check(grant, "GET", "http://127.0.0.1:0/", expect![[r#"
        error: ErrorCode::HttpRequestUriInvalid
        http GET http://127.0.0.1:0/: refused, `http://127.0.0.1:0/` has port 0, which no server has"#]]).await;
    check(grant, "GET", "http://127.0.0.1:PORT/a%2Fb", expect![[r#"
        error: ErrorCode::HttpRequestUriInvalid
        http GET http://127.0.0.1:PORT/a%2Fb: refused, the path of `http://127.0.0.1:PORT/a%2Fb` hides a separator, a zero byte or a step upwards in an encoded form or before `;`"#]]).await;
    check(grant, "GET", "http://127.0.0.1:PORT/a%5cb", expect![[r#"
        error: ErrorCode::HttpRequestUriInvalid
        http GET http://127.0.0.1:PORT/a%5cb: refused, the path of `http://127.0.0.1:PORT/a%5cb` hides a separator, a zero byte or a step upwards in an encoded form or before `;`"#]]).await;
    check(
        grant,
        "GET",
        "ftp://127.0.0.1:PORT/",
        expect![[r#"
        error: ErrorCode::HttpProtocolError
    "#]],
    )
    .await;
    check(
        grant,
        "GET",
        "http://127.0.0.1:PORT/http://10.0.0.1/",
        expect![[r#"
            error: path refused
        "#]],
    )
    .await;
    check(grant, "CONNECT", "http://127.0.0.1:PORT/", expect![[r#"
        error: ErrorCode::HttpRequestMethodInvalid
        http http://127.0.0.1:PORT/: refused, the method `CONNECT` is not sent; methods are upper-case letters, and neither CONNECT nor TRACE"#]]).await;
    check(grant, "TRACE", "http://127.0.0.1:PORT/", expect![[r#"
        error: ErrorCode::HttpRequestMethodInvalid
        http http://127.0.0.1:PORT/: refused, the method `TRACE` is not sent; methods are upper-case letters, and neither CONNECT nor TRACE"#]]).await;
    check(grant, "get", "http://127.0.0.1:PORT/", expect![[r#"
        error: ErrorCode::HttpRequestMethodInvalid
        http http://127.0.0.1:PORT/: refused, the method `get` is not sent; methods are upper-case letters, and neither CONNECT nor TRACE"#]]).await;
    check(
        grant,
        "GET",
        &format!("http://127.0.0.1:PORT/{}", "x".repeat(20_000)),
        expect![[r#"
            error: ErrorCode::HttpRequestUriTooLong
            http GET http://127.0.0.1:PORT/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: refused, the URL is longer than 16384 bytes"#]],
    )
    .await;
}

#[tokio::test]
async fn other_forms_of_an_address_are_the_address() {
    let grant = "http://127.0.0.1:PORT/";
    for host in [
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
    ] {
        let server = Server::start(|asked| Answer::ok(asked.header("host").unwrap())).await;
        let port = server.port().to_string();
        let host_header = format!("127.0.0.1:{port}");
        let client = WebHost::new().http(&grant.replace("PORT", &port));
        let called = client.get(&format!("http://{host}:{port}/")).await;
        assert!(
            called.seen().ends_with(&host_header),
            "{host}: {}",
            called.all()
        );
        // And without a grant of the address they are refused as it.
        let called = WebHost::new().get(&format!("http://{host}:{port}/")).await;
        let needed = format!("needs `http://127.0.0.1:{port}/`");
        assert!(
            called.noted().ends_with(&needed),
            "{host}: {}",
            called.all()
        );
    }
    // A mapped one is another address, which nobody granted.
    check(
        grant,
        "GET",
        "http://[::ffff:127.0.0.1]:PORT/",
        expect![[r#"
            error: ErrorCode::HttpRequestDenied
            http GET http://[::ffff:127.0.0.1]:PORT/: refused, `GET http://[::ffff:127.0.0.1]:PORT/` is not granted to `client`; needs `http://[::ffff:127.0.0.1]:PORT/`"#]],
    )
    .await;
}

#[tokio::test]
async fn a_name_is_granted_in_its_normal_form() {
    for url in [
        "https://API.Example.COM/v1",
        "https://api.example.com.:443/v1",
    ] {
        let called = WebHost::new().get(url).await;
        assert!(
            called
                .noted()
                .ends_with("needs `https://api.example.com/v1`"),
            "{}",
            called.all()
        );
    }
    let called = WebHost::new().get("https://b\u{fc}cher.example/").await;
    expect![[r#"
        error: authority refused
    "#]]
    .assert_eq(&called.all());
    let called = WebHost::new().get("https://xn--bcher-kva.example/").await;
    expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http GET https://xn--bcher-kva.example/: refused, `GET https://xn--bcher-kva.example/` is not granted to `client`; needs `https://xn--bcher-kva.example/`"#]].assert_eq(&called.all());
}
