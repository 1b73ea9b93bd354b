//! The state folder, its cache and its sessions.

use std::path::Path;

use openprogram_core::session::Session;

use super::{Check, sentence};
use crate::app::App;
use crate::state::{StateError, StateFacts, StateFolder};

const FOLDER: &str = "state folder";
const CACHE: &str = "cache";
const SESSIONS: &str = "sessions";

pub(super) async fn checks(app: &App) -> Vec<Check> {
    let path = &app.settings().state_folder;
    let facts = match StateFolder::look(path) {
        Ok(facts) => facts,
        Err(error) => return vec![refused(&error)],
    };
    if !facts.exists {
        let message = format!("`{}` is made by the first run", path.display());
        return vec![Check::ok(FOLDER, message)];
    }
    vec![
        Check::ok(FOLDER, format!("`{}` is yours alone", path.display())),
        cache(&facts),
        sessions(app, path).await,
    ]
}

fn refused(error: &StateError) -> Check {
    let mend = match error {
        StateError::Link { .. } => {
            "remove the link, or let OPENPROGRAM_HOME name the folder itself".to_owned()
        }
        StateError::LinkInside { .. } => "remove the link".to_owned(),
        StateError::NotOurs { .. } => {
            "let OPENPROGRAM_HOME name a new folder, or move it away".to_owned()
        }
        StateError::NotPrivate { path } => format!(
            "run `chmod 700 '{}'` when what is in it is yours, else let OPENPROGRAM_HOME name a \
             new folder",
            path.display()
        ),
        StateError::Io { .. } => {
            "make it a folder that you can write, or let OPENPROGRAM_HOME name another one"
                .to_owned()
        }
    };
    let message = match error {
        StateError::Link { path } | StateError::LinkInside { path } => {
            format!("`{}` is a link", path.display())
        }
        StateError::NotOurs { path } => {
            format!("`{}` was not made by openprogram", path.display())
        }
        StateError::NotPrivate { path } => format!("`{}` is open to other users", path.display()),
        StateError::Io { .. } => sentence(error),
    };
    Check::failed(FOLDER, message, mend)
}

fn cache(facts: &StateFacts) -> Check {
    let images = match facts.n_images {
        1 => "1 compiled component".to_owned(),
        n => format!("{n} compiled components"),
    };
    let size = format!("{images}, {} in all", bytes(facts.cache_bytes));
    if let Some(folder) = &facts.open_to_others {
        let folder = folder.display();
        return Check::failed(
            CACHE,
            format!(
                "`{folder}` can be written by other users, so no compiled code is taken from it"
            ),
            format!("remove `{folder}`; it is made again"),
        );
    }
    if !facts.is_believed {
        return Check::warning(
            CACHE,
            format!("{size}; it was made in another place and is not believed"),
            "nothing needs to be done: the next run clears it and compiles again",
        );
    }
    Check::ok(CACHE, size)
}

async fn sessions(app: &App, path: &Path) -> Check {
    let file = StateFolder::at(path).sessions_file();
    match newest_session(app).await {
        Ok(None) => Check::ok(SESSIONS, "none are recorded yet"),
        Ok(Some(_)) => {
            let size = std::fs::metadata(&file).map_or(0, |found| found.len());
            Check::ok(SESSIONS, format!("`{}`, {}", file.display(), bytes(size)))
        }
        Err(error) => Check::failed(
            SESSIONS,
            sentence(&*error),
            format!(
                "move `{}` to a safe place; the next run makes a new one",
                file.display()
            ),
        ),
    }
}

/// Reads a little of what is recorded, so that a damaged database is seen.
async fn newest_session(app: &App) -> anyhow::Result<Option<Vec<Session>>> {
    match app.recorded_sessions()? {
        Some(store) => Ok(Some(store.sessions(1).await?)),
        None => Ok(None),
    }
}

/// A size as people read it.
fn bytes(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        _ => format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn a_size_has_a_unit_that_fits() {
        for (size, shown) in [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1 KiB"),
            (1_572_864, "1.5 MiB"),
            (u64::MAX, "17592186044415.9 MiB"),
        ] {
            assert_eq!(bytes(size), shown);
        }
    }

    #[test]
    fn a_cache_that_others_can_write_fails_and_a_copied_one_does_not() {
        let facts = StateFacts {
            exists: true,
            is_believed: true,
            n_images: 1,
            cache_bytes: 2_048,
            ..StateFacts::default()
        };
        let told = cache(&facts);
        let message = "1 compiled component, 2 KiB in all";
        assert_eq!((told.status, told.message.as_str()), (Status::Ok, message));
        let copied = StateFacts {
            is_believed: false,
            ..facts.clone()
        };
        assert_eq!(cache(&copied).status, Status::Warning);
        let open = StateFacts {
            open_to_others: Some("/s/cache".into()),
            ..facts
        };
        assert_eq!(cache(&open).status, Status::Failed);
    }
}
