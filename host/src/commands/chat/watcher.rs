//! Who watches a turn of a chat: a person at the terminal, or a program that reads JSON.

use openprogram_runtime::{Event, EventReceiver, EventSender, event_channel};

use super::told;
use crate::commands::console::Console;
use crate::commands::progress::{self, Progress};
use crate::commands::questions::TerminalQuestions;
use crate::settings::TerminalSettings;

/// Events of a turn that wait to be printed as JSON; a program that reads slowly misses some.
const EVENTS_HELD_MAX: usize = 4_096;

/// What watches a turn: the progress on a terminal, or whoever reads the events as JSON.
pub(super) enum Watcher {
    Progress(Progress, bool),
    Events(Option<EventSender>, EventReceiver),
}

impl Watcher {
    /// Starts to watch one turn. Questions hold its progress back.
    pub(super) fn start(
        questions: &TerminalQuestions,
        terminal: &TerminalSettings,
        json: bool,
    ) -> Self {
        let (pauser, pauses) = progress::pauses();
        questions.set_progress(pauser);
        if json {
            let (sender, receiver) = event_channel(EVENTS_HELD_MAX);
            return Self::Events(Some(sender), receiver);
        }
        let streams = Console::has_watcher() && Console::has_reader();
        Self::Progress(progress::start_with(false, terminal, pauses), streams)
    }

    /// Where the turn puts its events; once.
    pub(super) fn sender(&mut self) -> Option<EventSender> {
        match self {
            Self::Progress(progress, _) => progress.sender(),
            Self::Events(sender, _) => sender.take(),
        }
    }

    /// The next event that is to be printed as JSON.
    pub(super) async fn next(&mut self) -> Option<Event> {
        match self {
            Self::Events(_, receiver) => match receiver.next().await {
                Some(event) => Some(event),
                // The turn is over in a moment.
                None => std::future::pending().await,
            },
            Self::Progress(..) => std::future::pending().await,
        }
    }

    /// Waits until everything is told. Says whether the reply was shown while it was written.
    pub(super) async fn finish(self, console: &mut Console) -> anyhow::Result<bool> {
        match self {
            Self::Events(_, mut receiver) => {
                while let Some(event) = receiver.next().await {
                    if let Some(event) = told::event(&event) {
                        console.json_line(&event)?;
                    }
                }
                Ok(true)
            }
            Self::Progress(progress, streams) => {
                let refusals = progress.finish().await;
                if !refusals.are_told {
                    for refusal in &refusals.listed {
                        console.say(&refusal.words());
                    }
                }
                Ok(streams)
            }
        }
    }
}
