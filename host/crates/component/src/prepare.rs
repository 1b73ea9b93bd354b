//! The compiled form of a component: from the cache of images, or compiled and kept there.

use std::collections::HashMap;
use std::hash::{Hash as _, Hasher};

use sha2::{Digest as _, Sha256};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use crate::bindings::exports::openprogram::agentic::{decider, metadata};
use crate::bytes_call::BytesCall;
use crate::engine::{Built, Engine};
use crate::facts::{FunctionFact, ParameterKind};
use crate::instance::CallState;
use crate::loader::{Code, DECIDER, LoadError, METADATA, blocking};

/// A component ready to be instantiated.
pub(crate) struct Prepared {
    pub(crate) pre: InstancePre<CallState>,
    /// By interface and name.
    functions: HashMap<(Option<String>, String), PreparedFunction>,
    pub(crate) decider: Option<decider::GuestIndices>,
    pub(crate) metadata: Option<metadata::GuestIndices>,
}

/// What a call needs of a function beside its types.
pub(crate) struct PreparedFunction {
    pub(crate) index: ComponentExportIndex,
    pub(crate) parameters: Vec<Passing>,
    pub(crate) has_result: bool,
    pub(crate) bytes: Option<BytesCall>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    Value,
    Runtime,
    OptionalRuntime,
}

impl Prepared {
    pub(crate) fn function(
        &self,
        interface: Option<&str>,
        name: &str,
    ) -> Option<&PreparedFunction> {
        let key = (interface.map(ToOwned::to_owned), name.to_owned());
        self.functions.get(&key)
    }
}

/// Compiles a component or takes its image from the cache.
pub(crate) async fn prepare(engine: &Engine, code: &Code) -> Result<Prepared, LoadError> {
    let _permit = engine.compile_permit().await;
    let (owned, source) = (engine.clone(), code.source().clone());
    let digest = code.digest().to_owned();
    let component = blocking(move || {
        let built = owned.built()?;
        component(&owned, built, &digest, || Code::bytes(&source, &digest))
    })
    .await?;
    link(engine.built()?, &component, code)
}

fn component(
    engine: &Engine,
    built: &Built,
    digest: &str,
    bytes: impl FnOnce() -> Result<std::sync::Arc<[u8]>, LoadError>,
) -> Result<Component, LoadError> {
    let cache = engine.cache()?;
    let name = image_name(&built.wasmtime, digest);
    if let Some(image) = cache.and_then(|cache| cache.read(&name))
        && let Some(component) = deserialize(&built.wasmtime, &image)
    {
        engine.count_hit();
        return Ok(component);
    }
    engine.count_miss();
    let bytes = bytes()?;
    let component = Component::from_binary(&built.wasmtime, &bytes)
        .map_err(|error| LoadError::Compile(one_line(&error)))?;
    if let Some(cache) = cache
        && let Ok(image) = component.serialize()
    {
        // Without the entry the component is compiled again next time; nothing else is lost.
        let _ = cache.write(&name, &image);
    }
    Ok(component)
}

/// A component from an image of the cache; `None` when wasmtime refuses it.
#[expect(
    unsafe_code,
    reason = "the folder is private to us and the entry carries the SHA-256 of what we wrote"
)]
fn deserialize(engine: &wasmtime::Engine, image: &[u8]) -> Option<Component> {
    // SAFETY: `CacheFolder` opens only a folder that belongs to us and that nobody else can
    // write, and gives only entries whose content has the digest recorded when `component` above
    // wrote the output of `Component::serialize`. The name of the entry holds the hash of the
    // engine's settings, and wasmtime checks its version and settings in the image once more.
    unsafe { Component::deserialize(engine, image) }.ok()
}

/// The entry of an image: the component, and everything that its machine code depends on.
fn image_name(engine: &wasmtime::Engine, digest: &str) -> String {
    struct Sha(Sha256);
    impl Hasher for Sha {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        fn finish(&self) -> u64 {
            let hash = self.0.clone().finalize();
            hash.iter()
                .take(8)
                .fold(0, |all, byte| all << 8 | u64::from(*byte))
        }
    }
    let mut hasher = Sha(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let digest = digest.strip_prefix("sha256:").unwrap_or(digest);
    let digest: String = digest.chars().filter(char::is_ascii_hexdigit).collect();
    format!("{digest}-{:016x}.image", hasher.finish())
}

fn one_line(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(500)
        .collect()
}

fn link(built: &Built, component: &Component, code: &Code) -> Result<Prepared, LoadError> {
    let incompatible = |error: wasmtime::Error| LoadError::Incompatible(one_line(&error));
    let pre = built
        .linker
        .instantiate_pre(component)
        .map_err(incompatible)?;
    let mut functions = HashMap::new();
    for fact in &code.signature().functions {
        if fact.refused.is_some() {
            continue;
        }
        let interface = fact.interface.as_deref();
        let interface_index = interface.map(|name| component.get_export_index(None, name));
        let index = match interface_index {
            None => component.get_export_index(None, &fact.name),
            Some(None) => None,
            Some(Some(interface)) => component.get_export_index(Some(&interface), &fact.name),
        };
        let index = index.ok_or_else(|| {
            LoadError::Incompatible(format!("its export `{}` is missing", fact.name))
        })?;
        let key = (fact.interface.clone(), fact.name.clone());
        functions.insert(key, prepared_function(fact, index));
    }
    let decider = code
        .exports(DECIDER)
        .then(|| decider::GuestIndices::new(&pre))
        .transpose();
    let metadata = code
        .exports(METADATA)
        .then(|| metadata::GuestIndices::new(&pre))
        .transpose();
    Ok(Prepared {
        functions,
        decider: decider.map_err(incompatible)?,
        metadata: metadata.map_err(incompatible)?,
        pre,
    })
}

fn prepared_function(fact: &FunctionFact, index: ComponentExportIndex) -> PreparedFunction {
    let parameters = fact
        .parameters
        .iter()
        .map(|parameter| match parameter.kind {
            ParameterKind::Value(_) => Passing::Value,
            ParameterKind::Runtime => Passing::Runtime,
            ParameterKind::OptionalRuntime => Passing::OptionalRuntime,
        });
    PreparedFunction {
        index,
        parameters: parameters.collect(),
        has_result: fact.result.is_some(),
        bytes: BytesCall::of(fact),
    }
}
