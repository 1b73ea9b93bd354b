//! `openprogram run --watch`: runs again whenever a source changes.
//!
//! Sources are looked at several times a second; what matters of a file is its time and its length.
//! A change counts once nothing has changed for a moment, since editors write a file in steps.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::sleep;

use super::console::Console;
use super::exit::{ErrorForm, Usage};
use super::stop::Signals;
use super::{end_badly, run};
use crate::app::App;
use crate::text::one_line;

/// How often the sources are looked at, and how long nothing may change before a change counts.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Most files that are watched; a folder with more is no source of a component.
const FILES_MAX: usize = 20_000;
/// How many files that changed are named.
const NAMED_MAX: usize = 5;
/// The folder that builds write to, and the file that they write beside the source. To run again
/// after them would be to run again after every build.
const TARGET: &str = "target";
const CARGO_LOCK: &str = "Cargo.lock";

/// The files of the sources, each with what tells that it changed.
type Seen = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Runs the function now and after every change, until the person ends it.
pub(super) async fn run(args: &run::Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let sources = app.sources(args.component.as_deref(), &args.function, console.words());
    let sources = sources.await?;
    let form = args.json.then_some(ErrorForm::RunLine);
    let mut signals = Signals::listen();
    let mut seen = look(&sources)?;
    loop {
        let stop = Notify::new();
        let mut changed = None;
        let ended = {
            let once = run::once(args.clone(), app, console, stop.notified());
            let mut once = std::pin::pin!(once);
            loop {
                tokio::select! {
                    biased;
                    ended = &mut once => break ended,
                    _ = signals.next() => {
                        stop.notify_one();
                        return once.await;
                    }
                    files = change(&sources, &mut seen), if changed.is_none() => {
                        changed = Some(files?);
                        stop.notify_one();
                    }
                }
            }
        };
        if let Err(error) = ended {
            // What failed may be mended by the next change.
            end_badly(&error, form, console);
        }
        let files = match changed {
            Some(files) => files,
            None => {
                console.say("waiting for a change; Ctrl-C ends");
                tokio::select! {
                    _ = signals.next() => return Ok(()),
                    files = change(&sources, &mut seen) => files?,
                }
            }
        };
        for line in told(&files, &app.settings().current_folder) {
            console.say(&line);
        }
    }
}

/// Waits for a change that is over, and gives the files that changed.
async fn change(sources: &[PathBuf], seen: &mut Seen) -> anyhow::Result<Vec<PathBuf>> {
    let mut before = seen.clone();
    loop {
        sleep(LOOK_EVERY).await;
        let now = look(sources)?;
        let is_quiet = now == before;
        if is_quiet && now != *seen {
            let files = differing(seen, &now);
            *seen = now;
            return Ok(files);
        }
        before = now;
    }
}

/// The files of which one look has something else than the other.
fn differing(before: &Seen, after: &Seen) -> Vec<PathBuf> {
    let mut files: Vec<_> = before
        .iter()
        .filter(|(file, was)| after.get(*file) != Some(was))
        .chain(after.iter().filter(|(file, _)| !before.contains_key(*file)))
        .map(|(file, _)| file.clone())
        .collect();
    files.sort();
    files
}

/// What is said of a change.
fn told(files: &[PathBuf], folder: &Path) -> Vec<String> {
    let named = files.iter().take(NAMED_MAX).map(|file| {
        let short = file.strip_prefix(folder).unwrap_or(file);
        format!("changed: {}", one_line(&short.display().to_string(), 500))
    });
    let mut lines: Vec<_> = named.collect();
    let n_more = files.len().saturating_sub(NAMED_MAX);
    if n_more > 0 {
        lines.push(format!("and {n_more} more files"));
    }
    lines
}

/// Looks at all files of the sources.
///
/// # Errors
/// When there are too many. What cannot be read, or is gone for a moment, is not there.
fn look(sources: &[PathBuf]) -> Result<Seen, Usage> {
    let mut seen = Seen::new();
    let mut folders = Vec::new();
    for source in sources {
        match source.is_dir() {
            true => folders.push(source.clone()),
            false => note(&mut seen, source.clone()),
        }
    }
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder).unwrap_or_default() {
            let (path, kind) = entry;
            if kind.is_dir() && is_source(&path) {
                folders.push(path);
            } else if kind.is_file() && path.file_name().is_none_or(|name| name != CARGO_LOCK) {
                note(&mut seen, path);
            }
            if seen.len() > FILES_MAX {
                return Err(Usage(format!(
                    "`{}` holds more than {FILES_MAX} files, which is no source of a component",
                    folder.display()
                )));
            }
        }
    }
    Ok(seen)
}

/// What stands in a folder. Links are neither files nor folders here.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, std::fs::FileType)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        found.push((entry.path(), entry.file_type()?));
    }
    Ok(found)
}

/// Whether a folder inside a source is one that people write to.
fn is_source(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name != TARGET && !name.starts_with('.'))
}

fn note(seen: &mut Seen, file: PathBuf) {
    if let Ok(facts) = file.metadata() {
        seen.insert(file, (facts.modified().ok(), facts.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_look_tells_what_changed_in_what_people_write() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for path in [
            "Cargo.toml",
            "Cargo.lock",
            "src/lib.rs",
            "src/deep/a.rs",
            "target/b",
            ".git/c",
        ] {
            write(path, "1");
        }
        let sources = [folder.path().to_owned()];
        let before = look(&sources).unwrap();
        assert_eq!(before.len(), 3, "{before:?}");
        write("src/lib.rs", "longer");
        write("src/new.rs", "");
        write("target/b", "longer");
        fs::remove_file(folder.path().join("src/deep/a.rs")).unwrap();
        let after = look(&sources).unwrap();
        let changed = differing(&before, &after);
        let lines = told(&changed, folder.path());
        let expected = ["src/deep/a.rs", "src/lib.rs", "src/new.rs"];
        assert_eq!(lines, expected.map(|file| format!("changed: {file}")));
        assert_eq!(differing(&after, &after), Vec::<PathBuf>::new());
    }

    #[test]
    fn many_changes_are_counted_and_a_source_that_is_gone_is_no_trouble() {
        let files: Vec<_> = (0..7).map(|n| PathBuf::from(format!("/s/f{n}"))).collect();
        let lines = told(&files, Path::new("/s"));
        assert_eq!(lines.len(), 6);
        assert_eq!(
            (&*lines[0], &*lines[5]),
            ("changed: f0", "and 2 more files")
        );
        assert_eq!(
            look(&[PathBuf::from("/no/such/file.wasm")]).unwrap(),
            Seen::new()
        );
    }
}
