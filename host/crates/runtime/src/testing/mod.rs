//! Doubles for tests: models that answer from a script, functions that are closures, fixed time and
//! counted ids, and the graph and the requests as text for snapshots.
//!
//! A double that is used wrongly panics, so that the test that holds it fails.

mod native;
mod requests;
mod scripted;
mod shown;

use std::sync::atomic::{AtomicU64, Ordering};

use openprogram_core::id::Timestamp;

pub use native::{NativeCall, NativeFunctions, function, passed_on};
pub use scripted::{ScriptedDecider, ScriptedProvider, ScriptedReply};
pub use shown::{shown_graph, shown_request};

use crate::sources::{Clock, Ids};

/// A clock that always shows the same time.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Ids 1, 2, 3 and so on.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn bits(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}
