//! Where a function of a component stands in its source, for messages about it: the line of the Rust
//! function, else that of its declaration in WIT. Found by its words alone, so that nothing has to be
//! built or understood; what is not found is named without a line.

use std::fs;
use std::path::{Path, PathBuf};

/// Files of one ending that are looked through; a package with more is found in the first ones.
const FILES_MAX: usize = 500;
/// What these files may have in all; those beyond are not looked through.
const BYTES_MAX: usize = 64 << 20;
/// Largest file that is looked through.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Lines of one declaration.
const LINES_MAX: usize = 80;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// The source files of a folder, read once.
#[derive(Clone, Debug)]
pub struct SourceText {
    rust: Vec<(PathBuf, String)>,
    wit: Vec<(PathBuf, String)>,
}

impl SourceText {
    /// Reads the files of a source folder in which functions are declared. What cannot be read is
    /// passed over.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let (mut rust, mut wit) = (Vec::new(), Vec::new());
        collect(&folder.join("src"), "rs", 8, &mut rust);
        collect(folder, "wit", 0, &mut wit);
        collect(&folder.join("wit"), "wit", 0, &mut wit);
        Self {
            rust: texts(rust),
            wit: texts(wit),
        }
    }

    /// The declaration of a function, or of one of its parameters. Names may be written with `-` or
    /// `_`.
    #[must_use]
    pub fn find(&self, function: &str, parameter: Option<&str>) -> Option<Place> {
        let name = function.replace('-', "_");
        let mut rust = self.rust.iter();
        let in_rust = rust.find_map(|(file, text)| {
            in_text(file, text, |line| declares_in_rust(line, &name), parameter)
        });
        in_rust.or_else(|| {
            let name = function.replace('_', "-");
            let mut wit = self.wit.iter();
            wit.find_map(|(file, text)| {
                in_text(file, text, |line| declares_in_wit(line, &name), parameter)
            })
        })
    }
}

fn texts(files: Vec<PathBuf>) -> Vec<(PathBuf, String)> {
    let mut bytes_left = BYTES_MAX;
    let read = files.into_iter().filter_map(|file| {
        let text = fs::read_to_string(&file).ok()?;
        bytes_left = bytes_left.checked_sub(text.len())?;
        Some((file, text))
    });
    read.collect()
}

/// The files of this ending in a folder and so many levels below it, in the order of their names.
fn collect(folder: &Path, ending: &str, levels: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // Links lead elsewhere, and may lead in a circle.
        let Ok(kind) = path.symlink_metadata() else {
            continue;
        };
        if kind.is_dir() && levels > 0 {
            collect(&path, ending, levels - 1, found);
        } else if kind.is_file()
            && kind.len() <= FILE_BYTES_MAX
            && found.len() < FILES_MAX
            && path.extension().is_some_and(|own| own == ending)
        {
            found.push(path);
        }
    }
}

fn in_text(
    file: &Path,
    text: &str,
    declares: impl Fn(&str) -> bool,
    parameter: Option<&str>,
) -> Option<Place> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().position(|line| declares(line))?;
    let named = parameter.and_then(|name| {
        let declaration = lines[begin..].iter().take(LINES_MAX);
        let mut declaration = declaration.enumerate();
        let found = declaration.find(|(_, line)| names_parameter(line, name));
        found.map(|(offset, _)| begin + offset)
    });
    Some(Place {
        file: file.to_owned(),
        line: named.unwrap_or(begin) + 1,
    })
}

/// `pub fn name(`, with what may stand between the words.
fn declares_in_rust(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let Some((before, after)) = line.split_once("fn ") else {
        return false;
    };
    let after = after.strip_prefix("r#").unwrap_or(after);
    let rest = after.strip_prefix(name);
    before.starts_with("pub") && rest.is_some_and(|rest| rest.starts_with(['(', '<']))
}

/// `name: func(`, with what may stand before the name.
fn declares_in_wit(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let line = line.strip_prefix('%').unwrap_or(line);
    let rest = line.strip_prefix(name).map(str::trim_start);
    let ty = rest.and_then(|rest| rest.strip_prefix(':'));
    ty.is_some_and(|ty| {
        ty.trim_start()
            .trim_start_matches("async ")
            .starts_with("func")
    })
}

/// Whether a line declares a parameter: its name as a whole word, then a colon.
fn names_parameter(line: &str, name: &str) -> bool {
    let plain = |text: &str| text.replace('-', "_");
    let (line, name) = (plain(line), plain(name));
    if line.trim_start().starts_with("//") {
        return false;
    }
    line.match_indices(&name).any(|(at, _)| {
        let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let after = line[at + name.len()..].trim_start();
        !line[..at].ends_with(part_of_word) && after.starts_with(':') && !after.starts_with("::")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[track_caller]
    fn check(folder: &tempfile::TempDir, function: &str, parameter: Option<&str>, expected: &str) {
        let found = SourceText::read(folder.path()).find(function, parameter);
        let shown = found.map_or_else(String::new, |place| {
            let file = place.file.strip_prefix(folder.path()).unwrap();
            format!("{}:{}", file.display(), place.line)
        });
        assert_eq!(shown, expected, "{function} {parameter:?}");
    }

    #[test]
    fn functions_and_parameters_are_found_by_their_words() {
        let rust = "fn greet_all() {}\n\
                    /// Greets: name, and more.\n\
                    pub fn greet(\n    /// Whom: name: the one.\n    name: &str,\n    r#type: u8) {}\n\
                    pub async fn greet_all<T>(of: T) {}\n";
        let wit = "interface i {\n    /// greet-twice: func\n    greet-twice: func(a-b: u8) -> u8;\n\
                   \x20   %list: func();\n}\n";
        let both = folder(&[("src/lib.rs", rust), ("wit/world.wit", wit)]);
        for (function, parameter, expected) in [
            ("greet", None, "src/lib.rs:3"),
            ("greet", Some("name"), "src/lib.rs:5"),
            ("greet", Some("type"), "src/lib.rs:6"),
            ("greet", Some("other"), "src/lib.rs:3"),
            ("greet-all", None, "src/lib.rs:7"),
            ("greet-all", Some("of"), "src/lib.rs:7"),
            ("greet-twice", Some("a_b"), "wit/world.wit:3"),
            ("list", None, "wit/world.wit:4"),
            ("gree", None, ""),
        ] {
            check(&both, function, parameter, expected);
        }
        check(&folder(&[]), "greet", None, "");
    }
}
