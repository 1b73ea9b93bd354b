//! Writing whole texts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};

use openprogram_guest::Failure;

use crate::files::{IfExists, Outcome, Written};
use crate::place::{checked, failed, failure};
use crate::replace::replace;
use crate::text::grouped;

/// Writes a text to a file.
///
/// # Errors
/// Where it is there already and that is not wanted, or cannot be written.
pub(crate) fn write_file(path: &str, text: &str, if_exists: IfExists) -> Result<Written, Failure> {
    let path = checked(path)?;
    let error = |error: io::Error| failed("write", &path, &error);
    if let Some((folder, _)) = path.rsplit_once('/') {
        make_folders(folder)?;
    }
    let outcome = match create(&path, text) {
        Ok(()) => Outcome::Created,
        Err(found) if found.kind() == io::ErrorKind::AlreadyExists => {
            let known = fs::metadata(&path).map_err(error)?;
            if known.is_dir() {
                return Err(error(io::ErrorKind::IsADirectory.into()));
            }
            match if_exists {
                IfExists::Refuse => {
                    return Err(failure(format!(
                        "`{path}` is there already ({} bytes) and was left as it is; set \
                         `if_exists` to `replace` or `append`, or change a part of it with \
                         `edit_file`",
                        grouped(known.len())
                    )));
                }
                IfExists::Replace => {
                    let mut start = Vec::new();
                    let file = File::open(&path).map_err(error)?;
                    file.take(2).read_to_end(&mut start).map_err(error)?;
                    replace(&path, text.as_bytes(), &start).map_err(error)?;
                    Outcome::Replaced
                }
                IfExists::Append => {
                    let file = OpenOptions::new().append(true).open(&path);
                    file.and_then(|mut file| file.write_all(text.as_bytes()))
                        .map_err(error)?;
                    Outcome::Appended
                }
            }
        }
        Err(found) => return Err(error(found)),
    };
    let bytes = fs::metadata(&path).map_err(error)?.len();
    Ok(Written {
        path,
        outcome,
        bytes,
    })
}

/// Makes a file that is not there. One that could not be written whole is taken away again.
fn create(path: &str, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // The failure to write is the one to tell.
        let _ = fs::remove_file(path);
    }
    written
}

fn make_folders(folder: &str) -> Result<(), Failure> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder).map_err(|error| failed("make the folder", folder, &error))
        }
        Err(error) => Err(failed("write below", folder, &error)),
        // A file in the place of a folder is told by what is done below it.
        Ok(_) => Ok(()),
    }
}
