//! Certificates of tests: an authority of their own, and servers that it vouches for.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A server's certificate with its key.
pub struct Certificate {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
    /// The certificate of whoever vouches for it, as DER.
    pub root: Vec<u8>,
}

impl Certificate {
    /// A server that shows it.
    ///
    /// # Panics
    /// When it cannot be used.
    #[must_use]
    pub fn server(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions();
        let builder = builder.expect("versions").with_no_client_auth();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.clone()));
        let config = builder.with_single_cert(self.chain.clone(), key);
        Arc::new(config.expect("a certificate"))
    }
}

/// A certificate for this name or address, by an authority made for it.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn certificate(name: &str) -> Certificate {
    let key = KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::new(Vec::new()).expect("an authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = authority.self_signed(&key).expect("an authority");
    let issuer = Issuer::new(authority, key);
    let own = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let signed = params.signed_by(&own, &issuer).expect("a certificate");
    Certificate {
        chain: vec![signed.der().clone()],
        key: own.serialize_der(),
        root: root.der().to_vec(),
    }
}

/// A certificate for this name that nobody vouches for.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn self_signed(name: &str) -> Certificate {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let signed = params.self_signed(&key).expect("a certificate");
    Certificate {
        chain: vec![signed.der().clone()],
        key: key.serialize_der(),
        root: signed.der().to_vec(),
    }
}
