//! OpenAI Chat Completions, as OpenAI and many other servers speak it.
//!
//! The base URL is free: local servers and gateways serve the same format. What one server takes
//! and another refuses is in the profile, not in the code.

mod assemble;
mod decode;
mod encode;
mod wire;

use reqwest::header::{AUTHORIZATION, HeaderMap, InvalidHeaderValue};

use crate::transport::secret_header;
use openprogram_core::secret::Secret;

pub(crate) use decode::ChatDecoder;
pub(crate) use encode::{encode, schema, strict_schema};

/// The base URL of OpenAI itself.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
/// Where requests go, below the base URL.
pub(crate) const PATH: &str = "/chat/completions";

/// The field in which some servers show what a model thought, and want it back.
const REASONING: &str = "reasoning_content";

/// What every request says.
///
/// # Errors
/// When no header takes the key.
pub(crate) fn headers(key: Option<&Secret>) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, secret_header("Bearer ", key)?);
    }
    Ok(headers)
}
