//! What a host of tests is given besides its guests and its model.

use std::path::Path;
use std::sync::Arc;

use openprogram_component::{LoadedComponent, Permissions};
use openprogram_core::grant::{FolderGrant, Grant};
use openprogram_core::llm::Provider;
use openprogram_core::tool_filter::ToolSets;
use openprogram_runtime::RuntimeSettings;

use super::TestHost;

/// What a component may touch, with who of these serves its imports.
pub(super) fn linked(
    component: &LoadedComponent,
    given: Option<&Permissions>,
    all: &[LoadedComponent],
) -> Permissions {
    let name = component.name().to_owned();
    let links = component.link(all.iter());
    Permissions {
        links: Arc::new(links.unwrap_or_else(|error| panic!("guest `{name}`: {error}"))),
        component: name,
        ..given.cloned().unwrap_or_default()
    }
}

impl TestHost {
    /// Declares sets of tools, and what is no tool in turns from somewhere.
    #[must_use]
    pub fn tool_sets(mut self, sets: ToolSets) -> Self {
        self.tool_sets = sets;
        self
    }

    /// Admits so many calls at the top at once.
    #[must_use]
    pub fn calls_at_once(mut self, calls: u32) -> Self {
        self.admission.calls = calls;
        self
    }

    /// Admits so many model requests at once.
    #[must_use]
    pub fn requests_at_once(mut self, requests: u32) -> Self {
        self.admission.requests = requests;
        self
    }

    /// Adds a component that the build script has compiled, whose instances may live on.
    #[must_use]
    pub fn stateful(mut self, name: &str) -> Self {
        self.stateful.push(name.to_owned());
        self.guest(name)
    }

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
