//! What one call did beyond itself, counted by whoever lets it: files here, the network elsewhere.
//!
//! Streams count while the store is lent to nobody, so the numbers are shared. The limits that stand
//! here are those of what is counted here, and hold for all calls of a component in one run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use openprogram_core::guest::ComponentTotals;

use crate::limits::{LimitReached, Limits};

/// The counters of one call. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Counters(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    egress_bytes: AtomicU64,
    ingress_bytes: AtomicU64,
    written_bytes: AtomicU64,
    totals: Mutex<Arc<ComponentTotals>>,
    files_bytes_max: u64,
    files_count_max: u64,
}

impl Counters {
    pub(crate) fn new(limits: &Limits, totals: Arc<ComponentTotals>) -> Self {
        Self(Arc::new(Counts {
            egress_bytes: AtomicU64::new(0),
            ingress_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            totals: Mutex::new(totals),
            files_bytes_max: limits.files_bytes,
            files_count_max: limits.files_count,
        }))
    }

    /// Counts from nothing again, for another call that counts together with these.
    pub(crate) fn begin(&self, totals: Arc<ComponentTotals>) {
        let counts = &self.0;
        for counter in [
            &counts.egress_bytes,
            &counts.ingress_bytes,
            &counts.written_bytes,
        ] {
            counter.store(0, Relaxed);
        }
        // One assignment leaves it whole.
        *counts.totals.lock().unwrap_or_else(PoisonError::into_inner) = totals;
    }

    fn totals(&self) -> Arc<ComponentTotals> {
        let totals = self.0.totals.lock();
        Arc::clone(&totals.unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts bytes sent over the network; gives all that were sent.
    pub(crate) fn sent(&self, bytes: u64) -> u64 {
        add(&self.0.egress_bytes, bytes)
    }

    /// Counts bytes received over the network; gives all that were received.
    pub(crate) fn received(&self, bytes: u64) -> u64 {
        add(&self.0.ingress_bytes, bytes)
    }

    /// Counts bytes that are about to be written to files.
    ///
    /// # Errors
    /// `files_bytes`, when they are more than the component may write; they are not counted then.
    pub(crate) fn write(&self, bytes: u64) -> Result<(), LimitReached> {
        let max = self.0.files_bytes_max;
        let fits = |all: u64| all.checked_add(bytes).filter(|all| *all <= max);
        let totals = self.totals();
        let all = &totals.written_bytes;
        all.fetch_update(Relaxed, Relaxed, fits).map_err(|_| {
            let message = format!("the component wrote more than {max} bytes to files in one run");
            LimitReached::new("files_bytes", max, message)
        })?;
        self.0.written_bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Takes back what was counted and could not be written.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.0.written_bytes.fetch_sub(bytes, Relaxed);
        self.totals().written_bytes.fetch_sub(bytes, Relaxed);
    }

    /// Counts a file or folder that is about to be made.
    ///
    /// # Errors
    /// `files_count`, when the component may not make one more.
    pub(crate) fn make_file(&self) -> Result<(), LimitReached> {
        let max = self.0.files_count_max;
        if add(&self.totals().files_made, 1) <= max {
            return Ok(());
        }
        let message = format!("the component made more than {max} files and folders in one run");
        Err(LimitReached::new("files_count", max, message))
    }

    /// Counts a request; gives all of the component in the run.
    pub(crate) fn request(&self) -> u64 {
        add(&self.totals().http_requests, 1)
    }

    /// Bytes sent over the network.
    pub(crate) fn egress_bytes(&self) -> u64 {
        self.0.egress_bytes.load(Relaxed)
    }

    /// Bytes received over the network.
    pub(crate) fn ingress_bytes(&self) -> u64 {
        self.0.ingress_bytes.load(Relaxed)
    }

    /// Bytes written to files.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.0.written_bytes.load(Relaxed)
    }
}

fn add(counter: &AtomicU64, n: u64) -> u64 {
    counter.fetch_add(n, Relaxed).saturating_add(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_any_more_is_refused_and_not_counted() {
        let limits = Limits {
            files_bytes: 10,
            files_count: 1,
            ..Limits::default()
        };
        let totals = Arc::<ComponentTotals>::default();
        let counters = Counters::new(&limits, Arc::clone(&totals));
        // Another call of the same component.
        let together = Counters::new(&limits, totals);
        assert_eq!(counters.write(7), Ok(()));
        assert_eq!(together.write(4).unwrap_err().which, "files_bytes");
        assert_eq!(together.write(u64::MAX).unwrap_err().limit, 10);
        assert_eq!(together.write(3), Ok(()));
        assert_eq!((counters.written_bytes(), together.written_bytes()), (7, 3));
        together.give_back(3);
        assert_eq!(counters.write(3), Ok(()));
        assert_eq!((counters.request(), together.request()), (1, 2));
        assert_eq!(counters.make_file(), Ok(()));
        assert_eq!(together.make_file().unwrap_err().which, "files_count");
    }
}
