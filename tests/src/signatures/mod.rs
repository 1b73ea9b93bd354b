//! Functions of random types that give back what they get, as real components, without a compiler.
//!
//! Arguments of more than sixteen core values are handed over in memory, and results of more than one
//! too, both in the layout of one tuple. So a function that takes some values and sixteen numbers
//! more, and gives all of them back as a tuple, is the identity on an address, whatever the types.

mod loose;
mod plain;
mod second;
mod types;
mod values;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use openprogram_core::Json;
use openprogram_core::schema::{Field, IntegerKind, Type};

use crate::fuzz::Random;
use crate::guests::assemble;

pub use loose::{Loosener, up_to_quotes};
pub use plain::{plain_type, plain_value, same};
pub use second::{Asked, AskedCall, AskedComponent, AskedSchema, ask_second};
pub use types::TypeMaker;
pub use values::ValueMaker;

/// The interface of the functions.
pub const INTERFACE: &str = "test:signatures/guest";
/// The parameter that makes the others go through memory.
pub const PAD: &str = "pad";
/// How many numbers it has: with one more value there are more than are handed over otherwise.
const PAD_NUMBERS: usize = 16;

/// The parameters of one function, without the last one.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Names as models see them, and types.
    pub parameters: Vec<Field>,
}

impl Signature {
    /// A signature of one to four parameters; named types are counted on from `next`.
    #[must_use]
    pub fn random(random: &mut Random, next: &mut usize) -> Self {
        let mut maker = TypeMaker::new(random, next);
        let names = maker.names(4);
        let parameters = names.into_iter().map(|name| Field::new(name, maker.ty()));
        Self {
            parameters: parameters.collect(),
        }
    }

    /// The same with types that every implementation has.
    #[must_use]
    pub fn plain(&self) -> Self {
        let parameters = self.parameters.iter();
        let parameters =
            parameters.map(|field| Field::new(field.name.clone(), plain_type(&field.ty)));
        Self {
            parameters: parameters.collect(),
        }
    }

    /// A value for each parameter, in canonical form.
    #[must_use]
    pub fn values(&self, random: &mut Random, finite: bool) -> Vec<Json> {
        let mut maker = ValueMaker::new(random, finite);
        let parameters = self.parameters.iter();
        parameters.map(|field| maker.value(&field.ty)).collect()
    }
}

/// Numbers for the last parameter.
#[must_use]
pub fn pad(random: &mut Random) -> Json {
    let ty = Type::Integer(IntegerKind::U64);
    let mut maker = ValueMaker::new(random, true);
    (0..PAD_NUMBERS).map(|_| maker.value(&ty)).collect()
}

/// The functions of one signature in a component, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// Takes and gives the types as they are.
    Same,
    /// Takes them as they are and gives the plain ones.
    ToPlain,
}

impl Echo {
    const ALL: [Self; 2] = [Self::Same, Self::ToPlain];

    /// The name of the function.
    #[must_use]
    pub fn name(self, number: usize) -> String {
        let word = match self {
            Self::Same => "same",
            Self::ToPlain => "to-plain",
        };
        format!("{word}-f{number}")
    }
}

/// A component with both functions of each signature.
///
/// # Errors
/// When the types make no component.
pub fn component(signatures: &[Signature]) -> Result<Vec<u8>> {
    component_with(signatures, &Echo::ALL)
}

/// A component with some functions of each signature.
///
/// # Errors
/// When the types make no component.
pub fn component_with(signatures: &[Signature], echoes: &[Echo]) -> Result<Vec<u8>> {
    let mut declarations = Declarations::default();
    let mut functions = String::new();
    let mut exports = String::new();
    for (number, signature) in signatures.iter().enumerate() {
        let plain = signature.plain();
        for echo in echoes.iter().copied() {
            let (takes, gives) = match echo {
                Echo::Same => (signature, signature),
                Echo::ToPlain => (signature, &plain),
            };
            let name = echo.name(number);
            let mut parameters = String::new();
            let mut results = String::new();
            for field in &takes.parameters {
                let ty = declarations.name_of(&field.ty);
                // Writing to a string cannot fail; the same holds below.
                let _ = write!(parameters, "%{}: {ty}, ", wit_name(&field.name));
            }
            for field in &gives.parameters {
                results.push_str(&declarations.name_of(&field.ty));
                results.push_str(", ");
            }
            let _ = writeln!(
                functions,
                "    {name}: func({parameters}{PAD}: padding) -> tuple<{results}padding>;"
            );
            let _ = writeln!(
                exports,
                "(func (export \"{INTERFACE}#{name}\") (param i32) (result i32) (local.get 0))"
            );
        }
    }
    let numbers = vec!["u64"; PAD_NUMBERS].join(", ");
    let wit = format!(
        "package test:signatures;\n\ninterface guest {{\n    \
         use openprogram:agentic/types@0.1.0.{{json}};\n    type padding = tuple<{numbers}>;\n\
         {}{functions}}}\n\nworld component {{\n    export guest;\n}}\n",
        declarations.text
    );
    assemble(&wit, &MODULE.replace("EXPORTS", &exports))
}

/// Memory that is only ever added to, on the alignment that is asked for.
const MODULE: &str = r#"(module
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 1024))
    (func (export "cabi_realloc") (param $old i32) (param $old-size i32) (param $align i32)
        (param $size i32) (result i32) (local $at i32)
        (local.set $at (i32.and
            (i32.add (global.get $next) (i32.sub (local.get $align) (i32.const 1)))
            (i32.sub (i32.const 0) (local.get $align))))
        (global.set $next (i32.add (local.get $at) (local.get $size)))
        (block $fits
            (br_if $fits (i32.le_u (global.get $next)
                (i32.mul (memory.size) (i32.const 65536))))
            (br_if $fits (i32.ne (i32.const -1) (memory.grow (i32.add (i32.const 1)
                (i32.div_u (local.get $size) (i32.const 65536))))))
            unreachable)
        (memory.copy (local.get $at) (local.get $old) (local.get $old-size))
        (local.get $at))
    EXPORTS)"#;

/// A shown name as WIT writes it.
fn wit_name(shown: &str) -> String {
    shown.replace('_', "-")
}

/// The named types of an interface, each declared once and before it is used.
#[derive(Default)]
pub(crate) struct Declarations {
    text: String,
    known: BTreeSet<String>,
}

impl Declarations {
    /// The declarations of all types that were written so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How a type is written where it is used.
    pub(crate) fn name_of(&mut self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Integer(kind) => format!("{kind:?}").to_lowercase(),
            Type::Float32 => "f32".to_owned(),
            Type::Float64 => "f64".to_owned(),
            Type::Char => "char".to_owned(),
            Type::Bytes => "list<u8>".to_owned(),
            Type::Json => "json".to_owned(),
            Type::List(inner) => format!("list<{}>", self.name_of(inner)),
            Type::FixedList(inner, length) => format!("list<{}, {length}>", self.name_of(inner)),
            Type::Map(key, value) => {
                format!("map<{}, {}>", self.name_of(key), self.name_of(value))
            }
            Type::Option(inner) => format!("option<{}>", self.name_of(inner)),
            Type::Tuple(types) => {
                let names: Vec<_> = types.iter().map(|ty| self.name_of(ty)).collect();
                format!("tuple<{}>", names.join(", "))
            }
            Type::Result(ok, err) => {
                let ok = ok.as_ref().map(|ty| self.name_of(ty));
                let err = err.as_ref().map(|ty| self.name_of(ty));
                match (ok, err) {
                    (None, None) => "result".to_owned(),
                    (Some(ok), None) => format!("result<{ok}>"),
                    (ok, Some(err)) => format!("result<{}, {err}>", ok.as_deref().unwrap_or("_")),
                }
            }
            Type::Record(record) => {
                let fields = record.fields.iter().map(|f| (f.name.as_str(), Some(&f.ty)));
                self.declare("record", record.name.as_ref(), fields)
            }
            Type::Enum(cases) | Type::Flags(cases) | Type::Variant(cases) => {
                let word = match ty {
                    Type::Enum(_) => "enum",
                    Type::Flags(_) => "flags",
                    _ => "variant",
                };
                let members = cases.cases.iter();
                let members = members.map(|case| (case.name.as_str(), case.payload.as_ref()));
                self.declare(word, cases.name.as_ref(), members)
            }
            // What option files have and WIT does not is not made, and nothing that lives on.
            Type::String | Type::AnyArray | Type::AnyObject | Type::Handle(_) => {
                "string".to_owned()
            }
        }
    }

    fn declare<'t>(
        &mut self,
        word: &str,
        name: Option<&String>,
        members: impl Iterator<Item = (&'t str, Option<&'t Type>)>,
    ) -> String {
        let name = name.cloned().unwrap_or_default();
        if self.known.insert(name.clone()) {
            let mut text = format!("    {word} {name} {{ ");
            for (member, ty) in members {
                let member = wit_name(member);
                let _ = match ty {
                    Some(ty) if word == "record" => {
                        write!(text, "%{member}: {}, ", self.name_of(ty))
                    }
                    Some(ty) => write!(text, "%{member}({}), ", self.name_of(ty)),
                    None => write!(text, "%{member}, "),
                };
            }
            text.push_str("}\n");
            self.text.push_str(&text);
        }
        name
    }
}
