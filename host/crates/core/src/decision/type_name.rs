//! Types by name, as option files and schemas of other languages write them.
//!
//! Python's names (`str`, `int`, `float`, `bool`, `list`, `dict`), JSON's (`string`, `integer`,
//! `number`, `boolean`, `array`, `object`) and WIT's (`u32`, `list<string>`, `option<bool>`) mean
//! the same wherever a type is expected; brackets are `<>` or `[]`.

use crate::schema::{IntegerKind, Type};

/// How long a type name may be, in bytes.
const TYPE_NAME_BYTES_MAX: usize = 256;
/// How deep types stand in each other's brackets.
const TYPE_LEVELS_MAX: usize = 16;

/// Reads a type name.
///
/// The error is a sentence without the name.
pub(super) fn parse_type(text: &str) -> Result<Type, String> {
    if text.len() > TYPE_NAME_BYTES_MAX {
        return Err(format!(
            "a type name of more than {TYPE_NAME_BYTES_MAX} bytes"
        ));
    }
    let mut names = Names { rest: text.trim() };
    let ty = names.with_none(0)?;
    if names.rest.is_empty() {
        Ok(ty)
    } else {
        Err(unknown(text))
    }
}

fn unknown(name: &str) -> String {
    format!(
        "{} is not a type here; use the name of a Python, JSON or WIT type, such as `str`, \
         `integer` or `list<u32>`",
        crate::schema::quoted(name)
    )
}

struct Names<'a> {
    rest: &'a str,
}

impl<'a> Names<'a> {
    /// A type, perhaps followed by `| None`.
    fn with_none(&mut self, level: usize) -> Result<Type, String> {
        let ty = self.one(level)?;
        if !self.take("|") {
            return Ok(ty);
        }
        match self.name() {
            "None" => Ok(Type::Option(Box::new(ty))),
            other => Err(unknown(other)),
        }
    }

    fn one(&mut self, level: usize) -> Result<Type, String> {
        if level > TYPE_LEVELS_MAX {
            return Err(format!(
                "types inside each other more than {TYPE_LEVELS_MAX} times"
            ));
        }
        let before = self.rest;
        let name = self.name();
        let arguments = self.arguments(level)?;
        let given = &before[..before.len() - self.rest.len()];
        match arguments {
            None => simple(name).ok_or_else(|| unknown(given)),
            Some(arguments) => generic(name, arguments).ok_or_else(|| unknown(given)),
        }
    }

    fn arguments(&mut self, level: usize) -> Result<Option<Vec<Argument>>, String> {
        let close = if self.take("<") {
            ">"
        } else if self.take("[") {
            "]"
        } else {
            return Ok(None);
        };
        let mut arguments = Vec::new();
        loop {
            let digits = self.rest.len() - self.rest.trim_start_matches(char::is_numeric).len();
            if digits > 0 {
                let (number, rest) = self.rest.split_at(digits);
                arguments.push(Argument::Length(
                    number.parse().map_err(|_| unknown(number))?,
                ));
                self.rest = rest.trim_start();
            } else if self.take("_") {
                arguments.push(Argument::Nothing);
            } else {
                arguments.push(Argument::Type(self.with_none(level + 1)?));
            }
            if self.take(close) {
                return Ok(Some(arguments));
            }
            if !self.take(",") {
                return Err(unknown(self.rest));
            }
        }
    }

    fn name(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        name
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }
}

enum Argument {
    Type(Type),
    Length(u32),
    /// `_`, the absent side of a result.
    Nothing,
}

fn simple(name: &str) -> Option<Type> {
    Some(match name {
        "str" | "string" => Type::String,
        "int" | "integer" => Type::Integer(IntegerKind::Any),
        "float" | "number" | "f64" | "float64" => Type::Float64,
        "f32" | "float32" => Type::Float32,
        "bool" | "boolean" => Type::Bool,
        "list" | "array" => Type::AnyArray,
        "dict" | "object" => Type::AnyObject,
        "json" | "any" | "Any" => Type::Json,
        "char" => Type::Char,
        "bytes" => Type::Bytes,
        "s8" => Type::Integer(IntegerKind::S8),
        "u8" => Type::Integer(IntegerKind::U8),
        "s16" => Type::Integer(IntegerKind::S16),
        "u16" => Type::Integer(IntegerKind::U16),
        "s32" => Type::Integer(IntegerKind::S32),
        "u32" => Type::Integer(IntegerKind::U32),
        "s64" => Type::Integer(IntegerKind::S64),
        "u64" => Type::Integer(IntegerKind::U64),
        "result" => Type::Result(None, None),
        _ => return None,
    })
}

fn generic(name: &str, arguments: Vec<Argument>) -> Option<Type> {
    let mut arguments = arguments.into_iter();
    let (first, second, more) = (arguments.next(), arguments.next(), arguments.len() > 0);
    Some(match (name, first, second, more) {
        ("list" | "array" | "List", Some(Argument::Type(item)), None, _) => {
            if item == Type::Integer(IntegerKind::U8) {
                Type::Bytes
            } else {
                Type::List(Box::new(item))
            }
        }
        ("list", Some(Argument::Type(item)), Some(Argument::Length(length)), false) => {
            Type::FixedList(Box::new(item), length)
        }
        ("option" | "Optional", Some(Argument::Type(inner)), None, _) => {
            Type::Option(Box::new(inner))
        }
        (
            "map" | "dict" | "Dict",
            Some(Argument::Type(key)),
            Some(Argument::Type(value)),
            false,
        ) => Type::Map(Box::new(key), Box::new(value)),
        ("result", Some(ok), None, _) => Type::Result(side(ok)?, None),
        ("result", Some(ok), Some(err), false) => Type::Result(side(ok)?, side(err)?),
        ("tuple" | "Tuple", Some(first), second, _) => {
            let types = [Some(first), second].into_iter().flatten().chain(arguments);
            let types = types.map(|argument| match argument {
                Argument::Type(ty) => Some(ty),
                Argument::Length(_) | Argument::Nothing => None,
            });
            Type::Tuple(types.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// One side of a result; `None` when it is no type at all.
fn side(argument: Argument) -> Option<Option<Box<Type>>> {
    match argument {
        Argument::Type(ty) => Some(Some(Box::new(ty))),
        Argument::Nothing => Some(None),
        Argument::Length(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(ty: Type) -> Box<Type> {
        Box::new(ty)
    }

    #[test]
    fn one_type_has_the_names_of_three_languages() {
        let int = Type::Integer(IntegerKind::Any);
        for (names, expected) in [
            (&["str", "string", " string "][..], Type::String),
            (&["int", "integer"], int.clone()),
            (&["float", "number", "f64"], Type::Float64),
            (&["list", "array"], Type::AnyArray),
            (&["dict", "object"], Type::AnyObject),
            (
                &["list<int>", "list[int]", "array<integer>"],
                Type::List(boxed(int.clone())),
            ),
            (&["list<u8>", "bytes"], Type::Bytes),
            (&["list<bool, 3>"], Type::FixedList(boxed(Type::Bool), 3)),
            (
                &["option<bool>", "Optional[bool]", "bool | None"],
                Type::Option(boxed(Type::Bool)),
            ),
            (
                &["map<string, int>", "dict[str,int]"],
                Type::Map(boxed(Type::String), boxed(int)),
            ),
            (
                &["tuple<bool, char>"],
                Type::Tuple(vec![Type::Bool, Type::Char]),
            ),
            (
                &["result<_, string>"],
                Type::Result(None, Some(boxed(Type::String))),
            ),
            (
                &["list<option<list<f32>>>"],
                Type::List(boxed(Type::Option(boxed(Type::List(boxed(Type::Float32)))))),
            ),
        ] {
            for name in names {
                assert_eq!(parse_type(name), Ok(expected.clone()), "{name}");
            }
        }
    }

    #[test]
    fn other_names_are_refused() {
        let deep = "list<".repeat(40);
        for name in [
            "",
            "tuple",
            "set",
            "NoneType",
            "Union[int,str]",
            "Literal['a']",
            "int str",
            "list<",
            "list<>",
            "list<3>",
            "u8 | str",
            "list<int]",
            "option<_>",
            "日本",
            &deep,
            &"x".repeat(300),
        ] {
            assert!(parse_type(name).is_err(), "{name}");
        }
    }
}
