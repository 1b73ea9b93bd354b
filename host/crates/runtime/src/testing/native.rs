//! Functions that are closures instead of components.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::catalog::Catalog;
use openprogram_core::failure::Failure;
use openprogram_core::function::{Function, FunctionName, Parameter, ParameterSource, RuntimeRole};
use openprogram_core::guest::{CallError, CallOutcome, CallReport, FunctionCall, FunctionHost};
use openprogram_core::schema::Type;

/// What a closure is given: the call as a component would get it.
pub type NativeCall = FunctionCall;

type Outcome = Pin<Box<dyn Future<Output = Result<Json, CallError>> + Send>>;
type Body = Box<dyn Fn(NativeCall) -> Outcome + Send + Sync>;

/// A host whose functions are closures.
#[derive(Default)]
pub struct NativeFunctions {
    functions: Vec<Function>,
    bodies: BTreeMap<FunctionName, Body>,
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
