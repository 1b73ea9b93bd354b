//! A program of its own that runs a sandboxed function, with a closure as the model.

use std::sync::Arc;

use openprogram_component::{
    ComponentHost, Engine, EngineOptions, Limits, LoadedComponent, MetadataMode,
};
use openprogram_core::catalog::Catalog;
use openprogram_core::llm::{LlmFailure, ModelRequest};
use openprogram_runtime::{ModelFn, Providers, RunRequest, Runtime, RuntimeParts};

/// Routes a message with the sample `support`, whose bytes these are.
pub(crate) async fn route(support: Vec<u8>, message: &str) -> anyhow::Result<serde_json::Value> {
    let engine = Engine::new(EngineOptions::default());
    let support = LoadedComponent::load(&engine, "support", support, MetadataMode::Run).await?;
    let mut catalog = Catalog::default();
    catalog.add("support", support.functions().to_vec())?;
    let mut host = ComponentHost::new(engine, Limits::default());
    host.add(support);

    // The model: whatever answers a request. A failure says whether it is asked again.
    let model = ModelFn::new("own:model", |request: ModelRequest| async move {
        match request.last_text() {
            text if text.contains("See you") => Ok(r#"{"call": "conversation_over"}"#),
            _ => Err(LlmFailure::of_status(400, "only farewells are understood")),
        }
    });

    let mut parts = RuntimeParts::without_store(Arc::new(host), Arc::new(catalog));
    parts.providers = Providers::all(Arc::new(model));
    let runtime = Runtime::new(parts);
    let mut request = RunRequest::new("route-message");
    request.arguments.insert("message".into(), message.into());
    Ok(runtime.run_function(request).await.result?)
}
