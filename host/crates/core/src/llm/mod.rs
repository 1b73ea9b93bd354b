//! One exchange with a model: request, reply, error, and the port behind which providers stand.

mod asked;
mod classify;
mod error;
mod event;
mod format_way;
mod provider;
mod request;
mod retry;
mod settings;

pub use asked::{Asked, Operation};
pub use classify::{ErrorClass, ErrorSigns, classify, retry_after, should_retry};
pub use error::{LlmDetail, LlmError, LlmFailure, LlmReason};
pub use event::{EventSink, ModelEvent, NoEvents};
pub use format_way::{BesideFormat, FormatWay, plan_format_way, submit_tool};
pub use provider::{Abilities, FormatAbility, Provider, check_native};
pub use request::{
    Choice, DecisionLimits, DecisionReply, DecisionState, ModelReply, ModelRequest, StopReason,
    Weight,
};
pub use retry::{FailedTry, RetryInfo, RetryPolicy, RetryReport, RetryStep, RetryStop, Tries};
pub use settings::{attempts_of, backoff_of, timeout_of};
