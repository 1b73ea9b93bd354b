//! What lists, maps, options, records, enums and variants accept.

use super::check::{CheckError, Member, Mismatch};
use super::check_scalar::{character, string};
use super::checker::{Checker, error, out_of_range, size, text_size, wrong_type};
use super::limits::NUMBER_DIGITS_MAX;
use super::words::{listed, quoted, unique_ignoring_case};
use super::{Case, CasesType, RecordType, Type, VariantType, names_equal};
use crate::{Json, JsonObject};

impl Checker {
    /// Checks a value against a type.
    pub(super) fn value(&mut self, value: &mut Json, ty: &Type) -> Result<(), CheckError> {
        match ty {
            Type::Bool => self.boolean(value),
            Type::Integer(kind) => self.integer(value, *kind),
            Type::Float32 => self.float(value, true),
            Type::Float64 => self.float(value, false),
            Type::Char => character(value),
            Type::String | Type::Handle(_) => string(value),
            Type::Bytes => self.bytes(value),
            Type::Json => self.any(value),
            Type::AnyArray if value.is_array() => self.any(value),
            Type::AnyArray => Err(wrong_type("an array", value)),
            Type::AnyObject if value.is_object() => self.any(value),
            Type::AnyObject => Err(wrong_type("an object", value)),
            Type::List(item) => self.list(value, item, None),
            Type::FixedList(item, length) => self.list(value, item, Some(*length)),
            Type::Map(key, item) => self.map(value, key, item),
            Type::Option(inner) => self.option(value, inner),
            Type::Tuple(types) => self.tuple(value, types),
            Type::Result(ok, err) => self.result(value, ok.as_deref(), err.as_deref()),
            Type::Record(record) => self.record(value, record),
            Type::Enum(cases) => self.enumeration(value, cases),
            Type::Flags(cases) => self.flags(value, cases),
            Type::Variant(cases) => self.variant(value, cases),
        }
    }

    /// Checks the size and depth of a value of any type.
    fn any(&mut self, value: &Json) -> Result<(), CheckError> {
        match value {
            Json::Null | Json::Bool(_) => Ok(()),
            Json::Number(number) if number.as_str().len() <= NUMBER_DIGITS_MAX => Ok(()),
            Json::Number(_) => Err(out_of_range(format!(
                "the number has more than {NUMBER_DIGITS_MAX} digits"
            ))),
            Json::String(text) => text_size(text),
            Json::Array(items) => {
                size(items.len())?;
                self.nested(|checker| {
                    let mut items = items.iter().enumerate();
                    items.try_for_each(|(index, item)| checker.at_index(index, |c| c.any(item)))
                })
            }
            Json::Object(entries) => {
                size(entries.len())?;
                self.nested(|checker| {
                    let mut entries = entries.iter();
                    entries.try_for_each(|(key, item)| {
                        text_size(key)?;
                        checker.at(key, |c| c.any(item))
                    })
                })
            }
        }
    }

    fn list(
        &mut self,
        value: &mut Json,
        item: &Type,
        length: Option<u32>,
    ) -> Result<(), CheckError> {
        let Json::Array(items) = value else {
            let one = length.is_none_or(|length| length == 1);
            if !(one && self.lenient() && !value.is_null()) {
                return Err(wrong_type("an array", value));
            }
            let mut only = value.take();
            self.nested(|c| c.at_index(0, |c| c.value(&mut only, item)))?;
            self.note("a single value read as a list of one".to_owned());
            *value = Json::Array(vec![only]);
            return Ok(());
        };
        size(items.len())?;
        if let Some(length) = length {
            exact_length(items.len(), length as usize)?;
        }
        self.nested(|checker| {
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(index, value)| {
                checker.at_index(index, |checker| checker.value(value, item))
            })
        })
    }

    fn tuple(&mut self, value: &mut Json, types: &[Type]) -> Result<(), CheckError> {
        let Json::Array(items) = value else {
            return Err(wrong_type("an array", value));
        };
        exact_length(items.len(), types.len())?;
        self.nested(|checker| {
            let mut items = items.iter_mut().zip(types).enumerate();
            items.try_for_each(|(index, (value, ty))| {
                checker.at_index(index, |checker| checker.value(value, ty))
            })
        })
    }

    fn map(&mut self, value: &mut Json, key: &Type, item: &Type) -> Result<(), CheckError> {
        let Json::Object(entries) = value else {
            return Err(wrong_type("an object", value));
        };
        size(entries.len())?;
        self.nested(|checker| {
            let mut result = JsonObject::with_capacity(entries.len());
            for (name, mut value) in std::mem::take(entries) {
                let key = checker.at(&name, |checker| {
                    checker.value(&mut value, item)?;
                    checker.map_key(&name, key)
                })?;
                if result.contains_key(&key) {
                    let message = format!("the key {} is given twice", quoted(&key));
                    return Err(error(Mismatch::NotAllowed, message));
                }
                result.insert(key, value);
            }
            *entries = result;
            Ok(())
        })
    }

    /// Checks the key of a map, which JSON always writes as text.
    fn map_key(&mut self, name: &str, ty: &Type) -> Result<String, CheckError> {
        let text = || Json::from(name);
        let mut key = match ty {
            Type::Bool => name.parse::<bool>().map_or_else(|_| text(), Json::Bool),
            Type::Integer(_) => {
                let number = name.parse::<serde_json::Number>();
                number.map_or_else(|_| text(), Json::Number)
            }
            _ => text(),
        };
        self.value(&mut key, ty)?;
        match key {
            Json::String(key) => Ok(key),
            other => Ok(other.to_string()),
        }
    }

    fn option(&mut self, value: &mut Json, inner: &Type) -> Result<(), CheckError> {
        if value.is_null() {
            return Ok(());
        }
        if !null_means_absent(inner) {
            return self.value(value, inner);
        }
        // Null is taken by the outer option, so a value, null included, stands under `some`.
        match only_member(value) {
            Some(("some", some)) => {
                self.nested(|checker| checker.at("some", |checker| checker.value(some, inner)))
            }
            _ if self.lenient() => {
                // What is no wrapper can only be the value itself.
                self.nested(|checker| checker.value(value, inner))?;
                self.note("read as {\"some\": value}".to_owned());
                let mut some = JsonObject::new();
                some.insert("some".to_owned(), value.take());
                *value = Json::Object(some);
                Ok(())
            }
            _ => Err(wrong_type("null or {\"some\": value}", value)),
        }
    }

    fn result(
        &mut self,
        value: &mut Json,
        ok: Option<&Type>,
        err: Option<&Type>,
    ) -> Result<(), CheckError> {
        let (name, payload, ty) = match only_member(value) {
            Some(("ok", payload)) => ("ok", payload, ok),
            Some(("err", payload)) => ("err", payload, err),
            _ => {
                let expected = "{\"ok\": value} or {\"err\": value}";
                return Err(wrong_type(expected, value));
            }
        };
        self.nested(|checker| {
            checker.at(name, |checker| match ty {
                Some(ty) => checker.value(payload, ty),
                None if payload.is_null() => Ok(()),
                None => Err(wrong_type("null", payload)),
            })
        })
    }

    fn record(&mut self, value: &mut Json, record: &RecordType) -> Result<(), CheckError> {
        let Json::Object(fields) = value else {
            return Err(wrong_type("an object", value));
        };
        let members: Vec<_> = record.fields.iter().map(Member::of).collect();
        self.members(fields, &members)
    }

    fn enumeration(&mut self, value: &mut Json, ty: &CasesType) -> Result<(), CheckError> {
        let Json::String(name) = value else {
            return Err(wrong_type("a string", value));
        };
        let case = self.case(name, ty)?;
        if case.name != *name {
            name.clone_from(&case.name);
        }
        Ok(())
    }

    fn flags(&mut self, value: &mut Json, ty: &CasesType) -> Result<(), CheckError> {
        if self.lenient() && value.is_string() {
            self.note("a single value read as a list of one".to_owned());
            *value = Json::Array(vec![value.take()]);
        }
        let Json::Array(names) = value else {
            return Err(wrong_type("an array", value));
        };
        size(names.len())?;
        let mut set = vec![false; ty.cases.len()];
        self.nested(|checker| {
            for (index, name) in names.iter_mut().enumerate() {
                checker.at_index(index, |checker| checker.enumeration(name, ty))?;
                let position = ty.cases.iter().position(|case| *name == case.name.as_str());
                if let Some(flag) = position.and_then(|position| set.get_mut(position)) {
                    *flag = true;
                }
            }
            Ok(())
        })?;
        let set = ty.cases.iter().zip(set).filter(|(_, set)| *set);
        *value = set
            .map(|(case, _)| Json::from(case.name.as_str()))
            .collect();
        Ok(())
    }

    fn variant(&mut self, value: &mut Json, ty: &VariantType) -> Result<(), CheckError> {
        if let Json::String(name) = value {
            let case = self.case(name, ty)?;
            if case.payload.is_some() {
                let message = format!(
                    "the case {0} carries a value; write {{{0}: value}}",
                    quoted(&case.name)
                );
                return Err(error(Mismatch::WrongType, message));
            }
            *value = case.name.as_str().into();
            return Ok(());
        }
        let Some((name, payload)) = only_member(value) else {
            let expected = "the name of a case or an object with the case as its only key";
            return Err(wrong_type(expected, value));
        };
        let case = self.case(name, ty)?;
        match &case.payload {
            Some(ty) => {
                self.nested(|c| c.at(&case.name, |c| c.value(payload, ty)))?;
                let mut object = JsonObject::new();
                object.insert(case.name.clone(), payload.take());
                *value = Json::Object(object);
                Ok(())
            }
            None if payload.is_null() && self.lenient() => {
                self.note(format!("read as {}", quoted(&case.name)));
                *value = case.name.as_str().into();
                Ok(())
            }
            None => {
                let name = quoted(&case.name);
                let message = format!("the case {name} carries no value; write {name}");
                Err(error(Mismatch::WrongType, message))
            }
        }
    }

    fn case<'t>(&mut self, name: &str, ty: &'t CasesType) -> Result<&'t Case, CheckError> {
        if let Some(case) = ty.cases.iter().find(|case| names_equal(&case.name, name)) {
            return Ok(case);
        }
        let names = ty.cases.iter().map(|case| case.name.as_str());
        if let Some(same) = unique_ignoring_case(names.clone(), name).filter(|_| self.lenient())
            && let Some(case) = ty.cases.iter().find(|case| case.name == same)
        {
            self.note(format!("{} read as {}", quoted(name), quoted(same)));
            return Ok(case);
        }
        let allowed = listed(names.map(quoted));
        let message = format!("must be one of {allowed}, got {}", quoted(name));
        Err(error(Mismatch::NotAllowed, message))
    }
}

/// Whether null inside an option would be read as the absence of the option itself.
pub(super) fn null_means_absent(inner: &Type) -> bool {
    matches!(inner, Type::Option(_))
}

fn exact_length(got: usize, expected: usize) -> Result<(), CheckError> {
    if got == expected {
        return Ok(());
    }
    Err(out_of_range(format!(
        "expected exactly {expected} items, got {got}"
    )))
}

fn only_member(value: &mut Json) -> Option<(&str, &mut Json)> {
    let object = value.as_object_mut().filter(|object| object.len() == 1)?;
    object
        .iter_mut()
        .next()
        .map(|(key, value)| (key.as_str(), value))
}
