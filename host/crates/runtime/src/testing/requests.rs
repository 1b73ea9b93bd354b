//! What every request of the runtime is, whatever the model: one that breaks it panics.

use std::collections::VecDeque;

use openprogram_core::content::{ContentBlock, Message, Role};
use openprogram_core::llm::ModelRequest;
use openprogram_core::tool::ToolChoice;

pub(super) fn check_turns(messages: &[Message], was_paused: bool) {
    assert!(!messages.is_empty(), "a request without messages");
    let mut ids: Vec<&str> = Vec::new();
    let mut open: VecDeque<&str> = VecDeque::new();
    for (index, message) in messages.iter().enumerate() {
        let expected = if index % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        assert_eq!(message.role, expected, "message {index} of {messages:#?}");
        assert!(!message.content.is_empty(), "message {index} is empty");
        for block in &message.content {
            match block {
                ContentBlock::Text(text) => {
                    assert!(!text.trim().is_empty(), "message {index}: no text");
                }
                ContentBlock::ToolCall(call) => {
                    assert_eq!(expected, Role::Assistant, "message {index} calls");
                    assert!(!ids.contains(&&*call.id), "the id `{}` twice", call.id);
                    ids.push(&call.id);
                    open.push_back(&call.id);
                }
                ContentBlock::ToolResult(result) => {
                    let asked = open.pop_front();
                    assert_eq!(asked, Some(&*result.id), "message {index}: out of order");
                    assert!(!result.text.is_empty(), "message {index}: an empty result");
                }
                _ => {}
            }
        }
        let may_be_open = message.role == Role::Assistant;
        assert!(
            may_be_open || open.is_empty(),
            "unanswered calls {open:?} after message {index}"
        );
    }
    let is_last_users = messages.len() % 2 == 1;
    assert!(
        is_last_users || was_paused,
        "the last message is the user's"
    );
}

pub(super) fn check_tools(request: &ModelRequest) {
    let names: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
    let increasing = names.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(increasing, "tools out of order or twice: {names:?}");
    for name in &names {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(plain);
        assert!(fits, "no provider takes a tool `{name}`");
    }
    match &request.tool_choice {
        ToolChoice::Auto => {}
        ToolChoice::Named(name) => assert!(names.contains(&&**name), "no tool `{name}`"),
        _ => assert!(!names.is_empty(), "a choice without tools"),
    }
    let blocks = request.messages.iter().flat_map(|m| &m.content);
    let calls = blocks.filter(|block| matches!(block, ContentBlock::ToolCall(_)));
    assert!(
        calls.count() == 0 || !names.is_empty(),
        "a request without tools repeats calls"
    );
}

pub(super) fn check_texts(request: &ModelRequest, forbidden: &[String], longest: usize) {
    let schemas: Vec<_> = request
        .tools
        .iter()
        .map(|tool| tool.parameters.to_string())
        .collect();
    let mut texts: Vec<&str> = request.system.iter().map(String::as_str).collect();
    for block in request.messages.iter().flat_map(|m| &m.content) {
        match block {
            ContentBlock::Text(text) => texts.push(text),
            ContentBlock::ToolCall(call) => texts.extend([&*call.name, &*call.arguments]),
            ContentBlock::ToolResult(result) => texts.push(&result.text),
            _ => {}
        }
    }
    let described = request.tools.iter().flat_map(|t| [&t.name, &t.description]);
    texts.extend(described.map(String::as_str));
    texts.extend(schemas.iter().map(String::as_str));
    for forbidden in forbidden {
        let found = texts.iter().find(|text| text.contains(forbidden.as_str()));
        assert!(
            found.is_none(),
            "`{forbidden}` reached the model: {found:?}"
        );
    }
    let length: usize = texts.iter().map(|text| text.len()).sum();
    assert!(length <= longest, "{length} bytes, more than {longest}");
}
