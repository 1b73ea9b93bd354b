//! The component `fetch` against servers of this machine: without a grant, with one, just outside of
//! one, and with answers that nobody wants to read.

use expect_test::expect;
use openprogram_tests::web::{Answer, Asked, Server, WebHost};
use serde_json::{Value, json};

use super::{told, told_with_notes};

const PAGE: &str = "<!doctype html><title>Prices &amp; times</title><style>p {}</style>\
    <h1>Prices</h1><p>See the <a href='/list?of=tyres'>list</a>.<ul><li>tyre: 15 &euro;<li>bell</ul>\
    <script>alert('x')</script>";

/// A server that answers by the path.
async fn server() -> Server {
    Server::start(|asked: &Asked| {
        let path = asked
            .line()
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let html = ["content-type: text/html; charset=utf-8"];
        match path.as_str() {
            "/docs/page" => Answer::of("200 OK", &html, PAGE),
            "/docs/data" => Answer::of("200 OK", &["content-type: application/json"], "{\"a\": 1}"),
            "/docs/gone" => Answer::of("404 Not Found", &html, "<p>gone"),
            "/docs/picture" => Answer::of("200 OK", &["content-type: image/png"], "\u{89}PNG"),
            "/docs/moved" => Answer::of("302 Found", &["location: page"], ""),
            "/docs/away" => Answer::of("302 Found", &["location: /private"], ""),
            "/docs/round" => Answer::of("302 Found", &["location: round"], ""),
            "/docs/long" => Answer::ok(&"0123456789".repeat(5_000)),
            _ => Answer::ok("private"),
        }
    })
    .await
}

/// What a call gives with a grant of what is below `/docs` of the server.
async fn call(server: &Server, arguments: Value) -> String {
    let host = WebHost::of("fetch").http(&server.url("/docs"));
    let told = told(&host.call("fetch-url", arguments).await);
    told.replace(&server.port().to_string(), "PORT")
}

#[tokio::test]
async fn without_a_grant_nothing_is_asked_and_the_remedy_is_told() {
    let server = server().await;
    let url = json!({"url": server.url("/docs/page")});
    let called = WebHost::of("fetch").call("fetch-url", url).await;
    let told = told_with_notes(&called).replace(&server.port().to_string(), "PORT");
    expect![[r#"
        denied: `http://127.0.0.1:PORT/docs/page` is not granted; a person can grant it with `openprogram grant fetch --http URL`, where URL covers what is below it
        http GET http://127.0.0.1:PORT/docs/page: refused, `GET http://127.0.0.1:PORT/docs/page` is not granted to `client`; needs `http://127.0.0.1:PORT/docs/page`"#]]
    .assert_eq(&told);
    assert_eq!(server.asked(), []);
}

#[tokio::test]
async fn a_granted_page_is_read_as_text_or_source() {
    let server = server().await;
    let page = json!({"url": server.url("/docs/page#part")});
    expect![[r##"
        {
          "url": "http://127.0.0.1:PORT/docs/page",
          "status": 200,
          "content_type": "text/html; charset=utf-8",
          "title": "Prices & times",
          "text": "# Prices\n\nSee the [list](http://127.0.0.1:PORT/list?of=tyres).\n\n- tyre: 15 €\n- bell"
        }"##]]
    .assert_eq(&call(&server, page).await);
    assert_eq!(server.asked()[0].line(), "GET /docs/page HTTP/1.1");
    let source = json!({"url": server.url("/docs/page"), "form": "source"});
    let source: Value = serde_json::from_str(&call(&server, source).await).unwrap();
    assert_eq!(source["text"], PAGE);
    let head = json!({"url": server.url("/docs/page"), "method": "head"});
    let head: Value = serde_json::from_str(&call(&server, head).await).unwrap();
    let text = head["text"].as_str().unwrap();
    assert!(
        text.contains("content-type: text/html; charset=utf-8\n"),
        "{head}"
    );
    assert!(server.asked().last().unwrap().line().starts_with("HEAD "));
    for (path, status, text, more) in [
        ("/docs/data", 200, "{\"a\": 1}", json!(null)),
        ("/docs/gone", 404, "gone", json!(null)),
        (
            "/docs/picture",
            200,
            "",
            json!("the answer of 5 bytes is not text and is not shown"),
        ),
    ] {
        let told = call(&server, json!({"url": server.url(path)})).await;
        let told: Value = serde_json::from_str(&told).unwrap();
        let found = (&told["status"], &told["text"], &told["more"]);
        assert_eq!(found, (&json!(status), &json!(text), &more), "{path}");
    }
}

#[tokio::test]
async fn redirects_are_followed_within_the_grant_and_no_further() {
    let server = server().await;
    let moved: Value =
        serde_json::from_str(&call(&server, json!({"url": server.url("/docs/moved")})).await)
            .unwrap();
    assert_eq!(
        (&moved["title"], &moved["url"]),
        (
            &json!("Prices & times"),
            &json!("http://127.0.0.1:PORT/docs/page"),
        )
    );
    expect!["denied: `http://127.0.0.1:PORT/docs/away` redirects to `http://127.0.0.1:PORT/private`, which is not granted; a person can grant it with `openprogram grant fetch --http URL`, where URL covers what is below it"]
        .assert_eq(&call(&server, json!({"url": server.url("/docs/away")})).await);
    expect!["function-failed: `http://127.0.0.1:PORT/docs/round` redirects more than 5 times"]
        .assert_eq(&call(&server, json!({"url": server.url("/docs/round")})).await);
    let before = server.asked().len();
    for path in [
        "/private",
        "/docsearch",
        "/docs/../private",
        "/docs/%2e%2e/private",
    ] {
        let told = call(&server, json!({"url": server.url(path)})).await;
        assert!(told.starts_with("denied: "), "{told}");
    }
    assert_eq!(server.asked().len(), before);
}

#[tokio::test]
async fn what_is_no_url_or_no_server_is_told() {
    let server = server().await;
    for (url, said) in [
        (
            "example.com",
            "invalid-argument: `example.com` has no scheme; write for example `https://example.com/`",
        ),
        (
            "file:///etc/passwd",
            "invalid-argument: `file:///etc/passwd` is no URL of the web; `https` is fetched, and `http`",
        ),
        (
            "http://a:b@127.0.0.1/",
            "invalid-argument: a URL with a user or a password in it is not fetched",
        ),
    ] {
        assert_eq!(call(&server, json!({ "url": url })).await, said);
    }
    let host = WebHost::of("fetch").http("http://127.0.0.1:1/");
    let nobody = host
        .call("fetch-url", json!({"url": "http://127.0.0.1:1/"}))
        .await;
    let nobody = told(&nobody);
    assert!(
        nobody.starts_with("function-failed: `http://127.0.0.1:1/` "),
        "{nobody}"
    );
}

#[tokio::test]
async fn long_broken_and_hostile_answers_stay_within_bounds() {
    let server = server().await;
    let long = |offset| json!({"url": server.url("/docs/long"), "offset": offset});
    let first: Value = serde_json::from_str(&call(&server, long(0)).await).unwrap();
    assert_eq!(first["text"].as_str().unwrap().len(), 20_000);
    assert_eq!(
        first["more"],
        "20000 of 50000 characters are shown: go on with offset 20000"
    );
    let last: Value = serde_json::from_str(&call(&server, long(40_000)).await).unwrap();
    assert_eq!(
        (last["text"].as_str().unwrap().len(), &last["more"]),
        (10_000, &json!(null))
    );
    assert!(
        call(&server, long(50_000))
            .await
            .starts_with("invalid-argument: ")
    );
    for part in [
        "<div>",
        "<a href=x>a",
        "<table><tr><td>",
        "<ul><li>a",
        "<b ",
        "&amp;",
        "<p>word ",
    ] {
        let page = format!("<!doctype html>{}", part.repeat((10 << 20) / part.len()));
        let hostile = Server::start(move |_: &Asked| {
            Answer::of("200 OK", &["content-type: text/html"], &page)
        })
        .await;
        let host = WebHost::of("fetch").http(&hostile.url("/"));
        let called = host
            .call("fetch-url", json!({"url": hostile.url("/")}))
            .await;
        let value = called
            .result
            .unwrap_or_else(|error| panic!("{part}: {error}"));
        let more = value["more"].as_str().unwrap_or_default();
        assert!(
            more.contains("goes on after 8388608 bytes"),
            "{part}: {more}"
        );
        assert!(value.to_string().len() < 30_000, "{part}");
    }
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";
    let cut = Server::start(move |_: &Asked| Answer::Bytes(cut.as_bytes().to_vec())).await;
    let host = WebHost::of("fetch").http(&cut.url("/"));
    let told = told(&host.call("fetch-url", json!({"url": cut.url("/")})).await);
    assert!(told.contains(" broke off: "), "{told}");
}
