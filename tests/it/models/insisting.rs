//! Stands in front of a server of a model and has it call a tool first: whoever may call one, and
//! has no result yet, must. Small models never call anything by themselves.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::server::Server;

/// A server that insists; it ends with the test.
pub(super) struct Insisting {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Insisting {
    pub(super) fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let behind = server.url().trim_start_matches("http://").to_owned();
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                // A client that goes away in the middle is not of interest.
                let _ = client.and_then(|client| pass_on(client, &behind));
            }
        });
        Self { address, is_over }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Insisting {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn pass_on(mut client: TcpStream, behind: &str) -> io::Result<()> {
    let request = read_request(&mut client)?;
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or_default();
    let line = head.lines().next().unwrap_or_default();
    let mut body: Value = serde_json::from_str(body)?;
    if body["tools"].is_array() && !ends_with_result(&body) {
        body["tool_choice"] = match line.contains("/messages") {
            true => json!({"type": "any"}),
            false => json!("required"),
        };
    }
    let body = body.to_string();
    let mut server = TcpStream::connect(behind)?;
    write!(
        server,
        "{line}\r\nHost: {behind}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    io::copy(&mut server, &mut client).map(drop)
}

fn ends_with_result(body: &Value) -> bool {
    let last = body["messages"].as_array().and_then(|all| all.last());
    let Some(last) = last else { return false };
    let mut blocks = last["content"].as_array().into_iter().flatten();
    last["role"] == "tool" || blocks.any(|block| block["type"] == "tool_result")
}

/// Reads a request with its whole body.
pub(super) fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let mut request = Vec::new();
    let mut bytes = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut bytes)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => request.extend_from_slice(&bytes[..count]),
        }
    }
    String::from_utf8(request).map_err(io::Error::other)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let lower = head.to_lowercase();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| body.len() >= length.parse().unwrap_or(0))
}
