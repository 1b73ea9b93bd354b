//! How a model finds the tools of its turn that it is not shown: the tool that searches them, how
//! well each fits, and the text of the answer.
//!
//! All texts here are written for a model. They hold names and words of strangers, which were cleaned
//! when their component was loaded.

use serde_json::json;

use crate::JsonObject;
use crate::function::Function;
use crate::text::{cut, escape_json, one_line};
use crate::tool::ToolSpec;

/// The name of the tool, where no other tool of the turn has it.
pub const SEARCH_TOOL: &str = "tool_search";
/// How many tools an answer holds when the model does not say.
pub const FOUND_DEFAULT: usize = 5;
/// The most tools of one answer.
pub const FOUND_MAX: usize = 20;
/// The most bytes of one answer. A tool whose schema does not fit is named without it, and found when
/// it is looked for alone.
pub const FOUND_BYTES_MAX: usize = 24_000;

/// How many names the description of the tool lists.
const LISTED_MAX: usize = 40;
/// The longest query that is read, in bytes.
const QUERY_BYTES_MAX: usize = 1_000;
/// The most words of a query.
const TERMS_MAX: usize = 16;
/// What a word counts in the name, in the words of the author for this, and in the description.
const WEIGHTS: [u32; 3] = [10, 5, 2];

/// What is found of the tools that are not shown.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundTools {
    /// The names of those that may be called from now on, best first.
    pub names: Vec<String>,
    /// The answer.
    pub text: String,
}

/// The spec of the tool that searches these tools, which are sorted by name.
#[must_use]
pub fn search_spec<'a>(name: &str, tools: impl Iterator<Item = &'a str>) -> ToolSpec {
    let tools: Vec<_> = tools.collect();
    let mut listed = tools
        .iter()
        .take(LISTED_MAX)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let n_more = tools.len().saturating_sub(LISTED_MAX);
    if n_more > 0 {
        listed.push_str(&format!(" and {n_more} more"));
    }
    let description = format!(
        "Finds tools that are not listed here and shows their parameters; what it finds can be \
         called then. There are {}: {listed}.",
        tools.len()
    );
    ToolSpec {
        name: name.to_owned(),
        description,
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Words of what the tool does or is called. A word with `+` \
                                    before it must be in the name.",
                },
                "limit": {
                    "type": "integer",
                    "description": "How many tools to find; 5 when left out.",
                    "minimum": 1,
                    "maximum": FOUND_MAX,
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
        strict: false,
    }
}

/// Searches tools, each with its name as the model calls it.
#[must_use]
pub fn search_tools<'a>(
    tools: impl Iterator<Item = (&'a str, &'a Function)>,
    arguments: &JsonObject,
) -> FoundTools {
    let query = arguments.get("query").and_then(crate::Json::as_str);
    let query = cut(query.unwrap_or_default(), QUERY_BYTES_MAX).to_lowercase();
    let limit = arguments.get("limit").and_then(crate::Json::as_u64);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(FOUND_DEFAULT).clamp(1, FOUND_MAX);
    let terms: Vec<_> = terms(&query).take(TERMS_MAX).collect();
    let tools: Vec<_> = tools.collect();
    let scored = tools
        .iter()
        .map(|(name, function)| (score(&terms, name, function), *name, *function));
    let mut found: Vec<_> = scored.filter(|(score, ..)| *score > 0).collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let n_found = found.len();
    found.truncate(limit);
    answer(&query, n_found, tools.len(), &found)
}

/// A word of a query, and whether it must be in the name.
fn terms(query: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '(' | ')' | '.');
    let words = query.split(is_between).filter(|word| !word.is_empty());
    words.filter_map(|word| {
        let term = word.strip_prefix('+').unwrap_or(word);
        (!term.is_empty()).then_some((term, term.len() < word.len()))
    })
}

/// How well a tool fits; 0 for one that does not.
fn score(terms: &[(&str, bool)], name: &str, function: &Function) -> u32 {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let name = format!("{} {}", plain(name), plain(&function.name.function));
    let words = function.gating.deferred.as_ref();
    let words = words.map_or_else(String::new, |deferred| plain(&deferred.words));
    let told = plain(&format!("{} {}", function.summary(), function.description));
    let mut score = 0;
    for (term, must_be_named) in terms {
        let term = term.replace('-', "_");
        let is_named = name.contains(&term);
        if *must_be_named && !is_named {
            return 0;
        }
        let places = [is_named, words.contains(&term), told.contains(&term)];
        let counted = places.into_iter().zip(WEIGHTS).filter(|(is_in, _)| *is_in);
        score += counted.map(|(_, weight)| weight).sum::<u32>();
    }
    score
}

fn answer(
    query: &str,
    n_found: usize,
    n_tools: usize,
    found: &[(u32, &str, &Function)],
) -> FoundTools {
    if found.is_empty() {
        let query = one_line(query, 80);
        return FoundTools {
            names: Vec::new(),
            text: format!(
                "None of the {n_tools} tools fits `{query}`. Try other words, or a part of a name."
            ),
        };
    }
    let mut names = Vec::new();
    let mut text = String::new();
    let mut left_out = Vec::new();
    for (_, name, function) in found {
        let spec = ToolSpec::of(function, name);
        let schema = spec.parameters.to_string();
        let part = format!(
            "\n\n{name}: {}\narguments: {}",
            spec.description,
            escape_json(&schema)
        );
        if text.len() + part.len() > FOUND_BYTES_MAX {
            left_out.push(*name);
            continue;
        }
        text.push_str(&part);
        names.push((*name).to_owned());
    }
    let mut head = match names.len() {
        1 => "This tool can be called now:".to_owned(),
        n => format!("These {n} tools can be called now:"),
    };
    if names.is_empty() {
        head = "Nothing of what was found can be shown here.".to_owned();
    }
    text.insert_str(0, &head);
    if !left_out.is_empty() {
        let listed = left_out.join(", ");
        text.push_str(&format!(
            "\n\nToo long to be shown beside these: {listed}. Search for each alone, with `limit` 1."
        ));
    }
    let n_more = n_found - found.len();
    if n_more > 0 {
        text.push_str(&format!("\n\n{n_more} more fit less well."));
    }
    FoundTools { names, text }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::Json;
    use crate::function::{FunctionName, Parameter};
    use crate::gating::Deferred;
    use crate::schema::Type;

    fn function(name: &str, description: &str, words: &str) -> Function {
        let mut function = Function::new(FunctionName::new("a", None, name));
        function.description = description.to_owned();
        function.gating.deferred = Some(Deferred {
            words: words.to_owned(),
        });
        function.parameters = vec![Parameter::new("city", Type::String)];
        function
    }

    fn tools() -> Vec<(String, Function)> {
        [
            ("read-weather", "Tells how the weather is.", "rain forecast"),
            ("read-mail", "Reads a mail.\n\nAlso about the weather.", ""),
            ("send-mail", "Sends a mail.", "post"),
        ]
        .map(|(name, description, words)| {
            let shown = name.replace('-', "_");
            (shown, function(name, description, words))
        })
        .into()
    }

    fn search(arguments: Json) -> FoundTools {
        let tools = tools();
        let tools = tools
            .iter()
            .map(|(name, function)| (name.as_str(), function));
        search_tools(tools, arguments.as_object().unwrap())
    }

    #[test]
    fn the_tool_says_what_there_is() {
        let names = ["read_mail", "read_weather"];
        let spec = search_spec(SEARCH_TOOL, names.into_iter());
        expect![[r#"Finds tools that are not listed here and shows their parameters; what it finds can be called then. There are 2: read_mail, read_weather."#]].assert_eq(&spec.description);
        expect![[r#"{"type":"object","properties":{"query":{"type":"string","description":"Words of what the tool does or is called. A word with `+` before it must be in the name."},"limit":{"type":"integer","description":"How many tools to find; 5 when left out.","minimum":1,"maximum":20}},"required":["query"],"additionalProperties":false}"#]]
        .assert_eq(&spec.parameters.to_string());
        let many: Vec<_> = (0..100).map(|number| format!("tool_{number}")).collect();
        let spec = search_spec("x", many.iter().map(String::as_str));
        assert!(
            spec.description.ends_with("tool_39 and 60 more."),
            "{}",
            spec.description
        );
    }

    #[test]
    fn names_count_most_then_words_then_descriptions() {
        let names = |query: &str| search(json!({ "query": query })).names;
        assert_eq!(names("weather"), ["read_weather", "read_mail"]);
        assert_eq!(names("rain"), ["read_weather"]);
        assert_eq!(
            names("READ, mail"),
            ["read_mail", "send_mail", "read_weather"]
        );
        assert_eq!(names("+mail weather"), ["read_mail", "send_mail"]);
        assert_eq!(names("+mail +read"), ["read_mail"]);
        assert_eq!(names("read-weather"), ["read_weather"]);
        assert_eq!(names("nothing of this"), [""; 0]);
        assert_eq!(names(""), [""; 0]);
        assert_eq!(search(json!({"query": "mail", "limit": 1})).names.len(), 1);
    }

    #[test]
    fn answers_hold_schemas_and_say_what_they_leave_out() {
        expect![[r#"
            This tool can be called now:

            read_weather: Tells how the weather is.
            arguments: {"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}

            1 more fit less well."#]]
        .assert_eq(&search(json!({"query": "weather", "limit": 1})).text);
        expect!["None of the 3 tools fits `moon`. Try other words, or a part of a name."]
            .assert_eq(&search(json!({"query": "moon"})).text);
    }

    #[test]
    fn answers_are_bounded() {
        let mut long = function("long", "Reads.", "");
        let option = |number: usize| json!(format!("{}{number}", "x".repeat(990)));
        long.parameters[0].field.options = (0..15).map(option).collect();
        let tools = [("long_a", &long), ("long_b", &long)];
        let arguments = json!({"query": "reads"});
        let found = search_tools(tools.into_iter(), arguments.as_object().unwrap());
        assert_eq!(found.names, ["long_a"]);
        assert!(found.text.len() < FOUND_BYTES_MAX + 1_000);
        let end =
            "Too long to be shown beside these: long_b. Search for each alone, with `limit` 1.";
        assert!(found.text.ends_with(end));
    }
}
