//! A host with one guest that reaches for what it may be granted, and services that keep what they
//! were told.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use openprogram_component::{ComponentHost, Limits, LoadedComponent, Network, Permissions};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;
use openprogram_core::grant::{Access, AccessOutcome, Grants};
use openprogram_core::guest::{
    ApprovalRequest, CallReport, CallScope, DecisionRequest, FunctionCall, FunctionHost as _,
    HostServices, PickedOption, RunTotals,
};
use openprogram_core::id::SessionId;
use openprogram_core::secret::Secret;
use openprogram_core::{Json, JsonObject};

use crate::{guests, host};

/// The guest that sends requests.
const CLIENT: &str = "http-client";

/// What came of a call.
#[derive(Debug)]
pub struct Called {
    /// Its result, or its error as a sentence.
    pub result: Result<Json, String>,
    /// What it cost.
    pub report: CallReport,
    /// What was noted, in order.
    pub notes: Vec<Access>,
    /// What a person was asked.
    pub asked: Vec<ApprovalRequest>,
}

/// A host that is being put together, and the host itself.
#[derive(Clone)]
pub struct WebHost {
    guest: &'static str,
    grants: Grants,
    permissions: Permissions,
    limits: Limits,
    approves: bool,
    run: Option<Arc<RunTotals>>,
}

impl Default for WebHost {
    fn default() -> Self {
        Self::new()
    }
}

impl WebHost {
    /// The guest that sends requests, without grants.
    #[must_use]
    pub fn new() -> Self {
        Self::of(CLIENT)
    }

    /// This guest without grants, under the name `client`.
    #[must_use]
    pub fn of(guest: &'static str) -> Self {
        Self {
            guest,
            grants: Grants::default(),
            permissions: Permissions {
                component: "client".to_owned(),
                ..Permissions::default()
            },
            limits: Limits::default(),
            approves: false,
            run: None,
        }
    }

    /// Grants a place of the network.
    ///
    /// # Panics
    /// When the line is no grant.
    #[must_use]
    pub fn http(mut self, line: &str) -> Self {
        let grant = line.parse();
        self.grants.http.push(grant.expect("a grant"));
        self
    }

    /// Grants a folder below this one.
    ///
    /// # Panics
    /// When the line is no grant.
    #[must_use]
    pub fn dir(mut self, line: &str, project: &Path) -> Self {
        let grant: openprogram_core::grant::Grant<openprogram_core::grant::FolderGrant> =
            line.parse().expect("a grant");
        let path = project.join(&grant.what.path);
        self.permissions.folders.push((grant, path));
        project.clone_into(&mut self.permissions.project);
        self
    }

    /// Lets the guest see a variable with this value.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        let variable = (name.to_owned(), value.to_owned());
        self.permissions.variables.push(variable);
        self
    }

    /// Keeps this place from the guest.
    #[must_use]
    pub fn protected(mut self, path: &Path) -> Self {
        self.permissions.protected.push(path.to_owned());
        self
    }

    /// Lets the guest read this place and not change it.
    #[must_use]
    pub fn kept(mut self, path: &Path) -> Self {
        self.permissions.kept.push(path.to_owned());
        self
    }

    /// Has this folder granted to somebody.
    #[must_use]
    pub fn anchor(mut self, path: &Path) -> Self {
        self.permissions.anchors.push(path.to_owned());
        self
    }

    /// Grants a secret, whose variable has this value.
    ///
    /// # Panics
    /// When the line is no grant.
    #[must_use]
    pub fn secret(mut self, line: &str, value: Option<&str>) -> Self {
        let grant: openprogram_core::grant::Grant<openprogram_core::grant::SecretGrant> =
            line.parse().expect("a grant");
        if let Some(value) = value {
            let variable = grant.what.variable.clone();
            self.permissions
                .secrets
                .push((variable, Secret::new(value)));
        }
        self.grants.secrets.push(grant);
        self
    }

    /// Changes the limits of calls.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Looks names up here, and trusts these certificates.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.permissions.network = network;
        self
    }

    /// Makes all calls in one run.
    #[must_use]
    pub fn in_one_run(mut self) -> Self {
        self.run = Some(Arc::default());
        self
    }

    /// Lets the person say yes.
    #[must_use]
    pub fn approving(mut self) -> Self {
        self.approves = true;
        self
    }

    /// Calls a function of the guest.
    ///
    /// # Panics
    /// When the guest does not load or has no such function.
    pub async fn call(&self, function: &str, arguments: Json) -> Called {
        let component = host::load(self.guest, guests::bytes(self.guest)).await;
        self.call_of(component.expect("the guest loads"), function, arguments)
            .await
    }

    async fn call_of(&self, component: LoadedComponent, function: &str, arguments: Json) -> Called {
        let mut functions = component.functions().iter();
        let found = functions.find(|f| f.name.function == function).cloned();
        let found = found.unwrap_or_else(|| panic!("no function `{function}`"));
        let mut host = ComponentHost::new(host::engine().clone(), self.limits.clone());
        let permissions = Permissions {
            grants: Arc::new(self.grants.clone()),
            ..self.permissions.clone()
        };
        host.add_with(component, permissions);
        let mut complete = JsonObject::new();
        for parameter in &found.parameters {
            let name = &parameter.field.name;
            let given = arguments.get(name).or(parameter.default.as_ref());
            let value = given.cloned().unwrap_or(Json::Null);
            complete.insert(name.clone(), value);
        }
        let services = Arc::new(Keeping {
            approves: self.approves,
            ..Keeping::default()
        });
        let given: Arc<dyn HostServices> = services.clone();
        let call = FunctionCall {
            function: Arc::new(found),
            arguments: complete,
            services: given,
            depth: 0,
            totals: self.run.clone().unwrap_or_default(),
            scope: CallScope::top(SessionId::from_bits(0)),
        };
        let outcome = host.call(call).await;
        let take = |kept: &Mutex<Vec<_>>| kept.lock().expect("nobody panics").clone();
        Called {
            result: outcome.result.map_err(|error| error.to_string()),
            report: outcome.report,
            notes: take(&services.notes),
            asked: services.asked.lock().expect("nobody panics").clone(),
        }
    }

    /// Gets a URL and gives what the guest saw.
    pub async fn get(&self, url: &str) -> Called {
        self.send("GET", url, &[], None).await
    }

    /// Sends a request and gives what the guest saw.
    pub async fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[&str],
        body: Option<&str>,
    ) -> Called {
        let arguments = serde_json::json!({
            "method": method, "url": url, "headers": headers, "body": body,
        });
        self.call("fetch", arguments).await
    }
}

impl Called {
    /// What the guest saw, or why the call ended.
    #[must_use]
    pub fn seen(&self) -> String {
        match &self.result {
            Ok(Json::String(text)) => text.clone(),
            Ok(other) => other.to_string(),
            Err(error) => format!("failed: {error}"),
        }
    }

    /// What was noted, a line each.
    #[must_use]
    pub fn noted(&self) -> String {
        let lines = self.notes.iter().map(shown);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What the guest saw, and below it what was noted.
    #[must_use]
    pub fn all(&self) -> String {
        format!("{}\n{}", self.seen(), self.noted())
    }
}

/// An access in one line.
#[must_use]
pub fn shown(access: &Access) -> String {
    let (kind, what) = (access.kind.key(), &access.what);
    match &access.outcome {
        AccessOutcome::Granted { grant } => format!("{kind} {what}: by `{grant}`"),
        AccessOutcome::Refused { message, needed } => {
            let needed = needed.as_ref().map(|line| format!("; needs `{line}`"));
            format!(
                "{kind} {what}: refused, {message}{}",
                needed.unwrap_or_default()
            )
        }
    }
}

/// Services that keep what they are told.
#[derive(Default)]
struct Keeping {
    notes: Mutex<Vec<Access>>,
    asked: Mutex<Vec<ApprovalRequest>>,
    approves: bool,
}

fn none() -> Failure {
    Failure::new(FailureCode::NoProvider, "no test asks for this")
}

#[async_trait]
impl HostServices for Keeping {
    fn model(&self, _role: RuntimeRef) -> Result<String, Failure> {
        Err(none())
    }

    fn system(&self, _role: RuntimeRef) -> Result<Option<String>, Failure> {
        Err(none())
    }

    fn set_system(&self, _role: RuntimeRef, _text: Option<String>) -> Result<(), Failure> {
        Err(none())
    }

    fn session_id(&self) -> String {
        String::new()
    }

    async fn make(&self, _request: DecisionRequest) -> Result<Json, Failure> {
        Err(none())
    }

    async fn pick(&self, _request: DecisionRequest) -> Result<PickedOption, Failure> {
        Err(none())
    }

    async fn call(&self, _name: &str, _arguments: Json) -> Result<Json, Failure> {
        Err(none())
    }

    fn note(&self, access: Access) {
        self.notes.lock().expect("nobody panics").push(access);
    }

    async fn approve(&self, request: ApprovalRequest) -> Result<(), Failure> {
        let what = request.what.clone();
        self.asked.lock().expect("nobody panics").push(request);
        if self.approves {
            return Ok(());
        }
        let message = format!("the person said no to `{what}`");
        Err(Failure::new(FailureCode::Denied, message))
    }
}
