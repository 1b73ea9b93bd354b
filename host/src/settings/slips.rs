//! What a person may have meant by a key of the project file that is not known where it stands.

use openprogram_core::tool::nearest_tools;

/// The keys of the whole project that are no tables: below a `[table]` they are taken for something
/// else.
const PLAIN_KEYS: [&str; 3] = ["model", "thinking_level", "skills"];

/// A hint for the words of the parser about an unknown field; `None` where it has none.
pub(super) fn hint(message: &str) -> Option<String> {
    let (name, known) = unknown_field(message)?;
    if PLAIN_KEYS.contains(&name) && !known.contains(&name) {
        return Some(of_whole_project(name));
    }
    let nearest = nearest_tools(known.iter().copied(), name);
    let nearest = nearest.first()?;
    Some(format!("did you mean `{nearest}`?"))
}

/// The hint for an entry of `[components]`, whose value is a source where it is a text.
pub(super) fn hint_of_component(name: &str, source: Option<&str>) -> Option<String> {
    // A model is `provider:model`, and hardly a path.
    let is_model = name == "model" && source.is_some_and(|source| source.contains(':'));
    let is_other = name != "model" && PLAIN_KEYS.contains(&name) && source.is_some();
    (is_model || is_other).then(|| of_whole_project(name))
}

fn of_whole_project(name: &str) -> String {
    format!(
        "`{name}` is a key of the whole project; write it above the first `[table]` of the file, or \
         it belongs to the table that it stands below"
    )
}

/// The name in `unknown field `NAME`, expected one of `A`, `B``, and the names that are known.
fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (name, expected) = rest.split_once("`, expected ")?;
    let known = expected.split('`').skip(1).step_by(2);
    Some((name, known.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_by_the_nearest_key_and_a_key_of_the_project_by_its_place() {
        let expected = "unknown field `modle`, expected one of `model`, `runtimes`";
        assert_eq!(hint(expected).as_deref(), Some("did you mean `model`?"));
        for none in [
            "unknown field `xyz`, expected one of `model`, `runtimes`",
            "unknown field `xyz`, there are no fields",
            "invalid type: integer `3`, expected a string",
        ] {
            assert_eq!(hint(none), None, "{none}");
        }
        let below = "unknown field `model`, expected one of `source`, `models`";
        assert!(
            hint(below)
                .unwrap()
                .starts_with("`model` is a key of the whole project")
        );
        assert!(hint_of_component("model", Some("openai:gpt-5")).is_some());
        assert!(hint_of_component("thinking_level", Some("high")).is_some());
        for (name, source) in [
            ("model", Some("model.wasm")),
            ("model", None),
            ("a", Some("b:c")),
        ] {
            assert_eq!(hint_of_component(name, source), None, "{name} {source:?}");
        }
    }
}
