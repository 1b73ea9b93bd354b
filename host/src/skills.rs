//! The skills in folders: found, read, and read again when they have changed.
//!
//! Links are not followed, so that what looks like a folder of skills leads to nothing else, and
//! everything is bounded: whoever wrote a project wrote its skills.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use openprogram_core::skill::{SKILL_FILE, SKILL_FILE_BYTES_MAX, Skill, SkillSource, Skills};

use crate::input::open_found;
use crate::settings::SkillFolder;

/// How deep folders are looked through.
const DEPTH_MAX: usize = 6;
/// Most files and folders that are looked at for one turn.
const LOOKED_AT_MAX: usize = 10_000;
/// Most files that are read; of more skills no model is told anyway.
const FILES_MAX: usize = 1_000;

/// Skills of folders, and others that do not change.
pub struct FolderSkills {
    folders: Vec<SkillFolder>,
    fixed: Vec<Skill>,
    /// What was read last.
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    look: Look,
    files: Vec<(Seen, Result<Skill, String>)>,
    skills: Arc<Skills>,
}

/// What was found, before anything is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Look {
    files: Vec<Seen>,
    notices: Vec<String>,
    n_looked_at: usize,
}

/// One file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    /// The folders from the one of skills to the file; empty for a file right in it.
    name: String,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl FolderSkills {
    /// The skills in these folders, those in later ones counting, and before all of them `fixed`.
    /// Reads nothing yet.
    #[must_use]
    pub fn new(folders: Vec<SkillFolder>, fixed: Vec<Skill>) -> Self {
        Self {
            folders,
            fixed,
            kept: Mutex::default(),
        }
    }
}

impl SkillSource for FolderSkills {
    fn skills(&self) -> Arc<Skills> {
        let mut look = Look::default();
        for folder in &self.folders {
            look.folder(folder);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.look == look && !(kept.skills.is_empty() && kept.files.is_empty()) {
            return Arc::clone(&kept.skills);
        }
        let before = std::mem::take(&mut kept.files);
        for seen in &look.files {
            let known = before.iter().find(|(known, _)| known == seen);
            let read = known.map_or_else(|| seen.read(), |(_, read)| read.clone());
            kept.files.push((seen.clone(), read));
        }
        let found = kept.files.iter().filter_map(|(_, read)| read.clone().ok());
        let problems = kept.files.iter().filter_map(|(seen, read)| {
            let problem = read.as_ref().err()?;
            let path = seen.path.display();
            Some(format!("the skill `{path}` is left out: {problem}"))
        });
        let notices = look.notices.iter().cloned().chain(problems);
        let skills = Skills::new(self.fixed.iter().cloned().chain(found));
        let skills = Arc::new(skills.with_notices(notices.collect::<Vec<_>>()));
        kept.look = look;
        kept.skills = Arc::clone(&skills);
        skills
    }
}

impl Look {
    fn folder(&mut self, folder: &SkillFolder) {
        let path = &folder.path;
        // A person may have made a link of a folder that they name, and a project may not have made
        // one of the folder that nobody named.
        let found = if folder.is_named {
            path.metadata()
        } else {
            path.symlink_metadata()
        };
        let shown = path.display();
        match found {
            Ok(found) if found.is_dir() => self.walk(path, "", 0),
            Ok(_) => self.notices.push(format!(
                "`{shown}` is no folder, so it is not looked through for skills"
            )),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.is_named => {}
            Err(error) => self
                .notices
                .push(format!("no skills are read from `{shown}`: {error}")),
        }
    }

    fn walk(&mut self, folder: &Path, name: &str, depth: usize) {
        let listed = fs::read_dir(folder).and_then(|entries| {
            let room = (LOOKED_AT_MAX + 1).saturating_sub(self.n_looked_at);
            entries.take(room).collect::<io::Result<Vec<_>>>()
        });
        let mut entries = match listed {
            Ok(entries) => entries,
            Err(error) => {
                let shown = folder.display();
                let notice = format!("no skills are read from `{shown}`: {error}");
                return self.notices.push(notice);
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            self.n_looked_at += 1;
            if self.n_looked_at > LOOKED_AT_MAX || self.files.len() == FILES_MAX {
                let notice = "there is too much in the folders of skills, so some are left out";
                if self.notices.last().is_none_or(|last| last != notice) {
                    self.notices.push(notice.to_owned());
                }
                return;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let file_name = entry.file_name();
            let path = entry.path();
            if file_name == SKILL_FILE && kind.is_file() {
                self.file(path, name, &entry);
            } else if kind.is_symlink() {
                if file_name == SKILL_FILE || path.join(SKILL_FILE).exists() {
                    let shown = path.display();
                    let notice = format!(
                        "`{shown}` is a link, and links are not followed for skills; put the skill \
                         itself there"
                    );
                    self.notices.push(notice);
                }
            } else if kind.is_dir() && depth < DEPTH_MAX && !is_hidden(&file_name) {
                let part = file_name.to_string_lossy();
                let inner = match name {
                    "" => part.into_owned(),
                    name => format!("{name}/{part}"),
                };
                self.walk(&path, &inner, depth + 1);
            }
        }
    }

    fn file(&mut self, path: PathBuf, name: &str, entry: &fs::DirEntry) {
        let Ok(metadata) = entry.metadata() else {
            return;
        };
        self.files.push(Seen {
            path,
            name: name.to_owned(),
            modified: metadata.modified().ok(),
            bytes: metadata.len(),
        });
    }
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

impl Seen {
    fn read(&self) -> Result<Skill, String> {
        let mut bytes = Vec::new();
        let most = SKILL_FILE_BYTES_MAX as u64 + 1;
        open_found(&self.path)
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let parsed = match self.name.as_str() {
            "" => {
                let folder = self.path.parent().and_then(Path::file_name);
                let folder = folder.unwrap_or_default().to_string_lossy();
                Skill::parse_unnamed(&folder, &text)
            }
            name => Skill::parse(name, &text),
        };
        parsed.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn skill(&self, path: &str, description: &str) {
            self.write(
                path,
                &format!("---\ndescription: {description}\n---\nDo it.\n"),
            );
        }

        fn source(&self, names: &[&str], is_named: bool) -> FolderSkills {
            let folders = names.iter().map(|name| SkillFolder {
                path: self.path(name),
                is_named,
            });
            FolderSkills::new(folders.collect(), Vec::new())
        }

        /// Each skill with its description, and each notice.
        fn shown(&self, skills: &Skills) -> Vec<String> {
            let told = skills
                .iter()
                .map(|skill| format!("{}: {}", skill.name, skill.description));
            let notices = skills
                .notices()
                .iter()
                .map(|notice| notice.replace(&self.0.path().display().to_string(), "FOLDER"));
            told.chain(notices).collect()
        }
    }

    #[test]
    fn skills_lie_anywhere_in_a_folder_and_have_the_names_of_their_folders() {
        let folder = Folder::new();
        folder.skill("a/office/forms/SKILL.md", "Forms.");
        folder.skill("a/SKILL.md", "Top.");
        folder.skill("a/pdf/SKILL.md", "First.");
        folder.skill("a/pdf/skill.md", "Not one.");
        folder.skill("a/.git/x/SKILL.md", "Hidden.");
        folder.skill("b/pdf/SKILL.md", "Second.");
        let skills = folder.source(&["a", "b", "none"], false).skills();
        let expected = [
            "a: Top.",
            "office/forms: Forms.",
            "pdf: Second.",
            "there are several skills `pdf`; the one in the later folder counts",
        ];
        assert_eq!(folder.shown(&skills), expected);
    }

    #[test]
    fn changes_are_seen_by_the_next_turn_and_nothing_is_read_twice() {
        let folder = Folder::new();
        let source = folder.source(&["a"], false);
        assert_eq!(folder.shown(&source.skills()), [""; 0]);
        folder.skill("a/x/SKILL.md", "One.");
        let first = source.skills();
        assert_eq!(folder.shown(&first), ["x: One."]);
        assert!(Arc::ptr_eq(&first, &source.skills()));
        folder.skill("a/x/SKILL.md", "Changed.");
        folder.skill("a/y/SKILL.md", "Two.");
        let second = source.skills();
        assert_eq!(folder.shown(&second), ["x: Changed.", "y: Two."]);
        fs::remove_dir_all(folder.path("a/x")).unwrap();
        assert_eq!(folder.shown(&source.skills()), ["y: Two."]);
        fs::remove_dir_all(folder.path("a")).unwrap();
        assert_eq!(folder.shown(&source.skills()), [""; 0]);
    }

    #[test]
    fn links_lead_nowhere_and_what_is_no_skill_is_told() {
        let folder = Folder::new();
        folder.skill("secret/SKILL.md", "Secret.");
        folder.write("a/text/SKILL.md", "No front matter.");
        folder.write("a/bytes/SKILL.md", "");
        fs::write(folder.path("a/bytes/SKILL.md"), b"\xff").unwrap();
        fs::create_dir_all(folder.path("a/file")).unwrap();
        symlink(folder.path("secret"), folder.path("a/folder")).unwrap();
        symlink(
            folder.path("secret/SKILL.md"),
            folder.path("a/file/SKILL.md"),
        )
        .unwrap();
        symlink(folder.path("secret"), folder.path("root")).unwrap();
        let skills = folder.source(&["a", "root"], false).skills();
        let expected = [
            "`FOLDER/a/file/SKILL.md` is a link, and links are not followed for skills; put the skill itself there",
            "`FOLDER/a/folder` is a link, and links are not followed for skills; put the skill itself there",
            "`FOLDER/root` is no folder, so it is not looked through for skills",
            "the skill `FOLDER/a/bytes/SKILL.md` is left out: it is not UTF-8 text",
            "the skill `FOLDER/a/text/SKILL.md` is left out: it begins with no front matter; write a line `---`, `description: …`, and `---` again",
        ];
        assert_eq!(folder.shown(&skills), expected);
        let named = folder.source(&["root", "none"], true).skills();
        let expected = [
            "root: Secret.",
            "no skills are read from `FOLDER/none`: No such file or directory (os error 2)",
        ];
        assert_eq!(folder.shown(&named), expected);
    }
}
