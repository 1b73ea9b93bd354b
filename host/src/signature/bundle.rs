//! Bundles of sigstore (`.sigstore.json`, version 0.3) that were signed with a plain key.
//!
//! Of a bundle only the signature and the digest of the message count. Its entries of a log and its
//! times are not looked at; a certificate in place of a key is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};

use super::SignatureError;

const MEDIA_TYPES: [&str; 2] = [
    "application/vnd.dev.sigstore.bundle.v0.3+json",
    "application/vnd.dev.sigstore.bundle+json;version=0.3",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    media_type: String,
    verification_material: Material,
    message_signature: Option<MessageSignature>,
    dsse_envelope: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    public_key: Option<IgnoredAny>,
    certificate: Option<IgnoredAny>,
    x509_certificate_chain: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageSignature {
    message_digest: Option<MessageDigest>,
    signature: String,
}

#[derive(Deserialize)]
struct MessageDigest {
    algorithm: String,
    digest: String,
}

/// The signature in a bundle, which is of these bytes by its own word.
pub(super) fn signature(
    bytes: &[u8],
    place: &str,
    content: &[u8],
) -> Result<Vec<u8>, SignatureError> {
    let form = |message: String| SignatureError::Form {
        place: place.to_owned(),
        message,
    };
    let unsupported = |what| SignatureError::Unsupported {
        place: place.to_owned(),
        what,
    };
    let bundle: Bundle = serde_json::from_slice(content).map_err(|error| {
        form(format!(
            "it is no bundle of sigstore: line {}, column {}",
            error.line(),
            error.column()
        ))
    })?;
    if !MEDIA_TYPES.contains(&bundle.media_type.as_str()) {
        return Err(form(
            "its `mediaType` is not that of a bundle 0.3".to_owned(),
        ));
    }
    let material = bundle.verification_material;
    if material.certificate.is_some() || material.x509_certificate_chain.is_some() {
        return Err(unsupported("relies on the certificate of an identity"));
    }
    if bundle.dsse_envelope.is_some() {
        return Err(unsupported("is an attestation"));
    }
    if material.public_key.is_none() {
        return Err(form("it names no public key".to_owned()));
    }
    let signed = bundle
        .message_signature
        .ok_or_else(|| form("it has no `messageSignature`".to_owned()))?;
    if let Some(digest) = signed.message_digest {
        if digest.algorithm != "SHA2_256" {
            return Err(unsupported("is over another digest than SHA-256"));
        }
        let expected = Sha256::digest(bytes).to_vec();
        if STANDARD.decode(digest.digest.as_bytes()).ok() != Some(expected) {
            return Err(form("it is of other bytes".to_owned()));
        }
    }
    let signature = STANDARD.decode(signed.signature.as_bytes());
    signature.map_err(|_| form("its `signature` is no base64".to_owned()))
}
