//! Tools that are no functions: whoever asks for a turn says what they are and runs them.
//!
//! They are told to a model like any other tool and are no nodes of the session: the request that
//! calls one, and the one that is given the answer, hold call and answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::failure::Failure;
use crate::tool::ToolSpec;
use crate::{Json, JsonObject};

/// One call of such a tool. Its arguments fit the schema of the tool.
#[derive(Clone, Debug, PartialEq)]
pub struct HostToolCall {
    /// The id of the call, once in a turn.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
}

/// What a call of such a tool gives: a value, or a failure that the model is told.
pub type HostToolResult = Result<Json, Failure>;

type Running = Pin<Box<dyn Future<Output = HostToolResult> + Send>>;

/// A tool that whoever asks for the turn runs. Dropping the future of a call gives it up.
#[derive(Clone)]
pub struct HostTool {
    /// What the model is told. The name has to be one that every provider takes, and the schema has
    /// to be one that arguments can be checked against.
    pub spec: ToolSpec,
    /// Whether several calls in one reply may run at the same time.
    pub read_only: bool,
    run: Arc<dyn Fn(HostToolCall) -> Running + Send + Sync>,
}

impl HostTool {
    /// A tool that runs like this, one call at a time.
    pub fn new<R, F>(spec: ToolSpec, run: R) -> Self
    where
        R: Fn(HostToolCall) -> F + Send + Sync + 'static,
        F: Future<Output = HostToolResult> + Send + 'static,
    {
        Self {
            spec,
            read_only: false,
            run: Arc::new(move |call| Box::pin(run(call))),
        }
    }

    /// The same tool, of which several calls may run at the same time.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Runs one call.
    ///
    /// # Errors
    /// Whatever the tool fails with.
    pub async fn run(&self, call: HostToolCall) -> HostToolResult {
        (self.run)(call).await
    }
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTool")
            .field("spec", &self.spec)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl PartialEq for HostTool {
    /// The same tool, told and run in the same way.
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.run, &other.run);
        same && self.spec == other.spec && self.read_only == other.read_only
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::FailureCode;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "double".to_owned(),
            description: "Doubles a number.".to_owned(),
            parameters: json!({"type": "object"}),
            strict: false,
        }
    }

    #[test]
    fn a_closure_is_run_with_the_call_and_tools_are_told_apart_by_it() {
        let double = HostTool::new(spec(), |call| async move {
            let number = call.arguments.get("n").and_then(Json::as_i64);
            let failed = || Failure::new(FailureCode::FunctionFailed, "no number");
            Ok(json!(number.ok_or_else(failed)? * 2))
        });
        let call = |arguments: Json| HostToolCall {
            id: "a".to_owned(),
            name: "double".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        };
        let run = |arguments| pollster::block_on(double.run(call(arguments)));
        assert_eq!(run(json!({"n": 4})), Ok(json!(8)));
        assert_eq!(
            run(json!({})).map_err(|f| f.message),
            Err("no number".to_owned())
        );
        assert_eq!(double, double.clone());
        assert_ne!(double, double.clone().read_only());
        assert_ne!(double, HostTool::new(spec(), |_| async { Ok(Json::Null) }));
    }
}
