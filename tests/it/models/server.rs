//! A server in a process of its own, on a free port of 127.0.0.1; it ends with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// How long a server may take to say where it is. A model is loaded in about a second, and some
/// servers begin with a large library; a busy machine may take many times as long.
const START: Duration = Duration::from_secs(300);

/// A running server.
pub(super) struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts it and waits for the line that says `marker` and its URL.
    pub(super) fn start(command: &mut Command, marker: &'static str) -> Self {
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let (found, urls) = mpsc::channel();
        let out = child
            .stdout
            .take()
            .map(|out| Box::new(out) as Box<dyn Read + Send>);
        let words = child
            .stderr
            .take()
            .map(|words| Box::new(words) as Box<dyn Read + Send>);
        for output in [out, words].into_iter().flatten() {
            let found = found.clone();
            // Reads to the end, so that the server never waits for a reader.
            std::thread::spawn(move || {
                let mut lines = BufReader::new(output).split(b'\n');
                while let Some(Ok(line)) = lines.next() {
                    let line = String::from_utf8_lossy(&line);
                    if let Some(url) = line.split_once(marker).and_then(|(_, rest)| url(rest)) {
                        let _ = found.send(url);
                    }
                }
            });
        }
        drop(found);
        let Ok(url) = urls.recv_timeout(START) else {
            let _ = child.kill();
            panic!("the server does not say `{marker}`");
        };
        Self { child, url }
    }

    /// Where it is, without a slash at the end.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Whether it answers a request with this body with a success, and not that it is not ready yet.
    pub(super) fn is_ready(&self, path: &str, body: &Value) -> bool {
        let answer = self.answer("POST", path, &body.to_string());
        answer.split(' ').nth(1) == Some("200")
    }

    /// Asks it something outside of any protocol and gives the JSON that it answers.
    pub(super) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.answer(method, path, &body);
        let (_, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// The whole answer to one request.
    fn answer(&self, method: &str, path: &str, body: &str) -> String {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The URL at the beginning of what is left of a line.
fn url(rest: &str) -> Option<String> {
    let at = rest.find("http://")?;
    let end = rest[at..].find(|c: char| c.is_whitespace() || c == '\u{1b}');
    let url = end.map_or(&rest[at..], |end| &rest[at..at + end]);
    Some(url.trim_end_matches(['/', ';']).to_owned())
}
