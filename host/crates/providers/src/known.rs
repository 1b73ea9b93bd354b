//! The models of one server, and the servers that everybody knows: for the binary, which adds those
//! of a project, and for programs that name a model and have a key.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::llm::Provider;
use openprogram_core::secret::Secret;

use crate::anthropic::ANTHROPIC_BASE_URL;
use crate::decisions::{DecisionEndpoint, DecisionOptions, WithDecisions};
use crate::openai::OPENAI_BASE_URL;
use crate::profile::{DecisionProtocol, Profiles, Protocol};
use crate::registry::{AlreadyRegistered, ProviderFactory, Registry};
use crate::server::{ServerModel, ServerOptions, TextProtocol};
use crate::setup::{SetupError, address, check_model};
use crate::transport::Transport;

/// One server, of which every model can be opened by its name.
#[derive(Clone, Debug)]
pub struct KnownServer {
    /// The part of a model's name before the colon.
    pub provider: String,
    /// What the server speaks.
    pub protocol: Protocol,
    /// The URL above the paths of the protocol.
    pub base_url: String,
    /// Its key; servers at home often need none.
    pub key: Option<Secret>,
    /// What servers and models take.
    pub profiles: Profiles,
}

impl KnownServer {
    /// OpenAI, at its own address.
    #[must_use]
    pub fn openai(key: Option<Secret>, profiles: Profiles) -> Self {
        Self {
            provider: "openai".to_owned(),
            protocol: Protocol::OpenAi,
            base_url: OPENAI_BASE_URL.to_owned(),
            key,
            profiles,
        }
    }

    /// Anthropic, at its own address.
    #[must_use]
    pub fn anthropic(key: Option<Secret>, profiles: Profiles) -> Self {
        Self {
            provider: "anthropic".to_owned(),
            protocol: Protocol::Anthropic,
            base_url: ANTHROPIC_BASE_URL.to_owned(),
            key,
            profiles,
        }
    }

    /// Checks that the server may have a model of this name; [`KnownServer::open`] does too.
    ///
    /// # Errors
    /// When it can have none.
    pub fn check(&self, model: &str) -> Result<(), SetupError> {
        let name = format!("{}:{model}", self.provider);
        check_model(&address(&name, &self.base_url, "")?, model)
    }

    /// The model of this name on the server. Sends nothing: whether the server has it, its first
    /// reply tells.
    ///
    /// # Errors
    /// When the URL or the key cannot be used, or no server can have a model of this name.
    pub fn open(
        &self,
        model: &str,
        transport: &Transport,
    ) -> Result<Arc<dyn Provider>, Box<dyn Error + Send + Sync>> {
        let profile = self.profiles.find(self.protocol, &self.base_url, model);
        let name = format!("{}:{model}", self.provider);
        let endpoint = |protocol| {
            let options = DecisionOptions {
                name: name.clone(),
                protocol,
                base_url: self.base_url.clone(),
                key: self.key.clone(),
                model: model.to_owned(),
                profile: profile.clone(),
            };
            DecisionEndpoint::new(options, transport.clone())
        };
        let alone = |protocol| Ok(Arc::new(endpoint(protocol)?) as Arc<dyn Provider>);
        let protocol = match self.protocol {
            Protocol::OpenAi => TextProtocol::OpenAi,
            Protocol::Anthropic => TextProtocol::Anthropic,
            Protocol::OpenAiDecisions => return alone(DecisionProtocol::OpenAi),
            Protocol::GoogleDecisions => return alone(DecisionProtocol::Google),
            Protocol::SystemOne => return alone(DecisionProtocol::SystemOne),
        };
        let decisions = profile.decisions.map(endpoint).transpose()?;
        let options = ServerOptions {
            name: name.clone(),
            protocol,
            base_url: self.base_url.clone(),
            key: self.key.clone(),
            model: model.to_owned(),
            profile,
        };
        let writer: Arc<dyn Provider> = Arc::new(ServerModel::new(options, transport.clone())?);
        Ok(match decisions {
            Some(decisions) => Arc::new(WithDecisions::new(writer, decisions)),
            None => writer,
        })
    }
}

/// Opens the models of one server for a [`Registry`].
struct ServerFactory {
    server: KnownServer,
    transport: Transport,
}

#[async_trait]
impl ProviderFactory for ServerFactory {
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Box<dyn Error + Send + Sync>> {
        self.server.open(model, &self.transport)
    }
}

/// A registry of these servers, from which a program opens its models as `PROVIDER:MODEL`. A name
/// without a model, or of a provider that is not there, is an error that lists the known ones.
///
/// ```
/// use openprogram_providers::{KnownServer, Profiles, Secret, Transport, TransportOptions};
/// use openprogram_providers::known_models;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let profiles = Profiles::built_in()?;
/// let key = Some(Secret::new("sk-…"));
/// let transport = Transport::new(TransportOptions::default())?;
/// let models = known_models([KnownServer::anthropic(key, profiles)], &transport)?;
/// let strong = pollster::block_on(models.open("anthropic:claude-opus-5"))?;
/// assert_eq!(strong.name(), "anthropic:claude-opus-5");
/// assert!(pollster::block_on(models.open("antropic:claude-opus-5")).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When two servers have one name.
pub fn known_models(
    servers: impl IntoIterator<Item = KnownServer>,
    transport: &Transport,
) -> Result<Registry, AlreadyRegistered> {
    let mut registry = Registry::default();
    for server in servers {
        let form = format!("{}:MODEL", server.provider);
        let transport = transport.clone();
        registry.register(&form, ServerFactory { server, transport })?;
    }
    Ok(registry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::TransportOptions;

    fn opened(name: &str) -> Result<String, String> {
        let profiles = Profiles::built_in().unwrap();
        let servers = [
            KnownServer::openai(Some(Secret::new("k")), profiles.clone()),
            KnownServer::anthropic(None, profiles),
        ];
        let transport = Transport::new(TransportOptions::default()).unwrap();
        let models = known_models(servers, &transport).unwrap();
        let opened = pollster::block_on(models.open(name));
        opened
            .map(|provider| format!("{} {:?}", provider.name(), provider.abilities()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn models_are_opened_by_their_names_and_other_names_are_errors() {
        for (name, expected) in [
            (
                "openai:gpt-5",
                Ok("openai:gpt-5 Abilities { text: true, decide: false }"),
            ),
            (
                "openai:gpt-6-luna",
                Ok("openai:gpt-6-luna Abilities { text: true, decide: true }"),
            ),
            (
                "anthropic:claude-opus-5",
                Ok("anthropic:claude-opus-5 Abilities { text: true, decide: false }"),
            ),
            (
                "gemini:flash",
                Err(
                    "there is no provider `gemini`; the known ones are `anthropic:MODEL`, \
                     `openai:MODEL`",
                ),
            ),
            (
                "gpt-5",
                Err(
                    "`gpt-5` is not the name of a model; it looks like `anthropic:MODEL` or \
                     `openai:MODEL`",
                ),
            ),
        ] {
            let opened = opened(name);
            let opened = opened.as_deref().map_err(String::as_str);
            assert_eq!(opened, expected, "{name}");
        }
    }

    #[test]
    fn a_server_has_one_name() {
        let profiles = Profiles::built_in().unwrap();
        let server = KnownServer::openai(None, profiles);
        let transport = Transport::new(TransportOptions::default()).unwrap();
        let twice = known_models([server.clone(), server], &transport);
        assert_eq!(twice.err(), Some(AlreadyRegistered("openai".to_owned())));
    }
}
