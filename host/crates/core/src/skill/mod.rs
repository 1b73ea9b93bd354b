//! Skills: instructions for particular tasks, which a model reads when one of them fits.
//!
//! A skill is a file `SKILL.md`: a description of a few words in YAML above a text of any length.
//! Models are told the descriptions with every turn, and read the text of one by a tool. Whoever
//! wrote it may be a stranger, so everything is cleaned and bounded before anybody reads it. Files
//! are read elsewhere.

mod front_matter;
mod list;

use crate::text::{clean, is_clean_line, one_line};
use crate::{Json, JsonObject};

pub use front_matter::FrontMatterError;
pub use list::{SKILL_TOOL, SKILLS_MAX, SkillSource, Skills};

/// The name of the file of a skill, spelled like this.
pub const SKILL_FILE: &str = "SKILL.md";
/// Most bytes of the file of a skill: twice what a model reads of it.
pub const SKILL_FILE_BYTES_MAX: usize = 64 << 10;
/// Most bytes of what stands above the text: some hundred lines, where skills have ten.
pub const FRONT_MATTER_BYTES_MAX: usize = 16 << 10;
/// Most bytes that a model reads of a text, as much as of any answer; a longer one is cut in its
/// middle, which is shown.
pub const SKILL_BODY_BYTES_MAX: usize = 30_000;
/// Most characters of a description; a longer one is cut, which is shown.
pub const DESCRIPTION_CHARS_MAX: usize = 1_024;
/// Most characters of a description in the list that a model is told with every turn; a longer one
/// is cut, which is shown.
pub const LISTED_CHARS_MAX: usize = 250;
/// Most bytes of a name: some folders inside each other.
pub const SKILL_NAME_BYTES_MAX: usize = 128;

/// One skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// The name by which a model reads it: the folders that lead to it, joined by `/`.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
    /// The group that it is listed in; empty for none.
    pub category: String,
    /// Everything that stands above the text.
    pub front_matter: JsonObject,
    /// The instructions, cleaned and of any length.
    pub body: String,
}

/// Why a file is no skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// It is larger than instructions are.
    #[error("it is larger than {SKILL_FILE_BYTES_MAX} bytes; move parts of it into other files")]
    TooLarge,
    /// It begins with text.
    #[error(
        "it begins with no front matter; write a line `---`, `description: …`, and `---` again"
    )]
    NoFrontMatter,
    /// The front matter has no end.
    #[error("its front matter does not end; write a line `---` below it")]
    Unfinished,
    /// The front matter cannot be read.
    #[error("its front matter cannot be read: {0}")]
    FrontMatter(#[from] FrontMatterError),
    /// A model could not tell what it is for.
    #[error("it has no description; write `description: …` into its front matter")]
    NoDescription,
    /// It has a name that cannot be told.
    #[error(
        "its name is empty, longer than {SKILL_NAME_BYTES_MAX} bytes, or holds characters that \
         nobody sees; rename its folder"
    )]
    Name,
}

impl Skill {
    /// Reads the text of a file `SKILL.md` in the folder of this name.
    ///
    /// # Errors
    /// Why it is no skill, and what to do.
    pub fn parse(name: &str, text: &str) -> Result<Self, SkillError> {
        let (front_matter, body) = parts(text)?;
        Self::of_parts(name, front_matter, body)
    }

    /// Reads one that lies in no folder of its own: the front matter names it, or `name` does.
    ///
    /// # Errors
    /// As for [`Skill::parse`].
    pub fn parse_unnamed(name: &str, text: &str) -> Result<Self, SkillError> {
        let (front_matter, body) = parts(text)?;
        let own = line(&front_matter, "name", usize::MAX);
        let name = if own.is_empty() { name } else { own.as_str() };
        Self::of_parts(name, front_matter, body)
    }

    fn of_parts(name: &str, front_matter: JsonObject, body: &str) -> Result<Self, SkillError> {
        let is_told = is_clean_line(name) && name.trim() == name;
        if name.is_empty() || name.len() > SKILL_NAME_BYTES_MAX || !is_told {
            return Err(SkillError::Name);
        }
        let description = line(&front_matter, "description", DESCRIPTION_CHARS_MAX);
        if description.is_empty() {
            return Err(SkillError::NoDescription);
        }
        Ok(Self {
            name: name.to_owned(),
            description,
            category: line(&front_matter, "category", DESCRIPTION_CHARS_MAX),
            body: clean(body).trim().to_owned(),
            front_matter,
        })
    }
}

/// The front matter and what stands below it.
fn parts(text: &str) -> Result<(JsonObject, &str), SkillError> {
    if text.len() > SKILL_FILE_BYTES_MAX {
        return Err(SkillError::TooLarge);
    }
    // Editors of some systems write a mark in front of a text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (line.trim_end() == "---", at)
    });
    let Some((true, start)) = lines.next() else {
        return Err(SkillError::NoFrontMatter);
    };
    let mut end = start;
    for (is_rule, next) in lines {
        if is_rule {
            let front_matter = front_matter::parse(&text[start..end])?;
            return Ok((front_matter, &text[next..]));
        }
        end = next;
    }
    Err(SkillError::Unfinished)
}

/// A text of the front matter on one line; empty where there is none.
fn line(front_matter: &JsonObject, key: &str, chars_max: usize) -> String {
    let text = front_matter.get(key).and_then(Json::as_str);
    one_line(text.unwrap_or_default(), chars_max)
}

#[cfg(test)]
mod tests;
