//! What the author of a function could tell models better, decided from its metadata alone.
//!
//! Nothing here keeps a function from working: these are warnings of a build. Where the source is,
//! the caller knows.

use crate::function::{Function, Parameter, ParameterSource};
use crate::schema::Type;

/// What could be better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lint {
    /// The function has no doc, so that a model reads its name alone.
    NoSummary,
    /// The doc tells of arguments or results in a section that no model reads.
    Section,
    /// A parameter that models fill in has no description.
    NoDescription,
    /// The allowed values of a parameter stand in its description alone.
    ValuesInProse,
    /// A hidden parameter has no default, and nothing says what the context has to give for it.
    HiddenWithoutValue,
}

impl Lint {
    /// The stable word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSummary => "no_summary",
            Self::Section => "section",
            Self::NoDescription => "no_description",
            Self::ValuesInProse => "values_in_prose",
            Self::HiddenWithoutValue => "hidden_without_value",
        }
    }
}

/// One warning about a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub lint: Lint,
    /// The parameter, as shown, where it is about one.
    pub parameter: Option<String>,
    /// What is meant and what to do, as one sentence.
    pub message: String,
}

/// Words that begin a section on arguments or results, in the styles of several languages.
const SECTIONS: [&str; 7] = [
    "args",
    "arguments",
    "parameters",
    "params",
    "returns",
    "return",
    "yields",
];
/// Marks before the name of a parameter or the result.
const TAGS: [&str; 6] = [
    "@param", "@return", "@returns", ":param", ":return", ":returns",
];
/// Words after which allowed values are listed.
const LISTS: [&str; 8] = [
    "one of",
    "either",
    "allowed values",
    "possible values",
    "valid values",
    "accepted values",
    "must be",
    "can be",
];

/// Everything that could be better about a function, in the order of its parts.
#[must_use]
pub fn lint_function(function: &Function) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |lint, parameter: Option<&Parameter>, message: String| {
        warnings.push(Warning {
            lint,
            parameter: parameter.map(|parameter| parameter.field.name.clone()),
            message,
        });
    };
    if function.summary().is_empty() {
        let message = "it has no summary; begin its doc with a sentence that says what it does and \
                       when to pick it";
        warn(Lint::NoSummary, None, message.to_owned());
    }
    if let Some(section) = section(&function.description) {
        let message = format!(
            "its doc has a section `{section}`, which no model reads; describe each parameter at \
             the parameter, and the result by its type"
        );
        warn(Lint::Section, None, message);
    }
    for parameter in &function.parameters {
        let name = &parameter.field.name;
        let description = parameter.field.description.as_deref().unwrap_or_default();
        match parameter.source {
            ParameterSource::Runtime(_) => {}
            ParameterSource::Context
                if parameter.is_required() && description.trim().is_empty() =>
            {
                let message = format!(
                    "its hidden parameter `{name}` has no default, and nothing says what the \
                     context has to give for it, without which every call fails; give it a default \
                     or a description, or make it an option"
                );
                warn(Lint::HiddenWithoutValue, Some(parameter), message);
            }
            ParameterSource::Context => {}
            // A model reads the placeholder where there is no description.
            ParameterSource::Argument
                if description.trim().is_empty() && parameter.placeholder.is_none() =>
            {
                let message = format!(
                    "its parameter `{name}` has no description; say what to give and in which form"
                );
                warn(Lint::NoDescription, Some(parameter), message);
            }
            ParameterSource::Argument => {
                if takes_any_value(parameter) && lists_values(description) {
                    let message = format!(
                        "the description of its parameter `{name}` lists the allowed values, and \
                         nothing holds a model to them; give them as options, or make the type an \
                         enum"
                    );
                    warn(Lint::ValuesInProse, Some(parameter), message);
                }
            }
        }
    }
    warnings
}

/// The first line of a doc that begins a section, as it stands there.
fn section(doc: &str) -> Option<String> {
    let begins = |line: &&str| {
        let lower = line.to_lowercase();
        let heading = lower
            .strip_prefix('#')
            .map(|rest| rest.trim_matches(['#', ' ', ':']));
        let before_colon = lower.split_once(':').map(|(before, _)| before.trim());
        let first = lower.split_whitespace().next().unwrap_or_default();
        let mut words = heading.iter().chain(&before_colon);
        words.any(|word| SECTIONS.contains(word)) || TAGS.contains(&first.trim_end_matches(':'))
    };
    let line = doc.lines().map(str::trim).find(begins)?;
    Some(line.chars().take(60).collect())
}

/// Whether nothing but its description says which values a parameter takes.
fn takes_any_value(parameter: &Parameter) -> bool {
    let mut ty = &parameter.field.ty;
    while let Type::Option(inner) | Type::List(inner) = ty {
        ty = inner;
    }
    matches!(ty, Type::String)
        && parameter.field.options.is_empty()
        && parameter.options_from.is_none()
}

/// Whether a text lists two or more values after words that say that they are the allowed ones.
fn lists_values(text: &str) -> bool {
    let lower = text.to_lowercase();
    LISTS.iter().any(|words| {
        let mut places = lower.match_indices(words);
        places.any(|(at, _)| {
            let is_word = !lower[..at].ends_with(char::is_alphanumeric);
            is_word && is_list(&lower[at + words.len()..])
        })
    })
}

/// Whether a text begins with values: each a single word or a quoted text, joined by commas, bars or
/// `or`. A list of phrases is prose.
fn is_list(text: &str) -> bool {
    let end = text.find(['.', ';', '\n', '(', ')']).unwrap_or(text.len());
    let list = text[..end].trim_start_matches([':', ' ', '=']).trim();
    let mut values = 0;
    let parts = list.split([',', '|', '/']);
    for part in parts.flat_map(|part| part.split(" or ")) {
        let part = part.trim().trim_start_matches("or ").trim();
        let quoted = part.starts_with(['`', '"', '\'']) && part.ends_with(['`', '"', '\'']);
        if part.is_empty() || !quoted && part.contains(char::is_whitespace) {
            return false;
        }
        values += 1;
    }
    values >= 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{FunctionName, RuntimeRole};
    use serde_json::json;

    fn function(doc: &str, parameters: Vec<Parameter>) -> Function {
        let mut function = Function::new(FunctionName::new("c", None, "f"));
        function.description = doc.to_owned();
        function.parameters = parameters;
        function
    }

    fn described(text: &str) -> Parameter {
        let mut parameter = Parameter::new("style", Type::String);
        parameter.field.description = Some(text.to_owned());
        parameter
    }

    fn words(function: &Function) -> Vec<&'static str> {
        let warnings = lint_function(function);
        warnings
            .iter()
            .map(|warning| warning.lint.as_str())
            .collect()
    }

    #[test]
    fn a_function_that_says_everything_has_no_warning() {
        let mut runtime = Parameter::new("runtime", Type::Json);
        runtime.source = ParameterSource::Runtime(RuntimeRole::Main);
        let mut hidden = Parameter::new("user", Type::String);
        hidden.source = ParameterSource::Context;
        hidden.default = Some(json!("nobody"));
        let mut optional = Parameter::new("tenant", Type::Option(Box::new(Type::String)));
        optional.source = ParameterSource::Context;
        let mut told = described("Who asks, as the application knows them.");
        told.source = ParameterSource::Context;
        let text = described("The text to polish.");
        let mut example = Parameter::new("title", Type::String);
        example.placeholder = Some("On polish".to_owned());
        let all = vec![text, example, runtime, hidden, optional, told];
        let doc = "Polishes a text.\n\nWhat it returns: the text. Returns are final.";
        assert_eq!(words(&function(doc, all)), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut hidden = Parameter::new("user", Type::String);
        hidden.source = ParameterSource::Context;
        let all = vec![Parameter::new("text", Type::String), hidden];
        let warnings = lint_function(&function("", all));
        let told: Vec<_> = warnings
            .iter()
            .map(|warning| (warning.lint, warning.parameter.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                (Lint::NoSummary, None),
                (Lint::NoDescription, Some("text")),
                (Lint::HiddenWithoutValue, Some("user")),
            ]
        );
    }

    #[test]
    fn sections_of_every_style_are_found_and_prose_is_none() {
        for doc in [
            "Does it.\n\nArgs:\n    text: what.",
            "Does it.\n\nReturns:\n    it",
            "Does it.\n\n# Arguments\n\n* `a` - x",
            "Does it.\n\n## Returns\n",
            "Does it.\n@param a what",
            "Does it.\n:returns: it",
            "Does it.\n\nReturns: the sum.",
        ] {
            assert_eq!(words(&function(doc, vec![])), ["section"], "{doc}");
        }
        for doc in [
            "Returns the sum.",
            "Does it.\n\nReturns a list of what was found.",
            "Does it.\n\n# Example\n",
            "Does it.\n\n# Errors\n\nNever.",
            "Parameters of a run, for people.",
        ] {
            assert_eq!(words(&function(doc, vec![])), [""; 0], "{doc}");
        }
    }

    #[test]
    fn values_that_are_only_told_are_found_and_phrases_are_not() {
        for text in [
            "One of academic, casual or plain.",
            "The style: one of `academic`, `casual`.",
            "Either \"a\" or \"b\".",
            "Allowed values: red|green|blue",
            "Must be asc or desc; default asc",
            "How to sort (one of asc, desc).",
        ] {
            assert_eq!(
                words(&function("Does.", vec![described(text)])),
                ["values_in_prose"],
                "{text}"
            );
        }
        for text in [
            "The text to polish.",
            "Must be longer than the first one, or it is refused.",
            "One of the files that were listed before.",
            "None of a, b.",
            "Can be empty.",
            "A path, relative or absolute.",
        ] {
            assert_eq!(
                words(&function("Does.", vec![described(text)])),
                [""; 0],
                "{text}"
            );
        }
        let mut chosen = described("One of a, b.");
        chosen.field.options = vec![json!("a"), json!("b")];
        let mut number = described("One of 1, 2.");
        number.field.ty = Type::Bool;
        assert_eq!(words(&function("Does.", vec![chosen, number])), [""; 0]);
    }
}
