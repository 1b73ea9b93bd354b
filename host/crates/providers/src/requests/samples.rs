//! Requests and formats with everything in them that a model, a host or an author may have written.

use openprogram_core::content::{CacheTtl, ContentBlock, Message, Role, ThinkingLevel};
use openprogram_core::llm::ModelRequest;
use openprogram_core::structured::ResponseFormat;
use openprogram_core::tool::ToolChoice;
use serde_json::json;

use super::{call, image, message, request, result, text, with_tools};

/// A format whose properties are not in the order of the alphabet, with words for people.
pub(super) fn response_format() -> ResponseFormat {
    let format = json!({
        "type": "json_schema",
        "name": "ticket",
        "description": "What becomes of a ticket.",
        "schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["refund", "answer"], "description": "What to do."},
                "due": {"type": ["string", "null"], "format": "date", "default": null},
                "notes": {"type": "array", "items": {"$ref": "#/$defs/note"}, "x-order": 3},
            },
            "required": ["kind", "due", "notes"],
            "additionalProperties": false,
            "$defs": {
                "note": {
                    "type": "object",
                    "properties": {"default": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
                    "required": ["default"],
                    "additionalProperties": false,
                },
            },
        },
    });
    ResponseFormat::read(&format).unwrap()
}

/// A tool loop under way, with everything that a model and a host may have written.
pub(super) fn history() -> Vec<Message> {
    vec![
        Message::user("Where is my order?"),
        message(
            Role::Assistant,
            vec![
                text("Let me look."),
                text(""),
                call(
                    "call_1",
                    "look_up_order",
                    "{ \"order_id\": \"A-1\", \"at\": 1.50 }",
                ),
                call("functions.x:0", "shop.list orders", "{\"cut"),
            ],
        ),
        message(
            Role::User,
            vec![
                text("And?"),
                result("call_1", "on its way", false),
                result("functions.x:0", "", true),
                image(),
            ],
        ),
        message(Role::Assistant, vec![call("call_3", "list_orders", "")]),
        message(Role::User, vec![result("call_3", "[]", false)]),
        Message::user("Done?"),
    ]
}

/// A turn in which the model has thought, in the words of every protocol.
pub(crate) fn thought() -> ModelRequest {
    let signed = json!({"type": "thinking", "thinking": "Look.", "signature": "c2ln\n"});
    let redacted = json!({"type": "redacted_thinking", "data": "eHh4"});
    let plain = json!({"reasoning_content": "Look it up."});
    let answered = vec![
        ContentBlock::Thinking(signed),
        ContentBlock::Thinking(redacted),
        ContentBlock::Thinking(plain),
        call("call_1", "list_orders", "{}"),
    ];
    ModelRequest {
        messages: vec![
            Message::user("Where is my order?"),
            message(Role::Assistant, answered),
            message(Role::User, vec![result("call_1", "[]", false)]),
        ],
        thinking: ThinkingLevel::Low,
        ..with_tools(ToolChoice::Auto, None)
    }
}

/// A reply that the server paused amid its search, sent back to go on.
pub(super) fn paused() -> ModelRequest {
    let asked = json!({
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "orders", "at": 1.50},
    });
    let found = json!({
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{"type": "web_search_result", "url": "https://a.test/", "encrypted_content": "eHh4"}],
    });
    let said = vec![
        text("Let me search."),
        ContentBlock::ServerTool(asked),
        ContentBlock::ServerTool(found),
        text("So far: \n"),
    ];
    let messages = vec![
        Message::user("What is new?"),
        message(Role::Assistant, said),
    ];
    request(None, messages)
}

/// Five places to cache up to, the first of them the system prompt.
pub(super) fn marked() -> ModelRequest {
    let mark = || ContentBlock::CacheMark(CacheTtl::Usual);
    let said = vec![
        mark(),
        text("One."),
        mark(),
        image(),
        mark(),
        text("Two."),
        mark(),
        mark(),
        text("Three."),
        mark(),
        text("And now?"),
    ];
    request(Some("Be brief."), vec![message(Role::User, said)])
}

/// Places to cache up to, some of them for a time of their own: no later one may be kept for longer.
pub(super) fn marked_for_a_time() -> ModelRequest {
    let mark = ContentBlock::CacheMark;
    let said = vec![
        mark(CacheTtl::FiveMinutes),
        text("One."),
        mark(CacheTtl::Usual),
        text("Two."),
        mark(CacheTtl::Hour),
        text("Three."),
        mark(CacheTtl::FiveMinutes),
        text("And now?"),
    ];
    request(Some("Be brief."), vec![message(Role::User, said)])
}

/// Sound of this type.
pub(crate) fn audio(mime_type: &str) -> ModelRequest {
    let sound = ContentBlock::Audio {
        mime_type: mime_type.to_owned(),
        data: [b'R', b'I', b'F', b'F', 0xff].into(),
    };
    request(
        None,
        vec![message(Role::User, vec![text("Listen."), sound])],
    )
}
