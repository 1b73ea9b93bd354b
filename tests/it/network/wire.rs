//! What goes over the wire: headers, lines, redirects, and what is asked and counted on the way.

use expect_test::expect;
use openprogram_tests::web::{Answer, Server, WebHost};

#[tokio::test]
async fn the_guest_sets_neither_the_host_nor_what_belongs_to_the_connection() {
    let server = Server::start(|_| Answer::ok("")).await;
    let url = server.url("/");
    let host = WebHost::new().http(&url);
    for header in [
        "Host: internal.example",
        "Connection: upgrade",
        "Transfer-Encoding: gzip",
        "Upgrade: websocket",
        "Proxy-Authorization: x",
        "x: a\r\nhost: internal.example",
        "x\r\nhost: internal.example",
        "content-length: +1",
    ] {
        let called = host.send("GET", &url, &[header], None).await;
        assert!(
            called.seen().starts_with("error: header"),
            "{header}: {}",
            called.all()
        );
    }
    assert_eq!(server.asked(), []);
}

#[tokio::test]
async fn what_is_sent_is_what_was_checked() {
    let server = Server::start(|_| Answer::ok("")).await;
    let port = server.port().to_string();
    let host = WebHost::new().http(&format!("* {}", server.url("/")));
    let url = server.url("/a/./b/../c?q=%2f&r=a/../b");
    let called = host.send("GET", &url, &["x-mine: 1"], None).await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    let called = host.send("POST", &server.url("/p"), &[], None).await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    let called = host.send("POST", &server.url("/p"), &[], Some("")).await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    let called = host
        .send("POST", &server.url("/p"), &[], Some("text"))
        .await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    let heads: Vec<_> = server.asked().into_iter().map(|asked| asked.head).collect();
    expect![[r#"
        GET /a/c?q=%2f&r=a/../b HTTP/1.1
        host: 127.0.0.1:PORT
        x-mine: 1

        POST /p HTTP/1.1
        host: 127.0.0.1:PORT
        content-length: 0

        POST /p HTTP/1.1
        host: 127.0.0.1:PORT
        content-length: 0

        POST /p HTTP/1.1
        host: 127.0.0.1:PORT
        transfer-encoding: chunked

    "#]]
    .assert_eq(&heads.concat().replace(&port, "PORT"));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_its_target_needs_a_grant_of_its_own() {
    let target = Server::start(|_| Answer::ok("the target")).await;
    let to = format!("location: {}", target.url("/private"));
    let server = Server::start(move |_| Answer::of("302 Found", &[&to], "")).await;
    let host = WebHost::new().http(&server.url("/"));
    let called = host.get(&server.url("/")).await;
    assert!(called.seen().starts_with("302\n"), "{}", called.all());
    assert!(
        called.seen().contains(&target.url("/private")),
        "{}",
        called.all()
    );
    let called = host.get(&target.url("/private")).await;
    assert_eq!(called.seen(), "error: ErrorCode::HttpRequestDenied");
    assert_eq!(target.asked(), []);
}

#[tokio::test]
async fn a_grant_that_asks_is_put_to_the_person_before_anything_is_sent() {
    let server = Server::start(|_| Answer::ok("yes")).await;
    let port = server.port().to_string();
    let grant = format!("ask {}", server.url("/"));
    let called = WebHost::new().http(&grant).get(&server.url("/x")).await;
    expect![[r#"
        error: ErrorCode::HttpRequestDenied
        http GET http://127.0.0.1:PORT/x: refused, the person said no to `GET http://127.0.0.1:PORT/x`"#]].assert_eq(&called.all().replace(&port, "PORT"));
    assert_eq!(called.asked.len(), 1);
    assert_eq!(server.asked(), []);
    let called = WebHost::new()
        .http(&grant)
        .approving()
        .get(&server.url("/x"))
        .await;
    expect![[r#"
        200
        content-length: 3

        yes
        http GET http://127.0.0.1:PORT/x: by `ask http://127.0.0.1:PORT/`"#]]
    .assert_eq(&called.all().replace(&port, "PORT"));
    // One that does not ask is taken before it.
    let host = WebHost::new().http(&grant).http(&server.url("/x"));
    let called = host.get(&server.url("/x")).await;
    assert!(called.asked.is_empty() && called.seen().starts_with("200"));
}

#[tokio::test]
async fn a_person_is_asked_about_all_that_leaves_and_that_is_what_is_sent() {
    let server = Server::start(|_| Answer::ok("yes")).await;
    let grant = format!("ask POST {}", server.url("/"));
    let host = WebHost::new().http(&grant).approving();
    let (url, body) = (server.url("/x?key=s3cret"), "{\"all\": \"that I know\"}");
    let headers = ["content-type: application/json", "x-data: 1"];
    let called = host.send("POST", &url, &headers, Some(body)).await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    let sends = called.asked[0].sends.clone().unwrap();
    assert_eq!(sends.url, url);
    assert_eq!(sends.headers, ["content-type", "x-data"]);
    let shown = sends.body.clone().unwrap();
    assert_eq!(
        (
            shown.bytes,
            shown.mime_type.as_deref(),
            shown.head.as_deref()
        ),
        (body.len() as u64, Some("application/json"), Some(body))
    );
    let sent = server.asked().remove(0);
    let on_the_wire = String::from_utf8_lossy(&sent.body).into_owned();
    assert!(on_the_wire.contains(body), "{on_the_wire}");
    assert!(
        sent.head.starts_with("POST /x?key=s3cret "),
        "{}",
        sent.head
    );
    // Whatever else leaves is another question.
    for (headers, body) in [
        (["content-type: application/json", "x-data: 2"], body),
        (headers, "{}"),
    ] {
        let called = host.send("POST", &url, &headers, Some(body)).await;
        assert_ne!(called.asked[0].sends.as_ref().unwrap().digest, sends.digest);
    }
    // The query is nobody's business in the record.
    assert!(!called.noted().contains("s3cret"), "{}", called.noted());
}

#[tokio::test]
async fn a_body_that_nobody_would_look_through_is_not_asked_about() {
    let server = Server::start(|_| Answer::ok("yes")).await;
    let grant = format!("ask POST {}", server.url("/"));
    let host = WebHost::new().http(&grant).approving();
    let body = "y".repeat(1 << 20);
    let called = host.send("POST", &server.url("/"), &[], Some(&body)).await;
    assert!(called.seen().starts_with("200"), "{}", called.all());
    let body = format!("{body}y");
    let called = host.send("POST", &server.url("/"), &[], Some(&body)).await;
    assert_eq!(called.asked, []);
    assert!(
        called.noted().contains("larger than 1048576 bytes"),
        "{}",
        called.all()
    );
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn what_crosses_the_wire_is_counted() {
    let server = Server::start(|_| Answer::ok(&"x".repeat(1000))).await;
    let host = WebHost::new().http(&format!("POST {}", server.url("/")));
    let called = host
        .send("POST", &server.url("/"), &[], Some(&"y".repeat(500)))
        .await;
    let asked = server.asked().remove(0);
    let sent = asked.head.lines().map(|line| line.len() + 2).sum::<usize>() + asked.body.len();
    assert_eq!(called.report.egress_bytes, sent as u64);
    assert_eq!(
        called.report.ingress_bytes,
        1000 + "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n".len() as u64
    );
    let called = WebHost::new().get(&server.url("/")).await;
    assert_eq!(
        (called.report.egress_bytes, called.report.ingress_bytes),
        (0, 0)
    );
}
