//! One call of a function: what runs it, what it gave and what it cost.

use std::sync::Arc;

use async_trait::async_trait;

use super::services::HostServices;
use crate::failure::{Failure, FailureCode};
use crate::function::FunctionRef;
use crate::gating::Holds;
use crate::id::SessionId;
use crate::totals::RunTotals;
use crate::{Json, JsonObject};

/// One call of a function, its arguments complete and checked.
#[derive(Clone)]
pub struct FunctionCall {
    /// The function.
    pub function: FunctionRef,
    /// All arguments by shown name, hidden ones and defaults filled in, runtimes left out.
    pub arguments: JsonObject,
    /// What the function may ask while it runs.
    pub services: Arc<dyn HostServices>,
    /// How many calls are above this one; 0 for a top-level call, which alone waits for a slot.
    pub depth: u32,
    /// What the calls of its run did together.
    pub totals: Arc<RunTotals>,
    /// Where instances live on after the call that made them.
    pub scope: CallScope,
}

/// Where a call stands among the instances that live on in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallScope {
    /// The session: its instances are its own.
    pub session: SessionId,
    /// The components whose live instance a call above this one is in. An instance is entered by one
    /// call at a time, so what stands below cannot enter it.
    pub entered: Vec<String>,
}

impl CallScope {
    /// The place of a call below no other one.
    #[must_use]
    pub fn top(session: SessionId) -> Self {
        Self {
            session,
            entered: Vec::new(),
        }
    }
}

/// What a call gave and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutcome {
    /// The result.
    pub result: Result<Json, CallError>,
    /// What it cost.
    pub report: CallReport,
}

/// What one call cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallReport {
    /// Time that it computed, in imports that end at once too, without waiting, in microseconds.
    pub cpu_us: u64,
    /// Time from start to end in microseconds.
    pub wall_us: u64,
    /// The most memory it held, in bytes.
    pub memory_bytes: u64,
    /// What it wrote to stdout and stderr, cut at the limit.
    pub log: String,
    /// How many bytes it wrote to stdout and stderr.
    pub log_bytes: u64,
    /// How often it called the host.
    pub host_calls: u64,
    /// Bytes that it sent over the network, heads of requests included.
    pub egress_bytes: u64,
    /// Bytes that it received over the network.
    pub ingress_bytes: u64,
    /// Bytes that it wrote to files.
    pub written_bytes: u64,
}

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The function returned its own error.
    #[error("the function failed: {0}")]
    Function(Json),
    /// The function stopped abnormally; the instance is gone.
    #[error("the function trapped: {trap}")]
    Trapped {
        /// The kind of trap, for example `unreachable` or `stack-overflow`.
        trap: String,
        /// The innermost guest frames, outermost last.
        backtrace: Vec<String>,
        /// The end of what the function printed, bounded, without what cannot be seen: the message
        /// of a panic, or whatever else the component says. Empty where it printed nothing.
        last_words: String,
    },
    /// A limit was reached.
    #[error("{message}")]
    LimitReached {
        /// The name of the limit, for example `cpu_ms`.
        which: &'static str,
        /// Its value.
        limit: u64,
        /// What happened.
        message: String,
    },
    /// What the function was granted cannot be given to it.
    #[error("{message}")]
    Denied {
        /// The line of the grant.
        what: String,
        /// Why, and what to do.
        message: String,
    },
    /// An argument does not fit the type of its parameter.
    #[error("argument `{path}`: {message}")]
    InvalidArgument {
        /// The path of the offending part.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The function called another one by its types, as an import, and there is no value of these
    /// types that could tell it why that failed.
    #[error("the import `{import}` failed: {failure}")]
    Import {
        /// The function that was called.
        import: String,
        /// The component that has it; `None` where none is linked.
        component: Option<String>,
        /// Why it gave nothing.
        failure: Box<Failure>,
    },
    /// The host failed.
    #[error("the call failed in the host: {0}")]
    Internal(String),
}

/// Why a call of an import gave no result.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportError {
    /// The function returned its own error, which the type of the import has a place for.
    Own(Json),
    /// It was not called, or did not come to an end of its own.
    Failed(Failure),
}

impl CallError {
    /// The error as callers see it.
    #[must_use]
    pub fn to_failure(&self, function: &str) -> Failure {
        match self {
            Self::Function(error) => {
                // A function that returns our own failure record passes it on unchanged.
                if let Some(failure) = Failure::from_json(error) {
                    return failure;
                }
                Failure::new(FailureCode::FunctionFailed, format!("`{function}` failed"))
                    .with("function", function)
                    .with("error", error.clone())
            }
            Self::Trapped {
                trap,
                backtrace,
                last_words,
            } => {
                let message = format!("`{function}` trapped: {trap}");
                let failure = Failure::new(FailureCode::Trapped, message)
                    .with("function", function)
                    .with("trap", trap.clone())
                    .with("backtrace", backtrace.clone());
                if last_words.is_empty() {
                    return failure;
                }
                failure.with("last_words", last_words.clone())
            }
            Self::LimitReached {
                which,
                limit,
                message,
            } => Failure::limit(which, *limit, message.clone()).with("function", function),
            Self::InvalidArgument { path, message } => Failure::new(
                FailureCode::InvalidArgument,
                format!("argument `{path}` of `{function}`: {message}"),
            )
            .with("function", function)
            .with("path", path.clone()),
            Self::Denied { what, message } => Failure::new(FailureCode::Denied, message.clone())
                .with("function", function)
                .with("what", what.clone()),
            Self::Import {
                import,
                component,
                failure,
            } => import_failure(function, (import, component.as_deref()), failure),
            Self::Internal(message) => {
                Failure::new(FailureCode::Internal, message.clone()).with("function", function)
            }
        }
    }
}

/// The failure of a function that stopped because its import failed. The code and the details are
/// those of what failed in the end, so that whoever is told can act on it; the message names both
/// ends of a chain of imports, and the details what is between.
fn import_failure(
    function: &str,
    (import, component): (&str, Option<&str>),
    failure: &Failure,
) -> Failure {
    let mut details = failure.details.clone();
    let cause = details.get(CAUSE).and_then(Json::as_str);
    let cause = cause.unwrap_or(&failure.message).to_owned();
    let of = component.map_or_else(String::new, |name| format!(" (of `{name}`)"));
    let message = format!("`{function}` stopped: its import `{import}`{of} failed: {cause}");
    let mut imports = vec![Json::from(import)];
    if let Some(Json::Array(further)) = details.shift_remove(IMPORTS) {
        imports.extend(further.into_iter().take(IMPORTS_MAX - 1));
    }
    details.insert(IMPORTS.to_owned(), imports.into());
    details.insert(CAUSE.to_owned(), cause.into());
    Failure {
        code: failure.code,
        message,
        details,
    }
}

/// The detail that lists the imports that failed because of each other, the outermost first.
const IMPORTS: &str = "imports";
/// How many of them are listed; more take part only where functions call each other in circles.
const IMPORTS_MAX: usize = 16;
/// The detail that holds the message of what failed in the end.
const CAUSE: &str = "cause";

/// Runs functions.
#[async_trait]
pub trait FunctionHost: Send + Sync {
    /// Runs one function to its end, in an instance of its own, or in that of its session where it is
    /// stateful. Dropping the future stops it.
    async fn call(&self, call: FunctionCall) -> CallOutcome;

    /// Runs a function that a condition names, without any grant, in an instance of its own and
    /// within tight limits. `arguments` are by shown name, as those of a call.
    ///
    /// The default asks nothing.
    ///
    /// # Errors
    /// When it traps, fails or reaches a limit.
    async fn ask(&self, function: &FunctionRef, arguments: JsonObject) -> Result<Json, CallError> {
        let _ = arguments;
        let message = format!("`{}` cannot be asked here", function.name);
        Err(CallError::Internal(message))
    }

    /// Whether a folder is granted to the component under this path. The default does not know.
    fn has_dir(&self, component: &str, path: &str) -> Holds {
        let _ = (component, path);
        Holds::Unknown
    }

    /// Whether this variable is granted to the component and set. The default does not know.
    fn has_env(&self, component: &str, name: &str) -> Holds {
        let _ = (component, name);
        Holds::Unknown
    }
}
