//! Decision endpoints: servers that weigh the options of one question and write nothing.
//!
//! Three published forms of the same thing. Which one a server speaks is said by its settings and
//! never found out by trying: some servers take two of them at the same address.

mod answer;
mod google;
mod openai;
mod paired;
mod state;
mod systemone;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::llm::{
    Abilities, DecisionLimits, DecisionReply, DecisionState, EventSink, LlmError, LlmFailure,
    ModelReply, ModelRequest, Provider,
};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::failure;
use crate::profile::{DecisionProtocol, Profile};
use crate::setup::{SetupError, address, check_model};
use crate::transport::{Post, Transport, header_name, secret_header};
use openprogram_core::secret::Secret;

use answer::Answer;

pub use paired::WithDecisions;

/// The largest answer, in bytes: many times what the largest menu needs.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// The fewest options of a question, in every form.
const OPTIONS_MIN: usize = 2;
/// The most options of a question, in every form; a profile may say fewer.
const OPTIONS_MAX: usize = 255;
/// The one question of a request.
const QUESTION: &str = "next_step";
/// What is asked. What it is asked about, and every option with its description, stand beside it.
const INSTRUCTIONS: &str = "Which of the options is the right next step?";

const GOOGLE_KEY: HeaderName = header_name("x-goog-api-key");

/// What makes a provider.
#[derive(Clone, Debug)]
pub struct DecisionOptions {
    /// The full name, `provider:model`.
    pub name: String,
    /// The form that the server speaks.
    pub protocol: DecisionProtocol,
    /// The URL above the path of the endpoint.
    pub base_url: String,
    /// The key; servers at home often need none.
    pub key: Option<Secret>,
    /// The model, as the server calls it.
    pub model: String,
    /// What the server and the model take.
    pub profile: Profile,
}

/// One model behind a decision endpoint.
#[derive(Clone, Debug)]
pub struct DecisionEndpoint {
    name: String,
    protocol: DecisionProtocol,
    url: Url,
    authorization: Option<(HeaderName, HeaderValue)>,
    key: Option<Secret>,
    model: String,
    profile: Profile,
    transport: Transport,
}

impl DecisionEndpoint {
    /// Makes the provider; sends nothing.
    ///
    /// # Errors
    /// When the base URL or the key cannot be used, or no server can have a model of this name.
    pub fn new(options: DecisionOptions, transport: Transport) -> Result<Self, SetupError> {
        let (base_url, path) = place(options.protocol, &options.base_url);
        let url = address(&options.name, base_url, path)?;
        check_model(&url, &options.model)?;
        let (header, prefix) = match options.protocol {
            DecisionProtocol::Google => (GOOGLE_KEY, ""),
            DecisionProtocol::OpenAi | DecisionProtocol::SystemOne => (AUTHORIZATION, "Bearer "),
        };
        let key = options.key.filter(|key| !key.is_empty());
        let authorization = key.as_ref().map(|key| secret_header(prefix, key));
        let authorization = authorization.transpose().map_err(|_| SetupError::Key {
            name: options.name.clone(),
        })?;
        Ok(Self {
            name: options.name,
            protocol: options.protocol,
            url,
            authorization: authorization.map(|value| (header, value)),
            key,
            model: options.model,
            profile: options.profile,
            transport,
        })
    }

    async fn ask(&self, state: &DecisionState) -> Result<DecisionReply, LlmFailure> {
        let cut = state::within(state, self.profile.decision_state_bytes)?;
        let body = self.encode(state, &cut);
        let body = serde_json::to_vec(&body);
        let body =
            body.map_err(|error| failure::refused(format!("the request is not JSON: {error}")))?;
        let headers: HeaderMap = self.authorization.iter().cloned().collect();
        let post = Post {
            url: &self.url,
            headers,
            body,
            key: self.key.as_ref(),
        };
        let replied = self.answered(post, state, &cut).await;
        replied.map_err(|failure| failure::without_key(failure, self.key.as_ref()))
    }

    async fn answered(
        &self,
        post: Post<'_>,
        state: &DecisionState,
        cut: &state::Cut<'_>,
    ) -> Result<DecisionReply, LlmFailure> {
        let mut reply = self.transport.post(post).await?;
        if reply.media_type() == "text/html" {
            let why = "the server answers with a web page; check the base URL";
            return Err(failure::refused(why));
        }
        let body = reply.whole_within(ANSWER_BYTES_MAX).await?;
        let answer = decode(self.protocol, &body)?;
        let (usage, choice) = (answer.usage, answer.choice());
        let (weights, own_confidence) = answer.check(state)?;
        Ok(DecisionReply {
            weights,
            choice,
            own_confidence,
            texts_left_out: cut.n_left_out,
            usage,
        })
    }

    /// The body of a request. Deterministic: equal states give equal bytes.
    fn encode(&self, state: &DecisionState, cut: &state::Cut<'_>) -> Json {
        match self.protocol {
            DecisionProtocol::OpenAi => {
                let key = self.profile.prompt_cache_key.then_some(&state.session);
                openai::encode(&self.model, state, cut, key)
            }
            DecisionProtocol::Google => google::encode(&self.model, state, cut),
            DecisionProtocol::SystemOne => systemone::encode(&self.model, state, cut),
        }
    }
}

/// What an answer says; nothing of it is checked yet.
fn decode(protocol: DecisionProtocol, body: &[u8]) -> Result<Answer, LlmFailure> {
    let body: Json = serde_json::from_slice(body).map_err(|error| failure::not_json(&error))?;
    if let Some(failure) = failure::in_reply("", &body) {
        return Err(failure);
    }
    match protocol {
        DecisionProtocol::OpenAi => openai::decode(body),
        DecisionProtocol::Google => google::decode(body),
        DecisionProtocol::SystemOne => systemone::decode(body),
    }
}

/// The base URL without a version that belongs to the path, and the path.
fn place(protocol: DecisionProtocol, base_url: &str) -> (&str, &'static str) {
    let base = base_url.trim().trim_end_matches('/');
    match protocol {
        DecisionProtocol::OpenAi => (base, "/decisions"),
        DecisionProtocol::Google => {
            let above = base.strip_suffix("/v1beta").unwrap_or(base);
            (above, "/v1beta/decisions")
        }
        DecisionProtocol::SystemOne => {
            let above = base.strip_suffix("/v1").unwrap_or(base);
            (above, "/v1/systemone")
        }
    }
}

#[async_trait]
impl Provider for DecisionEndpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: false,
            decide: true,
        }
    }

    async fn complete(&self, _: &ModelRequest, _: &dyn EventSink) -> Result<ModelReply, LlmError> {
        Err(LlmError::Unsupported(format!(
            "`{}` picks among options and writes no text; name a model that writes",
            self.name
        )))
    }

    fn decision_limits(&self) -> DecisionLimits {
        let most = self.profile.decision_options_max.unwrap_or(OPTIONS_MAX);
        DecisionLimits {
            options_min: OPTIONS_MIN,
            options_max: most.min(OPTIONS_MAX),
            is_endpoint: true,
        }
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        self.ask(state).await.map_err(LlmError::Failed)
    }
}
