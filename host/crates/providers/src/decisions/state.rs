//! What a decision is about, as far as the server takes it: the newest part of what the turn reads,
//! then the prompt. A decision endpoint remembers nothing, so everything is sent every time.

use std::borrow::Cow;

use openprogram_core::content::{ContentBlock, Message, Role};
use openprogram_core::llm::{DecisionState, LlmFailure, LlmReason};
use openprogram_core::text::{set_in, set_in_bytes};

/// Between the blocks of one message, and between speakers.
const BETWEEN: &str = "\n\n";
/// What a role adds to its text, at most.
const ROLE_BYTES: usize = "Assistant:\n\n\n".len();

/// The part of a state that is sent.
pub(super) struct Cut<'a> {
    system: Option<&'a str>,
    /// The newest texts, oldest first, those in a row of one role as one.
    messages: Vec<(Role, String)>,
    prompt: &'a str,
    /// How many of the oldest texts are not there.
    pub(super) n_left_out: usize,
}

/// The newest part of a state that has so many bytes, the system prompt and the prompt included.
///
/// # Errors
/// When these two alone have more.
pub(super) fn within(state: &DecisionState, bytes_max: usize) -> Result<Cut<'_>, LlmFailure> {
    let system = state.system.as_deref().filter(|text| !text.is_empty());
    let fixed = set_in_bytes(&state.prompt) + system.map_or(0, set_in_bytes) + 2 * ROLE_BYTES;
    let Some(mut left) = bytes_max.checked_sub(fixed) else {
        let message = format!(
            "the prompt of the decision has {fixed} bytes and the model takes {bytes_max}; \
             shorten it, or set `decision_state_bytes` in a `[[profiles]]` row for the model in \
             openprogram.toml"
        );
        return Err(LlmFailure::new(LlmReason::Context, false, message));
    };
    let mut messages: Vec<(Role, String)> = Vec::new();
    let mut n_left_out = 0;
    for (role, text) in state.messages.iter().rev().flat_map(texts) {
        let rest = left.checked_sub(set_in_bytes(text) + ROLE_BYTES);
        // What is older than something left out is left out too: no gap is hidden.
        let Some(rest) = rest.filter(|_| n_left_out == 0) else {
            n_left_out += 1;
            continue;
        };
        left = rest;
        match messages.last_mut() {
            Some((last, newer)) if *last == role => {
                newer.insert_str(0, BETWEEN);
                newer.insert_str(0, text);
            }
            _ => messages.push((role, text.to_owned())),
        }
    }
    messages.reverse();
    Ok(Cut {
        system,
        messages,
        prompt: &state.prompt,
        n_left_out,
    })
}

impl<'a> Cut<'a> {
    /// The state as one text, in which no line of what somebody said can pass for another speaker.
    /// Without context it is the prompt alone.
    pub(super) fn as_text(&self) -> Cow<'a, str> {
        if self.system.is_none() && self.messages.is_empty() {
            return Cow::Borrowed(self.prompt);
        }
        let said = |(who, text): (&str, &str)| format!("{who}:\n{}", set_in(text));
        let parts: Vec<String> = self.said().map(said).collect();
        Cow::Owned(parts.join(BETWEEN))
    }

    /// Who said what: the system prompt, the messages, the prompt.
    fn said(&self) -> impl Iterator<Item = (&str, &str)> {
        let who = |role: &Role| match role {
            Role::User => "User",
            Role::Assistant => "Assistant",
        };
        let system = self.system.map(|text| ("System", text));
        let messages = self.messages.iter();
        let messages = messages.map(move |(role, text)| (who(role), text.as_str()));
        let prompt = ("User", self.prompt);
        system.into_iter().chain(messages).chain([prompt])
    }

    /// The system prompt.
    pub(super) fn system(&self) -> Option<&'a str> {
        self.system
    }

    /// The messages, the prompt joined to the last one where that is the user's.
    pub(super) fn messages(&self) -> Vec<(Role, Cow<'_, str>)> {
        let shared = self.messages.iter();
        let mut messages: Vec<_> = shared
            .map(|(role, text)| (*role, Cow::Borrowed(text.as_str())))
            .collect();
        match messages.last_mut() {
            Some((Role::User, text)) => {
                let text = text.to_mut();
                text.push_str(BETWEEN);
                text.push_str(self.prompt);
            }
            _ => messages.push((Role::User, Cow::Borrowed(self.prompt))),
        }
        messages
    }
}

/// The texts of a message, newest first. Calls and their results are not part of what a decision
/// reads.
fn texts(message: &Message) -> impl Iterator<Item = (Role, &str)> {
    let texts = message
        .content
        .iter()
        .rev()
        .filter_map(ContentBlock::as_text);
    let texts = texts.filter(|text| !text.is_empty());
    texts.map(|text| (message.role, text))
}
