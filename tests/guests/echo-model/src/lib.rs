//! A model that echoes the last text of the user, word by word, and does what lines of his last
//! message tell it.
//!
//! - `!say TEXT` says that instead of the echo.
//! - `!call NAME ARGUMENTS` asks for a call; several lines ask for several. Once a result has come,
//!   the text after `!then` is said, or the results where there is none.
//! - `!think TEXT`, `!usage INPUT OUTPUT READ CREATE`, `!stop REASON` give that beside the text.
//! - `!fail DETAILS` fails with the code `llm` and these details; `!give-up` fails in its own way.
//! - `!prompt` says what it was asked; `!empty` says nothing.
//! - `!write BYTES`, `!calls COUNT`, `!trap` and `!loop` misbehave.

use openprogram_guest::decider::{Decider, State, Weight};
use openprogram_guest::model::{Content, Model, Prompt, Role, Sink, StopReason};
use openprogram_guest::{Failure, Json, Usage, Value, json};

struct Echo;

openprogram_guest::export_model!(Echo);

impl Model for Echo {
    fn complete(prompt: &Prompt, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let said = said(prompt);
        let results = results(prompt);
        let all = said.join("\n");
        let lines: Vec<&str> = all
            .lines()
            .filter_map(|line| line.strip_prefix('!'))
            .collect();
        let mut is_plain = true;
        for (index, line) in lines.iter().enumerate() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let number = || rest.trim().parse::<usize>().unwrap_or(0);
            match word {
                "call" if results.is_empty() => {
                    let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
                    sink.tool_call(&format!("echo_{index}"), name, arguments);
                }
                "say" => sink.text(rest),
                "then" if !results.is_empty() => sink.text(rest),
                "think" => {
                    sink.thinking(rest);
                    continue;
                }
                "usage" => {
                    sink.usage(usage(rest));
                    continue;
                }
                "stop" => {
                    sink.stop(stop(rest));
                    continue;
                }
                "fail" => return Err(failure(rest)),
                "give-up" => return Err(Failure::new("not-found", "the echo is lost")),
                "prompt" => sink.text(&asked(prompt)),
                "empty" => {}
                "write" => flood(number(), sink),
                "calls" => (0..number()).for_each(|n| sink.tool_call(&n.to_string(), "f", "{}")),
                "trap" => std::process::abort(),
                "loop" => loop {
                    std::hint::black_box(line);
                },
                _ => continue,
            }
            is_plain = false;
        }
        if is_plain {
            let text = match results.is_empty() {
                true => said.last().copied().unwrap_or_default().to_owned(),
                false => results.join("\n"),
            };
            text.split_inclusive(' ').for_each(|word| sink.text(word));
        }
        Ok(())
    }
}

/// The texts of the last message of the user that has some.
fn said(prompt: &Prompt) -> Vec<&str> {
    let users = prompt
        .messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::User);
    let mut texts = users.map(|message| {
        let texts = message.content.iter().filter_map(Content::as_text);
        texts.collect::<Vec<_>>()
    });
    texts.find(|texts| !texts.is_empty()).unwrap_or_default()
}

/// The results in the last message, if it answers calls.
fn results(prompt: &Prompt) -> Vec<String> {
    let last = prompt
        .messages
        .last()
        .map(|message| message.content.as_slice());
    let results = last
        .unwrap_or_default()
        .iter()
        .filter_map(|content| match content {
            Content::ToolResult {
                text,
                is_error: false,
                ..
            } => Some(text.clone()),
            Content::ToolResult { text, .. } => Some(format!("error: {text}")),
            _ => None,
        });
    results.collect()
}

fn usage(numbers: &str) -> Usage {
    let mut numbers = numbers.split(' ').map(|number| number.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    Usage::new(next(), next()).cached(next(), next())
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "end" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "length" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other,
    }
}

fn failure(details: &str) -> Failure {
    let details = Json::from_text(details).and_then(|json| json.parse::<Value>());
    let details = details.unwrap_or_default();
    let details = details.as_object().into_iter().flatten();
    let failure = Failure::new("llm", "the echo fails as told");
    details.fold(failure, |failure, (key, value)| {
        failure.with(key, value.clone())
    })
}

/// What it was asked, as one JSON object.
fn asked(prompt: &Prompt) -> String {
    let content = |content: &Content| match content {
        Content::Text { .. } => "text".to_owned(),
        Content::Image { mime_type, data }
        | Content::Video { mime_type, data }
        | Content::Audio { mime_type, data } => format!("{mime_type} {}", data.len()),
        Content::CacheMark => "mark".to_owned(),
        Content::ToolCall { name, .. } => format!("call {name}"),
        Content::ToolResult { is_error, .. } => format!("result {is_error}"),
        _ => "unknown".to_owned(),
    };
    let messages = prompt.messages.iter().map(|message| {
        let content: Vec<_> = message.content.iter().map(content).collect();
        format!("{:?}: {}", message.role, content.join(", "))
    });
    let tools = prompt.tools.iter().map(|tool| tool.name.as_str());
    json!({
        "system": prompt.system,
        "messages": messages.collect::<Vec<_>>(),
        "tools": tools.collect::<Vec<_>>(),
        "tool_choice": format!("{:?}", prompt.tool_choice),
        "parallel_tool_calls": prompt.parallel_tool_calls,
        "thinking_level": format!("{:?}", prompt.thinking_level),
        "max_output_tokens": prompt.max_output_tokens,
        "session_id": prompt.session_id,
    })
    .to_string()
}

/// Writes so many bytes, 64 KiB at a time.
fn flood(bytes: usize, sink: &mut Sink<'_>) {
    const PIECE: usize = 64 << 10;
    let piece = "e".repeat(PIECE);
    for _ in 0..bytes / PIECE {
        sink.text(&piece);
    }
    sink.text(&piece[..bytes % PIECE]);
}

openprogram_guest::export_decider!(Echo);

/// Takes the first option that the prompt names.
impl Decider for Echo {
    fn decide(state: &State) -> Result<Vec<Weight>, Failure> {
        let named = state
            .choices
            .iter()
            .find(|choice| state.prompt.contains(&choice.name));
        let picked = named.unwrap_or(&state.choices[0]);
        Ok(vec![Weight {
            option: picked.name.clone(),
            probability: 1.0,
        }])
    }
}

#[cfg(test)]
mod tests {
    use openprogram_guest::model::{Piece, reply_of};

    use super::*;

    #[test]
    fn it_echoes_and_does_what_it_is_told() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let call = Piece::ToolCall {
            id: "echo_0".to_owned(),
            name: "add".to_owned(),
            arguments: r#"{"a": 1}"#.to_owned(),
        };
        for (said, pieces) in [
            ("one two", vec![text("one "), text("two")]),
            ("!call add {\"a\": 1}\n!then done", vec![call]),
            ("!say here", vec![text("here")]),
            ("!empty", Vec::new()),
        ] {
            assert_eq!(
                reply_of::<Echo>(&Prompt::new(said)).unwrap().pieces,
                pieces,
                "{said}"
            );
        }
        let failure = reply_of::<Echo>(&Prompt::new("!fail {\"http_status\": 429}")).unwrap_err();
        assert_eq!(failure.details().as_str(), r#"{"http_status":429}"#);
    }
}
