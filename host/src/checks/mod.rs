//! What may keep a project from working on this machine: checks that change nothing and ask nobody
//! outside of it.
//!
//! Every check says what it found, and how to mend what is wrong. Keys are told as set or not set.

mod grants;
mod keys;
mod languages;
mod links;
mod machine;
mod models;
mod project;
mod state;
mod tool_sets;
mod toolchain;

use crate::app::App;
use crate::install::Lock;
use crate::settings::SettingsError;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing to do.
    Ok,
    /// Something works less well than it could, or is missing and not needed yet.
    Warning,
    /// Something will not work.
    Failed,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// One check and how it came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// How it came out.
    pub status: Status,
    /// What was found.
    pub message: String,
    /// How to mend it; there whenever the status is not [`Status::Ok`].
    pub mend: Option<String>,
}

impl Check {
    fn ok(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            status: Status::Ok,
            message: message.into(),
            mend: None,
        }
    }

    fn warning(name: &str, message: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            status: Status::Warning,
            mend: Some(mend.into()),
            ..Self::ok(name, message)
        }
    }

    fn failed(name: &str, message: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            status: Status::Failed,
            ..Self::warning(name, message, mend)
        }
    }
}

/// Runs all checks. `problem` is what keeps the project file from being used.
pub async fn all(app: &App, problem: Option<&SettingsError>) -> Vec<Check> {
    let settings = app.settings();
    let mut checks = toolchain::checks(settings);
    checks.extend(languages::checks(settings));
    checks.extend(state::checks(app).await);
    checks.extend(machine::checks(app));
    checks.extend(project::checks(settings, problem));
    let lock = Lock::read(&settings.project_folder);
    checks.extend(project::installed(settings, &lock));
    if problem.is_none() {
        let lock = lock.unwrap_or_default();
        checks.extend(models::checks(settings, &lock));
        checks.extend(grants::checks(app));
        checks.extend(links::checks(app));
        checks.extend(tool_sets::checks(app).await);
    }
    checks.extend(keys::checks(settings));
    checks
}

/// The sentence of an error and of its causes.
fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        // Layers that add nothing to the sentence of their cause are not repeated.
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}
