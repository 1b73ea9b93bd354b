//! How turns beside their function end: in picks, and with replies that begin anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::content::ContentBlock;
use openprogram_core::llm::{
    Abilities, EventSink, LlmError, LlmFailure, LlmReason, ModelEvent, ModelReply, ModelRequest,
    Provider, StopReason,
};
use openprogram_runtime::testing::ScriptedReply;
use openprogram_tests::host::{TestHost, named};
use serde_json::json;

use super::pulled::told;

#[tokio::test]
async fn puller_is_told_which_of_pick_and_answer_a_turn_gave() {
    let pick = "{\"call\": \"stop\"}";
    for (how, reply) in [("pick-of", "An answer."), ("outcome", pick)] {
        let told = told(vec![reply.into()], "wrongly", json!({"how": how})).await;
        assert_eq!(told, json!("invalid-argument turn"), "{how}");
    }
}

#[tokio::test]
async fn puller_works_and_decides_beside_its_turn() {
    let pick = "{\"call\": \"double\", \"args\": {\"n\": 4}}";
    let replies = || {
        let calls = [("x", "add_up", "{\"a\": 1, \"b\": 2}")];
        vec![
            ScriptedReply::calls("", calls),
            "I double it.".into(),
            pick.into(),
        ]
    };
    let expected = json!([
        "usage 0",
        "use add_up {\"a\": 1, \"b\": 2}",
        "result add_up: 3",
        "text I double it.",
        "usage 0",
        // The pick is asked for again.
        "usage 0",
        "8"
    ]);
    for starts in [true, false] {
        let arguments = json!({"prompt": "Work.", "starts": starts});
        let told = told(replies(), "choose", arguments).await;
        assert_eq!(told, expected, "{starts}");
    }
    let never = vec!["Well.".into(), "Well.".into()];
    let arguments = json!({"prompt": "Work.", "starts": true});
    assert_eq!(told(never, "choose", arguments).await, "decision no_action");
}

/// Breaks off after a piece that there was time to take, and is whole after that.
struct Cut(AtomicBool);

#[async_trait]
impl Provider for Cut {
    fn name(&self) -> &'static str {
        "test:cut"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    async fn complete(
        &self,
        _: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        if self.0.swap(true, Ordering::Relaxed) {
            sink.event(ModelEvent::Text("Whole.".to_owned()));
            return Ok(ModelReply {
                content: vec![ContentBlock::Text("Whole.".to_owned())],
                stop: StopReason::End,
                usage: None,
            });
        }
        sink.event(ModelEvent::Text("Hal".to_owned()));
        tokio::time::sleep(Duration::from_millis(300)).await;
        let lost = LlmFailure::new(LlmReason::Transport, true, "lost");
        Err(LlmError::Failed(lost))
    }
}

#[tokio::test]
async fn puller_forgets_what_it_took_of_a_reply_that_begins_anew_where_it_agreed() {
    for (allowed, expected) in [
        (
            true,
            json!([
                "text Hal",
                "anew 1",
                "text Whole.",
                "usage 0",
                "Whole.",
                "Whole."
            ]),
        ),
        (false, json!("llm transport")),
    ] {
        let model = Arc::new(Cut(AtomicBool::new(false)));
        let host = TestHost::new().guest("puller").provider(model);
        let host = host.start().await;
        let arguments = json!({"prompt": "x", "allowed": allowed});
        let told = match host.call("restart", arguments).await {
            Ok(value) => value,
            Err(failure) => named(&failure).into(),
        };
        assert_eq!(told, expected, "{allowed}");
    }
}
