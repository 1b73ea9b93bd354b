//! The Rust toolchain as a build would find it, without building or fetching anything.

use std::path::Path;

use super::WASM_TARGET;
use super::cargo::{TARGET_LIBDIR, tool};

/// What a build in a folder would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// What cargo says of itself, for example `cargo 1.95.0 (f2d3ce0bd 2026-03-21)`.
    pub cargo: String,
    /// What the compiler says of itself.
    pub rustc: String,
    /// Whether it can build for [`Toolchain::TARGET`].
    pub has_target: bool,
    /// Whether rustup is there, which a build uses to add the target.
    pub has_rustup: bool,
}

/// Why a tool is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` cannot be run: {message}")]
pub struct ToolchainError {
    /// The command.
    pub command: String,
    /// What the system or the tool said, on one line.
    pub message: String,
}

impl Toolchain {
    /// The target of components.
    pub const TARGET: &str = WASM_TARGET;

    /// Looks at the toolchain that holds in `folder`.
    ///
    /// # Errors
    /// When cargo or the compiler is missing or does not start.
    pub fn look(folder: &Path) -> Result<Self, ToolchainError> {
        let cargo = ask("cargo", folder, &["--version"])?;
        let rustc = ask("rustc", folder, &["--version"])?;
        let target_folder = ask("rustc", folder, &TARGET_LIBDIR)?;
        Ok(Self {
            cargo,
            rustc,
            has_target: Path::new(&target_folder).is_dir(),
            has_rustup: ask("rustup", folder, &["--version"]).is_ok(),
        })
    }

    /// The version of the compiler, major and minor; `None` when it says something else.
    #[must_use]
    pub fn version(&self) -> Option<(u32, u32)> {
        let version = self.rustc.split_whitespace().nth(1)?;
        let mut numbers = version.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// The first line that a tool prints.
fn ask(name: &'static str, folder: &Path, arguments: &[&str]) -> Result<String, ToolchainError> {
    let error = |message: String| ToolchainError {
        command: format!("{name} {}", arguments.join(" ")),
        message,
    };
    let line = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).unwrap_or("").to_owned()
    };
    // A toolchain that a file asks for and that is missing would be fetched.
    let output = tool(name, folder)
        .args(arguments)
        .env("RUSTUP_AUTO_INSTALL", "0")
        .output()
        .map_err(|source| error(source.to_string()))?;
    if !output.status.success() {
        return Err(error(line(&output.stderr)));
    }
    Ok(line(&output.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_the_compiler_says() {
        for (rustc, version) in [
            ("rustc 1.95.0 (59807616e 2026-04-14)", Some((1, 95))),
            ("rustc 1.97.0-nightly (abc 2026-05-01)", Some((1, 97))),
            ("rustc", None),
            ("rustc one.two", None),
        ] {
            let toolchain = Toolchain {
                cargo: String::new(),
                rustc: rustc.to_owned(),
                has_target: true,
                has_rustup: true,
            };
            assert_eq!(toolchain.version(), version, "{rustc}");
        }
    }

    #[test]
    fn a_tool_that_is_missing_is_named() {
        let error = ask("no-such-tool", Path::new("."), &["--version"]).unwrap_err();
        assert_eq!(error.command, "no-such-tool --version");
    }
}
