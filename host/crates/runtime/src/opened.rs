//! The runtimes that one call has opened, by number. They end with its frame.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;
use openprogram_core::llm::Provider;

use crate::budget::TokenBudget;

/// How many runtimes one call may open, those it has dropped included, as `runtimes`.
///
/// A function works with a handful of models and keeps their handles.
pub(crate) const RUNTIMES_MAX: u32 = 64;

/// One of them.
pub(crate) struct OpenedRuntime {
    pub(crate) provider: Arc<dyn Provider>,
    /// The name by which it was opened.
    pub(crate) model: String,
    /// What its requests spend of: the budget of the component, and those of the calls above that
    /// have opened the same model.
    pub(crate) budgets: Vec<Arc<TokenBudget>>,
    /// Whether the function has closed it.
    pub(crate) is_closed: AtomicBool,
}

type Places = [OnceLock<OpenedRuntime>; RUNTIMES_MAX as usize];

/// All of them; empty, and small, for most calls.
#[derive(Default)]
pub(crate) struct OpenedRuntimes {
    places: OnceLock<Box<Places>>,
    n_taken: AtomicU32,
}

impl OpenedRuntimes {
    /// Keeps one more and gives its number.
    ///
    /// # Errors
    /// `limit-reached`, `runtimes`.
    pub(crate) fn add(&self, opened: OpenedRuntime) -> Result<u32, Failure> {
        let number = self.n_taken.fetch_add(1, Ordering::Relaxed);
        if number >= RUNTIMES_MAX {
            self.n_taken.fetch_sub(1, Ordering::Relaxed);
            let message = format!("a call opens at most {RUNTIMES_MAX} runtimes; keep the first");
            return Err(Failure::limit("runtimes", RUNTIMES_MAX.into(), message));
        }
        let places = self
            .places
            .get_or_init(|| Box::new([const { OnceLock::new() }; RUNTIMES_MAX as usize]));
        // Nobody else has this number.
        let _ = places[number as usize].set(opened);
        Ok(number)
    }

    /// The one of this number, to make something with.
    ///
    /// # Errors
    /// As for [`OpenedRuntimes::find`], and `closed` once it is.
    pub(crate) fn get(&self, number: u32) -> Result<&OpenedRuntime, Failure> {
        let opened = self.find(number)?;
        if opened.is_closed.load(Ordering::Relaxed) {
            let message = format!("the runtime with `{}` is closed", opened.model);
            return Err(Failure::new(FailureCode::Closed, message));
        }
        Ok(opened)
    }

    /// Closes the one of this number.
    ///
    /// # Errors
    /// As for [`OpenedRuntimes::find`].
    pub(crate) fn close(&self, number: u32) -> Result<(), Failure> {
        let opened = self.find(number)?;
        opened.is_closed.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The one of this number, closed or not.
    ///
    /// # Errors
    /// `no-runtime`, when this call has opened none of this number.
    pub(crate) fn find(&self, number: u32) -> Result<&OpenedRuntime, Failure> {
        let places = self.places.get();
        let place = places.and_then(|places| places.get(number as usize));
        place.and_then(OnceLock::get).ok_or_else(|| {
            let message = "this call has not opened that runtime";
            Failure::new(FailureCode::NoRuntime, message).with("runtime", "opened")
        })
    }
}

impl OpenedRuntimes {
    /// What a request with this runtime spends of; nothing unless it was opened here.
    pub(crate) fn budgets(&self, runtime: RuntimeRef) -> impl Iterator<Item = &TokenBudget> {
        let opened = match runtime {
            RuntimeRef::Lent(_) => None,
            RuntimeRef::Opened(number) => self.find(number).ok(),
        };
        let budgets = opened.into_iter().flat_map(|opened| &opened.budgets);
        budgets.map(AsRef::as_ref)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenedRuntime> {
        let places = self.places.get().map_or(&[][..], |places| &places[..]);
        places.iter().filter_map(OnceLock::get)
    }
}

impl fmt::Debug for OpenedRuntimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_taken = self.n_taken.load(Ordering::Relaxed);
        f.debug_struct("OpenedRuntimes")
            .field("n_taken", &n_taken)
            .finish_non_exhaustive()
    }
}
