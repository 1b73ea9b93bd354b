//! Components of OCI registries: a small registry on this machine, honest or hostile.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_component::digest_of;
use openprogram_tests::many;
use openprogram_tests::serving::{Answer, Asked, Server};
use serde_json::{Value, json};

use super::install::{done, lock, refused, run_shop};
use super::project;

/// What a registry holds, by path; changed while it runs.
pub(super) type Held = Arc<Mutex<BTreeMap<String, Answer>>>;

pub(super) const WASM: &str = "application/vnd.wasm.config.v0+json";

pub(super) fn manifest(config: &str, layers: &[(&str, &[u8])]) -> Vec<u8> {
    let layers: Vec<_> = layers
        .iter()
        .map(|(kind, bytes)| {
            json!({"mediaType": kind, "digest": digest_of(bytes), "size": bytes.len()})
        })
        .collect();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": config, "digest": digest_of(b"{}"), "size": 2},
        "layers": layers,
    });
    manifest.to_string().into_bytes()
}

/// Puts an artifact under a tag and gives the digest of its manifest.
pub(super) fn push(held: &Held, tag: &str, manifest: Vec<u8>, blobs: &[&[u8]]) -> String {
    let digest = digest_of(&manifest);
    let mut held = held.lock().unwrap();
    for blob in blobs {
        held.insert(
            format!("/v2/acme/shop/blobs/{}", digest_of(blob)),
            Answer::ok(*blob),
        );
    }
    for name in [tag, &digest] {
        let path = format!("/v2/acme/shop/manifests/{name}");
        held.insert(path, Answer::ok(manifest.clone()));
    }
    digest
}

pub(super) fn push_shop(held: &Held, tag: &str, add: u32) -> String {
    let bytes = many::component("shop", 1, add);
    push(
        held,
        tag,
        manifest(WASM, &[("application/wasm", &bytes)]),
        &[&bytes],
    )
}

pub(super) fn answer(held: &Held, asked: &Asked) -> Answer {
    let found = held.lock().unwrap().get(&asked.path).cloned();
    let unknown = json!({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "not known"}]});
    found.unwrap_or_else(|| Answer::of(404, unknown.to_string()))
}

pub(super) fn open_registry() -> (Held, Server) {
    let held = Held::default();
    let shared = Arc::clone(&held);
    (held, Server::start(move |asked| answer(&shared, asked)))
}

pub(super) fn source(server: &Server, rest: &str) -> String {
    format!("oci://{}/acme/shop{rest}", server.host())
}

#[test]
fn an_artifact_is_pinned_at_add_and_a_moved_tag_waits_for_update() {
    let (held, server) = open_registry();
    let first = push_shop(&held, "v1", 1);
    let project = project();
    let tagged = source(&server, ":v1");
    done(&project, &["add", &tagged]);
    let locked = lock(&project);
    let digest = digest_of(&many::component("shop", 1, 1));
    for line in [
        format!("source = \"{tagged}\""),
        format!("digest = \"{digest}\""),
        format!("manifest = \"{first}\""),
    ] {
        assert!(locked.contains(&line), "{line}: {locked}");
    }
    assert_eq!(run_shop(&project), json!(2));

    // The tag moves; the manifest is there still.
    let second = push_shop(&held, "v1", 10);
    let forget = || fs::remove_dir_all(project.path(".openprogram")).unwrap();
    forget();
    assert_eq!(run_shop(&project), json!(2));
    assert_eq!(lock(&project), locked);
    // And then it is not.
    held.lock()
        .unwrap()
        .remove(&format!("/v2/acme/shop/manifests/{first}"));
    forget();
    let said = refused(&project, 2, &["run", "add-0", "--arg", "number=1"]);
    assert!(
        said.contains("no longer has the manifest") && said.contains("and the tag is"),
        "{said}"
    );
    assert_eq!(lock(&project), locked);
    done(&project, &["update", "shop", "--yes"]);
    assert!(lock(&project).contains(&second));
    assert_eq!(run_shop(&project), json!(11));

    // By digest there is nothing to move.
    let pinned = source(&server, &format!("@{second}"));
    done(&project, &["remove", "shop"]);
    done(&project, &["add", &pinned, "--name", "pinned"]);
    push_shop(&held, "v1", 100);
    done(&project, &["update", "pinned", "--yes"]);
    assert!(lock(&project).contains(&format!("manifest = \"{second}\"")));
}

#[test]
fn the_older_media_type_is_a_component_too() {
    let (held, server) = open_registry();
    let bytes = many::component("shop", 1, 1);
    let layer = "application/vnd.wasm.content.layer.v1+wasm";
    let text = manifest("application/vnd.wasm.config.v1+json", &[(layer, &bytes)]);
    push(&held, "v1", text, &[&bytes]);
    let project = project();
    done(&project, &["add", &source(&server, ":v1")]);
    assert_eq!(run_shop(&project), json!(2));
}

#[test]
fn what_a_registry_has_instead_of_a_component_is_named() {
    let (held, server) = open_registry();
    let bytes = many::component("shop", 1, 1);
    let wasm = ("application/wasm", &bytes[..]);
    let docker = "application/vnd.docker.container.image.v1+json";
    push(&held, "image", manifest(docker, &[wasm]), &[&bytes]);
    push(&held, "two", manifest(WASM, &[wasm, wasm]), &[&bytes]);
    push(
        &held,
        "chart",
        manifest("application/vnd.cncf.helm.config.v1+json", &[wasm]),
        &[],
    );
    let index = json!({"schemaVersion": 2, "manifests": []});
    push(&held, "index", index.to_string().into_bytes(), &[]);
    push(&held, "page", b"<html></html>".to_vec(), &[]);
    push(
        &held,
        "text",
        manifest(WASM, &[("application/wasm", b"hello")]),
        &[b"hello"],
    );
    push(
        &held,
        "absent",
        manifest(WASM, &[("application/wasm", b"absent")]),
        &[],
    );
    // Hostile ones: other bytes, more bytes, a size beyond all bounds, a manifest without end.
    let lying = many::component("shop", 1, 66);
    push(
        &held,
        "lying",
        manifest(WASM, &[("application/wasm", &lying)]),
        &[],
    );
    let blob = |bytes: &[u8]| format!("/v2/acme/shop/blobs/{}", digest_of(bytes));
    let mut other = bytes.clone();
    other.resize(lying.len(), 0);
    held.lock().unwrap().insert(blob(&lying), Answer::ok(other));
    let longer = many::component("shop", 1, 67);
    push(
        &held,
        "longer",
        manifest(WASM, &[("application/wasm", &longer)]),
        &[],
    );
    let endless = Answer::Endless { claimed: None };
    held.lock().unwrap().insert(blob(&longer), endless.clone());
    let mut huge: Value = serde_json::from_slice(&manifest(WASM, &[wasm])).unwrap();
    huge["layers"][0]["size"] = json!(10_u64 << 30);
    push(&held, "huge", huge.to_string().into_bytes(), &[]);
    held.lock()
        .unwrap()
        .insert("/v2/acme/shop/manifests/bomb".to_owned(), endless);
    let other = digest_of(b"another manifest");
    let swapped = format!("/v2/acme/shop/manifests/{other}");
    held.lock()
        .unwrap()
        .insert(swapped, Answer::ok(manifest(WASM, &[wasm])));

    let project = project();
    let mut shown = String::new();
    for rest in [
        ":image",
        ":two",
        ":chart",
        ":index",
        ":page",
        ":text",
        ":absent",
        ":lying",
        ":longer",
        ":huge",
        ":bomb",
        ":none",
        "",
        &format!("@{other}"),
        ":v1@sha512:00",
        "/../x:1",
    ] {
        let outcome = project.run(&["add", &source(&server, rest)]);
        assert_ne!(outcome.code, 0, "{rest}: {outcome:?}");
        let said = project
            .shown(&outcome.stderr)
            .replace(&server.host(), "<registry>");
        shown.push_str(&format!("# {rest}: exit {}\n{said}\n", outcome.code));
    }
    insta::assert_snapshot!("registry_refused", shown);
    assert!(!project.path("openprogram.lock").exists());
}

pub(super) fn with_login(
    project: openprogram_tests::cli::Project,
    registry: &str,
) -> openprogram_tests::cli::Project {
    project
        .variable("OPENPROGRAM_REGISTRY", registry)
        .variable("OPENPROGRAM_REGISTRY_USER", "me")
        .variable("OPENPROGRAM_REGISTRY_PASSWORD", "hunter2")
}

fn basic() -> String {
    format!("Basic {}", STANDARD.encode("me:hunter2"))
}

#[test]
fn a_registry_with_a_login_gets_it_and_gets_it_only_when_it_asks() {
    let held = Held::default();
    push_shop(&held, "v1", 1);
    let shared = Arc::clone(&held);
    let server = Server::start(move |asked| match &asked.authorization {
        Some(told) if *told == basic() => answer(&shared, asked),
        _ => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"x\""),
    });
    let tagged = source(&server, ":v1");
    let bare = project();
    let said = refused(&bare, 3, &["add", &tagged]);
    assert!(said.contains("set OPENPROGRAM_REGISTRY to"), "{said}");
    let _ = server.asked();
    let project = with_login(project(), &server.host());
    done(&project, &["add", &tagged]);
    let told: Vec<_> = server
        .asked()
        .into_iter()
        .map(|a| a.authorization)
        .collect();
    assert_eq!(told, [None, Some(basic()), Some(basic())]);
    assert!(!lock(&project).contains("hunter2"));

    // The same out of the file that docker writes.
    let config = json!({"auths": {server.host(): {"auth": STANDARD.encode("me:hunter2")}}});
    let folder = super::project().file("docker/config.json", config.to_string());
    let path = folder.path("docker").display().to_string();
    let project = super::project().variable("DOCKER_CONFIG", &path);
    done(&project, &["add", &tagged]);

    // The login of another registry stays where it is.
    let _ = server.asked();
    let project = with_login(super::project(), "registry.example");
    refused(&project, 3, &["add", &tagged]);
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| asked.authorization.is_none())
    );
}

#[test]
fn a_token_is_asked_for_with_the_login_and_for_reading_alone() {
    let held = Held::default();
    push_shop(&held, "v1", 1);
    let own = Arc::new(Mutex::new(String::new()));
    let (shared, place) = (Arc::clone(&held), Arc::clone(&own));
    let server = Server::start(move |asked| {
        if asked.path.starts_with("/token?") {
            return Answer::ok(json!({"token": "t0k3n"}).to_string());
        }
        match asked.authorization.as_deref() {
            Some("Bearer t0k3n") => answer(&shared, asked),
            _ => {
                let realm = format!("http://{}/token", place.lock().unwrap());
                let challenge = format!(
                    "Bearer realm=\"{realm}\",service=\"reg\",scope=\"repository:acme/shop:*\""
                );
                Answer::of(401, "").with("WWW-Authenticate", challenge)
            }
        }
    });
    *own.lock().unwrap() = server.host();
    let project = with_login(project(), &server.host());
    done(&project, &["add", &source(&server, ":v1")]);
    let asked = server.asked();
    let token = asked
        .iter()
        .find(|asked| asked.path.starts_with("/token"))
        .unwrap();
    let expected = "/token?service=reg&scope=repository%3Aacme%2Fshop%3Apull";
    assert_eq!(
        (token.path.as_str(), &token.authorization),
        (expected, &Some(basic()))
    );
    // Anonymous reading works the same way.
    let project = super::project();
    done(&project, &["add", &source(&server, ":v1")]);
    let asked = server.asked();
    assert!(
        asked.iter().all(|a| a.authorization != Some(basic())),
        "{asked:?}"
    );
}

#[test]
fn neither_login_nor_token_reaches_another_server() {
    let thief = Server::start(|asked| match asked.path.split('?').next() {
        Some("/token") => Answer::of(401, ""),
        _ => Answer::ok(many::component("shop", 1, 1)),
    });
    // A server of tokens elsewhere.
    let realm = format!("Bearer realm=\"{}\"", thief.url("/token"));
    let server = Server::start(move |_| Answer::of(401, "").with("WWW-Authenticate", &realm));
    let project = with_login(project(), &server.host());
    let said = refused(&project, 3, &["add", &source(&server, ":v1")]);
    assert!(
        said.contains("was not told to `127.0.0.1`, which is another server"),
        "{said}"
    );
    let asked = thief.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked.iter().all(|asked| asked.authorization.is_none()),
        "{asked:?}"
    );

    // A blob elsewhere, as stores of registries have them.
    let held = Held::default();
    push_shop(&held, "v1", 1);
    let (shared, elsewhere) = (Arc::clone(&held), thief.url("/blob"));
    let server = Server::start(move |asked| match &asked.authorization {
        None => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"x\""),
        Some(_) if asked.path.contains("/blobs/") => Answer::moved(elsewhere.clone()),
        Some(_) => answer(&shared, asked),
    });
    let project = with_login(super::project(), &server.host());
    done(&project, &["add", &source(&server, ":v1")]);
    let asked = thief.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked.iter().all(|asked| asked.authorization.is_none()),
        "{asked:?}"
    );
}
