//! Whether somebody serves what components import from each other.

use super::{Check, sentence};
use crate::app::{App, AppError};

pub(super) fn checks(app: &App) -> Vec<Check> {
    // What keeps components from being looked at at all is told by other checks.
    let unlinked = app.unlinked().unwrap_or_default();
    unlinked
        .iter()
        .map(|(name, error)| check(name, error))
        .collect()
}

fn check(name: &str, error: &AppError) -> Check {
    let mend = match error {
        AppError::LinkedToLeftOut { exporter, .. } => {
            format!("mend what is wrong with `{exporter}`")
        }
        _ => format!("install what serves it, or remove `{name}`"),
    };
    Check::failed(&format!("imports {name}"), sentence(error), mend)
}
