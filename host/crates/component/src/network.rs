//! What the gate of HTTP needs of the machine: how a name becomes addresses, and whose certificates
//! are taken. What may be reached is not decided here.
//!
//! The default asks the system for names and trusts the roots of Mozilla; tests bring their own.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, LazyLock, OnceLock};

use async_trait::async_trait;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::Semaphore;

/// Names that are looked up at once. Each takes a thread, which ends when the system gives up.
const LOOKUPS_MAX: usize = 16;

/// Turns names into addresses.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a host, in the order in which they are to be tried. Called once for a
    /// request; whoever calls it connects to what it gave and never asks again.
    ///
    /// # Errors
    /// When there are none, or nobody answers.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver and the roots of one component. The default is the same for all.
#[derive(Clone)]
pub struct Network {
    resolver: Arc<dyn Resolver>,
    roots: Arc<RootCertStore>,
    tls: Arc<OnceLock<Option<Arc<ClientConfig>>>>,
}

impl Network {
    /// The same network with another resolver.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// The same network, which trusts this certificate too, given as DER.
    ///
    /// # Errors
    /// When it is not a certificate.
    pub fn with_root(self, certificate: Vec<u8>) -> Result<Self, rustls::Error> {
        let mut roots = (*self.roots).clone();
        roots.add(CertificateDer::from(certificate))?;
        Ok(Self {
            roots: Arc::new(roots),
            tls: Arc::default(),
            ..self
        })
    }

    pub(crate) fn resolver(&self) -> &dyn Resolver {
        &*self.resolver
    }

    /// How connections are secured. `None` only when the library has no usable protocol version.
    pub(crate) fn tls(&self) -> Option<Arc<ClientConfig>> {
        let made = self.tls.get_or_init(|| {
            let provider = Arc::new(ring::default_provider());
            let builder = ClientConfig::builder_with_provider(provider);
            let builder = builder.with_safe_default_protocol_versions().ok()?;
            let roots = builder.with_root_certificates(Arc::clone(&self.roots));
            let mut config = roots.with_no_client_auth();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Some(Arc::new(config))
        });
        made.clone()
    }
}

impl Default for Network {
    fn default() -> Self {
        static DEFAULT: LazyLock<Network> = LazyLock::new(|| Network {
            resolver: Arc::new(SystemResolver(Arc::new(Semaphore::new(LOOKUPS_MAX)))),
            roots: Arc::new(RootCertStore {
                roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
            }),
            tls: Arc::default(),
        });
        DEFAULT.clone()
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

/// The resolver of the system, with its files and servers.
struct SystemResolver(Arc<Semaphore>);

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let host = host.to_owned();
        let looked_up = tokio::task::spawn_blocking(move || {
            // Held until the system answers, also when nobody waits for it any more.
            let _permit = permit;
            let addresses = (host.as_str(), 0).to_socket_addrs()?;
            Ok(addresses.map(|address| address.ip()).collect())
        });
        looked_up.await.map_err(io::Error::other)?
    }
}
