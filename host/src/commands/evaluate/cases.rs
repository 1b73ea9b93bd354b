//! The file of cases: one JSON object on each line, checked before any model is asked.

use std::path::Path;

use openprogram_core::decision::{FileOption, Menu, MenuOption, make_pick, parse_option_file};
use openprogram_core::failure::Failure;
use openprogram_core::{Json, JsonObject};
use serde::Deserialize;

use crate::commands::exit::Usage;
use crate::input::read_text;

/// Largest file of cases.
const CASES_BYTES_MAX: u64 = 64 << 20;
/// Most cases in a file; each of them asks a model.
const CASES_MAX: usize = 10_000;

/// One line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    prompt: String,
    expected: Expected,
    options: Option<Json>,
    #[serde(default)]
    context: JsonObject,
}

/// The right pick: a name alone, or with its arguments.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`expected` is neither NAME nor {\"call\": NAME, \"args\": {…}}"
)]
enum Expected {
    Name(String),
    Pick(ExpectedPick),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedPick {
    call: String,
    args: Option<JsonObject>,
}

/// One decision whose right pick is known.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Case {
    /// Where it stands, from 1.
    pub(in crate::commands) line: usize,
    pub(super) prompt: String,
    pub(super) options: Vec<MenuOption>,
    pub(in crate::commands) context: JsonObject,
    /// The name of the right option, as the menu spells it.
    pub(super) expected: String,
    /// The right arguments, where the case says which.
    pub(super) arguments: Option<JsonObject>,
}

impl Case {
    /// What it offers.
    pub(in crate::commands) fn options(&self) -> &[MenuOption] {
        &self.options
    }
}

/// The cases before the functions of their options are looked up.
pub(in crate::commands) struct UnresolvedCases {
    lines: Vec<(usize, Line, Vec<FileOption>)>,
    shown: String,
}

/// Reads a file of cases. Blank lines are skipped; a case without options of its own has these.
///
/// # Errors
/// The first line that is no case, by its number.
pub(in crate::commands) fn read_cases(
    file: &Path,
    options: Option<&[FileOption]>,
) -> anyhow::Result<UnresolvedCases> {
    let text = read_text(file, CASES_BYTES_MAX)?;
    let shown = file.display().to_string();
    let broken = |number: usize, why: String| Usage(format!("line {number} of `{shown}`: {why}"));
    let mut lines = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.trim().is_empty() {
            continue;
        }
        if lines.len() == CASES_MAX {
            let why = format!("there are more than {CASES_MAX} cases; split the file");
            return Err(broken(number, why).into());
        }
        let line: Line = serde_json::from_str(line).map_err(|error| {
            let form = r#"a case is {"prompt": TEXT, "expected": NAME}"#;
            broken(number, format!("{}; {form}", without_place(&error)))
        })?;
        let own = line.options.as_ref().map(parse_option_file).transpose();
        let own = own.map_err(|error| broken(number, format!("`options`: {error}")))?;
        let options = match (own, options) {
            (Some(own), _) => own,
            (None, Some(options)) => options.to_vec(),
            (None, None) => {
                let why = "the case has no `options`; give all cases some with `--options`";
                return Err(broken(number, why.to_owned()).into());
            }
        };
        lines.push((number, line, options));
    }
    if lines.is_empty() {
        let why = format!("there is no case in `{shown}`; write one on each line");
        return Err(Usage(why).into());
    }
    Ok(UnresolvedCases { lines, shown })
}

impl UnresolvedCases {
    /// The options of all cases.
    pub(in crate::commands) fn options(&self) -> impl Iterator<Item = &FileOption> {
        self.lines.iter().flat_map(|(_, _, options)| options)
    }

    /// Looks the functions of all options up, and checks that what is expected can be picked.
    ///
    /// # Errors
    /// The first line that cannot be right, by its number.
    pub(in crate::commands) fn resolve(
        self,
        resolve: impl Fn(Vec<FileOption>) -> Result<Vec<MenuOption>, Failure>,
    ) -> anyhow::Result<Vec<Case>> {
        let shown = self.shown;
        let cases = self.lines.into_iter().map(|(number, line, options)| {
            let broken = |why: String| Usage(format!("line {number} of `{shown}`: {why}"));
            let options = resolve(options).map_err(|failure| broken(failure.message))?;
            let menu = Menu::new(options).map_err(|error| broken(error.to_string()))?;
            let (name, arguments) = match line.expected {
                Expected::Name(name) => (name, None),
                Expected::Pick(pick) => (pick.call, pick.args),
            };
            let Some((_, option)) = menu.find(&name) else {
                let why = format!("the expected `{name}` is not one of the options");
                return Err(broken(why).into());
            };
            let expected = option.name.clone();
            let arguments = arguments.map(|given| make_pick(&menu, &expected, given));
            let arguments = arguments
                .transpose()
                .map_err(|error| broken(format!("the expected arguments are none: {error}")))?;
            Ok(Case {
                line: number,
                prompt: line.prompt,
                options: menu.options().to_vec(),
                context: line.context,
                expected,
                arguments: arguments.map(|pick| pick.arguments),
            })
        });
        cases.collect()
    }
}

/// An error of the parser without its line, which is always the first.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(what, _)| what);
    if error.is_data() {
        what.to_owned()
    } else {
        format!("not JSON: {what}")
    }
}
