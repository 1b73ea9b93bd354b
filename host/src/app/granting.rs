//! Giving grants and taking them away: what a person means to change is planned, shown, and then
//! written into the project file, with the yes to it in the lock file.
//!
//! Only commands of a person come here. Nothing that a guest or a model can reach does.

use std::io::Write;
use std::path::{Path, PathBuf};

use openprogram_component::{EngineOptions, digest_of, read_component};
use openprogram_core::catalog::ResolveError;
use openprogram_core::grant::{CallGrant, Grant, GrantKind, GrantLine, Grants};

use super::components::{Available, Origin, refused};
use super::{App, AppError};
use crate::input::read_text;
use crate::install::{
    Binding, ComponentStore, InstallError, Lock, Unbound, check_binding, write_project_file,
};
use crate::settings::{
    Given, LOCK_FILE, PROJECT_FILE, PROJECT_FILE_BYTES_MAX, ProjectFile, ProjectText,
};
use crate::state::StateFolder;

/// How the grants of a component stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A source folder of the project file, whose grants need no yes: it is the person's own code.
    OwnCode,
    /// What it is granted was confirmed for the bytes that it has, or it is granted nothing.
    Confirmed,
    /// It was not, and the component does not run until it is.
    Unbound(Unbound),
}

/// The grants of one component, to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Its name.
    pub name: String,
    /// Its digest; `None` for a source folder.
    pub digest: Option<String>,
    /// What it is granted.
    pub grants: Grants,
    /// How they stand.
    pub standing: Standing,
}

/// What happened to the table of a component in the project file, when it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftTable {
    /// There was none.
    None,
    /// It held grants alone, and is gone.
    Gone,
    /// It holds something else too, and stays; the project does not work until it goes.
    Stays,
}

/// A change of the grants of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantChange {
    /// Gives these too; none of them is to confirm what stands in the project file.
    Give(Vec<GrantLine>),
    /// Takes exactly these away.
    Take(Vec<GrantLine>),
    /// Takes all away.
    TakeAll,
}

/// A change that can be shown and carried out.
#[derive(Clone, Debug)]
pub struct GrantPlan {
    /// How things stand before.
    pub before: Granted,
    /// The grants after it.
    pub after: Grants,
    /// Whether the project file changes.
    pub is_change: bool,
    is_giving: bool,
    path: PathBuf,
    old_text: Option<String>,
    new_text: String,
}

impl GrantPlan {
    /// Whether a person has to say yes to more than was typed: the project file grants something
    /// that nobody confirmed. Taking away needs no yes.
    #[must_use]
    pub fn needs_yes(&self) -> bool {
        self.is_giving && matches!(self.before.standing, Standing::Unbound(_))
    }
}

impl App {
    /// The grants of every component of the project, by name, or of one.
    ///
    /// # Errors
    /// When there is no component of that name, or one cannot be read.
    pub fn granted(&self, name: Option<&str>) -> anyhow::Result<Vec<Granted>> {
        let chosen = match name {
            Some(name) => vec![self.named(name)?],
            None => self.available()?,
        };
        chosen.iter().map(look).collect()
    }

    /// Takes what the project file grants to a component that was just removed, where its table holds
    /// nothing else.
    ///
    /// # Errors
    /// When the project file cannot be read, changed or written.
    pub(super) fn take_left_grants(&self, name: &str) -> anyhow::Result<LeftTable> {
        let (Some(path), true) = (
            &self.settings.project_file,
            self.settings.grants_of_installed.contains_key(name),
        ) else {
            return Ok(LeftTable::None);
        };
        let text = read_text(path, PROJECT_FILE_BYTES_MAX)?;
        let edit = |source| AppError::Edit {
            path: path.clone(),
            source,
        };
        let mut text = ProjectText::read(&text).map_err(edit)?;
        text.take_all(name);
        if text.names(name) {
            return Ok(LeftTable::Stays);
        }
        write_project_file(path, &text.to_text())?;
        Ok(LeftTable::Gone)
    }

    /// What stands in the project file for a component that is not there, so that it can be taken
    /// away.
    fn granted_to_nobody(&self, name: &str) -> Result<Option<Granted>, InstallError> {
        let settings = &self.settings;
        let Some(grants) = settings.grants_of_installed.get(name) else {
            return Ok(None);
        };
        let is_locked = Lock::read(&settings.project_folder)?
            .components
            .contains_key(name);
        Ok((!is_locked).then(|| Granted {
            name: name.to_owned(),
            digest: None,
            grants: grants.clone(),
            standing: Standing::OwnCode,
        }))
    }

    /// Plans a change. Nothing is written.
    ///
    /// # Errors
    /// When there is no such component, a call means no function, or what is to be taken away is not
    /// there.
    pub async fn plan_grants(
        &self,
        name: &str,
        change: GrantChange,
        words: &mut dyn Write,
    ) -> anyhow::Result<GrantPlan> {
        let to_nobody = match change {
            GrantChange::TakeAll => self.granted_to_nobody(name)?,
            _ => None,
        };
        let is_nobody = to_nobody.is_some();
        let before = match to_nobody {
            Some(granted) => granted,
            None => look(&self.named(name)?)?,
        };
        let path = match &self.settings.project_file {
            Some(path) => path.clone(),
            None => self.settings.project_folder.join(PROJECT_FILE),
        };
        let old_text = match &self.settings.project_file {
            Some(path) => Some(read_text(path, PROJECT_FILE_BYTES_MAX)?),
            None => None,
        };
        let old = old_text.clone().unwrap_or_default();
        let edit = |source| AppError::Edit {
            path: path.clone(),
            source,
        };
        let mut text = ProjectText::read(&old).map_err(edit)?;
        let mut is_change = false;
        let is_giving = matches!(change, GrantChange::Give(_));
        match change {
            GrantChange::Give(lines) => {
                for line in lines {
                    let line = self.with_full_name(name, line, words).await?;
                    is_change |= text.give(name, &line).map_err(edit)? != Given::WasThere;
                }
            }
            GrantChange::Take(lines) => {
                for line in lines {
                    if !text.take(name, &line).map_err(edit)? {
                        let (component, option) = (name.to_owned(), line.kind.option());
                        let line = format!("{option} {}", line.line);
                        return Err(AppError::NotGranted { component, line }.into());
                    }
                    is_change = true;
                }
            }
            GrantChange::TakeAll => {
                match is_nobody {
                    // Limits are in the way too, and hold for nothing.
                    true => text.take_entry(name),
                    false => text.take_all(name),
                }
                // An empty table is in the way too where there is no such component.
                is_change = !before.grants.is_empty() || text.to_text() != old;
            }
        }
        let new_text = if is_change { text.to_text() } else { old };
        Ok(GrantPlan {
            before,
            after: grants_in(&new_text, name, &path)?,
            is_change,
            is_giving,
            path,
            old_text,
            new_text,
        })
    }

    /// Writes what was planned: the project file, and the yes to it when there is one. Says how the
    /// grants stand then.
    ///
    /// # Errors
    /// When a file was changed since, or cannot be written.
    pub fn carry_out(&self, plan: &GrantPlan, has_yes: bool) -> anyhow::Result<Standing> {
        let state = StateFolder::create(&self.settings.state_folder)?;
        let _guard = ComponentStore::at(state.components()).guard()?;
        let now = match self.settings.project_file {
            Some(_) => Some(read_text(&plan.path, PROJECT_FILE_BYTES_MAX)?),
            None if plan.path.exists() => Some(String::new()),
            None => None,
        };
        if now != plan.old_text {
            return Err(InstallError::Meanwhile(plan.path.clone()).into());
        }
        let folder = &self.settings.project_folder;
        let mut lock = Lock::read(folder)?;
        let (name, digest) = (&plan.before.name, &plan.before.digest);
        if let Some(entry) = lock.components.get(name)
            && Some(&entry.digest) != digest.as_ref()
        {
            return Err(InstallError::Meanwhile(folder.join(LOCK_FILE)).into());
        }
        if plan.is_change {
            write_project_file(&plan.path, &plan.new_text)?;
        }
        let before = lock.clone();
        let was_bound = plan.before.standing == Standing::Confirmed;
        match digest {
            Some(digest) if !plan.after.is_empty() => {
                if has_yes || was_bound {
                    let bound = Binding::new(digest, &plan.after);
                    lock.grants.insert(name.clone(), bound);
                }
            }
            _ => {
                lock.grants.remove(name);
            }
        }
        if lock != before {
            lock.write(folder)?;
        }
        Ok(standing(
            digest.as_deref(),
            lock.grants.get(name),
            &plan.after,
        ))
    }

    fn named(&self, name: &str) -> anyhow::Result<Available> {
        let available = self.available()?;
        let known: Vec<_> = available.iter().map(|c| c.name.clone()).collect();
        let mut found = available.into_iter().filter(|c| c.name == name);
        found.next().ok_or_else(|| {
            let name = name.to_owned();
            AppError::UnknownComponent { name, known }.into()
        })
    }

    /// A call by the full name of the function, so that it never comes to mean another one. What is
    /// not known yet is looked at only when nothing that is known answers to the name.
    async fn with_full_name(
        &self,
        component: &str,
        line: GrantLine,
        words: &mut dyn Write,
    ) -> anyhow::Result<GrantLine> {
        if line.kind != GrantKind::Calls {
            return Ok(line);
        }
        let mut call: Grant<CallGrant> = line.line.parse()?;
        let listing = self.listing(false, words).await?;
        let mut found = super::catalog(&listing.components())?.resolve(&call.what.function, None);
        if matches!(found, Err(ResolveError::NotFound { .. })) && !listing.unknown.is_empty() {
            let listing = self.listing(true, words).await?;
            found = super::catalog(&listing.components())?.resolve(&call.what.function, None);
        }
        let function = found.map_err(|source| AppError::Call {
            component: component.to_owned(),
            source,
        })?;
        call.what.function = function.name.to_string();
        Ok(GrantLine::parse(GrantKind::Calls, &call.to_string())?)
    }
}

/// The grants of a component and how they stand.
fn look(component: &Available) -> anyhow::Result<Granted> {
    let digest = digest(component)?;
    let (bound, grants) = (component.bound.as_ref(), &component.grants);
    let standing = standing(digest.as_deref(), bound, grants);
    Ok(Granted {
        name: component.name.clone(),
        digest,
        grants: component.grants.clone(),
        standing,
    })
}

fn standing(digest: Option<&str>, bound: Option<&Binding>, grants: &Grants) -> Standing {
    let checked = digest.map(|digest| check_binding(bound, digest, grants));
    match checked {
        None => Standing::OwnCode,
        Some(Ok(())) => Standing::Confirmed,
        Some(Err(unbound)) => Standing::Unbound(unbound),
    }
}

/// The digest that grants are given to; `None` for a source folder.
fn digest(component: &Available) -> anyhow::Result<Option<String>> {
    match &component.origin {
        Origin::Installed(entry) => Ok(Some(entry.digest.clone())),
        Origin::Path(_) if component.is_own_code() => Ok(None),
        Origin::Path(path) => {
            let max = EngineOptions::default().component_bytes_max;
            let bytes = read_component(path, max);
            let bytes = bytes.map_err(|source| refused(&component.name, source))?;
            Ok(Some(digest_of(&bytes)))
        }
    }
}

/// What a text of a project file grants to a component: the check that it says what was meant.
fn grants_in(text: &str, name: &str, path: &Path) -> anyhow::Result<Grants> {
    let invalid = |source| crate::settings::SettingsError::Invalid {
        path: path.to_owned(),
        source,
    };
    let mut file = ProjectFile::read(text).map_err(invalid)?;
    let entry = file.components.remove(name);
    let mut grants = entry.map(|entry| entry.grants).unwrap_or_default();
    grants
        .collapse()
        .map_err(|(kind, message)| crate::settings::SettingsError::Value {
            path: path.to_owned(),
            key: format!("components.{name}.{}", kind.key()),
            message,
        })?;
    Ok(grants)
}
