//! Places in granted folders: which folders there are, and what an error at a place means.
//!
//! The sandbox decides what may be reached; this only finds the words for it. A failure names the
//! path as the caller wrote it, and what a person or a model can do.

use std::io::{self, ErrorKind};

use openprogram_guest::Failure;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, DescriptorStat, PathFlags};

/// How people grant a folder to this component.
const HOW: &str = concat!(
    "`openprogram grant ",
    env!("CARGO_PKG_NAME"),
    " --dir rw:FOLDER`, or `ro:FOLDER` to read only"
);

/// A folder that was granted.
pub(crate) struct Folder {
    /// The name by which paths begin.
    pub(crate) name: String,
    descriptor: Descriptor,
}

impl Folder {
    fn is_written(&self) -> bool {
        let writes = DescriptorFlags::MUTATE_DIRECTORY;
        let flags = self.descriptor.get_flags();
        flags.is_ok_and(|flags| flags & writes == writes)
    }
}

/// The granted folders, sorted by name.
///
/// # Errors
/// `denied` when there are none.
pub(crate) fn folders() -> Result<Vec<Folder>, Failure> {
    let mut folders: Vec<Folder> = get_directories()
        .into_iter()
        .map(|(descriptor, name)| Folder {
            name: normal(&name),
            descriptor,
        })
        .collect();
    if folders.is_empty() {
        let message = format!("no folder is granted here; a person can grant one with {HOW}");
        return Err(Failure::new("denied", message).with("what", "files"));
    }
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(folders)
}

/// A path in its normal form: without `.` and empty parts, and `.` when nothing is left. A step
/// upwards stays, for the sandbox to judge.
pub(crate) fn normal(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

/// What a path means inside of a folder: the rest of it, or `None` when it lies elsewhere.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder == "." {
        return Some(path);
    }
    match path.strip_prefix(folder)? {
        "" => Some("."),
        rest => rest.strip_prefix('/'),
    }
}

/// What is known of a file or folder, of a link itself and not of what it leads to.
pub(crate) fn stat(path: &str) -> Option<DescriptorStat> {
    let folders = folders().ok()?;
    let held = folders
        .iter()
        .filter_map(|folder| Some((folder, below(path, &folder.name)?)));
    // The longest name is the nearest folder.
    let (folder, rest) = held.max_by_key(|(folder, _)| folder.name.len())?;
    folder.descriptor.stat_at(PathFlags::empty(), rest).ok()
}

/// A path of a caller in its normal form.
///
/// # Errors
/// Where it is empty, holds a zero byte, or lies in no granted folder.
pub(crate) fn checked(path: &str) -> Result<String, Failure> {
    if path.trim().is_empty() {
        let message = "a path is missing; `list_files` without a path shows the granted folders";
        return Err(Failure::invalid_argument("path", message));
    }
    if path.contains(['\0', '\\']) {
        let message = format!("`{}` is no path: its parts are parted by `/`", shown(path));
        return Err(Failure::invalid_argument("path", message));
    }
    let normal = normal(path);
    let folders = folders()?;
    if folders.iter().any(|f| below(&normal, &f.name).is_some()) {
        return Ok(normal);
    }
    let names: Vec<_> = folders.iter().map(told).collect();
    let message = format!(
        "`{}` lies in no granted folder; granted: {}. A person can grant another one with {HOW}",
        shown(path),
        names.join(", ")
    );
    Err(Failure::new("denied", message).with("what", shown(path)))
}

fn told(folder: &Folder) -> String {
    let access = if folder.is_written() {
        ""
    } else {
        " (to read only)"
    };
    format!("`{}`{access}", folder.name)
}

/// What an error at a path means for whoever asked.
pub(crate) fn failed(doing: &str, path: &str, error: &io::Error) -> Failure {
    let path = shown(path);
    let denied = |message: String| Failure::new("denied", message).with("what", path.as_str());
    match error.kind() {
        ErrorKind::NotFound => failure(format!(
            "there is no `{path}`; `list_files` shows what is there"
        )),
        ErrorKind::IsADirectory => failure(format!(
            "`{path}` is a folder; `list_files` shows what it holds"
        )),
        ErrorKind::NotADirectory => failure(format!(
            "a part of `{path}` is a file and no folder; `list_files` shows what is there"
        )),
        ErrorKind::ReadOnlyFilesystem => denied(format!(
            "`{path}` is granted to be read and not to be changed; a person can allow it with a \
             grant that begins with `rw:`"
        )),
        ErrorKind::PermissionDenied => denied(format!(
            "`{path}` is refused: it leads out of the granted folder, is kept from components, or \
             a person said no"
        )),
        _ => failure(format!("cannot {doing} `{path}`: {error}")),
    }
}

/// A failure that a caller can repair by another call.
pub(crate) fn failure(message: impl Into<String>) -> Failure {
    Failure::new("function-failed", message)
}

/// A path in a message: on one line, and not longer than it helps.
fn shown(path: &str) -> String {
    let mut shown: String = path.chars().take(200).map(printable).collect();
    if shown.len() < path.len() && path.chars().nth(200).is_some() {
        shown.push('…');
    }
    shown
}

fn printable(c: char) -> char {
    if c.is_control() || c == '`' { '?' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_form() {
        for (path, expected) in [
            ("workspace/notes.md", "workspace/notes.md"),
            ("./workspace//notes.md", "workspace/notes.md"),
            ("/workspace/./notes.md/", "workspace/notes.md"),
            (".", "."),
            ("/", "."),
            ("a/../b", "a/../b"),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
    }

    #[test]
    fn a_path_lies_in_a_folder_by_whole_names() {
        for (path, folder, expected) in [
            ("work/a", "work", Some("a")),
            ("work", "work", Some(".")),
            ("workspace/a", "work", None),
            ("a/b", ".", Some("a/b")),
            ("other", "work", None),
        ] {
            assert_eq!(below(path, folder), expected, "{path} {folder}");
        }
    }

    #[test]
    fn errors_tell_what_to_do() {
        for (kind, code, words) in [
            (ErrorKind::NotFound, "function-failed", "list_files"),
            (ErrorKind::IsADirectory, "function-failed", "is a folder"),
            (ErrorKind::NotADirectory, "function-failed", "no folder"),
            (ErrorKind::ReadOnlyFilesystem, "denied", "`rw:`"),
            (ErrorKind::PermissionDenied, "denied", "leads out"),
            (ErrorKind::StorageFull, "function-failed", "cannot write"),
        ] {
            let failure = failed("write", "a\n`b", &io::Error::from(kind));
            assert_eq!(failure.code(), code, "{failure}");
            assert!(failure.message().contains(words), "{failure}");
            assert!(!failure.message().contains('\n'), "{failure}");
        }
        assert!(shown(&"x".repeat(1000)).ends_with("xx…"));
    }
}
