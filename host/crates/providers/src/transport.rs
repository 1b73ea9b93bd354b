//! One POST with a streamed reply. Knows HTTP and nothing of any protocol above it.
//!
//! Never retries, never follows a redirect, reads no environment. HTTP/1.1 only: a request has its
//! connection to itself, and dropping the future closes it. Keys become headers here.

use std::time::Duration;

use openprogram_core::llm::LlmFailure;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};

use crate::failure::{self, Answer};
use openprogram_core::secret::Secret;

/// The largest request: what the strictest large provider takes.
const REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How much of the body of an error is read. Errors are sentences; the rest is markup.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// How long a silence inside the body of an error is borne; its status is known by then.
const ERROR_IDLE: Duration = Duration::from_secs(5);
/// How many unused connections to one host are kept for later requests.
const IDLE_CONNECTIONS_MAX: usize = 32;

/// How long to wait and how much to take.
#[derive(Clone, Debug)]
pub struct TransportOptions {
    /// The longest time until a connection stands.
    pub connect: Duration,
    /// The longest time until a reply begins.
    pub first_byte: Duration,
    /// The longest silence inside a reply.
    pub idle: Duration,
    /// The largest reply, in bytes as they arrive.
    pub reply_bytes_max: usize,
    /// The URL of a proxy for all requests. None is looked up anywhere.
    pub proxy: Option<String>,
    /// Certificates trusted besides the bundled ones, in PEM.
    pub extra_roots_pem: Option<Vec<u8>>,
}

impl Default for TransportOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // A large prompt on a busy server; reasoning streams long before.
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(300),
            reply_bytes_max: 64 * 1024 * 1024,
            proxy: None,
            extra_roots_pem: None,
        }
    }
}

/// Why a transport cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The proxy is not a URL.
    #[error("the proxy is not a URL like `http://HOST:PORT`")]
    Proxy(#[source] reqwest::Error),
    /// The certificates cannot be read.
    #[error("the additional certificates are not valid PEM")]
    Roots,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The client cannot be set up.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// Sends requests. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Transport {
    client: Client,
    first_byte: Duration,
    idle: Duration,
    reply_bytes_max: usize,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Post<'a> {
    pub(crate) url: &'a Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// The key in the headers, so that it can be taken out of messages.
    pub(crate) key: Option<&'a Secret>,
}

/// A successful reply.
#[derive(Debug)]
pub(crate) struct Reply {
    response: Response,
    idle: Duration,
    bytes_left: usize,
    bytes_max: usize,
}

impl Transport {
    /// Makes a transport with the bundled certificates.
    ///
    /// # Errors
    /// When an option cannot be used.
    pub fn new(options: TransportOptions) -> Result<Self, TransportError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls_config(options.extra_roots_pem.as_deref())?)
            .user_agent(concat!("openprogram/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .connect_timeout(options.connect);
        if let Some(proxy) = &options.proxy {
            let proxy = reqwest::Proxy::all(proxy).map_err(TransportError::Proxy)?;
            builder = builder.proxy(proxy);
        }
        Ok(Self {
            client: builder.build().map_err(TransportError::Client)?,
            first_byte: options.first_byte,
            idle: options.idle,
            reply_bytes_max: options.reply_bytes_max,
        })
    }

    /// Sends a request and waits until the reply begins.
    ///
    /// # Errors
    /// The failure by status, or that of the connection.
    pub(crate) async fn post(&self, post: Post<'_>) -> Result<Reply, LlmFailure> {
        if post.body.len() > REQUEST_BYTES_MAX {
            let message = format!(
                "the request has {} bytes; the most is {REQUEST_BYTES_MAX}",
                post.body.len()
            );
            return Err(failure::refused(message));
        }
        let request = self
            .client
            .post(post.url.clone())
            .headers(post.headers)
            .header(CONTENT_TYPE, "application/json")
            .body(post.body);
        let sent = tokio::time::timeout(self.first_byte, request.send()).await;
        let sent = sent.map_err(|_| failure::late("no answer", self.first_byte))?;
        let response = sent.map_err(|error| not_sent(&error, post.url))?;
        let mut reply = Reply {
            response,
            idle: self.idle,
            bytes_left: self.reply_bytes_max,
            bytes_max: self.reply_bytes_max,
        };
        if reply.response.status().is_success() {
            return Ok(reply);
        }
        let body = reply.beginning(ERROR_BYTES_MAX).await;
        Err(failure::of_answer(
            &Answer {
                status: reply.response.status(),
                headers: reply.response.headers(),
                body: &body,
            },
            post.key,
        ))
    }
}

impl Reply {
    /// The media type without parameters, in lower case; empty when none is given.
    pub(crate) fn media_type(&self) -> String {
        let value = self.response.headers().get(CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
        let essence = value.split(';').next().unwrap_or("");
        essence.trim().to_ascii_lowercase()
    }

    /// The next bytes, or `None` at the end.
    ///
    /// # Errors
    /// When the connection breaks, is silent for too long, or gave too much.
    pub(crate) async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, LlmFailure> {
        let chunk = tokio::time::timeout(self.idle, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| failure::late("no more of the reply", self.idle))?;
        let chunk = chunk.map_err(|_| failure::truncated())?;
        if let Some(chunk) = &chunk {
            let left = self.bytes_left.checked_sub(chunk.len());
            self.bytes_left = left.ok_or_else(|| {
                let message = format!("the reply is larger than {} bytes", self.bytes_max);
                failure::too_large(message)
            })?;
        }
        Ok(chunk)
    }

    /// The whole body.
    ///
    /// # Errors
    /// As [`Reply::next`].
    pub(crate) async fn whole(&mut self) -> Result<Vec<u8>, LlmFailure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.next().await? {
            body.extend_from_slice(chunk.as_ref());
        }
        Ok(body)
    }

    /// The whole body, which may have at most so many bytes.
    ///
    /// # Errors
    /// As [`Reply::next`].
    pub(crate) async fn whole_within(&mut self, bytes_max: usize) -> Result<Vec<u8>, LlmFailure> {
        self.bytes_max = self.bytes_max.min(bytes_max);
        self.bytes_left = self.bytes_left.min(bytes_max);
        self.whole().await
    }

    /// The beginning of the body, as far as it comes.
    async fn beginning(&mut self, bytes_max: usize) -> Vec<u8> {
        self.idle = self.idle.min(ERROR_IDLE);
        let mut body = Vec::new();
        while body.len() < bytes_max {
            match self.next().await {
                Ok(Some(chunk)) => body.extend_from_slice(chunk.as_ref()),
                // What matters of an error is its status.
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(bytes_max);
        body
    }
}

fn not_sent(error: &reqwest::Error, url: &Url) -> LlmFailure {
    let mut host = url.host_str().unwrap_or_default().to_owned();
    if let Some(port) = url.port_or_known_default() {
        host = format!("{host}:{port}");
    }
    let step = if error.is_connect() || error.is_timeout() {
        format!("no connection to `{host}`")
    } else {
        format!("the request to `{host}` failed")
    };
    failure::lost(&step, error)
}

/// TLS with the `ring` provider and the bundled roots of Mozilla: the same on every machine, and
/// nothing to build that needs more than a C compiler.
///
/// # Errors
/// When the additional certificates, in PEM, cannot be read or are none.
pub fn tls_config(extra_roots_pem: Option<&[u8]>) -> Result<rustls::ClientConfig, TransportError> {
    use rustls::pki_types::pem::PemObject;

    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(pem) = extra_roots_pem {
        let before = roots.len();
        for certificate in rustls::pki_types::CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| TransportError::Roots)?;
            roots.add(certificate).map_err(|_| TransportError::Roots)?;
        }
        if roots.len() == before {
            return Err(TransportError::Roots);
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TransportError::Tls)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// A header that holds a key; it is marked so that no log shows it.
pub(crate) fn secret_header(
    prefix: &str,
    key: &Secret,
) -> Result<HeaderValue, reqwest::header::InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A fixed header name from its text.
pub(crate) const fn header_name(text: &'static str) -> HeaderName {
    HeaderName::from_static(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_no_header_takes_is_an_error_and_a_good_one_is_hidden() {
        assert!(secret_header("Bearer ", &Secret::new("a\nb")).is_err());
        let value = secret_header("Bearer ", &Secret::new("sk-1")).unwrap();
        assert_eq!(value.as_bytes(), b"Bearer sk-1");
        assert_eq!(format!("{value:?}"), "Sensitive");
    }

    #[test]
    fn options_that_cannot_be_used_are_errors() {
        let make = |options| Transport::new(options).map(drop).map_err(|e| e.to_string());
        assert_eq!(make(TransportOptions::default()), Ok(()));
        let proxy = TransportOptions {
            proxy: Some("::".to_owned()),
            ..TransportOptions::default()
        };
        assert!(make(proxy).unwrap_err().contains("proxy"));
        for pem in [
            "",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            let roots = TransportOptions {
                extra_roots_pem: Some(pem.into()),
                ..TransportOptions::default()
            };
            assert!(make(roots).unwrap_err().contains("certificates"), "{pem}");
        }
    }
}
