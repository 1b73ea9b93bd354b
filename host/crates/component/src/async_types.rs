//! Finds what needs the async types of WASI 0.3 in the signatures of a component.

use std::collections::HashSet;

use wit_parser::{Function, Resolve, Type, TypeDefKind, TypeId, WorldItem, WorldKey};

/// Looks through imports and exports. Every type is looked into once, however many share it, so the
/// whole takes time linear in the types.
pub(crate) struct AsyncTypes<'a> {
    resolve: &'a Resolve,
    /// The types that were looked into; none of them is async.
    seen: HashSet<TypeId>,
}

impl<'a> AsyncTypes<'a> {
    pub(crate) fn new(resolve: &'a Resolve) -> Self {
        Self {
            resolve,
            seen: HashSet::new(),
        }
    }

    /// The name of the first function of an item that needs async types, else of the first type.
    pub(crate) fn name_in(&mut self, key: &WorldKey, item: &WorldItem) -> Option<String> {
        let name = self.resolve.name_world_key(key);
        match item {
            WorldItem::Interface { id, .. } => {
                let interface = &self.resolve.interfaces[*id];
                let mut functions = interface.functions.values();
                let function = functions.find(|function| self.are_in_function(function));
                let mut types = interface.types.iter();
                let found = function.map(|function| &function.name);
                let found = found.or_else(|| {
                    types
                        .find(|(_, id)| self.are_in([Type::Id(**id)]))
                        .map(|(name, _)| name)
                })?;
                Some(format!("{name}.{found}"))
            }
            WorldItem::Function(function) => self.are_in_function(function).then_some(name),
            WorldItem::Type { id, .. } => self.are_in([Type::Id(*id)]).then_some(name),
        }
    }

    fn are_in_function(&mut self, function: &Function) -> bool {
        let parameters = function.params.iter().map(|parameter| parameter.ty);
        function.kind.is_async() || self.are_in(parameters.chain(function.result))
    }

    fn are_in(&mut self, types: impl IntoIterator<Item = Type>) -> bool {
        let mut open: Vec<Type> = types.into_iter().collect();
        while let Some(ty) = open.pop() {
            let id = match ty {
                Type::Id(id) => id,
                Type::ErrorContext => return true,
                _ => continue,
            };
            if !self.seen.insert(id) {
                continue;
            }
            match &self.resolve.types[id].kind {
                TypeDefKind::Future(_) | TypeDefKind::Stream(_) => return true,
                TypeDefKind::Record(record) => open.extend(record.fields.iter().map(|f| f.ty)),
                TypeDefKind::Variant(variant) => {
                    open.extend(variant.cases.iter().filter_map(|case| case.ty));
                }
                TypeDefKind::Tuple(tuple) => open.extend(&tuple.types),
                TypeDefKind::Result(result) => open.extend(result.ok.iter().chain(&result.err)),
                TypeDefKind::Map(key, value) => open.extend([*key, *value]),
                TypeDefKind::Type(inner)
                | TypeDefKind::Option(inner)
                | TypeDefKind::List(inner)
                | TypeDefKind::FixedLengthList(inner, _) => open.push(*inner),
                TypeDefKind::Resource
                | TypeDefKind::Handle(_)
                | TypeDefKind::Flags(_)
                | TypeDefKind::Enum(_)
                | TypeDefKind::Unknown => {}
            }
        }
        false
    }
}
