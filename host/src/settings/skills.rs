//! Where skills are looked for: nowhere, in the usual folders, or in folders that are named.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};

use super::Variables;

/// The folder of skills, inside the project and inside the folder of the person.
const SKILLS_FOLDER: &str = "skills";
/// Most folders that a project names.
const FOLDERS_MAX: usize = 32;

/// `skills` in the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SkillsEntry {
    /// `false`, or nothing: models are told of no skills.
    #[default]
    Off,
    /// `true`: those of components, of the person and of the project.
    Usual,
    /// Those in these folders, relative to the project file.
    Folders(Vec<String>),
}

impl<'de> Deserialize<'de> for SkillsEntry {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOrFolders;

        impl<'de> Visitor<'de> for SwitchOrFolders {
            type Value = SkillsEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false`, or a list of folders")
            }

            fn visit_bool<E: de::Error>(self, is_on: bool) -> Result<SkillsEntry, E> {
                Ok(if is_on {
                    SkillsEntry::Usual
                } else {
                    SkillsEntry::Off
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SkillsEntry, A::Error> {
                let folders = Vec::deserialize(de::value::SeqAccessDeserializer::new(list))?;
                Ok(SkillsEntry::Folders(folders))
            }
        }

        deserializer.deserialize_any(SwitchOrFolders)
    }
}

/// Where skills are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillSettings {
    /// The folders; of skills of one name the one in the last of them counts.
    pub folders: Vec<SkillFolder>,
    /// Whether those of components count too, before all folders.
    pub of_components: bool,
}

/// A folder of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it was named, so that a person is told when it is not there.
    pub is_named: bool,
}

impl SkillSettings {
    /// Whether models are told of skills.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.of_components || !self.folders.is_empty()
    }

    /// Nothing is looked at.
    ///
    /// # Errors
    /// What is wrong with the value in the project file.
    pub(super) fn read(
        entry: &SkillsEntry,
        project_folder: &Path,
        current_folder: &Path,
        variables: Variables<'_>,
    ) -> Result<Self, String> {
        let folder = |path: PathBuf, is_named| SkillFolder {
            // Collected by parts, so that `.` and doubled slashes are not shown.
            path: path.components().collect(),
            is_named,
        };
        match entry {
            SkillsEntry::Off => Ok(Self::default()),
            SkillsEntry::Usual => {
                let own = own_folder(current_folder, variables);
                let project = project_folder.join(SKILLS_FOLDER);
                let folders = own.into_iter().chain([project]);
                Ok(Self {
                    folders: folders.map(|path| folder(path, false)).collect(),
                    of_components: true,
                })
            }
            SkillsEntry::Folders(named) => {
                if named.len() > FOLDERS_MAX {
                    return Err(format!("more than {FOLDERS_MAX} folders"));
                }
                if named.iter().any(|path| path.trim().is_empty()) {
                    return Err("a path is empty; write a folder".to_owned());
                }
                let named = named.iter().map(|path| project_folder.join(path));
                Ok(Self {
                    folders: named.map(|path| folder(path, true)).collect(),
                    of_components: false,
                })
            }
        }
    }
}

/// The skills of the person, for all projects.
fn own_folder(current_folder: &Path, variables: Variables<'_>) -> Option<PathBuf> {
    let set = |name: &str| variables(name).filter(|value: &OsString| !value.is_empty());
    if let Some(home) = set("OPENPROGRAM_HOME") {
        return Some(current_folder.join(home).join(SKILLS_FOLDER));
    }
    // A relative path there means nothing, by the convention for that variable.
    let config = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")))?;
    Some(config.join("openprogram").join(SKILLS_FOLDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(entry: &SkillsEntry, set: &[(&str, &str)]) -> Vec<String> {
        let variables = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let (project, current) = (Path::new("/p"), Path::new("/p/deep"));
        let settings = SkillSettings::read(entry, project, current, &variables).unwrap();
        let shown = settings.folders.iter();
        shown
            .map(|folder| folder.path.display().to_string())
            .collect()
    }

    #[test]
    fn the_usual_folders_are_those_of_the_person_and_of_the_project() {
        let usual = |set: &[(&str, &str)]| folders(&SkillsEntry::Usual, set);
        let home = ("HOME", "/h");
        assert_eq!(usual(&[]), ["/p/skills"]);
        assert_eq!(
            usual(&[home]),
            ["/h/.config/openprogram/skills", "/p/skills"]
        );
        let config = ("XDG_CONFIG_HOME", "/c");
        assert_eq!(
            usual(&[home, config]),
            ["/c/openprogram/skills", "/p/skills"]
        );
        let relative = ("XDG_CONFIG_HOME", "c");
        assert_eq!(usual(&[home, relative]), usual(&[home]));
        let own = ("OPENPROGRAM_HOME", "state");
        assert_eq!(usual(&[home, own]), ["/p/deep/state/skills", "/p/skills"]);
    }

    #[test]
    fn skills_are_off_and_folders_can_be_named() {
        assert_eq!(folders(&SkillsEntry::Off, &[("HOME", "/h")]), [""; 0]);
        let named = SkillsEntry::Folders(vec!["./a//b".to_owned(), "/abs".to_owned()]);
        assert_eq!(folders(&named, &[("HOME", "/h")]), ["/p/a/b", "/abs"]);
        let refused = |paths: Vec<String>| {
            let entry = SkillsEntry::Folders(paths);
            let (project, none) = (Path::new("/p"), |_: &str| None);
            SkillSettings::read(&entry, project, project, &none).unwrap_err()
        };
        assert_eq!(
            refused(vec![" ".to_owned()]),
            "a path is empty; write a folder"
        );
        assert_eq!(refused(vec!["a".to_owned(); 33]), "more than 32 folders");
    }
}
