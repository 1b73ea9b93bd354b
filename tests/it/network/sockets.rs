//! Sockets of WASI may be imported, and nobody gets one: what a program is told, what is noted, and
//! that nothing goes out.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};

use expect_test::expect;
use openprogram_core::Json;
use openprogram_tests::web::{Called, WebHost};
use serde_json::json;

use crate::cli::project;

async fn called(function: &str, arguments: Json) -> Called {
    let host = WebHost::of("socket-client");
    host.call(function, arguments).await
}

#[tokio::test]
async fn socket_client_connects_to_nothing() {
    for (address, ours) in [("127.0.0.1:0", "IPv4"), ("[::1]:0", "IPv6")] {
        let Ok(listener) = TcpListener::bind(address) else {
            assert_eq!(ours, "IPv6", "every machine has addresses of version 4");
            continue;
        };
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let told = called("connect", json!({"address": address})).await;
        expect![[r#"
            PermissionDenied
            http a TCP socket: refused, a TCP socket: there is no grant for sockets; requests over HTTP (`wasi:http`) can be granted"#]].assert_eq(&told.all());
        let came = listener.accept().map(drop).unwrap_err();
        assert_eq!(came.kind(), ErrorKind::WouldBlock);
    }
    let told = called("listen", json!({"address": "127.0.0.1:0"})).await;
    expect![[r#"
        PermissionDenied
        http a TCP socket: refused, a TCP socket: there is no grant for sockets; requests over HTTP (`wasi:http`) can be granted"#]].assert_eq(&told.all());
}

#[tokio::test]
async fn socket_client_sends_nothing_without_a_connection() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let to = socket.local_addr().unwrap().to_string();
    let told = called("send", json!({"from": "127.0.0.1:0", "to": to})).await;
    expect![[r#"
        PermissionDenied
        http a UDP socket: refused, a UDP socket: there is no grant for sockets; requests over HTTP (`wasi:http`) can be granted"#]].assert_eq(&told.all());
    let came = socket.recv(&mut [0; 16]).unwrap_err();
    assert_eq!(came.kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
async fn socket_client_looks_up_no_name() {
    for name in ["localhost", "example.com"] {
        let told = called("look-up", json!({"name": name, "times": 1})).await;
        let seen = told.all().replace(name, "NAME");
        assert_eq!(
            seen,
            "PermissionDenied\nhttp the addresses of `NAME`: refused, the addresses of `NAME`: there \
             is no grant for sockets; requests over HTTP (`wasi:http`) can be granted"
        );
    }
    // A name may be a message: no more of it is kept than a name can have.
    let long = "x".repeat(100_000);
    let told = called("look-up", json!({"name": long, "times": 1})).await;
    assert!(told.all().len() < 1_000, "{}", told.all());
}

#[tokio::test]
async fn socket_client_has_the_rest_of_wasi() {
    let told = called("clock", json!({})).await;
    assert!(told.seen().parse::<u64>().unwrap() > 1_600_000_000_000);
    assert_eq!(told.noted(), "");
}

#[test]
fn a_person_reads_that_sockets_are_granted_to_nobody() {
    let project = project().guests(&["socket-client"]);
    let inspect = project.run(&["inspect", "socket-client.wasm"]);
    assert_eq!(inspect.code, 0, "{inspect:?}");
    assert!(
        inspect
            .stdout
            .ends_with("\nalways refused:\n    sockets, for which there is no grant\n"),
        "{inspect:?}"
    );
    let told = project.run(&["inspect", "socket-client.wasm", "--json"]);
    let refused = &told.json()["refused"];
    assert_eq!(*refused, json!(["sockets, for which there is no grant"]));
    let added = project.run(&["add", "socket-client.wasm"]);
    assert_eq!(added.code, 0, "{added:?}");
    let run = [
        "run",
        "look-up",
        "--args",
        r#"{"name": "example.com", "times": 200}"#,
    ];
    let run = project.run(&run);
    expect![[r#"
        exit 0
        --- stdout
        PermissionDenied
        --- stderr
        session op-<session>
        refused: the addresses of `example.com`: there is no grant for sockets; requests over HTTP (`wasi:http`) can be granted
    "#]].assert_eq(&run.shown(&project));
    let told = project.run(&[
        "run",
        "look-up",
        "--args",
        r#"{"name": "a", "times": 1}"#,
        "--json",
    ]);
    let session = told.json()["session"].as_str().unwrap().to_owned();
    let audit = project.run(&["audit", &session]);
    expect![[r#"
        exit 0
        --- stdout
        op-<session> test:socket-client/network.look-up
        <time>, 0 uses of grants, 1 refusal

        1 test:socket-client/network.look-up of socket-client
            refused  the addresses of `a`: the addresses of `a`: there is no grant for sockets; requests over HTTP (`wasi:http`) can be granted
        --- stderr
    "#]].assert_eq(&audit.shown(&project));
}
