//! `openprogram build`: from source to components.

use std::path::PathBuf;

use serde_json::json;

use super::console::Console;
use crate::source;

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
    /// Print {"components": [{"package", "path"}]}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, console: &mut Console) -> anyhow::Result<()> {
    let built = match &args.wit {
        Some(wit) => vec![source::describe(&args.path, wit, args.world.as_deref())?],
        None => source::build(&args.path, console.words())?,
    };
    if args.json {
        let components: Vec<_> = built
            .iter()
            .map(|built| json!({"package": built.package, "path": built.path.to_string_lossy()}))
            .collect();
        console.json(&json!({"components": components}))?;
        return Ok(());
    }
    for built in built {
        console.text(&built.path.to_string_lossy())?;
    }
    Ok(())
}
