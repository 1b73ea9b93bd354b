//! From a request to the body of a POST. Deterministic: equal requests give equal bytes.
//!
//! What the profile rules out is refused here, before anything is sent.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::Json;
use openprogram_core::content::{CacheTtl, ContentBlock, Role};
use openprogram_core::llm::{LlmFailure, ModelRequest};
use openprogram_core::structured::{ResponseFormat, StructuredError};
use openprogram_core::tool::{ToolChoice, ToolSpec};

use super::wire;
use crate::checks::check;
use crate::dialect::ANTHROPIC;
use crate::failure::refused;
use crate::history;
use crate::profile::Profile;
use crate::thinking::{fitting_budget, said_thinking};

/// What stands before a conversation that does not begin with the user, as the protocol demands.
const OPENING: &str = "(The conversation so far.)";
/// The most marks for the cache that one request may hold; the last ones count.
const CACHE_MARKS_MAX: usize = 4;
/// The description of a tool that was called before and cannot be called now.
const PAST_TOOL: &str = "Not available now.";

/// The name that the protocol demands for the search of the server.
const WEB_SEARCH: &str = "web_search";
/// The oldest form of it, which every model with a search takes.
const WEB_SEARCH_KIND: &str = "web_search_20250305";
/// How often one reply may search. A server that works on its tools for longer than some ten steps
/// pauses in the middle of the reply.
const WEB_SEARCHES_MAX: u32 = 5;

/// The body of a request.
pub(crate) fn encode(
    request: &ModelRequest,
    model: &str,
    profile: &Profile,
) -> Result<Vec<u8>, LlmFailure> {
    check(request, profile)?;
    let (messages, cache_system) = messages(request);
    if messages.is_empty() {
        return Err(refused(
            "the request holds only white space; give the model something to answer",
        ));
    }
    let limits = [profile.max_output_tokens, request.max_output_tokens];
    let max_tokens = limits.into_iter().flatten().min().ok_or_else(|| {
        refused(
            "the protocol demands a token limit; set `max_output_tokens` in a `[[profiles]]` row \
             for the model in openprogram.toml",
        )
    })?;
    let (tools, mut tool_choice) = tools(request, profile)?;
    let mut tools: Vec<_> = tools.into_iter().map(wire::AnyTool::Own).collect();
    if request.web_search {
        tools.push(wire::AnyTool::OfServer(web_search(request)?));
        // Without tools of its own the request says that none is called; that would hold for this
        // one too.
        tool_choice = tool_choice.filter(|_| !request.tools.is_empty());
    }
    let schema = request.response_format.as_ref().map(schema).transpose();
    let format = schema.map_err(|error| refused(error.message))?;
    let said = said_thinking(request.thinking, profile).map_err(refused)?;
    let budget_tokens = said.budget_tokens;
    let budget_tokens = budget_tokens.map(|budget| fitting_budget(budget, max_tokens));
    let budget_tokens = budget_tokens.transpose().map_err(refused)?;
    let format = format.map(|schema| wire::OutputFormat {
        kind: "json_schema",
        schema,
    });
    let body = wire::MessagesRequest {
        model,
        max_tokens,
        stream: true,
        thinking: said.kind.map(|kind| wire::Thinking {
            kind,
            budget_tokens,
        }),
        tools,
        tool_choice,
        output_config: (said.effort.is_some() || format.is_some()).then_some(wire::OutputConfig {
            effort: said.effort,
            format,
        }),
        system: system(request, cache_system),
        messages,
    };
    serde_json::to_vec(&body).map_err(|error| refused(format!("the request is not JSON: {error}")))
}

/// The tool of the server that searches the web.
fn web_search(request: &ModelRequest) -> Result<wire::ServerTool, LlmFailure> {
    if request.tools.iter().any(|tool| tool.name == WEB_SEARCH) {
        return Err(refused(format!(
            "the turn offers a function `{WEB_SEARCH}`, and the search of the server has the same \
             name; offer one of them"
        )));
    }
    Ok(wire::ServerTool {
        kind: WEB_SEARCH_KIND,
        name: WEB_SEARCH,
        max_uses: WEB_SEARCHES_MAX,
    })
}

/// The schema as it is sent. The protocol has no place for what the format is for; the model reads
/// it as the description of the schema, unless that has one.
pub(crate) fn schema(format: &ResponseFormat) -> Result<Json, StructuredError> {
    let mut schema = ANTHROPIC.project(&format.schema)?;
    if let (Json::Object(schema), Some(description)) = (&mut schema, &format.description) {
        let entry = schema.entry("description");
        entry.or_insert_with(|| description.as_str().into());
    }
    Ok(schema)
}

/// The system prompt, marked where it is to be cached by itself.
fn system(request: &ModelRequest, cached: Option<CacheTtl>) -> Option<wire::System<'_>> {
    let text = request.system.as_deref()?;
    if text.trim().is_empty() {
        return None;
    }
    Some(match cached {
        None => wire::System::Text(text),
        Some(ttl) => wire::System::Blocks([wire::Block::Text {
            text,
            cache_control: Some(wire::CacheControl::of(ttl)),
        }]),
    })
}

/// The messages: neighbours of one role joined, results first, nothing empty; and whether the system
/// prompt is to be cached by itself.
fn messages(request: &ModelRequest) -> (Vec<wire::Message<'_>>, Option<CacheTtl>) {
    let mut messages: Vec<wire::Message<'_>> = Vec::new();
    let mut cache_system: Option<CacheTtl> = None;
    for message in &request.messages {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        for block in &message.content {
            if let ContentBlock::CacheMark(ttl) = block {
                let last = messages.last_mut().and_then(|last| last.content.last_mut());
                match last.map(wire::Block::cache_control) {
                    None => cache_system = cache_system.max(Some(*ttl)),
                    Some(Some(mark)) => *mark = Some(wire::CacheControl::of(*ttl)),
                    Some(None) => {}
                }
                continue;
            }
            let Some(block) = self::block(block) else {
                continue;
            };
            match messages.last_mut() {
                Some(last) if last.role == role => last.content.push(block),
                _ => messages.push(wire::Message {
                    role,
                    content: vec![block],
                }),
            }
        }
    }
    for message in &mut messages {
        // A stable sort: results stay in the order of their calls.
        let is_result = |block: &wire::Block<'_>| matches!(block, wire::Block::ToolResult { .. });
        message.content.sort_by_key(|block| !is_result(block));
    }
    if messages.first().is_some_and(|first| first.role != "user") {
        let content = vec![wire::Block::Text {
            text: OPENING,
            cache_control: None,
        }];
        let opening = wire::Message {
            role: "user",
            content,
        };
        messages.insert(0, opening);
    }
    // A reply that goes on may not end in white space.
    if let Some(last) = messages.last_mut().filter(|last| last.role == "assistant")
        && let Some(wire::Block::Text { text, .. }) = last.content.last_mut()
    {
        *text = text.trim_end();
    }
    keep_last_marks(&mut messages, &mut cache_system);
    (messages, cache_system)
}

/// Takes marks away from the front until there are as many as the protocol takes, and orders the times
/// of those that are left.
fn keep_last_marks(messages: &mut [wire::Message<'_>], cache_system: &mut Option<CacheTtl>) {
    let blocks = messages.iter_mut().flat_map(|m| &mut m.content);
    let mut marks: Vec<_> = blocks
        .filter_map(wire::Block::cache_control)
        .filter(|mark| mark.is_some())
        .collect();
    let n_marks = marks.len() + usize::from(cache_system.is_some());
    let mut n_surplus = n_marks.saturating_sub(CACHE_MARKS_MAX);
    if n_surplus > 0 {
        n_surplus -= usize::from(cache_system.take().is_some());
    }
    for mark in marks.iter_mut().take(n_surplus) {
        **mark = None;
    }
    // The protocol wants no mark before one that is kept for longer; what it closes is kept as long.
    let mut is_hour = false;
    let times = marks.into_iter().rev().flatten().map(|mark| &mut mark.ttl);
    for ttl in times.chain(cache_system) {
        is_hour |= *ttl == CacheTtl::Hour;
        if is_hour {
            *ttl = CacheTtl::Hour;
        }
    }
}

fn block(block: &ContentBlock) -> Option<wire::Block<'_>> {
    let cache_control = None;
    Some(match block {
        // Text that is empty or white space is an error of its own for the server.
        ContentBlock::Text(text) if text.trim().is_empty() => return None,
        ContentBlock::Text(text) => wire::Block::Text {
            text,
            cache_control,
        },
        ContentBlock::Image { mime_type, data } => wire::Block::Image {
            source: wire::ImageSource {
                kind: "base64",
                media_type: mime_type,
                data: STANDARD.encode(data),
            },
            cache_control,
        },
        ContentBlock::Thinking(thinking) => return past_thinking(thinking),
        ContentBlock::ServerTool(block) => wire::Block::OfServer(block),
        ContentBlock::ToolCall(call) => wire::Block::ToolUse {
            id: history::id(&call.id),
            name: history::name(&call.name),
            input: history::arguments(&call.arguments),
            cache_control,
        },
        ContentBlock::ToolResult(result) => wire::Block::ToolResult {
            tool_use_id: history::id(&result.id),
            content: &result.text,
            is_error: result.is_error,
            cache_control,
        },
        _ => return None,
    })
}

/// What the model thought, as it wrote it; nothing of another protocol.
fn past_thinking(thinking: &Json) -> Option<wire::Block<'_>> {
    let text = |name: &str| thinking.get(name)?.as_str();
    match text("type")? {
        "thinking" => Some(wire::Block::Thinking {
            thinking: text("thinking")?,
            signature: text("signature")?,
        }),
        "redacted_thinking" => Some(wire::Block::RedactedThinking {
            data: text("data")?,
        }),
        _ => None,
    }
}

/// The tools and the choice among them.
fn tools<'a>(
    request: &'a ModelRequest,
    profile: &Profile,
) -> Result<(Vec<wire::Tool<'a>>, Option<wire::ToolChoice<'a>>), LlmFailure> {
    if request.tools.is_empty() {
        return Ok(past_tools(request));
    }
    let tools = request.tools.iter().map(tool);
    let alone = request.parallel_tool_calls == Some(false) && profile.parallel_switch;
    let disable = alone.then_some(true);
    let choice = |kind, name, disable_parallel_tool_use| wire::ToolChoice {
        kind,
        name,
        disable_parallel_tool_use,
    };
    let choice = match &request.tool_choice {
        ToolChoice::Auto if !alone => None,
        ToolChoice::Auto => Some(choice("auto", None, disable)),
        ToolChoice::Required => Some(choice("any", None, disable)),
        ToolChoice::None => Some(choice("none", None, None)),
        ToolChoice::Named(name) => Some(choice("tool", Some(name), disable)),
    };
    Ok((tools.collect::<Result<_, _>>()?, choice))
}

/// A tool; the schema of a strict one in the provider's words.
fn tool(spec: &ToolSpec) -> Result<wire::Tool<'_>, LlmFailure> {
    let input_schema = match spec.strict {
        true => {
            Cow::Owned(strict_schema(&spec.parameters).map_err(|error| refused(error.message))?)
        }
        false => Cow::Borrowed(&spec.parameters),
    };
    Ok(wire::Tool {
        name: Cow::Borrowed(&spec.name),
        description: &spec.description,
        input_schema,
        strict: spec.strict,
    })
}

/// The schema of a strict tool as it is sent.
pub(crate) fn strict_schema(schema: &Json) -> Result<Json, StructuredError> {
    ANTHROPIC.project(schema)
}

/// The protocol wants past calls to be of tools that are there: they are, and cannot be called.
fn past_tools(request: &ModelRequest) -> (Vec<wire::Tool<'_>>, Option<wire::ToolChoice<'_>>) {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let names: BTreeSet<String> = blocks
        .filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(history::name(&call.name)),
            _ => None,
        })
        .collect();
    if names.is_empty() {
        return (Vec::new(), None);
    }
    let tool = |name| wire::Tool {
        name: Cow::Owned(name),
        description: PAST_TOOL,
        input_schema: Cow::Owned(Json::Object(object_schema())),
        strict: false,
    };
    let choice = wire::ToolChoice {
        kind: "none",
        name: None,
        disable_parallel_tool_use: None,
    };
    (names.into_iter().map(tool).collect(), Some(choice))
}

fn object_schema() -> openprogram_core::JsonObject {
    [("type".to_owned(), Json::from("object"))]
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use openprogram_core::content::{Message, ThinkingLevel};

    use super::*;
    use crate::profile::{Protocol, ThinkingForm};
    use crate::requests::{check_recorded, check_refused, generous, plain, with_tools};

    #[test]
    fn bodies_are_sent_to_the_letter() {
        let profile = Profile {
            thinking_off: Some("disabled".to_owned()),
            ..generous(Protocol::Anthropic)
        };
        check_recorded("anthropic", &profile, encode);
    }

    #[test]
    fn a_budget_of_thinking_fits_into_the_reply() {
        let profile = Profile {
            thinking: Some(ThinkingForm::Budget),
            max_output_tokens: Some(8_192),
            ..generous(Protocol::Anthropic)
        };
        let asked = |level, most| {
            let request = ModelRequest {
                thinking: level,
                max_output_tokens: most,
                ..plain()
            };
            let body = encode(&request, "m", &profile).map_err(|failure| failure.message)?;
            let body: Json = serde_json::from_slice(&body).unwrap();
            Ok(format!("{} {}", body["max_tokens"], body["thinking"]))
        };
        let enabled = |budget: u64| format!(r#"{{"type":"enabled","budget_tokens":{budget}}}"#);
        for (level, most, expected) in [
            (ThinkingLevel::Off, None, "8192 null".to_owned()),
            (ThinkingLevel::Low, None, format!("8192 {}", enabled(2_048))),
            (
                ThinkingLevel::High,
                None,
                format!("8192 {}", enabled(4_096)),
            ),
            (
                ThinkingLevel::High,
                Some(6_000),
                format!("6000 {}", enabled(1_904)),
            ),
            (ThinkingLevel::Off, Some(7), "7 null".to_owned()),
        ] {
            assert_eq!(asked(level, most), Ok(expected));
        }
        let refused: String = asked(ThinkingLevel::Low, Some(5_000)).unwrap_err();
        assert!(refused.starts_with("a reply of at most 5000 tokens leaves no room"));
    }

    #[test]
    fn what_the_model_does_not_take_is_not_sent() {
        check_refused(Protocol::Anthropic, encode);
    }

    #[test]
    fn a_function_of_the_name_of_the_search_cannot_stand_beside_it() {
        let mut request = with_tools(ToolChoice::Auto, None);
        request.tools.truncate(1);
        request.tools[0].name = WEB_SEARCH.to_owned();
        request.web_search = true;
        let failure = encode(&request, "m", &generous(Protocol::Anthropic)).unwrap_err();
        assert!(failure.message.contains("has the same name"), "{failure}");
    }

    #[test]
    fn a_request_without_limit_or_without_visible_content_is_refused() {
        let conservative = Profile::conservative(Protocol::Anthropic);
        let no_limit = Profile {
            max_output_tokens: None,
            ..conservative.clone()
        };
        let blank = ModelRequest {
            messages: vec![Message::user(" \n")],
            ..plain()
        };
        for (request, profile, why) in [
            (plain(), no_limit, "the protocol demands a token limit"),
            (blank, conservative, "the request holds only white space"),
        ] {
            let failure = encode(&request, "m", &profile).unwrap_err();
            assert!(failure.message.starts_with(why), "{}", failure.message);
        }
    }
}
