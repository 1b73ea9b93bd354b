//! Signatures of components by plain public keys: ECDSA on P-256, and Ed25519.
//!
//! What is signed is either the bytes of a component, by a file beside it, or a text that names the
//! digest of an artifact, as registries keep it. Identities that a certificate stands for, and logs
//! of transparency, are not checked; what relies on them is refused. Nothing here reads a file.

mod bundle;
mod key;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub use self::key::{KEY_BYTES_MAX, Key, KeyError};

/// Why a signature is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It was not made over these bytes with any of the keys.
    #[error(
        "the signature in `{place}` does not fit: it was made with another key than those of \
         `signatures.keys`, or over other bytes"
    )]
    Wrong {
        /// Where it was.
        place: String,
    },
    /// It is not of a form that is understood.
    #[error("the signature in `{place}` is not valid: {message}")]
    Form {
        /// Where it was.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// It relies on what is not checked here.
    #[error(
        "the signature in `{place}` {what}, which is not checked here, so it counts for nothing; \
         sign with a key: `cosign sign-blob --key`"
    )]
    Unsupported {
        /// Where it was.
        place: String,
        /// What it relies on.
        what: &'static str,
    },
}

/// The key that made the signature in a file beside a component: its raw bytes or their base64, or a
/// bundle, which is JSON.
///
/// # Errors
/// When it does not fit any key, or is not of a form that is understood.
pub fn signer_of_file<'k>(
    keys: &'k [Key],
    bytes: &[u8],
    place: &str,
    content: &[u8],
) -> Result<&'k Key, SignatureError> {
    let signature = if content.trim_ascii_start().starts_with(b"{") {
        bundle::signature(bytes, place, content)?
    } else {
        decoded(content)
    };
    signer(keys, bytes, place, &signature)
}

/// The key that made a signature of a registry, over a text that names the digest of a manifest.
///
/// # Errors
/// As [`signer_of_file`], and when the text names something else.
pub fn signer_of_artifact<'k>(
    keys: &'k [Key],
    manifest: &str,
    payload: &[u8],
    signature: &str,
) -> Result<&'k Key, SignatureError> {
    #[derive(serde::Deserialize)]
    struct Payload {
        critical: Critical,
    }
    #[derive(serde::Deserialize)]
    struct Critical {
        image: Image,
        r#type: String,
    }
    #[derive(serde::Deserialize)]
    struct Image {
        #[serde(rename = "docker-manifest-digest")]
        digest: String,
    }
    const TYPE: &str = "cosign container image signature";

    let place = "the registry";
    let form = |message: &str| SignatureError::Form {
        place: place.to_owned(),
        message: message.to_owned(),
    };
    // Only what is signed is looked at.
    let key = signer(keys, payload, place, &decoded(signature.as_bytes()))?;
    let payload = serde_json::from_slice::<Payload>(payload);
    let payload = payload.map_err(|_| form("it signs a text of another form"))?;
    if payload.critical.r#type != TYPE {
        return Err(form("it signs a text of another type"));
    }
    if payload.critical.image.digest != manifest {
        return Err(form("it signs another artifact"));
    }
    Ok(key)
}

/// A signature as it is, or out of base64. No signature of ours is text by chance.
fn decoded(content: &[u8]) -> Vec<u8> {
    let text: Vec<u8> = content
        .iter()
        .copied()
        .filter(|b| !b.is_ascii_whitespace())
        .collect();
    STANDARD
        .decode(&text)
        .unwrap_or_else(|_| content.to_owned())
}

fn signer<'k>(
    keys: &'k [Key],
    message: &[u8],
    place: &str,
    signature: &[u8],
) -> Result<&'k Key, SignatureError> {
    let key = keys.iter().find(|key| key.signed(message, signature));
    key.ok_or_else(|| SignatureError::Wrong {
        place: place.to_owned(),
    })
}

#[cfg(test)]
mod tests;
