//! The project file and the components that it names.

use super::{Check, sentence};
use crate::install::{InstallError, Lock};
use crate::settings::{ComponentSettings, LOCK_FILE, PROJECT_FILE, Settings, SettingsError};
use crate::source::SourceState;
use crate::state::StateFolder;

const FILE: &str = "project file";
const COMPONENTS: &str = "components";

pub(super) fn checks(settings: &Settings, problem: Option<&SettingsError>) -> Vec<Check> {
    if let Some(problem) = problem {
        return vec![broken(problem)];
    }
    let Some(path) = &settings.project_file else {
        return vec![Check::warning(
            FILE,
            format!("there is no {PROJECT_FILE} here or above"),
            "make a project with `openprogram new NAME`, or work in the folder of one",
        )];
    };
    let mut checks = vec![Check::ok(FILE, format!("`{}`", path.display()))];
    let cache = StateFolder::at(&settings.state_folder).cache();
    let (mut n_files, mut n_built) = (0_usize, 0_usize);
    for component in &settings.components {
        match SourceState::look(&component.source, &cache) {
            SourceState::File => n_files += 1,
            SourceState::Built => n_built += 1,
            state => checks.push(component_check(component, state)),
        }
    }
    if n_files + n_built > 0 || settings.components.is_empty() {
        checks.insert(1, components(n_files, n_built));
    }
    checks
}

fn broken(problem: &SettingsError) -> Check {
    let mend = match problem {
        SettingsError::Unreadable { .. } => "make it a file of text that you can read",
        SettingsError::TooLarge { .. } => "move what is no setting out of it",
        SettingsError::NotYours { .. } => "work in a folder of your own, or make the file yours",
        SettingsError::Invalid { .. } | SettingsError::Value { .. } => {
            "correct that place; until then no command that needs the project starts"
        }
    };
    Check::failed(FILE, sentence(problem), mend)
}

fn components(n_files: usize, n_built: usize) -> Check {
    let message = match (n_files, n_built) {
        (0, 0) => "the project names none".to_owned(),
        (n, 0) => format!("{n} as files"),
        (0, n) => format!("{n} as sources, built"),
        (files, built) => format!("{files} as files, {built} as sources, built"),
    };
    Check::ok(COMPONENTS, message)
}

fn component_check(component: &ComponentSettings, state: SourceState) -> Check {
    let name = format!("component {}", component.name);
    let source = component.source.display();
    match state {
        SourceState::Unbuilt => Check::warning(
            &name,
            format!("`{source}` is not built, or has changed since"),
            format!("run `openprogram build '{source}'`, or let the next run do it"),
        ),
        _ => Check::failed(
            &name,
            format!("there is no file or folder `{source}`"),
            format!(
                "correct `components.{}` in {PROJECT_FILE}, or put the component there",
                component.name
            ),
        ),
    }
}

/// What is installed, as the lock file has it.
pub(super) fn installed(lock: &Result<Lock, InstallError>) -> Option<Check> {
    const INSTALLED: &str = "installed";
    match lock {
        Ok(lock) if lock.components.is_empty() => None,
        Ok(lock) => {
            let names: Vec<_> = lock
                .components
                .keys()
                .map(|name| format!("`{name}`"))
                .collect();
            Some(Check::ok(INSTALLED, names.join(", ")))
        }
        Err(error) => Some(Check::failed(
            INSTALLED,
            sentence(error),
            format!("take {LOCK_FILE} from version control, or remove it and add components again"),
        )),
    }
}
