//! Anthropic Messages, as Anthropic and some other servers speak it.

mod decode;
mod encode;
mod wire;

use async_trait::async_trait;
use openprogram_core::llm::{
    Abilities, EventSink, FormatAbility, LlmError, LlmFailure, ModelReply, ModelRequest, Provider,
};
use openprogram_core::structured::{ResponseFormat, StructuredError};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};

use crate::checks::format_ability;
use crate::exchange::exchange;
use crate::profile::Profile;
use crate::secret::Secret;
use crate::transport::{Post, SetupError, Transport, address, header_name, secret_header};

/// The base URL of Anthropic itself.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";
/// The version of the protocol that is spoken. `temperature` and its like do not exist in it.
const VERSION: &str = "2026-10-21";

/// What makes a provider.
#[derive(Clone, Debug)]
pub struct AnthropicOptions {
    /// The full name, `provider:model`.
    pub name: String,
    /// The URL above `/v1/messages`.
    pub base_url: String,
    /// The key; servers at home often need none.
    pub key: Option<Secret>,
    /// The model, as the server calls it.
    pub model: String,
    /// What the server and the model take.
    pub profile: Profile,
}

/// One model behind a server that speaks Messages.
#[derive(Clone, Debug)]
pub struct AnthropicMessages {
    name: String,
    url: Url,
    api_key: Option<HeaderValue>,
    key: Option<Secret>,
    model: String,
    profile: Profile,
    transport: Transport,
}

impl AnthropicMessages {
    /// Makes the provider; sends nothing.
    ///
    /// # Errors
    /// When the base URL or the key cannot be used.
    pub fn new(options: AnthropicOptions, transport: Transport) -> Result<Self, SetupError> {
        let url = address(&options.name, &options.base_url, "/v1/messages")?;
        let key = options.key.filter(|key| !key.is_empty());
        let api_key = key.as_ref().map(|key| secret_header("", key));
        let api_key = api_key.transpose().map_err(|_| SetupError::Key {
            name: options.name.clone(),
        })?;
        Ok(Self {
            name: options.name,
            url,
            api_key,
            key,
            model: options.model,
            profile: options.profile,
            transport,
        })
    }

    async fn ask(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmFailure> {
        let body = encode::encode(request, &self.model, &self.profile)?;
        let mut headers = HeaderMap::new();
        let version = HeaderValue::from_static(VERSION);
        headers.insert(header_name("anthropic-version"), version);
        if let Some(value) = &self.api_key {
            headers.insert(header_name("x-api-key"), value.clone());
        }
        let post = Post {
            url: &self.url,
            headers,
            body,
            key: self.key.as_ref(),
        };
        let decoder = decode::MessagesDecoder::new(request.messages.len());
        exchange(&self.transport, post, decoder, sink).await
    }
}

#[async_trait]
impl Provider for AnthropicMessages {
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
        format_ability(&self.profile)
    }

    fn check_format(&self, format: &ResponseFormat) -> Result<(), StructuredError> {
        encode::schema(format).map(drop)
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.ask(request, sink).await.map_err(LlmError::Failed)
    }
}
