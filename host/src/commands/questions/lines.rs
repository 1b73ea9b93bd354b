//! The lines that a person types, read by a thread of their own: reading a terminal cannot be given
//! up, and a question can.

use std::io::{self, BufRead as _, Read as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

/// Lines that wait for somebody who asks.
const LINES_HELD_MAX: usize = 16;
/// Longest line that is read as one.
const LINE_BYTES_MAX: u64 = 4_096;
/// How long the terminal must be silent before a question: as long as it takes to hand over what was
/// typed before.
const SILENCE: Duration = Duration::from_millis(50);

/// The input of the process, line by line. It is read from the first question on.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<Mutex<Option<mpsc::Receiver<String>>>>);

impl Lines {
    /// Throws away what was typed before now.
    pub(super) async fn forget_what_was_typed(&self) {
        while let Ok(Some(_)) = timeout(SILENCE, self.next()).await {}
    }

    /// Waits for the next line; `None` when the input has ended.
    pub(super) async fn next(&self) -> Option<String> {
        self.0.lock().await.get_or_insert_with(start).recv().await
    }
}

fn start() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(LINES_HELD_MAX);
    let reading = std::thread::Builder::new().spawn(move || {
        loop {
            let mut line = Vec::new();
            let mut input = io::stdin().lock().take(LINE_BYTES_MAX);
            match input.read_until(b'\n', &mut line) {
                Ok(1..) => {}
                // Whatever is wrong with it, no more lines come.
                _ => break,
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    // Without a thread the channel is closed, which is the end of the input.
    drop(reading);
    receiver
}
