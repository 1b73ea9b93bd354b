//! A model server that begins each reply and never ends it, and sees when its client goes away.

use std::sync::Arc;
use std::time::Instant;

use openprogram_core::llm::Provider;
use openprogram_providers::{
    Profile, Protocol, ServerModel, ServerOptions, TextProtocol, Transport, TransportOptions,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What it says before it falls silent, as Chat Completions.
const BEGINNING: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
     data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hm\"}}]}\n\n";
/// How many requests may be under way before anybody looks.
const REQUESTS_HELD_MAX: usize = 1_024;

/// The server; it ends with the async runtime.
#[derive(Debug)]
pub struct WaitingServer {
    url: String,
    asked: mpsc::Receiver<()>,
    gone: mpsc::Receiver<Instant>,
}

impl WaitingServer {
    /// Starts it on a free port of this machine.
    ///
    /// # Panics
    /// When the system gives no port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let (asking, asked) = mpsc::channel(REQUESTS_HELD_MAX);
        let (going, gone) = mpsc::channel(REQUESTS_HELD_MAX);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (asking, going) = (asking.clone(), going.clone());
                tokio::spawn(async move {
                    // A client that breaks is gone as well.
                    let _ = begin(stream, asking).await;
                    let _ = going.send(Instant::now()).await;
                });
            }
        });
        Self {
            url: format!("http://{address}/v1"),
            asked,
            gone,
        }
    }

    /// A model on it.
    ///
    /// # Panics
    /// When the transport cannot be set up.
    #[must_use]
    pub fn model(&self) -> Arc<dyn Provider> {
        let transport = Transport::new(TransportOptions::default()).expect("a transport");
        let options = ServerOptions {
            name: "home:m".to_owned(),
            protocol: TextProtocol::OpenAi,
            base_url: self.url.clone(),
            key: None,
            model: "m".to_owned(),
            profile: Profile::conservative(Protocol::OpenAi),
        };
        Arc::new(ServerModel::new(options, transport).expect("a URL of this machine"))
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a reply has begun.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn asked(&mut self) {
        self.asked.recv().await.expect("the server runs");
    }

    /// Waits until a client has gone, and gives the moment at which the server saw it.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn gone(&mut self) -> Instant {
        self.gone.recv().await.expect("the server runs")
    }
}

/// Begins a reply and waits for the end of the connection.
async fn begin(mut stream: TcpStream, asking: mpsc::Sender<()>) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    // Of the request nothing matters but that it is there; what is left of it is read below.
    if stream.read(&mut buffer).await? == 0 {
        return Ok(());
    }
    stream.write_all(BEGINNING.as_bytes()).await?;
    // Nobody looks any more: then nobody waits either.
    let _ = asking.send(()).await;
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}
