//! From a reply to a checked pick.
//!
//! The last pick of a reply that is valid wins. Names are never guessed.

use super::arguments;
use super::example::{example, is_example};
use super::extract::{ARGUMENT_KEYS, Candidate, find};
use super::menu::{DECISION_FIELD, Menu};
use super::option::{MenuOption, Payload};
use super::repair::Defect;
use crate::schema::{
    CheckError, CheckMode, Checked, Coercion, JSON_DEPTH_MAX, Mismatch, check_members, kind_of,
    listed, names_equal, quoted,
};
use crate::{Json, JsonObject};

/// What is wrong with a reply or a pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PickErrorKind {
    /// The reply holds no pick.
    NoAction,
    /// The pick names no option of the menu.
    UnknownCall,
    /// The arguments are not an object, or are those of the example.
    BadArgs,
    /// A required argument is absent.
    MissingRequired,
    /// An argument has the wrong type or is out of range.
    TypeMismatch,
    /// An argument is not one of the allowed values.
    EnumViolation,
}

impl PickErrorKind {
    /// The word in failures and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoAction => "no_action",
            Self::UnknownCall => "unknown_call",
            Self::BadArgs => "bad_args",
            Self::MissingRequired => "missing_required",
            Self::TypeMismatch => "type_mismatch",
            Self::EnumViolation => "enum_violation",
        }
    }
}

/// Why a reply gives no pick, in words that help the model to do better.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PickError {
    /// What kind of error it is.
    pub kind: PickErrorKind,
    /// What is wrong: lower case, no final period.
    pub message: String,
}

impl From<CheckError> for PickError {
    fn from(error: CheckError) -> Self {
        Self {
            kind: match error.mismatch {
                Mismatch::Missing => PickErrorKind::MissingRequired,
                Mismatch::WrongType | Mismatch::OutOfRange => PickErrorKind::TypeMismatch,
                Mismatch::NotAllowed => PickErrorKind::EnumViolation,
            },
            message: error.to_string(),
        }
    }
}

/// A valid pick that has not been carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// The place of the option in the menu.
    pub index: usize,
    /// The name of the option, as the menu spells it.
    pub name: String,
    /// The arguments as picked, in canonical form; defaults and hidden parameters not filled in.
    pub arguments: JsonObject,
    /// Values that were dropped or, in a lenient check, repaired.
    pub coercions: Vec<Coercion>,
    /// What had to be forgiven to read the reply.
    pub repairs: Vec<String>,
}

impl Pick {
    /// Everything that was forgiven, one line each, for records and people.
    #[must_use]
    pub fn coerced(&self) -> Vec<String> {
        let values = self.coercions.iter().map(|coercion| {
            if coercion.path.is_empty() {
                coercion.what.clone()
            } else {
                format!("{}: {}", coercion.path, coercion.what)
            }
        });
        self.repairs.iter().cloned().chain(values).collect()
    }
}

/// Reads a reply: the last pick that is valid. A `Call:` quoted from the menu, followed by a pick of
/// an option that is not valid, is none: whoever quotes and then slips is asked again.
///
/// Decisions are checked strictly; [`CheckMode::Lenient`] is for callers that ask for it.
///
/// # Errors
/// Of the last pick that names an option, else of the last one, else that there is none.
pub fn parse_reply(menu: &Menu, reply: &str, mode: CheckMode) -> Result<Pick, PickError> {
    let mut error: Option<PickError> = None;
    let mut of_option = false;
    for found in find(reply)?.into_iter().rev() {
        let known = found.name().is_some_and(|name| menu.find(name).is_some());
        // The error of the last pick is kept; that of one that names an option says more.
        let says_more = error.is_none() || (known && !of_option);
        if !known && !says_more {
            continue;
        }
        match check_pick(menu, found.into_candidate(), mode) {
            // The call of the menu itself, before a pick that does not hold, was quoted and not meant.
            Ok(pick) if of_option && is_shown_call(menu, &pick) => {}
            Ok(pick) => return Ok(pick),
            Err(this) if says_more => {
                error = Some(this);
                of_option = known;
            }
            Err(_) => {}
        }
    }
    // A reply without candidates is an error of `extract`, so there is always one here.
    Err(error.unwrap_or_else(|| PickError {
        kind: PickErrorKind::NoAction,
        message: "the reply holds no pick".to_owned(),
    }))
}

/// Whether a pick is the `Call:` of its option, as the menu shows it.
fn is_shown_call(menu: &Menu, pick: &Pick) -> bool {
    let members = menu.options()[pick.index].members();
    let shown = example(members.iter().map(|member| member.field));
    shown.as_object() == Some(&pick.arguments)
}

/// Checks one pick against the menu: its name, the form of its arguments, then each of them.
///
/// # Errors
/// The first thing that is wrong; all missing names together.
pub fn check_pick(menu: &Menu, candidate: Candidate, mode: CheckMode) -> Result<Pick, PickError> {
    let Some((index, option)) = candidate.call.as_str().and_then(|name| menu.find(name)) else {
        return Err(unknown_call(menu, &candidate.call));
    };
    match candidate.defect {
        None => {}
        Some(Defect::TooDeep) => {
            let message = format!(
                "the arguments of {} are nested deeper than {JSON_DEPTH_MAX} levels",
                quoted(&option.name)
            );
            let kind = PickErrorKind::TypeMismatch;
            return Err(PickError { kind, message });
        }
        Some(Defect::NotFinite) => {
            let message = "JSON has no NaN and no Infinity; give a number".to_owned();
            let kind = PickErrorKind::TypeMismatch;
            return Err(PickError { kind, message });
        }
        Some(Defect::Repeated(key)) => {
            let key = quoted(&key);
            let message = format!("the key {key} stands twice in one object; give it once");
            let kind = PickErrorKind::BadArgs;
            return Err(PickError { kind, message });
        }
    }
    let mut repairs = candidate.repairs();
    let given = given_arguments(option, candidate.rest, &mut repairs)?;
    if is_example(&given, option.members().iter().map(|member| member.field)) {
        let message = format!(
            "the arguments of {} are the placeholders of its example; give real values",
            quoted(&option.name)
        );
        let kind = PickErrorKind::BadArgs;
        return Err(PickError { kind, message });
    }
    let checked = check_given(option, given, mode)?;
    Ok(Pick {
        index,
        name: option.name.clone(),
        arguments: checked.value,
        coercions: checked.coercions,
        repairs,
    })
}

/// Makes a pick that did not come from a reply: its name, then each of its arguments.
///
/// # Errors
/// When the menu has no such option, or the option does not take these arguments.
pub fn make_pick(menu: &Menu, name: &str, arguments: JsonObject) -> Result<Pick, PickError> {
    let Some((index, option)) = menu.find(name) else {
        return Err(unknown_call(menu, &name.into()));
    };
    let checked = check_given(option, arguments, CheckMode::Strict)?;
    Ok(Pick {
        index,
        name: option.name.clone(),
        arguments: checked.value,
        coercions: checked.coercions,
        repairs: Vec::new(),
    })
}

/// Checks the arguments of an option.
fn check_given(
    option: &MenuOption,
    given: JsonObject,
    mode: CheckMode,
) -> Result<Checked<JsonObject>, PickError> {
    let checked = match &option.payload {
        Payload::Function(function) => arguments::check_owned_arguments(function, given, mode),
        Payload::Schema(_) | Payload::Value(_) => {
            check_members(given, option.members().into_iter(), mode)
        }
    };
    Ok(checked?)
}

/// The result of a pick that runs nothing; `None` when it runs a function.
///
/// A value is itself. Fields become `{"decision": name, …}` in declared order; an option without
/// fields becomes its name. No field can be called `decision`, a [`Menu`] sees to that.
#[must_use]
pub fn resolve_value(menu: &Menu, pick: &Pick) -> Option<Json> {
    match &menu.options().get(pick.index)?.payload {
        Payload::Function(_) => None,
        Payload::Value(value) => Some(value.clone()),
        Payload::Schema(record) if record.fields.is_empty() => Some(pick.name.as_str().into()),
        Payload::Schema(_) => {
            let mut result = JsonObject::new();
            result.insert(DECISION_FIELD.to_owned(), pick.name.as_str().into());
            let fields = pick.arguments.iter();
            result.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
            Some(Json::Object(result))
        }
    }
}

fn unknown_call(menu: &Menu, call: &Json) -> PickError {
    let options = listed(menu.options().iter().map(|option| quoted(&option.name)));
    let got = match call {
        Json::String(name) => quoted(name),
        other => kind_of(other).to_owned(),
    };
    PickError {
        kind: PickErrorKind::UnknownCall,
        message: format!("{got} is not one of the options; pick one of {options}"),
    }
}

/// The arguments of a pick, wherever its writer put them.
fn given_arguments(
    option: &MenuOption,
    mut rest: JsonObject,
    repairs: &mut Vec<String>,
) -> Result<JsonObject, PickError> {
    let members = option.members();
    let is_field = |key: &str| members.iter().any(|m| names_equal(&m.field.name, key));
    // A field of the same name is a field that stands beside `call`.
    // Beside an option that takes nothing, any of the other keys is just talk.
    let holds_arguments = |key: &str| match rest.get(key) {
        None => false,
        Some(_) if key == ARGUMENT_KEYS[0] => true,
        Some(value) => !is_field(key) && (value.is_object() || !members.is_empty()),
    };
    match ARGUMENT_KEYS.iter().find(|key| holds_arguments(key)) {
        Some(key) => {
            let arguments = object_under(key, option, rest.get_mut(*key), repairs)?;
            if *key != ARGUMENT_KEYS[0] && !arguments.is_empty() {
                repairs.push(format!("arguments read from \"{key}\""));
            }
            Ok(arguments)
        }
        None if rest.keys().any(|key| is_field(key)) => {
            repairs.push("arguments read from beside the name of the option".to_owned());
            Ok(rest)
        }
        None => Ok(JsonObject::new()),
    }
}

fn object_under(
    key: &str,
    option: &MenuOption,
    value: Option<&mut Json>,
    repairs: &mut Vec<String>,
) -> Result<JsonObject, PickError> {
    match value {
        Some(Json::Object(arguments)) => Ok(std::mem::take(arguments)),
        None | Some(Json::Null) => Ok(JsonObject::new()),
        Some(Json::Array(items)) if items.is_empty() => {
            repairs.push(format!("empty array under \"{key}\" read as no arguments"));
            Ok(JsonObject::new())
        }
        Some(other) => Err(PickError {
            kind: PickErrorKind::BadArgs,
            message: format!(
                "\"{key}\" of {} must be an object, got {}",
                quoted(&option.name),
                kind_of(other)
            ),
        }),
    }
}
