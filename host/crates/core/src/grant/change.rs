//! Changes of a set of grants, line by line: what is given, what is taken away, what says the same
//! thing twice.

use std::str::FromStr;

use super::{
    CallGrant, FolderGrant, Grant, GrantKind, GrantTextError, Grants, HttpGrant, ModelGrant,
    SecretGrant, VariableGrant,
};

/// One grant of any kind, read from its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantLine {
    /// Its kind.
    pub kind: GrantKind,
    /// Its line in normal form; the same for all lines that mean the same.
    pub line: String,
    /// What it is about: two lines of one kind about the same thing contradict each other.
    subject: String,
}

impl GrantLine {
    /// Reads a line of this kind.
    ///
    /// # Errors
    /// When it is no grant; the sentence says what one looks like.
    pub fn parse(kind: GrantKind, line: &str) -> Result<Self, GrantTextError> {
        fn read<T>(line: &str, about: fn(&T) -> String) -> Result<(String, String), GrantTextError>
        where
            T: FromStr<Err = GrantTextError> + std::fmt::Display,
        {
            let grant: Grant<T> = line.parse()?;
            Ok((grant.to_string(), about(&grant.what)))
        }
        let (line, subject) = match kind {
            GrantKind::Dirs => read(line, |folder: &FolderGrant| folder.guest_path.clone()),
            GrantKind::Env => read(line, |variable: &VariableGrant| variable.name.clone()),
            GrantKind::Http => read(line, HttpGrant::to_string),
            GrantKind::Secrets => read(line, SecretGrant::to_string),
            GrantKind::Models => read(line, |model: &ModelGrant| model.model.clone()),
            GrantKind::Calls => read(line, |call: &CallGrant| call.function.clone()),
            GrantKind::AskUser if line == "true" => Ok((line.to_owned(), String::new())),
            GrantKind::AskUser => Err(GrantTextError::new("`ask_user` is `true` or `false`")),
        }?;
        Ok(Self {
            kind,
            line,
            subject,
        })
    }

    /// Whether both are about the same thing, so that one takes the place of the other.
    #[must_use]
    pub fn replaces(&self, other: &Self) -> bool {
        (self.kind, &self.subject) == (other.kind, &other.subject)
    }

    /// The kind and the line, as [`Grants::canonical_lines`] has them.
    #[must_use]
    pub fn canonical(&self) -> String {
        format!("{} {}", self.kind.key(), self.line)
    }
}

impl Grants {
    /// All grants, each with its kind before it: sorted and each once, the same for the same grants.
    #[must_use]
    pub fn canonical_lines(&self) -> Vec<String> {
        self.canonical_text().lines().map(str::to_owned).collect()
    }

    /// Lets lines that say the same count once.
    ///
    /// # Errors
    /// When two lines say different things about the same folder, variable, place, model or
    /// function: nobody could tell which of them holds.
    pub fn collapse(&mut self) -> Result<(), (GrantKind, String)> {
        fn once<T: PartialEq>(grants: &mut Vec<T>) {
            let mut kept: Vec<T> = Vec::with_capacity(grants.len());
            for grant in grants.drain(..) {
                if !kept.contains(&grant) {
                    kept.push(grant);
                }
            }
            *grants = kept;
        }
        once(&mut self.dirs);
        once(&mut self.env);
        once(&mut self.http);
        once(&mut self.secrets);
        once(&mut self.models);
        once(&mut self.calls);
        for kind in GrantKind::ALL {
            let lines = self.lines_of(kind);
            let lines = lines.iter().map(|line| GrantLine::parse(kind, line));
            // What was written by a grant is one.
            let lines: Vec<_> = lines.filter_map(Result::ok).collect();
            for (at, line) in lines.iter().enumerate() {
                if let Some(other) = lines[..at].iter().find(|other| line.replaces(other)) {
                    let message = format!(
                        "`{}` and `{}` are about the same thing and say different things; keep one",
                        other.line, line.line
                    );
                    return Err((kind, message));
                }
            }
        }
        Ok(())
    }
}
