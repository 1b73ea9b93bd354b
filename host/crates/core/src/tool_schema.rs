//! What every provider takes of the schema of one tool. What is more is a reason not to offer the one
//! function, told when its component is loaded, and never an error of a session.

use crate::Json;
use crate::function::{Function, Parameter, parameters_to_json_schema};
use crate::schema::{CasesType, Field, Type};

/// The longest schema of the parameters of one function, as JSON text. Each request repeats it.
pub const TOOL_SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// How many arrays and objects of a schema may be inside each other: readers of JSON that are widely
/// used stop at 127, and a request has some around it.
pub const TOOL_SCHEMA_DEPTH_MAX: usize = 100;
/// The longest name of a property, by the strictest provider.
pub const PROPERTY_CHARS_MAX: usize = 64;

/// The most bytes of a schema that one part of a type makes, without its names and words.
const PART_BYTES: usize = 160;
/// The most levels of a schema that one level of a type makes.
const PART_LEVELS: usize = 4;

/// Checks that a model can be offered a function whatever its provider.
///
/// # Errors
/// The reason, as the end of a sentence about the function.
pub fn check_tool_schema(function: &Function) -> Result<(), String> {
    let mut size = Size::default();
    for parameter in function.visible_parameters() {
        size.parameter(parameter)
            .map_err(|name| long_name(parameter, name))?;
    }
    // Making the schema of each function of each component would be felt in every list of them.
    if size.surely_fits() {
        return Ok(());
    }
    let schema = parameters_to_json_schema(function.visible_parameters());
    let depth = depth_of(&schema);
    if depth > TOOL_SCHEMA_DEPTH_MAX {
        return Err(format!(
            "its parameters make a schema of {depth} levels, and models are offered at most \
             {TOOL_SCHEMA_DEPTH_MAX}; use flatter types"
        ));
    }
    let bytes = schema.to_string().len();
    if bytes > TOOL_SCHEMA_BYTES_MAX {
        return Err(format!(
            "its parameters make a schema of {bytes} bytes, and models are offered at most \
             {TOOL_SCHEMA_BYTES_MAX}; split it into several functions, or say less in descriptions"
        ));
    }
    Ok(())
}

fn long_name(parameter: &Parameter, name: &str) -> String {
    let head: String = name.chars().take(PROPERTY_CHARS_MAX).collect();
    let what = match parameter.field.name == name {
        true => "is named".to_owned(),
        false => {
            let owner: String = parameter
                .field
                .name
                .chars()
                .take(PROPERTY_CHARS_MAX)
                .collect();
            format!("`{owner}` holds")
        }
    };
    format!(
        "its parameter {what} `{head}…`, and names of models have at most {PROPERTY_CHARS_MAX} \
         characters; shorten it"
    )
}

/// What a schema cannot be more than.
#[derive(Default)]
struct Size {
    bytes: usize,
    depth: usize,
}

impl Size {
    fn surely_fits(&self) -> bool {
        self.bytes <= TOOL_SCHEMA_BYTES_MAX
            && self.depth.saturating_mul(PART_LEVELS) < TOOL_SCHEMA_DEPTH_MAX
    }

    /// Counts a parameter in.
    ///
    /// # Errors
    /// The first name of a property that is too long.
    fn parameter<'t>(&mut self, parameter: &'t Parameter) -> Result<(), &'t str> {
        if !parameter.field.options.is_empty() {
            // Any values: their text is measured.
            self.bytes = TOOL_SCHEMA_BYTES_MAX + 1;
        }
        self.words(parameter.placeholder.as_ref());
        self.field(&parameter.field, 1)
    }

    /// Words, each character of which may be escaped.
    fn words(&mut self, text: Option<&String>) {
        let bytes = text.map_or(0, String::len).saturating_mul(6);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn property<'t>(&mut self, name: &'t str) -> Result<(), &'t str> {
        // Once as a name and once among the required ones.
        self.bytes = self.bytes.saturating_add(2 * name.len());
        match name.len() > PROPERTY_CHARS_MAX {
            true => Err(name),
            false => Ok(()),
        }
    }

    fn field<'t>(&mut self, field: &'t Field, depth: usize) -> Result<(), &'t str> {
        self.words(field.description.as_ref());
        self.property(&field.name)?;
        self.ty(&field.ty, depth)
    }

    fn ty<'t>(&mut self, ty: &'t Type, depth: usize) -> Result<(), &'t str> {
        self.bytes = self.bytes.saturating_add(PART_BYTES);
        self.depth = self.depth.max(depth);
        let next = depth + 1;
        match ty {
            Type::List(inner) | Type::FixedList(inner, _) | Type::Option(inner) => {
                self.ty(inner, next)
            }
            Type::Map(key, value) => {
                self.ty(key, next)?;
                self.ty(value, next)
            }
            Type::Tuple(types) => types.iter().try_for_each(|ty| self.ty(ty, next)),
            Type::Result(ok, err) => {
                let mut sides = ok.iter().chain(err);
                sides.try_for_each(|ty| self.ty(ty, next))
            }
            Type::Record(record) => {
                self.words(record.description.as_ref());
                let mut fields = record.fields.iter();
                fields.try_for_each(|field| self.field(field, next))
            }
            Type::Enum(cases) | Type::Flags(cases) | Type::Variant(cases) => {
                self.cases(cases, next)
            }
            Type::Handle(handle) => {
                self.words(Some(&handle.text()));
                Ok(())
            }
            Type::Bool
            | Type::Integer(_)
            | Type::Float32
            | Type::Float64
            | Type::Char
            | Type::String
            | Type::Bytes
            | Type::Json
            | Type::AnyArray
            | Type::AnyObject => Ok(()),
        }
    }

    fn cases<'t>(&mut self, cases: &'t CasesType, depth: usize) -> Result<(), &'t str> {
        self.words(cases.description.as_ref());
        for case in &cases.cases {
            // As a value, and once more before what is said of it.
            self.bytes = self.bytes.saturating_add(2 * case.name.len() + 16);
            self.words(case.description.as_ref());
            if let Some(payload) = &case.payload {
                self.property(&case.name)?;
                self.ty(payload, depth)?;
                self.bytes = self.bytes.saturating_add(PART_BYTES);
            }
        }
        Ok(())
    }
}

fn depth_of(schema: &Json) -> usize {
    let below = match schema {
        Json::Array(items) => items.iter().map(depth_of).max(),
        Json::Object(members) => members.values().map(depth_of).max(),
        _ => return 0,
    };
    below.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::function::{FunctionName, ParameterSource};
    use crate::schema::{Case, IntegerKind, RecordType};

    fn taking(parameters: Vec<Parameter>) -> Function {
        let mut function = Function::new(FunctionName::new("c", None, "f"));
        function.parameters = parameters;
        function
    }

    fn record(fields: Vec<Field>) -> Type {
        Type::Record(Arc::new(RecordType {
            name: None,
            description: None,
            fields,
        }))
    }

    #[track_caller]
    fn check(parameter: Parameter, expected: &str) {
        let told = check_tool_schema(&taking(vec![parameter]));
        assert_eq!(told.err().unwrap_or_default(), expected);
    }

    #[test]
    fn what_no_provider_minds_is_offered() {
        let fields = (0..300).map(|n| Field::new(format!("m{n}"), Type::Integer(IntegerKind::S64)));
        check(Parameter::new("wide", record(fields.collect())), "");
        let deep = (0..40).fold(Type::Bool, |inner, _| Type::List(Box::new(inner)));
        check(Parameter::new("deep", deep), "");
        let mut hidden = Parameter::new("h".repeat(65), Type::Bool);
        hidden.source = ParameterSource::Context;
        check(hidden, "");
    }

    #[test]
    fn a_schema_that_is_too_large_or_too_deep_is_named() {
        let too_large = |parameter: Parameter| {
            let schema = parameters_to_json_schema(std::iter::once(&parameter));
            let bytes = schema.to_string().len();
            assert!(bytes > TOOL_SCHEMA_BYTES_MAX, "{bytes}");
            let told = format!(
                "its parameters make a schema of {bytes} bytes, and models are offered at most \
                 65536; split it into several functions, or say less in descriptions"
            );
            check(parameter, &told);
        };
        let field = |n| Field::new(format!("field_{n}"), Type::Integer(IntegerKind::S64));
        too_large(Parameter::new(
            "wide",
            record((0..1_000).map(field).collect()),
        ));
        let mut described = Parameter::new("much", Type::String);
        described.field.description = Some("x".repeat(70_000));
        too_large(described);
        let mut of_options = Parameter::new("one", Type::String);
        of_options.field.options = vec![json!("x".repeat(70_000))];
        too_large(of_options);

        let deep = (0..60).fold(Type::Bool, |inner, _| Type::Option(Box::new(inner)));
        let deep = Parameter::new("deep", deep);
        let depth = depth_of(&parameters_to_json_schema(std::iter::once(&deep)));
        assert!(depth > TOOL_SCHEMA_DEPTH_MAX, "{depth}");
        let told = format!(
            "its parameters make a schema of {depth} levels, and models are offered at most 100; \
             use flatter types"
        );
        check(deep, &told);
    }

    #[test]
    fn a_name_that_some_provider_refuses_is_named() {
        let long = "n".repeat(65);
        let head = "n".repeat(64);
        let told = |what: &str| {
            format!(
                "its parameter {what} `{head}…`, and names of models have at most 64 characters; \
                 shorten it"
            )
        };
        check(Parameter::new(long.as_str(), Type::Bool), &told("is named"));
        let inside = record(vec![Field::new(long.as_str(), Type::Bool)]);
        let inside = Type::List(Box::new(inside));
        check(Parameter::new("p", inside), &told("`p` holds"));
        let case = |payload| {
            Type::Variant(Arc::new(CasesType {
                name: None,
                description: None,
                cases: vec![Case {
                    name: long.clone(),
                    description: None,
                    payload,
                }],
            }))
        };
        check(
            Parameter::new("p", case(Some(Type::Bool))),
            &told("`p` holds"),
        );
        // A case without a value is a value, and no property.
        check(Parameter::new("p", case(None)), "");
    }

    #[test]
    fn what_surely_fits_does() {
        // The estimate is never below the schema that is made.
        let variant = |n: usize| {
            Type::Variant(Arc::new(CasesType {
                name: None,
                description: Some("\"".repeat(n)),
                cases: (0..n)
                    .map(|n| Case {
                        name: format!("case_{n}"),
                        description: Some("x".to_owned()),
                        payload: (n % 2 == 0).then_some(Type::Integer(IntegerKind::U64)),
                    })
                    .collect(),
            }))
        };
        for ty in [
            Type::Map(
                Box::new(Type::Integer(IntegerKind::S8)),
                Box::new(variant(3)),
            ),
            Type::Tuple(vec![variant(1), Type::Bytes, Type::Char]),
            Type::Result(Some(Box::new(variant(20))), None),
            record(vec![Field::new("only", variant(9)); 4]),
            (0..20).fold(variant(2), |inner, _| Type::Option(Box::new(inner))),
        ] {
            let parameter = Parameter::new("p", ty);
            let mut size = Size::default();
            size.parameter(&parameter).unwrap();
            let schema = parameters_to_json_schema(std::iter::once(&parameter));
            let bytes = schema.to_string().len();
            assert!(size.bytes >= bytes - 100, "{} {bytes} {schema}", size.bytes);
            let depth = depth_of(&schema);
            assert!(
                size.depth * PART_LEVELS + 3 >= depth,
                "{} {depth}",
                size.depth
            );
        }
    }
}
