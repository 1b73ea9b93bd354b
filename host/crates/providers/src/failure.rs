//! From what a server answers to a failure: one reading for every protocol.
//!
//! Messages hold the provider's own sentence, cut, without the key and without markup; never a
//! whole body.

use std::fmt::Display;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use openprogram_core::Json;
use openprogram_core::id::Timestamp;
use openprogram_core::llm::{
    ErrorSigns, LlmDetail, LlmFailure, LlmReason, classify, retry_after, should_retry,
};

use openprogram_core::secret::Secret;

/// How much of a provider's sentence a message holds; enough for every error seen so far.
const SENTENCE_CHARS_MAX: usize = 400;

/// An error as a body tells it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    sentence: String,
    /// Codes and types, the most exact first.
    codes: Vec<String>,
}

/// What a status line and its body say.
pub(crate) struct Answer<'a> {
    pub(crate) status: reqwest::StatusCode,
    pub(crate) headers: &'a reqwest::header::HeaderMap,
    pub(crate) body: &'a [u8],
}

/// The failure of an answer whose status is not a success.
pub(crate) fn of_answer(answer: &Answer<'_>, key: Option<&Secret>) -> LlmFailure {
    let told = serde_json::from_slice(answer.body)
        .ok()
        .and_then(|body| told_by(&body))
        .unwrap_or_else(|| told_by_text(answer.body));
    let headers = || {
        let text = |(name, value): (&'_ _, &'_ reqwest::header::HeaderValue)| {
            let name: &reqwest::header::HeaderName = name;
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        answer.headers.iter().filter_map(text).collect::<Vec<_>>()
    };
    let headers = headers();
    let headers = || headers.iter().map(|(n, v)| (n.as_str(), v.as_str()));
    let codes: Vec<&str> = told.codes.iter().map(String::as_str).collect();
    let class = classify(&ErrorSigns {
        status: Some(answer.status.as_u16()),
        codes: &codes,
        text: &told.sentence,
        io: None,
        should_retry: should_retry(headers()),
    });
    let mut message = match answer.status.canonical_reason() {
        Some(reason) => format!("{} {reason}", answer.status.as_u16()),
        None => answer.status.as_u16().to_string(),
    };
    if answer.status.is_redirection() {
        message.push_str(": redirects are not followed; set the base URL to the final address");
    } else if !told.sentence.is_empty() {
        message = format!("{message}: {}", shown(&told.sentence, key));
    }
    let id = ["x-request-id", "request-id"].into_iter().find_map(|name| {
        let (_, id) = headers().find(|(own, _)| *own == name)?;
        Some(id.chars().take(64).collect::<String>())
    });
    if let Some(id) = id {
        message = format!("{message} (request `{}`)", shown(&id, key));
    }
    let mut failure = class.to_failure(message);
    failure.http_status = Some(answer.status.as_u16());
    let wait = retry_after(headers(), now(headers()));
    // Rounded up: the hint is a lower bound.
    let milliseconds = wait.map(|wait| wait.as_nanos().div_ceil(1_000_000));
    failure.retry_after_ms = milliseconds.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX));
    failure
}

/// The time by the server's own clock, else by ours.
fn now<'h>(mut headers: impl Iterator<Item = (&'h str, &'h str)>) -> Timestamp {
    let date = headers.find(|(name, _)| *name == "date");
    let date = date.and_then(|(_, value)| httpdate::parse_http_date(value).ok());
    let since = date
        .unwrap_or_else(SystemTime::now)
        .duration_since(UNIX_EPOCH);
    let since = since.unwrap_or(Duration::ZERO).as_millis();
    Timestamp(i64::try_from(since).unwrap_or(i64::MAX))
}

/// The failure that a piece of a reply tells after it began as a success; `None` when it tells
/// none. `event` is the name of the event; some servers give an error only that.
pub(crate) fn in_reply(event: &str, piece: &Json) -> Option<LlmFailure> {
    let nested = piece.get("error").is_some_and(|error| !error.is_null());
    let bare = event == "error" || piece.get("object").is_some_and(|kind| kind == "error");
    let told = match (nested, bare) {
        (true, _) => told_by(piece),
        (false, true) => told_by(&serde_json::json!({ "error": piece })),
        (false, false) => return None,
    };
    let told = told.unwrap_or_default();
    let codes: Vec<&str> = told.codes.iter().map(String::as_str).collect();
    let class = classify(&ErrorSigns {
        codes: &codes,
        text: &told.sentence,
        ..ErrorSigns::default()
    });
    let code = told.codes.first().map_or("error", String::as_str);
    let code = shown(code, None);
    let message = match told.sentence.as_str() {
        "" => format!("the reply is an error: `{code}`"),
        sentence => format!("the reply is an error: `{code}`: {}", shown(sentence, None)),
    };
    Some(class.to_failure(message))
}

/// The connection failed; `what` says at which step. A certificate that is not trusted now will
/// not be later.
pub(crate) fn lost(what: &str, error: &Cause) -> LlmFailure {
    let innermost = innermost(error);
    let message = format!("{what}: {innermost}");
    let tls = innermost.downcast_ref::<rustls::Error>();
    let refused = matches!(tls, Some(rustls::Error::InvalidCertificate(_)));
    LlmFailure::new(LlmReason::Transport, !refused, message)
}

/// A wait took too long.
pub(crate) fn late(what: &str, after: Duration) -> LlmFailure {
    let message = format!("{what} within {after:.1?}");
    LlmFailure::new(LlmReason::Transport, true, message)
}

/// The reply ended before its end mark.
pub(crate) fn truncated() -> LlmFailure {
    let message = "the reply was cut: the connection ended before the end of the reply";
    let mut failure = LlmFailure::new(LlmReason::Transport, true, message);
    failure.detail = Some(LlmDetail::TruncatedStream);
    failure
}

/// The reply is not what the protocol says; another try may give a whole one.
pub(crate) fn malformed(what: &str) -> LlmFailure {
    let message = format!("the reply cannot be read: {what}");
    LlmFailure::new(LlmReason::Provider, true, message)
}

/// The reply is not the JSON that the protocol says. The error of the parser would repeat it.
pub(crate) fn not_json(error: &serde_json::Error) -> LlmFailure {
    malformed(match error.classify() {
        serde_json::error::Category::Data => "a field has another type than the protocol says",
        _ => "it is not valid JSON",
    })
}

/// A limit on replies is reached; another try would reach it too.
pub(crate) fn too_large(what: impl Display) -> LlmFailure {
    LlmFailure::new(LlmReason::Provider, false, what.to_string())
}

/// The request is refused before it is sent.
pub(crate) fn refused(why: impl Into<String>) -> LlmFailure {
    LlmFailure::new(LlmReason::Invalid, false, why)
}

type Cause = dyn std::error::Error + 'static;

/// The innermost cause; the outer layers of a client name only themselves and the address.
fn innermost(error: &Cause) -> &Cause {
    // An I/O error gives the source of what it holds as its own, and so would hide what it holds.
    let held = error.downcast_ref::<std::io::Error>();
    let held = held.and_then(std::io::Error::get_ref);
    match held {
        Some(inner) => innermost(inner),
        None => error.source().map_or(error, innermost),
    }
}

/// What a JSON body tells, in any of the forms that servers use.
fn told_by(body: &Json) -> Option<Told> {
    let error = body.get("error").filter(|error| !error.is_null());
    let text = |value: Option<&Json>| value.and_then(Json::as_str).map(str::to_owned);
    let inner = error.unwrap_or(body);
    let sentence = text(Some(inner))
        .or_else(|| text(inner.get("message")))
        .or_else(|| text(body.get("message")))
        .or_else(|| text(body.get("detail")))
        .or_else(|| text(body.pointer("/detail/0/msg")));
    let code = |path: &str| match inner.pointer(path)? {
        Json::String(code) if !code.is_empty() => Some(code.clone()),
        Json::Number(code) => Some(code.to_string()),
        _ => None,
    };
    let mut paths = vec!["/details/error_code", "/metadata/error_type", "/code"];
    // At the top of a body `type` says that it is an error, not which.
    if error.is_some() {
        paths.push("/type");
    }
    let codes: Vec<String> = paths.into_iter().filter_map(code).collect();
    if sentence.is_none() && codes.is_empty() {
        return None;
    }
    Some(Told {
        sentence: sentence.unwrap_or_default(),
        codes,
    })
}

/// What a body that is not JSON tells: its text, unless it is a page.
fn told_by_text(body: &[u8]) -> Told {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let is_page = text.starts_with('<') || text.starts_with('{');
    Told {
        sentence: if is_page {
            String::new()
        } else {
            text.to_owned()
        },
        codes: Vec::new(),
    }
}

/// The failure without the key, which a server that is out to tell it may have put anywhere; at the
/// end of the message it may be cut.
pub(crate) fn without_key(mut failure: LlmFailure, key: Option<&Secret>) -> LlmFailure {
    if let Some(key) = key {
        failure.message = key.redact_with_end(&failure.message);
    }
    failure
}

/// A provider's sentence as a message holds it: one line, cut, without the key.
fn shown(sentence: &str, key: Option<&Secret>) -> String {
    let sentence = key.map_or_else(|| sentence.to_owned(), |key| key.redact(sentence));
    let line: String = sentence
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(SENTENCE_CHARS_MAX)
        .collect();
    line.trim().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> LlmFailure {
        let pair = |(name, value): &(&str, &str)| {
            (
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            )
        };
        let headers: HeaderMap = headers.iter().map(pair).collect();
        let key = Secret::new("sk-secret");
        let answer = Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: &headers,
            body: body.as_bytes(),
        };
        of_answer(&answer, Some(&key))
    }

    fn failure(status: u16, reason: LlmReason, retryable: bool, message: &str) -> LlmFailure {
        let mut failure = LlmFailure::new(reason, retryable, message);
        failure.http_status = Some(status);
        failure
    }

    #[test]
    fn every_form_of_an_error_body_is_read() {
        use LlmReason::{Auth, Context, Invalid, Provider};
        for (status, body, reason, retryable, message) in [
            (
                401,
                r#"{"error":{"message":"Bad key sk-secret.","type":"x","code":"invalid_api_key"}}"#,
                Auth,
                false,
                "401 Unauthorized: Bad key ***",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}"#,
                Context,
                false,
                "400 Bad Request: prompt is too long",
            ),
            (
                400,
                r#"{"error":"no such\nfield"}"#,
                Invalid,
                false,
                "400 Bad Request: no such field",
            ),
            (
                422,
                r#"{"detail":[{"msg":"field required"}]}"#,
                Invalid,
                false,
                "422 Unprocessable Entity: field required",
            ),
            (
                520,
                r#"{"message":"no idea"}"#,
                Provider,
                true,
                "520: no idea",
            ),
            (
                400,
                r#"{"message":"odd"}"#,
                Invalid,
                false,
                "400 Bad Request: odd",
            ),
            (
                500,
                "plain trouble",
                Provider,
                true,
                "500 Internal Server Error: plain trouble",
            ),
            (502, "<html>nginx</html>", Provider, true, "502 Bad Gateway"),
            (400, "{\"cut", Invalid, false, "400 Bad Request"),
            (400, "", Invalid, false, "400 Bad Request"),
            (
                308,
                "",
                Invalid,
                false,
                "308 Permanent Redirect: redirects are not followed; set the base URL to the final address",
            ),
        ] {
            let expected = failure(status, reason, retryable, message);
            assert_eq!(answer(status, &[], body), expected, "{body}");
        }
    }

    #[test]
    fn headers_say_how_long_to_wait_and_whether_at_all() {
        let body = r#"{"error":{"message":"slow down"}}"#;
        let mut expected = failure(
            429,
            LlmReason::RateLimit,
            true,
            "429 Too Many Requests: slow down (request `req_1`)",
        );
        expected.retry_after_ms = Some(30_000);
        let date = [
            ("date", "Mon, 30 Nov 2026 12:00:00 GMT"),
            ("retry-after", "Mon, 30 Nov 2026 12:00:30 GMT"),
            ("x-request-id", "req_1"),
        ];
        assert_eq!(answer(429, &date, body), expected);
        let no = answer(503, &[("x-should-retry", "false")], "");
        assert_eq!(
            no,
            failure(503, LlmReason::Provider, false, "503 Service Unavailable")
        );
    }

    #[test]
    fn a_certificate_that_is_not_trusted_is_not_tried_again() {
        let unknown = rustls::CertificateError::UnknownIssuer;
        for (inner, again) in [
            (rustls::Error::InvalidCertificate(unknown), false),
            (rustls::Error::DecryptError, true),
        ] {
            let message = format!("no connection to `h`: {inner}");
            let failure = lost("no connection to `h`", &std::io::Error::other(inner));
            let expected = LlmFailure::new(LlmReason::Transport, again, message);
            assert_eq!(failure, expected);
        }
    }

    #[test]
    fn an_error_inside_a_reply_is_classified_by_its_own_code() {
        let read = |text: &str| {
            let json: Json = serde_json::from_str(text).unwrap();
            let failure = in_reply("", &json)?;
            Some((failure.reason, failure.retryable, failure.message))
        };
        assert_eq!(read(r#"{"choices":[],"error":null}"#), None);
        for (text, reason, retryable, message) in [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                LlmReason::Provider,
                true,
                "the reply is an error: `overloaded_error`: Overloaded",
            ),
            (
                r#"{"error":{"code":502,"message":"bad upstream"}}"#,
                LlmReason::Provider,
                true,
                "the reply is an error: `502`: bad upstream",
            ),
            (
                r#"{"error":{"code":"context_length_exceeded"}}"#,
                LlmReason::Context,
                false,
                "the reply is an error: `context_length_exceeded`",
            ),
            (
                r#"{"error":"odd"}"#,
                LlmReason::Unknown,
                true,
                "the reply is an error: `error`: odd",
            ),
            (
                r#"{"error":{}}"#,
                LlmReason::Unknown,
                true,
                "the reply is an error: `error`",
            ),
        ] {
            let expected = (reason, retryable, message.to_owned());
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }
}
