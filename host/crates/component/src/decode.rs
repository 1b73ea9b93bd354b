//! Reads the signatures of a component from its bytes, without compiling or running it.
//!
//! wit-parser keeps what wasmtime's own reflection loses: names of types, the alias `json`, docs.

use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{
    Function, FunctionKind, Handle, Interface, Resolve, Type, TypeDefKind, TypeId, TypeOwner,
    WorldItem, WorldKey,
};

use crate::facts::{
    FunctionFact, ImportFact, MemberFact, NamedFact, ParameterFact, ParameterKind, Signature,
    TypeFact,
};
use crate::loader::LoadError;

/// Interfaces of ours that a component exports for the host, not for models.
const OWN_PACKAGE: &str = "openprogram:agentic/";
/// Parts of all types of one function. Types that share parts can be small in a component and
/// huge when written out, as a schema is.
const TYPE_PARTS_MAX: usize = 10_000;
/// Nesting of one type.
const TYPE_DEPTH_MAX: usize = 64;
/// Functions of one component.
const FUNCTIONS_MAX: usize = 1_000;

/// Reads the signatures of a component.
///
/// # Errors
/// When the bytes are no component, or one that needs async types.
pub(crate) fn signature(bytes: &[u8]) -> Result<Signature, LoadError> {
    let decoded = decode(bytes).map_err(|error| LoadError::Malformed(first_line(&error)))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(LoadError::WitPackage);
    };
    let world = &resolve.worlds[world];
    let mut signature = Signature::default();
    for (key, item) in &world.imports {
        if let Some(what) = async_item(&resolve, key, item) {
            return Err(LoadError::AsyncTypes(what));
        }
        if !imports_types_only(&resolve, item) {
            let functions = match item {
                WorldItem::Interface { id, .. } => {
                    let functions = &resolve.interfaces[*id].functions;
                    functions.keys().cloned().collect()
                }
                WorldItem::Function(_) | WorldItem::Type { .. } => Vec::new(),
            };
            signature.imports.push(ImportFact {
                name: resolve.name_world_key(key),
                functions,
            });
        }
    }
    for (key, item) in &world.exports {
        if let Some(what) = async_item(&resolve, key, item) {
            return Err(LoadError::AsyncTypes(what));
        }
        let name = resolve.name_world_key(key);
        match item {
            WorldItem::Interface { id, .. } if !name.starts_with(OWN_PACKAGE) => {
                let interface = &resolve.interfaces[*id];
                functions_of(&resolve, &name, interface, &mut signature.functions);
            }
            WorldItem::Function(function) => {
                let fact = function_fact(&resolve, None, function);
                signature.functions.push(fact);
            }
            WorldItem::Interface { .. } | WorldItem::Type { .. } => {}
        }
        signature.exports.push(name);
    }
    if signature.functions.len() > FUNCTIONS_MAX {
        return Err(LoadError::TooManyFunctions {
            count: signature.functions.len(),
            max: FUNCTIONS_MAX,
        });
    }
    Ok(signature)
}

fn first_line(error: &impl std::fmt::Display) -> String {
    let text = format!("{error:#}");
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(300)
        .collect()
}

/// An import of types alone needs nothing from the host.
fn imports_types_only(resolve: &Resolve, item: &WorldItem) -> bool {
    match item {
        WorldItem::Interface { id, .. } => {
            let interface = &resolve.interfaces[*id];
            let is_resource = |id: &TypeId| resolve.types[*id].kind == TypeDefKind::Resource;
            interface.functions.is_empty() && !interface.types.values().any(is_resource)
        }
        WorldItem::Type { .. } => true,
        WorldItem::Function(_) => false,
    }
}

/// The name of the first part of an item that needs async types.
fn async_item(resolve: &Resolve, key: &WorldKey, item: &WorldItem) -> Option<String> {
    let name = resolve.name_world_key(key);
    let is_async = |function: &Function| {
        function.kind.is_async()
            || function
                .params
                .iter()
                .map(|param| &param.ty)
                .chain(&function.result)
                .any(|ty| is_async_type(resolve, ty, 0))
    };
    match item {
        WorldItem::Interface { id, .. } => {
            let mut functions = resolve.interfaces[*id].functions.values();
            let function = functions.find(|function| is_async(function))?;
            Some(format!("{name}.{}", function.name))
        }
        WorldItem::Function(function) => is_async(function).then_some(name),
        WorldItem::Type { .. } => None,
    }
}

fn is_async_type(resolve: &Resolve, ty: &Type, depth: usize) -> bool {
    if matches!(ty, Type::ErrorContext) {
        return true;
    }
    let Type::Id(id) = ty else { return false };
    if depth > TYPE_DEPTH_MAX {
        return false;
    }
    let any = |inner: &Type| is_async_type(resolve, inner, depth + 1);
    match &resolve.types[*id].kind {
        TypeDefKind::Future(_) | TypeDefKind::Stream(_) => true,
        // Parts of named types are looked at one level only: walking a type that shares its parts
        // would take exponential time, and the engine refuses deeper ones when it compiles.
        TypeDefKind::Type(inner) | TypeDefKind::Option(inner) | TypeDefKind::List(inner) => {
            any(inner)
        }
        TypeDefKind::Result(result) => result.ok.iter().chain(&result.err).any(any),
        _ => false,
    }
}

fn functions_of(
    resolve: &Resolve,
    name: &str,
    interface: &Interface,
    functions: &mut Vec<FunctionFact>,
) {
    // Constructors and methods belong to their resource and are left out.
    let free = |function: &&Function| function.kind == FunctionKind::Freestanding;
    for function in interface.functions.values().filter(free) {
        functions.push(function_fact(resolve, Some(name), function));
    }
}

fn function_fact(resolve: &Resolve, interface: Option<&str>, function: &Function) -> FunctionFact {
    let mut reader = TypeReader { resolve, parts: 0 };
    let mut refused = leftover(interface, &function.name);
    let mut parameters = Vec::new();
    for param in &function.params {
        match reader.parameter(&param.name, &param.ty) {
            Ok(kind) => parameters.push(ParameterFact {
                name: param.name.clone(),
                kind,
            }),
            Err(reason) => {
                let reason = format!("parameter `{}` {reason}", param.name);
                refused.get_or_insert(reason);
                break;
            }
        }
    }
    let result = match function.result.map(|ty| reader.read(&ty, 0)).transpose() {
        Ok(result) => result,
        Err(reason) => {
            refused.get_or_insert(format!("its result {reason}"));
            None
        }
    };
    FunctionFact {
        interface: interface.map(ToOwned::to_owned),
        name: function.name.clone(),
        docs: function.docs.contents.clone().unwrap_or_default(),
        parameters,
        result,
        refused,
    }
}

/// Why a function is no function of the author's, where its name tells.
fn leftover(interface: Option<&str>, name: &str) -> Option<String> {
    let unversioned = interface.map(|name| name.split('@').next().unwrap_or(name));
    match unversioned {
        None if name == "init" || name.starts_with("cabi") => {
            Some("it was left behind by the toolchain".to_owned())
        }
        Some("wasi:cli/run") => Some("it is the entry point of a command".to_owned()),
        _ => None,
    }
}

/// Reads the types of one function and counts their parts.
struct TypeReader<'a> {
    resolve: &'a Resolve,
    parts: usize,
}

impl TypeReader<'_> {
    fn parameter(&mut self, name: &str, ty: &Type) -> Result<ParameterKind, String> {
        let role = openprogram_core::function::RuntimeRole::of_parameter(name);
        let optional = match self.kind(ty) {
            Some(TypeDefKind::Option(inner)) => self.is_borrowed_runtime(inner),
            _ => false,
        };
        let borrowed = self.is_borrowed_runtime(ty);
        match (role, borrowed, optional) {
            (Some(_), true, _) => Ok(ParameterKind::Runtime),
            (Some(_), _, true) => Ok(ParameterKind::OptionalRuntime),
            (Some(_), ..) => Err(
                "has a name that is reserved for `borrow<runtime>`; rename it or change its type"
                    .to_owned(),
            ),
            (None, true, _) | (None, _, true) => Err(
                "takes a runtime and is not named `runtime`, `exec-runtime` or `review-runtime`"
                    .to_owned(),
            ),
            (None, ..) => self.read(ty, 0).map(ParameterKind::Value),
        }
    }

    /// The definition of a type, behind its aliases.
    fn kind(&self, ty: &Type) -> Option<&TypeDefKind> {
        let mut ty = *ty;
        loop {
            let Type::Id(id) = ty else { return None };
            match &self.resolve.types[id].kind {
                TypeDefKind::Type(inner) => ty = *inner,
                kind => return Some(kind),
            }
        }
    }

    fn is_borrowed_runtime(&self, ty: &Type) -> bool {
        match self.kind(ty) {
            Some(TypeDefKind::Handle(Handle::Borrow(id))) => self.is_runtime(*id),
            _ => false,
        }
    }

    fn is_runtime(&self, mut id: TypeId) -> bool {
        while let TypeDefKind::Type(Type::Id(inner)) = &self.resolve.types[id].kind {
            id = *inner;
        }
        let ty = &self.resolve.types[id];
        ty.kind == TypeDefKind::Resource
            && ty.name.as_deref() == Some("runtime")
            && self.is_ours(ty.owner, "runtime")
    }

    /// Whether an owner is this interface of our package, in the version of this host.
    fn is_ours(&self, owner: TypeOwner, interface: &str) -> bool {
        let TypeOwner::Interface(id) = owner else {
            return false;
        };
        let name = self.resolve.id_of(id);
        name.is_some_and(|name| name == format!("{OWN_PACKAGE}{interface}@0.1.0"))
    }

    fn read(&mut self, ty: &Type, depth: usize) -> Result<TypeFact, String> {
        self.parts += 1;
        if self.parts > TYPE_PARTS_MAX {
            return Err(format!("has a type of more than {TYPE_PARTS_MAX} parts"));
        }
        if depth > TYPE_DEPTH_MAX {
            return Err(format!(
                "has a type nested deeper than {TYPE_DEPTH_MAX} levels"
            ));
        }
        Ok(match ty {
            Type::Bool => TypeFact::Bool,
            Type::U8 => TypeFact::U8,
            Type::U16 => TypeFact::U16,
            Type::U32 => TypeFact::U32,
            Type::U64 => TypeFact::U64,
            Type::S8 => TypeFact::S8,
            Type::S16 => TypeFact::S16,
            Type::S32 => TypeFact::S32,
            Type::S64 => TypeFact::S64,
            Type::F32 => TypeFact::F32,
            Type::F64 => TypeFact::F64,
            Type::Char => TypeFact::Char,
            Type::String => TypeFact::String,
            Type::ErrorContext => return Err(unsupported("error contexts")),
            Type::Id(id) => return self.definition(*id, depth),
        })
    }

    fn definition(&mut self, id: TypeId, depth: usize) -> Result<TypeFact, String> {
        let resolve = self.resolve;
        let definition = &resolve.types[id];
        let next = depth + 1;
        Ok(match &definition.kind {
            TypeDefKind::Type(Type::String) if self.is_json(id) => TypeFact::Json,
            TypeDefKind::Type(inner) => self.alias(id, inner, depth)?,
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter();
                let members =
                    fields.map(|f| (f.name.as_str(), f.docs.contents.as_deref(), Some(f.ty)));
                TypeFact::Record(self.named(id, members, next)?)
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter();
                let members = cases.map(|c| (c.name.as_str(), c.docs.contents.as_deref(), c.ty));
                TypeFact::Variant(self.named(id, members, next)?)
            }
            TypeDefKind::Enum(cases) => {
                let cases = cases.cases.iter();
                let members = cases.map(|c| (c.name.as_str(), c.docs.contents.as_deref(), None));
                TypeFact::Enum(self.named(id, members, next)?)
            }
            TypeDefKind::Flags(flags) => {
                let flags = flags.flags.iter();
                let members = flags.map(|f| (f.name.as_str(), f.docs.contents.as_deref(), None));
                TypeFact::Flags(self.named(id, members, next)?)
            }
            TypeDefKind::Tuple(tuple) => TypeFact::Tuple(
                tuple
                    .types
                    .iter()
                    .map(|ty| self.read(ty, next))
                    .collect::<Result<_, _>>()?,
            ),
            TypeDefKind::Option(inner) => TypeFact::Option(Box::new(self.read(inner, next)?)),
            TypeDefKind::Result(result) => {
                let mut side =
                    |ty: Option<Type>| ty.map(|ty| self.read(&ty, next).map(Box::new)).transpose();
                let (ok, err) = (side(result.ok)?, side(result.err)?);
                TypeFact::Result(ok, err)
            }
            TypeDefKind::List(inner) => match self.read(inner, next)? {
                TypeFact::U8 => TypeFact::Bytes,
                inner => TypeFact::List(Box::new(inner)),
            },
            TypeDefKind::FixedLengthList(inner, length) => {
                TypeFact::FixedList(Box::new(self.read(inner, next)?), *length)
            }
            TypeDefKind::Map(key, value) => {
                let key = self.read(key, next)?;
                TypeFact::Map(Box::new(key), Box::new(self.read(value, next)?))
            }
            TypeDefKind::Handle(_) | TypeDefKind::Resource => {
                return Err(unsupported("resources"));
            }
            TypeDefKind::Future(_) => return Err(unsupported("futures")),
            TypeDefKind::Stream(_) => return Err(unsupported("streams")),
            TypeDefKind::Unknown => return Err("has an unknown type".to_owned()),
        })
    }

    /// An alias stands for its type; the name of the alias is not told to models.
    fn alias(&mut self, id: TypeId, inner: &Type, depth: usize) -> Result<TypeFact, String> {
        if self.is_json(id) {
            return Ok(TypeFact::Json);
        }
        self.read(inner, depth)
    }

    /// Whether a type is our `json`, or an alias named so of it.
    fn is_json(&self, mut id: TypeId) -> bool {
        loop {
            let ty = &self.resolve.types[id];
            let is_ours = self.is_ours(ty.owner, "types") && ty.name.as_deref() == Some("json");
            match ty.kind {
                TypeDefKind::Type(Type::String) => return is_ours,
                TypeDefKind::Type(Type::Id(inner)) => id = inner,
                _ => return false,
            }
        }
    }

    fn named<'m>(
        &mut self,
        id: TypeId,
        members: impl Iterator<Item = (&'m str, Option<&'m str>, Option<Type>)>,
        depth: usize,
    ) -> Result<NamedFact, String> {
        let mut facts = Vec::new();
        for (name, docs, ty) in members {
            self.parts += 1;
            facts.push(MemberFact {
                name: name.to_owned(),
                docs: docs.unwrap_or_default().to_owned(),
                ty: ty.map(|ty| self.read(&ty, depth)).transpose()?,
            });
        }
        let definition = &self.resolve.types[id];
        let owner = match definition.owner {
            TypeOwner::Interface(owner) => {
                let interface = self.resolve.interfaces[owner].name.clone();
                interface.unwrap_or_default()
            }
            TypeOwner::World(_) | TypeOwner::None => String::new(),
        };
        Ok(NamedFact {
            name: definition.name.clone().map(|name| (owner, name)),
            docs: definition.docs.contents.clone().unwrap_or_default(),
            members: facts,
        })
    }
}

fn unsupported(what: &str) -> String {
    format!("holds {what}, which cannot cross as JSON")
}
