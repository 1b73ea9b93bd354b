//! Where the spans of runs are written, and whether they hold what was said.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Origin, Variables};

/// Names the file of spans for one command, `-` for stderr.
pub const TRACE_VARIABLE: &str = "OPENPROGRAM_TRACE";
/// The file that stands for stderr.
const STDERR: &str = "-";

/// The table `[trace]` of the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceTable {
    /// A file, relative to the project file, or `-` for stderr.
    pub file: Option<String>,
    /// Whether spans hold what was said.
    #[serde(default)]
    pub content: bool,
}

/// Where spans go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceTarget {
    /// To stderr, between the words for people.
    Stderr,
    /// Behind what is in this file.
    File(PathBuf),
}

/// What is written of runs as they go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSettings {
    /// Where spans go, and what says so; `None` for nowhere.
    pub target: Option<(TraceTarget, Origin)>,
    /// Whether they hold what was said: prompts, replies, arguments, results.
    pub content: bool,
}

impl TraceSettings {
    /// What holds without a project file. Nothing is opened.
    pub(super) fn of_variables(current_folder: &Path, variables: Variables<'_>) -> Self {
        let set = variables(TRACE_VARIABLE).filter(|value| !value.is_empty());
        let target = set.map(|value| {
            let target = if value == STDERR {
                TraceTarget::Stderr
            } else {
                TraceTarget::File(current_folder.join(value))
            };
            (target, Origin::Variable(TRACE_VARIABLE.to_owned()))
        });
        Self {
            target,
            content: false,
        }
    }

    /// Adds what the project file says; a variable stands above it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn apply(
        &mut self,
        table: &TraceTable,
        project_folder: &Path,
    ) -> Result<(), String> {
        self.content = table.content;
        let target = match table.file.as_deref() {
            None => return Ok(()),
            Some(file) if file.trim().is_empty() => {
                return Err("the path is empty; write a file, or `-` for stderr".to_owned());
            }
            Some(STDERR) => TraceTarget::Stderr,
            Some(file) => TraceTarget::File(project_folder.join(file)),
        };
        self.target.get_or_insert((target, Origin::ProjectFile));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_variable_stands_above_the_project_file_which_alone_turns_content_on() {
        let target = |variable: &str, file: Option<&str>| {
            let variables = |name: &str| (name == TRACE_VARIABLE).then(|| OsString::from(variable));
            let mut settings = TraceSettings::of_variables(Path::new("/here"), &variables);
            assert!(!settings.content);
            let table = TraceTable {
                file: file.map(str::to_owned),
                content: true,
            };
            settings.apply(&table, Path::new("/p")).unwrap();
            assert!(settings.content);
            settings.target.map(|(target, _)| target)
        };
        let file = |path: &str| Some(TraceTarget::File(PathBuf::from(path)));
        assert_eq!(target("", None), None);
        assert_eq!(target("-", None), Some(TraceTarget::Stderr));
        assert_eq!(target("", Some("-")), Some(TraceTarget::Stderr));
        assert_eq!(target("", Some("spans.jsonl")), file("/p/spans.jsonl"));
        assert_eq!(target("a.jsonl", Some("-")), file("/here/a.jsonl"));
        let table = TraceTable {
            file: Some(" ".to_owned()),
            content: false,
        };
        let refused = TraceSettings::default().apply(&table, Path::new("/p"));
        assert!(refused.unwrap_err().contains("empty"));
    }
}
