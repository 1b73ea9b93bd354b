//! The one look at a component's metadata: its `describe` runs without any grant and within
//! limits far below those of a call.

use std::sync::Arc;

use crate::bindings::exports::openprogram::agentic::metadata as wire;
use crate::code::Code;
use crate::engine::{Engine, Lane};
use crate::error::{LoadError, MetadataError};
use crate::facts::{FunctionMetadata, Metadata, ParameterMetadata, TypeMetadata};
use crate::instance::{Job, run};
use crate::limits::Limits;

/// Telling constants needs little; interpreters of other languages need time to start.
fn limits() -> Limits {
    Limits {
        memory_bytes: 128 << 20,
        cpu_ms: 2_000,
        wall_ms: 10_000,
        log_bytes: 64 << 10,
        hostcall_bytes: 8 << 20,
        ..Limits::default()
    }
}

/// The metadata of a component; `None` when it exports none.
///
/// # Errors
/// When the component traps or reaches a limit.
pub(crate) async fn metadata(engine: &Engine, code: &Code) -> Result<Option<Metadata>, LoadError> {
    let prepared = code.prepared(engine).await?;
    let Some(indices) = &prepared.metadata else {
        return Ok(None);
    };
    let job = Job {
        limits: engine.held(limits()),
        services: None,
        reach: Arc::default(),
        lane: Lane::Leaf,
        totals: Arc::default(),
    };
    let (described, _) = run(engine, job, async |store| {
        let instance = prepared.pre.instantiate_async(&mut *store).await?;
        let guest = indices.load(&mut *store, &instance)?;
        Ok(guest.call_describe(&mut *store).await?)
    })
    .await;
    let described = described.map_err(|error| MetadataError::Unreadable(error.to_string()))?;
    Ok(Some(from_wire(described)))
}

fn from_wire(described: wire::ComponentMetadata) -> Metadata {
    let attributes = |attributes: Vec<wire::Attribute>| {
        let pairs = attributes.into_iter().map(|a| (a.key, a.value));
        pairs.collect::<Vec<_>>()
    };
    let parameter = |parameter: wire::Parameter| ParameterMetadata {
        name: parameter.name,
        attributes: attributes(parameter.attributes),
    };
    let functions = described.functions.into_iter().map(|f| FunctionMetadata {
        interface: f.interface,
        name: f.name,
        description: f.description,
        parameters: f.parameters.into_iter().map(parameter).collect(),
        attributes: attributes(f.attributes),
    });
    let types = described.types.into_iter().map(|ty| TypeMetadata {
        interface: ty.interface,
        name: ty.name,
        description: ty.description,
        members: ty
            .members
            .into_iter()
            .map(|m| (m.name, m.description))
            .collect(),
    });
    Metadata {
        functions: functions.collect(),
        types: types.collect(),
    }
}
