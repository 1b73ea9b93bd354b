//! The types of a component as the core has them, with what the metadata says of named ones.

use std::sync::Arc;

use openprogram_core::schema::{Case, CasesType, Field, IntegerKind, RecordType, Type, shown_name};

use crate::facts::{NamedFact, TypeFact, TypeMetadata};

/// A type of the core.
pub(crate) fn type_of(fact: &TypeFact, types: &[TypeMetadata]) -> Type {
    let boxed = |fact: &TypeFact| Box::new(type_of(fact, types));
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
        TypeFact::Tuple(items) => Type::Tuple(items.iter().map(|i| type_of(i, types)).collect()),
        TypeFact::Result(ok, err) => {
            Type::Result(ok.as_deref().map(boxed), err.as_deref().map(boxed))
        }
        TypeFact::Record(named) => Type::Record(Arc::new(record(named, types))),
        TypeFact::Enum(named) => Type::Enum(Arc::new(cases(named, types))),
        TypeFact::Flags(named) => Type::Flags(Arc::new(cases(named, types))),
        TypeFact::Variant(named) => Type::Variant(Arc::new(cases(named, types))),
    }
}

fn record(named: &NamedFact, types: &[TypeMetadata]) -> RecordType {
    let said = said_of(named, types);
    let fields = named.members.iter().map(|member| Field {
        description: member_description(&member.name, &member.docs, said),
        ..Field::new(
            shown_name(&member.name),
            member
                .ty
                .as_ref()
                .map_or(Type::Json, |ty| type_of(ty, types)),
        )
    });
    RecordType {
        name: named.name.as_ref().map(|(_, name)| shown_name(name)),
        description: type_description(named, said),
        fields: fields.collect(),
    }
}

fn cases(named: &NamedFact, types: &[TypeMetadata]) -> CasesType {
    let said = said_of(named, types);
    let cases = named.members.iter().map(|member| Case {
        name: shown_name(&member.name),
        description: member_description(&member.name, &member.docs, said),
        payload: member.ty.as_ref().map(|ty| type_of(ty, types)),
    });
    CasesType {
        name: named.name.as_ref().map(|(_, name)| shown_name(name)),
        description: type_description(named, said),
        cases: cases.collect(),
    }
}

fn said_of<'a>(named: &NamedFact, types: &'a [TypeMetadata]) -> Option<&'a TypeMetadata> {
    let (interface, name) = named.name.as_ref()?;
    types
        .iter()
        .find(|ty| ty.interface == *interface && ty.name == *name)
}

fn type_description(named: &NamedFact, said: Option<&TypeMetadata>) -> Option<String> {
    let said = said.map(|ty| ty.description.as_str());
    first_text([said, Some(named.docs.as_str())])
}

fn member_description(name: &str, docs: &str, said: Option<&TypeMetadata>) -> Option<String> {
    let said = said.and_then(|ty| ty.members.iter().find(|(member, _)| member == name));
    first_text([said.map(|(_, text)| text.as_str()), Some(docs)])
}

fn first_text(texts: [Option<&str>; 2]) -> Option<String> {
    let mut texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
    texts.next().map(ToOwned::to_owned)
}
