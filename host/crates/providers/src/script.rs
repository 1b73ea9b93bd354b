//! `script:FILE`: answers from prepared replies, one per line. For demonstrations and tests of
//! programs; the file is read by whoever makes the provider.
//!
//! A line is a JSON string (the text of the reply) or an object with `text`, `tool_calls`, `usage`
//! and `error`.
//! Every line is checked when the script is loaded, so a run does not stop at a typing error.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::llm::{
    Abilities, EventSink, FormatAbility, LlmError, LlmFailure, LlmReason, ModelReply, ModelRequest,
    Provider, StopReason,
};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};
use serde::Deserialize;

/// A script is written by hand or by a test; longer ones are a mistake.
const REPLIES_MAX: usize = 10_000;
/// Longer than any reply of a model.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

const REASONS: [LlmReason; 10] = [
    LlmReason::Transport,
    LlmReason::RateLimit,
    LlmReason::Provider,
    LlmReason::Auth,
    LlmReason::Authz,
    LlmReason::Invalid,
    LlmReason::Context,
    LlmReason::Policy,
    LlmReason::Timeout,
    LlmReason::Unknown,
];

/// Gives prepared replies in order, whatever it is asked.
#[derive(Debug)]
pub struct ScriptProvider {
    name: String,
    n_replies: usize,
    /// The replies that have not been given; shared by all requests to this provider.
    left: Mutex<VecDeque<Result<ModelReply, LlmFailure>>>,
}

/// Why a script cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// A line is not a reply.
    #[error("line {line} of the script `{script}`: {message}")]
    BadLine {
        /// The script.
        script: String,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// There are too many replies.
    #[error("the script `{script}` holds more than {REPLIES_MAX} replies; split it")]
    TooLong {
        /// The script.
        script: String,
    },
}

/// A line that is an object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: Option<String>,
    #[serde(default)]
    tool_calls: Vec<CallLine>,
    usage: Option<UsageLine>,
    error: Option<ErrorLine>,
}

/// One call of a tool. Its id is made from its place in the script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct UsageLine {
    input_tokens: u64,
    output_tokens: u64,
    cache_read: u64,
    cache_create: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ErrorLine {
    Message(String),
    Full(FullError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullError {
    message: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    retryable: bool,
    #[serde(default)]
    http_status: Option<u16>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

impl ScriptProvider {
    /// Reads a script. `script` is its name as the person wrote it, usually the path of the file.
    ///
    /// Blank lines are skipped.
    ///
    /// # Errors
    /// When a line is not a reply, with its number, or when there are too many.
    pub fn from_lines(script: &str, text: &str) -> Result<Self, ScriptError> {
        let mut left = VecDeque::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            if left.len() == REPLIES_MAX {
                return Err(ScriptError::TooLong {
                    script: script.to_owned(),
                });
            }
            let number = index + 1;
            let reply = parse_line(number, line).map_err(|message| ScriptError::BadLine {
                script: script.to_owned(),
                line: number,
                message,
            })?;
            left.push_back(reply);
        }
        Ok(Self {
            name: format!("script:{script}"),
            n_replies: left.len(),
            left: Mutex::new(left),
        })
    }

    fn next(&self) -> Result<ModelReply, LlmFailure> {
        // Taking one reply leaves the queue whole, so a poisoned lock is no reason to fail.
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.pop_front().unwrap_or_else(|| {
            let message = format!(
                "`{}` has given all of its {} replies; add a line for every request",
                self.name, self.n_replies
            );
            Err(LlmFailure::new(LlmReason::Provider, false, message))
        })
    }
}

#[async_trait]
impl Provider for ScriptProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    /// A script is written for what it will be asked; its replies are checked like any other's.
    fn format_ability(&self) -> Option<FormatAbility> {
        Some(FormatAbility {
            is_held: false,
            with_tools: true,
            keeps_order: true,
        })
    }

    async fn complete(
        &self,
        _: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        let reply = self.next().map_err(LlmError::Failed)?;
        reply.tell(sink);
        Ok(reply)
    }
}

fn parse_line(number: usize, line: &str) -> Result<Result<ModelReply, LlmFailure>, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("longer than {LINE_BYTES_MAX} bytes"));
    }
    let value: Json = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
    let object = match value {
        Json::String(text) => return Ok(Ok(ModelReply::text_only(text))),
        object @ Json::Object(_) => object,
        _ => return Err("neither a string nor an object".to_owned()),
    };
    let line: Line = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let answers = line.text.is_some() || !line.tool_calls.is_empty();
    match (answers, line.error, line.usage) {
        (true, None, usage) => Ok(Ok(reply(number, line.text, line.tool_calls, usage))),
        (false, Some(error), None) => parse_error(error).map(Err),
        _ => Err(
            "an object holds `text` or `tool_calls` or both, with `usage` if wanted, or only \
             `error`"
                .to_owned(),
        ),
    }
}

fn reply(
    number: usize,
    text: Option<String>,
    calls: Vec<CallLine>,
    usage: Option<UsageLine>,
) -> ModelReply {
    let stop = if calls.is_empty() {
        StopReason::End
    } else {
        StopReason::ToolUse
    };
    let calls = calls.into_iter().enumerate().map(|(index, call)| {
        ContentBlock::ToolCall(ToolCall {
            id: format!("script-{number}-{}", index + 1),
            name: call.name,
            arguments: Json::Object(call.arguments).to_string(),
        })
    });
    ModelReply {
        content: text
            .map(ContentBlock::Text)
            .into_iter()
            .chain(calls)
            .collect(),
        stop,
        usage: usage.map(|usage| Usage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read: usage.cache_read,
            cache_create: usage.cache_create,
        }),
    }
}

fn parse_error(error: ErrorLine) -> Result<LlmFailure, String> {
    let full = match error {
        ErrorLine::Message(message) => {
            return Ok(LlmFailure::new(LlmReason::Provider, false, message));
        }
        ErrorLine::Full(full) => full,
    };
    let reason = match &full.reason {
        None => LlmReason::Provider,
        Some(word) => REASONS
            .into_iter()
            .find(|reason| reason.as_str() == word)
            .ok_or_else(|| {
                let known: Vec<_> = REASONS.iter().map(|reason| reason.as_str()).collect();
                format!("`error.reason` is one of {}", known.join(", "))
            })?,
    };
    let mut failure = LlmFailure::new(reason, full.retryable, full.message);
    failure.http_status = full.http_status;
    failure.retry_after_ms = full.retry_after_ms;
    Ok(failure)
}

#[cfg(test)]
mod tests {
    use openprogram_core::content::Message;
    use openprogram_core::id::SessionId;
    use openprogram_core::llm::NoEvents;

    use super::*;

    fn ask(provider: &ScriptProvider) -> Result<ModelReply, LlmError> {
        let session = SessionId::from_bits(1);
        let request = ModelRequest::new(None, vec![Message::user("hello")], session);
        pollster::block_on(provider.complete(&request, &NoEvents))
    }

    #[test]
    fn the_replies_come_in_order_and_running_out_is_a_failure_of_the_model() {
        let lines = "\u{feff}\"one\"\n\n{\"text\": \"two\", \"usage\": {\"input_tokens\": 3}}\r\n\
                     {\"error\": \"overloaded\"}\n\
                     {\"error\": {\"message\": \"slow down\", \"reason\": \"rate_limit\", \
                     \"retryable\": true, \"http_status\": 429, \"retry_after_ms\": 1500}}\n";
        let provider = ScriptProvider::from_lines("replies.jsonl", lines).unwrap();

        let mut two = ModelReply::text_only("two");
        two.usage = Some(Usage {
            input_tokens: 3,
            ..Usage::default()
        });
        let overloaded = LlmFailure::new(LlmReason::Provider, false, "overloaded");
        let mut slow_down = LlmFailure::new(LlmReason::RateLimit, true, "slow down");
        slow_down.http_status = Some(429);
        slow_down.retry_after_ms = Some(1500);
        let ran_out = LlmFailure::new(
            LlmReason::Provider,
            false,
            "`script:replies.jsonl` has given all of its 4 replies; add a line for every request",
        );
        let expected = [
            Ok(ModelReply::text_only("one")),
            Ok(two),
            Err(LlmError::Failed(overloaded)),
            Err(LlmError::Failed(slow_down)),
            Err(LlmError::Failed(ran_out.clone())),
            Err(LlmError::Failed(ran_out)),
        ];
        for (index, expected) in expected.into_iter().enumerate() {
            assert_eq!(ask(&provider), expected, "request {index}");
        }
    }

    #[test]
    fn a_reply_may_call_tools_with_or_without_a_text() {
        let lines = "\n{\"text\": \"Let me see.\", \"tool_calls\": [{\"name\": \"find\", \
                     \"arguments\": {\"b\": 1.50, \"a\": 2}}, {\"name\": \"find\"}]}\n\
                     {\"tool_calls\": [{\"name\": \"find\"}]}";
        let provider = ScriptProvider::from_lines("s", lines).unwrap();
        let call = |id: &str, arguments: &str| {
            ContentBlock::ToolCall(ToolCall {
                id: id.to_owned(),
                name: "find".to_owned(),
                arguments: arguments.to_owned(),
            })
        };
        let reply = |content| ModelReply {
            content,
            stop: StopReason::ToolUse,
            usage: None,
        };
        let text = ContentBlock::Text("Let me see.".to_owned());
        let first = call("script-2-1", "{\"b\":1.50,\"a\":2}");
        let both = reply(vec![text, first, call("script-2-2", "{}")]);
        assert_eq!(ask(&provider), Ok(both));
        assert_eq!(ask(&provider), Ok(reply(vec![call("script-3-1", "{}")])));
    }

    fn check_refused(lines: &str, expected: &str) {
        let error = ScriptProvider::from_lines("s", lines).unwrap_err();
        assert_eq!(error.to_string(), expected, "{lines}");
    }

    #[test]
    fn a_bad_line_is_refused_when_the_script_is_loaded() {
        check_refused(
            "\"one\"\n\n{oops}\n",
            "line 3 of the script `s`: not JSON: key must be a string at line 1 column 2",
        );
        check_refused(
            "12",
            "line 1 of the script `s`: neither a string nor an object",
        );
        let shape = "line 1 of the script `s`: \
                     an object holds `text` or `tool_calls` or both, with `usage` if wanted, or \
                     only `error`";
        for line in [
            "{}",
            "{\"usage\": {}}",
            "{\"tool_calls\": []}",
            "{\"tool_calls\": [{\"name\": \"f\"}], \"error\": \"b\"}",
            "{\"text\": \"a\", \"error\": \"b\"}",
            "{\"error\": \"b\", \"usage\": {}}",
        ] {
            check_refused(line, shape);
        }
        check_refused(
            "{\"txt\": \"a\"}",
            "line 1 of the script `s`: unknown field `txt`, \
             expected one of `text`, `tool_calls`, `usage`, `error`",
        );
        check_refused(
            "\"a\"\n{\"text\": \"b\", \"tool_calls\": [{\"arguments\": {}}]}",
            "line 2 of the script `s`: missing field `name`",
        );
        check_refused(
            "{\"error\": {\"message\": \"m\", \"reason\": \"bored\"}}",
            "line 1 of the script `s`: `error.reason` is one of transport, rate_limit, provider, \
             auth, authz, invalid, context, policy, timeout, unknown",
        );
        let many = "\"a\"\n".repeat(REPLIES_MAX + 1);
        check_refused(
            &many,
            "the script `s` holds more than 10000 replies; split it",
        );
        let long = format!("\"{}\"", "a".repeat(LINE_BYTES_MAX));
        check_refused(&long, "line 1 of the script `s`: longer than 4194304 bytes");
    }
}
