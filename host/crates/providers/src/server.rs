//! One model behind a server: what the protocols over HTTP share.
//!
//! A protocol is a folder beside this file: where it is spoken, how a key is sent, how a request is
//! written and how a reply is read. Nothing here retries.

use async_trait::async_trait;
use openprogram_core::content::ThinkingLevel;
use openprogram_core::llm::{
    Abilities, EventSink, FormatAbility, LlmError, LlmFailure, ModelReply, ModelRequest, Provider,
};
use openprogram_core::structured::{ResponseFormat, StructuredError};
use reqwest::Url;
use reqwest::header::HeaderMap;

use crate::checks::format_ability;
use crate::exchange::exchange;
use crate::profile::Profile;
use crate::setup::{SetupError, address, check_model};
use crate::thinking::said_thinking;
use crate::transport::{Post, Transport};
use crate::{anthropic, openai};
use openprogram_core::secret::Secret;

/// A wire format in which a model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextProtocol {
    /// OpenAI Chat Completions.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
}

/// What makes a provider.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The full name, `provider:model`.
    pub name: String,
    /// What the server speaks.
    pub protocol: TextProtocol,
    /// The URL above the path of the protocol.
    pub base_url: String,
    /// The key; servers at home often need none.
    pub key: Option<Secret>,
    /// The model, as the server calls it.
    pub model: String,
    /// What the server and the model take.
    pub profile: Profile,
}

/// One model behind a server.
#[derive(Clone, Debug)]
pub struct ServerModel {
    name: String,
    protocol: TextProtocol,
    url: Url,
    headers: HeaderMap,
    key: Option<Secret>,
    model: String,
    profile: Profile,
    transport: Transport,
}

impl ServerModel {
    /// Makes the provider; sends nothing.
    ///
    /// # Errors
    /// When the base URL or the key cannot be used, or no server can have a model of this name.
    pub fn new(options: ServerOptions, transport: Transport) -> Result<Self, SetupError> {
        let key = options.key.filter(|key| !key.is_empty());
        let (path, headers) = match options.protocol {
            TextProtocol::OpenAi => (openai::PATH, openai::headers(key.as_ref())),
            TextProtocol::Anthropic => (anthropic::PATH, anthropic::headers(key.as_ref())),
        };
        let url = address(&options.name, &options.base_url, path)?;
        check_model(&url, &options.model)?;
        Ok(Self {
            url,
            headers: headers.map_err(|_| SetupError::Key {
                name: options.name.clone(),
            })?,
            name: options.name,
            protocol: options.protocol,
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
        let (model, profile) = (&self.model, &self.profile);
        let body = match self.protocol {
            TextProtocol::OpenAi => openai::encode(request, model, profile),
            TextProtocol::Anthropic => anthropic::encode(request, model, profile),
        };
        let post = Post {
            url: &self.url,
            headers: self.headers.clone(),
            body: body?,
            key: self.key.as_ref(),
        };
        let turn = request.messages.len();
        match self.protocol {
            TextProtocol::OpenAi => {
                let decoder = openai::ChatDecoder::new(turn);
                exchange(&self.transport, post, decoder, sink).await
            }
            TextProtocol::Anthropic => {
                let decoder = anthropic::MessagesDecoder::new(turn);
                exchange(&self.transport, post, decoder, sink).await
            }
        }
    }
}

#[async_trait]
impl Provider for ServerModel {
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
        match self.protocol {
            TextProtocol::OpenAi => openai::schema(format).map(drop),
            TextProtocol::Anthropic => anthropic::schema(format).map(drop),
        }
    }

    fn holds_tools(&self) -> bool {
        self.profile.strict_tools
    }

    fn check_submit(&self, format: &ResponseFormat) -> Result<(), StructuredError> {
        match self.protocol {
            TextProtocol::OpenAi => openai::strict_schema(&format.schema).map(drop),
            TextProtocol::Anthropic => anthropic::strict_schema(&format.schema).map(drop),
        }
    }

    fn searches_web(&self) -> bool {
        self.profile.web_search
    }

    fn thinking(&self, level: ThinkingLevel) -> Result<Option<String>, LlmError> {
        let said = said_thinking(level, &self.profile).map_err(LlmError::Unsupported)?;
        Ok(said.applied)
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.ask(request, sink).await.map_err(LlmError::Failed)
    }
}
