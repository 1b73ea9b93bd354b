//! What servers say of the key of a request, in errors of every kind, is told without it.

use openprogram_core::llm::{LlmFailure, LlmReason, Provider};

use crate::replay::{KEY, Play, answered, anthropic, ask, document, openai, serve, stream};

#[tokio::test]
async fn a_status_is_classified_with_its_hint_and_without_the_key() {
    let failure = |reason, retryable, status, message| {
        let mut failure = LlmFailure::new(reason, retryable, message);
        failure.http_status = Some(status);
        failure
    };
    let slow_down = document(
        "429 Too Many Requests",
        "retry-after: 7\r\ncontent-type: application/json\r\n",
        "{\"error\":{\"message\":\"Slow down.\"}}",
    );
    let message = "429 Too Many Requests: Slow down";
    let mut expected = failure(LlmReason::RateLimit, true, 429, message);
    expected.retry_after_ms = Some(7000);
    assert_eq!(answered(slow_down).await, Err(expected));

    let bad_key = document("401 Unauthorized", "", "key sk-very-secret is unknown");
    let message = "401 Unauthorized: key *** is unknown";
    let expected = failure(LlmReason::Auth, false, 401, message);
    assert_eq!(answered(bad_key).await, Err(expected));

    for told in [
        "c2stdmVyeS1zZWNyZXQ=",
        "terces-yrev-ks",
        "736b2d766572792d736563726574",
    ] {
        let bad_key = document("401 Unauthorized", "", &format!("key {told} is unknown"));
        let message = answered(bad_key).await.unwrap_err().message;
        let is_clean = message.starts_with("401 Unauthorized: key ***") && message.len() < 60;
        assert!(is_clean, "{message}");
    }
}

#[tokio::test]
async fn an_error_inside_a_reply_is_told_without_the_key_over_both_protocols() {
    let body = format!("{{\"error\":{{\"message\":\"bad Bearer {KEY}\"}}}}");
    let event = format!("event: error\ndata: {body}\n\n");
    let json = "content-type: application/json\r\n";
    for answer in [stream(&[event.as_str()]), document("200 OK", json, &body)] {
        let (url, server) = serve(vec![Play::Close(answer.clone()), Play::Close(answer)]).await;
        let providers: [&dyn Provider; 2] = [&openai(&url), &anthropic(&url)];
        for provider in providers {
            let told = ask(provider).await.unwrap_err().message;
            assert_eq!(told, "the reply is an error: `error`: bad Bearer ***");
        }
        server.await.unwrap();
    }
}
