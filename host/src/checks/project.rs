//! The project file and the components that it names.

use openprogram_core::grant::shell_word;

use super::{Check, sentence};
use crate::install::{ComponentStore, InstallError, Lock, LockEntry, Place};
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
            format!(
                "run `openprogram build {}`, or let the next run do it",
                shell_word(&source.to_string())
            ),
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
pub(super) fn installed(settings: &Settings, lock: &Result<Lock, InstallError>) -> Vec<Check> {
    const INSTALLED: &str = "installed";
    match lock {
        Ok(lock) => {
            let store = ComponentStore::at(StateFolder::at(&settings.state_folder).components());
            let (mut here, mut checks) = (Vec::new(), Vec::new());
            let granted = settings.grants_of_installed.keys();
            for name in granted.filter(|name| !lock.components.contains_key(*name)) {
                checks.push(to_nobody(name));
            }
            for (name, entry) in &lock.components {
                match store.has(&entry.digest) {
                    Ok(true) => here.push(format!("`{name}`")),
                    _ => checks.push(absent(name, entry, settings)),
                }
            }
            if !here.is_empty() {
                checks.insert(0, Check::ok(INSTALLED, here.join(", ")));
            }
            checks
        }
        Err(error) => vec![Check::failed(
            INSTALLED,
            sentence(error),
            format!("take {LOCK_FILE} from version control, or remove it and add components again"),
        )],
    }
}

/// A table of the project file for a component that is not there.
fn to_nobody(name: &str) -> Check {
    Check::failed(
        &format!("component {name}"),
        format!(
            "`components.{name}` in {PROJECT_FILE} has no `source`, and no component `{name}` is \
             installed; no command that needs components works"
        ),
        format!(
            "install it with `openprogram add`, or take its grants away with `openprogram revoke \
             {name} --all`"
        ),
    )
}

/// A component whose bytes are not here, as in a fresh clone.
fn absent(name: &str, entry: &LockEntry, settings: &Settings) -> Check {
    let check = format!("installed {name}");
    let source = &entry.source;
    let place = Place::of(source, &settings.project_folder);
    if let Ok(Place::Remote(_)) = place {
        return Check::warning(
            &check,
            format!("its bytes are not in the state folder yet; its source is `{source}`"),
            "run `openprogram functions --learn`, or let the next run fetch it",
        );
    }
    let is_there = place.is_ok_and(|place| matches!(place, Place::Local(path) if path.exists()));
    if is_there {
        return Check::warning(
            &check,
            format!("its bytes are not in the state folder yet; its source `{source}` is there"),
            "run `openprogram functions --learn`, or let the next run fetch it",
        );
    }
    Check::failed(
        &check,
        format!("its bytes are not in the state folder, and its source `{source}` is not there"),
        format!("put the source back, or `openprogram remove {name}`"),
    )
}
