//! Progress of a run on a terminal: one line per call, pick and re-ask on stderr.

use openprogram_core::session::NodeStatus;
use openprogram_runtime::{Event, EventReceiver, EventSender, event_channel};
use tokio::task::JoinHandle;

use super::console::Console;
use crate::text::one_line;

/// Events a slow terminal may fall behind by; more are dropped and counted.
const EVENTS_HELD_MAX: usize = 256;

/// The progress of one run.
pub(super) struct Progress {
    sender: Option<EventSender>,
    printing: Option<JoinHandle<()>>,
}

/// Starts to tell progress when a person looks at stderr, else tells nothing.
pub(super) fn start() -> Progress {
    if !Console::has_watcher() {
        return Progress {
            sender: None,
            printing: None,
        };
    }
    let (sender, receiver) = event_channel(EVENTS_HELD_MAX);
    Progress {
        sender: Some(sender),
        printing: Some(tokio::spawn(print(receiver))),
    }
}

impl Progress {
    /// Where the run puts its events.
    pub(super) fn sender(&self) -> Option<EventSender> {
        self.sender.clone()
    }

    /// Waits until everything that was told is printed. The run must be over.
    pub(super) async fn finish(self) {
        drop(self.sender);
        if let Some(printing) = self.printing {
            // Progress that could not be printed is no reason to fail.
            let _ = printing.await;
        }
    }
}

async fn print(mut events: EventReceiver) {
    let mut console = Console::of_process();
    while let Some(event) = events.next().await {
        if let Some(line) = line(&event) {
            console.say(&line);
        }
    }
}

/// What is told of an event; most are not worth a line.
fn line(event: &Event) -> Option<String> {
    let name = |name: &str| one_line(name, 80);
    Some(match event {
        Event::CallStarted {
            function, depth, ..
        } => {
            let indent = "  ".repeat(usize::try_from(*depth).unwrap_or(0).min(20));
            format!("{indent}→ {}", name(function))
        }
        Event::CallEnded {
            function, status, ..
        } if *status != NodeStatus::Completed => format!("✗ {}", name(function)),
        Event::ModelRequestStarted { model, .. } => format!("… asking {}", name(model)),
        Event::DecisionPicked { option, .. } => format!("✓ picked {}", name(option)),
        Event::DecisionRetried {
            kind, retries_left, ..
        } => format!("… no valid pick ({kind}), asking again, {retries_left} left"),
        Event::Missed { count } => format!("… {count} steps not shown"),
        _ => return None,
    })
}
