//! A request that a person is asked about: held here until all of it is there, so that what is shown
//! is what is sent.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body_util::{BodyExt as _, Full};
use openprogram_core::question::{Sending, SentBody};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;
use wasmtime_wasi_http::{Error, WasiBody};

use super::gate::Wanted;
use super::sending::Time;
use super::stop::Stop;
use crate::source::shown_digest;

/// Bytes of a body that a person is asked about; nobody looks at more before saying yes.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Characters of a content type that are shown.
const TYPE_CHARS_MAX: usize = 100;

/// Waits for the whole body, tells in `wanted` what is sent, and gives the same body again.
///
/// # Errors
/// When it does not come in time, is larger than anybody is asked about, or has trailers.
pub(super) async fn hold(
    wanted: &mut Wanted,
    parts: &Parts,
    body: WasiBody,
    time: Time,
) -> Result<WasiBody, Stop> {
    let Ok(held) = timeout(time.span, whole(wanted, body)).await else {
        let late = Error::ConnectionWriteTimeout;
        return Err(time.stop(wanted, "the body of the request", late));
    };
    let held = held?;
    wanted.sends = Some(sending(wanted, parts, &held));
    Ok(Full::new(held)
        .map_err(|never| match never {})
        .boxed_unsync())
}

async fn whole(wanted: &Wanted, mut body: WasiBody) -> Result<Bytes, Stop> {
    let mut held = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            let message = "a person is asked about this request, which is not done for one with \
                           trailers";
            let error = Error::HttpRequestDenied;
            return Err(Stop::refused(error, &wanted.what, message));
        };
        if held.len().saturating_add(data.len()) > BODY_BYTES_MAX {
            let message = format!(
                "a person is asked about this request, and its body is larger than \
                 {BODY_BYTES_MAX} bytes, of which nobody is asked"
            );
            let error = Error::HttpRequestBodySize(Some(BODY_BYTES_MAX as u64));
            return Err(Stop::limit(error, &wanted.what, message));
        }
        held.extend_from_slice(&data);
    }
    Ok(held.freeze())
}

fn sending(wanted: &Wanted, parts: &Parts, body: &Bytes) -> Sending {
    let headers = &parts.headers;
    let mut hash = Sha256::new();
    let mut header_bytes = 0;
    for (name, value) in headers {
        // Lengths before the values: no header can stand for another one.
        let length = value.len() as u64;
        hash.update(name.as_str());
        hash.update(b":");
        hash.update(length.to_le_bytes());
        hash.update(value.as_bytes());
        header_bytes += name.as_str().len() as u64 + length;
    }
    hash.update(b"\n");
    hash.update(body);
    let target = &wanted.target;
    let mime_type = headers.get(CONTENT_TYPE);
    let mime_type = mime_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let head = std::str::from_utf8(body).ok();
    let mut names: Vec<String> = headers.keys().map(ToString::to_string).collect();
    names.sort_unstable();
    Sending {
        url: format!("{}{}", target.origin(), wanted.path_and_query),
        headers: names,
        header_bytes,
        body: (!body.is_empty()).then(|| SentBody {
            bytes: body.len() as u64,
            mime_type: mime_type.map(|text| text.chars().take(TYPE_CHARS_MAX).collect()),
            head: head.map(|text| text.chars().take(SentBody::HEAD_CHARS_MAX).collect()),
        }),
        digest: shown_digest(&hash.finalize()),
    }
}
