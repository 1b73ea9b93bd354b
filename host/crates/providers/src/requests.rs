//! Requests for the tests of every protocol. What is sent for each of them is recorded whole.

mod samples;

use std::path::Path;

use expect_test::expect_file;
use openprogram_core::Json;
use openprogram_core::content::{
    CacheTtl, ContentBlock, Message, Role, ThinkingLevel, ToolCall, ToolResult,
};
use openprogram_core::id::SessionId;
use openprogram_core::llm::{LlmFailure, ModelRequest, submit_tool};
use openprogram_core::tool::{ToolChoice, ToolSpec};
use serde_json::json;

use crate::profile::{Profile, Protocol, ThinkingForm};

pub(crate) use samples::{audio, thought};
use samples::{history, marked, marked_for_a_time, paused, response_format};

/// A profile that takes everything, as for a server whose owner has marked it.
pub(crate) fn generous(protocol: Protocol) -> Profile {
    Profile {
        forced_tool_choice: true,
        named_tool_choice: true,
        parallel_switch: true,
        tools_max: Some(2),
        images: true,
        web_search: true,
        audio: true,
        native_json_schema: true,
        native_json_with_tools: true,
        strict_tools: true,
        ..Profile::conservative(protocol)
    }
}

/// The same for a model that thinks in levels.
pub(crate) fn thinker(profile: &Profile, protocol: &str) -> Profile {
    Profile {
        thinking: Some(match protocol {
            "anthropic" => ThinkingForm::Adaptive,
            _ => ThinkingForm::Effort,
        }),
        thinking_efforts: ["none", "low", "high"].map(str::to_owned).into(),
        ..profile.clone()
    }
}

fn tool(name: &str, parameters: Json) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters,
        strict: false,
    }
}

fn message(role: Role, content: Vec<ContentBlock>) -> Message {
    Message { role, content }
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text(text.to_owned())
}

fn call(id: &str, name: &str, arguments: &str) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn result(id: &str, text: &str, is_error: bool) -> ContentBlock {
    ContentBlock::ToolResult(ToolResult {
        id: id.to_owned(),
        text: text.to_owned(),
        is_error,
    })
}

fn mark() -> ContentBlock {
    ContentBlock::CacheMark(CacheTtl::Usual)
}

fn image() -> ContentBlock {
    ContentBlock::Image {
        mime_type: "image/png".to_owned(),
        data: [0x89, b'P', b'N', b'G', 0xff].into(),
    }
}

fn request(system: Option<&str>, messages: Vec<Message>) -> ModelRequest {
    let session = SessionId::from_bits(0x2a);
    ModelRequest::new(system.map(str::to_owned), messages, session)
}

pub(crate) fn plain() -> ModelRequest {
    request(Some("Be brief."), vec![Message::user("Hello")])
}

/// Two tools whose properties are not in the order of the alphabet.
fn tools() -> Vec<ToolSpec> {
    let order = json!({
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "at": {"type": "integer"}},
        "required": ["order_id"],
        "additionalProperties": false,
    });
    let none = json!({"type": "object", "properties": {}});
    vec![tool("list_orders", none), tool("look_up_order", order)]
}

pub(crate) fn with_tools(tool_choice: ToolChoice, parallel: Option<bool>) -> ModelRequest {
    ModelRequest {
        tools: tools(),
        tool_choice,
        parallel_tool_calls: parallel,
        ..plain()
    }
}

/// Every request whose body is recorded, by name.
fn recorded() -> Vec<(&'static str, ModelRequest)> {
    let named = ToolChoice::Named("list_orders".to_owned());
    vec![
        ("plain", plain()),
        (
            "without_system",
            request(Some(""), vec![Message::user("Hello")]),
        ),
        ("tools", with_tools(ToolChoice::Auto, None)),
        (
            "tools_one_at_a_time",
            with_tools(ToolChoice::Auto, Some(false)),
        ),
        (
            "tool_required",
            with_tools(ToolChoice::Required, Some(false)),
        ),
        ("tool_named", with_tools(named, Some(true))),
        ("tools_not_now", with_tools(ToolChoice::None, None)),
        (
            "choice_without_tools",
            ModelRequest {
                tool_choice: ToolChoice::None,
                parallel_tool_calls: Some(true),
                ..plain()
            },
        ),
        (
            "history",
            ModelRequest {
                messages: history(),
                ..with_tools(ToolChoice::Auto, None)
            },
        ),
        ("history_without_tools", request(None, history())),
        (
            "format",
            ModelRequest {
                response_format: Some(response_format()),
                ..plain()
            },
        ),
        (
            "format_with_tools",
            ModelRequest {
                response_format: Some(response_format()),
                ..with_tools(ToolChoice::Auto, None)
            },
        ),
        (
            "format_handed_in_by_a_tool",
            ModelRequest {
                tools: vec![submit_tool(&response_format()), tools().remove(1)],
                parallel_tool_calls: Some(false),
                ..plain()
            },
        ),
        (
            "begins_with_the_model",
            request(
                None,
                vec![
                    Message::assistant(""),
                    Message::assistant("Welcome."),
                    message(Role::User, vec![image(), text("What is this?")]),
                ],
            ),
        ),
    ]
}

/// The same for a model that may search the web.
fn recorded_searches() -> Vec<(&'static str, ModelRequest)> {
    let requests = [
        ("web_search", with_tools(ToolChoice::Auto, None)),
        ("web_search_after_calls", request(None, history())),
        ("web_search_paused", paused()),
    ];
    let searching = |request| ModelRequest {
        web_search: true,
        ..request
    };
    let requests = requests.into_iter();
    requests
        .map(|(name, request)| (name, searching(request)))
        .collect()
}

/// Those of them that are about thinking and caches.
fn recorded_hints() -> Vec<(&'static str, ModelRequest)> {
    vec![
        (
            "thinks",
            ModelRequest {
                thinking: ThinkingLevel::High,
                max_output_tokens: Some(500),
                response_format: Some(response_format()),
                ..plain()
            },
        ),
        ("thought", thought()),
        ("cache_marks", marked()),
        ("cache_marks_for_a_time", marked_for_a_time()),
        (
            "cached_system",
            request(
                Some("Be brief."),
                vec![message(Role::User, vec![mark(), text("Hello")])],
            ),
        ),
    ]
}

/// The encoder of a protocol: request, name of the model, profile.
type Encode = fn(&ModelRequest, &str, &Profile) -> Result<Vec<u8>, LlmFailure>;

/// Encodes every recorded request and compares the whole body, order included.
pub(crate) fn check_recorded(protocol: &str, profile: &Profile, encode: Encode) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/requests");
    let thinker = thinker(profile, protocol);
    let requests = recorded().into_iter().chain(recorded_hints());
    for (name, request) in requests.chain(recorded_searches()) {
        let profile = match request.thinking {
            ThinkingLevel::Off => profile,
            _ => &thinker,
        };
        let body = encode(&request, "m", profile).unwrap();
        assert_eq!(
            encode(&request.clone(), "m", profile).unwrap(),
            body,
            "`{name}` differs from time to time"
        );
        let json: Json = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            json.to_string().as_bytes(),
            body,
            "`{name}` holds what JSON does not keep"
        );
        let pretty = serde_json::to_string_pretty(&json).unwrap() + "\n";
        let file = folder.join(protocol).join(format!("{name}.json"));
        expect_file![file].assert_eq(&pretty);
    }
}

/// Requests that the conservative profile or any profile refuses, with the beginning of the reason.
fn refused() -> Vec<(ModelRequest, &'static str)> {
    let with_image = vec![message(Role::User, vec![image()])];
    let mut three = with_tools(ToolChoice::Auto, None);
    three.tools.push(tool("third", json!({"type": "object"})));
    let named = ToolChoice::Named("absent".to_owned());
    let mut none_offered = with_tools(ToolChoice::Required, None);
    none_offered.tools.clear();
    let film = ContentBlock::Video {
        mime_type: "video/mp4".to_owned(),
        data: [0].into(),
    };
    let film = vec![message(Role::User, vec![film])];
    let mark = vec![message(Role::User, vec![mark()])];
    vec![
        (request(None, vec![]), "the request holds no content"),
        (request(None, mark), "the request holds no content"),
        (
            request(None, film),
            "the protocol of the model has no form for video",
        ),
        (audio("audio/wav"), "the model is not known to hear sound"),
        (
            ModelRequest {
                thinking: ThinkingLevel::Low,
                ..plain()
            },
            "the model is not known to think in levels such as `low`; use `off`",
        ),
        (
            request(None, vec![Message::user("")]),
            "the request holds no content",
        ),
        (
            request(None, with_image),
            "the model is not known to see images",
        ),
        (
            with_tools(ToolChoice::Required, None),
            "the model is not known to take the tool choice",
        ),
        (
            with_tools(named, None),
            "the tool `absent` is demanded and not offered",
        ),
        (
            none_offered,
            "a tool call is demanded and no tool is offered",
        ),
        (
            ModelRequest {
                response_format: Some(response_format()),
                ..plain()
            },
            "the model is not known to hold its replies to a schema such as `ticket`; use",
        ),
        (
            ModelRequest {
                tools: vec![submit_tool(&response_format())],
                ..plain()
            },
            "the model is not known to hold calls to a schema such as that of",
        ),
        (
            ModelRequest {
                web_search: true,
                ..plain()
            },
            "the model is not known to search the web",
        ),
        (three, "the request offers 3 tools and the model takes 2"),
    ]
}

/// Checks that each of them is refused for its reason and for good.
pub(crate) fn check_refused(protocol: Protocol, encode: Encode) {
    let profile = Profile {
        tools_max: Some(2),
        ..Profile::conservative(protocol)
    };
    for (request, why) in refused() {
        let failure = encode(&request, "m", &profile).unwrap_err();
        assert!(failure.message.starts_with(why), "{}", failure.message);
        assert_eq!(
            (failure.reason.as_str(), failure.retryable),
            ("invalid", false)
        );
    }
    let alone = Profile {
        native_json_schema: true,
        ..profile
    };
    let both = ModelRequest {
        response_format: Some(response_format()),
        ..with_tools(ToolChoice::Auto, None)
    };
    let failure = encode(&both, "m", &alone).unwrap_err();
    let why =
        "the model is not known to hold its replies to a schema such as `ticket` beside tools";
    assert!(failure.message.starts_with(why), "{}", failure.message);
}
