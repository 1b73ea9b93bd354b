//! The lock file `openprogram.lock`: which bytes every installed component is, and what the grants of
//! components were given to.
//!
//! The program writes it and a person may read it. It is sorted and has its tables by component, so
//! that two branches that change different ones merge; a file that merged badly is refused, whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Binding, InstallError, LockFormError, unreadable, unwritable};
use crate::input::open_found;
use crate::settings::{COMPONENTS_MAX, LOCK_FILE, check_component_name};

/// Largest lock file. A thousand components with long paths fit.
pub const LOCK_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The version of its form that this program reads and writes.
const LOCK_VERSION: i64 = 1;
const HEAD: &str = "\
# Which components are installed, and what their grants were given to. Keep this file in version
# control; `openprogram add`, `update`, `remove`, `grant` and `revoke` write it.
";

/// One installed component.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockEntry {
    /// Where it comes from: a `.wasm` file or a source folder, relative to the lock file unless it
    /// is absolute; or a URL.
    pub source: String,
    /// Whether the source is a folder, which is built. A file that became a folder is not.
    #[serde(default)]
    pub built: bool,
    /// Its digest, `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
    /// The hash of the contract that it was built with; `None` for one that was built without the
    /// SDK.
    pub contract: Option<String>,
    /// The digest of the manifest that a registry has for it; only of sources there.
    pub manifest: Option<String>,
    /// The key that signed it, `sha256:` and the hash of the key; `None` when nobody did.
    pub signed_by: Option<String>,
}

/// The installed components of a project, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// The entries.
    pub components: BTreeMap<String, LockEntry>,
    /// What a person said yes to, by the name of the component, installed or not.
    pub grants: BTreeMap<String, Binding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LockText {
    version: i64,
    #[serde(default)]
    components: BTreeMap<String, LockEntry>,
    #[serde(default)]
    grants: BTreeMap<String, Binding>,
}

impl Lock {
    /// Reads the lock file of a project; an absent one means that nothing is installed.
    ///
    /// # Errors
    /// When it cannot be read or is not exactly what this program writes.
    pub fn read(project_folder: &Path) -> Result<Self, InstallError> {
        let path = project_folder.join(LOCK_FILE);
        let file = match open_found(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unreadable(&path)(error)),
        };
        let mut bytes = Vec::new();
        let limited = &mut file.take(LOCK_FILE_BYTES_MAX + 1);
        limited.read_to_end(&mut bytes).map_err(unreadable(&path))?;
        if bytes.len() as u64 > LOCK_FILE_BYTES_MAX {
            return Err(InstallError::LockTooLarge { path });
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned());
        let lock = text.and_then(|text| Self::parse(&text));
        lock.map_err(|message| InstallError::LockForm {
            path,
            source: LockFormError(message),
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Some(line) = conflict(text) {
            return Err(format!(
                "line {line}: it holds a conflict of a merge; keep one side of each, and `openprogram \
                 update` takes what the sources are now"
            ));
        }
        let read: Result<LockText, _> = toml::from_str(text);
        let read = read.map_err(|error| match other_version(text) {
            Some(version) => of_version(version),
            None => error.to_string().trim_end().to_owned(),
        })?;
        if read.version != LOCK_VERSION {
            return Err(of_version(read.version));
        }
        if read.components.len().max(read.grants.len()) > COMPONENTS_MAX {
            return Err(format!("more than {COMPONENTS_MAX} components"));
        }
        for (name, entry) in &read.components {
            check(name, entry).map_err(|message| format!("`components.{name}`: {message}"))?;
        }
        for (name, binding) in &read.grants {
            check_bound(name, binding).map_err(|message| format!("`grants.{name}`: {message}"))?;
        }
        Ok(Self {
            components: read.components,
            grants: read.grants,
        })
    }

    /// Writes the lock file, whole or not at all.
    ///
    /// Whoever changes what [`Lock::read`] gave holds the [`InstallGuard`](super::InstallGuard).
    ///
    /// # Errors
    /// When the folder cannot be written, or a link has the name of the file.
    pub fn write(&self, project_folder: &Path) -> Result<(), InstallError> {
        let path = project_folder.join(LOCK_FILE);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(InstallError::Link(path));
        }
        let text = self.to_text();
        if text.len() as u64 > LOCK_FILE_BYTES_MAX {
            return Err(InstallError::LockTooLarge { path });
        }
        write_whole(&path, text.as_bytes())
    }

    fn to_text(&self) -> String {
        let mut text = format!("{HEAD}version = {LOCK_VERSION}\n");
        let names: BTreeSet<_> = self.components.keys().chain(self.grants.keys()).collect();
        for name in names {
            if let Some(entry) = self.components.get(name) {
                write_entry(&mut text, name, entry);
            }
            if let Some(Binding { digest, given }) = self.grants.get(name) {
                let given: Vec<_> = given.iter().map(|line| quoted(line)).collect();
                text.push_str(&format!(
                    "\n[grants.{name}]\ndigest = {}\ngiven = [{}]\n",
                    quoted(digest),
                    // One line, so that two branches which change it never merge by themselves.
                    given.join(", ")
                ));
            }
        }
        text
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// When nothing of this name is installed; the error names what is.
    pub fn entry(&self, name: &str) -> Result<&LockEntry, InstallError> {
        self.components
            .get(name)
            .ok_or_else(|| InstallError::NotInstalled {
                name: name.to_owned(),
                known: self.components.keys().cloned().collect(),
            })
    }

    /// Whether any entry has this digest.
    #[must_use]
    pub fn holds(&self, digest: &str) -> bool {
        self.components.values().any(|e| e.digest == digest)
    }
}

fn write_entry(text: &mut String, name: &str, entry: &LockEntry) {
    let built = if entry.built { "built = true\n" } else { "" };
    text.push_str(&format!(
        "\n[components.{name}]\nsource = {}\n{built}digest = {}\nsize = {}\n",
        quoted(&entry.source),
        quoted(&entry.digest),
        entry.size
    ));
    for (key, value) in [
        ("contract", &entry.contract),
        ("manifest", &entry.manifest),
        ("signed_by", &entry.signed_by),
    ] {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {}\n", quoted(value)));
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The line at which a merge left a conflict.
fn conflict(text: &str) -> Option<usize> {
    let is_mark = |line: &str| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>");
    text.lines().position(is_mark).map(|at| at + 1)
}

/// The version of a lock file of another form.
fn other_version(text: &str) -> Option<i64> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let version = table.get("version")?.as_integer()?;
    (version != LOCK_VERSION).then_some(version)
}

fn of_version(version: i64) -> String {
    format!("it has version {version}, and this program reads version {LOCK_VERSION}")
}

fn check(name: &str, entry: &LockEntry) -> Result<(), String> {
    check_component_name(name)?;
    if entry.source.trim().is_empty() || entry.source.contains(char::is_control) {
        return Err("`source` is not the path of a file or folder".to_owned());
    }
    check_digest("digest", &entry.digest)?;
    for (key, value) in [
        ("manifest", &entry.manifest),
        ("signed_by", &entry.signed_by),
    ] {
        value
            .as_deref()
            .map_or(Ok(()), |value| check_digest(key, value))?;
    }
    if entry.manifest.is_some() != entry.source.starts_with("oci://") {
        return Err("`manifest` belongs to a source of a registry, which has one".to_owned());
    }
    if !entry.contract.as_deref().is_none_or(is_hash) {
        return Err("`contract` is not 64 hexadecimal digits".to_owned());
    }
    Ok(())
}

fn check_bound(name: &str, binding: &Binding) -> Result<(), String> {
    check_component_name(name)?;
    check_digest("digest", &binding.digest)?;
    if !binding.has_form() {
        return Err("`given` is not a sorted list of grants".to_owned());
    }
    Ok(())
}

fn check_digest(key: &str, digest: &str) -> Result<(), String> {
    if !digest.strip_prefix("sha256:").is_some_and(is_hash) {
        return Err(format!(
            "`{key}` is not `sha256:` and 64 hexadecimal digits"
        ));
    }
    Ok(())
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Writes the text of a project file, whole or not at all.
///
/// # Errors
/// When the folder cannot be written, or a link has the name of the file.
pub fn write_project_file(path: &Path, text: &str) -> Result<(), InstallError> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(InstallError::Link(path.to_owned()));
    }
    write_whole(path, text.as_bytes())
}

/// Writes a file beside its place, and puts it there at once. Its name until then begins with the one
/// that it gets, so that what is kept from functions by its name is kept while it is written too.
/// It is on the disk before it has the
/// name, so that a power cut leaves the old file or the new one. It has the mode of the old one.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), InstallError> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = PathBuf::from(name);
    // Left behind by a process that was killed, if anything.
    let _ = fs::remove_file(&new);
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&new)
        .and_then(|mut file| {
            if let Ok(old) = fs::symlink_metadata(path)
                && old.is_file()
            {
                file.set_permissions(old.permissions())?;
            }
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // The first error is the one to tell; a leftover is only untidy.
        let _ = fs::remove_file(&new);
    }
    written.map_err(unwritable(path))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn entry(source: &str, contract: Option<char>) -> LockEntry {
        LockEntry {
            source: source.to_owned(),
            built: contract.is_some(),
            digest: format!("sha256:{}", "0a".repeat(32)),
            size: 70_000,
            contract: contract.map(|digit| digit.to_string().repeat(64)),
            manifest: None,
            signed_by: None,
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_always_the_same() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::read(folder.path()).unwrap(), Lock::default());
        let mut lock = Lock::default();
        for (name, source) in [("shop", "../a \"b\"\\c.wasm"), ("desk", "/x/é.wasm")] {
            let contract = (name == "shop").then_some('f');
            lock.components
                .insert(name.to_owned(), entry(source, contract));
        }
        lock.write(folder.path()).unwrap();
        lock.write(folder.path()).unwrap();
        assert_eq!(Lock::read(folder.path()).unwrap(), lock);
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let text = fs::read_to_string(folder.path().join(LOCK_FILE)).unwrap();
        expect![[r#"
            # Which components are installed, and what their grants were given to. Keep this file in version
            # control; `openprogram add`, `update`, `remove`, `grant` and `revoke` write it.
            version = 1

            [components.desk]
            source = "/x/é.wasm"
            digest = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
            size = 70000

            [components.shop]
            source = '../a "b"\c.wasm'
            built = true
            digest = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
            size = 70000
            contract = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
        "#]]
        .assert_eq(&text);
        assert_eq!(
            lock.entry("shop").unwrap(),
            &entry("../a \"b\"\\c.wasm", Some('f'))
        );
        let missing = lock.entry("none").unwrap_err().to_string();
        assert_eq!(
            missing,
            "no component `none` is installed; installed are `desk`, `shop`"
        );
    }

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&Lock::parse(text).unwrap_err());
    }

    #[test]
    fn a_lock_file_of_another_form_is_refused() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let with = |line: &str| format!("version = 1\n[components.a]\nsource = \"a\"\n{line}\n");
        check(
            "",
            expect![[r#"
                TOML parse error at line 1, column 1
                  |
                1 | 
                  | ^
                missing field `version`"#]],
        );
        check(
            "version = 2\n[packages]\n",
            expect!["it has version 2, and this program reads version 1"],
        );
        check(
            "version = 2\n",
            expect!["it has version 2, and this program reads version 1"],
        );
        check(
            "version = 1\n<<<<<<< ours\n",
            expect![
                "line 2: it holds a conflict of a merge; keep one side of each, and `openprogram update` takes what the sources are now"
            ],
        );
        check(
            &with(&format!("digest = \"{digest}\"\nsize = 1\ncolour = 1")),
            expect![[r#"
                TOML parse error at line 6, column 1
                  |
                6 | colour = 1
                  | ^^^^^^
                unknown field `colour`, expected one of `source`, `built`, `digest`, `size`, `contract`, `manifest`, `signed_by`"#]],
        );
        check(
            &with("digest = \"sha256:abc\"\nsize = 1"),
            expect!["`components.a`: `digest` is not `sha256:` and 64 hexadecimal digits"],
        );
        check(
            &with(&format!(
                "digest = \"{digest}\"\nsize = 1\ncontract = \"x\""
            )),
            expect!["`components.a`: `contract` is not 64 hexadecimal digits"],
        );
        check(
            &with(&format!("digest = \"{digest}\"\nsize = 1")).replace("\"a\"", "\"\""),
            expect!["`components.a`: `source` is not the path of a file or folder"],
        );
    }

    #[test]
    fn what_grants_were_given_to_stands_beside_the_component_and_is_read_again() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let grants = |env: &str| openprogram_core::grant::Grants {
            env: vec![env.parse().unwrap()],
            ask_user: true,
            ..Default::default()
        };
        let mut lock = Lock::default();
        for (name, env) in [("shop", "LANG"), ("desk", "ask HOME")] {
            let bound = Binding::new(&digest, &grants(env));
            lock.grants.insert(name.to_owned(), bound);
        }
        lock.components
            .insert("shop".to_owned(), entry("s.wasm", None));
        let text = lock.to_text();
        assert_eq!(Lock::parse(&text).unwrap(), lock);
        let tables = text.split_once("version = 1\n").unwrap().1;
        expect![[r#"

            [grants.desk]
            digest = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
            given = ["ask_user true", "env ask HOME"]

            [components.shop]
            source = "s.wasm"
            digest = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
            size = 70000

            [grants.shop]
            digest = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
            given = ["ask_user true", "env LANG"]
        "#]]
        .assert_eq(tables);
        let with = |given: &str| {
            format!("version = 1\n[grants.a]\ndigest = \"{digest}\"\ngiven = {given}\n")
        };
        for given in [
            "[]",
            "['env B', 'env A']",
            "['env A', 'env A']",
            "['fly']",
            "[\"env A\\n\"]",
        ] {
            check(
                &with(given),
                expect!["`grants.a`: `given` is not a sorted list of grants"],
            );
        }
        check(
            &with("[]").replace("sha256:", ""),
            expect!["`grants.a`: `digest` is not `sha256:` and 64 hexadecimal digits"],
        );
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        std::os::unix::fs::symlink(&precious, folder.path().join(LOCK_FILE)).unwrap();
        let error = Lock::default().write(folder.path()).unwrap_err();
        assert!(matches!(error, InstallError::Link(_)), "{error}");
        assert_eq!(fs::read_to_string(precious).unwrap(), "kept");
    }
}
