//! Canonical JSON to component values.

use openprogram_core::Json;
use openprogram_core::guest::CallError;
use openprogram_core::schema::{CasesType, HandleType, IntegerKind, RecordType, Type, names_equal};
use wasmtime::component::{ResourceAny, Val};

use super::{decode_bytes, wit_name};

/// Why a value cannot cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConvertError {
    pub(crate) path: String,
    pub(crate) message: String,
}

impl From<ConvertError> for CallError {
    fn from(error: ConvertError) -> Self {
        Self::InvalidArgument {
            path: error.path,
            message: error.message,
        }
    }
}

type Converted = Result<Val, ConvertError>;

/// What handles stand for.
pub(crate) trait Handles {
    /// What this text stands for, as the type wants it.
    ///
    /// # Errors
    /// Why it stands for nothing of the kind, and what to do.
    fn find(&self, text: &str, ty: &HandleType) -> Result<ResourceAny, String>;
}

/// No handle stands for anything.
pub(crate) struct NoHandles;

impl Handles for NoHandles {
    fn find(&self, _: &str, _: &HandleType) -> Result<ResourceAny, String> {
        Err("handles mean nothing here".to_owned())
    }
}

/// Where a value stands; made into text only for an error.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
    depth: u64,
    depth_max: u64,
    handles: &'a dyn Handles,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    fn name(&'a self, name: &'a str) -> Place<'a> {
        self.step(Step::Name(name))
    }

    fn index(&'a self, index: usize) -> Place<'a> {
        self.step(Step::Index(index))
    }

    fn step(&'a self, step: Step<'a>) -> Place<'a> {
        Place {
            parent: Some(self),
            step,
            depth: self.depth + 1,
            depth_max: self.depth_max,
            handles: self.handles,
        }
    }

    fn path(&self) -> String {
        let mut path = self.parent.map_or_else(String::new, Place::path);
        match self.step {
            Step::Name(name) if path.is_empty() => path.push_str(name),
            Step::Name(name) => {
                path.push('.');
                path.push_str(name);
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
        path
    }

    fn bad(&self, message: impl Into<String>) -> ConvertError {
        ConvertError {
            path: self.path(),
            message: message.into(),
        }
    }

    fn expected(&self, what: &str) -> ConvertError {
        self.bad(format!("expected {what}"))
    }
}

/// The value of one parameter; an absent one is `None` of an option.
///
/// # Errors
/// The path of the first part that does not fit, and how.
pub(crate) fn argument(
    name: &str,
    value: Option<&Json>,
    ty: &Type,
    depth_max: u64,
    handles: &dyn Handles,
) -> Result<Val, ConvertError> {
    let place = Place {
        parent: None,
        step: Step::Name(name),
        depth: 0,
        depth_max,
        handles,
    };
    optional(value, ty, &place)
}

/// A value that may be absent, as a parameter or field.
fn optional(value: Option<&Json>, ty: &Type, place: &Place<'_>) -> Converted {
    match (value, ty) {
        (Some(value), _) => convert(value, ty, place),
        (None, Type::Option(_)) => Ok(Val::Option(None)),
        (None, _) => Err(place.bad("missing")),
    }
}

fn convert(value: &Json, ty: &Type, place: &Place<'_>) -> Converted {
    if place.depth > place.depth_max {
        return Err(place.bad(format!("nested deeper than {} levels", place.depth_max)));
    }
    match ty {
        Type::Bool => value
            .as_bool()
            .map(Val::Bool)
            .ok_or_else(|| place.expected("true or false")),
        Type::Integer(kind) => integer(value, *kind, place),
        Type::Float32 => float(value, place).map(|n| {
            // Out of range becomes infinite, as a literal would in every language of guests.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the nearest value is meant"
            )]
            Val::Float32(n as f32)
        }),
        Type::Float64 => float(value, place).map(Val::Float64),
        Type::Char => character(value, place).map(Val::Char),
        Type::String => string(value, place).map(|text| Val::String(text.to_owned())),
        Type::Bytes => {
            let bytes = decode_bytes(value).map_err(|message| place.bad(message))?;
            Ok(Val::List(bytes.into_iter().map(Val::U8).collect()))
        }
        Type::Json => json(value, place),
        Type::AnyArray | Type::AnyObject => Err(place.bad("has no type of components")),
        Type::List(inner) => Ok(Val::List(items(array(value, place)?, inner, place)?)),
        Type::FixedList(inner, length) => {
            let values = array(value, place)?;
            if values.len() != *length as usize {
                return Err(place.expected(&format!("exactly {length} items")));
            }
            Ok(Val::FixedLengthList(items(values, inner, place)?))
        }
        Type::Map(key, inner) => map(value, key, inner, place),
        Type::Option(inner) => option(value, inner, place),
        Type::Tuple(types) => tuple(value, types, place),
        Type::Result(ok, err) => result(value, ok.as_deref(), err.as_deref(), place),
        Type::Record(record) => fields(value, record, place),
        Type::Enum(cases) => {
            let name = string(value, place)?;
            known_case(cases, name, place).map(|case| Val::Enum(case.0))
        }
        Type::Flags(cases) => flags(value, cases, place),
        Type::Variant(cases) => variant(value, cases, place),
        Type::Handle(ty) => {
            let text = string(value, place)?;
            let found = place.handles.find(text, ty);
            found
                .map(Val::Resource)
                .map_err(|message| place.bad(message))
        }
    }
}

fn array<'a>(value: &'a Json, place: &Place<'_>) -> Result<&'a [Json], ConvertError> {
    let values = value.as_array().map(Vec::as_slice);
    values.ok_or_else(|| place.expected("an array"))
}

fn string<'a>(value: &'a Json, place: &Place<'_>) -> Result<&'a str, ConvertError> {
    value.as_str().ok_or_else(|| place.expected("a string"))
}

fn items(values: &[Json], ty: &Type, place: &Place<'_>) -> Result<Vec<Val>, ConvertError> {
    let item = |(index, value)| convert(value, ty, &place.index(index));
    values.iter().enumerate().map(item).collect()
}

fn integer(value: &Json, kind: IntegerKind, place: &Place<'_>) -> Converted {
    let bounds = kind.bounds();
    let (min, max) = bounds.ok_or_else(|| place.bad("has no type of components"))?;
    let number = value.as_number().map(serde_json::Number::as_str);
    let number = number.and_then(|text| text.parse::<i128>().ok());
    let number = number.ok_or_else(|| place.expected("an integer"))?;
    let range = || place.bad(format!("must be from {min} to {max}"));
    macro_rules! integer {
        ($case:ident) => {
            number.try_into().map(Val::$case).map_err(|_| range())
        };
    }
    match kind {
        IntegerKind::S8 => integer!(S8),
        IntegerKind::U8 => integer!(U8),
        IntegerKind::S16 => integer!(S16),
        IntegerKind::U16 => integer!(U16),
        IntegerKind::S32 => integer!(S32),
        IntegerKind::U32 => integer!(U32),
        IntegerKind::S64 => integer!(S64),
        IntegerKind::U64 => integer!(U64),
        IntegerKind::Any => Err(place.bad("has no type of components")),
    }
}

fn float(value: &Json, place: &Place<'_>) -> Result<f64, ConvertError> {
    let named = value.as_str().and_then(|text| match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    });
    named
        .or_else(|| value.as_number()?.as_str().parse().ok())
        .ok_or_else(|| place.expected("a number"))
}

fn character(value: &Json, place: &Place<'_>) -> Result<char, ConvertError> {
    let mut chars = string(value, place)?.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(place.expected("exactly one character")),
    }
}

fn json(value: &Json, place: &Place<'_>) -> Converted {
    let left = place.depth_max - place.depth;
    if !super::check_json_depth(value, left) {
        return Err(place.bad(format!("nested deeper than {} levels", place.depth_max)));
    }
    Ok(Val::String(value.to_string()))
}

/// The key of a map from its text.
fn key(text: &str, ty: &Type, place: &Place<'_>) -> Converted {
    match ty {
        Type::String | Type::Char => convert(&Json::String(text.to_owned()), ty, place),
        _ => {
            let value: Json = serde_json::from_str(text)
                .map_err(|_| place.bad(format!("`{}` is no key of this map", cut(text))))?;
            convert(&value, ty, place)
        }
    }
}

fn map(value: &Json, key_type: &Type, inner: &Type, place: &Place<'_>) -> Converted {
    let object = value
        .as_object()
        .ok_or_else(|| place.expected("an object"))?;
    let entry = |(text, value): (&String, &Json)| {
        let place = place.name(text);
        Ok((key(text, key_type, &place)?, convert(value, inner, &place)?))
    };
    let entries = object.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    Ok(Val::Map(entries))
}

/// `null` is none. An option of an option is wrapped as `{"some": …}`, so that none, some of none
/// and some of some differ; a bare value is some of some.
fn option(value: &Json, inner: &Type, place: &Place<'_>) -> Converted {
    if value.is_null() {
        return Ok(Val::Option(None));
    }
    let wrapped = match (inner, value) {
        (Type::Option(_), Json::Object(object)) if object.len() == 1 => object.get("some"),
        _ => None,
    };
    let value = convert(wrapped.unwrap_or(value), inner, place)?;
    Ok(Val::Option(Some(Box::new(value))))
}

fn tuple(value: &Json, types: &[Type], place: &Place<'_>) -> Converted {
    let values = array(value, place)?;
    if values.len() != types.len() {
        return Err(place.expected(&format!("exactly {} items", types.len())));
    }
    let item = |(index, (value, ty))| convert(value, ty, &place.index(index));
    let values = values.iter().zip(types).enumerate().map(item);
    Ok(Val::Tuple(values.collect::<Result<_, _>>()?))
}

fn result(value: &Json, ok: Option<&Type>, err: Option<&Type>, place: &Place<'_>) -> Converted {
    let form = || place.expected("`{\"ok\": …}` or `{\"err\": …}`");
    let object = value.as_object().filter(|object| object.len() == 1);
    let (side, payload) = object.and_then(|o| o.iter().next()).ok_or_else(form)?;
    let payload = |ty: Option<&Type>| match ty {
        Some(ty) => convert(payload, ty, &place.name(side)).map(|val| Some(Box::new(val))),
        None if payload.is_null() => Ok(None),
        None => Err(place.name(side).expected("null")),
    };
    match side.as_str() {
        "ok" => Ok(Val::Result(Ok(payload(ok)?))),
        "err" => Ok(Val::Result(Err(payload(err)?))),
        _ => Err(form()),
    }
}

fn fields(value: &Json, record: &RecordType, place: &Place<'_>) -> Converted {
    let object = value
        .as_object()
        .ok_or_else(|| place.expected("an object"))?;
    let named = |name: &str| {
        let exact = object.get(name);
        let other = || object.iter().find(|(key, _)| names_equal(key, name));
        exact.or_else(|| other().map(|(_, value)| value))
    };
    let field = |field: &openprogram_core::schema::Field| {
        let value = optional(named(&field.name), &field.ty, &place.name(&field.name))?;
        Ok((wit_name(&field.name), value))
    };
    let fields = record.fields.iter().map(field);
    Ok(Val::Record(fields.collect::<Result<_, _>>()?))
}

/// The WIT name of a case and the type of its payload.
fn known_case<'a>(
    cases: &'a CasesType,
    name: &str,
    place: &Place<'_>,
) -> Result<(String, Option<&'a Type>), ConvertError> {
    let mut known = cases.cases.iter();
    let case = known.find(|case| names_equal(&case.name, name));
    let case = case.ok_or_else(|| {
        let names = cases.cases.iter().map(|case| format!("`{}`", case.name));
        let names = names.take(32).collect::<Vec<_>>().join(", ");
        place.bad(format!("`{}` is none of {names}", cut(name)))
    })?;
    Ok((wit_name(&case.name), case.payload.as_ref()))
}

fn flags(value: &Json, cases: &CasesType, place: &Place<'_>) -> Converted {
    let values = array(value, place)?.iter().enumerate();
    let flag = |(index, value)| {
        let place = place.index(index);
        known_case(cases, string(value, &place)?, &place).map(|case| case.0)
    };
    Ok(Val::Flags(values.map(flag).collect::<Result<_, _>>()?))
}

fn variant(value: &Json, cases: &CasesType, place: &Place<'_>) -> Converted {
    let (name, payload) = match value {
        Json::String(name) => (name, None),
        Json::Object(object) if object.len() == 1 => {
            let only = object.iter().next();
            only.map(|(name, payload)| (name, Some(payload)))
                .ok_or_else(|| place.expected("a case"))?
        }
        _ => return Err(place.expected("a case, or `{case: payload}`")),
    };
    let (wit, ty) = known_case(cases, name, place)?;
    let payload = match (ty, payload) {
        (None, None) => None,
        (Some(ty), Some(payload)) => Some(Box::new(convert(payload, ty, &place.name(name))?)),
        (Some(_), None) => return Err(place.bad(format!("`{}` needs a payload", cut(name)))),
        (None, Some(_)) => return Err(place.bad(format!("`{}` has no payload", cut(name)))),
    };
    Ok(Val::Variant(wit, payload))
}

/// A name as an error shows it.
fn cut(name: &str) -> String {
    name.chars().take(64).collect()
}
