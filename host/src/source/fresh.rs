//! Tells whether a source folder has changed since it was last built, without starting cargo.
//!
//! After a build, cargo's dependency file lists every source the component was made from; of a
//! JavaScript or Python project, all files count that no tool writes. The times and sizes of these,
//! of their manifests and of the lock file are noted; as long as all are as noted, the component is
//! fresh. What is not seen here, such as another toolchain, is seen by the next `openprogram build`,
//! which always asks the tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use openprogram_core::skill::SKILL_FILE;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::language::language_of;
use super::walked;
use crate::sdk::Language;

/// Most files that are noted; a component of more sources is left to cargo every time.
const NOTED_FILES_MAX: usize = 10_000;
/// The files beside a source that decide how it is built, looked for in its folder and above.
const MANIFESTS: [&str; 5] = [
    SKILL_FILE,
    "Cargo.toml",
    "Cargo.lock",
    ".cargo/config.toml",
    "rust-toolchain.toml",
];

/// What decides how a JavaScript or Python project is built, whether it is there or not.
const BESIDE: [&str; 6] = [
    SKILL_FILE,
    "Cargo.toml",
    "package.json",
    "package-lock.json",
    ".npmrc",
    "pyproject.toml",
];

/// What is noted of one build of one folder.
pub(super) struct Stamp {
    folder: PathBuf,
    file: PathBuf,
}

#[derive(Deserialize, Serialize)]
struct Note {
    component: PathBuf,
    seen: Vec<Seen>,
}

/// One file as it was.
#[derive(Deserialize, Serialize, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    /// Nanoseconds since 1970 as text, and bytes. `None` where there was no such file.
    state: Option<(String, u64)>,
}

impl Seen {
    fn now(path: PathBuf) -> Self {
        let state = fs::metadata(&path).ok().and_then(|metadata| {
            let since = metadata
                .modified()
                .ok()?
                .duration_since(SystemTime::UNIX_EPOCH);
            // The size of a folder says nothing.
            let bytes = if metadata.is_dir() { 0 } else { metadata.len() };
            Some((since.ok()?.as_nanos().to_string(), bytes))
        });
        Self { path, state }
    }
}

impl Stamp {
    pub(super) fn of(folder: &Path, cache: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let name: String = digest.iter().take(16).map(|b| format!("{b:02x}")).collect();
        Self {
            file: cache.join("builds").join(format!("{name}.json")),
            folder,
        }
    }

    /// The component, when nothing has changed since it was built.
    pub(super) fn fresh_component(&self) -> Option<PathBuf> {
        let note: Note = serde_json::from_slice(&fs::read(&self.file).ok()?).ok()?;
        let is_fresh = note
            .seen
            .iter()
            .all(|seen| *seen == Seen::now(seen.path.clone()));
        (is_fresh && note.component.is_file()).then_some(note.component)
    }

    /// Notes what the component was built from. A source that changed while the tools ran leaves no
    /// note, nor does a note that cannot be written: the next run asks the tools.
    pub(super) fn note(&self, component: &Path, begun: SystemTime) {
        // Removed first, so that no older note survives a failure below.
        let _ = fs::remove_file(&self.file);
        if let Some(note) = self.make_note(component, begun) {
            let folder = self.file.parent().unwrap_or(&self.file);
            let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&self.file, note));
        }
    }

    fn make_note(&self, component: &Path, begun: SystemTime) -> Option<Vec<u8>> {
        let mut paths = match language_of(&self.folder).ok()? {
            Language::Rust => rust_sources(&self.folder, component)?,
            Language::JavaScript | Language::Python => {
                let mut files = walked::files(&self.folder, NOTED_FILES_MAX)?;
                // They may come later: another language, a lock file, a skill, settings of npm.
                files.extend(BESIDE.iter().map(|name| self.folder.join(name)));
                files
            }
        };
        paths.insert(component.to_owned());
        if paths.len() > NOTED_FILES_MAX {
            return None;
        }
        let begun = begun
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()?
            .as_nanos();
        let seen: Vec<_> = paths.into_iter().map(Seen::now).collect();
        let changed_since = |seen: &Seen| {
            let modified = seen
                .state
                .as_ref()
                .and_then(|(time, _)| time.parse::<u128>().ok());
            seen.path.is_file() && seen.path != component && modified.is_none_or(|m| m >= begun)
        };
        if seen.iter().any(changed_since) {
            return None;
        }
        let component = component.to_owned();
        serde_json::to_vec(&Note { component, seen }).ok()
    }
}

/// The sources that cargo names, and what decides how they are built.
fn rust_sources(folder: &Path, component: &Path) -> Option<BTreeSet<PathBuf>> {
    let text = fs::read_to_string(component.with_extension("d")).ok()?;
    let mut paths: BTreeSet<_> = dependencies(&text).into_iter().collect();
    let mut folders: BTreeSet<PathBuf> = BTreeSet::from([folder.to_owned()]);
    folders.extend(paths.iter().filter_map(|path| package_folder(path)));
    for folder in folders {
        for above in folder.ancestors() {
            paths.extend(MANIFESTS.iter().map(|name| above.join(name)));
        }
        // A new file, such as a build script, changes the time of its folder.
        paths.insert(folder);
    }
    Some(paths)
}

/// The folder of the package that a source belongs to.
fn package_folder(source: &Path) -> Option<PathBuf> {
    let mut folders = source.ancestors().skip(1);
    let found = folders.find(|folder| folder.join("Cargo.toml").is_file())?;
    Some(found.to_owned())
}

/// The prerequisites of the one rule of a dependency file. A space in a name is written `\ `.
fn dependencies(text: &str) -> Vec<PathBuf> {
    let Some((_, prerequisites)) = text.lines().next().and_then(|line| line.split_once(": "))
    else {
        return Vec::new();
    };
    let mut paths = vec![String::new()];
    let mut chars = prerequisites.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek(), paths.last_mut()) {
            ('\\', Some(' '), Some(path)) => {
                chars.next();
                path.push(' ');
            }
            (' ', _, _) => paths.push(String::new()),
            (c, _, Some(path)) => path.push(c),
            (_, _, None) => {}
        }
    }
    paths.retain(|path| !path.is_empty());
    paths.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_file_is_read_with_spaces_in_names() {
        let text = "/t/my\\ tool.wasm: /s/src/lib.rs /s/a\\ b.rs \n\n/s/src/lib.rs:\n";
        let expected = [PathBuf::from("/s/src/lib.rs"), PathBuf::from("/s/a b.rs")];
        assert_eq!(dependencies(text), expected);
        assert_eq!(dependencies(""), Vec::<PathBuf>::new());
        assert_eq!(dependencies("/t/x.wasm:\n"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_component_is_fresh_until_a_source_a_manifest_or_the_component_changes() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("tool");
        let path = |name: &str| source.join(name);
        fs::create_dir_all(path("src")).unwrap();
        for name in ["Cargo.toml", "src/lib.rs"] {
            fs::write(path(name), "").unwrap();
        }
        let target = folder.path().join("target");
        fs::create_dir(&target).unwrap();
        let component = target.join("tool.wasm");
        let rule = format!(
            "{}: {}\n",
            component.display(),
            path("src/lib.rs").display()
        );
        fs::write(target.join("tool.d"), rule).unwrap();
        let stamp = Stamp::of(&source, folder.path());
        assert_eq!(stamp.fresh_component(), None);

        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        for changed in [
            "src/lib.rs",
            "Cargo.toml",
            "Cargo.lock",
            "build.rs",
            SKILL_FILE,
        ] {
            fs::write(&component, "component").unwrap();
            stamp.note(&component, later);
            assert_eq!(stamp.fresh_component().as_ref(), Some(&component));
            fs::write(path(changed), format!("changed {changed}")).unwrap();
            assert_eq!(stamp.fresh_component(), None, "`{changed}`");
        }
        stamp.note(&component, later);
        fs::write(&component, "another component").unwrap();
        assert_eq!(stamp.fresh_component(), None);

        stamp.note(&component, SystemTime::UNIX_EPOCH);
        assert_eq!(
            stamp.fresh_component(),
            None,
            "a source changed while cargo ran"
        );
    }
    #[test]
    fn a_javascript_project_is_fresh_until_a_file_changes_that_no_tool_writes() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("desk");
        let path = |name: &str| project.join(name);
        for name in ["src", "dist", "wit"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        let manifest = r#"{"name": "desk", "main": "src/index.js", "openprogram": {}}"#;
        fs::write(path("package.json"), manifest).unwrap();
        fs::write(path("src/index.js"), "").unwrap();
        let component = path("dist/desk.wasm");
        fs::write(&component, "component").unwrap();
        let stamp = Stamp::of(&project, folder.path());
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        stamp.note(&component, later);
        for name in [
            "openprogram.lock",
            ".openprogram",
            "node_modules",
            "more.txt",
        ] {
            fs::write(path(name), "").unwrap();
            assert_eq!(stamp.fresh_component().as_ref(), Some(&component), "{name}");
        }
        for changed in [
            "src/index.js",
            "src/new.js",
            "wit/world.wit",
            "package-lock.json",
            "Cargo.toml",
            SKILL_FILE,
        ] {
            let _ = fs::remove_file(path("Cargo.toml"));
            stamp.note(&component, later);
            assert_eq!(stamp.fresh_component().as_ref(), Some(&component));
            fs::write(path(changed), format!("changed {changed}")).unwrap();
            assert_eq!(stamp.fresh_component(), None, "`{changed}`");
        }
    }
}
