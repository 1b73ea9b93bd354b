//! What a call gives to a guest and takes from it: arguments as values, lent runtimes, the outcome.

use openprogram_core::function::{Function, ParameterSource, RuntimeRef, RuntimeRole};
use openprogram_core::guest::CallError;
use openprogram_core::schema::Type;
use openprogram_core::{Json, JsonObject};
use wasmtime::Store;
use wasmtime::component::{Instance, Resource, ResourceAny, Val};

use crate::convert::{self, Handles, Output};
use crate::handles::RuntimeHandle;
use crate::instance::Stop;
use crate::limits::Limits;
use crate::prepare::{Passing, PreparedFunction};
use crate::state::CallState;

/// A value, or a runtime that becomes a handle once there is a store.
pub(crate) enum Argument {
    Value(Val),
    Runtime { role: RuntimeRole, optional: bool },
}

/// The values of all parameters, in their order. Nothing has run yet.
///
/// # Errors
/// The path of the first argument that does not fit, and how.
pub(crate) fn values(
    function: &PreparedFunction,
    described: &Function,
    arguments: &JsonObject,
    limits: &Limits,
    handles: &dyn Handles,
) -> Result<Vec<Argument>, CallError> {
    let parameters = &described.parameters;
    if parameters.len() != function.parameters.len() {
        let message = format!("`{}` has other parameters than it had", described.name);
        return Err(CallError::Internal(message));
    }
    let values = parameters
        .iter()
        .zip(&function.parameters)
        .map(|(parameter, passing)| {
            let role = match parameter.source {
                ParameterSource::Runtime(role) => role,
                ParameterSource::Argument | ParameterSource::Context => RuntimeRole::Main,
            };
            match passing {
                Passing::Value => {
                    let field = &parameter.field;
                    let given = arguments.get(&field.name);
                    convert::argument(&field.name, given, &field.ty, limits.json_depth, handles)
                        .map(Argument::Value)
                        .map_err(CallError::from)
                }
                Passing::Runtime => Ok(Argument::Runtime {
                    role,
                    optional: false,
                }),
                Passing::OptionalRuntime => Ok(Argument::Runtime {
                    role,
                    optional: true,
                }),
            }
        });
    values.collect()
}

/// Arguments with the runtimes that are lent for the one call.
pub(crate) struct Lent {
    pub(crate) values: Vec<Val>,
    runtimes: Vec<(ResourceAny, u32)>,
}

/// Makes the handles of injected runtimes. They end with the store, or are taken back.
pub(crate) fn lend(store: &mut Store<CallState>, arguments: Vec<Argument>) -> Result<Lent, Stop> {
    let mut lent = Lent {
        values: Vec::with_capacity(arguments.len()),
        runtimes: Vec::new(),
    };
    for argument in arguments {
        lent.values.push(match argument {
            Argument::Value(value) => value,
            Argument::Runtime { role, optional } => {
                let handle = store.data().runtime_handle(RuntimeRef::Lent(role));
                let handle: Resource<RuntimeHandle> = store
                    .data_mut()
                    .table
                    .push(handle)
                    .map_err(wasmtime::Error::from)?;
                let place = handle.rep();
                let handle = handle.try_into_resource_any(&mut *store)?;
                lent.runtimes.push((handle, place));
                if optional {
                    Val::Option(Some(Box::new(Val::Resource(handle))))
                } else {
                    Val::Resource(handle)
                }
            }
        });
    }
    Ok(lent)
}

impl Lent {
    /// Takes the runtimes back, where the store goes on.
    pub(crate) async fn take_back(self, store: &mut Store<CallState>) -> Result<(), Stop> {
        for (handle, place) in self.runtimes {
            handle.resource_drop_async(&mut *store).await?;
            let handle = Resource::<RuntimeHandle>::new_own(place);
            let table = &mut store.data_mut().table;
            table.delete(handle).map_err(wasmtime::Error::from)?;
        }
        Ok(())
    }
}

/// Calls an export with these values.
pub(crate) async fn call_dynamic(
    store: &mut Store<CallState>,
    instance: &Instance,
    function: &PreparedFunction,
    arguments: &[Val],
) -> Result<Option<Val>, Stop> {
    let gone = || CallError::Internal("an export is gone".to_owned());
    let index = function.index.ok_or_else(gone)?;
    let callee = instance.get_func(&mut *store, index).ok_or_else(gone)?;
    let mut results = Vec::new();
    if function.has_result {
        results.push(Val::Bool(false));
    }
    callee
        .call_async(&mut *store, arguments, &mut results)
        .await?;
    Ok(results.pop())
}

/// The outcome that a returned value stands for: `err` at the top is the function's own error.
pub(crate) fn outcome(
    returned: Option<Val>,
    function: &Function,
    output: &mut Output,
) -> Result<Json, CallError> {
    let (value, ty, is_error) = match returned {
        None => return Ok(Json::Null),
        Some(Val::Result(Ok(value))) => (value, &function.returns, false),
        Some(Val::Result(Err(value))) => (value, &function.fails_with, true),
        Some(value) => (Some(Box::new(value)), &function.returns, false),
    };
    let json = match (value, ty) {
        (Some(value), Some(ty)) => to_json(*value, ty, output)?,
        _ => Json::Null,
    };
    if is_error {
        return Err(CallError::Function(json));
    }
    Ok(json)
}

fn to_json(value: Val, ty: &Type, output: &mut Output) -> Result<Json, CallError> {
    convert::result(value, ty, output).map_err(CallError::from)
}
