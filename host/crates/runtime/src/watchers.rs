//! Who watches a run: the channel of its events, and the observer of tries that failed.

use openprogram_core::id::NodeId;
use openprogram_core::llm::RetryInfo;

use crate::events::{Event, EventSender, Restart};
use crate::on_retry::OnRetry;

/// Who watches a run; nobody by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchers {
    pub(crate) events: Option<EventSender>,
    pub(crate) on_retry: Option<OnRetry>,
}

impl Watchers {
    /// Tells the watcher, if there is one, and says whether the event reached it.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) -> bool {
        self.events
            .as_ref()
            .is_some_and(|events| events.send(event()))
    }

    /// A place to tell that a reply begins anew, if its watcher agreed to that and can be told.
    pub(crate) fn restart(&self) -> Option<Restart<'_>> {
        self.events.as_ref()?.restart()
    }

    /// Tells of a failed try that another one follows.
    pub(crate) fn tell_retry(&self, node: &NodeId, retry: &RetryInfo) {
        if let Some(on_retry) = &self.on_retry {
            on_retry.tell(retry);
        }
        self.emit(|| Event::ModelRetried {
            node: node.clone(),
            retry: Box::new(retry.clone()),
        });
    }
}
