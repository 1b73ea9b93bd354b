//! Signed components: beside a file, beside a URL, in a registry; whenever bytes come in.

use std::fs;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_component::digest_of;
use openprogram_tests::cli::Project;
use openprogram_tests::many;
use openprogram_tests::serving::{Answer, Server};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::json;

use super::install::{done, lock, refused, run_shop};
use super::project;
use super::registry::{open_registry, push_shop};

/// A pair of keys and the public one in PEM.
struct Signer {
    pair: Ed25519KeyPair,
    pem: String,
}

impl Signer {
    fn new() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap();
        let head = [
            0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
        ];
        let der = STANDARD.encode([&head, pair.public_key().as_ref()].concat());
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{der}\n-----END PUBLIC KEY-----\n");
        Self { pair, pem }
    }

    fn sign(&self, bytes: &[u8]) -> String {
        STANDARD.encode(self.pair.sign(bytes).as_ref())
    }
}

/// A public key in PEM.
pub(super) fn some_key() -> String {
    Signer::new().pem
}

/// A project that has the key of this signer.
fn project_of(signer: &Signer, required: bool) -> Project {
    let settings = format!("[signatures]\nkeys = [\"keys/acme.pem\"]\nrequired = {required}\n");
    project()
        .file("keys/acme.pem", &signer.pem)
        .file("openprogram.toml", settings)
}

#[test]
fn a_signature_beside_a_file_is_checked_recorded_and_required() {
    let (signer, stranger) = (Signer::new(), Signer::new());
    let bytes = many::component("shop", 1, 1);
    let project = project_of(&signer, true).file("shop.wasm", &bytes);
    let mut shown = String::new();
    let mut say = |what: &str, said: String| shown.push_str(&format!("# {what}\n{said}\n"));
    say("unsigned", refused(&project, 3, &["add", "shop.wasm"]));
    let project = project.file("shop.wasm.sig", stranger.sign(&bytes));
    say("another key", refused(&project, 2, &["add", "shop.wasm"]));
    let project = project.file("shop.wasm.sig", vec![0; 100_000]);
    say("large", refused(&project, 6, &["add", "shop.wasm"]));
    let project = project.file("shop.wasm.sig", signer.sign(&bytes));
    done(&project, &["add", "shop.wasm"]);
    assert!(
        lock(&project).contains("signed_by = \"sha256:"),
        "{}",
        lock(&project)
    );
    assert_eq!(run_shop(&project), json!(2));

    // One that is wrong is an error beside one that is right.
    let project = project.file("shop.wasm.sigstore.json", "{}");
    say("a broken bundle", refused(&project, 2, &["update"]));
    let keyless = json!({
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"certificate": {"rawBytes": "AA=="}},
    });
    let project = project.file("shop.wasm.sigstore.json", keyless.to_string());
    say("an identity", refused(&project, 2, &["update"]));
    fs::remove_file(project.path("shop.wasm.sigstore.json")).unwrap();

    // What it becomes has to be signed too, and so has what is fetched again.
    let locked = lock(&project);
    let other = many::component("shop", 1, 10);
    let project = project.file("shop.wasm", &other);
    say("updated", refused(&project, 2, &["update"]));
    let project = project.file("shop.wasm", &bytes);
    fs::remove_dir_all(project.path(".openprogram")).unwrap();
    fs::remove_file(project.path("shop.wasm.sig")).unwrap();
    let run = ["run", "add-0", "--arg", "number=1"];
    say("fetched again", refused(&project, 3, &run));
    let lax = fs::read_to_string(project.path("openprogram.toml")).unwrap();
    let project = project.file("openprogram.toml", lax.replace("true", "false"));
    say("not required", refused(&project, 2, &run));
    say("not required, updated", refused(&project, 2, &["update"]));
    assert_eq!(lock(&project), locked);
    let project = project.file("shop.wasm.sig", signer.sign(&bytes));
    assert_eq!(run_shop(&project), json!(2));

    // The key goes out of use.
    let project = project
        .file("openprogram.toml", &lax)
        .file("keys/acme.pem", &stranger.pem);
    say("the key is gone", refused(&project, 3, &run));
    let by_hand = locked.lines().filter(|line| !line.starts_with("signed_by"));
    let by_hand: Vec<_> = by_hand.collect();
    let project = project.file("openprogram.lock", format!("{}\n", by_hand.join("\n")));
    say("not signed in the lock file", refused(&project, 3, &run));
    insta::assert_snapshot!("signed_files", shown);
}

#[test]
fn without_keys_nothing_is_looked_for_and_a_wrong_signature_counts_where_there_are_some() {
    let (signer, stranger) = (Signer::new(), Signer::new());
    let bytes = many::component("shop", 1, 1);
    let with = |project: Project, by: &Signer| {
        project
            .file("shop.wasm", &bytes)
            .file("shop.wasm.sig", by.sign(&bytes))
    };
    let bare = with(project(), &stranger);
    done(&bare, &["add", "shop.wasm"]);
    assert!(!lock(&bare).contains("signed_by"));
    let lax = with(project_of(&signer, false), &stranger);
    let said = refused(&lax, 2, &["add", "shop.wasm"]);
    assert!(said.contains("does not fit"), "{said}");
    fs::remove_file(lax.path("shop.wasm.sig")).unwrap();
    done(&lax, &["add", "shop.wasm"]);
    assert!(!lock(&lax).contains("signed_by"));
}

#[test]
fn a_signature_beside_a_url_is_checked_and_a_server_that_hides_it_is_refused() {
    let signer = Signer::new();
    let bytes = many::component("shop", 1, 1);
    let signature = Arc::new(Mutex::new(Answer::ok(signer.sign(&bytes))));
    let shared = Arc::clone(&signature);
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/shop.wasm?x=1" => Answer::ok(bytes.clone()),
        "/shop.wasm.sig?x=1" => shared.lock().unwrap().clone(),
        _ => Answer::of(404, ""),
    });
    let project = project_of(&signer, false);
    let url = server.url("/shop.wasm?x=1");
    done(&project, &["add", &url]);
    let locked = lock(&project);
    assert!(locked.contains("signed_by"), "{locked}");
    for (hidden, code) in [
        (Answer::of(404, ""), 2),
        (Answer::of(500, ""), 5),
        (Answer::ok("x"), 2),
    ] {
        *signature.lock().unwrap() = hidden;
        refused(&project, code, &["update"]);
        assert_eq!(lock(&project), locked);
    }
}

#[test]
fn a_signature_in_a_registry_is_of_the_artifact() {
    let (signer, stranger) = (Signer::new(), Signer::new());
    let (held, server) = open_registry();
    let digest = push_shop(&held, "v1", 1);
    let sign = |signers: &[&Signer], of: &str| {
        let payload = json!({"critical": {
            "identity": {"docker-reference": ""},
            "image": {"docker-manifest-digest": of},
            "type": "cosign container image signature",
        }, "optional": null})
        .to_string();
        let layers: Vec<_> = signers
            .iter()
            .map(|signer| {
                json!({
                    "mediaType": "application/vnd.dev.cosign.simplesigning.v1+json",
                    "digest": digest_of(payload.as_bytes()),
                    "size": payload.len(),
                    "annotations": {
                        "dev.cosignproject.cosign/signature": signer.sign(payload.as_bytes()),
                    },
                })
            })
            .collect();
        let manifest = json!({"schemaVersion": 2, "layers": layers}).to_string();
        let mut held = held.lock().unwrap();
        let tag = format!("{}.sig", digest.replace(':', "-"));
        held.insert(
            format!("/v2/acme/shop/manifests/{tag}"),
            Answer::ok(manifest),
        );
        let blob = format!("/v2/acme/shop/blobs/{}", digest_of(payload.as_bytes()));
        held.insert(blob, Answer::ok(payload));
    };
    let project = project_of(&signer, true);
    let source = format!("oci://{}/acme/shop:v1", server.host());
    let said = refused(&project, 3, &["add", &source]);
    assert!(said.contains("`shop` is not signed"), "{said}");
    sign(&[&stranger], &digest);
    let said = refused(&project, 2, &["add", &source]);
    assert!(said.contains("does not fit"), "{said}");
    sign(&[&signer], "sha256:other");
    let said = refused(&project, 2, &["add", &source]);
    assert!(said.contains("signs another artifact"), "{said}");
    sign(&[], &digest);
    let said = refused(&project, 2, &["add", &source]);
    assert!(said.contains("no signature"), "{said}");
    // Anyone who can push there may add one of their own.
    sign(&[&stranger, &signer], &digest);
    done(&project, &["add", &source]);
    assert!(lock(&project).contains("signed_by"));
    assert_eq!(run_shop(&project), json!(2));
}
