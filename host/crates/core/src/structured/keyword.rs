//! The keywords of JSON Schema 2020-12: what each of them holds, and whether it can be checked here.

/// What the value of a keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A schema.
    Schema,
    /// An array of schemas, at least one.
    Schemas,
    /// Schemas by name.
    SchemasByName,
    /// One type or an array of types.
    Types,
    /// Any array.
    Values,
    /// A number.
    Number,
    /// A number above 0.
    Positive,
    /// A whole number from 0.
    Count,
    /// `true` or `false`.
    Bool,
    /// A text.
    Text,
    /// An array of texts, each once.
    Names,
    /// Arrays of texts by name.
    NamesByName,
    /// Anything.
    Anything,
}

/// The types of JSON Schema.
pub(super) const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// What a keyword holds; `None` for a word that JSON Schema does not know, which means nothing.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "items"
        | "additionalProperties"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Holds::SchemasByName
        }
        "type" => Holds::Types,
        "enum" => Holds::Values,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Holds::Number,
        "multipleOf" => Holds::Positive,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => Holds::Count,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Holds::Bool,
        "pattern" | "format" | "title" | "description" | "$ref" | "$schema" | "$id" | "$anchor"
        | "$dynamicRef" | "$dynamicAnchor" | "$comment" | "contentEncoding"
        | "contentMediaType" => Holds::Text,
        "required" => Holds::Names,
        "dependentRequired" => Holds::NamesByName,
        "const" | "default" | "examples" | "$vocabulary" => Holds::Anything,
        _ => return None,
    })
}

/// Keywords that rule something out and that are not checked here: a schema that has one is
/// refused. Those of older drafts mean nothing in this one, and were surely meant.
pub(super) const UNCHECKED: [&str; 11] = [
    "unevaluatedItems",
    "unevaluatedProperties",
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
    "additionalItems",
    "dependencies",
];

/// The drafts whose schemas are read: absent, or this one.
pub(super) const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
