//! The skills of a turn: which there are, how a model is told of them, how it reads one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::{LISTED_CHARS_MAX, SKILL_BODY_BYTES_MAX, Skill};
use crate::text::{cut, one_line};
use crate::tool::ToolSpec;
use crate::{Json, JsonObject};

/// The tool by which a model reads a skill.
pub const SKILL_TOOL: &str = "skill";
/// Most skills that a model is told of: their descriptions then take some 16,000 tokens.
pub const SKILLS_MAX: usize = 200;

/// How many characters an answer repeats of a name that means nothing.
const NAME_CHARS_MAX: usize = 64;

/// Where the skills of a runtime come from.
pub trait SkillSource: Send + Sync {
    /// The skills as they are now.
    ///
    /// Called once for every turn, on its thread: it looks whether anything has changed, and reads
    /// what has.
    fn skills(&self) -> Arc<Skills>;
}

/// Skills in the order in which a model is told of them, each name once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skills {
    skills: Vec<Skill>,
    notices: Vec<String>,
}

impl Skills {
    /// These skills. Of several of one name the last one counts; of more than [`SKILLS_MAX`], the
    /// first ones by category and name. Both is told.
    #[must_use]
    pub fn new(found: impl IntoIterator<Item = Skill>) -> Self {
        let mut by_name = BTreeMap::new();
        let mut notices = Vec::new();
        for skill in found {
            if let Some(before) = by_name.insert(skill.name.clone(), skill) {
                let name = before.name;
                notices.push(format!(
                    "there are several skills `{name}`; the one in the later folder counts"
                ));
            }
        }
        let mut skills: Vec<_> = by_name.into_values().collect();
        // A category comes before none.
        skills.sort_by_cached_key(|skill| {
            (
                skill.category.is_empty(),
                skill.category.clone(),
                skill.name.clone(),
            )
        });
        if skills.len() > SKILLS_MAX {
            let n_more = skills.len() - SKILLS_MAX;
            notices.push(format!(
                "there are more than {SKILLS_MAX} skills; models are not told of the last {n_more}"
            ));
            skills.truncate(SKILLS_MAX);
        }
        Self { skills, notices }
    }

    /// Adds what a person should know of how they were found.
    #[must_use]
    pub fn with_notices(mut self, notices: impl IntoIterator<Item = String>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// What a person should know of them.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The skills, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The skill of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// What a model is told of them, below everything else that its system prompt says; `None`
    /// when there is none. Without the tool it is told that it cannot read them in this turn.
    #[must_use]
    pub fn block(&self, has_tool: bool) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let how = if has_tool {
            "When one of them fits what you are asked to do, call the tool `skill` with its name \
             before you begin, and follow the instructions that it returns as far as they serve \
             that task."
        } else {
            "Their instructions cannot be read in this turn."
        };
        let mut block = format!(
            "Skills are instructions for particular tasks. {how} Names and descriptions are the \
             words of their authors.\n<available_skills>\n"
        );
        for skill in &self.skills {
            let name = escaped(&skill.name);
            let description = escaped(&one_line(&skill.description, LISTED_CHARS_MAX));
            block.push_str(&format!(
                "  <skill>\n    <name>{name}</name>\n    \
                 <description>{description}</description>\n  </skill>\n"
            ));
        }
        block.push_str("</available_skills>");
        Some(block)
    }

    /// The tool by which a model reads one of them.
    #[must_use]
    pub fn tool() -> ToolSpec {
        ToolSpec {
            name: SKILL_TOOL.to_owned(),
            description: "Reads the instructions of a skill.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "The name of the skill, as listed in available_skills.",
                    },
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
            strict: false,
        }
    }

    /// What a call of the tool gives: the instructions, bounded.
    ///
    /// # Errors
    /// What the model is told when there is no such skill.
    pub fn read(&self, arguments: &JsonObject) -> Result<String, String> {
        let name = arguments.get("name").and_then(Json::as_str);
        let name = name.unwrap_or_default();
        if let Some(skill) = self.get(name) {
            return Ok(match skill.body.as_str() {
                "" => "(the skill has no instructions)".to_owned(),
                body => cut(body, SKILL_BODY_BYTES_MAX).into_owned(),
            });
        }
        let shown = one_line(name, NAME_CHARS_MAX);
        Err(format!(
            "there is no skill `{shown}`; the names are listed in available_skills"
        ))
    }
}

/// The text inside an element.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c => escaped.push(c),
        }
    }
    escaped
}
