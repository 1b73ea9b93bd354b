//! Putting other bytes in the place of a file, so that a stop in the midst of it leaves the old or
//! the new file and no half of one.
//!
//! That is a new file that takes the name of the old one. It would lose what a name cannot carry:
//! other names of the same file, what a link leads to, and the right to be run, which no function of
//! the sandbox can give. Such files are written over where they are.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};

use wasip2::filesystem::types::DescriptorType;
use wasip2::random::random::get_random_u64;

use crate::place::stat;

/// How scripts begin, which are run by their name.
const SCRIPT: &[u8] = b"#!";

/// Puts these bytes in the place of a file that is there.
///
/// # Errors
/// As the file system fails; the old file is still there unless it is one that is written over.
pub(crate) fn replace(path: &str, bytes: &[u8], old_start: &[u8]) -> io::Result<()> {
    let is_plain = stat(path)
        .is_some_and(|known| known.type_ == DescriptorType::RegularFile && known.link_count <= 1);
    if !is_plain || old_start.starts_with(SCRIPT) || bytes.starts_with(SCRIPT) {
        return write_over(path, bytes);
    }
    let other = beside(path, get_random_u64());
    let made = OpenOptions::new().write(true).create_new(true).open(&other);
    let ended = made
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&other, path));
    if ended.is_err() {
        // What is left behind says nothing to anyone; that it could not be removed neither.
        let _ = fs::remove_file(&other);
    }
    ended
}

/// Writes over a file where it is. Its length changes last, so that a write that fails leaves as
/// much as possible.
fn write_over(path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// A hidden name beside a file.
fn beside(path: &str, number: u64) -> String {
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), path),
    };
    // Names have at most 255 bytes.
    let name = crate::text::head(name, 200);
    format!("{folder}.{name}.{number:016x}.new")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_file_lies_beside_the_old_one() {
        assert_eq!(beside("w/a/b.md", 7), "w/a/.b.md.0000000000000007.new");
        assert_eq!(beside("b.md", 7), ".b.md.0000000000000007.new");
        let long = beside(&format!("w/{}", "ä".repeat(127)), 7);
        assert!(long.len() - "w/".len() <= 255, "{}", long.len());
    }
}
