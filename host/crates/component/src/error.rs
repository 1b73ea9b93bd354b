//! Why a component is not loaded: one variant for everything a caller can tell apart.

use std::error::Error as _;
use std::sync::Arc;

use openprogram_core::guest::CallError;

use crate::cache::CacheError;

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
    /// It makes too many instances of the modules and components in it.
    #[error("the component makes more than {max} instances of what is in it; split it up")]
    TooManyInstances {
        /// The limit.
        max: u64,
    },
    /// Compiling one of its functions would take too much memory.
    #[error(
        "a function of the component has so many locals, loops and branches ({weight} of {max}) \
         that compiling it would take all memory; split it up, or build it with optimisations"
    )]
    HeavyFunction {
        /// How heavy it is: locals times loops and branches.
        weight: u64,
        /// The limit.
        max: u64,
    },
    /// It holds components inside of components, too many of them.
    #[error(
        "the component holds components more than {max} levels deep; put them beside each other"
    )]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// It is cut off or invalid.
    #[error("the component is damaged: {0}")]
    Malformed(String),
    /// It was built for another contract.
    #[error(
        "the component was built with another contract; rebuild it with this SDK, or this program where the SDK is newer"
    )]
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
    /// It has parts inside that only async functions use.
    #[error(
        "the component uses `{0}`, which belongs to async functions (WASI 0.3), and these are not \
         supported yet; build it for WASI 0.2 without them (`--backend-qjs-disable-async` of jco)"
    )]
    AsyncParts(&'static str),
    /// It imports what is not there or not granted.
    #[error("{}", imports_message(missing, denied))]
    Imports {
        /// Imports that this host does not have.
        missing: Vec<MissingImport>,
        /// Imports that are not granted.
        denied: Vec<String>,
    },
    /// It imports from other components what none of them can serve.
    #[error("the component imports `{function}`, which cannot be linked: {reason}")]
    LinkType {
        /// The function or type, with its interface.
        function: String,
        /// Why.
        reason: String,
    },
    /// It imports more from other components than is linked.
    #[error(
        "the component imports too much from other components: at most {max} {what} are linked"
    )]
    TooManyLinks {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// It shares a function with the host whose type is not that of the contract.
    #[error(
        "the component {verb} `{function}` as `{found}`, and the contract has it as `{expected}`; \
         rebuild the component with the SDK or the WIT of this program"
    )]
    OtherType {
        /// `imports` or `exports`.
        verb: &'static str,
        /// The function with its interface.
        function: String,
        /// Its type in the component.
        found: String,
        /// Its type in the contract.
        expected: String,
    },
    /// It exports an interface of the contract without one of its functions.
    #[error(
        "the component exports `{interface}` without `{function}`; rebuild the component with the \
         SDK or the WIT of this program"
    )]
    MissingExport {
        /// The interface.
        interface: String,
        /// The function and its type.
        function: String,
    },
    /// It does not compile.
    #[error("the component does not compile: {0}")]
    Compile(String),
    /// It takes too long to compile. Its thread cannot be stopped and goes on to its end.
    #[error(
        "compiling the component takes longer than {limit_ms} ms (`compile_ms`), so it is not used; \
         split it up, or build it with optimisations"
    )]
    CompileTime {
        /// The limit.
        limit_ms: u64,
    },
    /// Components that take too long to compile hold all places.
    #[error(
        "all {at_once} places for compiling (`compilations`) are held by components that take \
         longer than {limit_ms} ms and cannot be stopped; try again when they have ended"
    )]
    CompileBusy {
        /// How many are compiled at once.
        at_once: u32,
        /// The limit of one compilation.
        limit_ms: u64,
    },
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
    /// The file does not hold the bytes by which the component is known.
    #[error(
        "wrong digest: `{path}` holds `{found}`, and the component is `{expected}`; put its bytes \
         back, or remove the file when it is a copy that can be made again"
    )]
    WrongDigest {
        /// The file.
        path: String,
        /// The digest of the component.
        expected: String,
        /// The digest of what the file holds.
        found: String,
    },
}

impl LoadError {
    /// The error as it ends a call of a component whose code is loaded by its first call.
    pub(crate) fn to_call_error(&self, component: &str) -> CallError {
        let mut message = format!("the component `{component}` cannot be loaded: {self}");
        let mut cause = self.source();
        while let Some(error) = cause {
            message.push_str(&format!(": {error}"));
            cause = error.source();
        }
        let limit = match self {
            Self::CompileTime { limit_ms } => Some(("compile_ms", *limit_ms)),
            Self::CompileBusy { at_once, .. } => Some(("compilations", u64::from(*at_once))),
            _ => None,
        };
        if let Some((which, limit)) = limit {
            return CallError::LimitReached {
                which,
                limit,
                message,
            };
        }
        CallError::Internal(message)
    }
}

/// One import that this host does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingImport {
    /// Its name.
    pub name: String,
    /// The most similar name that this host has.
    pub nearest: Option<String>,
}

/// Imports that an error names one by one.
const LISTED_MAX: usize = 20;
/// Characters of the name of one.
const NAME_CHARS_MAX: usize = 200;

fn imports_message(missing: &[MissingImport], denied: &[String]) -> String {
    let mut parts = Vec::new();
    if !missing.is_empty() {
        let names = missing.iter().take(LISTED_MAX).map(|import| {
            let name: String = import.name.chars().take(NAME_CHARS_MAX).collect();
            match &import.nearest {
                Some(nearest) => format!("`{name}` (nearest: `{nearest}`)"),
                None => format!("`{name}`"),
            }
        });
        let mut names = names.collect::<Vec<_>>().join(", ");
        let more = missing.len().saturating_sub(LISTED_MAX);
        if more > 0 {
            names.push_str(&format!(" and {more} more"));
        }
        parts.push(format!(
            "the component imports what this host does not have: {names}"
        ));
    }
    if !denied.is_empty() {
        let names = denied.iter().map(|name| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        parts.push(format!(
            "denied: sockets are not granted to components: {names}; those of WASI 0.2 may be \
             imported, and every use of them is refused; requests over HTTP (`wasi:http`) can be \
             granted"
        ));
    }
    parts.join("; ")
}

/// What is wrong with the metadata of a component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// It could not be read.
    #[error("the component could not tell its metadata: {0}")]
    Unreadable(String),
    /// It describes a function that is not exported.
    #[error("the metadata describes `{interface}.{name}`, which the component does not export")]
    UnknownFunction {
        /// The interface it names.
        interface: String,
        /// The function it names.
        name: String,
    },
    /// It describes one function twice.
    #[error("the metadata describes `{function}` twice")]
    DescribedTwice {
        /// The function.
        function: String,
    },
    /// It says more of its types than can be kept.
    #[error(
        "the metadata describes the types of the component in more than {max} bytes, counted \
         wherever a type is used; shorten the descriptions"
    )]
    TooLong {
        /// The most bytes.
        max: usize,
    },
    /// It describes a parameter that is not there.
    #[error("the metadata of `{function}` describes a parameter `{parameter}`, which it lacks")]
    UnknownParameter {
        /// The function.
        function: String,
        /// The parameter it names.
        parameter: String,
    },
    /// An attribute has no known key.
    #[error("the metadata of `{owner}` has an unknown attribute `{key}`")]
    UnknownAttribute {
        /// The function or `function(parameter)`.
        owner: String,
        /// The key.
        key: String,
    },
    /// An attribute has a value that does not fit.
    #[error("the attribute `{key}` of `{owner}`: {problem}")]
    BadAttribute {
        /// The function or `function(parameter)`.
        owner: String,
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
    },
}

/// Why there is no engine.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// Wasmtime refuses the configuration, on demand too.
    #[error("the WebAssembly engine cannot start: {0}")]
    Start(String),
    /// The cache folder cannot be used.
    #[error(transparent)]
    Cache(#[from] Arc<CacheError>),
}
