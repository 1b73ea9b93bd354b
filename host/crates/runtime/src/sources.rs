//! Where times and ids come from: passed in, so that a test can fix them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use openprogram_core::id::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Gives the random bits of ids.
pub trait Ids: Send + Sync {
    /// 64 bits that have not been given before.
    fn bits(&self) -> u64;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Random ids, keyed by the operating system. Unlikely to collide; not secret.
#[derive(Debug, Default)]
pub struct RandomIds {
    keys: RandomState,
    given: AtomicU64,
}

impl Ids for RandomIds {
    fn bits(&self) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write_u64(self.given.fetch_add(1, Ordering::Relaxed));
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn random_ids_of_two_processes_do_not_meet() {
        let sources = [RandomIds::default(), RandomIds::default()];
        let given = (0..2_000).map(|number| sources[number % 2].bits());
        assert_eq!(given.collect::<HashSet<_>>().len(), 2_000);
    }
}
