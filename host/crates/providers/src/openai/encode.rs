//! From a request to the body of a POST. Deterministic: equal requests give equal bytes.
//!
//! What the profile rules out is refused here, before anything is sent.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, Message, Role, ToolCall};
use openprogram_core::llm::{LlmFailure, ModelRequest};
use openprogram_core::structured::{ResponseFormat, StructuredError};
use openprogram_core::tool::{ToolChoice, ToolSpec};

use super::{REASONING, wire};
use crate::checks::check;
use crate::dialect::OPENAI_STRICT;
use crate::failure::refused;
use crate::history;
use crate::profile::{MaxTokensField, Profile};
use crate::thinking::said_thinking;

/// The body of a request.
pub(crate) fn encode(
    request: &ModelRequest,
    model: &str,
    profile: &Profile,
) -> Result<Vec<u8>, LlmFailure> {
    check(request, profile)?;
    let mut messages = Vec::new();
    if let Some(system) = request.system.as_deref().filter(|text| !text.is_empty()) {
        messages.push(wire::Message::System { content: system });
    }
    for message in &request.messages {
        match message.role {
            Role::User => user(message, &mut messages)?,
            Role::Assistant => messages.extend(assistant(message, profile)?),
        }
    }
    let limit = |field| {
        let limits = [profile.max_output_tokens, request.max_output_tokens];
        let limit = limits.into_iter().flatten().min();
        limit.filter(|_| profile.max_tokens_field == field)
    };
    let thinking = said_thinking(request.thinking, profile).map_err(refused)?;
    let has_tools = !request.tools.is_empty();
    let response_format = request.response_format.as_ref().map(response_format);
    let response_format = response_format
        .transpose()
        .map_err(|error| refused(error.message))?;
    let parallel = request.parallel_tool_calls;
    let tools = offered(request, profile).map(tool);
    let body = wire::ChatRequest {
        model,
        stream: true,
        stream_options: profile.stream_usage.then_some(wire::StreamOptions {
            include_usage: true,
        }),
        max_tokens: limit(MaxTokensField::MaxTokens),
        max_completion_tokens: limit(MaxTokensField::MaxCompletionTokens),
        prompt_cache_key: profile.prompt_cache_key.then_some(request.session.as_str()),
        thinking: thinking.kind.map(|kind| wire::Thinking { kind }),
        reasoning_effort: thinking.effort,
        tools: tools.collect::<Result<_, _>>()?,
        tool_choice: if has_tools {
            tool_choice(request, profile)
        } else {
            None
        },
        parallel_tool_calls: parallel.filter(|_| has_tools && profile.parallel_switch),
        response_format,
        web_search_options: request.web_search.then_some(wire::WebSearchOptions {}),
        messages,
    };
    serde_json::to_vec(&body).map_err(|error| refused(format!("the request is not JSON: {error}")))
}

/// The format in the provider's words.
fn response_format(format: &ResponseFormat) -> Result<wire::ResponseFormat<'_>, StructuredError> {
    Ok(wire::ResponseFormat {
        kind: "json_schema",
        json_schema: wire::JsonSchema {
            name: &format.name,
            description: format.description.as_deref(),
            strict: format.strict,
            schema: schema(format)?,
        },
    })
}

/// The schema as it is sent. Without `strict` the provider takes any and promises nothing, so that
/// only the check of the reply counts; that is for the caller to choose.
pub(crate) fn schema(format: &ResponseFormat) -> Result<Json, StructuredError> {
    if format.strict {
        return OPENAI_STRICT.project(&format.schema);
    }
    Ok(Json::clone(&format.schema))
}

/// A tool; the schema of a strict one in the provider's words.
fn tool(spec: &ToolSpec) -> Result<wire::Tool<'_>, LlmFailure> {
    let parameters = match spec.strict {
        true => {
            Cow::Owned(strict_schema(&spec.parameters).map_err(|error| refused(error.message))?)
        }
        false => Cow::Borrowed(&spec.parameters),
    };
    Ok(wire::Tool {
        kind: "function",
        function: wire::ToolFunction {
            name: &spec.name,
            description: &spec.description,
            parameters,
            strict: spec.strict,
        },
    })
}

/// The schema of a strict tool as it is sent.
pub(crate) fn strict_schema(schema: &Json) -> Result<Json, StructuredError> {
    OPENAI_STRICT.project(schema)
}

/// The tools of a request. One that is demanded by its name stands alone where the server is not
/// known to read the name.
fn offered<'a>(request: &'a ModelRequest, profile: &Profile) -> impl Iterator<Item = &'a ToolSpec> {
    let only = match &request.tool_choice {
        ToolChoice::Named(name) if !profile.named_tool_choice => Some(name),
        _ => None,
    };
    let tools = request.tools.iter();
    tools.filter(move |tool| only.is_none_or(|name| tool.name == *name))
}

fn tool_choice<'a>(request: &'a ModelRequest, profile: &Profile) -> Option<wire::ToolChoice<'a>> {
    Some(match &request.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::Required => wire::ToolChoice::Word("required"),
        ToolChoice::None => wire::ToolChoice::Word("none"),
        ToolChoice::Named(_) if !profile.named_tool_choice => wire::ToolChoice::Word("required"),
        ToolChoice::Named(name) => wire::ToolChoice::Named {
            kind: "function",
            function: wire::NamedFunction { name },
        },
    })
}

/// The messages of a user: one for each result, then what else is said.
fn user<'a>(message: &'a Message, messages: &mut Vec<wire::Message<'a>>) -> Result<(), LlmFailure> {
    let mut parts = Vec::new();
    for block in &message.content {
        match block {
            ContentBlock::ToolResult(result) => messages.push(wire::Message::Tool {
                tool_call_id: result.id.clone(),
                content: &result.text,
            }),
            ContentBlock::Text(text) if !text.is_empty() => parts.push(wire::Part::Text { text }),
            ContentBlock::Image { mime_type, data } => {
                let url = format!("data:{mime_type};base64,{}", STANDARD.encode(data));
                let image_url = wire::ImageUrl { url };
                parts.push(wire::Part::ImageUrl { image_url });
            }
            ContentBlock::Audio { mime_type, data } => {
                let input_audio = wire::InputAudio {
                    data: STANDARD.encode(data),
                    format: audio_format(mime_type)?,
                };
                parts.push(wire::Part::InputAudio { input_audio });
            }
            _ => {}
        }
    }
    let content = match parts.as_slice() {
        [] => return Ok(()),
        [wire::Part::Text { text }] => wire::Content::Text(text),
        _ => wire::Content::Parts(parts),
    };
    messages.push(wire::Message::User { content });
    Ok(())
}

/// The word for a kind of sound; the protocol has two.
fn audio_format(mime_type: &str) -> Result<&'static str, LlmFailure> {
    match mime_type {
        "audio/wav" => Ok("wav"),
        "audio/mpeg" => Ok("mp3"),
        other => Err(refused(format!(
            "the protocol of the model takes sound as WAV or MP3, and this is `{other}`; convert it"
        ))),
    }
}

/// The message of a model, unless nothing is left of it.
fn assistant<'a>(
    message: &'a Message,
    profile: &Profile,
) -> Result<Option<wire::Message<'a>>, LlmFailure> {
    let mut text = String::new();
    let mut reasoning_content = None;
    let mut tool_calls = Vec::new();
    for block in &message.content {
        match block {
            ContentBlock::Text(part) => text.push_str(part),
            ContentBlock::ToolCall(call) => tool_calls.push(past_call(call)?),
            ContentBlock::Thinking(thinking) if profile.thinking_back => {
                reasoning_content = thinking.get(REASONING).and_then(Json::as_str);
            }
            _ => {}
        }
    }
    if text.is_empty() && tool_calls.is_empty() {
        return Ok(None);
    }
    let content = (!text.is_empty()).then_some(text);
    Ok(Some(wire::Message::Assistant {
        content,
        reasoning_content,
        tool_calls,
    }))
}

fn past_call(call: &ToolCall) -> Result<wire::PastCall, LlmFailure> {
    let arguments = serde_json::to_string(&history::arguments(&call.arguments));
    Ok(wire::PastCall {
        id: call.id.clone(),
        kind: "function",
        function: wire::PastFunction {
            name: history::name(&call.name),
            arguments: arguments.map_err(|error| refused(error.to_string()))?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Protocol;
    use crate::profile::ThinkingForm;
    use crate::requests::{
        audio, check_recorded, check_refused, generous, plain, thinker, thought, with_tools,
    };

    #[test]
    fn bodies_are_sent_to_the_letter() {
        let profile = generous(Protocol::OpenAi);
        check_recorded("openai", &profile, encode);
    }

    #[test]
    fn a_named_tool_stands_alone_where_its_name_may_be_passed_over() {
        let profile = Profile {
            named_tool_choice: false,
            ..generous(Protocol::OpenAi)
        };
        for name in ["list_orders", "look_up_order"] {
            let request = with_tools(ToolChoice::Named(name.to_owned()), None);
            let body = encode(&request, "m", &profile).unwrap();
            let body: Json = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["tool_choice"], "required");
            let tools = body["tools"].as_array().unwrap();
            let names: Vec<_> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
            assert_eq!(names, [name]);
        }
    }

    #[test]
    fn sound_is_sent_in_the_two_forms_that_there_are() {
        let profile = generous(Protocol::OpenAi);
        for (mime_type, expected) in [
            ("audio/wav", r#"{"data":"UklGRv8=","format":"wav"}"#),
            ("audio/mpeg", r#"{"data":"UklGRv8=","format":"mp3"}"#),
        ] {
            let body = encode(&audio(mime_type), "m", &profile).unwrap();
            let body: Json = serde_json::from_slice(&body).unwrap();
            let part = &body["messages"][0]["content"][1];
            assert_eq!(part["type"], "input_audio");
            assert_eq!(part["input_audio"].to_string(), expected);
        }
        let failure = encode(&audio("audio/ogg"), "m", &profile).unwrap_err();
        let expected =
            "the protocol of the model takes sound as WAV or MP3, and this is `audio/ogg`";
        assert!(failure.message.starts_with(expected), "{}", failure.message);
    }

    #[test]
    fn what_the_model_thought_goes_back_where_the_server_wants_it() {
        let toggle = Profile {
            thinking: Some(ThinkingForm::Toggle),
            thinking_back: true,
            ..thinker(&generous(Protocol::OpenAi), "openai")
        };
        let body = encode(&thought(), "m", &toggle).unwrap();
        let body: Json = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["thinking"]["type"], "enabled");
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["messages"][2]["reasoning_content"], "Look it up.");
        let demanding = ModelRequest {
            tool_choice: ToolChoice::Required,
            ..thought()
        };
        let failure = encode(&demanding, "m", &toggle).unwrap_err();
        let expected = "the model does not take the tool choice `required` while it thinks";
        assert!(failure.message.starts_with(expected), "{}", failure.message);
    }

    #[test]
    fn what_the_model_does_not_take_is_not_sent() {
        check_refused(Protocol::OpenAi, encode);
    }

    #[test]
    fn fields_that_only_some_servers_take_follow_the_profile() {
        let profile = Profile {
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            max_output_tokens: Some(9),
            stream_usage: false,
            prompt_cache_key: true,
            thinking_off: Some("disabled".to_owned()),
            ..Profile::conservative(Protocol::OpenAi)
        };
        let body = encode(&plain(), "m", &profile).unwrap();
        let expected = concat!(
            r#"{"model":"m","stream":true,"max_completion_tokens":9,"#,
            r#""prompt_cache_key":"op-000000000000002a","thinking":{"type":"disabled"},"#,
            r#""messages":[{"role":"system","content":"Be brief."},"#,
            r#"{"role":"user","content":"Hello"}]}"#
        );
        assert_eq!(String::from_utf8(body).unwrap(), expected);
        let profile = Profile {
            max_tokens_field: MaxTokensField::MaxTokens,
            ..profile
        };
        let body = encode(&plain(), "m", &profile).unwrap();
        let expected = expected.replace("max_completion_tokens", "max_tokens");
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }
}
