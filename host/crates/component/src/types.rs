//! The types of a component as the core has them, with what the metadata says of named ones.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use openprogram_core::schema::{
    Case, CasesType, Field, HandlePassing, HandleType, IntegerKind, RecordType, Type, shown_name,
};

use crate::facts::{
    FunctionFact, HandleFact, NamedFact, Passage, TypeFact, TypeMetadata, WORDS_BYTES_MAX,
};

/// What the metadata says of types, found by name: a component may say very much of very many.
pub(crate) struct Said<'a> {
    types: HashMap<(&'a str, &'a str), SaidOfType<'a>>,
    /// The functions that give a handle, by its interface and resource.
    makers: HashMap<(String, String), Vec<String>>,
    /// Bytes of the words that were given so far.
    given: Cell<usize>,
}

/// What the metadata says of one type.
struct SaidOfType<'a> {
    description: &'a str,
    members: HashMap<&'a str, &'a str>,
}

impl<'a> Said<'a> {
    /// What these say, of what is said twice the first; the functions are asked for what they give.
    pub(crate) fn new(types: &'a [TypeMetadata], functions: &[FunctionFact]) -> Self {
        let mut said = HashMap::new();
        for ty in types {
            let name = (ty.interface.as_str(), ty.name.as_str());
            said.entry(name).or_insert_with(|| {
                let mut members = HashMap::new();
                for (member, text) in &ty.members {
                    members.entry(member.as_str()).or_insert(text.as_str());
                }
                let description = ty.description.as_str();
                SaidOfType {
                    description,
                    members,
                }
            });
        }
        Self {
            types: said,
            makers: makers(functions),
            given: Cell::new(0),
        }
    }

    /// Whether types are described by more words than a component may have; some are left out then.
    pub(crate) fn is_too_long(&self) -> bool {
        self.given.get() > WORDS_BYTES_MAX
    }

    fn of<'b>(&'b self, named: &'b NamedFact) -> Option<&'b SaidOfType<'b>> {
        let (interface, name) = named.name.as_ref()?;
        self.types.get(&(interface.as_str(), name.as_str()))
    }

    fn type_itself(&self, of_type: Option<&SaidOfType<'_>>, docs: &str) -> Option<String> {
        self.give(of_type.map(|said| said.description), docs)
    }

    fn member(&self, of_type: Option<&SaidOfType<'_>>, name: &str, docs: &str) -> Option<String> {
        self.give(
            of_type.and_then(|said| said.members.get(name).copied()),
            docs,
        )
    }

    /// A copy of the first of both that says anything, while there are not too many words.
    fn give(&self, said: Option<&str>, docs: &str) -> Option<String> {
        let text = said.filter(|text| !text.is_empty()).unwrap_or(docs);
        self.given.set(self.given.get().saturating_add(text.len()));
        (!text.is_empty() && !self.is_too_long()).then(|| text.to_owned())
    }
}

/// How many functions are named as those that give a handle.
const MAKERS_MAX: usize = 3;

fn makers(functions: &[FunctionFact]) -> HashMap<(String, String), Vec<String>> {
    let mut makers: HashMap<_, Vec<String>> = HashMap::new();
    for function in functions.iter().filter(|f| f.refused.is_none()) {
        let mut given = Vec::new();
        let mut see = |handle: &HandleFact| {
            given.push((handle.interface.clone(), handle.resource.clone()));
            false
        };
        if let Some(result) = &function.result {
            result.finds_handle(&mut see);
        }
        for key in given {
            let known = makers.entry(key).or_default();
            let name = shown_name(&function.name);
            if known.len() < MAKERS_MAX && !known.contains(&name) {
                known.push(name);
            }
        }
    }
    makers
}

/// A type of the core.
pub(crate) fn type_of(fact: &TypeFact, said: &Said<'_>) -> Type {
    let boxed = |fact: &TypeFact| Box::new(type_of(fact, said));
    match fact {
        TypeFact::Bool => Type::Bool,
        TypeFact::S8 => Type::Integer(IntegerKind::S8),
        TypeFact::U8 => Type::Integer(IntegerKind::U8),
        TypeFact::S16 => Type::Integer(IntegerKind::S16),
        TypeFact::U16 => Type::Integer(IntegerKind::U16),
        TypeFact::S32 => Type::Integer(IntegerKind::S32),
        TypeFact::U32 => Type::Integer(IntegerKind::U32),
        TypeFact::S64 => Type::Integer(IntegerKind::S64),
        TypeFact::U64 => Type::Integer(IntegerKind::U64),
        TypeFact::F32 => Type::Float32,
        TypeFact::F64 => Type::Float64,
        TypeFact::Char => Type::Char,
        TypeFact::String => Type::String,
        TypeFact::Bytes => Type::Bytes,
        TypeFact::Json => Type::Json,
        TypeFact::List(inner) => Type::List(boxed(inner)),
        TypeFact::FixedList(inner, length) => Type::FixedList(boxed(inner), *length),
        TypeFact::Map(key, value) => Type::Map(boxed(key), boxed(value)),
        TypeFact::Option(inner) => Type::Option(boxed(inner)),
        TypeFact::Tuple(items) => Type::Tuple(items.iter().map(|i| type_of(i, said)).collect()),
        TypeFact::Result(ok, err) => {
            Type::Result(ok.as_deref().map(boxed), err.as_deref().map(boxed))
        }
        TypeFact::Record(named) => Type::Record(Arc::new(record(named, said))),
        TypeFact::Enum(named) => Type::Enum(Arc::new(cases(named, said))),
        TypeFact::Flags(named) => Type::Flags(Arc::new(cases(named, said))),
        TypeFact::Variant(named) => Type::Variant(Arc::new(cases(named, said))),
        TypeFact::Handle(handle) => {
            let key = (handle.interface.clone(), handle.resource.clone());
            Type::Handle(Arc::new(HandleType {
                interface: handle.interface.clone(),
                resource: handle.resource.clone(),
                passing: match handle.passing {
                    Passage::Lent => HandlePassing::Lent,
                    Passage::GivenAway => HandlePassing::GivenAway,
                    Passage::Given => HandlePassing::Given,
                },
                makers: said.makers.get(&key).cloned().unwrap_or_default(),
            }))
        }
    }
}

fn record(named: &NamedFact, said: &Said<'_>) -> RecordType {
    let of_type = said.of(named);
    let fields = named.members.iter().map(|member| Field {
        description: said.member(of_type, &member.name, &member.docs),
        ..Field::new(
            shown_name(&member.name),
            member
                .ty
                .as_ref()
                .map_or(Type::Json, |ty| type_of(ty, said)),
        )
    });
    RecordType {
        name: named.name.as_ref().map(|(_, name)| shown_name(name)),
        description: said.type_itself(of_type, &named.docs),
        fields: fields.collect(),
    }
}

fn cases(named: &NamedFact, said: &Said<'_>) -> CasesType {
    let of_type = said.of(named);
    let cases = named.members.iter().map(|member| Case {
        name: shown_name(&member.name),
        description: said.member(of_type, &member.name, &member.docs),
        payload: member.ty.as_ref().map(|ty| type_of(ty, said)),
    });
    CasesType {
        name: named.name.as_ref().map(|(_, name)| shown_name(name)),
        description: said.type_itself(of_type, &named.docs),
        cases: cases.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_at_every_use_and_the_first_of_two_holds() {
        let metadata = |description: &str| TypeMetadata {
            interface: "i".to_owned(),
            name: "e".to_owned(),
            description: description.to_owned(),
            members: Vec::new(),
        };
        let metadata = [metadata(&"x".repeat(1_000)), metadata("second")];
        let said = Said::new(&metadata, &[]);
        let named = NamedFact {
            name: Some(("i".to_owned(), "e".to_owned())),
            docs: "docs".to_owned(),
            members: Vec::new(),
        };
        let uses = TypeFact::Tuple(vec![TypeFact::Enum(named); 4_000]);
        let describe = || match type_of(&uses, &said) {
            Type::Tuple(items) => items.into_iter().map(|item| match item {
                Type::Enum(cases) => cases.description.clone(),
                _ => None,
            }),
            _ => panic!("not a tuple"),
        };
        let first = "x".repeat(1_000);
        assert!(describe().all(|text| text.as_deref() == Some(first.as_str())));
        assert!(!said.is_too_long());
        // Nothing more is copied once there is too much; the component is refused then.
        assert_eq!(describe().last(), Some(None));
        assert!(said.is_too_long());
    }
}
