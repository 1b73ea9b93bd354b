//! The composition root: the only place where the adapters meet.
//!
//! Builds from settings what a command needs and no more: a list of sessions needs no engine, an
//! inspection no store. Nothing here knows how a command prints or ends.

mod answers;
mod built;
mod callable;
mod components;
mod error;
mod fetching;
mod granting;
mod installing;
mod linking;
mod listing;
mod models;
mod permitted;
mod prepared;
mod removing;
mod sessions;
mod skills;
mod tool_form;
mod tool_sets;
mod updated;
mod watched;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use openprogram_component::{
    ComponentHost, Engine, EngineError, EngineOptions, Limits, Permissions,
};
use openprogram_core::content::ThinkingLevel;
use openprogram_core::grant::Grants;
use openprogram_core::question::{Nobody, Questions};
use openprogram_core::session::{MemoryStore, SessionStore};
use openprogram_runtime::{ModelOpener, NoModels, Providers, Runtime, RuntimeParts};
use openprogram_store::{Durability, SqliteStore};

use self::answers::kept_answers;
pub use self::answers::{ANSWER_ID_DIGITS, AnswerChoice, answer_id};
pub use self::built::load_built;
use self::callable::{call_policy, catalog};
use self::components::Loader;
pub use self::error::AppError;
pub use self::granting::{GrantChange, GrantPlan, Granted, LeftTable, Standing};
pub use self::installing::{Added, PendingAdd, PendingUpdate};
use self::linking::Linked;
pub use self::linking::Served;
pub use self::listing::{Listed, Listing, Unknown};
use self::models::{Models, SharedTransport};
pub use self::prepared::Prepared;
pub use self::removing::Removed;
pub use self::tool_sets::UnknownTool;
pub use self::updated::Updated;
pub use self::watched::NoSource;
use crate::fetch::{Fetcher, WebOptions};
use crate::settings::{ModelNames, Settings};
use crate::state::{KeptAnswers, MarkedStore, StateFolder};
use crate::text::clean;

/// The components that functions come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Components {
    /// Those of the project.
    Project,
    /// This file or source folder alone.
    File(PathBuf),
    /// None.
    None,
}

/// How much a run may use up; what is not said has its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Tokens of all model requests, input and output together; any number by default.
    pub tokens: Option<u64>,
    /// Time in milliseconds; any time by default.
    pub run_ms: Option<u64>,
    /// Model requests.
    pub model_turns: Option<u64>,
}

/// What a run is made with beside the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunChoice {
    /// The components that functions come from.
    pub components: Components,
    /// The models, each in place of that of the project; `None` when none will be asked.
    pub models: Option<ModelNames>,
    /// How much all of them think, in place of what the project says.
    pub thinking: Option<ThinkingLevel>,
    /// How much the run may use up.
    pub budgets: Budgets,
    /// Whether sessions are kept; those of a run that only measures are not.
    pub is_recorded: bool,
}

/// Builds what commands need.
pub struct App {
    settings: Settings,
    /// Made when the first model behind HTTP is opened; all of them share its connections.
    transport: SharedTransport,
    /// Fetches components; it is set up when the first one is.
    fetcher: Arc<Fetcher>,
}

impl App {
    /// An app over these settings. Reads and writes nothing.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::with_web(settings, WebOptions::default())
    }

    /// The same, with other bounds and roots of trust for what is fetched.
    #[must_use]
    pub fn with_web(settings: Settings, web: WebOptions) -> Self {
        Self {
            fetcher: Arc::new(Fetcher::new(web, settings.logins.clone())),
            settings,
            transport: SharedTransport::default(),
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Starts an engine without a cache, as a run would, and gives what a person should know of it.
    ///
    /// # Errors
    /// When this machine has no room for one.
    pub fn try_engine(&self) -> Result<Option<String>, EngineError> {
        let engine = Engine::new(EngineOptions::default());
        engine.start()?;
        Ok(engine.notice())
    }

    /// Builds the runtime for one run in which nobody is asked: components, grants, model, store.
    ///
    /// # Errors
    /// When any of them cannot be used.
    pub async fn prepare(
        &self,
        choice: &RunChoice,
        words: &mut dyn Write,
    ) -> anyhow::Result<Prepared> {
        self.prepare_asking(choice, Arc::new(Nobody), words).await
    }

    /// The same for a run in which questions are answered.
    ///
    /// # Errors
    /// As for [`App::prepare`].
    pub async fn prepare_asking(
        &self,
        choice: &RunChoice,
        questions: Arc<dyn Questions>,
        words: &mut dyn Write,
    ) -> anyhow::Result<Prepared> {
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let mut left_out = Vec::new();
        let linked = self.load_linked(&loader, &choice.components, &mut left_out, words);
        let Linked {
            components,
            loaded,
            links,
            first,
        } = linked.await?;
        let catalog = catalog(&loaded)?;
        let policy = call_policy(&catalog, &components, !left_out.is_empty())?;
        let grants: BTreeMap<_, _> = components
            .iter()
            .map(|component| (component.name.clone(), Arc::new(component.grants.clone())))
            .collect();
        let skills = self.skills(&loaded, words);
        let permissions = components
            .iter()
            .zip(links)
            .map(|(component, links)| Permissions {
                links,
                ..self.permissions(component, &loader)
            });
        let loaded: Vec<_> = loaded.into_iter().zip(permissions).collect();
        let models = Models::new(self, &loader, &loaded);
        let (providers, opener) = self
            .models(models, choice.models.as_ref(), &grants, words)
            .await?;
        let Loader { engine, state, .. } = loader;
        let mut host = ComponentHost::new(engine.clone(), Limits::default());
        for (component, permissions) in loaded {
            host.add_with(component, permissions);
        }
        let store: Arc<dyn SessionStore> = if choice.is_recorded {
            let store = SqliteStore::open(state.sessions_file(), Durability::default())?;
            Arc::new(MarkedStore::new(Arc::new(store), state.running_sessions()))
        } else {
            Arc::new(MemoryStore::default())
        };
        let mut parts = RuntimeParts::new(store, Arc::new(host), Arc::new(catalog));
        let (has_exec, has_review) = (providers.exec.is_some(), providers.review.is_some());
        let thinking = self.settings.models.thinking;
        parts.settings = thinking.of_run(choice.thinking, has_exec, has_review);
        parts.providers = providers;
        self.set_limits(&mut parts, choice.budgets);
        parts.models = opener;
        parts.skills = skills.filter(|_| choice.models.is_some());
        parts.grants = grants;
        parts.policy = policy;
        parts.tool_sets = self.settings.tool_sets.clone();
        parts.retry = self.settings.models.retry;
        parts.questions = questions;
        parts.answers = Arc::new(self.answers(words));
        parts.question_timeout = self.settings.models.ask_timeout;
        parts.traces_content = self.settings.trace.content;
        parts.exec_timeout = self.settings.models.exec_timeout;
        Ok(Prepared {
            runtime: Runtime::new(parts),
            left_out,
            engine,
            first,
        })
    }

    /// The answers that hold for good; where they cannot be read the person is told and asked again.
    fn answers(&self, words: &mut dyn Write) -> KeptAnswers {
        let answers = kept_answers(&self.settings);
        if let Err(error) = answers.list() {
            // Words that cannot be written are no reason to fail.
            let _ = writeln!(
                words,
                "warning: {}",
                clean(&format!("{:#}", anyhow::Error::new(error)))
            );
        }
        answers
    }

    fn set_limits(&self, parts: &mut RuntimeParts, budgets: Budgets) {
        let Budgets {
            tokens,
            run_ms,
            model_turns,
        } = budgets;
        parts.limits.tokens = tokens;
        parts.limits.run_ms = run_ms;
        parts.limits.model_turns = model_turns.unwrap_or(parts.limits.model_turns);
        let places = &mut parts.admission.requests;
        *places = self.settings.limits.provider_calls.unwrap_or(*places);
    }

    /// The models behind the runtimes, and what opens those that are granted.
    async fn models(
        &self,
        mut models: Models<'_>,
        names: Option<&ModelNames>,
        grants: &BTreeMap<String, Arc<Grants>>,
        words: &mut dyn Write,
    ) -> anyhow::Result<(Providers, Arc<dyn ModelOpener>)> {
        let Some(names) = names else {
            return Ok((Providers::default(), Arc::new(NoModels)));
        };
        for number in &self.settings.models.numbers {
            if let Some(warning) = &number.warning {
                // Words that cannot be written are no reason to fail.
                let _ = writeln!(words, "warning: {warning}");
            }
        }
        let providers = models.open_all(names, words).await?;
        if grants.values().all(|grants| grants.models.is_empty()) {
            return Ok((providers, Arc::new(NoModels)));
        }
        let granted = grants.values().map(AsRef::as_ref);
        let opener = models.opener(granted, words).await?;
        Ok((providers, Arc::new(opener)))
    }
}
