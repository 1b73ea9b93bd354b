//! Reads files that a person named, up to a limit.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

/// An input cannot be used; the sentence names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(String);

/// Reads text from a file, or from stdin when the path is `-`. More than `bytes_max` is refused.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> Result<String, InputError> {
    let bytes = read_named(path, bytes_max)?;
    let no_text = |_| InputError(format!("{} is not UTF-8 text", shown(path)));
    String::from_utf8(bytes).map_err(no_text)
}

/// Reads whatever a file holds, or stdin when the path is `-`. More than `bytes_max` is refused.
pub(crate) fn read_named(path: &Path, bytes_max: u64) -> Result<Vec<u8>, InputError> {
    let shown = shown(path);
    match is_stdin(path) {
        true => read_up_to(bytes_max, &shown, || Ok(io::stdin())),
        false => read_up_to(bytes_max, &shown, || File::open(path)),
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// A path as errors name it.
fn shown(path: &Path) -> String {
    match is_stdin(path) {
        true => "stdin".to_owned(),
        false => format!("`{}`", path.display()),
    }
}

impl InputError {
    /// What is wrong with the content of a file.
    pub(crate) fn of(path: &Path, problem: &impl Display) -> Self {
        Self(format!("{}: {problem}", shown(path)))
    }
}

/// Reads a text line by line from a file, or from stdin when the path is `-`. A line of more than
/// `bytes_max` is refused, and so is one that `take` refuses.
pub(crate) fn read_lines<E: Display>(
    path: &Path,
    bytes_max: u64,
    mut take: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), InputError> {
    let failed = |error: io::Error| InputError(format!("cannot read {}: {error}", shown(path)));
    let input: Box<dyn Read> = match is_stdin(path) {
        true => Box::new(io::stdin()),
        false => Box::new(open_found(path).map_err(failed)?),
    };
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let mut bounded = (&mut input).take(bytes_max + 1);
        if bounded.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        if line.len() as u64 > bytes_max {
            let problem = format!("line {number} is longer than {bytes_max} bytes");
            return Err(InputError::of(path, &problem));
        }
        let text = std::str::from_utf8(&line);
        let text = text.map_err(|_| format!("line {number} is not UTF-8 text"));
        let text = text.map_err(|problem| InputError::of(path, &problem))?;
        take(text.trim_end_matches(['\r', '\n']))
            .map_err(|problem| InputError::of(path, &problem))?;
    }
    Ok(())
}

/// Reads a file, whatever it holds. More than `bytes_max` is refused.
pub(crate) fn read_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, InputError> {
    read_up_to(bytes_max, &format!("`{}`", path.display()), || {
        File::open(path)
    })
}

fn read_up_to<R: Read>(
    bytes_max: u64,
    shown: &str,
    open: impl FnOnce() -> io::Result<R>,
) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    open()
        .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(|error| InputError(format!("cannot read {shown}: {error}")))?;
    if bytes.len() as u64 > bytes_max {
        return Err(InputError(format!(
            "{shown} is larger than {bytes_max} bytes"
        )));
    }
    Ok(bytes)
}

/// Opens a file that is found by its name alone. A pipe or a device of that name is refused: nobody
/// meant it, and to open it may wait for ever.
///
/// # Errors
/// As [`File::open`], and when it is neither a file nor a folder.
pub(crate) fn open_found(path: &Path) -> io::Result<File> {
    let metadata = path.metadata()?;
    if metadata.is_file() || metadata.is_dir() {
        return File::open(path);
    }
    Err(io::Error::other(
        "it is neither a file nor a folder; remove it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let shown = path.display();
        for (bytes, bytes_max, expected) in [
            (&b"text"[..], 4, Ok("text".to_owned())),
            (b"text", 3, Err(format!("`{shown}` is larger than 3 bytes"))),
            (b"\xff", 4, Err(format!("`{shown}` is not UTF-8 text"))),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(
                read_text(&path, bytes_max).map_err(|error| error.0),
                expected
            );
        }
        std::fs::remove_file(&path).unwrap();
        let error = read_text(&path, 4).unwrap_err().0;
        assert!(
            error.starts_with(&format!("cannot read `{shown}`: ")),
            "{error}"
        );
    }
}
