//! What is learned of a component once and kept by its digest: signatures, imports, metadata.
//!
//! Facts hold the WIT names and nothing that depends on where a component is installed. They are
//! what the cache stores, so reading them needs no compilation and no guest.

use serde::{Deserialize, Serialize};

/// Changes with every change of these types and of what is checked before facts are kept, so that
/// old entries count as absent.
pub(crate) const FACTS_VERSION: u32 = 11;

/// Bytes of everything that is said of the functions and types of one component, that of a type
/// counted wherever the type is used: a schema writes it out there.
pub(crate) const WORDS_BYTES_MAX: usize = 4 << 20;

/// The package of the contract.
pub(crate) const OWN_PACKAGE: &str = "openprogram:agentic/";

/// The export by which a component is a decider.
pub(crate) const DECIDER: &str = "openprogram:agentic/decider@0.1.0";
/// The export by which a component serves a model.
pub(crate) const MODEL: &str = "openprogram:agentic/model@0.1.0";
/// The export by which a component tells its metadata.
pub(crate) const METADATA: &str = "openprogram:agentic/metadata@0.1.0";

/// All facts of one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) version: u32,
    pub(crate) signature: Signature,
    /// `None` when the component exports none, or was not asked.
    pub(crate) metadata: Option<Metadata>,
}

/// What the component binary says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Signature {
    pub(crate) functions: Vec<FunctionFact>,
    pub(crate) imports: Vec<ImportFact>,
    /// Those of the imports that other components serve, with their types.
    pub(crate) links: Vec<LinkFact>,
    pub(crate) exports: Vec<String>,
    /// The text of the skill that is packed into it.
    pub(crate) skill: Option<String>,
    /// What a person should know of how it was read.
    pub(crate) notices: Vec<String>,
}

impl Signature {
    pub(crate) fn exports(&self, interface: &str) -> bool {
        self.exports.iter().any(|export| export == interface)
    }
}

/// An interface as its author named it: without package and version.
pub(crate) fn short_name(interface: &str) -> &str {
    let unversioned = interface.split('@').next().unwrap_or(interface);
    unversioned.rsplit('/').next().unwrap_or(unversioned)
}

/// One import that needs something from the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ImportFact {
    pub(crate) name: String,
    /// The functions of an imported interface.
    pub(crate) functions: Vec<String>,
}

/// An imported interface that another component serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinkFact {
    pub(crate) name: String,
    /// Those of its functions that are imported. They have no docs: those of the exporter count.
    pub(crate) functions: Vec<FunctionFact>,
}

/// Whether an import is an interface that other components may export: it stands in a package, and
/// this is neither ours nor one of WASI.
pub(crate) fn is_link(import: &str) -> bool {
    let (interface, _) = import.split_once('@').unwrap_or((import, ""));
    let in_package = interface.contains(':') && interface.contains('/');
    in_package && !interface.starts_with("wasi:") && !interface.starts_with(OWN_PACKAGE)
}

/// One exported function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FunctionFact {
    pub(crate) interface: Option<String>,
    /// The name by which it is known; for what belongs to a resource, made of its name in WIT.
    pub(crate) name: String,
    /// What it is of a resource of its interface, if it belongs to one.
    pub(crate) of_resource: Option<OfResource>,
    pub(crate) docs: String,
    pub(crate) parameters: Vec<ParameterFact>,
    pub(crate) result: Option<TypeFact>,
    /// Why it cannot be offered, where the signature alone decides it.
    pub(crate) refused: Option<String>,
}

/// What a function is of the resource that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OfResource {
    /// Its constructor, a method or a static, by its name in WIT: `[method]counter.add`.
    Export(String),
    /// What gives up a handle. The host does it.
    Release,
}

impl FunctionFact {
    /// The name of its export; none where the host does it.
    pub(crate) fn export(&self) -> Option<&str> {
        match &self.of_resource {
            None => Some(&self.name),
            Some(OfResource::Export(name)) => Some(name),
            Some(OfResource::Release) => None,
        }
    }

    /// Whether its calls need an instance that lives on.
    pub(crate) fn is_stateful(&self) -> bool {
        let takes = |parameter: &ParameterFact| match &parameter.kind {
            ParameterKind::Value(ty) => ty.holds_handle(),
            ParameterKind::Runtime | ParameterKind::OptionalRuntime => false,
        };
        self.of_resource.is_some()
            || self.parameters.iter().any(takes)
            || self.result.as_ref().is_some_and(TypeFact::holds_handle)
    }
}

/// One parameter of an exported function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParameterFact {
    pub(crate) name: String,
    pub(crate) kind: ParameterKind,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ParameterKind {
    Value(TypeFact),
    /// `borrow<runtime>`.
    Runtime,
    /// `option<borrow<runtime>>`.
    OptionalRuntime,
}

/// A type that values cross with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum TypeFact {
    Bool,
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
    F32,
    F64,
    Char,
    String,
    Bytes,
    Json,
    List(Box<TypeFact>),
    FixedList(Box<TypeFact>, u32),
    Map(Box<TypeFact>, Box<TypeFact>),
    Option(Box<TypeFact>),
    Tuple(Vec<TypeFact>),
    Result(Option<Box<TypeFact>>, Option<Box<TypeFact>>),
    Record(NamedFact),
    Enum(NamedFact),
    Flags(NamedFact),
    Variant(NamedFact),
    Handle(HandleFact),
}

impl TypeFact {
    pub(crate) fn holds_handle(&self) -> bool {
        self.finds_handle(&mut |_| true)
    }

    /// Whether it holds a handle that is looked for.
    pub(crate) fn finds_handle(&self, is_meant: &mut dyn FnMut(&HandleFact) -> bool) -> bool {
        match self {
            Self::Handle(handle) => is_meant(handle),
            Self::List(inner) | Self::FixedList(inner, _) | Self::Option(inner) => {
                inner.finds_handle(is_meant)
            }
            Self::Map(key, value) => key.finds_handle(is_meant) || value.finds_handle(is_meant),
            Self::Tuple(items) => items.iter().any(|item| item.finds_handle(is_meant)),
            Self::Result(ok, err) => {
                let mut sides = ok.iter().chain(err);
                sides.any(|side| side.finds_handle(is_meant))
            }
            Self::Record(named) | Self::Variant(named) => {
                let mut inner = named.members.iter().filter_map(|member| member.ty.as_ref());
                inner.any(|ty| ty.finds_handle(is_meant))
            }
            _ => false,
        }
    }
}

/// A handle of a resource that the component itself exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HandleFact {
    /// The interface of the resource, as the component spells it.
    pub(crate) interface: String,
    pub(crate) resource: String,
    pub(crate) passing: Passage,
}

/// Which way a handle goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Passage {
    /// A function takes it as a loan.
    Lent,
    /// A function takes it for good.
    GivenAway,
    /// A function gives it.
    Given,
}

/// A type with named members: fields, or cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NamedFact {
    /// The interface that owns the type, and its name there.
    pub(crate) name: Option<(String, String)>,
    pub(crate) docs: String,
    pub(crate) members: Vec<MemberFact>,
}

/// A field or a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MemberFact {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) ty: Option<TypeFact>,
}

/// What the component said about itself, its words cleaned; checked when it is merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) functions: Vec<FunctionMetadata>,
    pub(crate) types: Vec<TypeMetadata>,
}

/// What was said of one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FunctionMetadata {
    pub(crate) interface: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) parameters: Vec<ParameterMetadata>,
    /// Keys and JSON texts.
    pub(crate) attributes: Vec<(String, String)>,
}

/// What was said of one parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParameterMetadata {
    pub(crate) name: String,
    /// Keys and JSON texts.
    pub(crate) attributes: Vec<(String, String)>,
}

/// What was said of one type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TypeMetadata {
    pub(crate) interface: String,
    pub(crate) name: String,
    pub(crate) description: String,
    /// Names and descriptions.
    pub(crate) members: Vec<(String, String)>,
}
