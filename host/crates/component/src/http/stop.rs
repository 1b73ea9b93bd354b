//! Why a request gets no answer: what the guest is told, and what is noted for the person.

use openprogram_core::grant::{Access, GrantKind};
use wasmtime_wasi_http::Error;

/// Characters of a sentence that others wrote part of: a library, a certificate.
const FOREIGN_CHARS: usize = 300;

/// The end of a request.
pub(super) struct Stop {
    /// What the guest sees.
    pub(super) error: Error,
    /// What is noted; nothing for what the world did.
    pub(super) access: Option<Box<Access>>,
}

/// The sentence of a limit that was reached.
pub(super) struct Limit(pub(super) String);

impl Stop {
    /// An end that is noted.
    pub(super) fn noted(error: Error, access: Access) -> Self {
        Self {
            error,
            access: Some(Box::new(access)),
        }
    }

    /// A refusal that no grant of ours would turn.
    pub(super) fn refused(error: Error, what: &str, message: impl AsRef<str>) -> Self {
        let message = message.as_ref().chars().take(FOREIGN_CHARS);
        let message = message.collect::<String>();
        Self::noted(error, Access::refused(GrantKind::Http, what, message, None))
    }

    /// A limit that was reached.
    pub(super) fn limit(error: Error, what: &str, message: impl Into<String>) -> Self {
        let access = Access::refused(GrantKind::Http, what, message, None);
        Self::noted(error, access)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self {
            error,
            access: None,
        }
    }
}
