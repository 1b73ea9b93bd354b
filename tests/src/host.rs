//! A host around guests, built in one expression and used in one line.
//!
//! All hosts of a test binary share one engine and one cache of compiled code. Times are fixed and
//! ids are counted, so that whole graphs can be compared.

mod given;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use openprogram_component::{
    ComponentHost, Engine, EngineOptions, GuestProvider, Limits, LoadError, LoadedComponent,
    MetadataMode, Permissions,
};
use openprogram_core::catalog::Catalog;
use openprogram_core::failure::Failure;
use openprogram_core::grant::{Grant, Grants, ModelGrant};
use openprogram_core::id::{SessionId, Timestamp};
use openprogram_core::llm::Provider;
use openprogram_core::question::{Nobody, Questions};
use openprogram_core::session::{MemoryStore, Node, NodeQuery, SessionStore};
use openprogram_core::tool_filter::ToolSets;
use openprogram_core::{Json, JsonObject};
use openprogram_runtime::testing::{
    CountingIds, FixedClock, NamedModels, ScriptedProvider, ScriptedReply, shown_graph,
};
use openprogram_runtime::{
    AdmissionLimits, CallPolicy, Providers, RunLimits, RunOutcome, RunRequest, RuntimeSettings,
};
use openprogram_runtime::{Runtime, RuntimeParts};

use openprogram_store::{Durability, SqliteStore};

use crate::declared::Declared;
use crate::guests;

/// Compiled code is kept beside what the build script made, and thrown away with it.
const CACHE: &str = concat!(env!("OUT_DIR"), "/compiled");

/// The engine of all tests of one binary.
#[must_use]
pub fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        Engine::new(EngineOptions {
            cache_folder: Some(CACHE.into()),
            ..EngineOptions::default()
        })
    });
    &ENGINE
}

/// Loads bytes as a component of this name, its metadata read.
///
/// # Errors
/// When the host refuses it.
pub async fn load(name: &str, bytes: Vec<u8>) -> Result<LoadedComponent, LoadError> {
    LoadedComponent::load(engine(), name, bytes, MetadataMode::Run).await
}

/// A host that is being put together.
pub struct TestHost {
    engine: Engine,
    guests: Vec<(String, Vec<u8>)>,
    grants: Vec<(String, String)>,
    models: Vec<(String, Grant<ModelGrant>)>,
    asking: Vec<String>,
    questions: Arc<dyn Questions>,
    other_models: NamedModels,
    model: Model,
    /// Behind `exec_runtime` and `review_runtime`, where it is another one than the main model.
    others: [Option<Arc<dyn Provider>>; 2],
    settings: RuntimeSettings,
    permissions: BTreeMap<String, Permissions>,
    limits: Limits,
    run_limits: RunLimits,
    admission: AdmissionLimits,
    tool_sets: ToolSets,
    pub(crate) declared: Declared,
    stateful: Vec<String>,
    store: Arc<dyn SessionStore>,
}

/// What answers model requests.
enum Model {
    None,
    Provider(Arc<dyn Provider>),
    Component(String),
}

/// A host that runs.
pub struct RunningHost {
    /// The runtime.
    pub runtime: Runtime,
    /// Where sessions are kept.
    pub store: Arc<dyn SessionStore>,
}

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHost {
    /// A host without guests, grants and model, which keeps sessions in memory.
    #[must_use]
    pub fn new() -> Self {
        Self {
            engine: engine().clone(),
            guests: Vec::new(),
            grants: Vec::new(),
            models: Vec::new(),
            asking: Vec::new(),
            questions: Arc::new(Nobody),
            other_models: NamedModels::default(),
            model: Model::None,
            others: [None, None],
            settings: RuntimeSettings::default(),
            permissions: BTreeMap::new(),
            limits: Limits::default(),
            run_limits: RunLimits::default(),
            admission: AdmissionLimits::default(),
            tool_sets: ToolSets::default(),
            declared: Declared::default(),
            stateful: Vec::new(),
            store: Arc::new(MemoryStore::default()),
        }
    }

    /// Runs everything on an engine of its own, of which other tests take nothing.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Adds a guest or sample under its own name.
    #[must_use]
    pub fn guest(self, name: &str) -> Self {
        self.component(name, guests::bytes(name))
    }

    /// Adds a component from its bytes.
    #[must_use]
    pub fn component(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.guests.push((name.to_owned(), bytes));
        self
    }

    /// Lets one component call a function of another one.
    #[must_use]
    pub fn grant(mut self, component: &str, function: &str) -> Self {
        self.grants
            .push((component.to_owned(), function.to_owned()));
        self
    }

    /// Lets one component open a model; the grant is a line as in a project file.
    ///
    /// # Panics
    /// When the line is no grant.
    #[must_use]
    pub fn grant_model(mut self, component: &str, line: &str) -> Self {
        let grant = line.parse().expect("the line is a grant of a model");
        self.models.push((component.to_owned(), grant));
        self
    }

    /// Lets one component put questions to the person.
    #[must_use]
    pub fn grant_asking(mut self, component: &str) -> Self {
        self.asking.push(component.to_owned());
        self
    }

    /// Has questions answered here.
    #[must_use]
    pub fn questions(mut self, questions: Arc<dyn Questions>) -> Self {
        self.questions = questions;
        self
    }

    /// Adds a model that may be opened by this name.
    #[must_use]
    pub fn other_model(mut self, name: &str, provider: Arc<dyn Provider>) -> Self {
        self.other_models = self.other_models.with(name, provider);
        self
    }

    /// Answers with these replies in order, and checks every request.
    #[must_use]
    pub fn script<R: Into<ScriptedReply>>(self, replies: impl IntoIterator<Item = R>) -> Self {
        self.provider(Arc::new(ScriptedProvider::new(replies)))
    }

    /// Answers with this provider.
    #[must_use]
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.model = Model::Provider(provider);
        self
    }

    /// Lets this guest decide.
    #[must_use]
    pub fn decider(mut self, name: &str) -> Self {
        self.model = Model::Component(name.to_owned());
        self
    }

    /// Changes the limits of calls.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Changes the limits of runs.
    #[must_use]
    pub fn run_limits(mut self, change: impl FnOnce(&mut RunLimits)) -> Self {
        change(&mut self.run_limits);
        self
    }

    /// Keeps sessions here.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.store = store;
        self
    }

    /// Loads everything and starts.
    ///
    /// # Panics
    /// When a guest is refused or a grant names no function.
    pub async fn start(self) -> RunningHost {
        let mut catalog = Catalog::default();
        let mut functions = ComponentHost::new(self.engine.clone(), self.limits.clone());
        let mut loaded = Vec::new();
        for (name, bytes) in self.guests {
            let component =
                LoadedComponent::load(&self.engine, &name, bytes, MetadataMode::Run).await;
            let mut component = component.unwrap_or_else(|error| panic!("guest `{name}`: {error}"));
            if self.stateful.contains(&name) {
                component = component.with_state();
            }
            let added = catalog.add(&name, self.declared.of(&component));
            added.expect("the functions of guests have different names");
            loaded.push(component);
        }
        for component in &loaded {
            let given = self.permissions.get(component.name());
            functions.add_with(component.clone(), given::linked(component, given, &loaded));
        }
        let mut policy = CallPolicy::default();
        for (component, function) in &self.grants {
            policy
                .grant(&catalog, component, function)
                .expect("the grant names a function");
        }
        let mut granted: BTreeMap<String, Grants> = BTreeMap::new();
        for (component, grant) in self.models {
            granted.entry(component).or_default().models.push(grant);
        }
        for component in self.asking {
            granted.entry(component).or_default().ask_user = true;
        }
        let granted = granted.into_iter().map(|(name, g)| (name, Arc::new(g)));
        let mut providers = match self.model {
            Model::None => Providers::default(),
            Model::Provider(provider) => Providers::all(provider),
            Model::Component(name) => Providers::all(provider(&name, &self.limits).await),
        };
        let [exec, review] = self.others;
        providers.exec = exec;
        providers.review = review;
        let parts = RuntimeParts::new(
            Arc::clone(&self.store),
            Arc::new(functions),
            Arc::new(catalog),
        );
        let parts = RuntimeParts {
            providers,
            settings: self.settings,
            policy,
            models: Arc::new(self.other_models),
            questions: self.questions,
            grants: granted.collect(),
            limits: self.run_limits,
            admission: self.admission,
            tool_sets: self.tool_sets,
            clock: Arc::new(FixedClock(Timestamp(0))),
            ids: Arc::new(CountingIds::default()),
            ..parts
        };
        RunningHost {
            runtime: Runtime::new(parts),
            store: self.store,
        }
    }
}

/// The provider that a guest makes.
async fn provider(name: &str, limits: &Limits) -> Arc<dyn Provider> {
    let component = load(name, guests::bytes(name)).await;
    let component = component.unwrap_or_else(|error| panic!("guest `{name}`: {error}"));
    let full = format!("component:{name}");
    let provider = GuestProvider::new(full, engine().clone(), component, limits.clone());
    Arc::new(provider.expect("the guest is a provider"))
}

impl RunningHost {
    /// Runs a function in a new session.
    pub async fn run(&self, function: &str, arguments: Json) -> RunOutcome {
        let request = RunRequest {
            arguments: object(arguments),
            ..RunRequest::new(function)
        };
        self.runtime.run_function(request).await
    }

    /// Runs a function in a new session and gives its result.
    ///
    /// # Errors
    /// As the function, or the way to it, fails.
    pub async fn call(&self, function: &str, arguments: Json) -> Result<Json, Failure> {
        self.run(function, arguments).await.result
    }

    /// Runs a function in a new session and gives the failure, with its code and the detail that
    /// says most.
    ///
    /// # Panics
    /// When it does not fail.
    pub async fn failure(&self, function: &str, arguments: Json) -> Failure {
        match self.call(function, arguments).await {
            Ok(value) => panic!("`{function}` gave {value}"),
            Err(failure) => failure,
        }
    }

    /// The nodes of a session.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn nodes(&self, session: &SessionId) -> Vec<Node> {
        let nodes = self.store.nodes(session, NodeQuery::default()).await;
        nodes.expect("the store answers")
    }

    /// The graph that a run left behind, as text.
    ///
    /// # Panics
    /// When the run was refused before it had a session.
    pub async fn graph(&self, outcome: &RunOutcome) -> String {
        let session = outcome.session.as_ref().expect("the run has a session");
        shown_graph(&self.nodes(session).await)
    }
}

/// Sessions in a SQLite file.
///
/// # Panics
/// When the file cannot be used.
#[must_use]
pub fn sqlite(path: &Path) -> Arc<dyn SessionStore> {
    let store = SqliteStore::open(path, Durability::Normal);
    Arc::new(store.expect("the file can be used"))
}

/// A failure in one line: its code, and which limit, trap, path or kind it names.
#[must_use]
pub fn named(failure: &Failure) -> String {
    let telling = ["which", "trap", "path", "kind", "reason", "what"];
    let detail = telling.iter().find_map(|key| failure.details.get(*key));
    match detail.and_then(Json::as_str) {
        Some(detail) => format!("{} {detail}", failure.code.as_str()),
        None => failure.code.as_str().to_owned(),
    }
}

fn object(arguments: Json) -> JsonObject {
    match arguments {
        Json::Object(arguments) => arguments,
        other => panic!("arguments are an object, not {other}"),
    }
}
