//! The walk over a value and its type: path, depth, repairs, fields, allowed values.
//!
//! What the single types accept stands in `check_scalar` and `check_shape`.

use std::collections::HashSet;

use super::check::{CheckError, CheckMode, Checked, Coercion, Member, Mismatch};
use super::limits::{COERCIONS_LISTED_MAX, ITEMS_MAX, JSON_DEPTH_MAX, STRING_BYTES_MAX};
use super::words::{json_equal, kind_of, listed, quoted, shown, step, unique_ignoring_case};
use super::{Field, Type, names_equal};
use crate::{Json, JsonObject};

/// Walks a value and its type together.
pub(super) struct Checker {
    pub(super) mode: CheckMode,
    path: String,
    depth: usize,
    coercions: Vec<Coercion>,
    unlisted: usize,
}

impl Checker {
    pub(super) fn new(mode: CheckMode) -> Self {
        Self {
            mode,
            path: String::new(),
            depth: 0,
            coercions: Vec::new(),
            unlisted: 0,
        }
    }

    pub(super) fn finish<T>(mut self, value: T) -> Checked<T> {
        if self.unlisted > 0 {
            self.coercions.push(Coercion {
                path: String::new(),
                what: format!("{} more repairs", self.unlisted),
            });
        }
        Checked {
            value,
            coercions: self.coercions,
        }
    }

    pub(super) fn lenient(&self) -> bool {
        self.mode == CheckMode::Lenient
    }

    /// Runs a check one step further down the path, at a named part.
    pub(super) fn at<T>(&mut self, name: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&step(name, length == 0));
        let result = check(self);
        self.path.truncate(length);
        result
    }

    /// Runs a check one step further down the path, at an item.
    pub(super) fn at_index<T>(&mut self, index: usize, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let result = check(self);
        self.path.truncate(length);
        result
    }

    /// Runs a check one level deeper in the value.
    pub(super) fn nested<T>(
        &mut self,
        check: impl FnOnce(&mut Self) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        if self.depth == JSON_DEPTH_MAX {
            return Err(self.out_of_range(format!(
                "nested deeper than {JSON_DEPTH_MAX} levels; send a flatter value"
            )));
        }
        self.depth += 1;
        let result = check(self);
        self.depth -= 1;
        result
    }

    pub(super) fn note(&mut self, what: String) {
        if self.coercions.len() < COERCIONS_LISTED_MAX {
            self.coercions.push(Coercion {
                path: self.path.clone(),
                what,
            });
        } else {
            self.unlisted += 1;
        }
    }

    pub(super) fn error(&self, mismatch: Mismatch, message: impl Into<String>) -> CheckError {
        CheckError {
            path: self.path.clone(),
            mismatch,
            message: message.into(),
        }
    }

    pub(super) fn out_of_range(&self, message: impl Into<String>) -> CheckError {
        self.error(Mismatch::OutOfRange, message)
    }

    pub(super) fn wrong_type(&self, expected: &str, got: &Json) -> CheckError {
        let message = format!("expected {expected}, got {}", kind_of(got));
        self.error(Mismatch::WrongType, message)
    }

    /// Checks the type, then the allowed values.
    pub(super) fn field(&mut self, value: &Json, field: &Field) -> Result<Json, CheckError> {
        let value = self.value(value, &field.ty)?;
        let absent = value.is_null() && matches!(field.ty, Type::Option(_));
        if field.options.is_empty()
            || absent
            || field
                .options
                .iter()
                .any(|option| json_equal(option, &value))
        {
            return Ok(value);
        }
        if let (true, Json::String(text)) = (self.lenient(), &value) {
            let texts = field.options.iter().filter_map(Json::as_str);
            if let Some(option) = unique_ignoring_case(texts, text) {
                self.note(format!("{} read as {}", quoted(text), quoted(option)));
                return Ok(option.into());
            }
        }
        let allowed = listed(field.options.iter().map(shown));
        let message = format!("must be one of {allowed}, got {}", shown(&value));
        Err(self.error(Mismatch::NotAllowed, message))
    }

    /// Checks the fields of an object: missing names first, then each in declared order.
    pub(super) fn members(
        &mut self,
        object: &JsonObject,
        members: &[Member<'_>],
    ) -> Result<JsonObject, CheckError> {
        self.size(object.len())?;
        self.nested(|checker| {
            let found = checker.find_members(object, members)?;
            let mut result = JsonObject::new();
            for (member, entry) in members.iter().zip(&found) {
                let Some((_, value)) = entry else { continue };
                let field = member.field;
                if member.null_is_absence() && value.is_null() {
                    continue;
                }
                let value = checker.at(&field.name, |checker| checker.field(value, field))?;
                result.insert(field.name.clone(), value);
            }
            checker.note_extra_keys(object, &found);
            Ok(result)
        })
    }

    fn find_members<'o>(
        &self,
        object: &'o JsonObject,
        members: &[Member<'_>],
    ) -> Result<Vec<Option<(&'o str, &'o Json)>>, CheckError> {
        let mut missing = Vec::new();
        let mut found = Vec::with_capacity(members.len());
        for member in members {
            let field = member.field;
            let entry = find_key(object, &field.name);
            if entry.is_none() && !member.optional {
                missing.push(field.name.as_str());
            }
            found.push(entry);
        }
        let Some(first) = missing.first() else {
            return Ok(found);
        };
        let message = if missing.len() == 1 {
            "a required value is missing".to_owned()
        } else {
            let names = listed(missing.iter().map(|name| format!("`{name}`")));
            format!("required values are missing: {names}")
        };
        let path = format!("{}{}", self.path, step(first, self.path.is_empty()));
        Err(CheckError {
            path,
            mismatch: Mismatch::Missing,
            message,
        })
    }

    fn note_extra_keys(&mut self, object: &JsonObject, found: &[Option<(&str, &Json)>]) {
        let used = found.iter().flatten().count();
        if used == object.len() {
            return;
        }
        let used: HashSet<&str> = found.iter().flatten().map(|(key, _)| *key).collect();
        for key in object.keys() {
            if !used.contains(key.as_str()) {
                self.at(key, |checker| {
                    checker.note("unknown name, dropped".to_owned())
                });
            }
        }
    }

    /// Checks the number of items or entries.
    pub(super) fn size(&self, items: usize) -> Result<(), CheckError> {
        if items > ITEMS_MAX {
            return Err(self.out_of_range(format!(
                "has {items} items, more than the limit of {ITEMS_MAX}"
            )));
        }
        Ok(())
    }

    /// Checks the length of a text.
    pub(super) fn text<'v>(&self, text: &'v str) -> Result<&'v str, CheckError> {
        if text.len() > STRING_BYTES_MAX {
            return Err(self.out_of_range(format!(
                "text of {} bytes is longer than the limit of {STRING_BYTES_MAX}",
                text.len()
            )));
        }
        Ok(text)
    }
}

fn find_key<'o>(object: &'o JsonObject, name: &str) -> Option<(&'o str, &'o Json)> {
    let exact = object.get_key_value(name);
    let found = exact.or_else(|| {
        let same = |(key, _): &(&String, &Json)| names_equal(key, name);
        name.contains(['-', '_'])
            .then(|| object.iter().find(same))
            .flatten()
    });
    found.map(|(key, value)| (key.as_str(), value))
}
