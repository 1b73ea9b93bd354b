//! The command line from its start to its end, with a hundred installed components.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Parser as _;
use openprogram::commands::Cli;
use openprogram::commands::console::Console;
use openprogram::settings::{Found, Settings};
use openprogram_tests::many;

use crate::table::{heading, line, time, wanted};

const COMPONENTS: usize = 100;
const FUNCTIONS: usize = 10;

pub(super) async fn measure() -> Result<()> {
    heading("The command line, start to end, 100 components of 10 functions installed");
    let folder = tempfile::tempdir()?;
    many::install(folder.path(), COMPONENTS, FUNCTIONS).await?;
    let images = images(folder.path())?;
    let run = |arguments: &[&str]| run(folder.path(), arguments).expect("the command line");
    let start = time(50, || run(&["--version"]));
    line("--version", start, None);
    line("functions", time(50, || run(&["functions"])), Some(start));
    let listing = time(50, || run(&["functions", "--json"]));
    line("functions --json", listing, Some(start));
    let call = ["run", "many-a42/guest.add-3", "--arg", "number=1"];
    line("run, one function", time(50, || run(&call)), Some(start));
    ensure!(
        self::images(folder.path())? == images,
        "something was compiled"
    );
    let alone = [
        "run",
        "add-3",
        "--component",
        "many-a42.wasm",
        "--arg",
        "number=1",
    ];
    let alone = time(50, || run(&alone));
    line("run, the same from its file alone", alone, Some(start));
    wanted("functions at most 50 ms, nothing compiled");
    Ok(())
}

/// How many compiled images the project has.
fn images(folder: &Path) -> Result<usize> {
    let entries = std::fs::read_dir(folder.join(".openprogram/cache/components"))?;
    let names = entries.map(|entry| Ok(entry?.file_name()));
    let names: Vec<_> = names.collect::<Result<_>>()?;
    let is_image = |name: &&std::ffi::OsString| name.to_string_lossy().ends_with(".image");
    Ok(names.iter().filter(is_image).count())
}

/// Runs the command line in a process of its own, which is this program as [`cli`].
fn run(folder: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new(std::env::current_exe()?)
        .arg("cli")
        .args(arguments)
        .current_dir(folder)
        .env_remove("OPENPROGRAM_HOME")
        .stdin(Stdio::null())
        .output()?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {words}");
    Ok(())
}

/// The program itself: what `openprogram` does with these arguments.
pub(super) async fn cli(arguments: &[String]) -> Result<()> {
    let name = std::iter::once("openprogram");
    let cli = Cli::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let folder = std::env::current_dir().context("the current folder")?;
    let settings = Settings::load(&folder, &|name| std::env::var_os(name))?;
    let mut console = Console::of_process(&settings.terminal);
    let found = Found {
        settings,
        problem: None,
    };
    let exit = cli.command.run(found, &mut console).await;
    std::process::exit(exit as i32);
}
