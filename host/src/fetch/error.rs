//! Why something cannot be fetched.

use openprogram_core::failure::FailureCode;
use url::Url;

/// Why something cannot be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Components do not come by this scheme.
    #[error(
        "`{source_text}` cannot be fetched: components come by `https` and `oci`, not by \
         `{scheme}`; download it, and add the `.wasm` file"
    )]
    Scheme {
        /// The source as it was given.
        source_text: String,
        /// Its scheme.
        scheme: String,
    },
    /// The URL cannot be used.
    #[error("`{source_text}` cannot be fetched: {message}")]
    Url {
        /// The source as it was given, without a password.
        source_text: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// The client cannot be set up.
    #[error("nothing can be fetched: {0}")]
    Setup(String),
    /// The file of logins cannot be used.
    #[error("`{path}` cannot be used for logins: {message}")]
    Logins {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The server cannot be reached, or broke off.
    #[error("`{url}` cannot be fetched: {message}")]
    Unreachable {
        /// Where.
        url: String,
        /// What went wrong, without values of headers.
        message: String,
    },
    /// The server took too long.
    #[error(
        "`{url}` cannot be fetched: the server {what} for more than {limit_ms} ms (`{which}`); try \
         again later, or download it another way and add the file"
    )]
    TooSlow {
        /// Where.
        url: String,
        /// `was silent` or `sent`.
        what: &'static str,
        /// The name of the limit.
        which: &'static str,
        /// The limit.
        limit_ms: u128,
    },
    /// The server said no.
    #[error(
        "`{url}` cannot be fetched: the server answered {status}{said}{}",
        told(trail)
    )]
    Status {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// What the server said with it, after `: `, or nothing.
        said: String,
        /// The URLs that led there.
        trail: Vec<Url>,
    },
    /// The server sent us elsewhere, where we do not go.
    #[error("`{url}` cannot be fetched: {message}{}", told(trail))]
    Redirect {
        /// Where it began.
        url: String,
        /// Why not.
        message: String,
        /// The URLs that led there.
        trail: Vec<Url>,
    },
    /// There is more than is taken.
    #[error("`{url}` cannot be fetched: {what} has more than {max} bytes (`fetch_bytes`)")]
    TooLarge {
        /// Where.
        url: String,
        /// What is too large.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// The reference is none.
    #[error("`{source_text}` cannot be fetched: {message}")]
    Reference {
        /// The source as it was given.
        source_text: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// The registry refuses us.
    #[error("`{reference}` cannot be fetched: {message}")]
    NoAccess {
        /// What was asked for.
        reference: String,
        /// Why, and what to do.
        message: String,
    },
    /// The registry has something else than a component there.
    #[error("`{reference}` is no component: {message}")]
    NotAComponent {
        /// What was asked for.
        reference: String,
        /// What it is.
        message: String,
    },
    /// The registry sent other bytes than it named.
    #[error(
        "wrong digest: `{reference}` has {what} `{expected}`, and the registry sent `{found}`; \
         nothing of it is used"
    )]
    Digest {
        /// What was asked for.
        reference: String,
        /// `a manifest` or `the component`.
        what: &'static str,
        /// The digest that was asked for.
        expected: String,
        /// That of what came.
        found: String,
    },
    /// The artifact that is installed is gone, and its tag stands for another one.
    #[error(
        "the registry no longer has the manifest `{locked}` of `{reference}`, and the tag is \
         `{found}` now; `openprogram update` takes what it is now"
    )]
    Moved {
        /// What was asked for.
        reference: String,
        /// The digest of the manifest in the lock file.
        locked: String,
        /// That of what the tag is now.
        found: String,
    },
    /// The artifact that is installed is gone.
    #[error("the registry no longer has the manifest `{locked}` of `{reference}`")]
    Gone {
        /// What was asked for.
        reference: String,
        /// The digest of the manifest in the lock file.
        locked: String,
    },
}

impl FetchError {
    /// The code under which the error is known to programs.
    #[must_use]
    pub fn code(&self) -> FailureCode {
        match self {
            Self::NoAccess { .. } => FailureCode::Denied,
            Self::Status { status, .. } => match status {
                401 | 403 => FailureCode::Denied,
                404 | 410 => FailureCode::NotFound,
                _ => FailureCode::Internal,
            },
            Self::Gone { .. } => FailureCode::NotFound,
            Self::TooSlow { .. } | Self::TooLarge { .. } => FailureCode::LimitReached,
            Self::Unreachable { .. } | Self::Setup(_) => FailureCode::Internal,
            _ => FailureCode::InvalidArgument,
        }
    }
}

/// The URLs that led somewhere, when there is more than one.
fn told(trail: &[Url]) -> String {
    if trail.len() < 2 {
        return String::new();
    }
    let trail: Vec<_> = trail.iter().map(|url| format!("`{url}`")).collect();
    format!(" (by way of {})", trail.join(", "))
}
