//! Reads the types of exported functions out of a decoded component.

use std::collections::HashMap;

use openprogram_core::function::RuntimeRole;
use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, TypeId, TypeOwner};

use crate::docs::PackageDocs;
use crate::facts::{
    FunctionFact, HandleFact, MemberFact, NamedFact, OWN_PACKAGE, ParameterFact, ParameterKind,
    Passage, TypeFact, short_name,
};

/// The resources that a component exports: the interface and the name of each.
pub(crate) type OwnResources = HashMap<TypeId, (String, String)>;

/// Parts of all types of one function. Types that share parts can be small in a component and
/// huge when written out, as a schema is.
const TYPE_PARTS_MAX: usize = 10_000;
/// A name that is longer counts for several parts.
const NAME_BYTES_OF_PART: usize = 256;
/// Nesting of one type.
pub(crate) const TYPE_DEPTH_MAX: usize = 64;
/// Reads the types of one function and counts their parts.
pub(crate) struct TypeReader<'a> {
    resolve: &'a Resolve,
    docs: &'a PackageDocs,
    resources: &'a OwnResources,
    /// Whether it is a result that is read, which gives what it holds.
    gives: bool,
    parts: usize,
}

impl<'a> TypeReader<'a> {
    pub(crate) fn new(
        resolve: &'a Resolve,
        docs: &'a PackageDocs,
        resources: &'a OwnResources,
    ) -> Self {
        Self {
            resolve,
            docs,
            resources,
            gives: false,
            parts: 0,
        }
    }

    /// How many parts it has read.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// A function with its types, and why it cannot be called from outside where they decide it.
    pub(crate) fn function(
        &mut self,
        interface: Option<&str>,
        function: &Function,
    ) -> FunctionFact {
        let mut refused = None;
        let mut parameters = Vec::new();
        for param in &function.params {
            match self.parameter(&param.name, &param.ty) {
                Ok(kind) => parameters.push(ParameterFact {
                    name: param.name.clone(),
                    kind,
                }),
                Err(reason) => {
                    refused = Some(format!("parameter `{}` {reason}", param.name));
                    break;
                }
            }
        }
        let result = match function.result.map(|ty| self.result(&ty)).transpose() {
            Ok(result) => result,
            Err(reason) => {
                refused.get_or_insert(format!("its result {reason}"));
                None
            }
        };
        FunctionFact {
            interface: interface.map(ToOwned::to_owned),
            name: function.name.clone(),
            of_resource: None,
            docs: (self.docs).function(interface.map_or("", short_name), &function.name),
            parameters,
            result,
            refused,
        }
    }

    fn parameter(&mut self, name: &str, ty: &Type) -> Result<ParameterKind, String> {
        let role = RuntimeRole::of_parameter(name);
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

    /// Reads the type of a result.
    fn result(&mut self, ty: &Type) -> Result<TypeFact, String> {
        self.gives = true;
        self.read(ty, 0)
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
                let members = fields.map(|f| (f.name.as_str(), Some(f.ty)));
                TypeFact::Record(self.named(id, members, next)?)
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter();
                let members = cases.map(|c| (c.name.as_str(), c.ty));
                TypeFact::Variant(self.named(id, members, next)?)
            }
            TypeDefKind::Enum(cases) => {
                let cases = cases.cases.iter();
                let members = cases.map(|c| (c.name.as_str(), None));
                TypeFact::Enum(self.named(id, members, next)?)
            }
            TypeDefKind::Flags(flags) => {
                let flags = flags.flags.iter();
                let members = flags.map(|f| (f.name.as_str(), None));
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
            TypeDefKind::Handle(handle) => TypeFact::Handle(self.handle(*handle)?),
            TypeDefKind::Resource => return Err(unsupported("resources")),
            TypeDefKind::Future(_) => return Err(unsupported("futures")),
            TypeDefKind::Stream(_) => return Err(unsupported("streams")),
            TypeDefKind::Unknown => return Err("has an unknown type".to_owned()),
        })
    }

    /// A handle of a resource that the component exports; others belong to somebody else.
    fn handle(&self, handle: Handle) -> Result<HandleFact, String> {
        let (mut id, passing) = match handle {
            Handle::Own(id) if self.gives => (id, Passage::Given),
            Handle::Own(id) => (id, Passage::GivenAway),
            Handle::Borrow(id) => (id, Passage::Lent),
        };
        while let TypeDefKind::Type(Type::Id(inner)) = &self.resolve.types[id].kind {
            id = *inner;
        }
        let (interface, resource) = self
            .resources
            .get(&id)
            .ok_or_else(|| unsupported("resources that it does not export"))?;
        Ok(HandleFact {
            interface: interface.clone(),
            resource: resource.clone(),
            passing,
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
        members: impl Iterator<Item = (&'m str, Option<Type>)>,
        depth: usize,
    ) -> Result<NamedFact, String> {
        let definition = &self.resolve.types[id];
        let owner = match definition.owner {
            TypeOwner::Interface(owner) => {
                let interface = self.resolve.interfaces[owner].name.clone();
                interface.unwrap_or_default()
            }
            TypeOwner::World(_) | TypeOwner::None => String::new(),
        };
        let name = definition.name.clone().map(|name| (owner, name));
        let words = (name.as_ref()).and_then(|(owner, name)| self.docs.type_words(owner, name));
        let mut facts = Vec::new();
        for (name, ty) in members {
            self.parts += 1 + name.len() / NAME_BYTES_OF_PART;
            facts.push(MemberFact {
                name: name.to_owned(),
                docs: self.docs.member(words, name),
                ty: ty.map(|ty| self.read(&ty, depth)).transpose()?,
            });
        }
        Ok(NamedFact {
            name,
            docs: self.docs.type_itself(words),
            members: facts,
        })
    }
}

fn unsupported(what: &str) -> String {
    format!("holds {what}, which cannot cross as JSON")
}
