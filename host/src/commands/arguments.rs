//! Arguments and context values as they are typed on a command line: `key=value`, or a JSON object.
//!
//! Only the text is read here. Whether a value fits its parameter is checked by the runtime.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use openprogram_core::content::ThinkingLevel;
use openprogram_core::function::Function;
use openprogram_core::schema::{Type, names_equal};
use openprogram_core::{Json, JsonObject};

use super::exit::Usage;

/// One `key=value` as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// Reads `key=value` for clap.
pub(crate) fn parse_pair(text: &str) -> Result<Pair, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok(Pair {
            key: key.to_owned(),
            value: value.to_owned(),
        }),
        _ => Err("write it as `NAME=VALUE`".to_owned()),
    }
}

/// Reads a level of thinking for clap, which lists the words.
pub(crate) fn thinking_levels() -> impl TypedValueParser<Value = ThinkingLevel> {
    let words = ThinkingLevel::ALL.map(ThinkingLevel::as_str);
    PossibleValuesParser::new(words).try_map(|word| word.parse::<ThinkingLevel>())
}

/// Reads a JSON object.
pub(crate) fn parse_object(text: &str, what: &str) -> Result<JsonObject, Usage> {
    match serde_json::from_str(text) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err(Usage(format!(
            "{what} is not a JSON object; write it as `{{\"name\": value}}`"
        ))),
        Err(error) => Err(Usage(format!("{what} is not JSON: {error}"))),
    }
}

/// The arguments of a call: the object of `--args`, and the pairs of `--arg`, each name once.
pub(crate) fn arguments(
    function: &Function,
    object: Option<&str>,
    pairs: &[Pair],
) -> Result<JsonObject, Usage> {
    let object = object
        .map(|text| parse_object(text, "`--args`"))
        .transpose()?;
    let mut arguments = object.unwrap_or_default();
    for pair in pairs {
        let types = function
            .parameters
            .iter()
            .filter(|p| names_equal(&p.field.name, &pair.key));
        let value = read_value(&pair.value, types.map(|p| &p.field.ty));
        insert_once(&mut arguments, pair, value)?;
    }
    Ok(arguments)
}

/// The context of a run: the pairs of `--context`, each name once. A value that is for hidden
/// parameters of text only is text.
pub(crate) fn context(functions: &[&Function], pairs: &[Pair]) -> Result<JsonObject, Usage> {
    let mut context = JsonObject::new();
    for pair in pairs {
        let named = functions
            .iter()
            .flat_map(|function| &function.parameters)
            .filter(|p| !p.is_visible() && names_equal(&p.field.name, &pair.key));
        let value = read_value(&pair.value, named.map(|p| &p.field.ty));
        insert_once(&mut context, pair, value)?;
    }
    Ok(context)
}

fn insert_once(object: &mut JsonObject, pair: &Pair, value: Json) -> Result<(), Usage> {
    if object.keys().any(|key| names_equal(key, &pair.key)) {
        return Err(Usage(format!("`{}` is given twice", pair.key)));
    }
    object.insert(pair.key.clone(), value);
    Ok(())
}

/// Reads a value: as it stands when every parameter that it is for takes text, else as JSON when it
/// is JSON, else as it stands.
fn read_value<'a>(text: &str, types: impl Iterator<Item = &'a Type>) -> Json {
    let mut types = types.peekable();
    let is_text = types.peek().is_some() && types.all(takes_text);
    let as_text = || Json::String(text.to_owned());
    if is_text {
        as_text()
    } else {
        serde_json::from_str(text).unwrap_or_else(|_| as_text())
    }
}

/// Whether a value of this type is written as text in JSON.
fn takes_text(ty: &Type) -> bool {
    match ty {
        Type::Char | Type::String | Type::Bytes | Type::Enum(_) | Type::Handle(_) => true,
        Type::Option(inner) => takes_text(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::{FunctionName, Parameter, ParameterSource};
    use openprogram_core::schema::IntegerKind;
    use serde_json::json;

    use super::*;

    fn function(parameters: Vec<Parameter>) -> Function {
        Function {
            parameters,
            ..Function::new(FunctionName::new("c", None, "f"))
        }
    }

    fn pair(text: &str) -> Pair {
        parse_pair(text).unwrap()
    }

    fn check(pairs: &[&str], object: Option<&str>, expected: Result<Json, &str>) {
        let option = |ty| Type::Option(Box::new(ty));
        let function = function(vec![
            Parameter::new("text", Type::String),
            Parameter::new("maybe_text", option(Type::String)),
            Parameter::new("count", Type::Integer(IntegerKind::U32)),
            Parameter::new("any", Type::Json),
            Parameter::new("list", Type::List(Box::new(Type::String))),
        ]);
        let pairs: Vec<_> = pairs.iter().map(|text| pair(text)).collect();
        let outcome = arguments(&function, object, &pairs);
        let outcome = outcome.map(Json::Object).map_err(|usage| usage.0);
        assert_eq!(
            outcome,
            expected.map_err(str::to_owned),
            "{pairs:?} {object:?}"
        );
    }

    #[test]
    fn a_value_is_json_when_it_is_json_and_the_parameter_takes_no_text() {
        check(&["text=5"], None, Ok(json!({"text": "5"})));
        check(&["text=\"q\""], None, Ok(json!({"text": "\"q\""})));
        check(&["text="], None, Ok(json!({"text": ""})));
        check(&["text=a=b"], None, Ok(json!({"text": "a=b"})));
        check(
            &["maybe-text=null"],
            None,
            Ok(json!({"maybe-text": "null"})),
        );
        check(&["count=5"], None, Ok(json!({"count": 5})));
        check(&["count=five"], None, Ok(json!({"count": "five"})));
        check(&["any={\"a\":[1]}"], None, Ok(json!({"any": {"a": [1]}})));
        check(&["any=plain"], None, Ok(json!({"any": "plain"})));
        check(
            &["list=[\"a\"]", "list2=1"],
            None,
            Ok(json!({"list": ["a"], "list2": 1})),
        );
    }

    #[test]
    fn an_object_and_pairs_are_joined_and_no_name_is_given_twice() {
        check(
            &["count=5"],
            Some("{\"text\":\"a\"}"),
            Ok(json!({"text": "a", "count": 5})),
        );
        check(&["text=a", "text=b"], None, Err("`text` is given twice"));
        check(
            &["maybe-text=b"],
            Some("{\"maybe_text\":1}"),
            Err("`maybe-text` is given twice"),
        );
        let not_object = "`--args` is not a JSON object; write it as `{\"name\": value}`";
        check(&[], Some("[1]"), Err(not_object));
        let not_json = "`--args` is not JSON: EOF while parsing a value at line 1 column 5";
        check(&[], Some("{\"a\":"), Err(not_json));
    }

    #[test]
    fn a_context_value_takes_the_type_of_the_hidden_parameters_of_its_name() {
        let hidden = |name: &str, ty| {
            let mut parameter = Parameter::new(name, ty);
            parameter.source = ParameterSource::Context;
            parameter
        };
        let functions = [
            function(vec![
                hidden("id", Type::String),
                hidden("both", Type::String),
            ]),
            function(vec![
                hidden("both", Type::Json),
                Parameter::new("id", Type::Json),
            ]),
        ];
        let pairs = ["id=5", "both=5", "none=5", "word=w"].map(pair);
        let expected = json!({"id": "5", "both": 5, "none": 5, "word": "w"});
        assert_eq!(
            context(&functions.each_ref(), &pairs)
                .map(Json::Object)
                .unwrap(),
            expected
        );
    }

    #[test]
    fn a_pair_needs_a_key_and_a_sign() {
        for text in ["", "=", "=x", "x"] {
            assert!(parse_pair(text).is_err(), "`{text}`");
        }
    }
}
