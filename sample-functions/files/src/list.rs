//! Listing: the entries of a folder, or the granted folders themselves.

use std::ops::ControlFlow;

use openprogram_guest::Failure;

use crate::files::{Entry, Kind, Listing};
use crate::glob::Glob;
use crate::place::{checked, folders, normal};
use crate::walk::{DEPTH_MAX, Visited, Walk, Walked, left_out};

/// The most entries of one list. About as many bytes as models take of an answer.
const ENTRIES_MAX: u32 = 500;
/// The most bytes of all paths of a list.
const PATHS_BYTES_MAX: usize = 16_000;

/// What is to be listed.
pub(crate) struct Wanted {
    pub(crate) path: Option<String>,
    pub(crate) glob: Option<String>,
    pub(crate) depth: Option<u32>,
    pub(crate) hidden: bool,
    pub(crate) limit: u32,
    pub(crate) after: Option<String>,
}

/// Lists.
///
/// # Errors
/// Where the folder cannot be read, or the glob is none.
pub(crate) fn list_files(wanted: &Wanted) -> Result<Listing, Failure> {
    let glob = wanted.glob.as_deref().map(Glob::read).transpose()?;
    let after = wanted.after.as_deref().map(normal);
    let limit = wanted.limit.clamp(1, ENTRIES_MAX) as usize;
    let default = if glob.is_some() { DEPTH_MAX } else { 1 };
    let walk = Walk {
        depth: wanted.depth.unwrap_or(default).clamp(1, DEPTH_MAX),
        hidden: wanted.hidden,
        glob: glob.as_ref(),
        after: after.as_deref(),
    };
    let roots = match &wanted.path {
        Some(path) => vec![checked(path)?],
        // Nothing says what to look for, so the folders themselves are the answer.
        None if glob.is_none() && wanted.depth.is_none() => return granted(),
        None => folders()?.into_iter().map(|folder| folder.name).collect(),
    };
    let (mut entries, mut walked) = (Vec::new(), Walked::default());
    let (mut n_bytes, mut is_full) = (0, false);
    for root in roots {
        let mut take = |visited: &Visited<'_>| {
            n_bytes += visited.path.len();
            is_full = entries.len() == limit || n_bytes > PATHS_BYTES_MAX;
            if is_full {
                return ControlFlow::Break(());
            }
            entries.push(entry(visited));
            ControlFlow::Continue(())
        };
        if walk.over(&root, &mut walked, &mut take)?.is_break() {
            break;
        }
    }
    let mut said = left_out(&walked);
    if is_full && let Some(last) = entries.last() {
        said.insert(
            0,
            format!(
                "{} entries are shown and there are more: go on with `after` set to `{}`, or set \
                 `glob`",
                entries.len(),
                last.path
            ),
        );
    }
    Ok(Listing {
        entries,
        more: (!said.is_empty()).then(|| said.join("; ")),
    })
}

/// The granted folders as entries.
fn granted() -> Result<Listing, Failure> {
    let entry = |path: String| Entry {
        path,
        kind: Kind::Folder,
        bytes: None,
    };
    let entries = folders()?.into_iter().map(|folder| entry(folder.name));
    Ok(Listing {
        entries: entries.collect(),
        more: None,
    })
}

fn entry(visited: &Visited<'_>) -> Entry {
    let bytes = match visited.kind {
        Kind::File => visited.entry.metadata().ok().map(|known| known.len()),
        _ => None,
    };
    Entry {
        path: visited.path.to_owned(),
        kind: visited.kind,
        bytes,
    }
}
