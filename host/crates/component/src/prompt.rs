//! A model request in the forms of the contract. The same request gives the same bytes.

use openprogram_core::content::{ContentBlock, Message, Role};
use openprogram_core::llm::ModelRequest;
use openprogram_core::tool::{ToolChoice, ToolSpec};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::convert::encode_bytes;
use crate::handles::PromptHandle;

/// What a model component is asked.
pub(crate) fn prompt(request: &ModelRequest) -> PromptHandle {
    let messages: Json = request.messages.iter().map(message).collect();
    let tools: Json = request.tools.iter().map(tool).collect();
    PromptHandle {
        system: request.system.clone(),
        messages: messages.to_string(),
        tools: tools.to_string(),
        tool_choice: choice(&request.tool_choice).to_string(),
        parallel_tool_calls: request.parallel_tool_calls,
        thinking_level: request.thinking.as_str(),
        max_output_tokens: request.max_output_tokens,
        session_id: request.session.as_str().to_owned(),
    }
}

fn message(message: &Message) -> Json {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content: Json = message.content.iter().map(block).collect();
    json!({ "role": role, "content": content })
}

fn block(block: &ContentBlock) -> Json {
    match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text }),
        // The contract knows no time of it.
        ContentBlock::CacheMark(_) => json!({ "type": "cache_mark" }),
        ContentBlock::ToolCall(call) => json!({
            "type": "tool_call",
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }),
        ContentBlock::ToolResult(result) => json!({
            "type": "tool_result",
            "id": result.id,
            "text": result.text,
            "is_error": result.is_error,
        }),
        other => match other.as_media() {
            Some(media) => json!({
                "type": media.kind.as_str(),
                "mime_type": media.mime_type,
                "data": encode_bytes(media.data),
            }),
            // A reader passes over types that it does not know.
            None => json!({ "type": "unknown" }),
        },
    }
}

fn tool(tool: &ToolSpec) -> Json {
    let mut object = JsonObject::new();
    object.insert("name".to_owned(), tool.name.clone().into());
    object.insert("description".to_owned(), tool.description.clone().into());
    object.insert("parameters".to_owned(), tool.parameters.clone());
    Json::Object(object)
}

fn choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Named(name) => json!({ "name": name }),
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::content::{CacheTtl, MediaKind, ThinkingLevel, ToolCall, ToolResult};
    use openprogram_core::id::SessionId;

    use super::*;

    fn request() -> ModelRequest {
        let session = SessionId::parse("op-0123456789abcdef").unwrap();
        let image = ContentBlock::Image {
            mime_type: "image/png".to_owned(),
            data: b"\x89PNG".as_slice().into(),
        };
        let call = ToolCall {
            id: "c1".to_owned(),
            name: "look_up".to_owned(),
            arguments: "{\"order\": ".to_owned(),
        };
        let result = ToolResult {
            id: "c1".to_owned(),
            text: "no JSON".to_owned(),
            is_error: true,
        };
        let messages = vec![
            Message {
                role: Role::User,
                content: vec![
                    ContentBlock::Text("look".to_owned()),
                    image,
                    ContentBlock::media(MediaKind::Audio, "audio/wav", b"RIFF".as_slice().into()),
                    ContentBlock::CacheMark(CacheTtl::Hour),
                ],
            },
            Message {
                role: Role::Assistant,
                content: vec![ContentBlock::ToolCall(call)],
            },
            Message {
                role: Role::User,
                content: vec![ContentBlock::ToolResult(result)],
            },
        ];
        let mut request = ModelRequest::new(Some("be brief".to_owned()), messages, session);
        request.tools = vec![ToolSpec {
            name: "look_up".to_owned(),
            description: "Looks an order up.".to_owned(),
            parameters: json!({"type": "object", "properties": {}}),
            strict: false,
        }];
        request.tool_choice = ToolChoice::Named("look_up".to_owned());
        request.parallel_tool_calls = Some(false);
        request.thinking = ThinkingLevel::High;
        request.max_output_tokens = Some(9);
        request
    }

    #[test]
    fn a_request_has_one_form() {
        let prompt = prompt(&request());
        assert_eq!(
            prompt.messages,
            r#"[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","mime_type":"image/png","data":"iVBORw=="},{"type":"audio","mime_type":"audio/wav","data":"UklGRg=="},{"type":"cache_mark"}]},{"role":"assistant","content":[{"type":"tool_call","id":"c1","name":"look_up","arguments":"{\"order\": "}]},{"role":"user","content":[{"type":"tool_result","id":"c1","text":"no JSON","is_error":true}]}]"#
        );
        assert_eq!(
            prompt.tools,
            r#"[{"name":"look_up","description":"Looks an order up.","parameters":{"type":"object","properties":{}}}]"#
        );
        assert_eq!(prompt.tool_choice, r#"{"name":"look_up"}"#);
        assert_eq!(
            (prompt.system.as_deref(), prompt.parallel_tool_calls),
            (Some("be brief"), Some(false))
        );
        assert_eq!(
            (prompt.thinking_level, prompt.max_output_tokens),
            ("high", Some(9))
        );
        assert_eq!(prompt.session_id, "op-0123456789abcdef");
    }

    #[test]
    fn choices_have_their_words() {
        for (given, expected) in [
            (ToolChoice::Auto, r#""auto""#),
            (ToolChoice::Required, r#""required""#),
            (ToolChoice::None, r#""none""#),
        ] {
            assert_eq!(choice(&given).to_string(), expected);
        }
    }
}
