//! Where a component is installed from: as a person names it, and as the lock file holds it.

use std::path::{Component, Path, PathBuf};

use super::InstallError;

/// The path that a source means, from the folder in which it was named.
///
/// # Errors
/// When it is a URL.
pub fn local_path(source: &str, folder: &Path) -> Result<PathBuf, InstallError> {
    let is_scheme_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme = source.split_once("://").map(|(scheme, _)| scheme);
    match scheme.filter(|s| !s.is_empty() && s.chars().all(is_scheme_char)) {
        Some(scheme) => Err(InstallError::NotLocal {
            source_text: source.to_owned(),
            scheme: scheme.to_owned(),
        }),
        None => Ok(folder.join(source)),
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
    fn a_url_is_refused_by_its_kind_and_anything_else_is_a_path() {
        let folder = Path::new("/p/sub");
        for (source, path) in [
            ("a.wasm", "/p/sub/a.wasm"),
            ("../b", "/p/sub/../b"),
            ("/c.wasm", "/c.wasm"),
            ("://x", "/p/sub/://x"),
            ("oci:x", "/p/sub/oci:x"),
        ] {
            assert_eq!(local_path(source, folder).unwrap(), Path::new(path));
        }
        for (source, scheme) in [
            ("https://host/a.wasm", "https"),
            ("oci://host/a:1", "oci"),
            ("git+ssh://host/a", "git+ssh"),
        ] {
            let error = local_path(source, folder).unwrap_err().to_string();
            let expected = format!(
                "`{source}` cannot be added: components are not fetched by `{scheme}` yet; \
                 download it, and add the `.wasm` file"
            );
            assert_eq!(error, expected);
        }
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
