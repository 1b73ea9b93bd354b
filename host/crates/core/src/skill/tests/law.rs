//! Recorded folders of skills, as far as a file and a list go; where files lie is told elsewhere.

use std::collections::BTreeMap;

use serde_json::json;

use crate::Json;
use crate::skill::{SKILL_FILE, Skill, Skills};

const VECTORS: &str = include_str!("../../../fixtures/vectors/skills.json");

/// Where a case comes out differently: id, our skills, reason.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "skills/triggers_map",
        r#"[{"name":"a","description":"D.","category":"","optional":false,"allowed_tools":[],"triggers":{"keywords":["a","b"]},"version":"","aliases":[]}]"#,
        "maps inside of maps are YAML and are read",
    ),
    (
        "skills/folded_description",
        r#"[{"name":"a","description":"line one line two","category":"","optional":false,"allowed_tools":[],"triggers":{},"version":"","aliases":[]}]"#,
        "folded texts are YAML and are read",
    ),
    (
        "skills/unterminated_frontmatter",
        "[]",
        "a skill without a description cannot be chosen; it is left out, and a person is told why",
    ),
    (
        "skills/bom",
        r#"[{"name":"a","description":"D.","category":"","optional":false,"allowed_tools":[],"triggers":{},"version":"","aliases":[]}]"#,
        "a byte order mark is no text",
    ),
];

/// A skill as the vectors have it; what has no use here is read from the front matter.
fn shown(skill: &Skill) -> Json {
    let of = |keys: &[&str], absent: Json| {
        let found = keys.iter().find_map(|key| skill.front_matter.get(*key));
        found.cloned().unwrap_or(absent)
    };
    json!({
        "name": skill.name,
        "description": skill.description,
        "category": skill.category,
        "optional": of(&["optional"], json!(false)),
        "allowed_tools": of(&["allowed-tools", "allowed_tools"], json!([])),
        "triggers": of(&["triggers"], json!({})),
        "version": of(&["version"], json!("")),
        "aliases": of(&["aliases"], json!([])),
    })
}

fn read(trees: &Json) -> Skills {
    let mut found = Vec::new();
    for tree in trees.as_array().unwrap() {
        for (path, text) in tree.as_object().unwrap() {
            let text = text.as_str().unwrap();
            let skill = match path.rsplit_once('/') {
                Some((folder, SKILL_FILE)) => Skill::parse(folder, text),
                None if path == SKILL_FILE => Skill::parse_unnamed("root", text),
                _ => continue,
            };
            found.extend(skill);
        }
    }
    Skills::new(found)
}

/// The block without the place of the file: a model has no files to read, and the names of folders
/// on this machine are nobody's business.
fn without_places(block: &str) -> String {
    let lines = block.lines().filter(|line| !line.contains("<location>"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn recorded_skills_are_read_and_told_as_recorded() {
    let file: Json = serde_json::from_str(VECTORS).unwrap();
    let mut differences: BTreeMap<_, _> = DIFFERENCES
        .iter()
        .map(|(id, ours, reason)| (*id, (*ours, *reason)))
        .collect();
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let mut recorded = case["skills"].clone();
        for skill in recorded.as_array_mut().unwrap() {
            // The last part of the name, which the name shows.
            skill.as_object_mut().unwrap().remove("leaf");
        }
        let skills = read(&case["trees"]);
        let ours: Json = skills.iter().map(shown).collect();
        if let Some((expected, reason)) = differences.remove(id) {
            assert_ne!(ours, recorded, "{id} does not differ, though {reason}");
            assert_eq!(ours.to_string(), expected, "{id}");
            continue;
        }
        assert_eq!(ours, recorded, "{id}");
        let block = skills.block(true).unwrap_or_default();
        let (prose, list) = block.split_once('\n').unwrap_or_default();
        let recorded = without_places(case["block"].as_str().unwrap());
        assert_eq!(list, recorded, "{id}");
        assert_eq!(!prose.is_empty(), case["block_preceded_by_prose"], "{id}");
    }
    assert!(differences.is_empty(), "unknown ids: {differences:?}");
}
