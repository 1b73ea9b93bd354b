//! What a run is made with, and what of the project it has to do without.

use std::io::Write;

use openprogram_component::Engine;
use openprogram_core::catalog::ResolveError;
use openprogram_core::function::FunctionRef;
use openprogram_runtime::Runtime;

/// A runtime with its components, and the engine that runs them.
pub struct Prepared {
    /// The runtime.
    pub runtime: Runtime,
    /// The components of the project that are not among them, in the order of their names, and why.
    /// One that cannot be used is in the way of those alone that need it.
    pub(super) left_out: Vec<(String, anyhow::Error)>,
    pub(super) engine: Engine,
    /// The component whose functions are looked for first: the file that the run is of.
    pub(super) first: Option<String>,
}

impl Prepared {
    /// Finds the function that a person means.
    ///
    /// # Errors
    /// When no function or more than one answers to the name.
    pub fn resolve(&self, name: &str) -> Result<FunctionRef, ResolveError> {
        self.runtime.catalog().resolve(name, self.first.as_deref())
    }

    /// The error of a run for which `missing` was looked for in vain, under the name `wanted`: why a
    /// component was left out, where one was, since what is missing may be of that one. Says the
    /// reasons of the others.
    pub fn not_found(
        &mut self,
        wanted: &str,
        missing: anyhow::Error,
        words: &mut dyn Write,
    ) -> anyhow::Error {
        let of_wanted = |(name, _): &(String, _)| {
            let rest = wanted.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let place = self.left_out.iter().position(of_wanted).unwrap_or(0);
        if self.left_out.is_empty() {
            return missing;
        }
        let (_, error) = self.left_out.remove(place);
        self.say_left_out(words);
        error
    }

    /// Says which components of the project are left out, and why.
    pub fn say_left_out(&self, words: &mut dyn Write) {
        for (_, error) in &self.left_out {
            // Words that cannot be written are no reason to fail.
            let _ = writeln!(words, "warning: left out: {error:#}");
        }
    }

    /// What a person should know about the engine once it has run something.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        self.engine.notice()
    }
}
