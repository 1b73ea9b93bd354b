//! The walk over a value and its type: path, depth, repairs, fields, allowed values.
//!
//! What the single types accept stands in `check_scalar` and `check_shape`.

use std::collections::HashSet;

use super::check::{CheckError, CheckMode, Checked, Coercion, Member, Mismatch};
use super::limits::{COERCIONS_LISTED_MAX, ITEMS_MAX, JSON_DEPTH_MAX, STRING_BYTES_MAX};
use super::words::{json_equal, kind_of, listed, quoted, shown, step, unique_ignoring_case};
use super::{Field, Type, names_equal};
use crate::{Json, JsonObject};

/// Walks a value and its type together and makes the value canonical in place.
///
/// A value that is canonical already is only looked at, so the usual case copies nothing. Paths
/// are put together on the way out, when there is an error or a repair to tell.
pub(super) struct Checker {
    pub(super) mode: CheckMode,
    depth: usize,
    coercions: Vec<Coercion>,
    unlisted: usize,
}

impl Checker {
    pub(super) fn new(mode: CheckMode) -> Self {
        Self {
            mode,
            depth: 0,
            coercions: Vec::new(),
            unlisted: 0,
        }
    }

    pub(super) fn finish<T>(
        mut self,
        value: T,
        result: Result<(), CheckError>,
    ) -> Result<Checked<T>, CheckError> {
        let from_root = |path: &mut String| {
            if path.starts_with('.') {
                path.remove(0);
            }
        };
        self.coercions
            .iter_mut()
            .for_each(|c| from_root(&mut c.path));
        result.map_err(|mut error| {
            from_root(&mut error.path);
            error
        })?;
        if self.unlisted > 0 {
            self.coercions.push(Coercion {
                path: String::new(),
                what: format!("{} more repairs", self.unlisted),
            });
        }
        Ok(Checked {
            value,
            coercions: self.coercions,
        })
    }

    pub(super) fn lenient(&self) -> bool {
        self.mode == CheckMode::Lenient
    }

    /// Runs a check at a named part.
    pub(super) fn at<T>(
        &mut self,
        name: &str,
        check: impl FnOnce(&mut Self) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        self.below(|| step(name), check)
    }

    /// Runs a check at an item.
    pub(super) fn at_index<T>(
        &mut self,
        index: usize,
        check: impl FnOnce(&mut Self) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        self.below(|| format!("[{index}]"), check)
    }

    fn below<T>(
        &mut self,
        step: impl Fn() -> String,
        check: impl FnOnce(&mut Self) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        let listed = self.coercions.len();
        let result = check(self);
        for coercion in &mut self.coercions[listed..] {
            coercion.path.insert_str(0, &step());
        }
        result.map_err(|mut error| {
            error.path.insert_str(0, &step());
            error
        })
    }

    /// Runs a check one level deeper in the value.
    pub(super) fn nested<T>(
        &mut self,
        check: impl FnOnce(&mut Self) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        if self.depth == JSON_DEPTH_MAX {
            return Err(out_of_range(format!(
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
            let path = String::new();
            self.coercions.push(Coercion { path, what });
        } else {
            self.unlisted += 1;
        }
    }

    /// Checks the type, then the allowed values.
    pub(super) fn field(&mut self, value: &mut Json, field: &Field) -> Result<(), CheckError> {
        self.value(value, &field.ty)?;
        let absent = value.is_null() && matches!(field.ty, Type::Option(_));
        let allowed = |option: &Json| json_equal(option, value);
        if field.options.is_empty() || absent || field.options.iter().any(allowed) {
            return Ok(());
        }
        if let (true, Json::String(text)) = (self.lenient(), &*value) {
            let texts = field.options.iter().filter_map(Json::as_str);
            if let Some(option) = unique_ignoring_case(texts, text) {
                self.note(format!("{} read as {}", quoted(text), quoted(option)));
                *value = option.into();
                return Ok(());
            }
        }
        let allowed = listed(field.options.iter().map(shown));
        let message = format!("must be one of {allowed}, got {}", shown(value));
        Err(error(Mismatch::NotAllowed, message))
    }

    /// Checks the fields of an object: missing names first, then each in declared order.
    pub(super) fn members(
        &mut self,
        object: &mut JsonObject,
        members: &[Member<'_>],
    ) -> Result<(), CheckError> {
        size(object.len())?;
        self.nested(|checker| {
            if in_declared_form(object, members) {
                let mut values = object.values_mut().zip(members);
                return values.try_for_each(|(value, member)| {
                    let field = member.field;
                    checker.at(&field.name, |checker| checker.field(value, field))
                });
            }
            checker.rearranged_members(object, members)
        })
    }

    fn rearranged_members(
        &mut self,
        object: &mut JsonObject,
        members: &[Member<'_>],
    ) -> Result<(), CheckError> {
        let keys = find_keys(object, members)?;
        let mut given = std::mem::take(object);
        for (member, key) in members.iter().zip(&keys) {
            let Some(value) = key.as_ref().and_then(|key| given.get_mut(key)) else {
                continue;
            };
            if member.null_is_absence() && value.is_null() {
                continue;
            }
            let field = member.field;
            self.at(&field.name, |checker| checker.field(value, field))?;
            object.insert(field.name.clone(), value.take());
        }
        let used: HashSet<&str> = keys.iter().flatten().map(String::as_str).collect();
        for key in given.keys().filter(|key| !used.contains(key.as_str())) {
            self.at(key, |checker| {
                checker.note("unknown name, dropped".to_owned());
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Whether an object has exactly the declared names in the declared order, and none left out.
fn in_declared_form(object: &JsonObject, members: &[Member<'_>]) -> bool {
    let as_declared = |((key, value), member): ((&String, &Json), &Member<'_>)| {
        *key == member.field.name && !(value.is_null() && member.null_is_absence())
    };
    object.len() == members.len() && object.iter().zip(members).all(as_declared)
}

/// The key of each member in an object.
fn find_keys(
    object: &JsonObject,
    members: &[Member<'_>],
) -> Result<Vec<Option<String>>, CheckError> {
    let mut missing = Vec::new();
    let mut keys = Vec::with_capacity(members.len());
    for member in members {
        let name = member.field.name.as_str();
        let key = find_key(object, name);
        if key.is_none() && !member.optional {
            missing.push(name);
        }
        keys.push(key);
    }
    let Some(first) = missing.first() else {
        return Ok(keys);
    };
    let message = if missing.len() == 1 {
        "a required value is missing".to_owned()
    } else {
        let names = listed(missing.iter().map(|name| format!("`{name}`")));
        format!("required values are missing: {names}")
    };
    Err(CheckError {
        path: step(first),
        mismatch: Mismatch::Missing,
        message,
    })
}

fn find_key(object: &JsonObject, name: &str) -> Option<String> {
    if object.contains_key(name) {
        return Some(name.to_owned());
    }
    let mut keys = object.keys().filter(|_| name.contains(['-', '_']));
    keys.find(|key| names_equal(key, name)).cloned()
}

/// Checks the number of items or entries.
pub(super) fn size(items: usize) -> Result<(), CheckError> {
    if items > ITEMS_MAX {
        return Err(out_of_range(format!(
            "has {items} items, more than the limit of {ITEMS_MAX}"
        )));
    }
    Ok(())
}

/// Checks the length of a text.
pub(super) fn text_size(text: &str) -> Result<(), CheckError> {
    if text.len() > STRING_BYTES_MAX {
        return Err(out_of_range(format!(
            "text of {} bytes is longer than the limit of {STRING_BYTES_MAX}",
            text.len()
        )));
    }
    Ok(())
}

/// An error at the current part; the steps above it are added on the way out.
pub(super) fn error(mismatch: Mismatch, message: impl Into<String>) -> CheckError {
    CheckError {
        path: String::new(),
        mismatch,
        message: message.into(),
    }
}

pub(super) fn out_of_range(message: impl Into<String>) -> CheckError {
    error(Mismatch::OutOfRange, message)
}

pub(super) fn wrong_type(expected: &str, got: &Json) -> CheckError {
    let message = format!("expected {expected}, got {}", kind_of(got));
    error(Mismatch::WrongType, message)
}
