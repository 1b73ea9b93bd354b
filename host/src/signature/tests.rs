//! Against keys and signatures that OpenSSL made, in the forms in which cosign writes them.

use serde_json::{Value, json};

use super::*;

const MESSAGE: &[u8] = include_bytes!("../../fixtures/signatures/message");
const ECDSA: &[u8] = include_bytes!("../../fixtures/signatures/ecdsa.pem");
const ECDSA_SIGNATURE: &[u8] = include_bytes!("../../fixtures/signatures/ecdsa.sig");
const ED25519: &[u8] = include_bytes!("../../fixtures/signatures/ed25519.pem");
const ED25519_SIGNATURE: &[u8] = include_bytes!("../../fixtures/signatures/ed25519.sig");
const P384: &[u8] = include_bytes!("../../fixtures/signatures/p384.pem");

fn key(pem: &[u8]) -> Key {
    Key::from_pem(pem).unwrap()
}

fn base64_text() -> String {
    String::from_utf8(ECDSA_SIGNATURE.to_vec()).unwrap()
}

#[test]
fn a_signature_of_either_kind_fits_its_key_and_its_bytes_alone() {
    let keys = [key(ED25519), key(ECDSA)];
    let raw = STANDARD.decode(ECDSA_SIGNATURE).unwrap();
    let with_line_end = format!("{}\n", base64_text());
    for (content, signer) in [
        (ECDSA_SIGNATURE, &keys[1]),
        (with_line_end.as_bytes(), &keys[1]),
        (&raw, &keys[1]),
        (ED25519_SIGNATURE, &keys[0]),
        (STANDARD.encode(ED25519_SIGNATURE).as_bytes(), &keys[0]),
    ] {
        assert_eq!(signer_of_file(&keys, MESSAGE, "p", content), Ok(signer));
        let others: Vec<_> = keys.iter().filter(|k| *k != signer).cloned().collect();
        let wrong = Err(SignatureError::Wrong {
            place: "p".to_owned(),
        });
        assert_eq!(signer_of_file(&others, MESSAGE, "p", content), wrong);
        assert_eq!(signer_of_file(&keys, b"other", "p", content), wrong);
        assert_eq!(signer_of_file(&keys, MESSAGE, "p", &content[1..]), wrong);
        assert_eq!(signer_of_file(&[], MESSAGE, "p", content), wrong);
    }
    for content in [&b""[..], b"x", &[0; 64], &[0xff; 100]] {
        assert!(signer_of_file(&keys, MESSAGE, "p", content).is_err());
    }
}

#[test]
fn a_key_is_known_by_its_hash_and_any_other_file_is_refused() {
    // As `openssl pkey -pubin -outform DER | sha256sum` has it.
    let known = include_str!("../../fixtures/signatures/ecdsa.hash");
    assert_eq!(key(ECDSA).id(), format!("sha256:{}", known.trim()));
    let private = b"-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n";
    let cut = ECDSA[..80].to_vec();
    for (pem, expected) in [
        (&private[..], KeyError::Private),
        (P384, KeyError::Algorithm),
        (b"", KeyError::NotAKey),
        (MESSAGE, KeyError::NotAKey),
        (&cut, KeyError::NotAKey),
    ] {
        assert_eq!(Key::from_pem(pem), Err(expected));
    }
}

fn bundle() -> Value {
    json!({
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": "x"}, "tlogEntries": []},
        "messageSignature": {
            "messageDigest": {
                "algorithm": "SHA2_256",
                "digest": STANDARD.encode(sha2::Sha256::digest(MESSAGE)),
            },
            "signature": base64_text(),
        },
    })
}

use sha2::Digest as _;

#[test]
fn a_bundle_counts_by_its_key_and_is_refused_where_it_relies_on_more() {
    let keys = [key(ECDSA)];
    let told = |bundle: &Value| {
        let content = bundle.to_string();
        let signer = signer_of_file(&keys, MESSAGE, "p", content.as_bytes());
        signer.map_or_else(|error| error.to_string(), |key| key.id().to_owned())
    };
    assert_eq!(told(&bundle()), keys[0].id());
    let mut shown = String::new();
    for (pointer, value) in [
        (
            "/mediaType",
            json!("application/vnd.dev.sigstore.bundle+json;version=0.1"),
        ),
        (
            "/verificationMaterial",
            json!({"certificate": {"rawBytes": "AA=="}}),
        ),
        ("/verificationMaterial", json!({"x509CertificateChain": {}})),
        ("/verificationMaterial", json!({})),
        ("/messageSignature", Value::Null),
        (
            "/messageSignature/messageDigest/algorithm",
            json!("SHA2_512"),
        ),
        ("/messageSignature/messageDigest/digest", json!("AA==")),
        ("/messageSignature/signature", json!("é")),
        (
            "/messageSignature/signature",
            json!(STANDARD.encode(ED25519_SIGNATURE)),
        ),
    ] {
        let mut changed = bundle();
        *changed.pointer_mut(pointer).unwrap() = value;
        shown.push_str(&format!("{}\n", told(&changed)));
    }
    let mut attested = bundle();
    attested["dsseEnvelope"] = json!({});
    shown.push_str(&format!("{}\n{}\n", told(&attested), told(&json!({}))));
    expect_test::expect![[r#"
        the signature in `p` is not valid: its `mediaType` is not that of a bundle 0.3
        the signature in `p` relies on the certificate of an identity, which is not checked here, so it counts for nothing; sign with a key: `cosign sign-blob --key`
        the signature in `p` relies on the certificate of an identity, which is not checked here, so it counts for nothing; sign with a key: `cosign sign-blob --key`
        the signature in `p` is not valid: it names no public key
        the signature in `p` is not valid: it has no `messageSignature`
        the signature in `p` is over another digest than SHA-256, which is not checked here, so it counts for nothing; sign with a key: `cosign sign-blob --key`
        the signature in `p` is not valid: it is of other bytes
        the signature in `p` is not valid: its `signature` is no base64
        the signature in `p` does not fit: it was made with another key than those of `signatures.keys`, or over other bytes
        the signature in `p` is an attestation, which is not checked here, so it counts for nothing; sign with a key: `cosign sign-blob --key`
        the signature in `p` is not valid: it is no bundle of sigstore: line 1, column 2
    "#]].assert_eq(&shown);
    // Without the digest, which is a help and no proof.
    let mut bare = bundle();
    bare["messageSignature"]
        .as_object_mut()
        .unwrap()
        .remove("messageDigest");
    assert_eq!(told(&bare), keys[0].id());
}

#[test]
fn a_signature_of_a_registry_is_of_the_artifact_that_it_names() {
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

    let random = ring::rand::SystemRandom::new();
    let kind = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pair = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(kind, pair.as_ref(), &random).unwrap();
    let mut der = key::P256_HEAD.to_vec();
    der.extend_from_slice(pair.public_key().as_ref());
    let pem = format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        STANDARD.encode(der)
    );
    let keys = [key(pem.as_bytes())];
    let told = |kind: &str, digest: &str| {
        let payload = json!({"critical": {
            "identity": {"docker-reference": "r"}, "type": kind,
            "image": {"docker-manifest-digest": digest},
        }, "optional": null})
        .to_string();
        let signature = pair.sign(&random, payload.as_bytes()).unwrap();
        let signature = STANDARD.encode(signature.as_ref());
        let of = |payload: &str| {
            let signer = signer_of_artifact(&keys, "sha256:1", payload.as_bytes(), &signature);
            signer.map_or_else(|error| error.to_string(), |key| key.id().to_owned())
        };
        (of(&payload), of(&payload.replace("null", "{}")))
    };
    let kind = "cosign container image signature";
    let (own, changed) = told(kind, "sha256:1");
    assert_eq!(own, keys[0].id());
    assert!(changed.contains("does not fit"), "{changed}");
    assert!(told(kind, "sha256:2").0.contains("another artifact"));
    assert!(told("other", "sha256:1").0.contains("another type"));
}
