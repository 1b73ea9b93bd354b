//! The compiled form of a component: from the cache of images, or compiled and kept there.

use std::collections::HashMap;
use std::hash::{Hash as _, Hasher};

use sha2::{Digest as _, Sha256};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use crate::bindings::exports::openprogram::agentic::{decider, metadata, model};
use crate::cache::Image;
use crate::engine::{Built, Engine};
use crate::error::LoadError;
use crate::facts::{DECIDER, FunctionFact, METADATA, MODEL, ParameterKind, Signature, TypeFact};
use crate::imported;
use crate::source::ComponentSource;
use crate::state::CallState;

/// A component ready to be instantiated.
pub(crate) struct Prepared {
    pub(crate) pre: InstancePre<CallState>,
    /// By interface and name.
    functions: HashMap<(Option<String>, String), PreparedFunction>,
    pub(crate) decider: Option<decider::GuestIndices>,
    pub(crate) model: Option<model::GuestIndices>,
    pub(crate) metadata: Option<metadata::GuestIndices>,
}

/// What a call needs of a function beside its types.
pub(crate) struct PreparedFunction {
    /// The export; none for what the host does itself, which is to release a handle.
    pub(crate) index: Option<ComponentExportIndex>,
    pub(crate) parameters: Vec<Passing>,
    pub(crate) has_result: bool,
    /// Whether the result can hold handles.
    pub(crate) gives_handles: bool,
    pub(crate) bytes: Option<BytesCall>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    Value,
    Runtime,
    OptionalRuntime,
}

/// A signature of bytes and text alone, which is called by its static type: a dynamic value takes
/// 40 bytes per byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BytesCall {
    /// `() -> list<u8>`
    NothingToBytes,
    /// `(list<u8>) -> list<u8>`
    BytesToBytes,
    /// `(list<u8>) -> string`
    BytesToText,
    /// `(string) -> list<u8>`
    TextToBytes,
    /// `(list<u8>) -> result<list<u8>, string>`
    BytesToBytesOrText,
}

impl BytesCall {
    /// The kind of a function's signature, if it is one of these.
    pub(crate) fn of(fact: &FunctionFact) -> Option<Self> {
        let parameters: Vec<_> = fact.parameters.iter().map(|p| &p.kind).collect();
        let result = fact.result.as_ref()?;
        let bytes = ParameterKind::Value(TypeFact::Bytes);
        let text = ParameterKind::Value(TypeFact::String);
        match (parameters.as_slice(), result) {
            ([], TypeFact::Bytes) => Some(Self::NothingToBytes),
            ([only], TypeFact::Bytes) if **only == bytes => Some(Self::BytesToBytes),
            ([only], TypeFact::String) if **only == bytes => Some(Self::BytesToText),
            ([only], TypeFact::Bytes) if **only == text => Some(Self::TextToBytes),
            ([only], TypeFact::Result(Some(ok), Some(err)))
                if **only == bytes && **ok == TypeFact::Bytes && **err == TypeFact::String =>
            {
                Some(Self::BytesToBytesOrText)
            }
            _ => None,
        }
    }
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
pub(crate) async fn prepare(
    engine: &Engine,
    digest: &str,
    source: &ComponentSource,
    signature: &Signature,
) -> Result<Prepared, LoadError> {
    let (owned, source, digest) = (engine.clone(), source.clone(), digest.to_owned());
    let work = move || {
        let built = owned.built()?;
        component(&owned, built, &digest, &source)
    };
    let component = engine.compilations().run(work).await?;
    link(engine.built()?, &component, signature)
}

fn component(
    engine: &Engine,
    built: &Built,
    digest: &str,
    source: &ComponentSource,
) -> Result<Component, LoadError> {
    let cache = engine.cache()?;
    let [start, name] = image_name(&built.wasmtime, digest);
    if let Some(image) = cache.and_then(|cache| cache.image(&name))
        && let Some(component) = deserialize(&built.wasmtime, &image)
    {
        engine.count_hit();
        return Ok(component);
    }
    engine.count_miss();
    let bytes = source.bytes(digest, engine.options().component_bytes_max)?;
    let component = Component::from_binary(&built.wasmtime, &bytes)
        .map_err(|error| LoadError::Compile(one_line(&error)))?;
    if cache.is_some_and(|cache| cache.has_other(&start, &name)) {
        engine.count_renewed();
    }
    if let Some(cache) = cache
        && let Ok(image) = component.serialize()
    {
        // Without the entry the component is compiled again next time; nothing else is lost.
        let _ = cache.write(&name, &image);
    }
    Ok(component)
}

/// A component from an image of the cache; `None` when wasmtime refuses it. The image is mapped, so
/// that only what is used of it is ever in memory, or copied where it cannot be mapped.
#[expect(
    unsafe_code,
    reason = "the folder is private to us and the entry is whole as we wrote it"
)]
fn deserialize(engine: &wasmtime::Engine, image: &Image) -> Option<Component> {
    // SAFETY: `CacheFolder` opens only a folder that belongs to us and that nobody else can
    // write, and gives only files of ours without another name, whose checksum is that of what
    // `component` above wrote under this name, the output of `Component::serialize`. The path is
    // that of the opened file. Nothing changes it while it is mapped: entries are replaced by
    // renaming and never written in place. The name of the entry holds the hash of the engine's
    // settings, and wasmtime checks its version and settings in the image once more.
    let mapped = image
        .path()
        .and_then(|path| unsafe { Component::deserialize_file(engine, path) }.ok());
    mapped.or_else(|| {
        let bytes = image.bytes().ok()?;
        // SAFETY: as above.
        unsafe { Component::deserialize(engine, &bytes) }.ok()
    })
}

/// How the entries of all images of a component begin, and the entry of one: the component, and
/// everything that its machine code depends on.
fn image_name(engine: &wasmtime::Engine, digest: &str) -> [String; 2] {
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
    let name = format!("{digest}-{:016x}.image", hasher.finish());
    [format!("{digest}-"), name]
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

fn link(
    built: &Built,
    component: &Component,
    signature: &Signature,
) -> Result<Prepared, LoadError> {
    let incompatible = |error: wasmtime::Error| LoadError::Incompatible(one_line(&error));
    let own_linker = match signature.links.as_slice() {
        [] => None,
        links => Some(imported::linker(&built.linker, links).map_err(incompatible)?),
    };
    let linker = own_linker.as_ref().unwrap_or(&built.linker);
    let pre = linker.instantiate_pre(component).map_err(incompatible)?;
    let mut functions = HashMap::new();
    for fact in &signature.functions {
        if fact.refused.is_some() {
            continue;
        }
        let index = fact
            .export()
            .map(|export| export_index(component, fact.interface.as_deref(), export))
            .transpose()?;
        let key = (fact.interface.clone(), fact.name.clone());
        functions.insert(key, prepared_function(fact, index));
    }
    let decider = signature
        .exports(DECIDER)
        .then(|| decider::GuestIndices::new(&pre))
        .transpose();
    let model = signature
        .exports(MODEL)
        .then(|| model::GuestIndices::new(&pre))
        .transpose();
    let metadata = signature
        .exports(METADATA)
        .then(|| metadata::GuestIndices::new(&pre))
        .transpose();
    Ok(Prepared {
        functions,
        decider: decider.map_err(incompatible)?,
        model: model.map_err(incompatible)?,
        metadata: metadata.map_err(incompatible)?,
        pre,
    })
}

fn export_index(
    component: &Component,
    interface: Option<&str>,
    export: &str,
) -> Result<ComponentExportIndex, LoadError> {
    let index = match interface.map(|name| component.get_export_index(None, name)) {
        None => component.get_export_index(None, export),
        Some(None) => None,
        Some(Some(interface)) => component.get_export_index(Some(&interface), export),
    };
    let missing = || LoadError::Incompatible(format!("its export `{export}` is missing"));
    index.ok_or_else(missing)
}

fn prepared_function(fact: &FunctionFact, index: Option<ComponentExportIndex>) -> PreparedFunction {
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
        gives_handles: fact.result.as_ref().is_some_and(TypeFact::holds_handle),
        // Those calls make an instance of their own.
        bytes: BytesCall::of(fact).filter(|_| !fact.is_stateful()),
    }
}
