//! Where a component is installed from: as a person names it, and as the lock file holds it.

use std::path::{Component, Path, PathBuf};

use super::InstallError;
use crate::fetch::Remote;

/// Where a component is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On this machine: a `.wasm` file or a source folder.
    Local(PathBuf),
    /// On another one.
    Remote(Remote),
}

impl Place {
    /// What a source means, from the folder in which it was named.
    ///
    /// # Errors
    /// When it is a URL that cannot be fetched.
    pub fn of(source: &str, folder: &Path) -> Result<Self, InstallError> {
        Ok(match Remote::parse(source)? {
            Some(remote) => Self::Remote(remote),
            None => Self::Local(folder.join(source)),
        })
    }
}

/// A path as it stands in the lock file of a project: relative to its folder wherever the relative
/// path leads to the same place, so that it holds on other machines too.
///
/// # Errors
/// When the path is no text.
pub fn locked_source(path: &Path, project_folder: &Path) -> Result<String, InstallError> {
    let text = |path: &Path| {
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| InstallError::PathNotText(path.to_owned()))
    };
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (there, here) = (place(path), place(project_folder));
    let shared = there
        .components()
        .zip(here.components())
        .take_while(|(a, b)| a == b)
        .count();
    // Nothing but the root in common: the two have nothing to do with each other.
    if shared <= 1 {
        return text(&there);
    }
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let down = there.components().skip(shared);
    let parts: Result<Vec<_>, _> = up
        .chain(down)
        .map(|part| text(Path::new(part.as_os_str())))
        .collect();
    let parts = parts?.join("/");
    Ok(if parts.is_empty() {
        ".".to_owned()
    } else {
        parts
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_source_without_a_scheme_is_a_path_from_its_folder() {
        let folder = Path::new("/p/sub");
        for (source, path) in [
            ("a.wasm", "/p/sub/a.wasm"),
            ("../b", "/p/sub/../b"),
            ("/c.wasm", "/c.wasm"),
        ] {
            assert_eq!(
                Place::of(source, folder).unwrap(),
                Place::Local(path.into())
            );
        }
        let place = Place::of("https://host/a.wasm", folder).unwrap();
        assert!(matches!(place, Place::Remote(_)));
    }

    #[test]
    fn a_path_is_locked_relative_to_the_project_where_they_share_a_folder() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let project = base.join("repo/app");
        fs::create_dir_all(project.join("sub")).unwrap();
        for (path, locked) in [
            ("repo/app/a.wasm", "a.wasm"),
            ("repo/app/sub/../b.wasm", "b.wasm"),
            ("repo/app/sub/c d.wasm", "sub/c d.wasm"),
            ("repo/lib/d.wasm", "../lib/d.wasm"),
            ("repo/app", "."),
            ("repo", ".."),
        ] {
            let path = base.join(path);
            if path.extension().is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "").unwrap();
            }
            assert_eq!(locked_source(&path, &project).unwrap(), locked);
            let again = project.join(locked).canonicalize().unwrap();
            assert_eq!(again, path.canonicalize().unwrap());
        }
        let elsewhere = Path::new("/nowhere/x.wasm");
        let locked = locked_source(elsewhere, Path::new("/p")).unwrap();
        assert_eq!(locked, "/nowhere/x.wasm");
    }
}
