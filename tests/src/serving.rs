//! A web server on this machine that answers as a test says, and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The path and the query.
    pub path: String,
    /// The header `Host`.
    pub host: String,
    /// The header `Authorization`.
    pub authorization: Option<String>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All of this.
    Whole {
        /// The status.
        status: u16,
        /// Headers besides the length.
        headers: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// Zeros for as long as anyone reads.
    Endless {
        /// The length that the header claims; without, the body ends with the connection.
        claimed: Option<u64>,
    },
    /// These bytes, head and all, and then the end of the connection.
    Raw(Vec<u8>),
    /// The head of a success, and then one byte after the other, with these many milliseconds between
    /// them.
    Dripping(u64),
    /// Nothing, ever.
    Silence,
}

impl Answer {
    /// A success with this body.
    #[must_use]
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::of(200, body)
    }

    /// A status with this body.
    #[must_use]
    pub fn of(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Whole {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// A redirect.
    #[must_use]
    pub fn moved(to: impl Into<String>) -> Self {
        Self::of(307, "").with("Location", to)
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        if let Self::Whole { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.into()));
        }
        self
    }
}

/// The server; it ends with this value.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
    ended: Arc<AtomicBool>,
}

type Handler = dyn Fn(&Asked) -> Answer + Send + Sync;

impl Server {
    /// Starts a server without TLS.
    ///
    /// # Panics
    /// When the system gives no port.
    #[must_use]
    pub fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_with(None, Arc::new(answer))
    }

    /// Starts a server with TLS.
    ///
    /// # Panics
    /// When the system gives no port.
    #[must_use]
    pub fn start_tls(
        tls: Arc<rustls::ServerConfig>,
        answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Some(tls), Arc::new(answer))
    }

    fn start_with(tls: Option<Arc<rustls::ServerConfig>>, answer: Arc<Handler>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let server = Self {
            address,
            scheme: if tls.is_some() { "https" } else { "http" },
            asked: Arc::clone(&asked),
            ended: Arc::clone(&ended),
        };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, asked, tls) = (Arc::clone(&answer), Arc::clone(&asked), tls.clone());
                let Ok(stream) = stream else { continue };
                // A client that breaks off ends its connection and nothing else.
                thread::spawn(move || {
                    let _ = match tls {
                        None => serve(stream, &asked, &*answer),
                        Some(tls) => rustls::ServerConnection::new(tls)
                            .map_err(std::io::Error::other)
                            .and_then(|tls| {
                                serve(rustls::StreamOwned::new(tls, stream), &asked, &*answer)
                            }),
                    };
                });
            }
        });
        server
    }

    /// `HOST:PORT`.
    #[must_use]
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// A URL of this server.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// What was asked so far, and forgets it.
    ///
    /// # Panics
    /// Never: what a thread left behind is taken as it is.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *asked)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the one that listens; when that is not possible, it is gone already.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(
    stream: impl Read + Write,
    asked: &Mutex<Vec<Asked>>,
    answer: &Handler,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut authorization, mut host) = (None, String::new());
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                    authorization = Some(value.to_owned());
                }
                Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                    value.clone_into(&mut host);
                }
                Some(_) => {}
                None => break,
            }
        }
        let request = Asked {
            path,
            host,
            authorization,
        };
        let answered = answer(&request);
        asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
        if !write(stream.get_mut(), answered)? {
            // Until the client goes away.
            stream.read_to_end(&mut Vec::new())?;
            return Ok(());
        }
    }
}

/// Whether the connection can go on.
fn write(stream: &mut impl Write, answer: Answer) -> std::io::Result<bool> {
    match answer {
        Answer::Whole {
            status,
            headers,
            body,
        } => {
            let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            stream.write_all(format!("{head}\r\n").as_bytes())?;
            stream.write_all(&body)?;
            stream.flush()?;
            Ok(true)
        }
        Answer::Endless { claimed } => {
            let length = claimed.map(|n| format!("Content-Length: {n}\r\n"));
            let length = length.unwrap_or_default();
            stream.write_all(format!("HTTP/1.1 200 X\r\n{length}\r\n").as_bytes())?;
            loop {
                stream.write_all(&[0; 64 << 10])?;
            }
        }
        Answer::Raw(bytes) => {
            stream.write_all(&bytes)?;
            stream.flush()?;
            Err(std::io::ErrorKind::ConnectionAborted.into())
        }
        Answer::Dripping(pause_ms) => {
            stream.write_all(b"HTTP/1.1 200 X\r\n\r\n")?;
            loop {
                stream.write_all(&[0])?;
                stream.flush()?;
                thread::sleep(std::time::Duration::from_millis(pause_ms));
            }
        }
        Answer::Silence => Ok(false),
    }
}
