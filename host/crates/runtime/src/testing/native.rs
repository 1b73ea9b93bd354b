//! Functions that are closures instead of components.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use openprogram_core::catalog::Catalog;
use openprogram_core::failure::Failure;
use openprogram_core::function::{
    Function, FunctionName, FunctionRef, Parameter, ParameterSource, RuntimeRole,
};
use openprogram_core::gating::Holds;
use openprogram_core::guest::{CallError, CallOutcome, CallReport, FunctionCall, FunctionHost};
use openprogram_core::schema::Type;
use openprogram_core::{Json, JsonObject};

/// What a closure is given: the call as a component would get it.
pub type NativeCall = FunctionCall;

type Outcome = Pin<Box<dyn Future<Output = Result<Json, CallError>> + Send>>;
type Body = Box<dyn Fn(NativeCall) -> Outcome + Send + Sync>;
type AskedBody = Box<dyn Fn(JsonObject) -> Outcome + Send + Sync>;

/// A host whose functions are closures.
#[derive(Default)]
pub struct NativeFunctions {
    functions: Vec<Function>,
    bodies: BTreeMap<FunctionName, Body>,
    asked: BTreeMap<FunctionName, AskedBody>,
    variables: Vec<String>,
    folders: Vec<String>,
    report: CallReport,
}

impl NativeFunctions {
    /// Adds a function with its body.
    #[must_use]
    pub fn with<B, F>(mut self, function: Function, body: B) -> Self
    where
        B: Fn(NativeCall) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Json, CallError>> + Send + 'static,
    {
        let name = function.name.clone();
        let body: Body = Box::new(move |call| Box::pin(body(call)));
        let taken = self.bodies.insert(name, body);
        assert!(taken.is_none(), "`{}` is there already", function.name);
        self.functions.push(function);
        self
    }

    /// Adds a function that conditions ask, with its answer.
    #[must_use]
    pub fn with_asked<B, F>(mut self, function: Function, body: B) -> Self
    where
        B: Fn(JsonObject) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Json, CallError>> + Send + 'static,
    {
        let body: AskedBody = Box::new(move |arguments| Box::pin(body(arguments)));
        self.asked.insert(function.name.clone(), body);
        self.functions.push(function);
        self
    }

    /// Grants every component this variable, which is set.
    #[must_use]
    pub fn with_variable(mut self, name: &str) -> Self {
        self.variables.push(name.to_owned());
        self
    }

    /// Grants every component a folder under this path.
    #[must_use]
    pub fn with_folder(mut self, path: &str) -> Self {
        self.folders.push(path.to_owned());
        self
    }

    /// What every call costs.
    #[must_use]
    pub fn reporting(mut self, report: CallReport) -> Self {
        self.report = report;
        self
    }

    /// The catalog of these functions.
    ///
    /// # Panics
    /// When two of them cannot stand in one catalog.
    #[must_use]
    pub fn catalog(&self) -> Catalog {
        let mut components: BTreeMap<&str, Vec<Function>> = BTreeMap::new();
        for function in &self.functions {
            let functions = components.entry(&function.name.component).or_default();
            functions.push(function.clone());
        }
        let mut catalog = Catalog::default();
        for (component, functions) in components {
            let added = catalog.add(component, functions);
            added.expect("the functions of a test have different names");
        }
        catalog
    }
}

#[async_trait]
impl FunctionHost for NativeFunctions {
    async fn call(&self, call: FunctionCall) -> CallOutcome {
        let body = self.bodies.get(&call.function.name);
        let result = match body {
            Some(body) => body(call).await,
            None => Err(CallError::Internal("no such function".to_owned())),
        };
        CallOutcome {
            result,
            report: self.report.clone(),
        }
    }

    async fn ask(&self, function: &FunctionRef, arguments: JsonObject) -> Result<Json, CallError> {
        match self.asked.get(&function.name) {
            Some(body) => body(arguments).await,
            None => Err(CallError::Internal("no such function".to_owned())),
        }
    }

    fn has_dir(&self, _: &str, path: &str) -> Holds {
        self.folders.iter().any(|folder| folder == path).into()
    }

    fn has_env(&self, _: &str, name: &str) -> Holds {
        self.variables
            .iter()
            .any(|variable| variable == name)
            .into()
    }
}

/// A function of a component, offered, exposed as `io`, with this description.
#[must_use]
pub fn function(
    component: &str,
    name: &str,
    description: &str,
    parameters: impl IntoIterator<Item = Parameter>,
) -> Function {
    let interface = Some(format!("test:{component}/api@1.0.0"));
    Function {
        digest: format!("sha256:{component}"),
        description: description.to_owned(),
        parameters: parameters.into_iter().map(with_source).collect(),
        returns: Some(Type::Json),
        ..Function::new(FunctionName::new(component, interface, name))
    }
}

/// A parameter of a reserved name is an injected runtime, as in a component.
fn with_source(mut parameter: Parameter) -> Parameter {
    if let Some(role) = RuntimeRole::of_parameter(&parameter.field.name) {
        parameter.source = ParameterSource::Runtime(role);
    }
    parameter
}

/// A failure of the host as a function passes it on.
#[must_use]
pub fn passed_on(failure: Failure) -> CallError {
    CallError::Function(failure.to_json())
}
