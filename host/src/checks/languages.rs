//! What sources in JavaScript and Python are built by. Told where the project has such sources.

use super::Check;
use crate::sdk::Language;
use crate::settings::Settings;
use crate::source::{BuildTool, language_of};

pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    let sources = settings
        .components
        .iter()
        .map(|component| &component.source);
    let mut checks = Vec::new();
    for language in [Language::JavaScript, Language::Python] {
        let mut sources = sources.clone().filter(|source| source.is_dir());
        let first = sources.find(|source| language_of(source).is_ok_and(|own| own == language));
        let Some(folder) = first else { continue };
        let tools = BuildTool::of(language);
        checks.extend(tools.iter().map(|tool| check(tool, tool.look(folder))));
    }
    checks
}

fn check(tool: &BuildTool, found: Result<String, String>) -> Check {
    match found {
        Ok(version) => Check::ok(tool.name, version),
        Err(problem) => Check::failed(tool.name, problem, tool.install),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn a_tool_that_is_missing_or_old_is_told_with_how_to_install_it() {
        for language in [Language::JavaScript, Language::Python] {
            for tool in BuildTool::of(language) {
                let found = check(tool, Ok("v22.1.0".to_owned()));
                assert_eq!((found.status, found.mend), (Status::Ok, None));
                let missing = check(tool, Err("it is not there".to_owned()));
                assert_eq!(missing.status, Status::Failed);
                assert!(
                    missing.mend.unwrap().starts_with("install "),
                    "{}",
                    tool.name
                );
            }
        }
        assert_eq!(BuildTool::of(Language::Rust).len(), 0);
    }
}
