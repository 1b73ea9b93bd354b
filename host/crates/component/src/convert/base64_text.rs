//! Bytes as JSON: base64 text, or an array of numbers on the way in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::Json;

pub(crate) fn encode_bytes(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes that a JSON value stands for.
pub(crate) fn decode_bytes(value: &Json) -> Result<Vec<u8>, String> {
    match value {
        Json::String(text) => STANDARD
            .decode(text)
            .map_err(|error| format!("not base64: {error}")),
        Json::Array(items) => {
            let byte = |item: &Json| item.as_u64().and_then(|n| u8::try_from(n).ok());
            let bytes = items.iter().map(byte).collect::<Option<_>>();
            bytes.ok_or_else(|| "expected an array of bytes".to_owned())
        }
        _ => Err("expected base64 text or an array of bytes".to_owned()),
    }
}
