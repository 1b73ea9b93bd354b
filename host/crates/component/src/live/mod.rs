//! Instances that live on after the call that made them, for components that keep something behind
//! handles.
//!
//! A session has at most one of a component. It is entered by one call at a time, and goes when it
//! traps or reaches a limit, when a call in it is stopped, when nobody uses it, or with the program.

mod book;
mod call;
mod room;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use openprogram_core::guest::RunTotals;
use openprogram_core::id::SessionId;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use wasmtime::Store;
use wasmtime::component::Instance;

use self::book::Book;
use crate::limits::Limits;
use crate::state::CallState;

pub(crate) use self::call::{InstancesOf, LiveCall, call};

/// Instances of one session at once, each of another component.
const OF_SESSION_MAX: usize = 8;
/// Sessions of one component of which it is remembered what became of their handles.
const SESSIONS_MAX: usize = 256;

/// The live instances of one component, by session.
#[derive(Default)]
pub(crate) struct LiveInstances(Mutex<HashMap<SessionId, Arc<Place>>>);

/// The place of the instance of one session, empty or not.
pub(crate) struct Place {
    /// Held by the call that is in the instance.
    gate: tokio::sync::Mutex<Option<Live>>,
    record: Mutex<Record>,
}

/// What is known of the instance of a place without entering it.
struct Record {
    book: Book,
    is_alive: bool,
    used: Instant,
    /// The run that used it last.
    run: Weak<RunTotals>,
}

/// An instance that lives on.
struct Live {
    store: Store<CallState>,
    /// None before it was made.
    instance: Option<Instance>,
    _permit: OwnedSemaphorePermit,
}

impl Place {
    fn new() -> Self {
        Self {
            gate: tokio::sync::Mutex::new(None),
            record: Mutex::new(Record {
                book: Book::default(),
                is_alive: false,
                used: Instant::now(),
                run: Weak::new(),
            }),
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        // What is put in and taken out is whole at every step.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the instance unless a call is in it.
    fn end_if_idle(&self, reason: &str) {
        if let Ok(mut live) = self.gate.try_lock() {
            *live = None;
            self.record().end(reason);
        }
    }
}

impl Record {
    fn end(&mut self, reason: &str) {
        self.is_alive = false;
        self.book.end_all(reason);
    }
}

impl LiveInstances {
    fn places(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Place>>> {
        // Insertions and removals leave the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a session, which may be empty.
    fn place(&self, session: &SessionId) -> Arc<Place> {
        let mut places = self.places();
        if let Some(place) = places.get(session) {
            return Arc::clone(place);
        }
        if places.len() >= SESSIONS_MAX {
            let idle = places
                .iter()
                .filter(|(_, place)| Arc::strong_count(place) == 1 && !place.record().is_alive);
            let oldest = idle.min_by_key(|(_, place)| place.record().used);
            if let Some(session) = oldest.map(|(session, _)| session.clone()) {
                places.remove(&session);
            }
        }
        let place = Arc::new(Place::new());
        places.insert(session.clone(), Arc::clone(&place));
        place
    }

    /// Whether a handle was given in this session, and is of this component.
    fn has(&self, session: &SessionId, handle: &str) -> bool {
        let place = self.places().get(session).map(Arc::clone);
        place.is_some_and(|place| place.record().book.has(handle))
    }

    fn is_alive(&self, session: &SessionId) -> bool {
        let place = self.places().get(session).map(Arc::clone);
        place.is_some_and(|place| place.record().is_alive)
    }

    /// Ends what nobody has used for too long.
    fn end_idle(&self, limits: &Limits) {
        let idle = Duration::from_millis(limits.idle_ms);
        let places: Vec<_> = self.places().values().map(Arc::clone).collect();
        for place in places {
            let is_idle = {
                let record = place.record();
                record.is_alive && record.used.elapsed() > idle
            };
            if is_idle {
                let ms = limits.idle_ms;
                place.end_if_idle(&format!("it was not used for {ms} ms (`idle_ms`)"));
            }
        }
    }

    /// The instance that was not used for longest, of another session whose run is over, with when
    /// it was used.
    fn spare(&self, session: &SessionId) -> Option<(Instant, Arc<Place>)> {
        let places = self.places();
        let others = places.iter().filter(|(other, _)| *other != session);
        let spare = others.filter_map(|(_, place)| {
            let record = place.record();
            let is_spare = record.is_alive && record.run.strong_count() == 0;
            is_spare.then(|| (record.used, Arc::clone(place)))
        });
        spare.min_by_key(|(used, _)| *used)
    }
}
