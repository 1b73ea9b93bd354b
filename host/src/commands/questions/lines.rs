//! The lines that a person types, read by a thread of their own: reading a terminal cannot be given
//! up, and a question can.

use std::io::{self, BufRead as _, Read as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

/// Lines that wait for somebody who asks.
const LINES_HELD_MAX: usize = 16;
/// Longest line that is read as one: what a terminal hands over at once.
const LINE_BYTES_MAX: u64 = 4_096;
/// How often the end of the input counts as a key that was pressed. One that is there for ever is
/// no key.
const ENDS_MAX: usize = 64;
/// How long the terminal must be silent before a question: as long as it takes to hand over what was
/// typed before.
const SILENCE: Duration = Duration::from_millis(50);

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Typed {
    /// A line, with its line break where there was one.
    Line(String),
    /// The end of the input: of a pipe, or Ctrl-D on a terminal, which goes on after it.
    End,
}

/// The input of the process, line by line. It is read from the first question on.
#[derive(Clone)]
pub(in crate::commands) struct Lines {
    receiver: Arc<Mutex<Option<mpsc::Receiver<Typed>>>>,
    bytes_max: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self::up_to(LINE_BYTES_MAX)
    }
}

impl Lines {
    /// Lines of at most so many bytes; what is longer comes as several.
    pub(in crate::commands) fn up_to(bytes_max: u64) -> Self {
        Self {
            receiver: Arc::default(),
            bytes_max,
        }
    }

    /// What this channel gives, in place of the input of the process.
    #[cfg(test)]
    pub(super) fn of(receiver: mpsc::Receiver<Typed>) -> Self {
        Self {
            receiver: Arc::new(Mutex::new(Some(receiver))),
            ..Self::default()
        }
    }

    /// Throws away what was typed before now.
    pub(in crate::commands) async fn forget_what_was_typed(&self) {
        while let Ok(Some(_)) = timeout(SILENCE, self.next()).await {}
    }

    /// Whether nothing can come any more.
    pub(super) async fn is_closed(&self) -> bool {
        let receiver = self.receiver.lock().await;
        let is_over = |lines: &mpsc::Receiver<Typed>| lines.is_closed() && lines.is_empty();
        receiver.as_ref().is_some_and(is_over)
    }

    /// Waits for what is typed next; `None` when nothing can come any more. Nothing is lost when the
    /// future is dropped.
    pub(in crate::commands) async fn next(&self) -> Option<Typed> {
        let mut receiver = self.receiver.lock().await;
        let start = || start(self.bytes_max);
        receiver.get_or_insert_with(start).recv().await
    }
}

fn start(bytes_max: u64) -> mpsc::Receiver<Typed> {
    let (sender, receiver) = mpsc::channel(LINES_HELD_MAX);
    let reading = std::thread::Builder::new().spawn(move || {
        let mut n_ends = 0;
        while n_ends < ENDS_MAX {
            let mut line = Vec::new();
            let mut input = io::stdin().lock().take(bytes_max);
            let typed = match input.read_until(b'\n', &mut line) {
                Ok(1..) => Typed::Line(String::from_utf8_lossy(&line).into_owned()),
                Ok(0) => {
                    n_ends += 1;
                    Typed::End
                }
                // Whatever is wrong with it, no more lines come.
                Err(_) => break,
            };
            if sender.blocking_send(typed).is_err() {
                break;
            }
        }
    });
    // Without a thread the channel is closed, and nothing can come.
    drop(reading);
    receiver
}
