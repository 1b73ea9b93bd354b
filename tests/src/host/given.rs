//! What a host of tests is given besides its guests and its model.

use std::path::Path;
use std::sync::Arc;

use openprogram_core::grant::{FolderGrant, Grant};
use openprogram_core::llm::Provider;
use openprogram_runtime::RuntimeSettings;

use super::TestHost;

impl TestHost {
    /// Puts models of their own behind `exec_runtime` and `review_runtime`.
    #[must_use]
    pub fn exec_and_review(mut self, exec: Arc<dyn Provider>, review: Arc<dyn Provider>) -> Self {
        self.others = [Some(exec), Some(review)];
        self
    }

    /// Sets what holds where no function says otherwise.
    #[must_use]
    pub fn settings(mut self, settings: RuntimeSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Grants a guest a folder by a line, in this project folder.
    ///
    /// # Panics
    /// When the line is no grant.
    #[must_use]
    pub fn folder(mut self, guest: &str, line: &str, project: &Path) -> Self {
        let grant: Grant<FolderGrant> = line.parse().expect("a grant");
        let path = project.join(&grant.what.path);
        let permissions = self.permissions.entry(guest.to_owned()).or_default();
        project.clone_into(&mut permissions.project);
        permissions.folders.push((grant, path));
        self
    }
}
