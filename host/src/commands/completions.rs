//! `openprogram completions`: what a shell needs to complete the command line.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use super::console::Console;

/// Prints the completion script of a shell
///
/// For bash, `source <(openprogram completions bash)` in ~/.bashrc; for zsh, a file `_openprogram` in
/// a folder of `$fpath`; for fish, a file `openprogram.fish` in ~/.config/fish/completions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args, console: &mut Console) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let mut cli = Cli::command();
    let name = cli.get_name().to_owned();
    clap_complete::generate(args.shell, &mut cli, name, &mut script);
    // It is made of our own help texts.
    console.text(&String::from_utf8_lossy(&script))?;
    Ok(())
}
