//! One public key.

use std::fmt;

use ring::signature::{ECDSA_P256_SHA256_ASN1, ED25519, UnparsedPublicKey, VerificationAlgorithm};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};

/// The largest file of a key. One has some two hundred bytes.
pub const KEY_BYTES_MAX: u64 = 16 * 1024;

/// What stands before the point of a P-256 key: its algorithm and its curve, as DER has them.
pub(super) const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// Bytes of an uncompressed point of that curve.
const P256_BYTES: usize = 65;
/// The same for a key of Ed25519.
const ED25519_HEAD: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// Bytes of such a key.
const ED25519_BYTES: usize = 32;

/// Why a key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is a private key.
    #[error("it holds a private key, which signs; give the public one")]
    Private,
    /// It is no public key in PEM.
    #[error("it is no public key in PEM (`-----BEGIN PUBLIC KEY-----`)")]
    NotAKey,
    /// Its algorithm is another one.
    #[error("its algorithm is not supported; ECDSA on P-256 (as of cosign) and Ed25519 are")]
    Algorithm,
}

/// A public key that may sign components.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    id: String,
    algorithm: Algorithm,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    P256,
    Ed25519,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

impl Key {
    /// Reads a key from PEM.
    ///
    /// # Errors
    /// When there is none of a kind that is supported.
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyError> {
        let is_private = String::from_utf8_lossy(pem).contains("PRIVATE KEY-----");
        if is_private {
            return Err(KeyError::Private);
        }
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| KeyError::NotAKey)?;
        let kinds = [
            (&P256_HEAD[..], P256_BYTES, Algorithm::P256),
            (&ED25519_HEAD, ED25519_BYTES, Algorithm::Ed25519),
        ];
        let found = kinds.iter().find_map(|(head, bytes, algorithm)| {
            let point = der.strip_prefix(*head)?;
            (point.len() == *bytes).then(|| (point.to_owned(), *algorithm))
        });
        let (bytes, algorithm) = found.ok_or(KeyError::Algorithm)?;
        let hash = Sha256::digest(&*der);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            id: format!("sha256:{hash}"),
            algorithm,
            bytes,
        })
    }

    /// What it is known by: `sha256:` and the hash of the key as DER.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it made this signature over this message.
    pub(super) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match self.algorithm {
            Algorithm::P256 => &ECDSA_P256_SHA256_ASN1,
            Algorithm::Ed25519 => &ED25519,
        };
        let key = UnparsedPublicKey::new(algorithm, &self.bytes);
        key.verify(message, signature).is_ok()
    }
}
