//! From the names of models to providers: scripts, components, and servers behind HTTP.
//!
//! Every model of a run is opened once, however many runtimes it stands behind. Keys go from the
//! settings into providers and nowhere else.

use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use openprogram_component::{Engine, GuestProvider, Limits, LoadedComponent, Permissions};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::grant::Grants;
use openprogram_core::llm::{
    Abilities, EventSink, FormatAbility, LlmError, ModelReply, ModelRequest, Provider,
};
use openprogram_providers::{
    KnownServer, ProviderFactory, Registry, ScriptProvider, Transport, TransportError,
    TransportOptions,
};
use openprogram_runtime::{ModelOpener, Providers};

use super::components::Loader;
use super::{App, AppError};
use crate::input::read_text;
use crate::settings::{ModelNames, ModelSettings, ProviderSettings};

/// Largest script of prepared replies: ten thousand replies of some kilobytes.
const SCRIPT_BYTES_MAX: u64 = 64 << 20;
/// The kind of models that are components.
pub(super) const COMPONENT_KIND: &str = "component";

type Failed = Box<dyn Error + Send + Sync>;

/// The one transport of the process.
#[derive(Clone, Default)]
pub(super) struct SharedTransport(Arc<OnceLock<Transport>>);

impl SharedTransport {
    fn get(&self) -> Result<Transport, TransportError> {
        if let Some(transport) = self.0.get() {
            return Ok(transport.clone());
        }
        let transport = Transport::new(TransportOptions::default())?;
        // Two that meet here share the one that came first.
        Ok(self.0.get_or_init(|| transport).clone())
    }
}

/// Opens the models of one run.
pub(super) struct Models<'a> {
    app: &'a App,
    loader: &'a Loader,
    components: HashMap<String, (LoadedComponent, Permissions)>,
    opened: Vec<Opened>,
}

/// A model under its name and where its name was written.
struct Opened {
    name: String,
    is_typed: bool,
    provider: Arc<dyn Provider>,
}

impl<'a> Models<'a> {
    /// `loaded` are the components that functions come from, with what they may touch, which holds
    /// for one that is a model too.
    pub(super) fn new(
        app: &'a App,
        loader: &'a Loader,
        loaded: &[(LoadedComponent, Permissions)],
    ) -> Self {
        let named = |(component, permissions): &(LoadedComponent, Permissions)| {
            let known = (component.clone(), permissions.clone());
            (component.name().to_owned(), known)
        };
        Self {
            app,
            loader,
            components: loaded.iter().map(named).collect(),
            opened: Vec::new(),
        }
    }

    /// The models behind the runtimes: each the one that was typed, else that of the project.
    pub(super) async fn open_all(
        &mut self,
        typed: &ModelNames,
        words: &mut dyn Write,
    ) -> anyhow::Result<Providers> {
        let app = self.app;
        let project = &app.settings.models.names;
        Ok(Providers {
            main: self.open(&typed.main, &project.main, words).await?,
            exec: self.open(&typed.exec, &project.exec, words).await?,
            review: self.open(&typed.review, &project.review, words).await?,
        })
    }

    /// What opens the models that these components are granted, while a run goes on. Paths in their
    /// names start at the project file.
    pub(super) async fn opener(
        &mut self,
        grants: impl Iterator<Item = &Grants>,
        words: &mut dyn Write,
    ) -> anyhow::Result<GrantedModels> {
        for grant in grants.flat_map(|grants| &grants.models) {
            self.load_component(&grant.what.model, words).await?;
        }
        Ok(GrantedModels {
            registry: self.registry(&self.app.settings.project_folder)?,
            opened: Mutex::default(),
        })
    }

    async fn open(
        &mut self,
        typed: &Option<String>,
        project: &Option<String>,
        words: &mut dyn Write,
    ) -> anyhow::Result<Option<Arc<dyn Provider>>> {
        let is_typed = typed.is_some();
        let Some(name) = typed.as_ref().or(project.as_ref()) else {
            return Ok(None);
        };
        let known = |opened: &&Opened| opened.is_typed == is_typed && opened.name == *name;
        if let Some(opened) = self.opened.iter().find(known) {
            return Ok(Some(Arc::clone(&opened.provider)));
        }
        self.load_component(name, words).await?;
        // Paths on the command line start at the current folder, others at the project file.
        let settings = &self.app.settings;
        let project_folder = settings.project_file.as_deref().and_then(Path::parent);
        let folder = project_folder
            .filter(|_| !is_typed)
            .unwrap_or(&settings.current_folder);
        let opened = self.registry(folder)?.open(name).await;
        let provider = opened.map_err(AppError::Model)?;
        self.opened.push(Opened {
            name: name.clone(),
            is_typed,
            provider: Arc::clone(&provider),
        });
        Ok(Some(provider))
    }

    /// A component of the project is a model even when functions come from elsewhere.
    async fn load_component(&mut self, name: &str, words: &mut dyn Write) -> anyhow::Result<()> {
        if let Some((COMPONENT_KIND, name)) = name.split_once(':')
            && !self.components.contains_key(name)
            && let Some(component) = self.app.find(name)?
        {
            let loaded = self.loader.load_bound(&component, words).await?;
            let permissions = self.app.permissions(&component, self.loader);
            self.components
                .insert(component.name, (loaded, permissions));
        }
        Ok(())
    }

    /// All kinds of models; scripts are looked for in `folder`.
    fn registry(&self, folder: &Path) -> anyhow::Result<Registry> {
        let mut registry = Registry::default();
        let folder = folder.to_owned();
        registry.register("script:FILE", move |file: &str| open_script(&folder, file))?;
        let components = ComponentModels {
            engine: self.loader.engine.clone(),
            components: self.components.clone(),
        };
        registry.register("component:NAME", components)?;
        let models = &self.app.settings.models;
        for provider in &models.providers {
            let form = format!("{}:MODEL", provider.name);
            let transport = self.app.transport.clone();
            registry.register(&form, ServerModels::new(provider, models, transport))?;
        }
        Ok(registry)
    }
}

/// Opens models by name while a run goes on, each once.
pub(super) struct GrantedModels {
    registry: Registry,
    opened: Mutex<HashMap<String, Arc<dyn Provider>>>,
}

#[async_trait]
impl ModelOpener for GrantedModels {
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Failure> {
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(provider) = lock().get(model) {
            return Ok(Arc::clone(provider));
        }
        let provider = self.registry.open(model).await.map_err(|error| {
            let told = format!("{:#}", anyhow::Error::from(error));
            Failure::new(FailureCode::NoProvider, told).with("model", model)
        })?;
        // Two that meet here share the one that came first.
        let mut opened = lock();
        let provider = opened.entry(model.to_owned()).or_insert(provider);
        Ok(Arc::clone(provider))
    }
}

/// `script:FILE`; the file is read once.
fn open_script(folder: &Path, file: &str) -> Result<Arc<dyn Provider>, Failed> {
    let text = read_text(&folder.join(file), SCRIPT_BYTES_MAX)?;
    Ok(Arc::new(ScriptProvider::from_lines(file, &text)?))
}

/// `component:NAME`: components that write or decide.
struct ComponentModels {
    engine: Engine,
    components: HashMap<String, (LoadedComponent, Permissions)>,
}

#[async_trait]
impl ProviderFactory for ComponentModels {
    async fn open(&self, name: &str) -> Result<Arc<dyn Provider>, Failed> {
        let Some((component, permissions)) = self.components.get(name) else {
            let name = name.to_owned();
            let mut known: Vec<_> = self.components.keys().cloned().collect();
            known.sort();
            return Err(Box::new(AppError::UnknownComponent { name, known }));
        };
        let full_name = format!("{COMPONENT_KIND}:{name}");
        let (engine, component) = (self.engine.clone(), component.clone());
        let provider = GuestProvider::new(full_name, engine, component, Limits::default())?;
        Ok(Arc::new(provider.with_permissions(permissions.clone())))
    }
}

/// `PROVIDER:MODEL`: the models of one server.
struct ServerModels {
    provider: ProviderSettings,
    models: ModelSettings,
    transport: SharedTransport,
}

impl ServerModels {
    fn new(
        provider: &ProviderSettings,
        models: &ModelSettings,
        transport: SharedTransport,
    ) -> Self {
        Self {
            provider: provider.clone(),
            models: models.clone(),
            transport,
        }
    }
}

#[async_trait]
impl ProviderFactory for ServerModels {
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Failed> {
        let ProviderSettings {
            name,
            protocol,
            base_url,
            key_variable,
            key,
            needs_key,
            origin: _,
        } = self.provider.clone();
        let missing = key_variable.filter(|_| needs_key && key.is_none());
        let server = KnownServer {
            provider: name,
            protocol,
            base_url,
            key,
            profiles: self.models.known_profiles()?,
        };
        if let Some(variable) = missing {
            server.check(model)?;
            let name = format!("{}:{model}", server.provider);
            return Ok(Arc::new(Keyless { name, variable }));
        }
        server.open(model, &self.transport.get()?)
    }
}

/// A model whose key is missing. It fails when it is asked, so that what needs no model runs.
struct Keyless {
    name: String,
    variable: String,
}

#[async_trait]
impl Provider for Keyless {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    /// Whatever is asked of it, the missing key is what is told.
    fn format_ability(&self) -> Option<FormatAbility> {
        Some(FormatAbility {
            is_held: true,
            with_tools: true,
            keeps_order: true,
        })
    }

    async fn complete(&self, _: &ModelRequest, _: &dyn EventSink) -> Result<ModelReply, LlmError> {
        Err(LlmError::Unsupported(format!(
            "there is no key for `{}`; put it into the variable `{}`, or choose another model \
             with `--model`",
            self.name, self.variable
        )))
    }
}
