//! From the signs of an error (status, codes, text, headers) to its class.
//!
//! Pure: providers collect the signs and ask here, so that every protocol tells the same story.
//! The status decides first; codes and text refine it, and stand alone where there is no status.

use std::io::ErrorKind;
use std::time::Duration;

use super::error::{LlmDetail, LlmFailure, LlmReason};
use crate::id::Timestamp;

/// What is known of an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorSigns<'a> {
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// The provider's own codes and types, the most exact first.
    pub codes: &'a [&'a str],
    /// The provider's own words.
    pub text: &'a str,
    /// What the system said, where the connection failed.
    pub io: Option<ErrorKind>,
    /// The header `x-should-retry`, which overrides the table.
    pub should_retry: Option<bool>,
}

/// The class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorClass {
    /// The reason.
    pub reason: LlmReason,
    /// The finer reason, where there is one.
    pub detail: Option<LlmDetail>,
    /// Whether the same request is expected to succeed later. Unknown errors are not.
    pub retryable: bool,
}

impl ErrorClass {
    /// A failure of this class.
    ///
    /// It may be tried again unless it is known to be permanent: an error that nobody recognises
    /// is tried again, though it is not announced as one that will pass.
    #[must_use]
    pub fn to_failure(self, message: impl Into<String>) -> LlmFailure {
        let try_again = self.retryable || self.reason == LlmReason::Unknown;
        let mut failure = LlmFailure::new(self.reason, try_again, message);
        failure.detail = self.detail;
        failure
    }
}

/// The spent money or allowance of an account, as exact codes.
const QUOTA_CODES: &[&str] = &[
    "insufficient_quota",
    "quota_exceeded",
    "usage_limit_reached",
    "billing_hard_limit_reached",
    "billing_error",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "exceeded_current_quota_error",
    "1113",
    "3036",
];
/// The same in words.
const QUOTA_TEXTS: &[&str] = &[
    "quota exceeded",
    "quota_exceeded",
    "insufficient_quota",
    "usage_limit_reached",
    "billing_hard_limit_reached",
    "credit balance is too low",
    "exceeded your current quota",
];
/// Words of a limit that passes by waiting, whatever else the text says.
const PASSING_TEXTS: &[&str] = &["per minute", "per second", "please wait"];
const CONTEXT_CODES: &[&str] = &["context_length_exceeded", "exceed_context_size_error"];
const CONTEXT_TEXTS: &[&str] = &[
    "context length exceeded",
    "context_length_exceeded",
    "prompt is too long",
    "maximum context length",
    "reduce the length of the messages",
    "input token count",
    "number of tokens allowed",
    "input is too long",
    "input tokens exceeded",
    "context window",
    "exceeds the available context size",
];
const POLICY_CODES: &[&str] = &[
    "content_policy_violation",
    "content_filter",
    "image_content_policy_violation",
    "bio_policy",
    "misalignment_policy_violation",
];
const POLICY_TEXTS: &[&str] = &[
    "content policy",
    "content_policy",
    "content filter",
    "content_filter",
    "content management policy",
    "safety system",
];
const AUTH_CODES: &[&str] = &["invalid_api_key", "authentication_error"];
const AUTH_TEXTS: &[&str] = &[
    "unauthorized",
    "invalid api key",
    "invalid_api_key",
    "incorrect api key",
    "no api key",
    "login expired",
];
const INVALID_TEXTS: &[&str] = &["not a valid image", "invalid image", "image data is not"];
const RATE_TEXTS: &[&str] = &["rate limit", "rate_limit"];
const OVERLOADED_TEXTS: &[&str] = &["overloaded", "over capacity", "no_capacity"];
const TRANSPORT_TEXTS: &[&str] = &[
    "service unavailable",
    "timed out",
    "peer closed",
    "connection reset",
    "connection refused",
    "connection error",
    "connection closed",
];
/// Codes of errors that arrive without a status of their own, inside a reply that began with 200.
const STATUS_OF_CODE: &[(&str, u16)] = &[
    ("invalid_request_error", 400),
    ("context_length_exceeded", 400),
    ("exceed_context_size_error", 400),
    ("authentication_error", 401),
    ("invalid_api_key", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("model_not_found", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("too_many_requests", 429),
    ("insufficient_quota", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("internal_server_error", 500),
    ("server_is_overloaded", 503),
    ("service_unavailable", 503),
    ("service_unavailable_error", 503),
    ("overloaded", 503),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// Finds the class of an error.
#[must_use]
pub fn classify(signs: &ErrorSigns<'_>) -> ErrorClass {
    let text = signs.text.to_ascii_lowercase();
    let words = Words { signs, text: &text };
    let status = signs.status.filter(|status| *status >= 300);
    let status = status.or_else(|| signs.codes.iter().find_map(|code| status_of(code)));
    let (reason, detail) = match status {
        Some(status) => words.by_status(status),
        None => words.alone(),
    };
    let transient = matches!(
        reason,
        LlmReason::Transport | LlmReason::RateLimit | LlmReason::Provider
    );
    ErrorClass {
        reason,
        detail,
        retryable: signs.should_retry.unwrap_or(transient),
    }
}

/// The status that a code of an error inside a reply stands for.
fn status_of(code: &str) -> Option<u16> {
    let known = STATUS_OF_CODE.iter().find(|(known, _)| *known == code);
    let number = || {
        code.parse()
            .ok()
            .filter(|status| (400..600).contains(status))
    };
    known.map(|(_, status)| *status).or_else(number)
}

type Reason = (LlmReason, Option<LlmDetail>);

struct Words<'a> {
    signs: &'a ErrorSigns<'a>,
    /// The provider's words in lower case.
    text: &'a str,
}

impl Words<'_> {
    fn say(&self, texts: &[&str]) -> bool {
        texts.iter().any(|known| self.text.contains(known))
    }

    fn coded(&self, codes: &[&str]) -> bool {
        self.signs.codes.iter().any(|code| codes.contains(code))
    }

    fn is_quota(&self) -> bool {
        let spent = self.coded(QUOTA_CODES) || self.say(QUOTA_TEXTS);
        spent && !self.say(PASSING_TEXTS)
    }

    fn is_context(&self) -> bool {
        let overflow = self.coded(CONTEXT_CODES) || self.say(CONTEXT_TEXTS);
        overflow && !self.say(PASSING_TEXTS)
    }

    fn is_policy(&self) -> bool {
        self.coded(POLICY_CODES) || self.say(POLICY_TEXTS)
    }

    fn is_auth(&self) -> bool {
        self.coded(AUTH_CODES) || self.say(AUTH_TEXTS)
    }

    fn overloaded(&self, status: u16) -> Option<LlmDetail> {
        let is = status == 529 || self.say(OVERLOADED_TEXTS);
        is.then_some(LlmDetail::Overloaded)
    }

    fn by_status(&self, status: u16) -> Reason {
        let spent = (LlmReason::Authz, Some(LlmDetail::Quota));
        match status {
            402 => spent,
            400 | 403 | 429 if self.is_quota() => spent,
            429 => (LlmReason::RateLimit, None),
            401 => (LlmReason::Auth, None),
            400 | 403 if self.is_auth() => (LlmReason::Auth, None),
            403 => (LlmReason::Authz, None),
            404 => (LlmReason::Invalid, Some(LlmDetail::NotFound)),
            408 | 409 | 500..=599 => (LlmReason::Provider, self.overloaded(status)),
            400 | 413 | 422 if self.is_context() => (LlmReason::Context, None),
            400 | 422 if self.is_policy() => (LlmReason::Policy, None),
            // The rest of the client errors, and redirects, which are never followed.
            _ => (LlmReason::Invalid, None),
        }
    }

    fn alone(&self) -> Reason {
        if self.is_quota() {
            (LlmReason::Authz, Some(LlmDetail::Quota))
        } else if self.is_context() {
            (LlmReason::Context, None)
        } else if self.is_policy() {
            (LlmReason::Policy, None)
        } else if self.is_auth() {
            (LlmReason::Auth, None)
        } else if self.say(INVALID_TEXTS) {
            (LlmReason::Invalid, None)
        } else if self.say(RATE_TEXTS) {
            (LlmReason::RateLimit, None)
        } else if self.say(OVERLOADED_TEXTS) {
            (LlmReason::Provider, Some(LlmDetail::Overloaded))
        } else if self.say(TRANSPORT_TEXTS) || self.signs.io.is_some_and(is_lost) {
            (LlmReason::Transport, None)
        } else {
            (LlmReason::Unknown, None)
        }
    }
}

/// Whether the system says that a connection was lost or could not be made.
fn is_lost(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
            | ErrorKind::TimedOut
            | ErrorKind::UnexpectedEof
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
    )
}

/// How long a provider asks to wait, from the headers of its answer; `None` without a usable hint.
///
/// In this order: `retry-after-ms`, then `retry-after` in seconds (fractions too) or as a date,
/// which is measured from `now`. Zero, the past and nonsense are no hints.
#[must_use]
pub fn retry_after<'h>(
    headers: impl Iterator<Item = (&'h str, &'h str)>,
    now: Timestamp,
) -> Option<Duration> {
    let mut milliseconds = None;
    let mut plain = None;
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("retry-after-ms") {
            milliseconds = number(value).and_then(|ms| positive(ms / 1000.0));
        } else if name.eq_ignore_ascii_case("retry-after") {
            plain = match number(value) {
                Some(seconds) => positive(seconds),
                None => until(value, now),
            };
        }
    }
    milliseconds.or(plain)
}

/// What the header `x-should-retry` says.
#[must_use]
pub fn should_retry<'h>(mut headers: impl Iterator<Item = (&'h str, &'h str)>) -> Option<bool> {
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case("x-should-retry"))?;
    match value.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The longest wait that is told apart from longer ones: ten years.
const WAIT_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

fn positive(seconds: f64) -> Option<Duration> {
    // A number too large for a time is a long wait and not none.
    let bounded = seconds.min(WAIT_MAX.as_secs_f64());
    let wait = Duration::try_from_secs_f64(bounded).ok()?;
    (!wait.is_zero() && seconds.is_finite()).then_some(wait)
}

fn until(date: &str, now: Timestamp) -> Option<Duration> {
    let then = httpdate::parse_http_date(date.trim()).ok()?;
    let then = then.duration_since(std::time::UNIX_EPOCH).ok()?;
    let now = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    then.checked_sub(now).filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;

    /// Where the class of an error is another than in the original, on purpose. All of them are
    /// rows without force of law.
    const DIFFERENCES: &[(&str, &str)] = &[
        ("classify/408/", "a timeout of the server passes"),
        ("classify/409/", "a conflict passes"),
        (
            "classify/413/context length exceeded",
            "the request is too long for the model",
        ),
        (
            "classify/422/context length exceeded",
            "the request is too long for the model",
        ),
        (
            "classify/None/quota exceeded",
            "a spent quota is a matter of the account",
        ),
        (
            "classify/400/quota exceeded",
            "a spent quota is a matter of the account",
        ),
    ];

    fn vectors() -> Vec<Json> {
        let text = include_str!("../../fixtures/vectors/errors.json");
        let file: Json = serde_json::from_str(text).unwrap();
        file["cases"].as_array().unwrap().clone()
    }

    /// The error kind that an exception type of the original stands for.
    fn io_kind(exception: &str) -> Option<ErrorKind> {
        match exception {
            "ConnectionError" => Some(ErrorKind::ConnectionRefused),
            "ConnectionResetError" => Some(ErrorKind::ConnectionReset),
            "BrokenPipeError" => Some(ErrorKind::BrokenPipe),
            "TimeoutError" => Some(ErrorKind::TimedOut),
            "OSError" => Some(ErrorKind::Other),
            _ => None,
        }
    }

    fn class_of(case: &Json) -> (String, bool) {
        let class = classify(&ErrorSigns {
            status: case["http_status"].as_u64().map(|s| s.try_into().unwrap()),
            text: case["message"].as_str().unwrap(),
            io: io_kind(case["exc_type"].as_str().unwrap()),
            ..ErrorSigns::default()
        });
        (class.reason.as_str().to_owned(), class.retryable)
    }

    #[test]
    fn errors_are_classified_as_in_the_vectors() {
        let mut n_law = 0;
        for case in vectors() {
            let id = case["id"].as_str().unwrap();
            if !id.starts_with("classify/") {
                continue;
            }
            let expected = (
                case["reason"].as_str().unwrap().to_owned(),
                case["retryable"].as_bool().unwrap(),
            );
            let law = case["status"] == "law";
            let differs = !law && DIFFERENCES.iter().any(|(start, _)| id.starts_with(start));
            assert_eq!(
                class_of(&case) != expected,
                differs,
                "{id}: {:?}",
                class_of(&case)
            );
            n_law += usize::from(law);
        }
        assert_eq!(n_law, 54);
    }

    #[test]
    fn waits_are_read_as_in_the_vectors() {
        for case in vectors() {
            let id = case["id"].as_str().unwrap();
            if !id.starts_with("retry_after/") {
                continue;
            }
            let headers: Vec<(String, String)> = case["headers"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
                .collect();
            let headers = headers.iter().map(|(n, v)| (n.as_str(), v.as_str()));
            let wait = retry_after(headers, Timestamp(0)).map(|wait| wait.as_secs_f64());
            assert_eq!(wait, case["seconds"].as_f64(), "{id}");
        }
    }

    #[test]
    fn a_date_is_measured_from_now_and_nonsense_is_no_hint() {
        // 2026-11-30 12:00:00 GMT.
        let now = Timestamp(1_796_040_000_000);
        for (value, seconds) in [
            ("Mon, 30 Nov 2026 12:00:30 GMT", Some(30.0)),
            ("Mon, 30 Nov 2026 12:00:00 GMT", None),
            ("Mon, 30 Nov 2026 11:59:30 GMT", None),
            (" 1.25 ", Some(1.25)),
            ("0", None),
            ("-3", None),
            ("NaN", None),
            ("inf", None),
            ("99999999999999999999999", Some(WAIT_MAX.as_secs_f64())),
            ("1e300", Some(WAIT_MAX.as_secs_f64())),
            ("soon", None),
            ("", None),
        ] {
            let wait = retry_after([("Retry-After", value)].into_iter(), now);
            assert_eq!(wait.map(|wait| wait.as_secs_f64()), seconds, "{value}");
        }
    }

    type Signs = (Option<u16>, &'static str, &'static str);
    type Expected = (LlmReason, Option<LlmDetail>);

    fn check(cases: &[(Signs, Expected)]) {
        for ((status, code, text), expected) in cases {
            let class = classify(&ErrorSigns {
                status: *status,
                codes: &[code],
                text,
                ..ErrorSigns::default()
            });
            let got = (class.reason, class.detail);
            assert_eq!(got, *expected, "{status:?} {code} {text}");
        }
    }

    #[test]
    fn a_spent_quota_is_not_a_limit_that_passes() {
        let spent = (LlmReason::Authz, Some(LlmDetail::Quota));
        check(&[
            ((Some(429), "insufficient_quota", "You exceeded"), spent),
            ((Some(429), "enforced_spend_limit_reached", ""), spent),
            ((Some(402), "", ""), spent),
            ((Some(400), "", "Your credit balance is too low"), spent),
            ((None, "insufficient_quota", ""), spent),
            (
                (Some(429), "", "Quota exceeded: 60 requests per minute"),
                (LlmReason::RateLimit, None),
            ),
        ]);
    }

    #[test]
    fn codes_decide_where_there_is_no_status_of_an_error() {
        use LlmReason::{Auth, Context, Invalid, Policy, Provider, RateLimit, Unknown};
        let overloaded = (Provider, Some(LlmDetail::Overloaded));
        let not_found = (Invalid, Some(LlmDetail::NotFound));
        let too_long = "prompt is too long: 300000 tokens";
        check(&[
            ((Some(200), "overloaded_error", "Overloaded"), overloaded),
            ((Some(503), "", "server is over capacity"), overloaded),
            ((None, "rate_limit_error", ""), (RateLimit, None)),
            ((None, "context_length_exceeded", ""), (Context, None)),
            ((Some(400), "", too_long), (Context, None)),
            ((Some(400), "content_filter", ""), (Policy, None)),
            ((Some(400), "invalid_api_key", ""), (Auth, None)),
            ((Some(404), "model_not_found", ""), not_found),
            ((None, "502", "bad gateway"), (Provider, None)),
            ((None, "999", ""), (Unknown, None)),
            ((Some(307), "", ""), (Invalid, None)),
        ]);
    }

    #[test]
    fn the_provider_has_the_last_word_on_trying_again() {
        for (value, status, retryable) in [
            ("true", 400, true),
            ("false", 503, false),
            ("maybe", 503, true),
        ] {
            let class = classify(&ErrorSigns {
                status: Some(status),
                should_retry: should_retry([("X-Should-Retry", value)].into_iter()),
                ..ErrorSigns::default()
            });
            assert_eq!(class.retryable, retryable, "{value}");
        }
    }

    #[test]
    fn an_unknown_error_may_be_tried_again_but_is_not_expected_to_pass() {
        let class = classify(&ErrorSigns::default());
        assert_eq!((class.reason, class.retryable), (LlmReason::Unknown, false));
        assert!(class.to_failure("odd").retryable);
    }
}
