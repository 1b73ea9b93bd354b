//! What the calls of one run did together, so that a function does not get round a limit by calling
//! itself, or by being called often.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// What the calls of one run did, by the name of the component. Whoever runs functions or asks models
/// that are components counts here.
#[derive(Debug, Default)]
pub struct RunTotals(Mutex<BTreeMap<String, Arc<ComponentTotals>>>);

impl RunTotals {
    /// What the calls of one component did.
    #[must_use]
    pub fn of(&self, component: &str) -> Arc<ComponentTotals> {
        // An insertion leaves the map whole.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(component.to_owned()).or_default())
    }
}

/// What was counted is no part of what is asked: requests that carry it are compared without it.
impl PartialEq for RunTotals {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What all calls of one component did in one run.
#[derive(Debug, Default)]
pub struct ComponentTotals {
    /// Bytes that they wrote to files.
    pub written_bytes: AtomicU64,
    /// Files and folders that they made.
    pub files_made: AtomicU64,
    /// HTTP requests that they made, refused ones included.
    pub http_requests: AtomicU64,
    /// Time that they computed, in nanoseconds; what those that go on now have computed since they
    /// were last looked at is not in it yet.
    pub cpu_ns: AtomicU64,
    /// Bytes of memory that those hold which go on now.
    pub memory_bytes: AtomicU64,
}
