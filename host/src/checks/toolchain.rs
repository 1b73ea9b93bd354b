//! Rust and the target of components, as a build in the project would find them.

use super::{Check, Status};
use crate::settings::Settings;
use crate::source::Toolchain;

const RUST: &str = "rust";
const TARGET: &str = "wasm target";
/// The oldest compiler that the SDK for components builds with.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    // Without a source folder in the project nothing is built, and a toolchain is not missed.
    let mut sources = settings.components.iter().map(|c| &c.source);
    let source = sources.find(|source| source.is_dir());
    let is_needed = source.is_some();
    let project_folder = settings
        .project_file
        .as_deref()
        .and_then(|file| file.parent());
    let folder = source.map(|source| source.as_path()).or(project_folder);
    let toolchain = match Toolchain::look(folder.unwrap_or(&settings.current_folder)) {
        Ok(toolchain) => toolchain,
        Err(error) => {
            let mend = "install Rust from https://rustup.rs, or the toolchain that is asked for \
                        with `rustup toolchain install`; components that are built need none";
            return vec![weighed(
                is_needed,
                Check::failed(RUST, error.to_string(), mend),
            )];
        }
    };
    vec![
        weighed(is_needed, version(&toolchain)),
        weighed(is_needed, target(&toolchain)),
    ]
}

/// A failure that concerns nothing in the project is a warning.
fn weighed(is_needed: bool, mut check: Check) -> Check {
    if check.status == Status::Failed && !is_needed {
        check.status = Status::Warning;
    }
    check
}

fn version(toolchain: &Toolchain) -> Check {
    let found = format!("{}; {}", toolchain.rustc, toolchain.cargo);
    let oldest = parse(OLDEST);
    match (toolchain.version(), oldest) {
        (Some(version), Some(oldest)) if version < oldest => Check::failed(
            RUST,
            format!("{found}; components need {OLDEST} or newer"),
            "run `rustup update`, and raise the version in the rust-toolchain.toml of the project \
             if there is one",
        ),
        _ => Check::ok(RUST, found),
    }
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let (major, rest) = version.split_once('.')?;
    let minor = rest.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn target(toolchain: &Toolchain) -> Check {
    let name = Toolchain::TARGET;
    if toolchain.has_target {
        return Check::ok(TARGET, format!("{name} is installed"));
    }
    let missing = format!("{name} is not installed");
    if toolchain.has_rustup {
        let mend = format!("run `rustup target add {name}`, or let the next build do it");
        Check::warning(TARGET, missing, mend)
    } else {
        let mend = format!("add the target {name} with the tool that installed Rust");
        Check::failed(TARGET, missing, mend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain(rustc: &str, has_target: bool, has_rustup: bool) -> Toolchain {
        Toolchain {
            cargo: "cargo 1".to_owned(),
            rustc: rustc.to_owned(),
            has_target,
            has_rustup,
        }
    }

    #[test]
    fn an_old_compiler_and_a_missing_target_are_found() {
        for (found, status) in [
            (
                version(&toolchain("rustc 1.94.9 (x)", true, true)),
                Status::Failed,
            ),
            (version(&toolchain("rustc 99.0.0", true, true)), Status::Ok),
            (
                version(&toolchain("something else", true, true)),
                Status::Ok,
            ),
            (target(&toolchain("", true, false)), Status::Ok),
            (target(&toolchain("", false, true)), Status::Warning),
            (target(&toolchain("", false, false)), Status::Failed),
        ] {
            assert_eq!(found.status, status, "{found:?}");
            assert_eq!(found.mend.is_none(), status == Status::Ok, "{found:?}");
        }
        assert!(parse(OLDEST).is_some(), "{OLDEST}");
    }

    #[test]
    fn what_nothing_in_the_project_needs_is_a_warning() {
        let failed = Check::failed(RUST, "no", "do");
        assert_eq!(weighed(false, failed.clone()).status, Status::Warning);
        assert_eq!(weighed(true, failed).status, Status::Failed);
    }
}
