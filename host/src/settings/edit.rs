//! Changes of the grants in the text of a project file. Comments, order and form of everything else
//! stay as a person wrote them.

use openprogram_core::grant::{GrantKind, GrantLine};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

/// The indentation of a list over several lines that has no element to learn it from.
const INDENT: &str = "    ";

/// The text of a project file cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EditError(String);

/// What giving a grant did to a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// The line is new.
    Added,
    /// It stands where this line stood, which was about the same thing.
    Replaced(String),
    /// It was there.
    WasThere,
}

/// A project file that is being changed.
#[derive(Clone, Debug)]
pub struct ProjectText {
    document: DocumentMut,
}

impl ProjectText {
    /// Reads a text that is a valid project file.
    ///
    /// # Errors
    /// When it is no TOML.
    pub fn read(text: &str) -> Result<Self, EditError> {
        let document = text.parse();
        let document = document.map_err(|error: toml_edit::TomlError| {
            EditError(error.to_string().trim_end().to_owned())
        })?;
        Ok(Self { document })
    }

    /// Gives a component one more grant.
    ///
    /// # Errors
    /// When a value of another form stands in the place of the table or list.
    pub fn give(&mut self, component: &str, grant: &GrantLine) -> Result<Given, EditError> {
        let table = self.table(component)?;
        let key = grant.kind.key();
        if grant.kind == GrantKind::AskUser {
            if table.get(key).and_then(Item::as_bool) == Some(true) {
                return Ok(Given::WasThere);
            }
            table.insert(key, toml_edit::value(true));
            return Ok(Given::Added);
        }
        let list = table.entry(key).or_insert(toml_edit::value(Array::new()));
        let list = list.as_array_mut().ok_or_else(|| no_list(component, key))?;
        for at in 0..list.len() {
            let Some(there) = line_at(list, at, grant.kind) else {
                continue;
            };
            if there.line == grant.line {
                return Ok(Given::WasThere);
            }
            if grant.replaces(&there) {
                list.replace(at, grant.line.as_str());
                return Ok(Given::Replaced(there.line));
            }
        }
        push(list, &grant.line);
        Ok(Given::Added)
    }

    /// Takes a grant away, and says whether it was there.
    ///
    /// # Errors
    /// When a value of another form stands in the place of the table or list.
    pub fn take(&mut self, component: &str, grant: &GrantLine) -> Result<bool, EditError> {
        let key = grant.kind.key();
        let Some(table) = self.existing_table(component) else {
            return Ok(false);
        };
        let Some(item) = table.get_mut(key) else {
            return Ok(false);
        };
        let was_there = if grant.kind == GrantKind::AskUser {
            item.as_bool() == Some(true)
        } else {
            let list = item.as_array_mut().ok_or_else(|| no_list(component, key))?;
            let is_it = |at: &usize| {
                line_at(list, *at, grant.kind).is_some_and(|there| there.line == grant.line)
            };
            let all: Vec<_> = (0..list.len()).filter(is_it).collect();
            all.iter().rev().for_each(|at| remove(list, *at));
            if !list.is_empty() || list.to_string().contains('#') {
                return Ok(!all.is_empty());
            }
            !all.is_empty()
        };
        if was_there {
            table.remove(key);
            self.tidy(component);
        }
        Ok(was_there)
    }

    /// Takes all grants of a component away.
    pub fn take_all(&mut self, component: &str) {
        if let Some(table) = self.existing_table(component) {
            for kind in GrantKind::ALL {
                table.remove(kind.key());
            }
            self.tidy(component);
        }
    }

    /// Takes the whole entry of a component away, whatever it says.
    pub fn take_entry(&mut self, component: &str) {
        let components = self.document.get_mut("components");
        if let Some(components) = components.and_then(Item::as_table_like_mut) {
            components.remove(component);
        }
    }

    /// Whether there is an entry of this component.
    #[must_use]
    pub fn names(&self, component: &str) -> bool {
        let components = self.document.get("components");
        let components = components.and_then(Item::as_table_like);
        components.is_some_and(|components| components.contains_key(component))
    }

    /// The text.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.document.to_string()
    }

    /// A table of a component that says nothing any more goes, unless a comment stands at it.
    fn tidy(&mut self, component: &str) {
        let Some(components) = self.document.get_mut("components") else {
            return;
        };
        let Some(components) = components.as_table_like_mut() else {
            return;
        };
        let is_bare = |item: &Item| match item {
            Item::Table(table) => {
                let decor = [table.decor().prefix(), table.decor().suffix()];
                let mut texts = decor.into_iter().flatten().filter_map(|text| text.as_str());
                table.is_empty() && !texts.any(|text| text.contains('#'))
            }
            other => other.as_table_like().is_some_and(TableLike::is_empty),
        };
        if components.get(component).is_some_and(is_bare) {
            components.remove(component);
        }
    }

    fn existing_table(&mut self, component: &str) -> Option<&mut dyn TableLike> {
        let components = self.document.get_mut("components")?;
        let item = components.as_table_like_mut()?.get_mut(component)?;
        item.as_table_like_mut()
    }

    /// The table of a component, which is made, or made of a bare path, where it is not there.
    fn table(&mut self, component: &str) -> Result<&mut dyn TableLike, EditError> {
        let components = self.document.entry("components").or_insert_with(|| {
            let mut table = Table::new();
            // It needs no header of its own.
            table.set_implicit(true);
            Item::Table(table)
        });
        let is_inline = components.is_inline_table();
        let no_table = || EditError(format!("`components.{component}` is no table"));
        let components = components.as_table_like_mut().ok_or_else(no_table)?;
        if components.get(component).is_none_or(Item::is_str) {
            let comment = components.key(component).and_then(comment_above);
            let source = components.remove(component);
            let mut table = Table::new();
            if let Some(source) = source {
                table.insert("source", source);
            }
            if let Some(comment) = comment {
                table.decor_mut().set_prefix(format!("\n{comment}"));
            }
            let table = if is_inline {
                toml_edit::value(table.into_inline_table())
            } else {
                Item::Table(table)
            };
            components.insert(component, table);
        }
        let item = components.get_mut(component);
        item.and_then(Item::as_table_like_mut).ok_or_else(no_table)
    }
}

fn no_list(component: &str, key: &str) -> EditError {
    EditError(format!("`components.{component}.{key}` is no list"))
}

/// The comment that stands above a key, with its line breaks.
fn comment_above(key: &toml_edit::Key) -> Option<String> {
    let above = key.leaf_decor().prefix()?.as_str()?;
    above
        .contains('#')
        .then(|| above.trim_start_matches('\n').to_owned())
}

/// The grant at this place of a list; `None` for what is no grant.
fn line_at(list: &Array, at: usize, kind: GrantKind) -> Option<GrantLine> {
    GrantLine::parse(kind, list.get(at)?.as_str()?).ok()
}

/// Puts a line at the end of a list, in the form that the list has.
fn push(list: &mut Array, line: &str) {
    let text = |raw: Option<&toml_edit::RawString>| {
        raw.and_then(|raw| raw.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let last = list.iter().last();
    let prefix = text(last.and_then(|value| value.decor().prefix()));
    // What stands between the last element and the bracket, before the comma and behind it.
    let mut rest = text(last.and_then(|value| value.decor().suffix()));
    rest.push_str(list.trailing().as_str().unwrap_or_default());
    if !prefix.contains('\n') && !rest.contains('\n') {
        list.push(line);
        return;
    }
    let indent = match prefix.rsplit_once('\n') {
        Some((_, indent)) => indent.to_owned(),
        None => INDENT.to_owned(),
    };
    if let Some(last) = list.len().checked_sub(1).and_then(|at| list.get_mut(at)) {
        last.decor_mut().set_suffix("");
    }
    // A comment stays behind the element that it stands behind.
    let rest = rest.trim_end();
    let mut value = Value::from(line);
    value.decor_mut().set_prefix(format!("{rest}\n{indent}"));
    list.push_formatted(value);
    list.set_trailing_comma(true);
    list.set_trailing("\n");
}

/// Removes one element of a list; comments at it stay.
fn remove(list: &mut Array, at: usize) {
    let gone = list.remove(at);
    let text = |raw: Option<&toml_edit::RawString>| {
        raw.and_then(|raw| raw.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let (before, behind) = (text(gone.decor().prefix()), text(gone.decor().suffix()));
    let comments = format!("{before}{behind}");
    let has_comments = comments.contains('#');
    let is_only = list.is_empty();
    match list.get_mut(at) {
        Some(next) => {
            let prefix = text(next.decor().prefix());
            let prefix = if has_comments {
                format!("{}{prefix}", comments.trim_end())
            } else if prefix.contains('\n') {
                prefix
            } else {
                before
            };
            next.decor_mut().set_prefix(prefix);
        }
        None if has_comments => {
            let trailing = text(Some(list.trailing()));
            list.set_trailing(format!("{}{trailing}", comments.trim_end()));
        }
        None if is_only => {
            list.set_trailing("");
            list.set_trailing_comma(false);
        }
        None => {}
    }
}

#[cfg(test)]
mod tests;
