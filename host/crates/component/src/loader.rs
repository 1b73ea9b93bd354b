//! Bytes become a checked component: its functions, its imports, its metadata.
//!
//! Everything that can be refused without compiling is refused before compiling. What was learned
//! is kept by digest, so that a component seen before is listed without an engine.

use std::path::Path;
use std::sync::Arc;

use openprogram_core::function::{Function, Offer};
use openprogram_core::skill::{SKILL_FILE, Skill};

use crate::code::Code;
use crate::engine::Engine;
use crate::error::LoadError;
use crate::facts::{DECIDER, FACTS_VERSION, Facts, MODEL, Signature};
use crate::source::{ComponentSource, blocking, check_form, digest_of, read_component};
use crate::{assemble, contract, decode, linking, sandbox, skill, structure, words};

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
    /// Those that are offered once the component may live on.
    waiting: Vec<usize>,
    imports: Vec<String>,
    exports: Vec<String>,
    skill: Option<Skill>,
    notices: Vec<String>,
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
        let (bytes, owned, installed) = (bytes.into(), engine.clone(), name.to_owned());
        let code = match blocking(move || learn(&owned, &installed, bytes)).await? {
            Learned::Before(known) => return Ok(*known),
            Learned::Now(code) => *code,
        };
        let metadata = match mode {
            MetadataMode::Run => sandbox::metadata(engine, &code).await?,
            MetadataMode::Skip => None,
        };
        let mut facts = Facts {
            version: FACTS_VERSION,
            signature: code.signature().clone(),
            metadata,
        };
        words::tidy(&mut facts);
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
        let bytes = blocking(move || read_component(&owned, max)).await?;
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
        let code = Code::new(digest.to_owned(), source, facts.signature.clone());
        Self::assemble(name, code, &facts).map(Some)
    }

    /// Compiles it, or takes its image from the cache, so that its first call has no wait. Calls do
    /// this by themselves.
    ///
    /// # Errors
    /// When its bytes are not there or not its own, or it does not compile or link.
    pub async fn compile(&self, engine: &Engine) -> Result<(), LoadError> {
        self.code.prepared(engine).await.map(|_| ())
    }

    fn assemble(name: &str, code: Code, facts: &Facts) -> Result<Self, LoadError> {
        let imports = &facts.signature.imports;
        let mut notices = facts.signature.notices.clone();
        let skill = facts.signature.skill.as_ref();
        let skill = skill.and_then(|text| match Skill::parse(name, text) {
            Ok(skill) => Some(skill),
            Err(error) => {
                notices.push(format!("its {SKILL_FILE} is ignored: {error}"));
                None
            }
        });
        let mut functions = assemble::functions(facts, name, code.digest())?;
        let waiting = assemble::hold_back_stateful(&mut functions);
        Ok(Self {
            functions,
            waiting,
            name: name.to_owned(),
            digest: code.digest().to_owned(),
            imports: imports.iter().map(|import| import.name.clone()).collect(),
            exports: facts.signature.exports.clone(),
            skill,
            notices,
            code: Arc::new(code),
        })
    }

    /// The same component, of which instances may live on between calls: what works on its resources
    /// is offered too. A person decides it for each component.
    #[must_use]
    pub fn with_state(mut self) -> Self {
        for at in std::mem::take(&mut self.waiting) {
            self.functions[at].offer = Offer::Offered;
        }
        self
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

    /// The skill that it carries, under its name.
    #[must_use]
    pub fn skill(&self) -> Option<&Skill> {
        self.skill.as_ref()
    }

    /// What a person should know of how it was read, such as words that had to be ignored.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Whether it can pick among options.
    #[must_use]
    pub fn is_decider(&self) -> bool {
        self.exports.iter().any(|export| export == DECIDER)
    }

    /// Whether it writes, as a model.
    #[must_use]
    pub fn is_model(&self) -> bool {
        self.exports.iter().any(|export| export == MODEL)
    }

    /// Whether it can be a provider: a model, a decider, or both.
    #[must_use]
    pub fn is_provider(&self) -> bool {
        self.is_model() || self.is_decider()
    }

    pub(crate) fn code(&self) -> &Arc<Code> {
        &self.code
    }
}

/// What is known of a component before anything of it is compiled.
enum Learned {
    /// It was seen before.
    Before(Box<LoadedComponent>),
    /// Its signature was read now.
    Now(Box<Code>),
}

fn learn(engine: &Engine, name: &str, bytes: Arc<[u8]>) -> Result<Learned, LoadError> {
    check_form(&bytes, engine.options().component_bytes_max)?;
    let digest = digest_of(&bytes);
    let source = ComponentSource::Bytes(Arc::clone(&bytes));
    let known = LoadedComponent::from_cache(engine, name, &digest, source.clone())?;
    if let Some(known) = known {
        return Ok(Learned::Before(Box::new(known)));
    }
    let signature = read_signature(&bytes)?;
    Ok(Learned::Now(Box::new(Code::new(digest, source, signature))))
}

/// Everything that can be known and refused without compiling.
fn read_signature(bytes: &[u8]) -> Result<Signature, LoadError> {
    let structure = structure::check(bytes)?;
    if let Some(found) = contract::contract_of(bytes)
        && found != contract::contract_hash()
    {
        return Err(LoadError::OtherContract { found });
    }
    let mut signature = decode::signature(bytes)?;
    match skill::skill_of(bytes) {
        Some(Ok(text)) => signature.skill = Some(text),
        Some(Err(notice)) => signature.notices.push(notice),
        None => {}
    }
    // Signatures say it better, where they show it.
    if let Some(part) = structure.async_part {
        return Err(LoadError::AsyncParts(part));
    }
    linking::check_imports(&signature.imports)?;
    Ok(signature)
}

/// The entry of the facts of a component; another contract reads other entries.
fn facts_name(digest: &str) -> String {
    let digest = digest.strip_prefix("sha256:").unwrap_or(digest);
    // A digest comes from a lock file too; a name of another form finds nothing.
    let digest: String = digest.chars().filter(char::is_ascii_hexdigit).collect();
    format!("{digest}-{}.facts", &contract::contract_hash()[..16])
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
