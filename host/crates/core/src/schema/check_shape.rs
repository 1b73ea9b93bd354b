//! What lists, maps, options, records, enums and variants accept.

use super::check::{CheckError, Member, Mismatch};
use super::checker::Checker;
use super::words::{listed, quoted, unique_ignoring_case};
use super::{Case, CasesType, RecordType, Type, VariantType, names_equal};
use crate::{Json, JsonObject};

impl Checker {
    /// Checks a value against a type.
    pub(super) fn value(&mut self, value: &Json, ty: &Type) -> Result<Json, CheckError> {
        match ty {
            Type::Bool => self.boolean(value),
            Type::Integer(kind) => self.integer(value, *kind),
            Type::Float32 => self.float(value, true),
            Type::Float64 => self.float(value, false),
            Type::Char => self.character(value),
            Type::String => self.string(value),
            Type::Bytes => self.bytes(value),
            Type::Json => self.any(value).map(|()| value.clone()),
            Type::AnyArray if value.is_array() => self.any(value).map(|()| value.clone()),
            Type::AnyArray => Err(self.wrong_type("an array", value)),
            Type::AnyObject if value.is_object() => self.any(value).map(|()| value.clone()),
            Type::AnyObject => Err(self.wrong_type("an object", value)),
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
            Json::Number(_) => self.float_or_long_integer(value),
            Json::String(text) => self.text(text).map(drop),
            Json::Array(items) => {
                self.size(items.len())?;
                self.nested(|checker| {
                    let mut items = items.iter().enumerate();
                    items.try_for_each(|(index, item)| checker.at_index(index, |c| c.any(item)))
                })
            }
            Json::Object(entries) => {
                self.size(entries.len())?;
                self.nested(|checker| {
                    let mut entries = entries.iter();
                    entries.try_for_each(|(key, item)| {
                        checker.text(key)?;
                        checker.at(key, |c| c.any(item))
                    })
                })
            }
        }
    }

    fn float_or_long_integer(&self, value: &Json) -> Result<(), CheckError> {
        let digits = value.as_number().map_or(0, |number| number.as_str().len());
        if digits > super::limits::NUMBER_DIGITS_MAX {
            return Err(self.out_of_range(format!("a number of {digits} digits is too long")));
        }
        Ok(())
    }

    fn list(&mut self, value: &Json, item: &Type, length: Option<u32>) -> Result<Json, CheckError> {
        let Json::Array(items) = value else {
            let one = length.is_none_or(|length| length == 1);
            if !(one && self.lenient() && !value.is_null()) {
                return Err(self.wrong_type("an array", value));
            }
            let only = self.nested(|c| c.at_index(0, |c| c.value(value, item)))?;
            self.note("a single value read as a list of one".to_owned());
            return Ok(Json::Array(vec![only]));
        };
        self.size(items.len())?;
        if let Some(length) = length {
            self.length(items.len(), length as usize)?;
        }
        let check = |checker: &mut Self| {
            let items = items.iter().enumerate();
            let check = |(index, value)| checker.at_index(index, |c| c.value(value, item));
            items.map(check).collect()
        };
        self.nested(check).map(Json::Array)
    }

    fn length(&self, got: usize, expected: usize) -> Result<(), CheckError> {
        if got == expected {
            return Ok(());
        }
        Err(self.out_of_range(format!("expected exactly {expected} items, got {got}")))
    }

    fn tuple(&mut self, value: &Json, types: &[Type]) -> Result<Json, CheckError> {
        let Json::Array(items) = value else {
            return Err(self.wrong_type("an array", value));
        };
        self.length(items.len(), types.len())?;
        let check = |checker: &mut Self| {
            let items = items.iter().zip(types).enumerate();
            let check = |(index, (value, ty))| checker.at_index(index, |c| c.value(value, ty));
            items.map(check).collect()
        };
        self.nested(check).map(Json::Array)
    }

    fn map(&mut self, value: &Json, key: &Type, item: &Type) -> Result<Json, CheckError> {
        let Json::Object(entries) = value else {
            return Err(self.wrong_type("an object", value));
        };
        self.size(entries.len())?;
        self.nested(|checker| {
            let mut result = JsonObject::new();
            for (name, value) in entries {
                let (name, value) = checker.at(name, |checker| {
                    Ok((checker.map_key(name, key)?, checker.value(value, item)?))
                })?;
                if result.insert(name.clone(), value).is_some() {
                    let message = format!("the key {} is given twice", quoted(&name));
                    return Err(checker.error(Mismatch::NotAllowed, message));
                }
            }
            Ok(Json::Object(result))
        })
    }

    /// Checks the key of a map, which JSON always writes as text.
    fn map_key(&mut self, name: &str, ty: &Type) -> Result<String, CheckError> {
        let text = Json::String(self.text(name)?.to_owned());
        let key = match ty {
            Type::Bool => name.parse::<bool>().map_or(text, Json::Bool),
            Type::Integer(_) => name
                .parse::<serde_json::Number>()
                .map_or(text, Json::Number),
            _ => text,
        };
        match self.value(&key, ty)? {
            Json::String(key) => Ok(key),
            other => Ok(other.to_string()),
        }
    }

    fn option(&mut self, value: &Json, inner: &Type) -> Result<Json, CheckError> {
        if value.is_null() {
            return Ok(Json::Null);
        }
        if !null_means_absent(inner) {
            return self.value(value, inner);
        }
        // Null is taken by the outer option, so a value, null included, stands under `some`.
        let Some(some) = only_member(value).filter(|(key, _)| *key == "some") else {
            return Err(self.wrong_type("null or {\"some\": value}", value));
        };
        let value = self.nested(|c| c.at("some", |c| c.value(some.1, inner)))?;
        Ok(object("some", value))
    }

    fn result(
        &mut self,
        value: &Json,
        ok: Option<&Type>,
        err: Option<&Type>,
    ) -> Result<Json, CheckError> {
        let (name, payload, ty) = match only_member(value) {
            Some(("ok", payload)) => ("ok", payload, ok),
            Some(("err", payload)) => ("err", payload, err),
            _ => return Err(self.wrong_type("{\"ok\": value} or {\"err\": value}", value)),
        };
        let payload = self.nested(|checker| {
            checker.at(name, |checker| match ty {
                Some(ty) => checker.value(payload, ty),
                None if payload.is_null() => Ok(Json::Null),
                None => Err(checker.wrong_type("null", payload)),
            })
        })?;
        Ok(object(name, payload))
    }

    fn record(&mut self, value: &Json, record: &RecordType) -> Result<Json, CheckError> {
        let Json::Object(fields) = value else {
            return Err(self.wrong_type("an object", value));
        };
        let members: Vec<_> = record.fields.iter().map(Member::of).collect();
        self.members(fields, &members).map(Json::Object)
    }

    fn enumeration(&mut self, value: &Json, ty: &CasesType) -> Result<Json, CheckError> {
        let Json::String(name) = value else {
            return Err(self.wrong_type("a string", value));
        };
        let case = self.case(name, ty)?;
        Ok(case.name.as_str().into())
    }

    fn flags(&mut self, value: &Json, ty: &CasesType) -> Result<Json, CheckError> {
        let names = match value {
            Json::Array(names) => names.as_slice(),
            Json::String(_) if self.lenient() => {
                self.note("a single value read as a list of one".to_owned());
                std::slice::from_ref(value)
            }
            _ => return Err(self.wrong_type("an array", value)),
        };
        self.size(names.len())?;
        let mut set = vec![false; ty.cases.len()];
        self.nested(|checker| {
            for (index, name) in names.iter().enumerate() {
                let name = checker.at_index(index, |c| c.enumeration(name, ty))?;
                let position = ty.cases.iter().position(|case| name == case.name.as_str());
                if let Some(flag) = position.and_then(|position| set.get_mut(position)) {
                    *flag = true;
                }
            }
            Ok(())
        })?;
        let set = ty.cases.iter().zip(set).filter(|(_, set)| *set);
        Ok(set
            .map(|(case, _)| Json::from(case.name.as_str()))
            .collect())
    }

    fn variant(&mut self, value: &Json, ty: &VariantType) -> Result<Json, CheckError> {
        if let Json::String(name) = value {
            let case = self.case(name, ty)?;
            return match case.payload {
                None => Ok(case.name.as_str().into()),
                Some(_) => {
                    let message = format!(
                        "the case {0} carries a value; write {{{0}: value}}",
                        quoted(&case.name)
                    );
                    Err(self.error(Mismatch::WrongType, message))
                }
            };
        }
        let Some((name, payload)) = only_member(value) else {
            let expected = "the name of a case or an object with the case as its only key";
            return Err(self.wrong_type(expected, value));
        };
        let case = self.case(name, ty)?;
        match &case.payload {
            Some(ty) => {
                let payload = self.nested(|c| c.at(&case.name, |c| c.value(payload, ty)))?;
                Ok(object(&case.name, payload))
            }
            None if payload.is_null() && self.lenient() => {
                self.note(format!("read as {}", quoted(&case.name)));
                Ok(case.name.as_str().into())
            }
            None => {
                let message = format!(
                    "the case {0} carries no value; write {0}",
                    quoted(&case.name)
                );
                Err(self.error(Mismatch::WrongType, message))
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
        Err(self.error(Mismatch::NotAllowed, message))
    }
}

/// Whether null inside an option would be read as the absence of the option itself.
pub(super) fn null_means_absent(inner: &Type) -> bool {
    matches!(inner, Type::Option(_))
}

fn only_member(value: &Json) -> Option<(&str, &Json)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object
        .iter()
        .next()
        .map(|(key, value)| (key.as_str(), value))
}

fn object(key: &str, value: Json) -> Json {
    let mut object = JsonObject::new();
    object.insert(key.to_owned(), value);
    Json::Object(object)
}
