//! The command line as a person and as a script use it: real processes, real files.

mod approvals;
mod asking;
mod broken;
mod build;
mod chat;
mod completions;
mod confirmed;
mod crash;
mod decide;
mod doctor;
mod evaluate;
mod exit;
mod first_steps;
mod forms;
mod granted;
mod grants;
mod help;
mod hidden;
mod hostile_registry;
mod install;
#[cfg(unix)]
mod interrupted;
mod languages;
mod left_out;
mod limits;
mod linked;
mod lints;
mod locked;
mod merged;
mod new;
mod odd;
mod pasted;
mod registry;
mod remote;
mod requests;
mod run;
mod sessions;
mod settings;
mod shown_files;
mod signed;
mod skills;
mod stateful;
mod terminal;
mod thinking;
mod trace;
mod watch;

use openprogram_tests::cli::Project;

/// The same program as `openprogram`, built for these tests.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_openprogram-under-test");

/// A project without anything in it.
pub(crate) fn project() -> Project {
    Project::new(BINARY)
}

/// A project with the samples and these guests, and the sample as its model.
fn project_with(guests: &[&str]) -> Project {
    let names = ["support", "lexical-model"].iter().chain(guests);
    let mut file = String::from("model = \"component:lexical-model\"\n\n[components]\n");
    for name in names.clone() {
        file.push_str(&format!("{name} = \"{name}.wasm\"\n"));
    }
    let names: Vec<&str> = names.copied().collect();
    project().guests(&names).file("openprogram.toml", file)
}
