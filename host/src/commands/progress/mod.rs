//! Progress of a run on stderr.
//!
//! On a terminal: what models write while they write it, one line per call, tool, pick, try and
//! re-ask, and below these a line that says what is running and for how long. Elsewhere only that a
//! request is tried again, so that a server that does not answer is no silence. The text of models
//! is streamed only where the result goes to a terminal too: a script has no use for it.

mod lines;
mod running;
mod screen;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use openprogram_runtime::{EventReceiver, EventSender, event_channel};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use self::screen::{Mode, Screen};
use super::console::Console;
use crate::settings::TerminalSettings;

/// Events a slow terminal may fall behind by; more are dropped and counted. Every piece of a text
/// that a model writes is one.
const EVENTS_HELD_MAX: usize = 1_024;
/// How often the line that says what is running is looked at.
const TICK: Duration = Duration::from_millis(250);

/// The progress of one run.
pub(super) struct Progress {
    sender: EventSender,
    printing: JoinHandle<()>,
}

/// Starts to tell progress.
pub(super) fn start(json: bool, terminal: &TerminalSettings) -> Progress {
    let is_watched = Console::has_watcher();
    let mode = Mode {
        tells_all: is_watched,
        streams: is_watched && Console::has_reader() && !json,
        colours: terminal.colours_on(is_watched),
        overwrites: is_watched && terminal.can_overwrite,
    };
    let (sender, receiver) = event_channel(EVENTS_HELD_MAX);
    let sender = if mode.streams {
        sender
    } else {
        sender.without_texts()
    };
    let screen = Screen::new(io::stderr(), mode, Instant::now());
    Progress {
        sender,
        printing: tokio::spawn(print(receiver, screen)),
    }
}

impl Progress {
    /// Where the run puts its events.
    pub(super) fn sender(&self) -> Option<EventSender> {
        Some(self.sender.clone())
    }

    /// Waits until everything that was told is printed. The run must be over.
    pub(super) async fn finish(self) {
        drop(self.sender);
        // Progress that could not be printed is no reason to fail.
        let _ = self.printing.await;
    }
}

async fn print<W: Write>(mut events: EventReceiver, mut screen: Screen<W>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => screen.show(&event, Instant::now()),
                None => break,
            },
            _ = ticks.tick() => screen.tick(Instant::now()),
        }
    }
    screen.finish();
}
