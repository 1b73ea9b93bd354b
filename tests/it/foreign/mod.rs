//! Components that others wrote, in languages we did not choose, as a person uses them.
//!
//! Where the toolchains are missing the tests that need them say so and pass, except under `CI`.

mod docs;
mod languages;
mod versions;

use openprogram_tests::cli::Project;

/// A project with one component, installed as `name`.
fn project(name: &str, bytes: &[u8]) -> Project {
    let file = format!("{name}.wasm");
    crate::cli::project().file(&file, bytes).file(
        "openprogram.toml",
        format!("[components]\n{name} = \"{file}\"\n"),
    )
}

/// What the command line answers to each call, as one text.
fn answers(project: &Project, calls: &[(&str, &str)]) -> String {
    let mut shown = String::new();
    for (function, arguments) in calls {
        let run = project.run(&["run", function, "--args", arguments]);
        shown.push_str(&format!(
            "# {function} {arguments}\n{}\n",
            run.shown(project)
        ));
    }
    shown
}
