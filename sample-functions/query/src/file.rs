//! A file of a granted folder as text, or why not.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};

use openprogram_guest::Failure;
use wasip2::filesystem::preopens::get_directories;

/// The most bytes of a file. As values they take some twenty times as much memory.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// How people grant a folder to this component.
const HOW: &str = concat!(
    "`openprogram grant ",
    env!("CARGO_PKG_NAME"),
    " --dir ro:FOLDER`"
);

/// The text of a file.
///
/// # Errors
/// Where it is not granted, not there, too large, or no text.
pub(crate) fn text(path: &str) -> Result<String, Failure> {
    let names: Vec<String> = get_directories()
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    if names.is_empty() {
        let message = format!("no folder is granted here; a person can grant one with {HOW}");
        return Err(Failure::new("denied", message).with("what", "files"));
    }
    read(path).map_err(|error| failed(path, &names, &error))
}

fn read(path: &str) -> io::Result<String> {
    let file = File::open(path)?;
    let known = file.metadata()?;
    if known.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if known.len() > FILE_BYTES_MAX {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let mut text = String::new();
    // It may have grown meanwhile.
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

fn failed(path: &str, folders: &[String], error: &io::Error) -> Failure {
    let clean = |c: char| if c.is_control() || c == '`' { '?' } else { c };
    let path: String = path.chars().take(200).map(clean).collect();
    let failure = |message: String| Failure::new("function-failed", message);
    match error.kind() {
        ErrorKind::NotFound => failure(format!(
            "there is no `{path}` in what is granted: {}; a person can grant another folder with \
             {HOW}",
            folders.join(", ")
        )),
        ErrorKind::PermissionDenied => {
            let message = format!(
                "`{path}` is refused: it leads out of the granted folder, is kept from components, \
                 or a person said no"
            );
            Failure::new("denied", message).with("what", path.as_str())
        }
        ErrorKind::IsADirectory => failure(format!("`{path}` is a folder; name a file in it")),
        ErrorKind::FileTooLarge => failure(format!(
            "`{path}` has more than {FILE_BYTES_MAX} bytes, the most of a file that is queried"
        )),
        ErrorKind::InvalidData => failure(format!("`{path}` is not UTF-8 text")),
        _ => failure(format!("cannot read `{path}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_what_to_do() {
        let folders = ["workspace".to_owned()];
        for (kind, code, words) in [
            (
                ErrorKind::NotFound,
                "function-failed",
                "in what is granted: workspace;",
            ),
            (ErrorKind::PermissionDenied, "denied", "leads out"),
            (
                ErrorKind::IsADirectory,
                "function-failed",
                "name a file in it",
            ),
            (
                ErrorKind::FileTooLarge,
                "function-failed",
                "more than 8388608 bytes",
            ),
            (ErrorKind::InvalidData, "function-failed", "not UTF-8"),
            (ErrorKind::Other, "function-failed", "cannot read"),
        ] {
            let failure = failed("a\n`b", &folders, &kind.into());
            assert_eq!(failure.code(), code);
            assert!(failure.message().contains(words), "{failure}");
            assert!(failure.message().contains("`a??b`"), "{failure}");
        }
    }
}
