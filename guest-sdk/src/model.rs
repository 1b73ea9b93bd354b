//! Models: components that write, as a provider of their own.
//!
//! Implement [`Model`] and export it with [`export_model!`](crate::export_model). What a model is
//! asked is plain data and [`reply_of`] collects what it gives, so it can be tested natively. Such a
//! component may export a [`decider`](crate::decider) beside it.

mod prompt;

use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::{Failure, ThinkingLevel, ToolChoice, Usage, Value, failure, value};

use bindings::exports::openprogram::agentic::model as raw;
use bindings::openprogram::agentic::completion;

pub use prompt::{Content, Message, Prompt, Role, Tool};

/// The generated bindings of the world of models.
#[doc(hidden)]
pub mod bindings {
    #![allow(missing_docs, unreachable_pub, unsafe_code, reason = "generated code")]
    wit_bindgen::generate!({
        path: "../wit",
        world: "model-provider",
        with: { "openprogram:agentic/types@0.1.0": crate::bindings::openprogram::agentic::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_model_bindings",
    });
}

/// Serves model requests.
pub trait Model {
    /// Serves one request. What the sink was given is the reply.
    ///
    /// It is asked once; the host tries again where that may help.
    ///
    /// # Errors
    ///
    /// A failure ends the request. [`Failure::llm`] makes one that says whether it may be tried
    /// again; any other kind counts as a mistake of this component.
    fn complete(prompt: &Prompt, sink: &mut Sink<'_>) -> Result<(), Failure>;
}

/// Takes the reply of a model, piece by piece, in the order in which it is written.
///
/// The host shows every piece as it arrives. It takes 4 MiB and 128 calls; more ends the call of the
/// component.
#[derive(Debug)]
pub struct Sink<'a>(Target<'a>);

#[derive(Debug)]
enum Target<'a> {
    Host(&'a completion::Sink),
    Kept(&'a mut ModelReply),
}

impl Sink<'_> {
    /// Takes more text of the reply.
    pub fn text(&mut self, text: &str) {
        match &mut self.0 {
            Target::Host(sink) => sink.text(text),
            Target::Kept(reply) => reply.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Takes more of the model's own thinking: shown, and no part of the reply.
    pub fn thinking(&mut self, text: &str) {
        match &mut self.0 {
            Target::Host(sink) => sink.thinking(text),
            Target::Kept(reply) => reply.pieces.push(Piece::Thinking(text.to_owned())),
        }
    }

    /// Takes a complete call. `arguments` is JSON text, as the model wrote it.
    pub fn tool_call(&mut self, id: &str, name: &str, arguments: &str) {
        match &mut self.0 {
            Target::Host(sink) => sink.tool_call(id, name, arguments),
            Target::Kept(reply) => reply.pieces.push(Piece::ToolCall {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            }),
        }
    }

    /// Takes the tokens used. The last ones given hold; without them nothing is known.
    pub fn usage(&mut self, usage: Usage) {
        match &mut self.0 {
            Target::Host(sink) => {
                sink.usage(usage.input_tokens, usage.output_tokens);
                sink.cached_input(usage.cache_read, usage.cache_create);
            }
            Target::Kept(reply) => reply.usage = Some(usage),
        }
    }

    /// Says why the model stopped. Unless said: to have its calls answered, else it was done.
    pub fn stop(&mut self, reason: StopReason) {
        match &mut self.0 {
            Target::Host(sink) => sink.stop(reason.as_str()),
            Target::Kept(reply) => reply.stop = Some(reason),
        }
    }
}

/// Why a model stopped. Later versions may add reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// It was done.
    End,
    /// It wants its calls answered.
    ToolUse,
    /// The reply was cut at a limit.
    Length,
    /// It refused.
    Refusal,
    /// Anything else.
    Other,
}

impl StopReason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            StopReason::End => "end",
            StopReason::ToolUse => "tool_use",
            StopReason::Length => "length",
            StopReason::Refusal => "refusal",
            StopReason::Other => "other",
        }
    }

    /// What the host tells of a turn.
    pub(crate) fn from_host(word: &str) -> Self {
        match word {
            "end" => StopReason::End,
            "length" => StopReason::Length,
            "refusal" => StopReason::Refusal,
            _ => StopReason::Other,
        }
    }
}

/// What a model gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelReply {
    /// The pieces, as they were given.
    pub pieces: Vec<Piece>,
    /// The tokens used, where they were told.
    pub usage: Option<Usage>,
    /// Why the model stopped, where it was told.
    pub stop: Option<StopReason>,
}

/// One piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// The model's own thinking.
    Thinking(String),
    /// A call.
    ToolCall {
        /// The id that ties its answer to it.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments.
        arguments: String,
    },
}

/// Lets a model serve a request without a host, for tests.
///
/// # Errors
///
/// As the model fails.
pub fn reply_of<M: Model>(prompt: &Prompt) -> Result<ModelReply, Failure> {
    let mut reply = ModelReply::default();
    M::complete(prompt, &mut Sink(Target::Kept(&mut reply)))?;
    Ok(reply)
}

/// Exports a type that implements [`Model`]. Once per component.
///
/// ```
/// use openprogram_guest::Failure;
/// use openprogram_guest::model::{self, Model, Piece, Prompt, Sink};
///
/// /// Says how much it was told.
/// struct Counter;
///
/// impl Model for Counter {
///     fn complete(prompt: &Prompt, sink: &mut Sink<'_>) -> Result<(), Failure> {
///         if prompt.messages.len() > 100 {
///             return Err(Failure::llm("context", false, "more than 100 messages"));
///         }
///         sink.text(&prompt.messages.len().to_string());
///         sink.text(" messages");
///         Ok(())
///     }
/// }
///
/// openprogram_guest::export_model!(Counter);
///
/// # fn main() {
/// let reply = model::reply_of::<Counter>(&Prompt::new("Hello"));
/// let pieces = ["1", " messages"].map(|text| Piece::Text(text.to_owned()));
/// assert_eq!(reply.unwrap().pieces, pieces);
/// # }
/// ```
///
/// What is exported has to be a model:
///
/// ```compile_fail,E0277
/// struct NoModel;
/// openprogram_guest::export_model!(NoModel);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_model {
    ($model:ty) => {
        #[allow(
            unsafe_code,
            warnings,
            clippy::all,
            reason = "generated code, which exports symbols"
        )]
        const _: () = {
            type Adapter = $crate::__private::ModelAdapter<$model>;
            use $crate::__private::model::export_model_bindings;
    export_model_bindings!(Adapter with_types_in $crate::__private::model);
        };
    };
}

/// Carries a model over to the generated trait.
#[doc(hidden)]
pub struct Adapter<M>(PhantomData<M>);

impl<M: Model> raw::Guest for Adapter<M> {
    fn complete(
        prompt: &completion::Prompt,
        sink: &completion::Sink,
    ) -> Result<(), crate::bindings::openprogram::agentic::types::Failure> {
        crate::contract::link_contract();
        let completed = self::prompt(prompt)
            .and_then(|prompt| M::complete(&prompt, &mut Sink(Target::Host(sink))));
        completed.map_err(failure::to_host)
    }
}

fn prompt(raw: &completion::Prompt) -> Result<Prompt, Failure> {
    Ok(Prompt {
        system: raw.system(),
        messages: read("messages", raw.messages())?,
        tools: read("tools", raw.tools())?,
        tool_choice: tool_choice(&read("tool_choice", raw.tool_choice())?),
        parallel_tool_calls: raw.parallel_tool_calls(),
        thinking_level: ThinkingLevel::from_word(&raw.thinking_level()),
        max_output_tokens: raw.max_output_tokens(),
        session_id: raw.session_id(),
    })
}

fn read<T: DeserializeOwned>(what: &str, json: String) -> Result<T, Failure> {
    let parsed = value::from_host(json).parse();
    parsed.map_err(|failure| Failure::invalid_argument(what, failure.message()))
}

/// A choice of a later version leaves the model its freedom.
fn tool_choice(json: &Value) -> ToolChoice {
    match (json.as_str(), json.get("name").and_then(Value::as_str)) {
        (Some("required"), _) => ToolChoice::Required,
        (Some("none"), _) => ToolChoice::None,
        (_, Some(name)) => ToolChoice::Named(name.to_owned()),
        _ => ToolChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn every_form_of_the_contract_is_read_and_unknown_ones_are_passed_over() {
        let messages = json!([
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "mime_type": "image/png", "data": "iVBO"},
                {"type": "audio", "mime_type": "audio/wav", "data": "UklG"},
                {"type": "cache_mark"},
                {"type": "hologram", "size": 3},
            ]},
            {"role": "assistant", "later": true, "content": [
                {"type": "tool_call", "id": "c1", "name": "f", "arguments": "{"},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "id": "c1", "text": "no JSON", "is_error": true},
            ]},
        ]);
        let read: Vec<Message> = read("messages", messages.to_string()).unwrap();
        let message = |role, content| Message { role, content };
        let expected = [
            message(
                Role::User,
                vec![
                    Content::Text {
                        text: "look".into(),
                    },
                    Content::Image {
                        mime_type: "image/png".into(),
                        data: "iVBO".into(),
                    },
                    Content::Audio {
                        mime_type: "audio/wav".into(),
                        data: "UklG".into(),
                    },
                    Content::CacheMark,
                    Content::Unknown,
                ],
            ),
            message(
                Role::Assistant,
                vec![Content::ToolCall {
                    id: "c1".into(),
                    name: "f".into(),
                    arguments: "{".into(),
                }],
            ),
            message(
                Role::User,
                vec![Content::ToolResult {
                    id: "c1".into(),
                    text: "no JSON".into(),
                    is_error: true,
                }],
            ),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn tool_choices_are_read() {
        for (json, choice) in [
            (json!("auto"), ToolChoice::Auto),
            (json!("required"), ToolChoice::Required),
            (json!("none"), ToolChoice::None),
            (json!({"name": "f"}), ToolChoice::Named("f".to_owned())),
            (json!("of-tomorrow"), ToolChoice::Auto),
        ] {
            assert_eq!(tool_choice(&json), choice, "{json}");
        }
    }

    #[test]
    fn what_does_not_fit_names_the_part() {
        let failure = read::<Vec<Tool>>("tools", "[{}]".to_owned()).unwrap_err();
        assert_eq!(failure.detail("path"), Some("tools".into()));
    }
}
