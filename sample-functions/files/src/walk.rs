//! A walk over a folder: sorted, bounded, and along no link.

use std::cmp::Ordering;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::ops::ControlFlow;

use openprogram_guest::Failure;

use crate::files::Kind;
use crate::glob::Glob;
use crate::place::failed;

/// The most levels that a walk goes down.
pub(crate) const DEPTH_MAX: u32 = 32;
/// The most entries that a walk looks at: a large source tree, and what takes about a second.
const ENTRIES_MAX: usize = 100_000;

/// Where a walk goes.
pub(crate) struct Walk<'a> {
    /// How many levels down; 1 is the folder alone.
    pub(crate) depth: u32,
    /// Whether names that begin with a dot count.
    pub(crate) hidden: bool,
    /// Which entries are visited; folders are entered either way.
    pub(crate) glob: Option<&'a Glob>,
    /// The path up to which everything was seen before.
    pub(crate) after: Option<&'a str>,
}

/// An entry on the way.
pub(crate) struct Visited<'a> {
    pub(crate) path: &'a str,
    pub(crate) kind: Kind,
    pub(crate) entry: &'a DirEntry,
}

/// How a walk ended.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The entries that were looked at.
    pub(crate) n_entries: usize,
    /// The folders that could not be read.
    pub(crate) n_refused: usize,
    /// Whether it ended at its bound.
    pub(crate) is_cut: bool,
}

impl Walk<'_> {
    /// Visits what lies below a folder, what a folder holds right after it.
    ///
    /// # Errors
    /// Where the folder itself cannot be read.
    pub(crate) fn over(
        &self,
        root: &str,
        walked: &mut Walked,
        visit: &mut impl FnMut(&Visited<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Failure> {
        let entries = sorted(root).map_err(|error| failed("list", root, &error))?;
        let mut levels = vec![(root.to_owned(), entries)];
        while let Some((folder, entries)) = levels.last_mut() {
            let Some((name, entry)) = entries.pop() else {
                levels.pop();
                continue;
            };
            if !self.hidden && name.starts_with('.') {
                continue;
            }
            if walked.n_entries == ENTRIES_MAX {
                walked.is_cut = true;
                return Ok(ControlFlow::Break(()));
            }
            walked.n_entries += 1;
            let path = joined(folder, &name);
            let kind = entry.file_type().map_or(Kind::Other, kind);
            let is_wanted = self.is_after(&path) && self.means(root, &path);
            if is_wanted {
                let visited = Visited {
                    path: &path,
                    kind,
                    entry: &entry,
                };
                if visit(&visited).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            let is_entered = kind == Kind::Folder && (levels.len() as u32) < self.depth;
            if is_entered && self.may_hold_more(&path) {
                match sorted(&path) {
                    Ok(entries) => levels.push((path, entries)),
                    Err(_) => walked.n_refused += 1,
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn means(&self, root: &str, path: &str) -> bool {
        let below = path.strip_prefix(root).unwrap_or(path);
        let below = below.strip_prefix('/').unwrap_or(below);
        self.glob.is_none_or(|glob| glob.means(below))
    }

    fn is_after(&self, path: &str) -> bool {
        self.after
            .is_none_or(|after| order(path, after) == Ordering::Greater)
    }

    /// Whether anything below a folder comes after what was seen.
    fn may_hold_more(&self, folder: &str) -> bool {
        let holds = |after: &str| {
            let rest = after.strip_prefix(folder);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.is_after(folder)
            || self
                .after
                .is_some_and(|after| after == folder || holds(after))
    }
}

/// The order in which a walk visits paths.
fn order(a: &str, b: &str) -> Ordering {
    a.split('/').cmp(b.split('/'))
}

/// A path in a folder; `.` is the beginning of all paths.
pub(crate) fn joined(folder: &str, name: &str) -> String {
    if folder == "." {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// What a folder holds, the last one first.
fn sorted(folder: &str) -> io::Result<Vec<(String, DirEntry)>> {
    let named = |entry: io::Result<DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry))
    };
    let mut entries = fs::read_dir(folder)?
        .map(named)
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort_by(|a, b| b.0.cmp(&a.0));
    Ok(entries)
}

fn kind(kind: FileType) -> Kind {
    if kind.is_symlink() {
        Kind::Link
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}

/// What a walk says about what it left out.
pub(crate) fn left_out(walked: &Walked) -> Vec<String> {
    let mut said = Vec::new();
    if walked.is_cut {
        said.push(format!(
            "looked at the first {} entries alone; name a folder below for the others",
            crate::text::grouped(ENTRIES_MAX as u64)
        ));
    }
    match walked.n_refused {
        0 => {}
        1 => said.push("1 folder could not be read".to_owned()),
        n => said.push(format!("{n} folders could not be read")),
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(after: &str) -> Walk<'_> {
        Walk {
            depth: 9,
            hidden: false,
            glob: None,
            after: Some(after),
        }
    }

    #[test]
    fn what_was_seen_is_passed_over_in_the_order_of_the_walk() {
        // `a-b` sorts before `a/b` as a text, and after it on the walk.
        for (after, path, expected) in [
            ("w/a/b", "w/a-b", true),
            ("w/a/b", "w/a", false),
            ("w/a/b", "w/a/b", false),
            ("w/a/b", "w/a/b/c", true),
            ("w/a/b", "w/a/a", false),
        ] {
            assert_eq!(walk(after).is_after(path), expected, "{after} {path}");
        }
        for (after, folder, expected) in [
            ("w/a/b", "w/a", true),
            ("w/a/b", "w/a/b", true),
            ("w/a/b", "w/a/a", false),
            ("w/ab", "w/a", false),
            ("w/a", "w/b", true),
        ] {
            assert_eq!(
                walk(after).may_hold_more(folder),
                expected,
                "{after} {folder}"
            );
        }
    }

    #[test]
    fn names_are_joined_to_folders() {
        assert_eq!(joined("w/a", "b"), "w/a/b");
        assert_eq!(joined(".", "b"), "b");
    }
}
