//! A small server of HTTP/1.1 that says whatever a test wants it to, and remembers what it was
//! asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::Certificate;

/// What a server was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The head, with its line ends as `\n`.
    pub head: String,
    /// The body, as it was on the wire.
    pub body: Vec<u8>,
}

impl Asked {
    /// The first line.
    #[must_use]
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&start))
    }
}

/// What a server says.
pub enum Answer {
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, and then this piece again and again with a pause.
    Repeated {
        /// The beginning.
        start: Vec<u8>,
        /// The piece.
        piece: Vec<u8>,
        /// The pause.
        pause: Duration,
    },
    /// Nothing, and the connection stays open.
    Silence,
}

impl Answer {
    /// A whole answer: status line, headers, body. It says that the connection ends, as it does.
    #[must_use]
    pub fn of(status: &str, headers: &[&str], body: &str) -> Self {
        let mut text = format!("HTTP/1.1 {status}\r\n");
        for header in headers {
            text.push_str(&format!("{header}\r\n"));
        }
        text.push_str("connection: close\r\n");
        text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        Self::Bytes(text.into_bytes())
    }

    /// `200` with this text.
    #[must_use]
    pub fn ok(body: &str) -> Self {
        Self::of("200 OK", &[], body)
    }
}

type Handler = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// A server, until it is dropped.
pub struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    open: Arc<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// A server on a free port of this machine.
    pub async fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", None, answer).await
    }

    /// A server at this address, secured where there is a certificate.
    ///
    /// # Panics
    /// When the address cannot be had.
    pub async fn at(
        address: &str,
        certificate: Option<&Certificate>,
        answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await;
        let listener = listener.unwrap_or_else(|error| panic!("`{address}`: {error}"));
        let address = listener.local_addr().expect("it is bound");
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let (kept, answer): (_, Handler) = (Arc::clone(&asked), Arc::new(answer));
        let tls = certificate.map(|certificate| TlsAcceptor::from(certificate.server()));
        let open = Arc::new(());
        let opened = Arc::clone(&open);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                let (tls, open) = (tls.clone(), Arc::clone(&opened));
                tokio::spawn(async move {
                    let _open = open;
                    // A client that goes away is what many tests are about.
                    let _ = match tls {
                        None => serve(stream, &kept, &answer).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => serve(stream, &kept, &answer).await,
                            Err(error) => Err(error),
                        },
                    };
                });
            }
        });
        Self {
            address,
            asked,
            open,
            task,
        }
    }

    /// `http://ADDRESS:PORT` and this path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What it was asked so far.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("nobody panics").clone()
    }

    /// How many connections are open.
    #[must_use]
    pub fn open(&self) -> usize {
        // One is the server's own, one the loop's.
        Arc::strong_count(&self.open) - 2
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    kept: &Mutex<Vec<Asked>>,
    answer: &Handler,
) -> std::io::Result<()> {
    let asked = read(&mut stream).await?;
    kept.lock().expect("nobody panics").push(asked.clone());
    match answer(&asked) {
        Answer::Bytes(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await
        }
        Answer::Repeated {
            start,
            piece,
            pause,
        } => {
            stream.write_all(&start).await?;
            stream.flush().await?;
            loop {
                stream.write_all(&piece).await?;
                stream.flush().await?;
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
        }
        Answer::Silence => {
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.map(drop)
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Asked> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end + 4;
        }
        more(stream, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).replace("\r\n", "\n");
    let mut asked = Asked {
        head,
        body: bytes.split_off(head_end),
    };
    let length = asked.header("content-length").and_then(|l| l.parse().ok());
    let is_chunked = asked.header("transfer-encoding") == Some("chunked");
    loop {
        let is_whole = match length {
            Some(length) => asked.body.len() >= length,
            None => !is_chunked || asked.body.ends_with(b"0\r\n\r\n"),
        };
        if is_whole {
            return Ok(asked);
        }
        more(stream, &mut asked.body).await?;
    }
}

async fn more(stream: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> std::io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
