//! `openprogram build`: from source to components, and what their authors could tell models better.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use openprogram_core::Json;
use openprogram_core::function::{Function, Offer};
use openprogram_core::lint::{Warning, lint_function};
use serde_json::json;

use super::console::Console;
use crate::app::load_built;
use crate::source::{self, Built, Place, SourceText};
use crate::text::one_line;

/// Warnings that are told one by one; a person fixes these first.
const WARNINGS_SHOWN_MAX: usize = 50;

/// Builds the component of a source folder and prints the path of its `.wasm` file
///
/// The manifest in the folder tells the language: Cargo.toml Rust, package.json with an `openprogram`
/// part JavaScript, pyproject.toml with a `[tool.openprogram]` part Python; the first one counts.
/// A Rust package has a library that is a `cdylib`; a workspace of such packages prints one path per
/// line. What a build needs besides cargo, npm or Python is installed by them: the target
/// wasm32-wasip2, and the toolchain that the project pins into its node_modules or .venv.
///
/// With `--wit`, PATH is a component that another tool made, for example of C. It gets the doc
/// comments of its WIT, so that models read them; of JavaScript and Python projects, `build` does so
/// itself.
///
/// Then the functions are looked at as a model reads them. A function without a summary, a section on
/// arguments or results, a parameter without a description, values that stand in a description alone
/// and a hidden parameter without default and description are warnings, each with its line; none fails
/// the build.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The source folder, or with `--wit` the `.wasm` file
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Put the doc comments of this WIT, a file or a folder, into the component PATH
    #[arg(long, value_name = "WIT")]
    wit: Option<PathBuf>,
    /// The world that the component was made for, where the WIT has several
    #[arg(long, requires = "wit", value_name = "NAME")]
    world: Option<String>,
    /// Print {"components": [{"package", "path", "warnings": [{"lint", "function", "parameter",
    /// "message", "file", "line"}]}]}
    #[arg(long)]
    pub(super) json: bool,
}

/// A warning about a function of a component, and where the function stands.
struct Found {
    function: String,
    warning: Warning,
    place: Option<Place>,
}

pub(super) async fn run(
    args: &Args,
    current_folder: &Path,
    console: &mut Console,
) -> anyhow::Result<()> {
    let built = match &args.wit {
        Some(wit) => vec![source::describe(&args.path, wit, args.world.as_deref())?],
        None => source::build(&args.path, console.words())?,
    };
    let mut components = Vec::new();
    let mut n_warnings = 0;
    for built in built {
        let found = match load_built(&built.path).await {
            Ok(component) => warnings(&built, component.functions()),
            Err(error) => {
                let package = &built.package;
                console.say(&format!(
                    "warning: the component of `{package}` is built, and would be refused: {error}"
                ));
                n_warnings += 1;
                Vec::new()
            }
        };
        for found in &found {
            if n_warnings < WARNINGS_SHOWN_MAX {
                console.say(&format!("warning: {}", told(found, current_folder)));
            }
            n_warnings += 1;
        }
        components.push((built, found));
    }
    say_count(n_warnings, console);
    if args.json {
        let components: Vec<_> = components.iter().map(component_to_json).collect();
        console.json(&json!({"components": components}))?;
        return Ok(());
    }
    for (built, _) in components {
        console.text(&built.path.to_string_lossy())?;
    }
    Ok(())
}

fn say_count(n_warnings: usize, console: &mut Console) {
    let shown = match n_warnings.saturating_sub(WARNINGS_SHOWN_MAX) {
        0 => String::new(),
        more => format!(", {more} of them not shown; `--json` has them all"),
    };
    match n_warnings {
        0 => {}
        1 => console.say("1 warning about what models read"),
        count => console.say(&format!("{count} warnings about what models read{shown}")),
    }
}

fn warnings(built: &Built, functions: &[Function]) -> Vec<Found> {
    let offered = functions.iter().filter(|f| f.offer == Offer::Offered);
    // Most builds have nothing to warn of.
    let sources = LazyCell::new(|| SourceText::read(&built.folder));
    let of_each = offered.flat_map(|function| {
        let (warnings, sources) = (lint_function(function).into_iter(), &sources);
        warnings.map(move |warning| {
            let name = function.name.function.clone();
            let place = sources.find(&name, warning.parameter.as_deref());
            Found {
                function: name,
                warning,
                place,
            }
        })
    });
    of_each.collect()
}

/// A warning as a compiler tells it: the place, the function, what is meant.
fn told(found: &Found, current_folder: &Path) -> String {
    let place = found.place.as_ref().map(|place| {
        let file = place.file.strip_prefix(current_folder);
        let file = file.unwrap_or(&place.file);
        format!("{}:{}: ", file.display(), place.line)
    });
    format!(
        "{}`{}`: {}",
        place.unwrap_or_default(),
        one_line(&found.function, 200),
        one_line(&found.warning.message, 500)
    )
}

fn component_to_json((built, found): &(Built, Vec<Found>)) -> Json {
    let warnings = found.iter().map(|found| {
        let place = found.place.as_ref();
        json!({
            "lint": found.warning.lint.as_str(),
            "function": found.function,
            "parameter": found.warning.parameter,
            "message": found.warning.message,
            "file": place.map(|place| place.file.to_string_lossy()),
            "line": place.map(|place| place.line),
        })
    });
    json!({
        "package": built.package,
        "path": built.path.to_string_lossy(),
        "warnings": warnings.collect::<Vec<_>>(),
    })
}
