//! In which form the server of a model is sent tools. Nothing is opened or asked, and no key is needed.

use openprogram_providers::{OpenError, Profile, Protocol, TextProtocol};

use super::models::COMPONENT_KIND;
use super::{App, AppError};

/// Kinds of models that get tools as values, not as JSON of a provider.
const WITHOUT_FORM: [&str; 2] = [COMPONENT_KIND, "script"];

impl App {
    /// The wire format of a model and what its server is known to take; `None` for one that is sent
    /// no tools over a wire.
    ///
    /// # Errors
    /// When the name is none, or its provider is not known.
    pub fn tool_form(&self, model: &str) -> anyhow::Result<Option<(TextProtocol, Profile)>> {
        let models = &self.settings.models;
        let known = || {
            let names = models.providers.iter().map(|provider| &provider.name);
            names.map(|name| format!("`{name}:MODEL`")).collect()
        };
        let Some((provider, name)) = model.split_once(':') else {
            let name = model.to_owned();
            return Err(AppError::Model(OpenError::NotAName {
                name,
                known: known(),
            })
            .into());
        };
        if WITHOUT_FORM.contains(&provider) {
            return Ok(None);
        }
        let mut providers = models.providers.iter();
        let Some(server) = providers.find(|server| server.name == provider) else {
            let provider = provider.to_owned();
            let known = known();
            return Err(AppError::Model(OpenError::UnknownProvider { provider, known }).into());
        };
        let wire = match server.protocol {
            Protocol::OpenAi => TextProtocol::OpenAi,
            Protocol::Anthropic => TextProtocol::Anthropic,
            Protocol::OpenAiDecisions | Protocol::GoogleDecisions | Protocol::SystemOne => {
                return Ok(None);
            }
        };
        let profile = models
            .known_profiles()?
            .find(server.protocol, &server.base_url, name);
        Ok(Some((wire, profile)))
    }
}
