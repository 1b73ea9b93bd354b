//! When a failed model request is tried again, and what is reported when it is not.
//!
//! Pure: time and chance come in as values, so the loop around it only asks, sleeps and tells.
//! One layer: nothing below retries, and a failure that says otherwise is not tried again.

use std::num::NonZeroU32;
use std::time::Duration;

use super::asked::Asked;
use super::error::{LlmError, LlmFailure, LlmReason};
use crate::failure::{Failure, FailureCode};

/// Tries of one request where no setting says otherwise, the first one included.
pub(crate) const ATTEMPTS_DEFAULT: u32 = 6;
/// The sleep before the second try where no setting says otherwise; it doubles with every try.
const BACKOFF_BASE_DEFAULT: Duration = Duration::from_millis(1500);
/// How much of an error a line of the report holds; the whole is in the record of the try.
const ERROR_CHARS_MAX: usize = 200;

/// How often and how patiently a request is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most tries, the first one included.
    pub attempts_max: NonZeroU32,
    /// The sleep before the second try; it doubles with every try and has no upper end.
    pub backoff_base: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts_max: NonZeroU32::new(ATTEMPTS_DEFAULT).unwrap_or(NonZeroU32::MIN),
            backoff_base: BACKOFF_BASE_DEFAULT,
        }
    }
}

impl RetryPolicy {
    /// The policy of a runtime: what its maker says, else the values of
    /// `OPENPROGRAM_MAX_RETRIES` and `OPENPROGRAM_RETRY_BACKOFF_BASE` (seconds), else the default.
    ///
    /// Text that is not a number counts as absent; less than one try is one try.
    #[must_use]
    pub fn from_settings(
        attempts: Option<NonZeroU32>,
        attempts_setting: Option<&str>,
        backoff_setting: Option<&str>,
    ) -> Self {
        let default = Self::default();
        let set = || super::attempts_of(attempts_setting?);
        let base = || super::backoff_of(backoff_setting?);
        Self {
            attempts_max: attempts.or_else(set).unwrap_or(default.attempts_max),
            backoff_base: base().unwrap_or(default.backoff_base),
        }
    }

    /// How long to sleep after so many failed tries, from 1.
    ///
    /// `jitter` is a uniform random number from 0 to 1; it spreads the sleep by a quarter to both
    /// sides. A hint of the provider is a lower bound: then the spread is upwards only.
    #[must_use]
    pub fn sleep_after(
        &self,
        n_failed: u32,
        retry_after: Option<Duration>,
        jitter: f64,
    ) -> Duration {
        let jitter = if jitter.is_nan() {
            0.5
        } else {
            jitter.clamp(0.0, 1.0)
        };
        let doublings = i32::try_from(n_failed.saturating_sub(1)).unwrap_or(i32::MAX);
        let backoff = self.backoff_base.as_secs_f64() * 2_f64.powi(doublings);
        let sleep = match retry_after.filter(|hint| !hint.is_zero()) {
            None => backoff * (0.75 + 0.5 * jitter),
            Some(hint) => backoff.max(hint.as_secs_f64()) * (1.0 + 0.25 * jitter),
        };
        Duration::try_from_secs_f64(sleep).unwrap_or(Duration::MAX)
    }
}

/// One try that failed.
#[derive(Clone, Copy, Debug)]
pub struct FailedTry<'a> {
    /// What kind of error it was, as the report names it; see [`LlmReason::error_name`].
    pub name: &'a str,
    /// The error.
    pub error: &'a LlmError,
    /// Whether any piece of its reply has been shown and cannot be taken back. Then it is not tried
    /// again: the person would read the beginning twice.
    pub shown: bool,
    /// The time since the exec began.
    pub elapsed: Duration,
}

impl<'a> FailedTry<'a> {
    /// A failed try under the usual name of its error.
    #[must_use]
    pub fn new(error: &'a LlmError, shown: bool, elapsed: Duration) -> Self {
        let name = match error {
            LlmError::Failed(failure) => failure.reason.error_name(),
            _ => LlmReason::Provider.error_name(),
        };
        Self {
            name,
            error,
            shown,
            elapsed,
        }
    }
}

/// What to do after a failed try.
#[derive(Clone, Debug, PartialEq)]
pub enum RetryStep {
    /// Tell the observers, sleep for [`RetryInfo::sleep`], then try again.
    Sleep(RetryInfo),
    /// Give up.
    Stop(RetryStop),
}

/// What observers are told before a sleep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryInfo {
    /// The number of the try that failed, from 1.
    pub attempt: u32,
    /// The most tries.
    pub attempts_max: u32,
    /// How long the sleep is.
    pub sleep: Duration,
    /// Why the try failed.
    pub reason: LlmReason,
    /// Its HTTP status, where there was one.
    pub http_status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The time since the exec began.
    pub elapsed: Duration,
    /// The kind of the error.
    pub error_name: String,
    /// The error.
    pub error: String,
    /// What was asked.
    pub asked: Asked,
}

/// Why no further try is made.
#[derive(Clone, Debug, PartialEq)]
pub enum RetryStop {
    /// The error is none of a model: it is handed on as it is, whichever try it was.
    Raised(LlmError),
    /// The model could not be asked, or did not answer in time.
    Failed(RetryReport),
}

impl RetryStop {
    /// The failure as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self, model: &str) -> Failure {
        match self {
            Self::Raised(LlmError::Guest(failure)) if is_handed_on(failure.code) => failure.clone(),
            Self::Raised(error) => error.to_failure(model),
            Self::Failed(report) => report.to_failure(),
        }
    }
}

/// Codes that keep their meaning when a sandboxed provider fails with them.
fn is_handed_on(code: FailureCode) -> bool {
    matches!(
        code,
        FailureCode::InvalidArgument
            | FailureCode::NoProvider
            | FailureCode::Denied
            | FailureCode::Cancelled
    )
}

/// The end of a request that was tried and failed.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryReport {
    /// Why the last try failed, or `timeout` when the time budget ended it.
    pub reason: LlmReason,
    /// What the last failure adds to the reason.
    pub detail: Option<super::error::LlmDetail>,
    /// Whether the same request is expected to succeed later.
    pub retryable: bool,
    /// The HTTP status of the last try, where there was one.
    pub http_status: Option<u16>,
    /// How long the provider asked to wait in the last try.
    pub retry_after: Option<Duration>,
    /// The number of tries.
    pub attempts: u32,
    /// The time since the exec began.
    pub elapsed: Duration,
    /// The kind of the last error.
    pub error_name: String,
    /// What was asked.
    pub asked: Asked,
    /// One line for the whole and one for every try.
    pub text: String,
}

impl RetryReport {
    /// The failure as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let mut failure = Failure::new(FailureCode::Llm, self.text.clone())
            .with("reason", self.reason.as_str())
            .with("retryable", self.retryable);
        if let Some(detail) = self.detail {
            failure = failure.with("detail", detail.as_str());
        }
        if let Some(status) = self.http_status {
            failure = failure.with("http_status", status);
        }
        if let Some(wait) = self.retry_after {
            failure = failure.with("retry_after_s", wait.as_secs_f64());
        }
        if let Some((provider, _)) = self.asked.model.split_once(':') {
            failure = failure.with("provider", provider);
        }
        failure
            .with("attempts", self.attempts)
            .with("elapsed_s", self.elapsed.as_secs_f64())
            .with("model", self.asked.model.clone())
            .with("had_image", self.asked.had_image)
    }
}

/// The tries of one request so far.
#[derive(Clone, Debug)]
pub struct Tries {
    policy: RetryPolicy,
    timeout: Option<Duration>,
    asked: Asked,
    n_failed: u32,
    lines: String,
}

impl Tries {
    /// No try yet. `timeout` is the budget of the whole exec, measured like
    /// [`FailedTry::elapsed`].
    #[must_use]
    pub fn new(policy: RetryPolicy, timeout: Option<Duration>, asked: Asked) -> Self {
        Self {
            policy,
            timeout,
            asked,
            n_failed: 0,
            lines: String::new(),
        }
    }

    /// How many tries have failed.
    #[must_use]
    pub fn n_failed(&self) -> u32 {
        self.n_failed
    }

    /// Takes note of a failed try and says what to do. `jitter` as for
    /// [`RetryPolicy::sleep_after`].
    pub fn failed(&mut self, failed: FailedTry<'_>, jitter: f64) -> RetryStep {
        let LlmError::Failed(failure) = failed.error else {
            return RetryStep::Stop(RetryStop::Raised(failed.error.clone()));
        };
        self.note(failed.name, &failure.message);
        if !failure.retryable {
            return self.stop(&failed, failure, "permanently");
        }
        let used_up = self.n_failed >= self.policy.attempts_max.get();
        if used_up || failed.shown || failure.transport_exhausted {
            let how = format!("after {} attempt(s)", self.n_failed);
            return self.stop(&failed, failure, &how);
        }
        let retry_after = failure.retry_after_ms.map(Duration::from_millis);
        let sleep = self.policy.sleep_after(self.n_failed, retry_after, jitter);
        if self.would_cross(failed.elapsed, sleep) {
            let report = RetryReport {
                reason: LlmReason::Timeout,
                retryable: false,
                ..self.report(&failed, failure, "permanently")
            };
            return RetryStep::Stop(RetryStop::Failed(report));
        }
        RetryStep::Sleep(RetryInfo {
            attempt: self.n_failed,
            attempts_max: self.policy.attempts_max.get(),
            sleep,
            reason: failure.reason,
            http_status: failure.http_status,
            retry_after,
            elapsed: failed.elapsed,
            error_name: failed.name.to_owned(),
            error: failure.message.clone(),
            asked: self.asked.clone(),
        })
    }

    /// The end of a request whose time budget ran out while a try was under way.
    pub fn timed_out(&mut self, elapsed: Duration) -> RetryStop {
        let budget = self.timeout.unwrap_or(elapsed);
        let message = format!("no reply within the time budget of {budget:.1?}");
        let failure = LlmFailure::new(LlmReason::Timeout, false, message);
        let name = LlmReason::Timeout.error_name();
        self.note(name, &failure.message);
        let error = LlmError::Failed(failure.clone());
        let failed = FailedTry {
            name,
            error: &error,
            shown: false,
            elapsed,
        };
        RetryStop::Failed(self.report(&failed, &failure, "permanently"))
    }

    fn note(&mut self, name: &str, message: &str) {
        self.n_failed = self.n_failed.saturating_add(1);
        let message: String = message.chars().take(ERROR_CHARS_MAX).collect();
        let line = format!("\nAttempt {}: {name}: {message}", self.n_failed);
        self.lines.push_str(&line);
    }

    fn would_cross(&self, elapsed: Duration, sleep: Duration) -> bool {
        // A sleep that ends on the deadline leaves no time for the try.
        let end = elapsed.saturating_add(sleep);
        self.timeout.is_some_and(|timeout| end >= timeout)
    }

    fn stop(&self, failed: &FailedTry<'_>, failure: &LlmFailure, how: &str) -> RetryStep {
        RetryStep::Stop(RetryStop::Failed(self.report(failed, failure, how)))
    }

    fn report(&self, failed: &FailedTry<'_>, failure: &LlmFailure, how: &str) -> RetryReport {
        RetryReport {
            reason: failure.reason,
            detail: failure.detail,
            retryable: failure.retryable && failure.reason != LlmReason::Unknown,
            http_status: failure.http_status,
            retry_after: failure.retry_after_ms.map(Duration::from_millis),
            attempts: self.n_failed,
            elapsed: failed.elapsed,
            error_name: failed.name.to_owned(),
            asked: self.asked.clone(),
            text: format!(
                "{} failed {how}:{}",
                self.asked.operation.as_str(),
                self.lines
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::timeout_of;
    use super::*;
    use crate::Json;
    use crate::content::{ContentBlock, Message};
    use crate::id::SessionId;
    use crate::llm::ModelRequest;
    use crate::llm::asked::Operation;
    use crate::llm::classify::{ErrorSigns, classify};

    /// Where a case with force of law ends otherwise here, on purpose: nowhere.
    ///
    /// What is not law: `value_error_retried` and `no_api_key` are about errors that only look
    /// permanent. The first ends the same here. The second is a wrong key, which no second try
    /// mends, so it stops at the first.
    const INFO_THAT_DIFFERS: &[&str] = &["retry/subclass/permanent_text/no_api_key"];

    fn cases(file: &str) -> Vec<Json> {
        let file: Json = serde_json::from_str(file).unwrap();
        file["cases"].as_array().unwrap().clone()
    }

    /// The error that an exception of the original stands for.
    fn error_of(entry: &Json) -> LlmError {
        let text = entry["msg"].as_str().unwrap();
        let refused = |code| LlmError::Guest(Failure::new(code, text));
        let exception = entry["type"].as_str().unwrap();
        let io = match exception {
            "TypeError" => return refused(FailureCode::InvalidArgument),
            "ExecInterrupt" | "CancelledError" => return refused(FailureCode::Cancelled),
            "NotImplementedError" | "ImportError" => {
                return LlmError::Unsupported(text.to_owned());
            }
            "ConnectionError" => Some(std::io::ErrorKind::ConnectionReset),
            _ => None,
        };
        let status = entry["http_status"]
            .as_u64()
            .or(entry["status_code"].as_u64());
        let status = status.map(|status| u16::try_from(status).unwrap());
        let signs = ErrorSigns {
            status,
            text,
            io,
            ..ErrorSigns::default()
        };
        let mut failure = classify(&signs).to_failure(text);
        failure.http_status = status;
        failure.retry_after_ms = entry["retry_after_s"].as_f64().map(|wait| {
            let wait = Duration::from_secs_f64(wait);
            u64::try_from(wait.as_millis()).unwrap()
        });
        if let Some(mark) = entry["retryable"].as_bool() {
            failure.retryable = mark;
        }
        LlmError::Failed(failure)
    }

    /// What a run of a case gave, in the words of the vectors.
    #[derive(Debug, Default, PartialEq)]
    struct Outcome {
        result: Option<Json>,
        error: Option<Json>,
        n_calls: u64,
        sleeps_s: Vec<f64>,
        infos: Vec<Json>,
    }

    fn info_json(info: &RetryInfo) -> Json {
        serde_json::json!({
            "attempt": info.attempt,
            "max_attempts": info.attempts_max,
            "reason": info.reason.as_str(),
            "sleep_s": info.sleep.as_secs_f64(),
            "retry_after_s": info.retry_after.map(|wait| wait.as_secs_f64()),
            "last_error_type": info.error_name,
            "last_error_msg": info.error,
        })
    }

    fn report_json(report: &RetryReport, error_name: &str) -> Json {
        let provider = report.asked.model.split_once(':').map(|(name, _)| name);
        serde_json::json!({
            "type": "LLMError",
            "reason": report.reason.as_str(),
            "retryable": report.retryable,
            "http_status": report.http_status,
            "retry_after_s": report.retry_after.map(|wait| wait.as_secs_f64()),
            "attempts": report.attempts,
            "had_image": report.asked.had_image,
            "provider": provider,
            "model": report.asked.model,
            "last_error_type": report.error_name,
            "cause_type": error_name,
            "report": report.text,
        })
    }

    fn request_of(case: &Json) -> ModelRequest {
        let mut message = Message::user("x");
        let blocks = case["content"].as_array().into_iter().flatten();
        for _ in blocks.filter(|block| block["type"] == "image") {
            message.content.push(ContentBlock::Image {
                mime_type: "image/png".to_owned(),
                data: [0].into(),
            });
        }
        ModelRequest::new(None, vec![message], SessionId::from_bits(1))
    }

    fn tries_of(case: &Json) -> Tries {
        let env = |name: &str| case["env"][name].as_str();
        let attempts = case["rt_kw"]["max_retries"].as_u64();
        let attempts = attempts.map(|n| NonZeroU32::new(n.try_into().unwrap()).unwrap());
        let policy = RetryPolicy::from_settings(
            attempts,
            env("OPENPROGRAM_MAX_RETRIES"),
            env("OPENPROGRAM_RETRY_BACKOFF_BASE"),
        );
        let argument = case["exec_kw"]["timeout_s"].as_f64();
        let timeout = timeout_of(argument, env("OPENPROGRAM_EXEC_TIMEOUT_S"));
        Tries::new(
            policy,
            timeout,
            Asked::of(Operation::Exec, "default", &request_of(case)),
        )
    }

    /// The loop of a runtime, with a clock that only sleeps move.
    fn run(case: &Json) -> Outcome {
        let script = case["script"].as_array().unwrap();
        let jitter = match case["uni"].as_str() {
            Some("lo") => 0.0,
            Some("hi") => 1.0,
            _ => 0.5,
        };
        let mut tries = tries_of(case);
        let mut outcome = Outcome::default();
        let mut clock = Duration::ZERO;
        for call in 0.. {
            outcome.n_calls += 1;
            let entry = script.get(call).unwrap_or(script.last().unwrap());
            if let Some(ok) = entry.get("ok") {
                outcome.result = Some(ok.clone());
                break;
            }
            let error = error_of(entry);
            let name = entry["type"].as_str().unwrap();
            let failed = FailedTry {
                name,
                error: &error,
                shown: false,
                elapsed: clock,
            };
            match tries.failed(failed, jitter) {
                RetryStep::Sleep(info) => {
                    outcome.sleeps_s.push(info.sleep.as_secs_f64());
                    outcome.infos.push(info_json(&info));
                    clock += info.sleep;
                }
                RetryStep::Stop(RetryStop::Raised(_)) => {
                    outcome.error = Some(serde_json::json!({ "type": name }));
                    break;
                }
                RetryStep::Stop(RetryStop::Failed(report)) => {
                    outcome.error = Some(report_json(&report, name));
                    break;
                }
            }
        }
        outcome
    }

    fn expected(case: &Json) -> Outcome {
        let outcome = &case["outcome"];
        let sleeps = outcome["sleeps"].as_array().unwrap();
        Outcome {
            result: outcome.get("result").cloned(),
            error: outcome.get("error").cloned(),
            n_calls: outcome["call_count"].as_u64().unwrap(),
            sleeps_s: sleeps.iter().map(|s| s[1].as_f64().unwrap()).collect(),
            infos: outcome["on_retry"].as_array().cloned().unwrap_or_default(),
        }
    }

    #[test]
    fn requests_are_tried_again_as_in_the_vectors() {
        let mut n_law = 0;
        for case in cases(include_str!("../../fixtures/vectors/retry.json")) {
            let id = case["id"].as_str().unwrap();
            let mut got = run(&case);
            let expected = expected(&case);
            // Observers that are not recorded, or that break and so record only the number.
            if expected.infos.is_empty() {
                got.infos.clear();
            } else if expected.infos.iter().all(|i| i.get("reason").is_none()) {
                for info in &mut got.infos {
                    *info = serde_json::json!({ "attempt": info["attempt"] });
                }
            }
            if INFO_THAT_DIFFERS.contains(&id) {
                assert_ne!(got, expected, "{id}");
            } else {
                assert_eq!(got, expected, "{id}");
            }
            n_law += usize::from(case["status"] == "law");
        }
        assert_eq!(n_law, 34);
    }

    #[test]
    fn sleeps_are_as_in_the_vectors() {
        let policy = RetryPolicy::default();
        for case in cases(include_str!("../../fixtures/vectors/backoff.json")) {
            let n_failed = u32::try_from(case["attempt_index"].as_u64().unwrap()).unwrap() + 1;
            let hint = case["retry_after_s"].as_f64().map(Duration::from_secs_f64);
            let sleeps = [0.0, 0.5, 1.0]
                .map(|jitter| policy.sleep_after(n_failed, hint, jitter).as_secs_f64());
            let expected = ["lo", "mid", "hi"].map(|key| case[key].as_f64().unwrap());
            assert_eq!(sleeps, expected, "{}", case["id"]);
        }
    }

    #[test]
    fn no_input_makes_a_sleep_panic() {
        let policy = RetryPolicy::default();
        for (n_failed, hint, jitter) in [
            (0, None, f64::NAN),
            (u32::MAX, None, 0.5),
            (u32::MAX, Some(Duration::MAX), 1.0),
            (1, Some(Duration::MAX), f64::INFINITY),
            (1, Some(Duration::ZERO), -1.0),
        ] {
            let sleep = policy.sleep_after(n_failed, hint, jitter);
            assert!(
                sleep >= Duration::from_millis(1125),
                "{n_failed} {hint:?} {jitter}"
            );
        }
    }

    #[test]
    fn settings_are_read_tolerantly() {
        let policy = |attempts: Option<u32>, number, base| {
            let attempts = attempts.and_then(NonZeroU32::new);
            let policy = RetryPolicy::from_settings(attempts, number, base);
            (policy.attempts_max.get(), policy.backoff_base.as_secs_f64())
        };
        for (attempts, number, base, expected) in [
            (None, None, None, (6, 1.5)),
            (Some(2), Some("9"), Some("0.5"), (2, 0.5)),
            (None, Some(" 9 "), Some("0"), (9, 0.0)),
            (None, Some("-4"), Some("-1"), (1, 1.5)),
            (None, Some("99999999999"), Some("NaN"), (u32::MAX, 1.5)),
            (None, Some("3.5"), Some("fast"), (6, 1.5)),
        ] {
            assert_eq!(
                policy(attempts, number, base),
                expected,
                "{number:?} {base:?}"
            );
        }
        for (argument, setting, expected) in [
            (Some(2.5), Some("9"), Some(2.5)),
            (Some(0.0), Some("9"), Some(9.0)),
            (Some(-1.0), None, None),
            (Some(f64::NAN), Some("0"), None),
            (None, Some("1e400"), None),
        ] {
            let timeout = timeout_of(argument, setting).map(|time| time.as_secs_f64());
            assert_eq!(timeout, expected, "{argument:?} {setting:?}");
        }
    }

    fn failed_once(failure: LlmFailure, shown: bool) -> RetryStep {
        let mut tries = Tries::new(RetryPolicy::default(), None, Asked::default());
        let error = LlmError::Failed(failure);
        tries.failed(FailedTry::new(&error, shown, Duration::ZERO), 0.5)
    }

    #[test]
    fn what_was_shown_or_tried_below_is_not_tried_again() {
        let lost = LlmFailure::new(LlmReason::Transport, true, "the reply was cut");
        let mut exhausted = lost.clone();
        exhausted.transport_exhausted = true;
        for (failure, shown, again) in [
            (lost.clone(), false, true),
            (lost, true, false),
            (exhausted, false, false),
        ] {
            match failed_once(failure, shown) {
                RetryStep::Sleep(_) => assert!(again),
                RetryStep::Stop(RetryStop::Failed(report)) => {
                    let text = "exec() failed after 1 attempt(s):\n\
                                Attempt 1: ConnectionError: the reply was cut";
                    assert_eq!((report.retryable, report.text.as_str()), (true, text));
                    assert!(!again);
                }
                RetryStep::Stop(RetryStop::Raised(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_report_tells_guests_everything_that_is_known() {
        let asked = Asked {
            operation: Operation::Decision,
            model: "openai:gpt".to_owned(),
            had_image: false,
        };
        let budget = Some(Duration::from_secs(40));
        let mut tries = Tries::new(RetryPolicy::default(), budget, asked);
        let mut failure = LlmFailure::new(LlmReason::RateLimit, true, "x".repeat(300));
        failure.http_status = Some(429);
        failure.retry_after_ms = Some(60_000);
        let error = LlmError::Failed(failure);
        let failed = FailedTry::new(&error, false, Duration::from_millis(1500));
        let RetryStep::Stop(stop) = tries.failed(failed, 0.0) else {
            panic!("slept over the deadline");
        };
        let line = format!("Attempt 1: RateLimitError: {}", "x".repeat(200));
        let expected = serde_json::json!({
            "code": "llm",
            "message": format!("the decision failed permanently:\n{line}"),
            "details": {
                "reason": "timeout",
                "retryable": false,
                "http_status": 429,
                "retry_after_s": 60.0,
                "provider": "openai",
                "attempts": 1,
                "elapsed_s": 1.5,
                "model": "openai:gpt",
                "had_image": false,
            },
        });
        assert_eq!(stop.to_failure("openai:gpt").to_json(), expected);
    }

    #[test]
    fn a_try_cut_by_the_deadline_ends_the_request() {
        let mut tries = Tries::new(RetryPolicy::default(), None, Asked::default());
        let RetryStop::Failed(report) = tries.timed_out(Duration::from_secs(5)) else {
            panic!("raised");
        };
        assert_eq!(report.reason, LlmReason::Timeout);
        assert!(!report.retryable);
        assert_eq!(
            report.text,
            "exec() failed permanently:\n\
             Attempt 1: TimeoutError: no reply within the time budget of 5.0s"
        );
    }

    #[test]
    fn errors_that_are_none_of_a_model_are_handed_on() {
        let failure = |code| Failure::new(code, "stop");
        for (code, expected) in [
            (FailureCode::Cancelled, FailureCode::Cancelled),
            (FailureCode::InvalidArgument, FailureCode::InvalidArgument),
            (FailureCode::Trapped, FailureCode::Llm),
        ] {
            let stop = RetryStop::Raised(LlmError::Guest(failure(code)));
            assert_eq!(stop.to_failure("component:x").code, expected);
        }
    }
}
