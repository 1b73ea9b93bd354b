//! One call that a model asks for: found, read, run in a child frame, and answered.
//!
//! Every call is answered exactly once, whatever the model wrote and whatever became of the call.
//! Nothing runs with guessed arguments. All texts here are written for a model.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::content::{ToolCall, ToolResult};
use openprogram_core::context::OUTPUT_BYTES_MAX;
use openprogram_core::decision::{ObjectError, ParsedObject, parse_object};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, parameters_to_json_schema};
use openprogram_core::id::NodeId;
use openprogram_core::schema::Coercion;
use openprogram_core::session::{AnsweredBy, CallAnswer, OwnCall, OwnReaders};
use openprogram_core::text::{clean, cut, escape_json, one_line};
use serde_json::json;
use tracing::Instrument as _;

use crate::arguments::{UnfitArguments, complete_model_arguments};
use crate::call::{CallingTurn, PlannedCall, run_call};
use crate::frame::Frame;
use crate::own_tool::{OwnTool, ToolOwner};
use crate::ports::Ports;
use crate::spans;
use crate::tools::{Tool, Tools};

/// The most bytes of one answer, cut in its middle with a line that says how much is left out: as
/// much as a later turn reads of the same call.
pub(crate) const ANSWER_BYTES_MAX: usize = OUTPUT_BYTES_MAX;
/// How many tools an answer lists when none is near to what was asked for.
const TOOLS_LISTED_MAX: usize = 20;
/// How many characters an answer repeats of the name of a tool that is not there.
const NAME_CHARS_MAX: usize = 64;

/// Where the calls of one reply run.
#[derive(Clone, Copy)]
pub(crate) struct Calling<'a> {
    pub(crate) ports: &'a Arc<Ports>,
    pub(crate) frame: &'a Arc<Frame>,
    pub(crate) tools: &'a Tools,
    /// The node of the request that asked for the calls.
    pub(crate) turn: &'a NodeId,
}

/// A call as the model wrote it, its arguments read.
#[derive(Clone, Debug)]
pub(crate) struct WantedCall {
    pub(crate) call: ToolCall,
    pub(crate) parsed: Result<ParsedObject, ObjectError>,
}

/// A call with its answer.
pub(crate) struct Answered {
    pub(crate) result: ToolResult,
    pub(crate) ran: Ran,
}

/// What ran for an answer.
pub(crate) enum Ran {
    /// A function; the node of its call.
    Function(NodeId),
    /// A tool that is no function: the record of its call.
    Own(Box<OwnCall>),
    /// Nothing.
    Nothing,
}

impl WantedCall {
    pub(crate) fn read(call: ToolCall) -> Self {
        let parsed = parse_object(&call.arguments);
        Self { call, parsed }
    }

    /// The call as it goes back to the model: what was forgiven is not repeated.
    pub(crate) fn in_history(&self) -> ToolCall {
        let mut call = self.call.clone();
        if let Ok(parsed) = &self.parsed
            && !parsed.repairs.is_empty()
        {
            call.arguments = Json::Object(parsed.members.clone()).to_string();
        }
        call
    }

    /// Whether another call is the same: name and arguments, in whatever order or form.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let same_arguments = match (&self.parsed, &other.parsed) {
            (Ok(own), Ok(other)) => own.members == other.members,
            _ => self.call.arguments == other.call.arguments,
        };
        self.call.name == other.call.name && same_arguments
    }
}

impl Answered {
    /// A call that did not run.
    pub(crate) fn refused(call: &ToolCall, text: impl Into<String>) -> Self {
        Self {
            result: ToolResult {
                id: call.id.clone(),
                text: answer_text(&text.into()),
                is_error: true,
            },
            ran: Ran::Nothing,
        }
    }

    fn of(call: &ToolCall, result: &Result<Json, Failure>, ran: Ran) -> Self {
        let (text, is_error) = match result {
            Ok(value) => (result_text(value), false),
            Err(failure) => (failure_text(failure), true),
        };
        Self {
            result: ToolResult {
                id: call.id.clone(),
                text: answer_text(&text),
                is_error,
            },
            ran,
        }
    }

    /// The node of the call, where a function ran.
    pub(crate) fn node(&self) -> Option<&NodeId> {
        match &self.ran {
            Ran::Function(node) => Some(node),
            Ran::Own(_) | Ran::Nothing => None,
        }
    }
}

impl Calling<'_> {
    /// Makes one call and answers it.
    pub(crate) async fn answer(&self, wanted: &WantedCall) -> Answered {
        let call = &wanted.call;
        let function = match self.tools.find(&call.name) {
            Some(Tool::Function(function)) => function,
            Some(Tool::Own(own)) => return self.run_own(own, wanted).await,
            None => return Answered::refused(call, unknown(self.tools, &call.name)),
        };
        let tool = self.tools.name_of(function).unwrap_or(&call.name);
        if self.tools.was_hidden(tool) {
            let schema = parameters_to_json_schema(function.visible_parameters());
            return Answered::refused(call, not_looked_up(tool, &schema));
        }
        let planned = match self.plan(tool, function, wanted) {
            Ok(planned) => planned,
            Err(text) => return Answered::refused(call, text),
        };
        let end = run_call(self.ports, self.frame, planned).await;
        let ran = end.node.map_or(Ran::Nothing, Ran::Function);
        Answered::of(call, &end.result, ran)
    }

    async fn run_own(&self, own: &OwnTool, wanted: &WantedCall) -> Answered {
        let span = spans::own_tool(
            &own.tool.spec.name,
            &wanted.call.id,
            &self.frame.run.session,
        );
        let readers = match own.owner {
            // What it showed, it showed for that turn.
            ToolOwner::Search => OwnReaders::Nobody,
            ToolOwner::Turn | ToolOwner::Skills => self.frame.readers_of_calls(),
        };
        run_own(own, wanted, readers).instrument(span).await
    }

    /// Whether a call may run while others of its kind run: whoever made the tool says that it
    /// changes nothing, and no person is asked about it. What does not run at all may stand
    /// anywhere.
    pub(crate) fn may_run_beside(&self, wanted: &WantedCall) -> bool {
        match self.tools.find(&wanted.call.name) {
            Some(Tool::Function(function)) => {
                let component = self.frame.component();
                let permit = component
                    .and_then(|component| self.ports.parts.policy.permit(component, function));
                function.effects.read_only
                    && function.gating.requires_approval.is_none()
                    && !permit.is_some_and(|permit| permit.asks)
            }
            Some(Tool::Own(own)) => own.tool.read_only,
            None => true,
        }
    }

    /// Completes the arguments.
    ///
    /// # Errors
    /// What the model is told.
    fn plan(
        &self,
        tool: &str,
        function: &FunctionRef,
        wanted: &WantedCall,
    ) -> Result<PlannedCall, String> {
        let schema = || parameters_to_json_schema(function.visible_parameters());
        let parsed = wanted.parsed.as_ref();
        let parsed = parsed.map_err(|error| unreadable(tool, &error.to_string(), &schema()))?;
        let context = &self.frame.context;
        let completed = complete_model_arguments(function, &parsed.members, context);
        let mut arguments = completed.map_err(|unfit| match unfit {
            UnfitArguments::Given(error) => unfit_text(tool, &error.to_string(), &schema()),
            UnfitArguments::Hidden(error) => {
                self.frame
                    .note_refusal(&hidden_failure(function, &error.to_string()));
                format!(
                    "`{tool}` cannot run here: something that the host has to supply is missing. \
                     Calling it again will not help."
                )
            }
        })?;
        let repaired = parsed.repairs.iter().map(|what| Coercion {
            path: String::new(),
            what: what.clone(),
        });
        arguments.coercions.splice(0..0, repaired);
        Ok(PlannedCall {
            node: self.ports.recorder.new_node_id(),
            function: Arc::clone(function),
            arguments,
            context: context.clone(),
            predecessor: None,
            picked_by: None,
            inside: Some(CallingTurn {
                node: self.turn.clone(),
                tools: Arc::clone(&self.tools.inherited),
            }),
        })
    }
}

/// Runs a tool that whoever made the turn runs. Its arguments are checked as they are: nothing says
/// what could be forgiven.
async fn run_own(own: &OwnTool, wanted: &WantedCall, readers: OwnReaders) -> Answered {
    let call = &wanted.call;
    let (tool, schema) = (&own.tool.spec.name, &own.tool.spec.parameters);
    let arguments = match &wanted.parsed {
        Ok(parsed) => parsed.members.clone(),
        Err(error) => return Answered::refused(call, unreadable(tool, &error.to_string(), schema)),
    };
    if let Err(places) = own.check(&arguments) {
        return Answered::refused(call, unfit_text(tool, &places, schema));
    }
    let result = own.run(call, arguments.clone()).await;
    let record = OwnCall {
        name: tool.clone(),
        arguments,
        result: recorded(&result),
        readers,
    };
    Answered::of(call, &result, Ran::Own(Box::new(record)))
}

/// What the record holds of a result: as much of it as any model reads.
fn recorded(result: &Result<Json, Failure>) -> Result<Json, Failure> {
    let is_short = |value: &Json| value.to_string().len() <= ANSWER_BYTES_MAX;
    match result {
        Ok(value) if is_short(value) => Ok(value.clone()),
        Ok(value) => Ok(answer_text(&result_text(value)).into()),
        Err(failure) if is_short(&failure.to_json()) => Err(failure.clone()),
        Err(failure) => {
            let message = cut(&failure.message, ANSWER_BYTES_MAX);
            let error = failure.details.get("error").filter(|error| is_short(error));
            let short = Failure::new(failure.code, message);
            Err(match error {
                Some(error) => short.with("error", error.clone()),
                None => short,
            })
        }
    }
}

fn unreadable(tool: &str, error: &str, schema: &Json) -> String {
    format!(
        "The arguments of `{tool}` cannot be read: {error}. The call did not run. Call again with \
         arguments that fit this JSON Schema: {schema}"
    )
}

fn unfit_text(tool: &str, error: &str, schema: &Json) -> String {
    format!(
        "The arguments of `{tool}` do not fit: {error}. The call did not run. Call again with \
         arguments that fit this JSON Schema: {schema}"
    )
}

fn not_looked_up(tool: &str, schema: &Json) -> String {
    format!(
        "The call did not run: the parameters of `{tool}` were not shown yet. Call again with \
         arguments that fit this JSON Schema: {schema}"
    )
}

fn unknown(tools: &Tools, name: &str) -> String {
    let shown = one_line(name, NAME_CHARS_MAX);
    let near = tools.nearest(name);
    let mut text = if near.contains(&shown.as_str()) {
        "There is no tool of the name that you wrote: it holds hidden characters.".to_owned()
    } else {
        format!("There is no tool `{shown}`.")
    };
    if !near.is_empty() {
        text.push_str(&format!(
            " Did you mean {}?",
            listed(near.into_iter(), " or ")
        ));
    } else if !tools.is_empty() {
        let all = tools.all_names();
        let names = listed(all.iter().copied().take(TOOLS_LISTED_MAX), ", ");
        text.push_str(&format!(" The tools are {names}"));
        let more = all.len().saturating_sub(TOOLS_LISTED_MAX);
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        text.push('.');
    }
    text
}

fn listed<'a>(names: impl Iterator<Item = &'a str>, between: &str) -> String {
    let quoted: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    quoted.join(between)
}

/// An answer as a model may read it, whoever wrote it: clean and bounded.
fn answer_text(text: &str) -> String {
    cut(&clean(text), ANSWER_BYTES_MAX).into_owned()
}

fn result_text(value: &Json) -> String {
    match value {
        Json::String(text) if clean(text).is_empty() => "(an empty text)".to_owned(),
        Json::String(text) => text.clone(),
        other => escape_json(&other.to_string()).into_owned(),
    }
}

fn failure_text(failure: &Failure) -> String {
    let code = failure.code.as_str();
    let mut text = format!("The call failed ({code}): {}", failure.message);
    if let Some(error) = failure.details.get("error") {
        text.push_str(": ");
        match error {
            Json::String(error) => text.push_str(error),
            other => text.push_str(&escape_json(&other.to_string())),
        }
    }
    text
}

fn hidden_failure(function: &FunctionRef, error: &str) -> Failure {
    let message = format!("`{}` as a tool: {error}", function.name);
    Failure::new(FailureCode::InvalidArgument, message).with("function", function.name.to_string())
}

/// The calls of a reply as facts hold them.
pub(crate) fn calls_fact(calls: &[WantedCall]) -> Json {
    calls
        .iter()
        .map(|wanted| {
            let ToolCall {
                id,
                name,
                arguments,
            } = &wanted.call;
            json!({ "id": id, "name": name, "arguments": arguments })
        })
        .collect()
}

/// The answers as facts hold them.
pub(crate) fn answers_fact(answers: Vec<Answered>) -> Json {
    let answers = answers.into_iter().map(|answered| {
        let ToolResult { id, text, .. } = answered.result;
        let ran = match answered.ran {
            Ran::Function(node) => AnsweredBy::Function(node),
            Ran::Own(call) => AnsweredBy::Own(*call),
            Ran::Nothing => AnsweredBy::Nothing(text),
        };
        CallAnswer { id, ran }.to_json()
    });
    answers.collect()
}
