//! What one call has set on the runtimes that it works with, and what it last used of them. It ends
//! with its frame.

use std::sync::{Mutex, PoisonError};

use openprogram_core::content::ThinkingLevel;
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::session::Usage;

use super::Frame;

/// What a person or program sets for all runs: it holds where no function says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeSettings {
    /// The system prompt of every turn.
    pub system: Option<String>,
    /// How much the model behind `runtime` thinks.
    pub thinking: ThinkingLevel,
    /// How much the model behind `exec_runtime` thinks.
    pub exec_thinking: ThinkingLevel,
    /// How much the model behind `review_runtime` thinks.
    pub review_thinking: ThinkingLevel,
}

impl RuntimeSettings {
    /// The same settings with one level of thinking for all three runtimes.
    #[must_use]
    pub fn with_thinking(self, level: ThinkingLevel) -> Self {
        Self {
            thinking: level,
            exec_thinking: level,
            review_thinking: level,
            ..self
        }
    }

    /// How much a model thinks; one that a function opens by its name not at all.
    fn thinking_of(&self, runtime: RuntimeRef) -> ThinkingLevel {
        match runtime {
            RuntimeRef::Lent(RuntimeRole::Main) => self.thinking,
            RuntimeRef::Lent(RuntimeRole::Exec) => self.exec_thinking,
            RuntimeRef::Lent(RuntimeRole::Review) => self.review_thinking,
            RuntimeRef::Opened(_) => ThinkingLevel::Off,
        }
    }
}

/// What one call has set, by runtime; empty for most calls.
#[derive(Debug, Default)]
pub(super) struct SetByCall(Mutex<Vec<(RuntimeRef, SetOnRuntime)>>);

#[derive(Clone, Debug, Default)]
struct SetOnRuntime {
    /// `Some(None)` takes the system prompt away.
    system: Option<Option<String>>,
    thinking: Option<ThinkingLevel>,
    last_usage: Option<Usage>,
}

impl SetByCall {
    fn get<T>(&self, runtime: RuntimeRef, pick: impl Fn(&SetOnRuntime) -> Option<T>) -> Option<T> {
        // Every change is one assignment, so a poisoned list is still whole.
        let set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = set.iter().find(|(known, _)| *known == runtime)?;
        pick(&found.1)
    }

    fn change(&self, runtime: RuntimeRef, change: impl FnOnce(&mut SetOnRuntime)) {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match set.iter_mut().find(|(known, _)| *known == runtime) {
            Some((_, known)) => change(known),
            None => {
                let mut new = SetOnRuntime::default();
                change(&mut new);
                set.push((runtime, new));
            }
        }
    }
}

impl Frame {
    /// The system prompt that holds for turns made now: the innermost one that was set on the
    /// runtime or stands in the metadata of a running function, else that of the settings.
    pub(crate) fn system(&self, runtime: RuntimeRef) -> Option<String> {
        for frame in self.chain() {
            let set = frame.set_here(self, runtime, |set| set.system.clone());
            if let Some(text) = set {
                return text;
            }
            let declared = frame.function.as_ref().and_then(|f| f.system.clone());
            if declared.is_some() {
                return declared;
            }
        }
        self.run.settings.system.clone()
    }

    /// Sets the system prompt for this frame and those below it.
    pub(crate) fn set_system(&self, runtime: RuntimeRef, text: Option<String>) {
        self.set.change(runtime, |set| set.system = Some(text));
    }

    /// How much the model thinks in turns made now: the innermost level that was set on the runtime,
    /// else that of the settings.
    pub(crate) fn thinking(&self, runtime: RuntimeRef) -> ThinkingLevel {
        let mut frames = self.chain();
        let set = frames.find_map(|frame| frame.set_here(self, runtime, |set| set.thinking));
        set.unwrap_or_else(|| self.run.settings.thinking_of(runtime))
    }

    /// Sets how much the model thinks, for this frame and those below it.
    pub(crate) fn set_thinking(&self, runtime: RuntimeRef, level: ThinkingLevel) {
        self.set.change(runtime, |set| set.thinking = Some(level));
    }

    /// The tokens of the last request that this call made with the runtime.
    pub(crate) fn last_usage(&self, runtime: RuntimeRef) -> Option<Usage> {
        self.set.get(runtime, |set| set.last_usage)
    }

    /// Keeps the tokens of the last request.
    pub(crate) fn note_usage(&self, runtime: RuntimeRef, usage: Option<Usage>) {
        self.set.change(runtime, |set| set.last_usage = usage);
    }

    /// What this frame has set, as far as it counts for `asking`: the number of an opened runtime
    /// means nothing in the frames above.
    fn set_here<T>(
        &self,
        asking: &Self,
        runtime: RuntimeRef,
        pick: impl Fn(&SetOnRuntime) -> Option<T>,
    ) -> Option<T> {
        let counts = matches!(runtime, RuntimeRef::Lent(_)) || std::ptr::eq(self, asking);
        if counts {
            self.set.get(runtime, pick)
        } else {
            None
        }
    }
}
