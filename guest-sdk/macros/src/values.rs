//! Checks written values against types: whether a default or an allowed value can be one at all.
//!
//! The rules are those of values from JSON. Names of fields and cases are written out in snake
//! case, as callers see them, whichever way the author wrote them.

use crate::errors::Errors;
use crate::literal::{Entry, Literal, LiteralValue};
use crate::model::{Member, NamedType, Primitive, Shape, Type};
use crate::names;

/// Reports where `literal` cannot be a value of type `ty`; gives it with names as callers see them.
pub(crate) fn fit(
    literal: &Literal,
    ty: &Type,
    types: &[NamedType],
    errors: &mut Errors,
) -> Literal {
    Check { types, errors }.value(literal, ty)
}

struct Check<'a> {
    types: &'a [NamedType],
    errors: &'a mut Errors,
}

impl Check<'_> {
    fn value(&mut self, literal: &Literal, ty: &Type) -> Literal {
        use LiteralValue as V;
        let value = match (ty, &literal.value) {
            (Type::Json, _) => return literal.clone(),
            (Type::Primitive(primitive), value) => {
                self.primitive(literal, *primitive, value);
                return literal.clone();
            }
            (Type::Text, V::Text(_)) | (Type::Option(_), V::Null) => return literal.clone(),
            (Type::Option(inner), _) => return self.value(literal, inner),
            // Bytes are also written as base64 text.
            (Type::List(item), V::Text(_)) if **item == Type::Primitive(Primitive::U8) => {
                return literal.clone();
            }
            (Type::List(item), V::List(items)) => V::List(
                items
                    .iter()
                    .map(|literal| self.value(literal, item))
                    .collect(),
            ),
            (Type::Tuple(types), V::List(items)) if types.len() == items.len() => V::List(
                items
                    .iter()
                    .zip(types)
                    .map(|(item, ty)| self.value(item, ty))
                    .collect(),
            ),
            (Type::Map(ty), V::Object(entries)) => V::Object(
                entries
                    .iter()
                    .map(|entry| self.entry(entry, &entry.key, ty))
                    .collect(),
            ),
            (Type::Result(ok, err), V::Object(entries)) => match entries.as_slice() {
                [entry] if entry.key == "ok" => V::Object(vec![self.entry(entry, "ok", ok)]),
                [entry] if entry.key == "err" => V::Object(vec![self.entry(entry, "err", err)]),
                _ => return self.mismatch(literal, ty),
            },
            // A side of a result that has no value.
            (Type::Unit, V::Null) => return literal.clone(),
            (Type::Named(ident), value) => {
                let types = self.types;
                let Some(named) = types.iter().find(|named| named.ident == *ident) else {
                    // The type itself was refused.
                    return literal.clone();
                };
                match (&named.shape, value) {
                    (Shape::Record(fields), V::Object(entries)) => {
                        self.record(literal, named, fields, entries)
                    }
                    (Shape::Cases(cases), _) => return self.case(literal, named, cases),
                    _ => return self.mismatch(literal, ty),
                }
            }
            _ => return self.mismatch(literal, ty),
        };
        Literal {
            span: literal.span,
            value,
        }
    }

    fn entry(&mut self, entry: &Entry, key: &str, ty: &Type) -> Entry {
        Entry {
            key: key.to_owned(),
            span: entry.span,
            value: self.value(&entry.value, ty),
        }
    }

    fn primitive(&mut self, literal: &Literal, primitive: Primitive, value: &LiteralValue) {
        let name = primitive.rust_name();
        match (primitive, value) {
            (Primitive::Bool, LiteralValue::Bool(_))
            | (Primitive::F32 | Primitive::F64, LiteralValue::Integer(_)) => {}
            (Primitive::F32 | Primitive::F64, LiteralValue::Float(digits)) => {
                let largest = if primitive == Primitive::F32 {
                    f32::MAX.into()
                } else {
                    f64::MAX
                };
                if !digits
                    .parse::<f64>()
                    .is_ok_and(|number| number.abs() <= largest)
                {
                    self.errors
                        .at(literal.span, format!("{digits} is too large for `{name}`"));
                }
            }
            (Primitive::Char, LiteralValue::Text(text)) => {
                if text.chars().count() != 1 {
                    self.errors.at(
                        literal.span,
                        format!("`{text:?}` is not exactly one character"),
                    );
                }
            }
            (_, LiteralValue::Integer(number)) if primitive.range().is_some() => {
                let (least, most) = primitive.range().unwrap_or_default();
                if !(least..=most).contains(number) {
                    let message =
                        format!("{number} is no `{name}`, which is from {least} to {most}");
                    self.errors.at(literal.span, message);
                }
            }
            _ => {
                self.mismatch(literal, &Type::Primitive(primitive));
            }
        }
    }

    fn record(
        &mut self,
        literal: &Literal,
        named: &NamedType,
        fields: &[Member],
        entries: &[Entry],
    ) -> LiteralValue {
        let mut checked = Vec::new();
        for entry in entries {
            match fields
                .iter()
                .find(|field| same_name(&field.name, &entry.key))
            {
                Some(Member {
                    name, ty: Some(ty), ..
                }) => {
                    checked.push(self.entry(entry, &names::shown(name), ty));
                }
                _ => self.unknown(entry.span, &entry.key, "field", named, fields),
            }
        }
        for field in fields {
            let optional = matches!(field.ty, Some(Type::Option(_)));
            if !optional
                && !entries
                    .iter()
                    .any(|entry| same_name(&field.name, &entry.key))
            {
                let message = format!(
                    "the field `{}` of `{}` is missing",
                    field.ident, named.ident
                );
                self.errors.at(literal.span, message);
            }
        }
        LiteralValue::Object(checked)
    }

    fn case(&mut self, literal: &Literal, named: &NamedType, cases: &[Member]) -> Literal {
        let (span, name, payload) = match &literal.value {
            LiteralValue::Text(name) => (literal.span, name, None),
            LiteralValue::Object(entries) => match entries.as_slice() {
                [entry] => (entry.span, &entry.key, Some(entry)),
                _ => return self.mismatch(literal, &Type::Named(named.ident.clone())),
            },
            _ => return self.mismatch(literal, &Type::Named(named.ident.clone())),
        };
        let Some(case) = cases.iter().find(|case| same_name(&case.name, name)) else {
            self.unknown(span, name, "case", named, cases);
            return literal.clone();
        };
        let shown = names::shown(&case.name);
        let value = match (payload, &case.ty) {
            (None, None) => LiteralValue::Text(shown),
            (Some(entry), Some(ty)) => LiteralValue::Object(vec![self.entry(entry, &shown, ty)]),
            (None, Some(_)) => {
                let message = format!("the case `{shown}` has a value; write `{{\"{shown}\": …}}`");
                self.errors.at(span, message);
                return literal.clone();
            }
            (Some(_), None) => {
                let message = format!("the case `{shown}` has no value; write `\"{shown}\"`");
                self.errors.at(span, message);
                return literal.clone();
            }
        };
        Literal {
            span: literal.span,
            value,
        }
    }

    fn unknown(
        &mut self,
        span: proc_macro2::Span,
        name: &str,
        what: &str,
        named: &NamedType,
        members: &[Member],
    ) {
        let known: Vec<String> = members
            .iter()
            .map(|member| format!("`{}`", names::shown(&member.name)))
            .collect();
        self.errors.at(
            span,
            format!(
                "`{}` has no {what} `{name}`; it has {}",
                named.ident,
                known.join(", ")
            ),
        );
    }

    fn mismatch(&mut self, literal: &Literal, ty: &Type) -> Literal {
        let message = format!("expected {}, found {}", describe(ty), literal.value.kind());
        self.errors.at(literal.span, message);
        literal.clone()
    }
}

/// Whether a written name means this WIT name; `-` and `_` are equal.
fn same_name(wit_name: &str, written: &str) -> bool {
    wit_name == written.replace('_', "-")
}

/// What a value of this type looks like, for messages.
fn describe(ty: &Type) -> String {
    match ty {
        Type::Unit => "`null`".to_owned(),
        Type::Primitive(Primitive::Char) => "one character (`char`)".to_owned(),
        Type::Primitive(primitive) => format!("a value of type `{}`", primitive.rust_name()),
        Type::Text => "a text".to_owned(),
        Type::Json => "a JSON value".to_owned(),
        Type::Failure => "nothing, as a failure is never given".to_owned(),
        Type::List(_) => "a list".to_owned(),
        Type::Option(inner) => format!("{} or `null`", describe(inner)),
        Type::Result(..) => "`{\"ok\": …}` or `{\"err\": …}`".to_owned(),
        Type::Tuple(items) => format!("a list of exactly {} values", items.len()),
        Type::Map(_) => "an object".to_owned(),
        Type::Named(ident) => format!("a value of type `{ident}`"),
    }
}

#[cfg(test)]
mod tests {
    use crate::read;

    /// Reads a parameter of a type with a default, and gives the default as it is told to callers.
    fn told(ty: &str, default: &str) -> Result<String, Vec<String>> {
        let source = format!(
            "mod tools {{
                pub fn run(#[param(default = {default})] value: {ty}) {{}}
                struct Size {{ width: u32, max_depth: Option<u32>, r#type: Kind }}
                enum Kind {{ Small, VeryLarge }}
                enum Shape {{ Point, Sized(Size), Both((Kind, u8)) }}
            }}"
        );
        let (_, model, errors) = read::from_source(&source);
        match errors.messages() {
            messages if messages.is_empty() => {
                let attributes = &model.functions[0].parameters[0].attributes;
                Ok(attributes
                    .iter()
                    .map(|attribute| attribute.value.clone())
                    .collect())
            }
            messages => Err(messages),
        }
    }

    #[test]
    fn values_that_fit_are_told_as_json_with_names_as_callers_see_them() {
        let cases = [
            ("bool", "false", "false"),
            ("u64", "0xffff_ffff_ffff_ffff", "18446744073709551615"),
            ("i64", "-9223372036854775808", "-9223372036854775808"),
            ("f64", "3", "3"),
            ("f64", "-1.", "-1.0"),
            ("f32", "1.5e3", "1.5e3"),
            ("char", "'\\''", r#""'""#),
            ("String", r##"r#"a "b" \"#"##, r#""a \"b\" \\""#),
            ("&str", r#""tab\t\u{7}""#, r#""tab\t\u0007""#),
            ("Vec<u8>", r#""AAEC""#, r#""AAEC""#),
            ("Vec<u8>", "[0, 255]", "[0,255]"),
            (
                "Vec<Kind>",
                r#"["small", "very-large", "very_large"]"#,
                r#"["small","very_large","very_large"]"#,
            ),
            ("Option<Kind>", "null", "null"),
            ("Option<Option<u8>>", "7", "7"),
            ("(Kind, u8)", r#"["small", 1]"#, r#"["small",1]"#),
            (
                "Size",
                r#"{width: 1, type: "small"}"#,
                r#"{"width":1,"type":"small"}"#,
            ),
            (
                "Size",
                r#"{"max-depth": 2, "width": 1, "type": "small"}"#,
                r#"{"max_depth":2,"width":1,"type":"small"}"#,
            ),
            ("Shape", r#""point""#, r#""point""#),
            (
                "Shape",
                r#"{"both": ["very-large", 2]}"#,
                r#"{"both":["very_large",2]}"#,
            ),
            ("Result<u8, ()>", r#"{"err": null}"#, r#"{"err":null}"#),
            (
                "BTreeMap<String, u8>",
                r#"{"Any Key": 1}"#,
                r#"{"Any Key":1}"#,
            ),
            (
                "Json",
                r#"{"very-large": [1, null, {}]}"#,
                r#"{"very-large":[1,null,{}]}"#,
            ),
        ];
        for (ty, default, expected) in cases {
            assert_eq!(told(ty, default).as_deref(), Ok(expected), "{ty} {default}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_refused_where_they_stand() {
        let cases: [(&str, &str, &[&str]); 4] = [
            ("u8", "-1", &["-1 is no `u8`, which is from 0 to 255"]),
            (
                "i8",
                "3.0",
                &["expected a value of type `i8`, found a number with a fraction"],
            ),
            (
                "Vec<Kind>",
                r#"["Small", 1]"#,
                &[
                    "`Kind` has no case `Small`; it has `small`, `very_large`",
                    "expected a value of type `Kind`, found an integer",
                ],
            ),
            (
                "Shape",
                r#"{"sized": {"width": "1"}}"#,
                &[
                    "expected a value of type `u32`, found a text",
                    "the field `r#type` of `Size` is missing",
                ],
            ),
        ];
        for (ty, default, expected) in cases {
            let messages = told(ty, default).unwrap_err();
            assert_eq!(messages, expected, "{ty} {default}");
        }
    }
}
