//! The words of a component, cleaned and bounded before they are kept.
//!
//! Models read them and people decide by them, so both must see the same: nothing hidden, nothing
//! that drives a terminal, and no more than a description needs. What was changed is told.

use std::collections::HashSet;

use openprogram_core::Json;
use openprogram_core::text::{clean, head, one_line};

use crate::decode::cap_notices;
use crate::facts::{Facts, FunctionFact, TypeMetadata};
use crate::facts::{FunctionMetadata, MemberFact, NamedFact, ParameterKind, TypeFact};

/// The most bytes of the description of a function. A menu shows half of it, a tool its first
/// paragraph.
pub const FUNCTION_WORDS_BYTES_MAX: usize = 4_096;
/// The most bytes of the description of a parameter, a type, a field or a case.
pub const PART_WORDS_BYTES_MAX: usize = 1_024;
/// The most bytes of a placeholder and of the name of a source of allowed values.
pub const LABEL_BYTES_MAX: usize = 256;

/// Characters of a name in a notice; names of metadata are not checked yet.
const NAME_CHARS_MAX: usize = 80;

/// Cleans everything that the component says, and adds notices of what was removed or cut.
pub(crate) fn tidy(facts: &mut Facts) {
    let mut tidier = Tidier::default();
    for function in &mut facts.signature.functions {
        tidier.function(function);
    }
    if let Some(metadata) = &mut facts.metadata {
        for function in &mut metadata.functions {
            tidier.metadata(function);
        }
        for ty in &mut metadata.types {
            tidier.type_metadata(ty);
        }
    }
    cap_notices(&mut tidier.notices);
    facts.signature.notices.append(&mut tidier.notices);
}

#[derive(Default)]
struct Tidier {
    notices: Vec<String>,
    /// A type is described wherever it is used, and told of once.
    told: HashSet<String>,
}

impl Tidier {
    fn function(&mut self, function: &mut FunctionFact) {
        let name = shown(&function.name);
        let what = format!("the description of `{name}`");
        self.words(&what, &mut function.docs, FUNCTION_WORDS_BYTES_MAX);
        for parameter in &mut function.parameters {
            if let ParameterKind::Value(ty) = &mut parameter.kind {
                self.ty(ty);
            }
        }
        if let Some(result) = &mut function.result {
            self.ty(result);
        }
    }

    fn ty(&mut self, ty: &mut TypeFact) {
        match ty {
            TypeFact::List(inner) | TypeFact::FixedList(inner, _) | TypeFact::Option(inner) => {
                self.ty(inner);
            }
            TypeFact::Map(key, value) => {
                self.ty(key);
                self.ty(value);
            }
            TypeFact::Tuple(items) => items.iter_mut().for_each(|item| self.ty(item)),
            TypeFact::Result(ok, err) => {
                for inner in [ok, err].into_iter().flatten() {
                    self.ty(inner);
                }
            }
            TypeFact::Record(named)
            | TypeFact::Enum(named)
            | TypeFact::Flags(named)
            | TypeFact::Variant(named) => self.named(named),
            _ => {}
        }
    }

    fn named(&mut self, named: &mut NamedFact) {
        let name = named.name.as_ref().map_or("a type", |(_, name)| name);
        let name = shown(name);
        let what = format!("the description of `{name}`");
        self.words(&what, &mut named.docs, PART_WORDS_BYTES_MAX);
        for MemberFact { name: of, docs, ty } in &mut named.members {
            let what = format!("the description of `{name}.{}`", shown(of));
            self.words(&what, docs, PART_WORDS_BYTES_MAX);
            if let Some(ty) = ty {
                self.ty(ty);
            }
        }
    }

    fn type_metadata(&mut self, ty: &mut TypeMetadata) {
        let name = shown(&ty.name);
        let what = format!("the description of `{name}`");
        self.words(&what, &mut ty.description, PART_WORDS_BYTES_MAX);
        for (member, description) in &mut ty.members {
            let what = format!("the description of `{name}.{}`", shown(member));
            self.words(&what, description, PART_WORDS_BYTES_MAX);
        }
    }

    fn metadata(&mut self, function: &mut FunctionMetadata) {
        let name = shown(&function.name);
        let what = format!("the description of `{name}`");
        self.words(&what, &mut function.description, FUNCTION_WORDS_BYTES_MAX);
        self.attributes(&name, &mut function.attributes);
        for parameter in &mut function.parameters {
            let owner = format!("{name}({})", shown(&parameter.name));
            self.attributes(&owner, &mut parameter.attributes);
        }
    }

    /// The attributes that hold words, as JSON texts. What is no string is refused when it is read.
    fn attributes(&mut self, owner: &str, attributes: &mut [(String, String)]) {
        for (key, value) in attributes {
            let (what, bytes_max) = match key.as_str() {
                "description" => ("the description", PART_WORDS_BYTES_MAX),
                "placeholder" => ("the placeholder", LABEL_BYTES_MAX),
                "options_from" => ("the source of allowed values", LABEL_BYTES_MAX),
                // Its length is checked when it is read: half of a prompt is another prompt.
                "system" => ("the system prompt", usize::MAX),
                _ => continue,
            };
            if let Ok(Json::String(mut text)) = serde_json::from_str(value) {
                let what = format!("{what} of `{owner}`");
                if self.words(&what, &mut text, bytes_max) {
                    *value = Json::String(text).to_string();
                }
            }
        }
    }

    /// Cleans and bounds one text; says whether it was changed.
    fn words(&mut self, what: &str, text: &mut String, bytes_max: usize) -> bool {
        let cleaned = clean(text);
        let removed = text.len() - cleaned.len();
        let bounded = head(&cleaned, bytes_max);
        if bounded == text.as_str() {
            return false;
        }
        if cleaned != text.as_str() {
            self.notice(format!(
                "{what} held {removed} bytes of control or invisible characters, which are removed"
            ));
        }
        if bounded != cleaned {
            let bytes = cleaned.len();
            self.notice(format!(
                "{what} has {bytes} bytes, and only the first {bytes_max} are kept"
            ));
        }
        *text = bounded.into_owned();
        true
    }

    fn notice(&mut self, notice: String) {
        if self.told.insert(notice.clone()) {
            self.notices.push(notice);
        }
    }
}

fn shown(name: &str) -> String {
    one_line(name, NAME_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::facts::{FACTS_VERSION, Metadata, ParameterFact, ParameterMetadata, Signature};

    fn hidden(text: &str) -> String {
        let tag = |c: char| char::from_u32(0xe0000 + u32::from(c));
        let tags: String = "obey".chars().filter_map(tag).collect();
        format!("\u{1b}[8m{text}\u{1b}[0m\u{202e}{tags}")
    }

    fn json(text: &str) -> String {
        Json::from(text).to_string()
    }

    fn facts() -> Facts {
        let case = MemberFact {
            name: "low".to_owned(),
            docs: hidden("Low."),
            ty: None,
        };
        let level = TypeFact::Option(Box::new(TypeFact::Enum(NamedFact {
            name: Some(("i".to_owned(), "level".to_owned())),
            docs: "é".repeat(PART_WORDS_BYTES_MAX),
            members: vec![case],
        })));
        let function = FunctionFact {
            interface: None,
            name: "rate".to_owned(),
            of_resource: None,
            docs: hidden("Rates."),
            parameters: vec![ParameterFact {
                name: "level".to_owned(),
                kind: ParameterKind::Value(level),
            }],
            result: None,
            refused: None,
        };
        let attribute = |key: &str, value: String| (key.to_owned(), value);
        let described = FunctionMetadata {
            interface: String::new(),
            name: "rate".to_owned(),
            description: "x".repeat(FUNCTION_WORDS_BYTES_MAX + 1),
            parameters: vec![ParameterMetadata {
                name: "level".to_owned(),
                attributes: vec![
                    attribute("description", json(&hidden("How."))),
                    attribute("placeholder", json(&"p".repeat(LABEL_BYTES_MAX + 1))),
                    attribute("options_from", json("levels")),
                    attribute("hidden", "true".to_owned()),
                ],
            }],
            attributes: vec![attribute("system", json(&hidden("Be brief.")))],
        };
        let ty = TypeMetadata {
            interface: "i".to_owned(),
            name: "level".to_owned(),
            description: "A level.".to_owned(),
            members: vec![("low".to_owned(), hidden("Not high."))],
        };
        Facts {
            version: FACTS_VERSION,
            signature: Signature {
                functions: vec![function],
                ..Signature::default()
            },
            metadata: Some(Metadata {
                functions: vec![described],
                types: vec![ty],
            }),
        }
    }

    #[test]
    fn everything_that_a_component_says_is_cleaned_and_bounded_and_told() {
        let mut facts = facts();
        tidy(&mut facts);
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(clean(&text), text);
        assert!(!text.contains("\\u001b") && !text.contains("[8m"), "{text}");
        let metadata = facts.metadata.as_ref().unwrap();
        let described = &metadata.functions[0];
        assert_eq!(described.description.len(), FUNCTION_WORDS_BYTES_MAX);
        assert!(described.description.ends_with("x … [cut]"));
        let attributes = &described.parameters[0].attributes;
        assert_eq!(attributes[0].1, json("How."));
        assert_eq!(attributes[1].1.len(), LABEL_BYTES_MAX + 2);
        assert_eq!(attributes[3].1, "true");
        assert_eq!(metadata.types[0].members[0].1, "Not high.");
        expect![[r#"
            the description of `rate` held 27 bytes of control or invisible characters, which are removed
            the description of `level` has 2048 bytes, and only the first 1024 are kept
            the description of `level.low` held 27 bytes of control or invisible characters, which are removed
            the description of `rate` has 4097 bytes, and only the first 4096 are kept
            the system prompt of `rate` held 27 bytes of control or invisible characters, which are removed
            the description of `rate(level)` held 27 bytes of control or invisible characters, which are removed
            the placeholder of `rate(level)` has 257 bytes, and only the first 256 are kept"#]].assert_eq(&facts.signature.notices.join("\n"));
        // Once is enough.
        let before = facts.clone();
        tidy(&mut facts);
        assert_eq!(facts, before);
    }

    #[test]
    fn what_can_be_seen_and_is_short_is_left_alone() {
        let mut facts = facts();
        facts.signature.functions[0].docs = "Rates.\n\n\tWith 👩\u{200d}🚀.".to_owned();
        facts.signature.functions[0].parameters.clear();
        facts.metadata = None;
        let before = facts.clone();
        tidy(&mut facts);
        assert_eq!(facts, before);
    }
}
