//! Conditions under which a function is offered or a person is asked: a small, bounded language that
//! is read from JSON and answered without running anything, but for the functions that it names.
//!
//! An answer may be that nobody knows. Whoever asks decides what that means, and it is always the
//! careful side.

use crate::{Json, JsonObject};

/// How deep conditions may stand in each other.
pub const CONDITION_DEPTH_MAX: usize = 4;
/// How many conditions one of them may hold, itself included.
pub const CONDITIONS_MAX: usize = 32;
/// The longest name in a condition, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// The most values that an argument is compared with.
const VALUES_MAX: usize = 64;

const FORMS: &str = "`{\"dir\": PATH}`, `{\"env\": NAME}`, `{\"model\": NAME}`, \
    `{\"argument\": NAME, \"equals\": VALUE}`, with `in` or `above` for `equals`, \
    `{\"export\": FUNCTION}`, `{\"all\": […]}`, `{\"any\": […]}` and `{\"not\": …}`";

/// Something that holds, or does not, or of which nobody knows.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of them hold.
    All(Vec<Condition>),
    /// At least one of them holds.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// A folder is granted to the component, under this path.
    Dir(String),
    /// A variable of the environment is granted to the component, and is set.
    Env(String),
    /// The model of the call is one of these, each `provider:model` or `provider` alone.
    Model(Vec<String>),
    /// An argument of the call compares so.
    Argument {
        /// The parameter, as the author wrote it.
        parameter: String,
        /// With what.
        is: Comparison,
    },
    /// A function of the same interface says so.
    Export(String),
}

/// What an argument is compared with. One that is absent counts as `null`.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// It is one of these values.
    OneOf(Vec<Json>),
    /// It is a number above this one.
    Above(serde_json::Number),
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Nobody knows.
    Unknown,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// What conditions are asked about.
pub trait Situation {
    /// Whether a folder is granted under this path.
    fn has_dir(&self, path: &str) -> Holds;
    /// Whether this variable is granted and set.
    fn has_env(&self, name: &str) -> Holds;
    /// The model of the call, `provider:model`.
    fn model(&self) -> Option<&str>;
    /// The arguments of the call; `None` where there is no call yet.
    fn arguments(&self) -> Option<&JsonObject>;
    /// What a function of the same interface says.
    fn says(&self, function: &str) -> Holds;
}

/// Why a value is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It has none of the forms.
    #[error("`{0}` is no condition; there are {FORMS}")]
    Unknown(String),
    /// One of its values is of another kind.
    #[error("`{key}` of a condition must be {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// It holds too many others, or too deep.
    #[error(
        "it holds more than {CONDITIONS_MAX} conditions or some more than {CONDITION_DEPTH_MAX} \
         levels deep"
    )]
    TooLarge,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// When the value has none of the forms, or is too large.
    pub fn from_json(value: &Json) -> Result<Self, ConditionError> {
        let mut left = CONDITIONS_MAX;
        read(value, CONDITION_DEPTH_MAX, &mut left)
    }

    /// The condition as its author could have written it.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let list = |conditions: &[Self]| conditions.iter().map(Self::to_json).collect::<Json>();
        let one_or_more = |names: &[String]| match names {
            [name] => Json::from(name.as_str()),
            names => names.iter().map(String::as_str).collect(),
        };
        let members = match self {
            Self::All(conditions) => vec![("all", list(conditions))],
            Self::Any(conditions) => vec![("any", list(conditions))],
            Self::Not(condition) => vec![("not", condition.to_json())],
            Self::Dir(path) => vec![("dir", path.as_str().into())],
            Self::Env(name) => vec![("env", name.as_str().into())],
            Self::Model(names) => vec![("model", one_or_more(names))],
            Self::Export(function) => vec![("export", function.as_str().into())],
            Self::Argument { parameter, is } => {
                let compared = match is {
                    Comparison::OneOf(values) => match values.as_slice() {
                        [value] => ("equals", value.clone()),
                        values => ("in", values.iter().cloned().collect()),
                    },
                    Comparison::Above(least) => ("above", least.clone().into()),
                };
                vec![("argument", parameter.as_str().into()), compared]
            }
        };
        let members = members.into_iter().map(|(key, v)| (key.to_owned(), v));
        Json::Object(members.collect())
    }

    /// Every condition that it holds, itself included.
    pub fn each(&self) -> Vec<&Self> {
        let mut found = vec![self];
        match self {
            Self::All(inner) | Self::Any(inner) => {
                found.extend(inner.iter().flat_map(Self::each));
            }
            Self::Not(inner) => found.extend(inner.each()),
            _ => {}
        }
        found
    }

    /// The functions that it asks.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        let each = self.each().into_iter();
        each.filter_map(|condition| match condition {
            Self::Export(function) => Some(function.as_str()),
            _ => None,
        })
    }

    /// Whether it holds.
    pub fn holds(&self, situation: &impl Situation) -> Holds {
        match self {
            Self::All(conditions) => {
                let each = conditions.iter().map(|c| c.holds(situation));
                fold(each, Holds::Yes, Holds::No)
            }
            Self::Any(conditions) => {
                let each = conditions.iter().map(|c| c.holds(situation));
                fold(each, Holds::No, Holds::Yes)
            }
            Self::Not(condition) => match condition.holds(situation) {
                Holds::Yes => Holds::No,
                Holds::No => Holds::Yes,
                Holds::Unknown => Holds::Unknown,
            },
            Self::Dir(path) => situation.has_dir(path),
            Self::Env(name) => situation.has_env(name),
            Self::Model(names) => situation.model().map_or(Holds::Unknown, |model| {
                names.iter().any(|name| is_model(name, model)).into()
            }),
            Self::Argument { parameter, is } => {
                situation.arguments().map_or(Holds::Unknown, |arguments| {
                    let shown = crate::schema::shown_name(parameter);
                    is.holds(arguments.get(&shown).unwrap_or(&Json::Null))
                })
            }
            Self::Export(function) => situation.says(function),
        }
    }
}

impl Comparison {
    fn holds(&self, argument: &Json) -> Holds {
        match self {
            Self::OneOf(values) => values.contains(argument).into(),
            Self::Above(least) => match argument {
                Json::Number(number) => above(number, least),
                // What is there and no number cannot be below it either.
                _ => Holds::Unknown,
            },
        }
    }
}

/// The answers of several conditions: `decides` as soon as one says so, else `Unknown` if one is.
fn fold(each: impl Iterator<Item = Holds>, otherwise: Holds, decides: Holds) -> Holds {
    let mut answer = otherwise;
    for holds in each {
        if holds == decides {
            return decides;
        }
        if holds == Holds::Unknown {
            answer = Holds::Unknown;
        }
    }
    answer
}

fn is_model(name: &str, model: &str) -> bool {
    name == model
        || model
            .split_once(':')
            .is_some_and(|(provider, _)| provider == name)
}

/// Compares whole numbers exactly, others as floats.
fn above(number: &serde_json::Number, least: &serde_json::Number) -> Holds {
    let whole = |n: &serde_json::Number| n.to_string().parse::<i128>().ok();
    if let (Some(number), Some(least)) = (whole(number), whole(least)) {
        return (number > least).into();
    }
    match (number.as_f64(), least.as_f64()) {
        (Some(number), Some(least)) => (number > least).into(),
        _ => Holds::Unknown,
    }
}

fn read(value: &Json, depth: usize, left: &mut usize) -> Result<Condition, ConditionError> {
    if depth == 0 || *left == 0 {
        return Err(ConditionError::TooLarge);
    }
    *left -= 1;
    let unknown = || ConditionError::Unknown(crate::text::one_line(&value.to_string(), 80));
    let members = value.as_object().ok_or_else(unknown)?;
    let mut members = members.iter().map(|(key, value)| (key.as_str(), value));
    let condition = match (members.next(), members.next(), members.next()) {
        (Some((key @ ("all" | "any"), list)), None, _) => {
            let key = if key == "all" { "all" } else { "any" };
            let error = || value_error(key, "an array of conditions, not empty");
            let list = list.as_array().filter(|list| !list.is_empty());
            let list = list.ok_or_else(error)?.iter();
            let list = list.map(|inner| read(inner, depth - 1, left));
            let list = list.collect::<Result<Vec<_>, _>>()?;
            if key == "all" {
                Condition::All(list)
            } else {
                Condition::Any(list)
            }
        }
        (Some(("not", inner)), None, _) => Condition::Not(Box::new(read(inner, depth - 1, left)?)),
        (Some(("dir", path)), None, _) => Condition::Dir(name("dir", path)?),
        (Some(("env", variable)), None, _) => Condition::Env(name("env", variable)?),
        (Some(("model", models)), None, _) => Condition::Model(match models {
            Json::Array(models) if !models.is_empty() && models.len() <= VALUES_MAX => {
                let models = models.iter().map(|model| name("model", model));
                models.collect::<Result<_, _>>()?
            }
            model => vec![name("model", model)?],
        }),
        (Some(("export", function)), None, _) => Condition::Export(name("export", function)?),
        (Some(("argument", parameter)), Some((how, with)), None)
        | (Some((how, with)), Some(("argument", parameter)), None) => Condition::Argument {
            parameter: name("argument", parameter)?,
            is: comparison(how, with)?.ok_or_else(unknown)?,
        },
        _ => return Err(unknown()),
    };
    Ok(condition)
}

fn comparison(how: &str, with: &Json) -> Result<Option<Comparison>, ConditionError> {
    Ok(match (how, with) {
        ("equals", value) => Some(Comparison::OneOf(vec![value.clone()])),
        ("in", Json::Array(values)) if (1..=VALUES_MAX).contains(&values.len()) => {
            Some(Comparison::OneOf(values.clone()))
        }
        ("in", _) => return Err(value_error("in", "an array of 1 to 64 values")),
        ("above", Json::Number(number)) => Some(Comparison::Above(number.clone())),
        ("above", _) => return Err(value_error("above", "a number")),
        _ => None,
    })
}

fn name(key: &'static str, value: &Json) -> Result<String, ConditionError> {
    let text = value
        .as_str()
        .filter(|text| (1..=NAME_BYTES_MAX).contains(&text.len()) && crate::text::is_clean(text));
    let text = text.map(str::to_owned);
    text.ok_or_else(|| value_error(key, "a name of 1 to 256 bytes"))
}

fn value_error(key: &'static str, expected: &'static str) -> ConditionError {
    ConditionError::Value { key, expected }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Desk {
        arguments: Option<Json>,
        model: Option<&'static str>,
    }

    impl Situation for Desk {
        fn has_dir(&self, path: &str) -> Holds {
            (path == "/data").into()
        }
        fn has_env(&self, name: &str) -> Holds {
            (name == "TOKEN").into()
        }
        fn model(&self) -> Option<&str> {
            self.model
        }
        fn arguments(&self) -> Option<&JsonObject> {
            self.arguments.as_ref().and_then(Json::as_object)
        }
        fn says(&self, function: &str) -> Holds {
            match function {
                "ready" => Holds::Yes,
                "busy" => Holds::No,
                _ => Holds::Unknown,
            }
        }
    }

    #[track_caller]
    fn check(condition: Json, expected: Holds) {
        let desk = Desk {
            arguments: Some(
                json!({"amount": 101, "kind": "gift", "big_one": 9007199254740993_u64}),
            ),
            model: Some("openai:gpt"),
        };
        let read = Condition::from_json(&condition).unwrap();
        assert_eq!(read.holds(&desk), expected, "{condition}");
        assert_eq!(Condition::from_json(&read.to_json()), Ok(read));
    }

    #[test]
    fn every_form_is_answered() {
        use Holds::{No, Unknown, Yes};
        check(json!({"dir": "/data"}), Yes);
        check(json!({"dir": "/other"}), No);
        check(json!({"env": "TOKEN"}), Yes);
        check(json!({"env": "HOME"}), No);
        check(json!({"model": "openai"}), Yes);
        check(json!({"model": ["a:b", "openai:gpt"]}), Yes);
        check(json!({"model": "gpt"}), No);
        check(json!({"argument": "amount", "above": 100}), Yes);
        check(json!({"above": 101, "argument": "amount"}), No);
        check(json!({"argument": "amount", "above": 100.5}), Yes);
        // One above what a float can tell apart.
        let exact = json!({"argument": "big-one", "above": 9007199254740992_u64});
        check(exact, Yes);
        check(json!({"argument": "kind", "above": 1}), Unknown);
        check(json!({"argument": "kind", "equals": "gift"}), Yes);
        check(json!({"argument": "kind", "in": ["sale", "gift"]}), Yes);
        check(json!({"argument": "kind", "in": ["sale"]}), No);
        check(json!({"argument": "nothing", "equals": null}), Yes);
        check(json!({"export": "ready"}), Yes);
        check(json!({"export": "busy"}), No);
        check(json!({"export": "broken"}), Unknown);
    }

    #[test]
    fn what_nobody_knows_stays_unknown_unless_another_decides() {
        use Holds::{No, Unknown, Yes};
        let (yes, no) = (json!({"export": "ready"}), json!({"export": "busy"}));
        let unknown = json!({"export": "broken"});
        check(json!({"not": yes}), No);
        check(json!({"not": no}), Yes);
        check(json!({"not": unknown}), Unknown);
        check(json!({"all": [yes, yes]}), Yes);
        check(json!({"all": [unknown, no]}), No);
        check(json!({"all": [yes, unknown]}), Unknown);
        check(json!({"any": [no, no]}), No);
        check(json!({"any": [unknown, yes]}), Yes);
        check(json!({"any": [no, unknown]}), Unknown);
        let desk = Desk {
            arguments: None,
            model: None,
        };
        for condition in [json!({"argument": "a", "equals": 1}), json!({"model": "a"})] {
            assert_eq!(
                Condition::from_json(&condition).unwrap().holds(&desk),
                Unknown
            );
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_forms() {
        let refused = |condition: Json| Condition::from_json(&condition).unwrap_err().to_string();
        for condition in [
            json!(true),
            json!({}),
            json!({"weather": "good"}),
            json!({"dir": "/a", "env": "B"}),
            json!({"argument": "a"}),
            json!({"argument": "a", "like": "b"}),
            json!({"argument": "a", "equals": 1, "above": 2}),
        ] {
            let start = format!("`{condition}` is no condition; there are `{{\"dir\": PATH}}`");
            let error = refused(condition);
            assert!(error.starts_with(&start), "{error}");
        }
        for (condition, expected) in [
            (
                json!({"all": []}),
                "`all` of a condition must be an array of conditions, not empty",
            ),
            (
                json!({"dir": ""}),
                "`dir` of a condition must be a name of 1 to 256 bytes",
            ),
            (
                json!({"env": 3}),
                "`env` of a condition must be a name of 1 to 256 bytes",
            ),
            (
                json!({"model": []}),
                "`model` of a condition must be a name of 1 to 256 bytes",
            ),
            (
                json!({"argument": "a", "in": []}),
                "`in` of a condition must be an array of 1 to 64 values",
            ),
            (
                json!({"argument": "a", "above": "b"}),
                "`above` of a condition must be a number",
            ),
        ] {
            assert_eq!(refused(condition), expected);
        }
    }

    #[test]
    fn conditions_are_bounded_in_depth_and_number() {
        let mut deep = json!({"env": "A"});
        for _ in 0..CONDITION_DEPTH_MAX - 1 {
            deep = json!({"not": deep});
        }
        assert!(Condition::from_json(&deep).is_ok());
        let too_deep = json!({ "not": deep });
        assert_eq!(
            Condition::from_json(&too_deep),
            Err(ConditionError::TooLarge)
        );
        let many = |n: usize| json!({"any": vec![json!({"env": "A"}); n]});
        assert!(Condition::from_json(&many(CONDITIONS_MAX - 1)).is_ok());
        let too_many = Condition::from_json(&many(CONDITIONS_MAX));
        assert_eq!(too_many, Err(ConditionError::TooLarge));
    }
}
