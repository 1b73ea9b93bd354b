//! A closure as a model: the whole of a provider for a program that has its own way to ask one.
//!
//! The closure is given each request as a server would be: history rendered, images whole, tools
//! described. It is asked once for each try; the runtime tries again as the error says.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::llm::{
    Abilities, EventSink, FormatAbility, LlmError, ModelReply, ModelRequest, Provider,
};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

type Asked = Pin<Box<dyn Future<Output = Result<ModelReply, LlmError>> + Send>>;

/// A model that is a closure.
///
/// A closure gives a text, or a whole [`ModelReply`] with calls and usage; its error is an
/// [`LlmError`] or an [`LlmFailure`](openprogram_core::llm::LlmFailure), whose class, status and
/// time to wait decide whether and when it is asked again.
///
/// ```
/// use openprogram_core::llm::{LlmFailure, ModelRequest};
/// use openprogram_runtime::ModelFn;
///
/// // One that waits for a server of its own.
/// let asked = ModelFn::new("own:echo", |request: ModelRequest| async move {
///     match request.last_text() {
///         "" => Err(LlmFailure::of_words("say something")),
///         text => Ok(format!("You said: {text}")),
///     }
/// });
///
/// // One that blocks; it runs on a thread where that does no harm.
/// let blocking = ModelFn::blocking("own:slow", |request: &ModelRequest| {
///     Ok::<_, LlmFailure>(format!("{} messages", request.messages.len()))
/// });
/// # let _ = (asked, blocking);
/// ```
pub struct ModelFn {
    name: String,
    ask: Box<dyn Fn(ModelRequest) -> Asked + Send + Sync>,
    format: Option<FormatAbility>,
    searches_web: bool,
    on_close: Option<Box<dyn Fn() + Send + Sync>>,
}

impl ModelFn {
    /// A model of this full name, for example `own:fast`, that is an async closure.
    ///
    /// Dropping a turn drops the future of the closure.
    pub fn new<F, A, R, E>(name: impl Into<String>, ask: F) -> Self
    where
        F: Fn(ModelRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, E>> + Send + 'static,
        R: Into<ModelReply>,
        E: Into<LlmError>,
    {
        Self::of(
            name.into(),
            Box::new(move |request| {
                let asked = ask(request);
                Box::pin(async move { asked.await.map(Into::into).map_err(Into::into) })
            }),
        )
    }

    /// A model of this full name that is a closure which blocks.
    ///
    /// Inside of tokio it runs on a thread for work that blocks. Such work cannot be stopped: when
    /// its turn is dropped it goes on to its end, and nobody reads what it gives.
    pub fn blocking<F, R, E>(name: impl Into<String>, ask: F) -> Self
    where
        F: Fn(&ModelRequest) -> Result<R, E> + Send + Sync + 'static,
        R: Into<ModelReply>,
        E: Into<LlmError>,
    {
        let ask = Arc::new(move |request: &ModelRequest| {
            ask(request).map(Into::into).map_err(Into::into)
        });
        Self::of(
            name.into(),
            Box::new(move |request| {
                let ask = Arc::clone(&ask);
                Box::pin(async move {
                    if Handle::try_current().is_err() {
                        return ask(&request);
                    }
                    match spawn_blocking(move || ask(&request)).await {
                        Ok(replied) => replied,
                        // A panic of the closure goes on as it would without the thread.
                        Err(error) => match error.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(_) => Err(LlmError::Unsupported(
                                "the async runtime is shutting down".to_owned(),
                            )),
                        },
                    }
                })
            }),
        )
    }

    fn of(name: String, ask: Box<dyn Fn(ModelRequest) -> Asked + Send + Sync>) -> Self {
        Self {
            name,
            ask,
            format: None,
            searches_web: false,
            on_close: None,
        }
    }

    /// The same model, which holds its replies to the
    /// [`response_format`](ModelRequest::response_format) of a request in this way. Without it,
    /// turns with a format are refused.
    #[must_use]
    pub fn holding_to_formats(mut self, ability: FormatAbility) -> Self {
        self.format = Some(ability);
        self
    }

    /// The same model, which looks at [`web_search`](ModelRequest::web_search). Without it, turns
    /// that want it are refused.
    #[must_use]
    pub fn searching_the_web(mut self) -> Self {
        self.searches_web = true;
        self
    }

    /// The same model, which calls this once, when its runtime is closed.
    #[must_use]
    pub fn on_close(mut self, close: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_close = Some(Box::new(close));
        self
    }
}

#[async_trait]
impl Provider for ModelFn {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    fn format_ability(&self) -> Option<FormatAbility> {
        self.format
    }

    fn searches_web(&self) -> bool {
        self.searches_web
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        let reply = (self.ask)(request.clone()).await?;
        reply.tell(sink);
        Ok(reply)
    }

    fn close(&self) {
        if let Some(close) = &self.on_close {
            close();
        }
    }
}
