//! Takes the key out of what a server writes: texts, thinking, calls, whole and while they arrive.
//!
//! What is recorded of a reply is read by people, by functions and by models of other servers. None of
//! them is to have the key, and a server that was sent it can write it anywhere.

use std::sync::{Mutex, PoisonError};

use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::llm::{EventSink, ModelEvent, ModelReply};
use openprogram_core::secret::{Secret, SecretForms};

/// A shorter key is a word, as local servers take for one, and stays in texts. No real key is so short.
const KEY_BYTES_MIN: usize = 8;

/// The forms of a key that are taken out of replies; none where there is no key.
pub(crate) fn forms_of(key: Option<&Secret>) -> SecretForms {
    let key = key.filter(|key| key.expose().len() >= KEY_BYTES_MIN);
    key.map(Secret::forms).unwrap_or_default()
}

/// The reply without the key. Texts of neighbouring blocks are read as one, as others read them.
pub(crate) fn without_key(mut reply: ModelReply, forms: &SecretForms) -> ModelReply {
    if forms.is_empty() {
        return reply;
    }
    let joined = forms.clean(reply.text());
    let mut rest = joined.as_str();
    for block in &mut reply.content {
        match block {
            ContentBlock::Text(text) => {
                // Stars are as long as what they cover.
                let (own, after) = rest.split_at_checked(text.len()).unwrap_or((rest, ""));
                *text = own.to_owned();
                rest = after;
            }
            ContentBlock::ToolCall(call) => clean_call(call, forms),
            ContentBlock::Thinking(json) | ContentBlock::ServerTool(json) => {
                clean_json(json, forms);
            }
            _ => {}
        }
    }
    reply
}

fn clean_call(call: &mut ToolCall, forms: &SecretForms) {
    for text in [&mut call.id, &mut call.name, &mut call.arguments] {
        *text = forms.clean(std::mem::take(text));
    }
}

fn clean_json(value: &mut Json, forms: &SecretForms) {
    match value {
        Json::String(text) => *text = forms.clean(std::mem::take(text)),
        Json::Array(items) => items.iter_mut().for_each(|item| clean_json(item, forms)),
        Json::Object(members) => {
            let cleaned = std::mem::take(members).into_iter().map(|(key, mut value)| {
                clean_json(&mut value, forms);
                (forms.clean(key), value)
            });
            *members = cleaned.collect();
        }
        _ => {}
    }
}

/// Hands the pieces of a reply on without the key, wherever they end.
///
/// What is held back until more comes is the last word, as far as it can be the beginning of a key,
/// whatever the key is: to hold back only what looks like a beginning would tell whoever watches what
/// looks like one.
pub(crate) struct Redacting<'a> {
    forms: &'a SecretForms,
    sink: &'a dyn EventSink,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    is_thinking: bool,
    text: String,
}

impl<'a> Redacting<'a> {
    pub(crate) fn new(forms: &'a SecretForms, sink: &'a dyn EventSink) -> Self {
        Self {
            forms,
            sink,
            held: Mutex::default(),
        }
    }

    /// Tells what is held back, once the reply has ended. Of one that failed it is dropped, since half
    /// a key may be in it.
    pub(crate) fn finish(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.flush(&mut held);
    }

    fn flush(&self, held: &mut Held) {
        let rest = self.forms.clean(std::mem::take(&mut held.text));
        self.tell(held.is_thinking, rest);
    }

    fn tell(&self, is_thinking: bool, text: String) {
        if !text.is_empty() {
            self.sink.event(match is_thinking {
                true => ModelEvent::Thinking(text),
                false => ModelEvent::Text(text),
            });
        }
    }

    fn piece(&self, is_thinking: bool, piece: &str) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_thinking != is_thinking {
            self.flush(&mut held);
            held.is_thinking = is_thinking;
        }
        held.text.push_str(piece);
        let mut bytes = std::mem::take(&mut held.text).into_bytes();
        // A word that is open is no longer than a key, and a key that begins before it is whole.
        let in_word = |byte: &&u8| byte.is_ascii_graphic();
        let word = bytes.iter().rev().take_while(in_word).count();
        let settled = bytes.len() - word.min(self.forms.n_open());
        self.forms.cover(&mut bytes, settled);
        let open = bytes.split_off(settled);
        held.text = String::from_utf8_lossy(&open).into_owned();
        self.tell(is_thinking, String::from_utf8_lossy(&bytes).into_owned());
    }
}

impl EventSink for Redacting<'_> {
    fn event(&self, event: ModelEvent) {
        if self.forms.is_empty() {
            return self.sink.event(event);
        }
        match event {
            ModelEvent::Text(text) => self.piece(false, &text),
            ModelEvent::Thinking(text) => self.piece(true, &text),
            ModelEvent::ToolUse(mut call) => {
                self.finish();
                clean_call(&mut call, self.forms);
                self.sink.event(ModelEvent::ToolUse(call));
            }
            other => {
                self.finish();
                self.sink.event(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::llm::StopReason;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-very-secret";

    #[derive(Default)]
    struct Told(Mutex<Vec<ModelEvent>>);

    impl EventSink for Told {
        fn event(&self, event: ModelEvent) {
            self.0.lock().unwrap().push(event);
        }
    }

    fn key() -> SecretForms {
        forms_of(Some(&Secret::new(KEY)))
    }

    /// The pieces in which a text is told that comes in pieces of so many characters.
    fn told(text: &str, size: usize) -> Vec<String> {
        let (forms, sink) = (key(), Told::default());
        let redacting = Redacting::new(&forms, &sink);
        let chars: Vec<_> = text.chars().collect();
        for piece in chars.chunks(size) {
            redacting.event(ModelEvent::Text(piece.iter().collect()));
        }
        redacting.finish();
        let told = sink.0.into_inner().unwrap();
        let text = |event| match event {
            ModelEvent::Text(text) => text,
            other => panic!("{other:?}"),
        };
        told.into_iter().map(text).collect()
    }

    #[test]
    fn the_key_is_in_no_piece_wherever_the_pieces_end() {
        let encoded = "c2stdmVyeS1zZWNyZXQ=";
        for (text, expected) in [
            (
                format!("My key is {KEY}, again {KEY}{KEY}."),
                format!("My key is {0}, again {0}{0}.", "*".repeat(14)),
            ),
            ("terces-yrev-ks".to_owned(), "*".repeat(14)),
            (format!("ü{KEY}ü世界"), format!("ü{}ü世界", "*".repeat(14))),
            ("sk-very-secre".to_owned(), "sk-very-secre".to_owned()),
            (String::new(), String::new()),
        ] {
            for size in 1..=text.len().max(1) {
                assert_eq!(told(&text, size).concat(), expected, "in pieces of {size}");
            }
        }
        for size in 1..=encoded.len() {
            let told = told(encoded, size).concat();
            assert!(told.starts_with("******************"), "{told}");
        }
    }

    #[test]
    fn no_more_than_the_last_word_waits_and_that_says_nothing_of_the_key() {
        assert_eq!(told("a word and", 4), ["a ", "word ", "and"]);
        let ends = |word: &str| {
            let pieces = told(&format!("It is {word} and so on."), 3);
            pieces.iter().map(String::len).collect::<Vec<_>>()
        };
        assert_eq!(ends("sk-very"), ends("no-body"));
        // A long word is told once it is longer than a key can be.
        let long = told(&"x".repeat(1_000), 10);
        assert!(long.len() > 50, "{}", long.len());
        // What was never told of a reply that failed stays untold.
        let (forms, sink) = (key(), Told::default());
        Redacting::new(&forms, &sink).event(ModelEvent::Text("It is sk-very-".into()));
        let told = sink.0.into_inner().unwrap();
        assert_eq!(told, [ModelEvent::Text("It is ".into())]);
    }

    #[test]
    fn the_key_is_in_no_part_of_a_reply() {
        let call = ToolCall {
            id: KEY.to_owned(),
            name: "send".to_owned(),
            arguments: format!("{{\"to\": \"{KEY}\"}}"),
        };
        let text = |text: &str| ContentBlock::Text(text.to_owned());
        let thinking = json!({"thinking": KEY, KEY: [KEY]});
        let content = vec![
            ContentBlock::Thinking(thinking.clone()),
            text("It is sk-ve"),
            text("ry-secret."),
            ContentBlock::ToolCall(call.clone()),
            ContentBlock::ServerTool(thinking),
        ];
        let reply = ModelReply {
            content,
            stop: StopReason::ToolUse,
            usage: None,
        };
        let cleaned = without_key(reply.clone(), &key());
        assert_eq!(cleaned.text(), format!("It is {}.", "*".repeat(14)));
        assert_eq!(cleaned.content[1], text("It is *****"));
        let shown = format!("{cleaned:?}");
        assert!(
            !shown.contains("secret") && !shown.contains("sk-"),
            "{shown}"
        );
        assert_eq!(without_key(reply.clone(), &forms_of(None)), reply);
        let word = forms_of(Some(&Secret::new("ollama")));
        assert!(word.is_empty());

        let (forms, sink) = (key(), Told::default());
        let redacting = Redacting::new(&forms, &sink);
        redacting.event(ModelEvent::Thinking("Hm".to_owned()));
        redacting.event(ModelEvent::Text("So".to_owned()));
        redacting.event(ModelEvent::ToolUse(call));
        let told = sink.0.into_inner().unwrap();
        assert_eq!(told.len(), 3);
        assert_eq!(
            told[..2],
            [
                ModelEvent::Thinking("Hm".into()),
                ModelEvent::Text("So".into())
            ]
        );
        assert!(!format!("{told:?}").contains("secret"), "{told:?}");
    }
}
