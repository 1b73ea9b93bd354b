//! OpenAI Chat Completions, as OpenAI and many other servers speak it.
//!
//! The base URL is free: local servers and gateways serve the same format. What one server takes
//! and another refuses is in the profile, not in the code.

mod assemble;
mod decode;
mod encode;
mod wire;

use async_trait::async_trait;
use openprogram_core::llm::{
    Abilities, EventSink, FormatAbility, LlmError, LlmFailure, ModelReply, ModelRequest, Provider,
};
use openprogram_core::structured::{ResponseFormat, StructuredError};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use crate::checks::format_ability;
use crate::exchange::exchange;
use crate::profile::Profile;
use crate::secret::Secret;
use crate::transport::{Post, SetupError, Transport, address, secret_header};

/// The base URL of OpenAI itself.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// What makes a provider.
#[derive(Clone, Debug)]
pub struct OpenAiOptions {
    /// The full name, `provider:model`.
    pub name: String,
    /// The URL above `/chat/completions`.
    pub base_url: String,
    /// The key; servers at home often need none.
    pub key: Option<Secret>,
    /// The model, as the server calls it.
    pub model: String,
    /// What the server and the model take.
    pub profile: Profile,
}

/// One model behind a server that speaks Chat Completions.
#[derive(Clone, Debug)]
pub struct OpenAiChat {
    name: String,
    url: Url,
    authorization: Option<HeaderValue>,
    key: Option<Secret>,
    model: String,
    profile: Profile,
    transport: Transport,
}

impl OpenAiChat {
    /// Makes the provider; sends nothing.
    ///
    /// # Errors
    /// When the base URL or the key cannot be used.
    pub fn new(options: OpenAiOptions, transport: Transport) -> Result<Self, SetupError> {
        let url = address(&options.name, &options.base_url, "/chat/completions")?;
        let key = options.key.filter(|key| !key.is_empty());
        let authorization = key.as_ref().map(|key| secret_header("Bearer ", key));
        let authorization = authorization.transpose().map_err(|_| SetupError::Key {
            name: options.name.clone(),
        })?;
        Ok(Self {
            name: options.name,
            url,
            authorization,
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
        if let Some(value) = &self.authorization {
            headers.insert(AUTHORIZATION, value.clone());
        }
        let post = Post {
            url: &self.url,
            headers,
            body,
            key: self.key.as_ref(),
        };
        let decoder = decode::ChatDecoder::new(request.messages.len());
        exchange(&self.transport, post, decoder, sink).await
    }
}

#[async_trait]
impl Provider for OpenAiChat {
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
