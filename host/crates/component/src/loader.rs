//! Bytes become a checked component: its functions, its imports, its metadata.
//!
//! Everything that can be refused without compiling is refused before compiling. What was learned
//! is kept by digest, so that a component seen before is listed without an engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openprogram_core::function::Function;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use crate::assemble::{self, MetadataError};
use crate::engine::{Engine, EngineError};
use crate::facts::{FACTS_VERSION, Facts, Signature};
use crate::prepare::Prepared;
use crate::{contract, decode, linking, prepare, sandbox};

/// The export by which a component is a decider.
pub(crate) const DECIDER: &str = "openprogram:agentic/decider@0.1.0";
/// The export by which a component tells its metadata.
pub(crate) const METADATA: &str = "openprogram:agentic/metadata@0.1.0";

/// Why a component is not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There are no bytes.
    #[error("the file is empty; give a component (`.wasm`)")]
    Empty,
    /// It is text.
    #[error("this is text, not a component; build it first and give the `.wasm` file")]
    Text,
    /// It is something else.
    #[error("this is not WebAssembly; give a component (`.wasm`)")]
    NotWasm,
    /// It is a core module.
    #[error(
        "this is a core module, not a component; build it for `wasm32-wasip2`, or make it a \
         component with `wasm-tools component new`"
    )]
    CoreModule,
    /// It is machine code.
    #[error("this is a precompiled image, which is never trusted; give the component it came from")]
    Precompiled,
    /// It is a WIT package.
    #[error("this is a WIT package, which holds no code; give a component")]
    WitPackage,
    /// It is too large.
    #[error("the component has {bytes} bytes; at most {max} are loaded")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// It exports too many functions.
    #[error("the component exports {count} functions; at most {max} are loaded")]
    TooManyFunctions {
        /// How many it exports.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// It is cut off or invalid.
    #[error("the component is damaged: {0}")]
    Malformed(String),
    /// It was built for another contract.
    #[error("the component was built with another contract; rebuild it with this SDK")]
    OtherContract {
        /// The hash it carries.
        found: String,
    },
    /// It needs async types.
    #[error(
        "`{0}` needs async types (WASI 0.3), which are not supported yet; build the component for \
         WASI 0.2"
    )]
    AsyncTypes(String),
    /// It imports what is not there or not granted.
    #[error("{}", imports_message(missing, denied))]
    Imports {
        /// Imports that this host does not have.
        missing: Vec<MissingImport>,
        /// Imports that are not granted.
        denied: Vec<String>,
    },
    /// It does not compile.
    #[error("the component does not compile: {0}")]
    Compile(String),
    /// Its imports have other types than this host offers.
    #[error("the component does not fit this host: {0}")]
    Incompatible(String),
    /// Its metadata is wrong.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The file cannot be read.
    #[error("`{path}` cannot be read")]
    Read {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is not the one that was learned.
    #[error("`{path}` has changed since it was looked at; run the command again")]
    Changed {
        /// The file.
        path: String,
    },
}

/// One import that this host does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingImport {
    /// Its name.
    pub name: String,
    /// The most similar name that this host has.
    pub nearest: Option<String>,
}

fn imports_message(missing: &[MissingImport], denied: &[String]) -> String {
    let mut parts = Vec::new();
    if !missing.is_empty() {
        let names = missing.iter().map(|import| match &import.nearest {
            Some(nearest) => format!("`{}` (nearest: `{nearest}`)", import.name),
            None => format!("`{}`", import.name),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        parts.push(format!(
            "the component imports what this host does not have: {names}"
        ));
    }
    if !denied.is_empty() {
        let names = denied.iter().map(|name| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        parts.push(format!(
            "denied: the network is not granted to components: {names}"
        ));
    }
    parts.join("; ")
}

/// Where the bytes of a component are when it is called for the first time.
#[derive(Clone, Debug)]
pub enum ComponentSource {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// In a file, which is read and whose digest is checked when it is needed.
    File(PathBuf),
}

/// How a component is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataMode {
    /// It is asked for its metadata once, in a sandbox without any grant.
    Run,
    /// Nothing of it runs; what only the metadata says is unknown.
    Skip,
}

/// A checked component. Clones share the compiled code.
#[derive(Clone)]
pub struct LoadedComponent {
    name: String,
    digest: String,
    functions: Vec<Function>,
    imports: Vec<String>,
    exports: Vec<String>,
    code: Arc<Code>,
}

impl std::fmt::Debug for LoadedComponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("LoadedComponent");
        shown
            .field("name", &self.name)
            .field("digest", &self.digest);
        shown.finish_non_exhaustive()
    }
}

/// The code of a component, compiled when it is first needed.
pub(crate) struct Code {
    digest: String,
    source: ComponentSource,
    signature: Signature,
    prepared: OnceCell<Prepared>,
}

impl LoadedComponent {
    /// Loads a component from its bytes under the name it is installed by.
    ///
    /// With [`MetadataMode::Run`] it is compiled and asked for its metadata, unless it was seen
    /// before; what was learned is kept in the cache folder.
    ///
    /// # Errors
    /// Each way in which bytes are no component of ours has its variant.
    pub async fn load(
        engine: &Engine,
        name: &str,
        bytes: impl Into<Arc<[u8]>>,
        mode: MetadataMode,
    ) -> Result<Self, LoadError> {
        let bytes = bytes.into();
        check_form(&bytes, engine.options().component_bytes_max)?;
        let digest = digest_of(&bytes);
        let source = ComponentSource::Bytes(Arc::clone(&bytes));
        if let Some(known) = Self::from_cache(engine, name, &digest, source.clone())? {
            return Ok(known);
        }
        let signature = blocking(move || read_signature(&bytes)).await?;
        let code = Code {
            digest,
            source,
            signature,
            prepared: OnceCell::new(),
        };
        let metadata = match mode {
            MetadataMode::Run => sandbox::metadata(engine, &code).await?,
            MetadataMode::Skip => None,
        };
        let facts = Facts {
            version: FACTS_VERSION,
            signature: code.signature.clone(),
            metadata,
        };
        let loaded = Self::assemble(name, code, &facts)?;
        if mode == MetadataMode::Run {
            keep_facts(engine, &loaded.digest, &facts)?;
        }
        Ok(loaded)
    }

    /// Loads a component from a file under the name it is installed by.
    ///
    /// # Errors
    /// As [`LoadedComponent::load`], and when the file cannot be read.
    pub async fn load_file(
        engine: &Engine,
        name: &str,
        path: &Path,
        mode: MetadataMode,
    ) -> Result<Self, LoadError> {
        let (owned, max) = (path.to_owned(), engine.options().component_bytes_max);
        let bytes = blocking(move || read_file(&owned, max)).await?;
        Self::load(engine, name, bytes, mode).await
    }

    /// A component that was seen before, from what is kept of it; `None` when nothing is.
    ///
    /// Needs no engine and no bytes, so that lists are fast. A source in a file is read when the
    /// component is called for the first time.
    ///
    /// # Errors
    /// When the cache folder cannot be used.
    pub fn from_cache(
        engine: &Engine,
        name: &str,
        digest: &str,
        source: ComponentSource,
    ) -> Result<Option<Self>, LoadError> {
        let Some(cache) = engine.cache()? else {
            return Ok(None);
        };
        let kept = cache.read(&facts_name(digest));
        let facts = kept.and_then(|kept| serde_json::from_slice::<Facts>(&kept).ok());
        let Some(facts) = facts.filter(|facts| facts.version == FACTS_VERSION) else {
            return Ok(None);
        };
        let code = Code {
            digest: digest.to_owned(),
            source,
            signature: facts.signature.clone(),
            prepared: OnceCell::new(),
        };
        Self::assemble(name, code, &facts).map(Some)
    }

    fn assemble(name: &str, code: Code, facts: &Facts) -> Result<Self, LoadError> {
        let imports = &facts.signature.imports;
        Ok(Self {
            functions: assemble::functions(facts, name, &code.digest)?,
            name: name.to_owned(),
            digest: code.digest.clone(),
            imports: imports.iter().map(|import| import.name.clone()).collect(),
            exports: facts.signature.exports.clone(),
            code: Arc::new(code),
        })
    }

    /// The name it is installed by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its digest, `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Its functions in declaration order, those that cannot be offered included.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The interfaces and functions that it imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The interfaces and functions that it exports.
    #[must_use]
    pub fn exports(&self) -> &[String] {
        &self.exports
    }

    /// Whether it can pick among options.
    #[must_use]
    pub fn is_decider(&self) -> bool {
        self.exports.iter().any(|export| export == DECIDER)
    }

    pub(crate) fn code(&self) -> &Arc<Code> {
        &self.code
    }
}

impl Code {
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.signature
    }

    pub(crate) fn exports(&self, interface: &str) -> bool {
        let mut exports = self.signature.exports.iter();
        exports.any(|export| export == interface)
    }

    /// The compiled component. The first caller compiles it or takes it from the cache; callers
    /// at the same time wait for it.
    pub(crate) async fn prepared(&self, engine: &Engine) -> Result<&Prepared, LoadError> {
        let prepare = || prepare::prepare(engine, self);
        self.prepared.get_or_try_init(prepare).await
    }

    /// The bytes, read and checked again when they are in a file.
    pub(crate) fn bytes(source: &ComponentSource, digest: &str) -> Result<Arc<[u8]>, LoadError> {
        match source {
            ComponentSource::Bytes(bytes) => Ok(Arc::clone(bytes)),
            ComponentSource::File(path) => {
                let bytes = read_file(path, u64::MAX)?;
                if digest_of(&bytes) == digest {
                    return Ok(bytes);
                }
                Err(LoadError::Changed {
                    path: path.display().to_string(),
                })
            }
        }
    }

    pub(crate) fn source(&self) -> &ComponentSource {
        &self.source
    }
}

/// The digest by which a component is known.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let mut digest = "sha256:".to_owned();
    for byte in hash {
        digest.push_str(&format!("{byte:02x}"));
    }
    digest
}

/// Runs work that blocks away from the async threads. A panic of a decoder, which hostile bytes
/// may provoke, becomes an error.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(LoadError::Malformed("it cannot be decoded".to_owned())),
    }
}

fn read_file(path: &Path, max: u64) -> Result<Arc<[u8]>, LoadError> {
    use std::io::Read as _;
    let failed = |source| LoadError::Read {
        path: path.display().to_string(),
        source,
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > max {
        return Err(LoadError::TooLarge { bytes: size, max });
    }
    let mut bytes = Vec::new();
    let limit = max.saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes.into())
}

/// Tells what bytes are that are no component.
fn check_form(bytes: &[u8], max: u64) -> Result<(), LoadError> {
    let size = bytes.len() as u64;
    if size > max {
        return Err(LoadError::TooLarge { bytes: size, max });
    }
    if bytes.is_empty() {
        return Err(LoadError::Empty);
    }
    if wasmtime::Engine::detect_precompiled(bytes).is_some() {
        return Err(LoadError::Precompiled);
    }
    if !bytes.starts_with(b"\0asm") {
        let head = &bytes[..bytes.len().min(512)];
        // The cut may split the last character.
        let is_text = match std::str::from_utf8(head) {
            Ok(text) => !text.contains('\0'),
            Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
        };
        return Err(if is_text {
            LoadError::Text
        } else {
            LoadError::NotWasm
        });
    }
    match bytes.get(6..8) {
        Some([0, 0]) => Err(LoadError::CoreModule),
        Some(_) => Ok(()),
        None => Err(LoadError::Malformed("it ends within its header".to_owned())),
    }
}

/// Everything that can be known and refused without compiling.
fn read_signature(bytes: &[u8]) -> Result<Signature, LoadError> {
    if let Some(found) = contract::hash_of_component(bytes)
        && found != contract::hash()
    {
        return Err(LoadError::OtherContract { found });
    }
    let signature = decode::signature(bytes)?;
    linking::check_imports(&signature.imports)?;
    Ok(signature)
}

/// The entry of the facts of a component; another contract reads other entries.
fn facts_name(digest: &str) -> String {
    let digest = digest.strip_prefix("sha256:").unwrap_or(digest);
    // A digest comes from a lock file too; a name of another form finds nothing.
    let digest: String = digest.chars().filter(char::is_ascii_hexdigit).collect();
    format!("{digest}-{}.facts", &contract::hash()[..16])
}

fn keep_facts(engine: &Engine, digest: &str, facts: &Facts) -> Result<(), LoadError> {
    let Some(cache) = engine.cache()? else {
        return Ok(());
    };
    if let Ok(text) = serde_json::to_vec(facts) {
        // Without the entry the component is learned again next time; nothing else is lost.
        let _ = cache.write(&facts_name(digest), &text);
    }
    Ok(())
}
