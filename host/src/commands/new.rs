//! `openprogram new`: a project of one's own, and its SDK brought up to date.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::console::Console;
use crate::scaffold;
use crate::sdk::Language;

/// Makes a project: a component with its source, tests, project file and SDK, ready to build
///
/// NAME is the folder to make, here or elsewhere, such as `desk` or `../desk`; its last part is the
/// name of the component. Everything that the build needs besides cargo, npm or pip and their registry
/// is written into the project, into the folders `sdk` and, except for Rust, `wit/deps`, which belong
/// under version control with the rest.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to make; with `--update-sdk` the project, which is the current folder by default
    #[arg(value_name = "NAME", required_unless_present = "update_sdk")]
    path: Option<PathBuf>,
    /// The language of its source
    #[arg(long, value_enum, default_value = "rust")]
    lang: Language,
    /// Write the SDK of this openprogram into a project that has another one, and nothing else
    #[arg(long, conflicts_with = "lang")]
    update_sdk: bool,
    /// Print {"name", "folder", "files"}, or {"sdk"} with `--update-sdk`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, console: &mut Console) -> anyhow::Result<()> {
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    if args.update_sdk {
        let sdk = scaffold::update_sdk(path)?;
        return if args.json {
            console.json(&json!({"sdk": sdk.to_string_lossy()}))
        } else {
            console.text(&sdk.to_string_lossy())
        }
        .map_err(Into::into);
    }
    let created = scaffold::create(path, args.lang)?;
    if args.json {
        console.json(&json!({
            "name": created.name,
            "folder": created.folder.to_string_lossy(),
            "files": created.files,
        }))?;
        return Ok(());
    }
    console.text(&created.folder.to_string_lossy())?;
    console.say("next, in that folder:");
    for line in [
        "openprogram run tell-price --arg repair=tyre",
        "openprogram run handle-message --arg message=\"My front tyre is flat.\" --model script:replies.jsonl",
    ] {
        console.say(&format!("  {line}"));
    }
    Ok(())
}
