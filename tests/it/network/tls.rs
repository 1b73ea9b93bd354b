//! Encrypted connections: the server has to be who was asked for.

use openprogram_component::Network;
use openprogram_tests::web::{Answer, Certificate, Server, WebHost, certificate, self_signed};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// What a guest sees of a server with this certificate, where these roots are trusted.
async fn seen(shown: &Certificate, root: Option<&Certificate>) -> (String, String) {
    let server = Server::at("127.0.0.1:0", Some(shown), |_| Answer::ok("hello")).await;
    let mut network = Network::default();
    if let Some(root) = root {
        network = network.with_root(root.root.clone()).unwrap();
    }
    let url = server.url("/").replace("http:", "https:");
    let called = WebHost::new().http(&url).network(network).get(&url).await;
    let notes = called
        .notes
        .iter()
        .skip(1)
        .map(openprogram_tests::web::shown);
    let port = server.port().to_string();
    let notes = notes.collect::<String>().replace(&port, "PORT");
    (called.seen(), notes)
}

#[tokio::test]
async fn a_server_that_a_trusted_root_vouches_for_is_reached() {
    let good = certificate("127.0.0.1");
    let (seen, notes) = seen(&good, Some(&good)).await;
    assert_eq!(
        (seen.as_str(), notes.as_str()),
        ("200\ncontent-length: 5\n\nhello", "")
    );
}

#[tokio::test]
async fn a_server_is_refused_with_the_wrong_name_an_unknown_root_or_its_own_word() {
    let refused = "error: ErrorCode::TlsCertificateError";
    let start = "http GET https://127.0.0.1:PORT/: refused, the certificate of the server is not accepted: ";
    for (shown, root, expected) in [
        (certificate("elsewhere.example"), true, "not valid for name"),
        (certificate("127.0.0.2"), true, "not valid for name"),
        (certificate("127.0.0.1"), false, "UnknownIssuer"),
        (self_signed("127.0.0.1"), false, "UnknownIssuer"),
    ] {
        let (seen, notes) = seen(&shown, root.then_some(&shown)).await;
        assert_eq!(seen, refused, "{expected}");
        assert!(
            notes.starts_with(start) && notes.contains(expected),
            "{notes}"
        );
    }
}

#[tokio::test]
async fn a_server_without_encryption_is_not_spoken_to_in_the_open() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        let mut heard = Vec::new();
        // The client is free to go away as it likes.
        let _ = stream.read_to_end(&mut heard).await;
        heard
    });
    let called = WebHost::new().http(&url).get(&url).await;
    assert_eq!(called.seen(), "error: ErrorCode::TlsProtocolError");
    let heard = server.await.unwrap();
    assert!(
        !heard.windows(4).any(|window| window == b"GET "),
        "{heard:?}"
    );
}
