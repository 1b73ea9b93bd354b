//! `openprogram build`: from source to components.

use std::path::PathBuf;

use serde_json::json;

use super::console::Console;
use crate::source;

/// Builds the component of a source folder and prints the path of its `.wasm` file
///
/// PATH is the folder of a Rust package whose library is a `cdylib`, or of a workspace of such
/// packages, which prints one path per line. The target wasm32-wasip2 is added when it is missing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The source folder
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Print {"components": [{"package", "path"}]}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, console: &mut Console) -> anyhow::Result<()> {
    let built = source::build(&args.path, console.words())?;
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
