//! Folders and variables that a guest may be granted: each without, with, and narrower, and every
//! way out of a folder that is known.

mod grants;
mod kept;
mod limits;
#[cfg(unix)]
mod swaps;
mod ways_out;

use std::fs;
use std::path::Path;

use openprogram_tests::web::{Called, WebHost};
use serde_json::json;

/// A project with the folders that these tests grant.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let project = tempfile::tempdir().unwrap();
        for folder in ["data/deep", "out", "beside", ".openprogram"] {
            fs::create_dir_all(project.path().join(folder)).unwrap();
        }
        for (file, text) in [
            ("data/file", "data"),
            ("data/deep/file", "deep"),
            ("out/file", "out"),
            ("beside/secret", "secret"),
            ("openprogram.toml", "grants"),
            ("openprogram.lock", "digests"),
            (".openprogram/sessions.db", "sessions"),
        ] {
            fs::write(project.path().join(file), text).unwrap();
        }
        Self(project)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap_or_else(|_| "gone".to_owned())
    }

    /// The guest with these folders.
    fn host(&self, grants: &[&str]) -> WebHost {
        let place = |name: &str| self.path().join(name);
        let host = WebHost::of("file-reach")
            .protected(&place("openprogram.toml"))
            .protected(&place("openprogram.lock"))
            .protected(&place(".openprogram"));
        let grant = |host: WebHost, line: &&str| host.dir(line, self.path());
        grants.iter().fold(host, grant)
    }
}

/// Does one thing to a path and gives how it ended.
async fn act(host: &WebHost, what: &str, folder: &str, path: &str) -> Called {
    let arguments = json!({"what": what, "folder": folder, "path": path});
    host.call("act", arguments).await
}
