//! What all frames of one run share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use openprogram_core::failure::Failure;
use openprogram_core::grant::Access;
use openprogram_core::guest::RunTotals;
use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::session::Usage;

use crate::admission::RunNumber;
use crate::budget::{ModelBudgets, TokenBudget};
use crate::events::Event;
use crate::limits::RunLimits;
use crate::watchers::Watchers;

use super::{RuntimeSettings, count};

/// How many different refusals of grants a run tells its watcher; the rest is only recorded.
const REFUSALS_TOLD_MAX: usize = 32;

/// What all frames of one run share.
#[derive(Debug)]
pub(crate) struct Run {
    /// By which it waits for its turn among other runs.
    pub(crate) number: RunNumber,
    /// The session that the run is recorded in.
    pub(crate) session: SessionId,
    /// Who watches it.
    pub(crate) watchers: Watchers,
    /// What holds where no function says otherwise.
    pub(super) settings: RuntimeSettings,
    pub(super) n_calls: AtomicU64,
    n_model_turns: AtomicU64,
    /// The tokens of the whole run, where they are bounded.
    pub(super) tokens: Option<TokenBudget>,
    /// The budgets for granted models.
    pub(crate) model_budgets: ModelBudgets,
    /// What its calls did together.
    pub(crate) totals: Arc<RunTotals>,
    /// The refusals that the watcher knows already, each with the component.
    refusals_told: Mutex<Vec<(String, Access)>>,
    /// The tokens of its model requests so far, as far as providers told.
    usage: Mutex<Option<Usage>>,
}

impl Run {
    pub(crate) fn new(
        number: RunNumber,
        session: SessionId,
        watchers: Watchers,
        settings: RuntimeSettings,
        limits: &RunLimits,
    ) -> Self {
        Self {
            number,
            session,
            watchers,
            settings,
            n_calls: AtomicU64::new(0),
            n_model_turns: AtomicU64::new(0),
            tokens: limits.tokens.map(TokenBudget::of_run),
            model_budgets: ModelBudgets::default(),
            totals: Arc::default(),
            refusals_told: Mutex::default(),
            usage: Mutex::default(),
        }
    }

    /// Tells the watcher, if there is one, and says whether the event reached it.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) -> bool {
        self.watchers.emit(event)
    }

    /// Tells the watcher that something was not granted, once for each different refusal.
    pub(super) fn tell_refusal(&self, node: Option<&NodeId>, component: &str, access: &Access) {
        let refusal = (component.to_owned(), access.clone());
        {
            // A push leaves the list whole.
            let told = self.refusals_told.lock();
            let mut told = told.unwrap_or_else(PoisonError::into_inner);
            if told.len() >= REFUSALS_TOLD_MAX || told.contains(&refusal) {
                return;
            }
            told.push(refusal.clone());
        }
        let (component, access) = refusal;
        self.emit(|| Event::AccessRefused {
            node: node.cloned(),
            component,
            access: Box::new(access),
        });
    }

    /// Adds what one model request has used.
    pub(crate) fn add_usage(&self, usage: Option<Usage>) {
        let Some(more) = usage else { return };
        // One assignment leaves it whole.
        let mut sum = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = Some(sum.unwrap_or_default().plus(more));
    }

    /// What its model requests have used so far; `None` when no provider told.
    pub(crate) fn usage(&self) -> Option<Usage> {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one model request.
    pub(crate) fn count_model_turn(&self, limits: &RunLimits) -> Result<(), Failure> {
        let (counter, limit) = (&self.n_model_turns, limits.model_turns);
        count(counter, "model_turns", limit, "model requests")
    }
}
