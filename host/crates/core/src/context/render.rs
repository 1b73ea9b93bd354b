//! How nodes look to a model. Every text here is written for a model and changes what it does.
//!
//! A person's words are a user text, a reply of a model is an assistant text, a call is a user
//! text that holds the name, the arguments and the result or the failure. What a turn was asked is
//! not repeated: the words of a person have a node of their own, and those of a function are its
//! business. A caller that still runs is a call without a result. A call of a tool that is no function
//! has no node: it stands before the reply that its result led to, in the form of any other call.
//! Nodes in a row of the same role share one message, each as a block of its own, so roles alternate.
//!
//! What functions and components say is data: it is cleaned and bounded, and where it has several
//! lines they are set in, so that none of them can pass for a line of ours.

use std::borrow::Cow;

use super::select::Selected;
use crate::content::{ContentBlock, Message, Role, add_said};
use crate::failure::{Failure, FailureCode};
use crate::id::NodeId;
use crate::schema::{names_equal, shown_name};
use crate::session::{
    AnsweredBy, CallAnswer, NewNode, NodeKind, NodeStatus, OwnCall, OwnReaders, SeenNode,
};
use crate::text::{clean, cut, escape_json, set_off};
use crate::{Json, JsonObject};

/// The most bytes of one result or failure of a call. A table or a page fits; a file that a
/// function gives back whole is cut in its middle, with a line that says how much is left out.
pub const OUTPUT_BYTES_MAX: usize = 30_000;
/// The most bytes of the arguments of one call, cut in the same way. They are there to tell calls
/// apart, and what matters of them is in the result.
pub const ARGUMENTS_BYTES_MAX: usize = 4_000;
/// The most bytes of the doc of the function whose turn it is, cut in the same way.
pub const DOC_BYTES_MAX: usize = 8_000;
/// The most functions that the call path names; the outer ones give way to one `…`.
pub const PATH_NAMES_MAX: usize = 20;

/// Stands first when the oldest thing read is a reply: a request begins with the user.
const OPENING: &str = "(What follows was written earlier in this work.)";

/// Whether a node has anything to show.
///
/// A turn that still runs said nothing, and so did one that ended without a word, unless it went on
/// with calls that have no node and are read from `inside` these functions. A call always shows that
/// it was made.
pub(super) fn is_shown(node: &SeenNode, inside: &[NodeId]) -> bool {
    match node.kind {
        NodeKind::Code => true,
        NodeKind::User => said(&node.input).is_some(),
        NodeKind::Llm => {
            let replied = node.output.as_ref().and_then(replied);
            replied.is_some() || own_calls(node, inside).next().is_some()
        }
    }
}

/// The nodes as messages: roles alternate, the first is the user's.
pub(super) fn render_messages(selected: &Selected) -> Vec<Message> {
    let mut messages = Vec::new();
    for node in &selected.nodes {
        let running = selected.chain.iter().any(|above| above.id == node.id);
        match node.kind {
            NodeKind::User => {
                if let Some(text) = said(&node.input) {
                    push(&mut messages, Role::User, text.into_owned());
                }
            }
            NodeKind::Llm => {
                for call in own_calls(node, &selected.inside) {
                    push(&mut messages, Role::User, render_own_call(&call));
                }
                let Some(text) = node.output.as_ref().and_then(replied) else {
                    continue;
                };
                push(&mut messages, Role::Assistant, text);
                if let Some(note) = turn_note(node) {
                    push(&mut messages, Role::User, note);
                }
            }
            NodeKind::Code => push(&mut messages, Role::User, render_call(node, running)),
        }
    }
    messages
}

/// The text in front of a turn: which function makes it, what that function is for, and who
/// called it. `chain` is innermost first.
pub(super) fn render_situation(chain: &[SeenNode]) -> Option<String> {
    let functions = || chain.iter().filter(|node| node.kind == NodeKind::Code);
    let function = functions().next()?;

    let mut text = format!(
        "This turn is part of the function `{}`.",
        short_name(function)
    );
    let doc = function.doc.as_deref().unwrap_or_default().trim();
    if !doc.is_empty() {
        let doc = clean(doc);
        let doc = cut(&doc, DOC_BYTES_MAX);
        text.push('\n');
        text.push_str(&set_off("What the function is for:", &doc));
    }
    let mut path: Vec<String> = functions().take(PATH_NAMES_MAX).map(short_name).collect();
    if functions().count() > PATH_NAMES_MAX {
        path.push("…".to_owned());
    }
    path.reverse();
    text.push_str("\nCall path: ");
    text.push_str(&path.join(" → "));
    Some(text)
}

/// Adds the situation and the turn to what was read.
pub(super) fn finish(
    mut messages: Vec<Message>,
    situation: Option<String>,
    turn: impl IntoIterator<Item = ContentBlock>,
) -> Vec<Message> {
    if let Some(situation) = situation {
        push(&mut messages, Role::User, situation);
    }
    for block in turn {
        push_block(&mut messages, Role::User, block);
    }
    messages
}

/// Adds a block to the last message, or to a new one when another role speaks.
fn push(messages: &mut Vec<Message>, role: Role, text: String) {
    push_block(messages, role, ContentBlock::Text(text));
}

fn push_block(messages: &mut Vec<Message>, role: Role, block: ContentBlock) {
    if messages.is_empty() && role == Role::Assistant {
        messages.push(Message::user(OPENING));
    }
    add_said(messages, role, vec![block]);
}

/// What was said, when anything was. A blank text is nothing: providers refuse it.
fn said(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::Null => None,
        Json::String(text) if text.trim().is_empty() => None,
        Json::String(text) => Some(Cow::Borrowed(text)),
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// What a model said, as others may read it.
fn replied(value: &Json) -> Option<String> {
    let text = said(value)?;
    let text = clean(&text);
    (!text.trim().is_empty()).then(|| text.into_owned())
}

/// What follows a reply that did not end well.
fn turn_note(node: &SeenNode) -> Option<String> {
    let what = match node.status {
        NodeStatus::Completed => return None,
        NodeStatus::Open => "The reply above may be incomplete.".to_owned(),
        NodeStatus::Failed => reason("The reply above failed", node.failure.as_ref()),
        NodeStatus::Cancelled => reason("The reply above was cancelled", node.failure.as_ref()),
    };
    Some(format!("({what})"))
}

/// The calls without a node that a request went on with, as far as they are read from `inside` these
/// functions. One that still runs is not read, nor what it goes on with.
fn own_calls(node: &SeenNode, inside: &[NodeId]) -> impl Iterator<Item = OwnCall> {
    let is_read = node.status != NodeStatus::Open;
    let is_inside = node.caller.as_ref().is_some_and(|at| inside.contains(at));
    let answers = is_read.then(|| CallAnswer::of_facts(&node.facts));
    answers.into_iter().flatten().filter_map(move |answer| {
        let AnsweredBy::Own(call) = answer.ran else {
            return None;
        };
        let is_read = match call.readers {
            OwnReaders::Callers => true,
            OwnReaders::Function => is_inside,
            OwnReaders::Nobody => false,
        };
        is_read.then_some(call)
    })
}

fn render_own_call(call: &OwnCall) -> String {
    let arguments = Json::Object(call.arguments.clone());
    let end = match &call.result {
        Ok(output) => set_off("Result:", &render_output(Some(output))),
        Err(failure) => reason("Failed", Some(failure)),
    };
    let arguments = cut_json(&arguments, ARGUMENTS_BYTES_MAX);
    format!("Call: {}({arguments})\n{end}", shown_name(&call.name))
}

fn render_call(node: &SeenNode, running: bool) -> String {
    let name = short_name(node);
    let arguments = render_arguments(node);
    let failure = node.failure.as_ref();
    let end = match node.status {
        NodeStatus::Open if running => "It runs now; this turn is part of it.".to_owned(),
        NodeStatus::Open => {
            "No result yet: it still runs, or it was interrupted and its outcome is unknown."
                .to_owned()
        }
        NodeStatus::Completed => set_off("Result:", &render_output(node.output.as_ref())),
        NodeStatus::Failed => reason("Failed", failure),
        NodeStatus::Cancelled => reason("Cancelled", failure),
    };
    format!("Call: {name}({arguments})\n{end}")
}

/// The arguments as one JSON object, without those that no model may see.
fn render_arguments(node: &SeenNode) -> String {
    let arguments = match &node.input {
        Json::Null => Cow::Owned(JsonObject::new()),
        Json::Object(arguments) => Cow::Borrowed(arguments),
        other => return cut_json(other, ARGUMENTS_BYTES_MAX),
    };
    let hidden = node.facts.get(NewNode::HIDDEN_ARGUMENTS);
    let hidden = hidden
        .and_then(Json::as_array)
        .map_or(&[][..], Vec::as_slice);
    let is_hidden = |name: &str| {
        let mut hidden = hidden.iter().filter_map(Json::as_str);
        hidden.any(|other| names_equal(other, name))
    };
    let shown = arguments.iter().filter(|(name, _)| !is_hidden(name));
    let shown: JsonObject = shown
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    cut_json(&Json::Object(shown), ARGUMENTS_BYTES_MAX)
}

/// JSON in which everything can be seen.
fn cut_json(value: &Json, bytes_max: usize) -> String {
    cut(&escape_json(&value.to_string()), bytes_max).into_owned()
}

fn render_output(output: Option<&Json>) -> String {
    match output {
        None | Some(Json::Null) => "(none)".to_owned(),
        Some(Json::String(text)) => match clean(text) {
            text if text.is_empty() => "(an empty text)".to_owned(),
            text => cut(&text, OUTPUT_BYTES_MAX).into_owned(),
        },
        Some(other) => cut_json(other, OUTPUT_BYTES_MAX),
    }
}

/// A sentence that tells of a failure: what it did, its code, its message, the error that the
/// function itself gave. Other details are for people.
fn reason(did: &str, failure: Option<&Failure>) -> String {
    let Some(failure) = failure else {
        return format!("{did}.");
    };
    let label = match failure.code {
        // The word in front of it says so already.
        FailureCode::Cancelled => format!("{did}:"),
        code => format!("{did} ({}):", code.as_str()),
    };
    let mut text = failure.message.clone();
    if let Some(error) = failure.details.get("error") {
        text.push_str(": ");
        match error {
            Json::String(error) => text.push_str(error),
            other => text.push_str(&escape_json(&other.to_string())),
        }
    }
    set_off(&label, &cut(&clean(&text), OUTPUT_BYTES_MAX))
}

/// The last part of a function's full name, as models see names.
fn short_name(node: &SeenNode) -> String {
    let name = node.name.rsplit('.').next().unwrap_or(&node.name);
    shown_name(name)
}
