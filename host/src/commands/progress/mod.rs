//! Progress of a run on stderr.
//!
//! On a terminal: what models write while they write it, one line per call, tool, pick, try and
//! re-ask, and below these a line that says what is running and for how long. Elsewhere only that a
//! request is tried again, so that a server that does not answer is no silence, and that a reply may
//! not be whole. The text of models is streamed only where the result goes to a terminal too: a
//! script has no use for it.

mod lines;
mod pause;
mod running;
mod screen;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use openprogram_runtime::{EventReceiver, EventSender, event_channel};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

pub(super) use self::pause::{Pauser, Pauses, pauses};
use self::screen::{Mode, Screen};
use super::bars::terminal_columns;
use super::console::Console;
use super::refused::Refusal;
use crate::settings::TerminalSettings;

/// Events a slow terminal may fall behind by; more are dropped and counted. Every piece of a text
/// that a model writes is one.
const EVENTS_HELD_MAX: usize = 1_024;
/// How often the line that says what is running is looked at.
const TICK: Duration = Duration::from_millis(250);

/// The progress of one run.
pub(super) struct Progress {
    sender: EventSender,
    printing: JoinHandle<Vec<Refusal>>,
    tells_all: bool,
}

/// What was not granted during a run.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Each different one, in the order in which they came.
    pub(super) listed: Vec<Refusal>,
    /// Whether the person has seen them already.
    pub(super) are_told: bool,
}

/// Starts to tell progress, of which nobody asks for a pause.
pub(super) fn start(json: bool, terminal: &TerminalSettings) -> Progress {
    let (_, pauses) = pauses();
    start_with(json, terminal, pauses)
}

/// Starts to tell progress, except in the pauses.
pub(super) fn start_with(json: bool, terminal: &TerminalSettings, pauses: Pauses) -> Progress {
    let is_watched = Console::has_watcher();
    let mode = Mode {
        tells_all: is_watched,
        streams: is_watched && Console::has_reader() && !json,
        colours: terminal.colours_on(is_watched),
        overwrites: is_watched && terminal.can_overwrite,
        columns: terminal_columns(),
    };
    let (sender, receiver) = event_channel(EVENTS_HELD_MAX);
    // A person on a terminal can be told that what stands there does not count.
    let sender = if mode.streams {
        sender.accepting_restarts()
    } else {
        sender.without_texts()
    };
    let screen = Screen::new(io::stderr(), mode, Instant::now());
    Progress {
        sender,
        tells_all: mode.tells_all,
        printing: tokio::spawn(print(receiver, pauses, screen)),
    }
}

impl Progress {
    /// Where the run puts its events.
    pub(super) fn sender(&self) -> Option<EventSender> {
        Some(self.sender.clone())
    }

    /// Waits until everything that was told is printed, and gives what was refused. The run must
    /// be over.
    pub(super) async fn finish(self) -> Refusals {
        drop(self.sender);
        Refusals {
            // Progress that could not be printed is no reason to fail.
            listed: self.printing.await.unwrap_or_default(),
            are_told: self.tells_all,
        }
    }
}

async fn print<W: Write>(
    mut events: EventReceiver,
    mut pauses: Pauses,
    mut screen: Screen<W>,
) -> Vec<Refusal> {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        // A pause comes after everything that was told before it.
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(event) => screen.show(&event, Instant::now()),
                None => break,
            },
            Some(pause) = pauses.next() => {
                screen.rest();
                // Whoever wanted it may be gone; then it is over.
                if pause.begun.send(()).is_ok() {
                    let _ = pause.over.await;
                }
            }
            _ = ticks.tick() => screen.tick(Instant::now()),
        }
    }
    screen.finish()
}
