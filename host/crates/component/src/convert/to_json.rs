//! Component values to canonical JSON, bounded in bytes and depth.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use openprogram_core::guest::CallError;
use openprogram_core::schema::{CasesType, HandleType, RecordType, Type, shown_name};
use openprogram_core::{Json, JsonObject};
use wasmtime::component::{ResourceAny, Val};

use super::encode_bytes;
use crate::limits::{LimitReached, Limits};

/// What cannot become JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutputError {
    /// A limit was reached.
    Limit(LimitReached),
    /// The guest gave what its type does not allow.
    Invalid(String),
}

impl From<OutputError> for CallError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Limit(reached) => reached.into(),
            OutputError::Invalid(what) => Self::Trapped {
                trap: format!("invalid-value: {what}"),
                backtrace: Vec::new(),
                last_words: String::new(),
            },
        }
    }
}

/// Counts what a result costs.
pub(crate) struct Output {
    /// What is converted, for people, and the limit of its bytes.
    what: &'static str,
    which: &'static str,
    /// One value of it.
    value: &'static str,
    bytes_left: u64,
    bytes_max: u64,
    depth_max: u64,
    /// The handles that were given a name, in the order of the result.
    pub(crate) made: Vec<Made>,
}

/// A handle with the text that stands for it.
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) ty: Arc<HandleType>,
    pub(crate) resource: ResourceAny,
}

impl Made {
    /// The text says what it is of; the rest cannot be guessed: it is the hash of a number under keys
    /// that nobody else has.
    fn new(ty: &Arc<HandleType>, resource: ResourceAny) -> Self {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let [high, low] = [0_u8, 1].map(|half| KEYS.hash_one((number, half)));
        Self {
            text: format!("{}:{high:016x}{low:016x}", ty.resource),
            ty: Arc::clone(ty),
            resource,
        }
    }
}

impl Output {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            what: "result",
            which: "result_bytes",
            value: "result",
            bytes_left: limits.result_bytes,
            bytes_max: limits.result_bytes,
            depth_max: limits.json_depth,
            made: Vec::new(),
        }
    }

    /// For all arguments that a function passes to one that it imports; as for a call by name.
    pub(crate) fn of_arguments(limits: &Limits) -> Self {
        Self {
            what: "list of arguments",
            which: "text_bytes",
            value: "text",
            bytes_left: limits.text_bytes,
            bytes_max: limits.text_bytes,
            depth_max: limits.json_depth,
            made: Vec::new(),
        }
    }

    /// Pays for some bytes of JSON text.
    pub(crate) fn pay(&mut self, bytes: usize) -> Result<(), OutputError> {
        match self.bytes_left.checked_sub(bytes as u64) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => Err(OutputError::Limit(self.too_large())),
        }
    }

    pub(crate) fn too_large(&self) -> LimitReached {
        let (what, max) = (self.what, self.bytes_max);
        LimitReached::new(
            self.which,
            max,
            format!("the {what} is larger than {max} bytes"),
        )
    }

    fn too_deep(&self) -> OutputError {
        let (what, max) = (self.what, self.depth_max);
        OutputError::Limit(LimitReached::new(
            "json_depth",
            max,
            format!("the {what} is nested deeper than {max} levels"),
        ))
    }
}

/// A result of this type as JSON.
pub(crate) fn result(value: Val, ty: &Type, output: &mut Output) -> Result<Json, OutputError> {
    convert(value, ty, 0, output)
}

/// JSON that a guest wrote as text.
pub(crate) fn parse_json(text: &str, depth_max: u64) -> Result<Json, ParseError> {
    // The parser itself stops at 128 levels, so a deep text cannot exhaust the stack here.
    let value: Json = serde_json::from_str(text).map_err(|error| {
        if error.to_string().starts_with("recursion limit exceeded") {
            ParseError::TooDeep
        } else {
            ParseError::Invalid(error.to_string())
        }
    })?;
    if check_json_depth(&value, depth_max) {
        Ok(value)
    } else {
        Err(ParseError::TooDeep)
    }
}

/// Why a text is no JSON that the host takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseError {
    TooDeep,
    Invalid(String),
}

/// Whether a value is nested no deeper than this.
pub(crate) fn check_json_depth(value: &Json, left: u64) -> bool {
    let inner = |value: &Json| left > 0 && check_json_depth(value, left - 1);
    match value {
        Json::Array(items) => left > 0 && items.iter().all(inner),
        Json::Object(object) => left > 0 && object.values().all(inner),
        _ => true,
    }
}

fn convert(value: Val, ty: &Type, depth: u64, output: &mut Output) -> Result<Json, OutputError> {
    if depth > output.depth_max {
        return Err(output.too_deep());
    }
    Ok(match (value, ty) {
        (Val::String(text), Type::Json) => embedded(&text, depth, output)?,
        (Val::List(items), Type::Bytes) => bytes(&items, output)?,
        (Val::List(items), Type::List(ty))
        | (Val::FixedLengthList(items), Type::FixedList(ty, _)) => {
            let mut item = |item| {
                output.pay(1)?;
                convert(item, ty, depth + 1, output)
            };
            output_array(items.into_iter().map(&mut item))?
        }
        (Val::Tuple(items), Type::Tuple(types)) => {
            let mut item = |(item, ty)| {
                output.pay(1)?;
                convert(item, ty, depth + 1, output)
            };
            output_array(items.into_iter().zip(types).map(&mut item))?
        }
        (Val::Map(entries), Type::Map(_, ty)) => {
            let mut object = JsonObject::new();
            for (key, value) in entries {
                let key = key_text(key)?;
                output.pay(key.len() + 4)?;
                object.insert(key, convert(value, ty, depth + 1, output)?);
            }
            Json::Object(object)
        }
        (Val::Option(None), Type::Option(_)) => {
            output.pay(4)?;
            Json::Null
        }
        (Val::Option(Some(value)), Type::Option(ty)) => {
            let inner = convert(*value, ty, depth, output)?;
            match **ty {
                Type::Option(_) => one_entry("some", inner, output)?,
                _ => inner,
            }
        }
        (Val::Result(value), Type::Result(ok, err)) => {
            let (side, value, ty) = match value {
                Ok(value) => ("ok", value, ok),
                Err(value) => ("err", value, err),
            };
            let inner = payload(value, ty.as_deref(), depth + 1, output)?;
            one_entry(side, inner, output)?
        }
        (Val::Record(fields), Type::Record(record)) => fields_of(fields, record, depth, output)?,
        (Val::Enum(name), Type::Enum(_)) => {
            output.pay(name.len() + 2)?;
            Json::String(shown_name(&name))
        }
        (Val::Flags(names), Type::Flags(_)) => {
            output.pay(names.iter().map(|name| name.len() + 3).sum())?;
            names.iter().map(|name| shown_name(name)).collect()
        }
        (Val::Variant(name, value), Type::Variant(cases)) => {
            variant(&name, value, cases, depth, output)?
        }
        (Val::Resource(resource), Type::Handle(ty)) => {
            let made = Made::new(ty, resource);
            output.pay(made.text.len() + 2)?;
            let text = made.text.clone();
            output.made.push(made);
            Json::String(text)
        }
        (value, _) => scalar(value, output)?,
    })
}

fn output_array(
    items: impl Iterator<Item = Result<Json, OutputError>>,
) -> Result<Json, OutputError> {
    items.collect::<Result<Vec<_>, _>>().map(Json::Array)
}

fn scalar(value: Val, output: &mut Output) -> Result<Json, OutputError> {
    let json = match value {
        Val::Bool(value) => value.into(),
        Val::S8(value) => value.into(),
        Val::U8(value) => value.into(),
        Val::S16(value) => value.into(),
        Val::U16(value) => value.into(),
        Val::S32(value) => value.into(),
        Val::U32(value) => value.into(),
        Val::S64(value) => value.into(),
        Val::U64(value) => value.into(),
        // The shortest text of the own width: as an f64, 0.1 of an f32 would be 0.10000000149.
        Val::Float32(value) if value.is_finite() => value.into(),
        Val::Float64(value) if value.is_finite() => value.into(),
        Val::Float32(value) => not_finite(f64::from(value)),
        Val::Float64(value) => not_finite(value),
        Val::Char(value) => value.to_string().into(),
        Val::String(text) => {
            output.pay(text.len() + 2)?;
            return Ok(Json::String(text));
        }
        _ => {
            let message = "the result does not have its declared type".to_owned();
            return Err(OutputError::Invalid(message));
        }
    };
    // No number or word is longer in JSON than this.
    output.pay(24)?;
    Ok(json)
}

/// The word for a number that JSON cannot say.
fn not_finite(value: f64) -> Json {
    let word = match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    Json::String(word.to_owned())
}

fn bytes(items: &[Val], output: &mut Output) -> Result<Json, OutputError> {
    output.pay(items.len().div_ceil(3) * 4 + 2)?;
    let byte = |item: &Val| match item {
        Val::U8(byte) => Some(*byte),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
    let bytes = bytes.ok_or_else(|| OutputError::Invalid("a list of bytes holds others".into()))?;
    Ok(Json::String(encode_bytes(&bytes)))
}

fn embedded(text: &str, depth: u64, output: &mut Output) -> Result<Json, OutputError> {
    output.pay(text.len())?;
    parse_json(text, output.depth_max - depth).map_err(|error| match error {
        ParseError::TooDeep => output.too_deep(),
        ParseError::Invalid(error) => OutputError::Invalid(format!(
            "a {} of type `json` is not JSON: {error}",
            output.value
        )),
    })
}

fn key_text(key: Val) -> Result<String, OutputError> {
    Ok(match key {
        Val::String(text) => text,
        Val::Char(value) => value.to_string(),
        Val::Bool(value) => value.to_string(),
        Val::S8(value) => value.to_string(),
        Val::U8(value) => value.to_string(),
        Val::S16(value) => value.to_string(),
        Val::U16(value) => value.to_string(),
        Val::S32(value) => value.to_string(),
        Val::U32(value) => value.to_string(),
        Val::S64(value) => value.to_string(),
        Val::U64(value) => value.to_string(),
        _ => {
            return Err(OutputError::Invalid(
                "a key of a map has no text".to_owned(),
            ));
        }
    })
}

fn one_entry(key: &str, value: Json, output: &mut Output) -> Result<Json, OutputError> {
    output.pay(key.len() + 5)?;
    let mut object = JsonObject::new();
    object.insert(key.to_owned(), value);
    Ok(Json::Object(object))
}

fn payload(
    value: Option<Box<Val>>,
    ty: Option<&Type>,
    depth: u64,
    output: &mut Output,
) -> Result<Json, OutputError> {
    match (value, ty) {
        (Some(value), Some(ty)) => convert(*value, ty, depth, output),
        _ => {
            output.pay(4)?;
            Ok(Json::Null)
        }
    }
}

fn fields_of(
    values: Vec<(String, Val)>,
    record: &RecordType,
    depth: u64,
    output: &mut Output,
) -> Result<Json, OutputError> {
    output.pay(2)?;
    let mut object = JsonObject::new();
    for ((_, value), field) in values.into_iter().zip(&record.fields) {
        // Canonical JSON leaves out what is none, as the schema of a record says.
        if matches!(value, Val::Option(None)) {
            continue;
        }
        output.pay(field.name.len() + 4)?;
        let value = convert(value, &field.ty, depth + 1, output)?;
        object.insert(field.name.clone(), value);
    }
    Ok(Json::Object(object))
}

fn variant(
    name: &str,
    value: Option<Box<Val>>,
    cases: &CasesType,
    depth: u64,
    output: &mut Output,
) -> Result<Json, OutputError> {
    let shown = shown_name(name);
    output.pay(shown.len() + 2)?;
    let case = cases.cases.iter().find(|case| case.name == shown);
    let Some(ty) = case.and_then(|case| case.payload.as_ref()) else {
        return Ok(Json::String(shown));
    };
    let inner = payload(value, Some(ty), depth + 1, output)?;
    one_entry(&shown, inner, output)
}
