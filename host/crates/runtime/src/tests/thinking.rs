//! Levels of thinking: what holds, what a provider makes of it, and what a node says.

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::content::ThinkingLevel;
use openprogram_core::llm::{Abilities, EventSink, LlmError, ModelReply, ModelRequest, Provider};
use openprogram_core::session::NodeQuery;

use super::runtime_with;
use super::shop::shop;
use super::turns::model;
use crate::testing::ScriptedProvider;
use crate::{Providers, Runtime, RuntimeSettings, TurnRequest};

/// A model that thinks a little whatever it is told, and not more than much.
struct Restless(Arc<ScriptedProvider>);

#[async_trait]
impl Provider for Restless {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn abilities(&self) -> Abilities {
        self.0.abilities()
    }

    fn thinking(&self, level: ThinkingLevel) -> Result<Option<String>, LlmError> {
        match level {
            ThinkingLevel::Off => Ok(Some("low".to_owned())),
            ThinkingLevel::XHigh => Err(LlmError::Unsupported("not so much".to_owned())),
            _ => Ok(None),
        }
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.0.complete(request, sink).await
    }
}

fn runtime(model: &Arc<ScriptedProvider>, level: ThinkingLevel) -> Runtime {
    let model = Restless(Arc::clone(model));
    runtime_with(shop(), |parts| {
        parts.providers = Providers::all(Arc::new(model));
        parts.settings = RuntimeSettings {
            system: Some("Of all runs.".to_owned()),
            ..RuntimeSettings::default().with_thinking(level)
        };
    })
}

#[tokio::test]
async fn a_level_is_asked_for_and_recorded_with_what_became_of_it() {
    for (level, thinking, applied) in [
        (ThinkingLevel::Off, None, Some("low")),
        (ThinkingLevel::High, Some("high"), None),
    ] {
        let model = model(vec!["hm".into()]);
        let runtime = runtime(&model, level);
        let outcome = runtime.exec(TurnRequest::text("x")).await;
        outcome.result.unwrap();
        let request = &model.requests()[0];
        assert_eq!(request.thinking, level);
        assert_eq!(request.system.as_deref(), Some("Of all runs."));
        let session = outcome.session.unwrap();
        let nodes = runtime.store().nodes(&session, NodeQuery::default());
        let facts = &nodes.await.unwrap()[1].opened.facts;
        let fact = |name: &str| facts.get(name).and_then(openprogram_core::Json::as_str);
        assert_eq!(
            (fact("thinking"), fact("thinking_applied")),
            (thinking, applied)
        );
    }
}

#[tokio::test]
async fn a_level_that_the_model_does_not_have_is_refused_before_anything_is_asked() {
    let model = model(vec!["never".into()]);
    let runtime = runtime(&model, ThinkingLevel::XHigh);
    let outcome = runtime.exec(TurnRequest::text("x")).await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.message.as_str()),
        ("no-provider", "not so much")
    );
    // Refused before a session was needed.
    assert_eq!((outcome.session, model.n_left()), (None, 1));
}

#[tokio::test]
async fn what_is_left_of_the_tokens_of_a_run_bounds_the_reply() {
    let model = model(vec!["hm".into()]);
    let provider = Arc::clone(&model);
    let runtime = runtime_with(shop(), |parts| {
        parts.providers = Providers::all(provider);
        parts.limits.tokens = Some(5_000);
    });
    let outcome = runtime.exec(TurnRequest::text("x")).await;
    outcome.result.unwrap();
    let most = model.requests()[0].max_output_tokens;
    assert!(
        most.is_some_and(|most| (1..5_000).contains(&most)),
        "{most:?}"
    );
}
