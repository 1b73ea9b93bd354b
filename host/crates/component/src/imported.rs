//! Functions of other components as imports: values become JSON, the call goes through the services
//! like any other, and what it gives becomes a value again.
//!
//! An error that the function returned is a value of the type of the import. For whatever else goes
//! wrong the types have no place, and nothing is made up: the caller is stopped, and its failure says
//! what failed.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, FunctionRef};
use openprogram_core::guest::{HostServices, ImportError};
use openprogram_core::schema::Type;
use openprogram_core::{Json, JsonObject};
use wasmtime::StoreContextMut;
use wasmtime::component::types::ComponentFunc;
use wasmtime::component::{Linker, Type as WitType, Val};

use crate::convert::{self, Output, OutputError};
use crate::facts::LinkFact;
use crate::links::ImportFailed;
use crate::state::CallState;

/// A linker that has these functions beside everything that the shared one has.
pub(crate) fn linker(
    shared: &Linker<CallState>,
    links: &[LinkFact],
) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = shared.clone();
    for link in links {
        let mut instance = linker.instance(&link.name)?;
        for function in &link.functions {
            let imported = Arc::new(Imported {
                interface: link.name.clone(),
                function: function.name.clone(),
            });
            // Its types were compared with those of the exporter, which are the ones that are used.
            instance.func_new_async(&function.name, move |store, ty, given, results| {
                let imported = Arc::clone(&imported);
                Box::new(async move { imported.call(store, &ty, given, results).await })
            })?;
        }
    }
    Ok(linker)
}

/// One imported function.
struct Imported {
    interface: String,
    function: String,
}

/// A call that can be made.
struct Planned {
    services: Arc<dyn HostServices>,
    function: FunctionRef,
    arguments: JsonObject,
}

impl Imported {
    async fn call(
        &self,
        store: StoreContextMut<'_, CallState>,
        ty: &ComponentFunc,
        given: &[Val],
        results: &mut [Val],
    ) -> wasmtime::Result<()> {
        let planned = self.plan(store.data(), given)?;
        let (called, function) = (
            planned
                .services
                .call_import(&planned.function, planned.arguments),
            &planned.function,
        );
        let returned = match called.await {
            Ok(value) => Ok(value),
            Err(ImportError::Own(error)) => Err(error),
            Err(ImportError::Failed(failure)) => return Err(self.failed(function, failure)),
        };
        let Some(result) = results.first_mut() else {
            return Ok(());
        };
        let depth_max = store.data().limits.json_depth;
        let to_value = |json: &Json, ty: &Type| {
            let value = convert::argument("result", Some(json), ty, depth_max, &convert::NoHandles);
            value.map_err(|error| {
                let message = format!("its result does not fit: {}: {}", error.path, error.message);
                self.failed(function, Failure::new(FailureCode::Internal, message))
            })
        };
        let payload = |json: &Json, is_there: bool, ty: &Option<Type>| match ty {
            Some(ty) if is_there => to_value(json, ty).map(|value| Some(Box::new(value))),
            _ => Ok(None),
        };
        *result = match (ty.results().next(), returned) {
            (Some(WitType::Result(sides)), Ok(json)) => {
                Val::Result(Ok(payload(&json, sides.ok().is_some(), &function.returns)?))
            }
            (Some(WitType::Result(sides)), Err(json)) => Val::Result(Err(payload(
                &json,
                sides.err().is_some(),
                &function.fails_with,
            )?)),
            (_, Ok(json)) => match &function.returns {
                Some(ty) => to_value(&json, ty)?,
                None => return Ok(()),
            },
            (_, Err(json)) => {
                let error = Failure::new(FailureCode::FunctionFailed, "it failed");
                return Err(self.failed(function, error.with("error", json)));
            }
        };
        Ok(())
    }

    fn plan(&self, state: &CallState, given: &[Val]) -> wasmtime::Result<Planned> {
        let linked = state.links.function(&self.interface, &self.function);
        let function = linked.map(Arc::clone).ok_or_else(|| {
            let message = format!("no component is linked to `{}`", self.interface);
            self.unlinked(Failure::new(FailureCode::NotFound, message))
        })?;
        let services = state.services();
        let services = services.map_err(|failure| self.failed(&function, failure))?;
        let arguments = self.arguments(state, &function, given)?;
        Ok(Planned {
            services,
            function,
            arguments,
        })
    }

    /// The arguments under the names that the function shows.
    fn arguments(
        &self,
        state: &CallState,
        function: &FunctionRef,
        given: &[Val],
    ) -> wasmtime::Result<JsonObject> {
        let mut output = Output::of_arguments(&state.limits);
        let mut arguments = JsonObject::new();
        for (parameter, value) in function.parameters.iter().zip(given) {
            let field = &parameter.field;
            let json = convert::result(value.clone(), &field.ty, &mut output);
            let json = json.map_err(|error| match error {
                OutputError::Limit(reached) => wasmtime::Error::from(reached),
                OutputError::Invalid(what) => {
                    self.failed(function, invalid(function, &field.name, &what))
                }
            })?;
            arguments.insert(field.name.clone(), json);
        }
        Ok(arguments)
    }

    /// What stops the caller.
    fn failed(&self, function: &Function, failure: Failure) -> wasmtime::Error {
        ImportFailed {
            import: function.name.to_string(),
            component: Some(function.name.component.clone()),
            failure,
        }
        .into()
    }

    fn unlinked(&self, failure: Failure) -> wasmtime::Error {
        ImportFailed {
            import: format!("{}.{}", self.interface, self.function),
            component: None,
            failure,
        }
        .into()
    }
}

fn invalid(function: &Function, path: &str, what: &str) -> Failure {
    let message = format!("argument `{path}` of `{}`: {what}", function.name);
    Failure::new(FailureCode::InvalidArgument, message)
        .with("function", function.name.to_string())
        .with("path", path)
}
