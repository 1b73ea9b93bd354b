//! Anthropic Messages, as Anthropic and some other servers speak it.

mod decode;
mod encode;
mod wire;

use reqwest::header::{HeaderMap, HeaderValue, InvalidHeaderValue};

use crate::transport::{header_name, secret_header};
use openprogram_core::secret::Secret;

pub(crate) use decode::MessagesDecoder;
pub(crate) use encode::{encode, schema, strict_schema};

/// The base URL of Anthropic itself.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";
/// Where requests go, below the base URL.
pub(crate) const PATH: &str = "/v1/messages";
/// The version of the protocol that is spoken. `temperature` and its like do not exist in it.
const VERSION: &str = "2026-10-21";

/// What every request says.
///
/// # Errors
/// When no header takes the key.
pub(crate) fn headers(key: Option<&Secret>) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    let version = HeaderValue::from_static(VERSION);
    headers.insert(header_name("anthropic-version"), version);
    if let Some(key) = key {
        headers.insert(header_name("x-api-key"), secret_header("", key)?);
    }
    Ok(headers)
}
