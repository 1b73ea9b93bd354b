//! Doubles for tests: models that answer from a script, functions that are closures, fixed time and
//! counted ids, and the graph and the requests as text for snapshots.
//!
//! A double that is used wrongly panics, so that the test that holds it fails.

mod answering;
mod native;
mod requests;
mod scripted;
mod shown;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use openprogram_core::failure::Failure;
use openprogram_core::id::Timestamp;
use openprogram_core::llm::Provider;

pub use answering::{ScriptedAnswer, ScriptedQuestions};
pub use native::{NativeCall, NativeFunctions, function, passed_on};
pub use scripted::{ScriptedDecider, ScriptedProvider, ScriptedReply};
pub use shown::{shown_graph, shown_request};

use crate::ports::{ModelOpener, NoModels};
use crate::sources::{Clock, Ids};

/// A clock that always shows the same time.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Models that can be opened by these names.
#[derive(Clone, Default)]
pub struct NamedModels(BTreeMap<String, Arc<dyn Provider>>);

impl NamedModels {
    /// The same with one more.
    #[must_use]
    pub fn with(mut self, name: &str, provider: Arc<dyn Provider>) -> Self {
        self.0.insert(name.to_owned(), provider);
        self
    }
}

#[async_trait]
impl ModelOpener for NamedModels {
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Failure> {
        match self.0.get(model) {
            Some(provider) => Ok(Arc::clone(provider)),
            None => NoModels.open(model).await,
        }
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
