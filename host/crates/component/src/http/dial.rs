//! Connections: to an address that was checked, counted, and secured for the name that was asked
//! for.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use openprogram_core::grant::HttpTarget;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant};
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::Error;

use super::call::HttpCall;
use super::gate::Wanted;
use super::stop::Stop;
use crate::counters::Counters;

/// A connection, secured or not.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

impl HttpCall {
    /// Connects to one of these addresses, in this order, and secures the connection where the
    /// scheme says so.
    pub(super) async fn connect(
        &self,
        wanted: &Wanted,
        addresses: &[IpAddr],
        span: Duration,
    ) -> Result<Box<dyn Connection>, Stop> {
        let stream = connect(addresses, wanted.target.port(), span).await?;
        // Small requests are not to wait for more; without it they are slower and nothing else.
        let _ = stream.set_nodelay(true);
        let stream = Counted {
            stream,
            counters: self.counters.clone(),
        };
        if wanted.target.scheme() == "http" {
            return Ok(Box::new(stream));
        }
        let tls = self.permissions.network.tls();
        let tls = tls.ok_or(Error::TlsProtocolError)?;
        let name = server_name(&wanted.target).ok_or(Error::HttpRequestUriInvalid)?;
        let secured = TlsConnector::from(tls).connect(name, stream).await;
        let secured = secured.map_err(|error| insecure(&wanted.what, &error))?;
        Ok(Box::new(secured))
    }
}

async fn connect(addresses: &[IpAddr], port: u16, span: Duration) -> Result<TcpStream, Error> {
    let end = Instant::now() + span;
    let mut failed = Error::DestinationUnavailable;
    for (tried, address) in addresses.iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now());
        let others = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let address = SocketAddr::new(*address, port);
        match tokio::time::timeout(left / others, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                failed = Error::ConnectionRefused;
            }
            Ok(Err(_)) => failed = Error::DestinationUnavailable,
            Err(_) => failed = Error::ConnectionTimeout,
        }
    }
    Err(failed)
}

/// The name that a certificate has to be for.
fn server_name(target: &HttpTarget) -> Option<ServerName<'static>> {
    match target.address() {
        Some(address) => Some(ServerName::from(address)),
        None => ServerName::try_from(target.host().to_owned()).ok(),
    }
}

/// A connection that could not be secured. What is wrong with a certificate is worth a note.
fn insecure(what: &str, error: &io::Error) -> Stop {
    let cause = error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(problem)) => {
            let message = format!("the certificate of the server is not accepted: {problem}");
            Stop::refused(Error::TlsCertificateError, what, message)
        }
        Some(rustls::Error::AlertReceived(alert)) => Error::TlsAlertReceived {
            alert_id: Some(u8::from(*alert)),
            alert_message: Some(format!("{alert:?}")),
        }
        .into(),
        _ => Error::TlsProtocolError.into(),
    }
}

/// A connection whose bytes are counted as they are on the wire.
struct Counted {
    stream: TcpStream,
    counters: Counters,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let bytes = buffer.filled().len() - before;
        self.counters.received(bytes as u64);
        polled
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(written)) = &polled {
            self.counters.sent(*written as u64);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
