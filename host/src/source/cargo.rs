//! Runs cargo, rustc and rustup for one source folder, in an environment without leftovers.

use std::io::{BufRead as _, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::tools::Tool;
use super::{BuildError, Built, WASM_TARGET, absolute};

/// Set by an outer cargo, clippy or a person for the host, and wrong for a component.
const LEFTOVERS: [&str; 8] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_TARGET",
];

/// The folder inside the target folder of a workspace that components are built into.
///
/// A folder of its own has a lock of its own: a build that is started by a program that cargo runs
/// does not wait for that cargo.
const TARGET_SUBFOLDER: &str = "openprogram";

pub(super) fn tool(name: &'static str, folder: &Path) -> Command {
    let mut command = Command::new(name);
    // The folder chooses the toolchain file and the cargo configuration that hold.
    command.current_dir(folder).stdin(Stdio::null());
    for name in LEFTOVERS {
        command.env_remove(name);
    }
    command
}

/// Asks the compiler for the folder of the standard library of the target.
pub(super) const TARGET_LIBDIR: [&str; 4] = ["--print", "target-libdir", "--target", WASM_TARGET];

fn no_tool(name: &'static str) -> impl FnOnce(std::io::Error) -> BuildError {
    let install = "install Rust from https://rustup.rs";
    let least = None;
    Tool {
        name,
        install,
        least,
    }
    .missing()
}

/// Adds the wasm target to the toolchain of this folder when it is missing.
pub(super) fn ensure_target(folder: &Path, words: &mut dyn Write) -> Result<(), BuildError> {
    if has_target(folder)? {
        return Ok(());
    }
    // Words that cannot be written are no reason to fail: nobody is there to read them.
    let _ = writeln!(words, "adding the target `{WASM_TARGET}`");
    let added = tool("rustup", folder)
        .args(["target", "add", WASM_TARGET])
        .stdout(Stdio::null())
        .status();
    match added {
        Ok(status) if status.success() && has_target(folder)? => Ok(()),
        Ok(status) if status.success() => Err(BuildError::NoTarget),
        Ok(_) => Err(BuildError::Failed {
            command: format!("rustup target add {WASM_TARGET}"),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(BuildError::NoTarget),
        Err(source) => Err(no_tool("rustup")(source)),
    }
}

/// Whether the standard library of the target is there. Asking rustup would cost more and would
/// not know toolchains that came another way.
fn has_target(folder: &Path) -> Result<bool, BuildError> {
    let output = tool("rustc", folder)
        .args(TARGET_LIBDIR)
        .stderr(Stdio::inherit())
        .output()
        .map_err(no_tool("rustc"))?;
    if !output.status.success() {
        return Err(BuildError::Failed {
            command: format!("rustc {}", TARGET_LIBDIR.join(" ")),
        });
    }
    let path = String::from_utf8_lossy(&output.stdout);
    Ok(Path::new(path.trim()).is_dir())
}

/// What cargo tells of a folder.
pub(super) struct Project {
    folder: PathBuf,
    /// The folder of the workspace.
    root: PathBuf,
    target_folder: PathBuf,
    /// The packages that the folder means: its own, or the members of its workspace.
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_default_members: Vec<String>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
}

impl Package {
    fn folder(&self) -> PathBuf {
        let folder = self.manifest_path.parent();
        folder.unwrap_or(&self.manifest_path).to_owned()
    }
}

/// One line of cargo's report.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        package_id: String,
        target: Target,
        filenames: Vec<PathBuf>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

impl Project {
    /// Reads the manifest of a folder that has one.
    pub(super) fn read(folder: &Path) -> Result<Self, BuildError> {
        let folder = absolute(folder);
        let manifest = folder.join("Cargo.toml");
        let output = tool("cargo", &folder)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .arg("--manifest-path")
            .arg(&manifest)
            .stderr(Stdio::inherit())
            .output()
            .map_err(no_tool("cargo"))?;
        if !output.status.success() {
            return Err(BuildError::Failed {
                command: "cargo metadata".to_owned(),
            });
        }
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).map_err(|error| BuildError::Unexpected {
                tool: "cargo metadata",
                message: error.to_string(),
            })?;
        let is_own = |package: &Package| is_same_file(&package.manifest_path, &manifest);
        let has_own = metadata.packages.iter().any(is_own);
        let is_meant = |package: &Package| {
            if has_own {
                is_own(package)
            } else {
                metadata.workspace_default_members.contains(&package.id)
            }
        };
        Ok(Self {
            target_folder: metadata.target_directory.join(TARGET_SUBFOLDER),
            packages: metadata.packages.into_iter().filter(is_meant).collect(),
            root: metadata.workspace_root,
            folder,
        })
    }

    /// The folder of the workspace that the folder belongs to, which may be the folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Builds in release mode, and gives the components in the order of their packages.
    pub(super) fn build(&self) -> Result<Vec<Built>, BuildError> {
        let mut cargo = tool("cargo", &self.folder)
            .args(["build", "--release", "--target", WASM_TARGET])
            .arg("--message-format=json-render-diagnostics")
            .arg("--manifest-path")
            .arg(self.folder.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&self.target_folder)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(no_tool("cargo"))?;
        let report = cargo.stdout.take().map(BufReader::new);
        let mut built = Vec::new();
        for line in report.into_iter().flat_map(BufReader::lines) {
            let line = line.map_err(no_tool("cargo"))?;
            // Lines that are not cargo's own come from procedural macros that print.
            if let Ok(message) = serde_json::from_str(&line) {
                built.extend(self.component(message));
            }
        }
        let status = cargo.wait().map_err(no_tool("cargo"))?;
        if !status.success() {
            return Err(BuildError::Failed {
                command: format!("cargo build --release --target {WASM_TARGET}"),
            });
        }
        if built.is_empty() {
            return Err(BuildError::NoComponent(self.folder.clone()));
        }
        built.sort_by(|a, b| a.package.cmp(&b.package));
        Ok(built)
    }

    fn component(&self, message: Message) -> Option<Built> {
        let Message::CompilerArtifact {
            package_id,
            target,
            filenames,
        } = message
        else {
            return None;
        };
        let package = self.packages.iter().find(|p| p.id == package_id)?;
        if !target.crate_types.iter().any(|kind| kind == "cdylib") {
            return None;
        }
        let is_wasm = |path: &PathBuf| path.extension().is_some_and(|e| e == "wasm");
        Some(Built {
            package: package.name.clone(),
            folder: package.folder(),
            path: filenames.into_iter().find(is_wasm)?,
        })
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> Project {
        Project {
            folder: PathBuf::from("/p"),
            root: PathBuf::from("/p"),
            target_folder: PathBuf::from("/p/target/openprogram"),
            packages: vec![Package {
                id: "path+file:///p#0.1.0".to_owned(),
                name: "p".to_owned(),
                manifest_path: PathBuf::from("/p/Cargo.toml"),
            }],
        }
    }

    fn check(line: &str, expected: Option<&str>) {
        let message = serde_json::from_str(line).unwrap();
        let built = project().component(message);
        let path = built.map(|built| built.path.display().to_string());
        assert_eq!(path.as_deref(), expected, "{line}");
    }

    #[test]
    fn the_component_is_found_in_the_report_of_cargo() {
        let artifact = |package: &str, kind: &str, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"{package}","target":{{"name":"p","crate_types":["rlib","{kind}"]}},"filenames":["/t/libp.rlib","{file}"],"fresh":true}}"#
            )
        };
        let own = "path+file:///p#0.1.0";
        check(&artifact(own, "cdylib", "/t/p.wasm"), Some("/t/p.wasm"));
        check(&artifact(own, "lib", "/t/p.wasm"), None);
        check(&artifact("other", "cdylib", "/t/p.wasm"), None);
        check(&artifact(own, "cdylib", "/t/libp.so"), None);
        check(r#"{"reason":"build-finished","success":true}"#, None);
    }
}
