//! A server of names for one test: what it answers may differ from question to question.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// Bytes before the question.
const HEADER: usize = 12;

/// One record of an answer.
#[derive(Clone, Debug)]
pub enum Record {
    /// An address of the name that was asked for, or of the last alias.
    Address(IpAddr),
    /// Another name for it.
    Alias(&'static str),
}

impl Record {
    /// An address, as text.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn address(text: &str) -> Self {
        Self::Address(text.parse().expect("an address"))
    }
}

/// A server of names on the usual port of this machine, until it is dropped.
pub struct Names {
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Names {
    /// Answers with the records for a name that is asked for the n-th time, from 0; names without
    /// records do not exist.
    ///
    /// # Panics
    /// When the port cannot be had, as outside of a network of its own.
    pub async fn start(zone: impl Fn(&str, usize) -> Vec<Record> + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:53").await;
        let socket = socket.expect("the port of names is free");
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                if let Some(answer) = answer(&buffer[..length], &kept, &zone) {
                    reply(&socket, &answer, from).await;
                }
            }
        });
        Self { asked, task }
    }

    /// How often the addresses of the fourth version were asked for of this name.
    ///
    /// # Panics
    /// When the server panicked.
    #[must_use]
    pub fn lookups(&self, name: &str) -> usize {
        let asked = self.asked.lock().expect("nobody panics");
        asked.iter().filter(|asked| *asked == name).count()
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn reply(socket: &UdpSocket, answer: &[u8], to: SocketAddr) {
    // Whoever asked asks again, or has gone away.
    let _ = socket.send_to(answer, to).await;
}

fn answer(
    query: &[u8],
    kept: &Mutex<Vec<String>>,
    zone: &impl Fn(&str, usize) -> Vec<Record>,
) -> Option<Vec<u8>> {
    let (name, end) = question(query)?;
    let kind = u16::from_be_bytes([*query.get(end)?, *query.get(end + 1)?]);
    let mut asked = kept.lock().expect("nobody panics");
    let before = asked.iter().filter(|asked| **asked == name).count();
    if kind == A {
        asked.push(name.clone());
    }
    // Both kinds of addresses belong to one lookup, and are asked for at once in this order.
    let nth = if kind == A { before } else { before.max(1) - 1 };
    let records = zone(&name, nth);
    let mut answers = Vec::new();
    let mut count: u16 = 0;
    let mut owner = name;
    for record in &records {
        let (record_kind, data) = match record {
            Record::Alias(other) => (CNAME, encoded(other)),
            Record::Address(IpAddr::V4(address)) => (A, address.octets().to_vec()),
            Record::Address(IpAddr::V6(address)) => (AAAA, address.octets().to_vec()),
        };
        if record_kind != kind && record_kind != CNAME {
            continue;
        }
        answers.extend(encoded(&owner));
        answers.extend(record_kind.to_be_bytes());
        answers.extend([0, 1, 0, 0, 0, 0]);
        answers.extend(u16::try_from(data.len()).ok()?.to_be_bytes());
        answers.extend(data);
        count += 1;
        if let Record::Alias(other) = record {
            owner = (*other).to_owned();
        }
    }
    let mut reply = query.get(..2)?.to_vec();
    // An answer, recursion wanted and had; no such name where there are no records at all.
    reply.extend([0x81, if records.is_empty() { 0x83 } else { 0x80 }]);
    reply.extend([0, 1]);
    reply.extend(count.to_be_bytes());
    reply.extend([0, 0, 0, 0]);
    reply.extend(query.get(HEADER..end + 4)?);
    reply.extend(answers);
    Some(reply)
}

/// The name of a question, and where its kind stands.
fn question(query: &[u8]) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    let mut at = HEADER;
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        let label = query.get(at..at + length)?;
        labels.push(String::from_utf8_lossy(label).to_lowercase());
        at += length;
    }
}

fn encoded(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).expect("a label"));
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}
