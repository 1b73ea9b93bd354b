//! Recorded cases of failing models through whole turns, on a clock that only sleeps move.
//!
//! The cases are data taken from another implementation of the same rules. The kinds of errors
//! have its names and are translated here.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::content::ContentBlock;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::llm::{
    Abilities, ErrorSigns, EventSink, LlmError, ModelReply, ModelRequest, Provider, RetryInfo,
    RetryPolicy, classify, timeout_of,
};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::runtime_with;
use crate::testing::NativeFunctions;
use crate::{Event, Ids, Providers, TurnRequest, event_channel};

const CASES: &str = include_str!("../../../core/fixtures/vectors/retry.json");

/// A model that does what the script of a case says; its last entry is repeated.
struct Flaky {
    script: Vec<Json>,
    n_asked: AtomicUsize,
}

#[async_trait]
impl Provider for Flaky {
    fn name(&self) -> &'static str {
        "default"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    async fn complete(&self, _: &ModelRequest, _: &dyn EventSink) -> Result<ModelReply, LlmError> {
        let at = self.n_asked.fetch_add(1, Ordering::Relaxed);
        let entry = self.script.get(at).unwrap_or(self.script.last().unwrap());
        match entry["ok"].as_str() {
            Some(text) => Ok(ModelReply::text_only(text)),
            None => Err(error_of(entry)),
        }
    }
}

/// The error that an exception of the original stands for.
fn error_of(entry: &Json) -> LlmError {
    let text = entry["msg"].as_str().unwrap();
    let refused = |code| LlmError::Guest(Failure::new(code, text));
    let io = match entry["type"].as_str().unwrap() {
        "TypeError" => return refused(FailureCode::InvalidArgument),
        "ExecInterrupt" | "CancelledError" => return refused(FailureCode::Cancelled),
        "NotImplementedError" | "ImportError" => return LlmError::Unsupported(text.to_owned()),
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
    let wait = entry["retry_after_s"].as_f64().map(Duration::from_secs_f64);
    failure.retry_after_ms = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap());
    if let Some(mark) = entry["retryable"].as_bool() {
        failure.retryable = mark;
    }
    LlmError::Failed(failure)
}

/// What such an error is called here.
fn name_of(entry: &Json) -> &'static str {
    match error_of(entry) {
        LlmError::Failed(failure) => failure.reason.error_name(),
        _ => "",
    }
}

/// Ids whose upper bits are the jitter of a case.
struct Jittered {
    first: u64,
    n_given: AtomicU64,
}

impl Ids for Jittered {
    fn bits(&self) -> u64 {
        self.first ^ (self.n_given.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What became of a case, in the words of the vectors.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: Json,
    n_calls: usize,
    slept: Duration,
    retries: Vec<Json>,
}

async fn run(case: &Json) -> Outcome {
    let env = |name: &str| case["env"][name].as_str();
    let attempts = case["rt_kw"]["max_retries"].as_u64();
    let attempts = attempts.map(|n| NonZeroU32::new(n.try_into().unwrap()).unwrap());
    let model = Arc::new(Flaky {
        script: case["script"].as_array().unwrap().clone(),
        n_asked: AtomicUsize::new(0),
    });
    let runtime = runtime_with(NativeFunctions::default(), |parts| {
        parts.providers = Providers::all(model.clone());
        parts.retry = RetryPolicy::from_settings(
            attempts,
            env("OPENPROGRAM_MAX_RETRIES"),
            env("OPENPROGRAM_RETRY_BACKOFF_BASE"),
        );
        parts.exec_timeout = timeout_of(None, env("OPENPROGRAM_EXEC_TIMEOUT_S"));
        parts.ids = Arc::new(Jittered {
            first: match case["uni"].as_str() {
                Some("lo") => 0,
                Some("hi") => u64::MAX,
                _ => 1 << 63,
            },
            n_given: AtomicU64::new(0),
        });
    });
    let mut request = TurnRequest::text("x");
    let blocks = case["content"].as_array().into_iter().flatten();
    for _ in blocks.filter(|block| block["type"] == "image") {
        request.turn.content.push(ContentBlock::Image {
            mime_type: "image/png".to_owned(),
            data: b"\x89PNG\r\n\x1a\n".as_slice().into(),
        });
    }
    let timeout = timeout_of(case["exec_kw"]["timeout_s"].as_f64(), None);
    request.turn.timeout_ms = timeout.map(|time| u64::try_from(time.as_millis()).unwrap());
    let (sender, mut receiver) = event_channel(100);
    request.events = Some(sender);
    if case["exec_kw"]["broken_on_retry"] == true {
        // The nearest to an observer that breaks is one that went away.
        receiver = event_channel(1).1;
    }
    let start = tokio::time::Instant::now();
    let outcome = runtime.exec(request).await;
    let slept = start.elapsed();
    let mut retries = Vec::new();
    while let Some(event) = receiver.next().await {
        if let Event::ModelRetried { retry, .. } = event {
            retries.push(shown(&retry));
        }
    }
    Outcome {
        result: match outcome.result {
            Ok(reply) => reply.text.into(),
            Err(failure) => told(failure),
        },
        n_calls: model.n_asked.load(Ordering::Relaxed),
        slept,
        retries,
    }
}

fn shown(retry: &RetryInfo) -> Json {
    json!({
        "attempt": retry.attempt,
        "max_attempts": retry.attempts_max,
        "reason": retry.reason.as_str(),
        "sleep_s": retry.sleep.as_secs_f64(),
        "retry_after_s": retry.retry_after.map(|wait| wait.as_secs_f64()),
        "last_error_type": retry.error_name,
        "last_error_msg": retry.error,
    })
}

/// A failure, its elapsed time left out: it is measured beside it.
fn told(mut failure: Failure) -> Json {
    if failure.code == FailureCode::Llm {
        failure.details.shift_remove("elapsed_s").unwrap();
        return json!({"llm": failure.message, "details": failure.details});
    }
    failure.code.as_str().into()
}

fn expected(case: &Json) -> Outcome {
    let outcome = &case["outcome"];
    let sleeps = outcome["sleeps"].as_array().unwrap().iter();
    let script = case["script"].as_array().unwrap();
    let entry = |at: usize| script.get(at).unwrap_or(script.last().unwrap());
    let retries = outcome["on_retry"].as_array().cloned().unwrap_or_default();
    let retries = retries.into_iter().enumerate().map(|(at, mut retry)| {
        retry["last_error_type"] = name_of(entry(at)).into();
        retry
    });
    Outcome {
        result: match outcome["error"]["type"].as_str() {
            None => outcome["result"].clone(),
            Some("LLMError") => expected_failure(&outcome["error"], entry),
            Some("TypeError") => "invalid-argument".into(),
            Some("NotImplementedError" | "ImportError") => "no-provider".into(),
            Some(_) => "cancelled".into(),
        },
        n_calls: outcome["call_count"].as_u64().unwrap().try_into().unwrap(),
        slept: sleeps
            .map(|sleep| Duration::from_secs_f64(sleep[1].as_f64().unwrap()))
            .sum(),
        retries: retries.collect(),
    }
}

fn expected_failure<'a>(error: &Json, entry: impl Fn(usize) -> &'a Json) -> Json {
    let report = error["report"].as_str().unwrap();
    let mut lines = report.lines();
    let mut message = lines.next().unwrap().to_owned();
    for (at, line) in lines.enumerate() {
        let theirs = format!(": {}: ", entry(at)["type"].as_str().unwrap());
        let ours = format!(": {}: ", name_of(entry(at)));
        message.push('\n');
        message.push_str(&line.replacen(&theirs, &ours, 1));
    }
    let mut details = JsonObject::new();
    let keys = [
        "reason",
        "retryable",
        "http_status",
        "retry_after_s",
        "attempts",
        "model",
    ];
    for key in keys.into_iter().chain(["had_image"]) {
        if !error[key].is_null() {
            details.insert(key.to_owned(), error[key].clone());
        }
    }
    json!({"llm": message, "details": details})
}

#[tokio::test(start_paused = true)]
async fn failing_models_are_tried_again_as_in_the_recorded_cases() {
    let cases: Json = serde_json::from_str(CASES).unwrap();
    let law = cases["cases"].as_array().unwrap().iter();
    let law: Vec<_> = law.filter(|case| case["status"] == "law").collect();
    assert_eq!(law.len(), 34);
    for case in law {
        let id = &case["id"];
        let mut expected = expected(case);
        let mut got = run(case).await;
        // Only some cases record what the observer was told.
        if case["exec_kw"]["record_on_retry"] != true {
            expected.retries.clear();
            got.retries.clear();
        }
        assert_eq!(got, expected, "{id}");
    }
}
