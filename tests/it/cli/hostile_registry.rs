//! A registry that wants to be followed, to write elsewhere, or to be told what it is not.

use openprogram_component::digest_of;
use openprogram_tests::many;
use openprogram_tests::serving::{Answer, Server};
use serde_json::{Value, json};

use super::install::{done, lock, refused};
use super::project;
use super::registry::{WASM, manifest, open_registry, push, source, with_login};

#[test]
fn a_manifest_of_many_layers_or_with_names_that_lead_elsewhere_writes_nothing_elsewhere() {
    let (held, server) = open_registry();
    let bytes = many::component("shop", 1, 1);
    let wasm = ("application/wasm", &bytes[..]);
    push(&held, "many", manifest(WASM, &vec![wasm; 1_000]), &[&bytes]);
    // An index of itself.
    let index = |digest: &str| {
        let of = json!({"mediaType": "application/vnd.oci.image.index.v1+json", "digest": digest,
                        "size": 9});
        json!({"schemaVersion": 2, "manifests": vec![of; 500]})
            .to_string()
            .into_bytes()
    };
    push(&held, "inner", index(&digest_of(b"x")), &[]);
    push(
        &held,
        "outer",
        index(&digest_of(&index(&digest_of(b"x")))),
        &[],
    );
    let mut named: Value = serde_json::from_slice(&manifest(WASM, &[wasm])).unwrap();
    for place in ["/config", "/layers/0"] {
        named.pointer_mut(place).unwrap()["annotations"] = json!({
            "org.opencontainers.image.title": "../../../pwned",
            "io.deis.oras.content.unpack": "true",
        });
    }
    named["annotations"] = json!({"org.opencontainers.image.title": "/tmp/../pwned"});
    push(&held, "named", named.to_string().into_bytes(), &[&bytes]);

    let project = project();
    for (tag, part) in [
        (":many", "it has 1000 layers"),
        (":inner", "it is an index of several artifacts"),
        (":outer", "it is an index of several artifacts"),
    ] {
        let said = refused(&project, 2, &["add", &source(&server, tag)]);
        assert!(said.contains(part), "{tag}: {said}");
    }
    // One request each: nothing is followed.
    assert_eq!(server.asked().len(), 3);
    done(&project, &["add", &source(&server, ":named")]);
    assert!(!lock(&project).contains("pwned"), "{}", lock(&project));
    for path in ["pwned", "../pwned", "../../pwned", "../../../pwned"] {
        assert!(!project.path(path).exists(), "{path}");
    }
}

/// What a server of tokens gives is one word of a header, told to its registry alone.
#[test]
fn a_token_that_is_none_or_leads_away_tells_nobody_anything() {
    let thief = Server::start(|_| Answer::ok(r#"{"token": "t"}"#));
    let away = thief.url("/token");
    let server = Server::start(move |asked| match asked.path.split('?').next() {
        Some("/lines") => Answer::ok(r#"{"token": "a\r\nX-Evil: 1"}"#),
        Some("/long") => Answer::ok(format!(r#"{{"token": "{}"}}"#, "x".repeat(65_536))),
        Some("/away") => Answer::moved(away.clone()),
        Some("/unasked") => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"x\""),
        path => {
            let kind = path.unwrap().split('/').nth(3).unwrap();
            let host = "realm=\"http://me:hunter2@127.0.0.1:1/\"".to_owned();
            let realm = match kind {
                "password" => host,
                "file" => "realm=\"file:///etc/passwd\"".to_owned(),
                "inside" => "realm=\"http://169.254.169.254/\"".to_owned(),
                other => format!("realm=\"http://{}/{other}\"", asked.host),
            };
            Answer::of(401, "").with("WWW-Authenticate", format!("Bearer {realm}"))
        }
    });
    let project = with_login(project(), &server.host());
    for kind in [
        "password", "file", "inside", "lines", "long", "away", "unasked",
    ] {
        let source = format!("oci://{}/acme/{kind}:v1", server.host());
        let outcome = project.run(&["add", &source]);
        assert_ne!(outcome.code, 0, "{kind}: {outcome:?}");
        assert!(!outcome.stderr.contains("hunter2"), "{kind}: {outcome:?}");
    }
    let asked = thief.asked();
    assert!(
        asked.iter().all(|asked| asked.authorization.is_none()),
        "{asked:?}"
    );
}
