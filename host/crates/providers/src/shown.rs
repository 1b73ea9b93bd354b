//! The tools of a request as a server is sent them: for people who look, and for tests. Nothing is
//! sent.

use openprogram_core::Json;
use openprogram_core::content::Message;
use openprogram_core::id::SessionId;
use openprogram_core::llm::{LlmFailure, ModelRequest};
use openprogram_core::tool::ToolSpec;

use crate::failure::refused;
use crate::profile::Profile;
use crate::server::TextProtocol;
use crate::{anthropic, openai};

/// The field `tools` of a request with these tools, to the letter.
///
/// # Errors
/// When a server with this profile cannot be sent them: there are too many, or one of them is strict
/// and its schema cannot be told whole.
pub fn tools_as_sent(
    protocol: TextProtocol,
    profile: &Profile,
    tools: &[ToolSpec],
) -> Result<Json, LlmFailure> {
    let session = SessionId::from_bits(0);
    let request = ModelRequest {
        tools: tools.to_vec(),
        ..ModelRequest::new(None, vec![Message::user("…")], session)
    };
    let body = match protocol {
        TextProtocol::OpenAi => openai::encode(&request, "", profile),
        TextProtocol::Anthropic => anthropic::encode(&request, "", profile),
    }?;
    let mut body: Json = serde_json::from_slice(&body)
        .map_err(|error| refused(format!("the request is not JSON: {error}")))?;
    let tools = body.get_mut("tools").map(Json::take);
    Ok(tools.unwrap_or_else(|| Json::Array(Vec::new())))
}
