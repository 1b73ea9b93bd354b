//! Answers to approvals that hold for good, in one file of the state folder.
//!
//! The file says in which folder on this machine it was made, as the cache does, and each answer for
//! which project folder: what came with a clone or a copy answers nothing. It is replaced whole, under
//! a lock, so that processes that answer at once lose none. Whoever cannot read it asks again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::question::{ANSWERS_KEPT_MAX, AnswerMemory, KeptAnswer};
use serde_json::json;

use super::{ANSWERS_FILE, birth_mark, open_or_create, write_new};

/// Guards the time between reading the file to change it and writing it.
const GUARD_FILE: &str = "approvals.guard";
/// A longer file is none that this program wrote: so many answers are shorter.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Why answers cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// Reading or writing failed.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not what this program writes.
    #[error("`{}` holds no answers of yours; remove it, and you are asked again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

/// The answers of one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswers {
    state: PathBuf,
    project: PathBuf,
}

/// An answer with the mark of the project folder that it was given in.
struct Entry {
    project: String,
    answer: KeptAnswer,
}

impl KeptAnswers {
    /// Those in this state folder for this project folder. Reads and writes nothing.
    pub(super) fn new(state: PathBuf, project: PathBuf) -> Self {
        Self { state, project }
    }

    /// All answers of the project, the oldest first.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn list(&self) -> Result<Vec<KeptAnswer>, AnswersError> {
        let entries = self.read()?;
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let project = mark(&self.project)?;
        let own = entries.into_iter().filter(|entry| entry.project == project);
        Ok(own.map(|entry| entry.answer).collect())
    }

    /// Forgets answers of the project, and gives those that are gone.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn forget(
        &self,
        mut is_meant: impl FnMut(&KeptAnswer) -> bool,
    ) -> Result<Vec<KeptAnswer>, AnswersError> {
        // Looking first leaves a folder without answers as it is.
        if !self.list()?.iter().any(&mut is_meant) {
            return Ok(Vec::new());
        }
        let _guard = self.guard()?;
        let project = mark(&self.project)?;
        let (gone, stays): (Vec<_>, Vec<_>) = self
            .read()?
            .into_iter()
            .partition(|entry| entry.project == project && is_meant(&entry.answer));
        self.write(&stays)?;
        Ok(gone.into_iter().map(|entry| entry.answer).collect())
    }

    fn put(&self, answer: KeptAnswer) -> Result<(), AnswersError> {
        let _guard = self.guard()?;
        let project = mark(&self.project)?;
        let mut entries = self.read()?;
        entries.retain(|e| e.project != project || e.answer.question != answer.question);
        entries.push(Entry { project, answer });
        let n_too_many = entries.len().saturating_sub(ANSWERS_KEPT_MAX);
        self.write(&entries[n_too_many..])
    }

    fn file(&self) -> PathBuf {
        self.state.join(ANSWERS_FILE)
    }

    fn guard(&self) -> Result<File, AnswersError> {
        let path = self.state.join(GUARD_FILE);
        let guard = open_or_create(&path).and_then(|file| file.lock().map(|()| file));
        guard.map_err(io_error(&path))
    }

    /// What the file holds; nothing where it is not there or was made somewhere else.
    fn read(&self) -> Result<Vec<Entry>, AnswersError> {
        let path = self.file();
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error(&path)(error)),
        };
        let damaged = || AnswersError::Damaged { path: path.clone() };
        // A link leads to what is not ours, and a pipe would keep us waiting.
        if !found.is_file() || found.len() > FILE_BYTES_MAX {
            return Err(damaged());
        }
        let text = fs::read_to_string(&path).map_err(io_error(&path))?;
        let json: Json = serde_json::from_str(&text).map_err(|_| damaged())?;
        let birth = json.get("birth").and_then(Json::as_str);
        if birth.ok_or_else(damaged)? != mark(&self.state)? {
            return Ok(Vec::new());
        }
        let entries = json.get("answers").and_then(Json::as_array);
        let entries = entries.ok_or_else(damaged)?.iter().map(|entry| {
            let project = entry.get("project")?.as_str()?.to_owned();
            let answer = KeptAnswer::from_json(entry)?;
            Some(Entry { project, answer })
        });
        entries.collect::<Option<_>>().ok_or_else(damaged)
    }

    fn write(&self, entries: &[Entry]) -> Result<(), AnswersError> {
        let entries = entries.iter().map(|entry| {
            let mut json = entry.answer.to_json();
            json["project"] = entry.project.clone().into();
            json
        });
        let entries: Vec<_> = entries.collect();
        let json = json!({"birth": mark(&self.state)?, "answers": entries});
        let path = self.file();
        write_new(&path, &format!("{json:#}\n")).map_err(io_error(&path))
    }
}

fn mark(folder: &Path) -> Result<String, AnswersError> {
    let mark = birth_mark(folder).map_err(io_error(folder))?;
    Ok(mark.trim_end().to_owned())
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> AnswersError {
    let path = path.to_owned();
    move |source| AnswersError::Io { path, source }
}

/// In one line, with what the system said.
fn in_words(error: &AnswersError) -> String {
    match error {
        AnswersError::Io { source, .. } => format!("{error}: {source}"),
        AnswersError::Damaged { .. } => error.to_string(),
    }
}

#[async_trait]
impl AnswerMemory for KeptAnswers {
    async fn find(&self, question: &str) -> Option<bool> {
        let (answers, question) = (self.clone(), question.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let mut answers = answers.list().ok()?.into_iter();
            answers.find(|answer| answer.question == question)
        });
        Some(found.await.ok()??.is_yes)
    }

    async fn keep(&self, answer: KeptAnswer) -> Result<(), String> {
        let answers = self.clone();
        // Another process may hold the guard for a moment.
        let kept = tokio::task::spawn_blocking(move || answers.put(answer));
        match kept.await {
            Ok(kept) => kept.map_err(|error| in_words(&error)),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::id::Timestamp;

    use super::*;
    use crate::state::StateFolder;

    fn answer(question: &str, is_yes: bool) -> KeptAnswer {
        KeptAnswer {
            question: question.to_owned(),
            is_yes,
            component: "shop".to_owned(),
            function: "acme:shop/desk.refund".to_owned(),
            digest: "sha256:1".to_owned(),
            what: "run acme:shop/desk.refund".to_owned(),
            grant: None,
            arguments: "{}".to_owned(),
            at: Timestamp(1),
        }
    }

    /// A state folder in a project folder.
    fn answers(project: &Path) -> KeptAnswers {
        let state = StateFolder::create(&project.join("state")).unwrap();
        state.answers(project)
    }

    fn questions(answers: &KeptAnswers) -> Vec<(String, bool)> {
        let listed = answers.list().unwrap().into_iter();
        listed
            .map(|answer| (answer.question, answer.is_yes))
            .collect()
    }

    #[tokio::test]
    async fn answers_outlive_the_process_and_the_last_one_to_a_question_counts() {
        let folder = tempfile::tempdir().unwrap();
        let kept = answers(folder.path());
        assert_eq!(kept.find("a").await, None);
        for (question, is_yes) in [("a", true), ("b", true), ("a", false)] {
            kept.keep(answer(question, is_yes)).await.unwrap();
        }
        let again = answers(folder.path());
        assert_eq!(again.find("a").await, Some(false));
        assert_eq!(again.find("b").await, Some(true));
        assert_eq!(again.find("c").await, None);
        let gone = again.forget(|answer| answer.question == "b").unwrap();
        assert_eq!(gone, [answer("b", true)]);
        assert_eq!(questions(&kept), [("a".to_owned(), false)]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let found = fs::metadata(kept.file()).unwrap();
            assert_eq!(found.permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn answers_that_are_given_at_once_are_all_kept_up_to_so_many() {
        let folder = tempfile::tempdir().unwrap();
        let kept = answers(folder.path());
        let threads = (0..8).map(|thread| {
            let kept = kept.clone();
            std::thread::spawn(move || {
                for number in 0..8 {
                    kept.put(answer(&format!("{thread} {number}"), true))
                        .unwrap();
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(kept.list().unwrap().len(), 64);

        let many = (0..ANSWERS_KEPT_MAX).map(|number| Entry {
            project: mark(folder.path()).unwrap(),
            answer: answer(&number.to_string(), true),
        });
        kept.write(&many.collect::<Vec<_>>()).unwrap();
        kept.put(answer("new", true)).unwrap();
        let listed = questions(&kept);
        assert_eq!(listed.len(), ANSWERS_KEPT_MAX);
        assert_eq!(
            (listed[0].0.as_str(), listed.last().unwrap().0.as_str()),
            ("1", "new")
        );
    }

    #[test]
    fn answers_of_another_folder_answer_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for project in [&first, &second] {
            fs::create_dir(project).unwrap();
        }
        let kept = answers(&first);
        kept.put(answer("a", true)).unwrap();
        // One state folder for two projects: a line of a grant means something else in each.
        let other = StateFolder::at(&first.join("state")).answers(&second);
        assert_eq!(questions(&other), []);
        assert_eq!(other.forget(|_| true).unwrap(), []);
        other.put(answer("a", false)).unwrap();
        assert_eq!(questions(&kept), [("a".to_owned(), true)]);
        // A copy, as one comes with a clone.
        let copied = answers(&second);
        fs::copy(kept.file(), copied.file()).unwrap();
        assert_eq!(questions(&copied), []);
    }

    #[tokio::test]
    async fn a_file_that_is_none_of_ours_is_told_and_neither_believed_nor_written() {
        let folder = tempfile::tempdir().unwrap();
        let kept = answers(folder.path());
        let birth = mark(&kept.state).unwrap();
        let wrong = json!({"birth": birth, "answers": [{"question": "a", "answer": "always"}]});
        for text in ["", "{}", "[]", &wrong.to_string()] {
            fs::write(kept.file(), text).unwrap();
            let error = kept.list().unwrap_err();
            assert!(
                matches!(error, AnswersError::Damaged { .. }),
                "{text}: {error}"
            );
            assert_eq!(kept.find("a").await, None);
            let told = kept.keep(answer("a", true)).await.unwrap_err();
            assert!(
                told.ends_with("remove it, and you are asked again"),
                "{told}"
            );
            assert_eq!(fs::read_to_string(kept.file()).unwrap(), text);
        }
        fs::remove_file(kept.file()).unwrap();
        #[cfg(unix)]
        {
            let other = folder.path().join("other");
            fs::write(&other, wrong.to_string()).unwrap();
            std::os::unix::fs::symlink(&other, kept.file()).unwrap();
            kept.keep(answer("a", true)).await.unwrap_err();
            assert_eq!(kept.find("a").await, None);
            assert_eq!(fs::read_to_string(&other).unwrap(), wrong.to_string());
        }
    }
}
