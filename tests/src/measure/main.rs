//! `cargo run --release -p openprogram-tests --bin measure`: figures of this machine, as ratios
//! against bare wasmtime or a bare loop in the same run. Nothing here asserts a time.
//!
//! `measure installed` gives the figures of the command line alone, `measure loads` those of loading
//! components, `measure policy` those of limits and grants, `measure cancel` how long it takes to
//! stop, `measure waiting` what functions that wait for a model hold; `measure cli …` is the command
//! line that the first measures. `measure soak COUNT` makes hostile calls instead and prints what the process
//! held; `measure fuzz TARGET SECONDS` makes up inputs for the loader of components or for the
//! conversion of values.

#![allow(
    clippy::print_stdout,
    reason = "its output is what this program is for"
)]

mod bare;
mod calls;
mod cancel;
mod decisions;
mod installed;
mod loads;
mod policy;
mod table;
mod turns;
mod waiting;

use anyhow::{Context, Result};
use openprogram_tests::fuzz::{self, Target};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, count] = arguments.as_slice()
        && command == "soak"
    {
        println!("{}", openprogram_tests::soak::run(count.parse()?).await?);
        return Ok(());
    }
    if let [command, target, seconds] = arguments.as_slice()
        && command == "fuzz"
    {
        let target = Target::ALL.into_iter().find(|known| known.name() == target);
        let target = target.context("the targets are `loader` and `values`")?;
        println!("{}", fuzz::run(target, seconds.parse()?).await?);
        return Ok(());
    }
    if let [command, rest @ ..] = arguments.as_slice()
        && command == "cli"
    {
        return installed::cli(rest).await;
    }
    if let [command] = arguments.as_slice()
        && command == "installed"
    {
        return installed::measure().await;
    }
    if cfg!(debug_assertions) {
        println!("this is a debug build; use `--release` for figures that mean something\n");
    }
    if arguments == ["loads"] {
        return loads::measure().await;
    }
    if arguments == ["cancel"] {
        return cancel::measure().await;
    }
    if arguments == ["waiting"] {
        return waiting::measure().await;
    }
    if arguments == ["policy"] {
        return policy::measure().await;
    }
    calls::measure().await?;
    policy::measure().await?;
    decisions::measure().await?;
    turns::measure().await?;
    cancel::measure().await?;
    waiting::measure().await?;
    loads::measure().await?;
    installed::measure().await?;
    Ok(())
}
