//! What all requests of one call share: what is allowed, what was sent, how fast.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openprogram_core::grant::{Access, Grant, GrantKind};
use openprogram_core::guest::{ApprovalRequest, HostServices};
use openprogram_core::question::{Sending, unapproved};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use wasmtime_wasi_http::Error;

use super::gate::Wanted;
use super::redact::Patterns;
use super::stop::{Limit, Stop};
use crate::counters::Counters;
use crate::limits::Limits;
use crate::permissions::Permissions;

/// The gate of one call.
pub(crate) struct HttpCall {
    pub(super) permissions: Arc<Permissions>,
    pub(super) limits: Arc<Limits>,
    /// What is taken out of everything that comes back.
    pub(super) patterns: Arc<Patterns>,
    pub(super) counters: Counters,
    services: Mutex<Option<Arc<dyn HostServices>>>,
    in_flight: Arc<Semaphore>,
    /// When the next request would go out at a steady pace.
    next: Mutex<Option<Instant>>,
}

impl HttpCall {
    pub(crate) fn new(
        permissions: &Arc<Permissions>,
        patterns: &Arc<Patterns>,
        limits: Arc<Limits>,
        services: Option<Arc<dyn HostServices>>,
        counters: Counters,
    ) -> Self {
        let in_flight = usize::try_from(limits.http_in_flight).unwrap_or(usize::MAX);
        Self {
            patterns: Arc::clone(patterns),
            in_flight: Arc::new(Semaphore::new(in_flight.min(Semaphore::MAX_PERMITS))),
            permissions: Arc::clone(permissions),
            limits,
            services: Mutex::new(services),
            counters,
            next: Mutex::new(None),
        }
    }

    /// Goes on for another call: what is under way asks and tells the new one.
    pub(crate) fn begin(&self, services: Option<Arc<dyn HostServices>>) {
        // One assignment leaves it whole.
        *self.services.lock().unwrap_or_else(PoisonError::into_inner) = services;
    }

    fn services(&self) -> Option<Arc<dyn HostServices>> {
        let services = self.services.lock();
        services.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A text without the secrets of the component.
    pub(crate) fn clean(&self, text: String) -> String {
        self.patterns.clean(text)
    }

    /// Counts a request, whatever becomes of it, and takes its place among those in flight.
    pub(super) fn admit(&self, what: &str) -> Result<OwnedSemaphorePermit, Stop> {
        let max = self.limits.http_requests;
        if self.counters.request() > max {
            let message =
                format!("the component made more than {max} requests in one run (`http_requests`)");
            let error = Error::InternalError(Some(message.clone()));
            return Err(Stop::limit(error, what, message));
        }
        let permit = Arc::clone(&self.in_flight).try_acquire_owned();
        permit.map_err(|_| {
            let max = self.limits.http_in_flight;
            let message =
                format!("the function has more than {max} requests in flight (`http_in_flight`)");
            Stop::limit(Error::ConnectionLimitReached, what, message)
        })
    }

    /// Waits until the next request may go out: a second's worth may go at once, then one by one.
    pub(super) async fn pace(&self, what: &str, deadline: Instant) -> Result<(), Stop> {
        let rate = self.limits.http_per_second.max(1);
        let second = Duration::from_secs(1);
        let gap = second / u32::try_from(rate).unwrap_or(u32::MAX);
        let now = Instant::now();
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let after = next.map_or(now, |next| next.max(now)) + gap;
            // A second before its time is early enough.
            let turn = after.checked_sub(second).unwrap_or(now);
            if turn <= deadline {
                *next = Some(after);
            }
            turn
        };
        if turn > deadline {
            let message = format!(
                "the function makes more than {rate} requests per second (`http_per_second`), and \
                 this one would wait longer than it may take"
            );
            let error = Error::InternalError(Some(message.clone()));
            return Err(Stop::limit(error, what, message));
        }
        tokio::time::sleep_until(turn).await;
        Ok(())
    }

    /// Asks where the grant asks, and notes its use.
    pub(super) async fn use_grant<T: Display>(
        &self,
        kind: GrantKind,
        what: &str,
        grant: &Grant<T>,
        wanted: &Wanted,
    ) -> Result<(), Stop> {
        let line = grant.to_string();
        if grant.asks {
            let sends = wanted.sends.clone();
            self.approve(kind, what, &line, sends).await?;
        }
        self.note(Access::granted(kind, what, line));
        Ok(())
    }

    /// Asks a person, for a grant that asks.
    async fn approve(
        &self,
        kind: GrantKind,
        what: &str,
        grant: &str,
        sends: Option<Sending>,
    ) -> Result<(), Stop> {
        let request = ApprovalRequest {
            kind,
            what: what.to_owned(),
            grant: grant.to_owned(),
            sends,
        };
        let access = match self.services() {
            Some(services) => match services.approve(request).await {
                Ok(()) => return Ok(()),
                Err(failure) => unapproved(kind, what, grant, &failure),
            },
            None => {
                let message = format!("`{what}` has to be approved, and a model has nobody to ask");
                Access::refused(kind, what, message, None)
            }
        };
        Err(Stop::noted(Error::HttpRequestDenied, access))
    }

    /// Notes what was reached for.
    pub(super) fn note(&self, access: Access) {
        if let Some(services) = self.services() {
            services.note(access);
        }
    }

    /// Notes that a limit cut something short.
    pub(super) fn note_limit(&self, what: &str, limit: Limit) {
        self.note(Access::refused(GrantKind::Http, what, limit.0, None));
    }
}
