//! Why an app cannot do what a command asks of it.

use std::path::PathBuf;

use openprogram_component::{LinkError, LoadError};
use openprogram_core::catalog::{CatalogError, ResolveError};
use openprogram_core::failure::FailureCode;
use openprogram_providers::{OpenError, SetupError};
use openprogram_runtime::GrantError;

use super::NoSource;
use crate::settings::EditError;

/// Why what a command needs cannot be built from the settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// No component has this name.
    #[error("there is no component `{name}`{}", known_components(known))]
    UnknownComponent {
        /// The name.
        name: String,
        /// The components that there are.
        known: Vec<String>,
    },
    /// A component is refused.
    #[error("the component `{name}` cannot be loaded")]
    Load {
        /// Its name.
        name: String,
        /// Why.
        source: LoadError,
    },
    /// Nobody serves what a component imports from others.
    #[error("the component `{name}` cannot be linked")]
    Link {
        /// Its name.
        name: String,
        /// Why.
        source: Box<LinkError>,
    },
    /// Whoever serves what a component imports cannot be linked itself.
    #[error(
        "the component `{name}` cannot be linked: it imports `{interface}` from `{exporter}`, which \
         is left out itself"
    )]
    LinkedToLeftOut {
        /// Its name.
        name: String,
        /// The interface.
        interface: String,
        /// The component that exports it.
        exporter: String,
    },
    /// A component cannot stand beside the others.
    #[error("the component `{name}` cannot be added")]
    Add {
        /// Its name.
        name: String,
        /// Why.
        source: CatalogError,
    },
    /// A grant of the project file means nothing.
    #[error("a grant in the project file cannot be used")]
    Grant(#[source] GrantError),
    /// A call that is to be granted means no function.
    #[error("`{component}` cannot be granted a call")]
    Call {
        /// The component.
        component: String,
        /// Why.
        source: ResolveError,
    },
    /// The project file cannot be changed by the program.
    #[error("`{}` cannot be changed; write the grants there", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: EditError,
    },
    /// A grant that is to be taken away is not there.
    #[error(
        "`{component}` has no grant `{line}`; `openprogram grants {component}` lists what it has"
    )]
    NotGranted {
        /// The component.
        component: String,
        /// The grant, as an option.
        line: String,
    },
    /// An answer that is to be forgotten is not there.
    #[error(
        "`{component}` has no answer `{name}`; `openprogram grants {component}` lists what is kept"
    )]
    NoAnswer {
        /// The component.
        component: String,
        /// The name of the answer.
        name: String,
    },
    /// Nothing can be watched.
    #[error(transparent)]
    NoSource(NoSource),
    /// The model cannot be used.
    #[error(transparent)]
    Model(OpenError),
}

impl AppError {
    /// The code under which the error is known to programs.
    #[must_use]
    pub fn code(&self) -> FailureCode {
        match self {
            Self::UnknownComponent { .. }
            | Self::Call { .. }
            | Self::NotGranted { .. }
            | Self::NoAnswer { .. }
            | Self::LinkedToLeftOut { .. } => FailureCode::NotFound,
            Self::Link { source, .. } => match **source {
                LinkError::Nobody { .. } => FailureCode::NotFound,
                _ => FailureCode::InvalidArgument,
            },
            Self::Load { source, .. } => match source {
                LoadError::Imports { missing, .. } if missing.is_empty() => FailureCode::Denied,
                LoadError::Engine(_) => FailureCode::Internal,
                LoadError::CompileTime { .. } | LoadError::CompileBusy { .. } => {
                    FailureCode::LimitReached
                }
                _ => FailureCode::InvalidArgument,
            },
            Self::Add { .. }
            | Self::Grant(_)
            | Self::Edit { .. }
            | Self::NoSource(_)
            | Self::Model(OpenError::NotAName { .. }) => FailureCode::InvalidArgument,
            Self::Model(OpenError::Failed { source, .. })
                if matches!(source.downcast_ref(), Some(SetupError::Model { .. })) =>
            {
                FailureCode::InvalidArgument
            }
            Self::Model(_) => FailureCode::NoProvider,
        }
    }
}

fn known_components(known: &[String]) -> String {
    if known.is_empty() {
        return "; install one with `openprogram add`, or name one under `[components]` in \
                openprogram.toml"
            .to_owned();
    }
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("; the project has {}", known.join(", "))
}
