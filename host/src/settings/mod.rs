//! Settings as the program uses them: found, read, checked, every path resolved.
//!
//! Only this module and `main` know where settings come from. The project file is looked for from
//! the current folder upwards; `OPENPROGRAM_HOME` moves the state folder and nothing else. Variables
//! are asked for by name and never listed.

mod edit;
mod file;
mod find;
mod grants;
mod limits;
mod models;
mod origin;
mod registry;
mod signatures;
mod skills;
mod slips;
mod terminal;
mod toolsets;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use edit::{EditError, Given, ProjectText};
pub use file::{ComponentEntry, FormError, ProjectFile, ProviderEntry, RuntimesTable};
use openprogram_core::grant::Grants;
use openprogram_core::secret::Secret;
use openprogram_core::tool_filter::ToolSets;

use crate::fetch::Logins;

pub use find::{LOCK_FILE, PROJECT_FILE, PROJECT_FILE_BYTES_MAX, speaks_for};
pub use limits::{
    ComponentLimits, LimitsTable, MAX_PROVIDER_CALLS, MAX_TIME_S, MAX_TOKENS, MAX_TURNS,
};
pub use models::{ModelNames, ModelSettings, ProviderSettings, ThinkingSettings};
pub use origin::{NumberVariable, Origin};
pub use registry::REGISTRY_VARIABLE;
pub use signatures::{SignatureSettings, SignaturesTable};
pub use skills::{SkillFolder, SkillSettings, SkillsEntry};
pub use terminal::{ColourMode, TerminalSettings};
pub use trace::{TRACE_VARIABLE, TraceSettings, TraceTable, TraceTarget};

/// The state folder inside the project folder.
const STATE_FOLDER: &str = ".openprogram";
/// Longest name of a component. It is shown in lists and in full function names.
const COMPONENT_NAME_BYTES_MAX: usize = 64;
/// Most components in one project file, and most in one lock file; each is known at the start of
/// a run.
pub const COMPONENTS_MAX: usize = 1_000;

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The project file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The project file is larger than anyone writes by hand.
    #[error("`{}` is larger than {PROJECT_FILE_BYTES_MAX} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The project file belongs to someone else, who could name sources to be built.
    #[error(
        "`{}` belongs to another user, and naming a source folder in it runs that user's build \
         scripts as you; work in a folder of your own, or make the file yours", path.display()
    )]
    NotYours {
        /// The file.
        path: PathBuf,
    },
    /// The project file does not have the form of one.
    #[error("`{}` is not a valid project file", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        source: FormError,
    },
    /// A value in the project file cannot be used.
    #[error("`{key}` in `{}`: {message}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key, dotted.
        key: String,
        /// What is wrong and what would be right.
        message: String,
    },
}

impl SettingsError {
    /// The project file that cannot be used.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Unreadable { path, .. }
            | Self::TooLarge { path }
            | Self::NotYours { path }
            | Self::Invalid { path, .. }
            | Self::Value { path, .. } => path,
        }
    }
}

/// One component of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentSettings {
    /// The name under which it is known.
    pub name: String,
    /// The file or source folder, absolute.
    pub source: PathBuf,
    /// What it is granted.
    pub grants: Grants,
}

/// Everything that was set, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The project file, if there is one.
    pub project_file: Option<PathBuf>,
    /// The folder of the project file or of the lock file; the current one without either.
    pub project_folder: PathBuf,
    /// The folder that relative paths on the command line start from.
    pub current_folder: PathBuf,
    /// The folder that holds sessions and caches; it may not exist yet.
    pub state_folder: PathBuf,
    /// What says where that folder is.
    pub state_origin: Origin,
    /// The models, and where they are served.
    pub models: ModelSettings,
    /// The components that the project file names a source of, by name.
    pub components: Vec<ComponentSettings>,
    /// What the project file grants to components that are installed, by name.
    pub grants_of_installed: BTreeMap<String, Grants>,
    /// The limits of the components for which the project file sets some, by name.
    pub component_limits: BTreeMap<String, ComponentLimits>,
    /// The components whose instances may live on between calls.
    pub stateful: BTreeSet<String>,
    /// The values of the variables that are granted, to be seen or as secrets, by name; those that
    /// are not set are absent.
    pub granted_values: BTreeMap<String, Secret>,
    /// Variables that a command names, and whether each is set; their values are not kept.
    pub named_variables: BTreeMap<String, bool>,
    /// How much runs may use up; the values are right.
    pub limits: LimitsTable,
    /// The sets of tools, and what is no tool in turns from somewhere.
    pub tool_sets: ToolSets,
    /// Who may sign what is installed.
    pub signatures: SignatureSettings,
    /// Where the spans of runs are written.
    pub trace: TraceSettings,
    /// Where skills are looked for.
    pub skills: SkillSettings,
    /// Where the logins of registries are.
    pub logins: Logins,
    /// How a terminal may be written to.
    pub terminal: TerminalSettings,
}

/// The settings, and what kept the project file out of them.
#[derive(Debug)]
pub struct Found {
    /// All settings, or those that hold without a project file when there is a problem.
    pub settings: Settings,
    /// Why the project file cannot be used.
    pub problem: Option<SettingsError>,
}

/// Looks up one variable of the environment.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Settings {
    /// Finds and reads the settings for a command that is run in `current_folder`.
    ///
    /// Nothing is created.
    ///
    /// # Errors
    /// When the project file cannot be read or holds something that cannot be used.
    pub fn load(current_folder: &Path, variables: Variables) -> Result<Self, SettingsError> {
        let Found { settings, problem } = Self::find(current_folder, variables);
        problem.map_or(Ok(settings), Err)
    }

    /// The same for commands that have work to do when the project file cannot be used.
    #[must_use]
    pub fn find(current_folder: &Path, variables: Variables) -> Found {
        let without = |project_folder: &Path| {
            Self::without_project(current_folder, project_folder, variables)
        };
        let (project_folder, found) = match find::project(current_folder) {
            Ok(found) => found,
            Err(problem) => {
                let folder = problem.path().parent().unwrap_or(current_folder);
                return Found {
                    settings: without(folder),
                    problem: Some(problem),
                };
            }
        };
        let mut settings = without(&project_folder);
        let Some((path, text)) = found else {
            return Found {
                settings,
                problem: None,
            };
        };
        let read = ProjectFile::read(&text).map_err(|source| SettingsError::Invalid {
            path: path.clone(),
            source,
        });
        match read.and_then(|file| settings.apply(file, &path, variables)) {
            Ok(()) => Found {
                settings,
                problem: None,
            },
            Err(problem) => Found {
                settings: without(&project_folder),
                problem: Some(problem),
            },
        }
    }

    /// What holds before the project file is read: it decides where the state folder is.
    fn without_project(current_folder: &Path, project_folder: &Path, variables: Variables) -> Self {
        let home = variables("OPENPROGRAM_HOME").filter(|value| !value.is_empty());
        let (state_folder, state_origin) = match home {
            Some(home) => (
                current_folder.join(home),
                Origin::Variable("OPENPROGRAM_HOME".to_owned()),
            ),
            None => (project_folder.join(STATE_FOLDER), Origin::Default),
        };
        Self {
            project_file: None,
            project_folder: project_folder.to_owned(),
            current_folder: current_folder.to_owned(),
            state_folder,
            state_origin,
            models: ModelSettings::of_variables(variables),
            components: Vec::new(),
            grants_of_installed: BTreeMap::new(),
            granted_values: BTreeMap::new(),
            named_variables: BTreeMap::new(),
            component_limits: BTreeMap::new(),
            stateful: BTreeSet::new(),
            limits: LimitsTable::default(),
            tool_sets: ToolSets::default(),
            signatures: SignatureSettings::default(),
            trace: TraceSettings::of_variables(current_folder, variables),
            skills: SkillSettings::default(),
            logins: registry::logins(variables),
            terminal: TerminalSettings::of_variables(variables),
        }
    }

    /// The component of this name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&ComponentSettings> {
        self.components.iter().find(|c| c.name == name)
    }

    /// The grants of every component, whichever file names its source.
    pub fn all_grants(&self) -> impl Iterator<Item = &Grants> {
        let named = self.components.iter().map(|component| &component.grants);
        named.chain(self.grants_of_installed.values())
    }

    fn apply(
        &mut self,
        file: ProjectFile,
        path: &Path,
        variables: Variables,
    ) -> Result<(), SettingsError> {
        let project_folder = path.parent().unwrap_or(path);
        let current = self.current_folder.clone();
        let invalid = |key: String, message: String| SettingsError::Value {
            path: path.to_owned(),
            key,
            message,
        };
        let names = ModelNames {
            main: file.model,
            exec: file.runtimes.exec,
            review: file.runtimes.review,
        };
        self.models.thinking = ThinkingSettings::read(
            file.thinking_level.as_deref(),
            file.runtimes.exec_thinking_level.as_deref(),
            file.runtimes.review_thinking_level.as_deref(),
        )
        .map_err(|(key, message)| invalid(key, message))?;
        self.models
            .apply(names, file.providers, file.profiles, variables)
            .map_err(|(key, message)| invalid(key, message))?;
        self.signatures = SignatureSettings::read(&file.signatures, project_folder)
            .map_err(|(key, message)| invalid(key.to_owned(), message))?;
        let trace = self.trace.apply(&file.trace, project_folder);
        trace.map_err(|message| invalid("trace.file".to_owned(), message))?;
        self.skills = SkillSettings::read(&file.skills, project_folder, &current, variables)
            .map_err(|message| invalid("skills".to_owned(), message))?;
        let checked = file.limits.check();
        checked.map_err(|(key, message)| invalid(key, message))?;
        self.limits = file.limits;
        let sets = toolsets::read(file.toolsets, file.unsafe_in);
        self.tool_sets = sets.map_err(|(key, message)| invalid(key, message))?;
        if file.components.len() > COMPONENTS_MAX {
            let message = format!("more than {COMPONENTS_MAX} components");
            return Err(invalid("components".to_owned(), message));
        }
        for (name, mut entry) in file.components {
            let key = format!("components.{name}");
            let slip = slips::hint_of_component(&name, entry.source.as_deref());
            slip.map_or(Ok(()), |hint| Err(invalid(key.clone(), hint)))?;
            check_component_name(&name).map_err(|message| invalid(key.clone(), message))?;
            let collapsed = entry.grants.collapse();
            collapsed
                .map_err(|(kind, message)| invalid(format!("{key}.{}", kind.key()), message))?;
            let source = entry.source.as_deref();
            if source.is_some_and(|source| source.trim().is_empty()) {
                let message = "the path is empty; write a `.wasm` file or a source folder";
                return Err(invalid(key, message.to_owned()));
            }
            let limits = ComponentLimits::of(entry.limits);
            let limits = limits.map_err(|message| invalid(format!("{key}.limits"), message))?;
            self.component_limits
                .extend(limits.map(|limits| (name.clone(), limits)));
            self.stateful.extend(entry.stateful.then(|| name.clone()));
            self.look_up(&entry.grants, variables);
            let Some(source) = source else {
                self.grants_of_installed.insert(name, entry.grants);
                continue;
            };
            self.components.push(ComponentSettings {
                // Collected by parts, so that `.` and doubled slashes are not shown.
                source: project_folder.join(source).components().collect(),
                name,
                grants: entry.grants,
            });
        }
        self.project_file = Some(path.to_owned());
        Ok(())
    }

    /// Keeps the values of the variables that are granted. One that is no text counts as not set.
    fn look_up(&mut self, grants: &Grants, variables: Variables<'_>) {
        let seen = grants.env.iter().map(|grant| &grant.what.name);
        let secret = grants.secrets.iter().map(|grant| &grant.what.variable);
        for name in seen.chain(secret) {
            if let Some(value) = variables(name).and_then(|value| value.into_string().ok()) {
                self.granted_values
                    .insert(name.clone(), Secret::verbatim(value));
            }
        }
    }
}

/// Checks the name of a component: kebab-case, as WIT has it.
///
/// # Errors
/// A sentence that says what a name looks like.
pub fn check_component_name(name: &str) -> Result<(), String> {
    let word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    if name.len() <= COMPONENT_NAME_BYTES_MAX && name.split('-').all(word) {
        return Ok(());
    }
    Err(format!(
        "the name of a component is words of lower-case letters and digits joined by `-`, each \
         beginning with a letter, at most {COMPONENT_NAME_BYTES_MAX} bytes in all"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::{Expect, expect};

    use super::*;

    const NO_VARIABLES: Variables = &|_| None;

    fn project(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROJECT_FILE), text).unwrap();
        folder
    }

    #[test]
    fn the_project_file_is_found_upwards_and_paths_start_at_it() {
        let project = project(
            "model = \"component:m\"\n\
             [components]\nm = \"m.wasm\"\nabs = \"/x/abs.wasm\"\n\
             [components.shop]\nsource = \"src/shop\"\ncalls = [\"refund\"]\n\
             [components.locked]\ncalls = [\"double\"]\n",
        );
        let deep = project.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let granted = |calls: &[&str]| Grants {
            calls: calls.iter().map(|call| call.parse().unwrap()).collect(),
            ..Grants::default()
        };
        let component = |name: &str, source: PathBuf, calls: &[&str]| ComponentSettings {
            name: name.to_owned(),
            source,
            grants: granted(calls),
        };
        let expected = Settings {
            project_file: Some(project.path().join(PROJECT_FILE)),
            project_folder: project.path().to_owned(),
            current_folder: deep.clone(),
            state_folder: project.path().join(".openprogram"),
            state_origin: Origin::Default,
            models: ModelSettings {
                names: ModelNames {
                    main: Some("component:m".to_owned()),
                    ..ModelNames::default()
                },
                ..ModelSettings::of_variables(NO_VARIABLES)
            },
            terminal: TerminalSettings::of_variables(NO_VARIABLES),
            components: vec![
                component("abs", PathBuf::from("/x/abs.wasm"), &[]),
                component("m", project.path().join("m.wasm"), &[]),
                component("shop", project.path().join("src/shop"), &["refund"]),
            ],
            component_limits: BTreeMap::new(),
            stateful: BTreeSet::new(),
            granted_values: BTreeMap::new(),
            named_variables: BTreeMap::new(),
            limits: LimitsTable::default(),
            tool_sets: ToolSets::default(),
            signatures: SignatureSettings::default(),
            trace: TraceSettings::default(),
            skills: SkillSettings::default(),
            logins: Logins::default(),
            grants_of_installed: [("locked".to_owned(), granted(&["double"]))].into(),
        };
        assert_eq!(Settings::load(&deep, NO_VARIABLES).unwrap(), expected);
    }

    #[test]
    fn a_lock_file_alone_makes_a_project_and_the_nearest_of_both_files_counts() {
        let project = project("");
        let (inner, deep) = (project.path().join("a"), project.path().join("a/b"));
        fs::create_dir_all(&deep).unwrap();
        let folder = || {
            let settings = Settings::load(&deep, NO_VARIABLES).unwrap();
            (settings.project_folder, settings.project_file.is_some())
        };
        assert_eq!(folder(), (project.path().to_owned(), true));
        fs::write(inner.join(LOCK_FILE), "").unwrap();
        assert_eq!(folder(), (inner.clone(), false));
        fs::write(inner.join(PROJECT_FILE), "").unwrap();
        assert_eq!(folder(), (inner, true));
    }

    #[test]
    fn home_moves_the_state_and_an_empty_home_does_not() {
        let project = project("");
        let state = |home: &str| {
            let variables = |name: &str| (name == "OPENPROGRAM_HOME").then(|| home.into());
            let settings = Settings::load(project.path(), &variables).unwrap();
            settings.state_folder
        };
        assert_eq!(state("/elsewhere"), PathBuf::from("/elsewhere"));
        assert_eq!(state("near"), project.path().join("near"));
        assert_eq!(state(""), project.path().join(".openprogram"));
    }

    #[test]
    fn a_broken_project_file_leaves_what_holds_without_it() {
        for text in ["modle = 1", "model = \"x\"", "[components]\nBad = \"x\""] {
            let project = project(&format!("model = \"a:b\"\n{text}"));
            let deep = project.path().join("deep");
            fs::create_dir(&deep).unwrap();
            let Found { settings, problem } = Settings::find(&deep, NO_VARIABLES);
            assert_eq!(
                problem.unwrap().path(),
                project.path().join(PROJECT_FILE),
                "{text}"
            );
            let told = (settings.project_file, settings.models.names);
            assert_eq!(told, (None, ModelNames::default()), "{text}");
            assert_eq!(settings.state_folder, project.path().join(STATE_FOLDER));
        }
    }

    fn check(text: &str, expected: Expect) {
        let project = project(text);
        let error = Settings::load(project.path(), NO_VARIABLES).unwrap_err();
        let shown = error.to_string();
        expected.assert_eq(&shown.replace(&project.path().display().to_string(), "PROJECT"));
    }

    #[test]
    fn models_and_providers_that_cannot_be_used_are_named() {
        check(
            "[runtimes]\nexec = \"x\"",
            expect![
                "`runtimes.exec` in `PROJECT/openprogram.toml`: it is not the name of a model; write `provider:model`, for example `anthropic:claude-sonnet-5-5` or `component:lexical-model`"
            ],
        );
        check(
            "[runtimes]\nreview = \"x:\"",
            expect![
                "`runtimes.review` in `PROJECT/openprogram.toml`: it is not the name of a model; write `provider:model`, for example `anthropic:claude-sonnet-5-5` or `component:lexical-model`"
            ],
        );
        check(
            "[providers.openai]\nprotocol = \"openai\"\nbase_url = \"http://[::1]/v1\"",
            expect![
                "`providers.openai` in `PROJECT/openprogram.toml`: `openai` is known already; take another name. `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL` move the known ones"
            ],
        );
        check(
            "[providers.Home]\nprotocol = \"openai\"\nbase_url = \"http://[::1]/v1\"",
            expect![
                "`providers.Home` in `PROJECT/openprogram.toml`: the name of a provider is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all"
            ],
        );
        check(
            "[providers.home]\nprotocol = \"openai\"\nbase_url = \" \"",
            expect![
                "`providers.home` in `PROJECT/openprogram.toml`: `base_url` is empty; write a URL, for example `http://127.0.0.1:8080/v1`"
            ],
        );
        check(
            "[providers.home]\nprotocol = \"openai\"\nbase_url = \"http://[::1]/v1\"\nkey_env = \"sk-1=x\"",
            expect![
                "`providers.home` in `PROJECT/openprogram.toml`: `key_env` is the name of a variable that holds the key, not the key: letters, digits and `_`"
            ],
        );
    }

    #[test]
    fn limits_of_runs_are_read_and_those_beyond_their_ceilings_are_named() {
        let set = |text: &str| {
            let project = project(&format!("[limits]\n{text}"));
            let loaded = Settings::load(project.path(), NO_VARIABLES);
            loaded.map(|settings| settings.limits).map_err(|error| {
                let shown = error.to_string();
                shown.replace(&project.path().display().to_string(), "PROJECT")
            })
        };
        let all = LimitsTable {
            max_tokens: Some(MAX_TOKENS),
            max_time_s: Some(MAX_TIME_S),
            max_turns: Some(MAX_TURNS),
            provider_calls: Some(1_000),
        };
        let text = "max_tokens = 1_000_000_000_000\nmax_time_s = 2_592_000\n\
                    max_turns = 1_000_000\nprovider_calls = 1_000";
        assert_eq!(set(text), Ok(all));
        assert_eq!(set(""), Ok(LimitsTable::default()));
        for (key, most) in [
            ("max_tokens", MAX_TOKENS),
            ("max_time_s", MAX_TIME_S),
            ("max_turns", MAX_TURNS),
            ("provider_calls", MAX_PROVIDER_CALLS),
        ] {
            for value in [0, most + 1] {
                let expected = format!(
                    "`limits.{key}` in `PROJECT/openprogram.toml`: it must be from 1 to {most}, \
                     not {value}"
                );
                assert_eq!(set(&format!("{key} = {value}")), Err(expected));
            }
        }
        for text in ["max_token = 1", "max_turns = -1", "max_time_s = 1.5"] {
            let expected = "`PROJECT/openprogram.toml` is not a valid project file";
            assert_eq!(set(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_that_cannot_be_used_are_named() {
        check(
            "model = \"lexical-model\"",
            expect![
                "`model` in `PROJECT/openprogram.toml`: it is not the name of a model; write `provider:model`, for example `anthropic:claude-sonnet-5-5` or `component:lexical-model`"
            ],
        );
        check(
            "model = \":x\"",
            expect![
                "`model` in `PROJECT/openprogram.toml`: it is not the name of a model; write `provider:model`, for example `anthropic:claude-sonnet-5-5` or `component:lexical-model`"
            ],
        );
        check(
            "[components]\nBad = \"x\"",
            expect![
                "`components.Bad` in `PROJECT/openprogram.toml`: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all"
            ],
        );
        check(
            "[components]\n\"\" = \"x\"",
            expect![
                "`components.` in `PROJECT/openprogram.toml`: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all"
            ],
        );
        check(
            "[components]\na-1 = \"x\"",
            expect![
                "`components.a-1` in `PROJECT/openprogram.toml`: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all"
            ],
        );
        check(
            "[components]\na = \" \"",
            expect![
                "`components.a` in `PROJECT/openprogram.toml`: the path is empty; write a `.wasm` file or a source folder"
            ],
        );
        check(
            "[components.a]\nmodels = [\"x:y=5\", \"x:y=6\"]",
            expect![
                "`components.a.models` in `PROJECT/openprogram.toml`: `x:y=5` and `x:y=6` are about the same thing and say different things; keep one"
            ],
        );
        check(
            "[components.a]\nsource = \"x\"\ncalls = [\"\"]",
            expect!["`PROJECT/openprogram.toml` is not a valid project file"],
        );
        check(
            "colour = 1",
            expect!["`PROJECT/openprogram.toml` is not a valid project file"],
        );
        check(
            &" ".repeat(PROJECT_FILE_BYTES_MAX as usize + 1),
            expect!["`PROJECT/openprogram.toml` is larger than 1048576 bytes"],
        );
    }
}
