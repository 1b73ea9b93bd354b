//! Values as models write them: not as the schema says, and clear all the same.

use openprogram_core::schema::{RecordType, Type};
use openprogram_core::{Json, JsonObject};

use crate::fuzz::Random;

/// A member that no record has.
const UNKNOWN: &str = "nobody_knows_this";

/// Writes values loosely, and keeps where.
///
/// The slips are those of the table of types: numbers and truth values as text, whole numbers with a
/// fraction, names in capitals, one value in place of a list of one, members that nobody knows, the
/// inside of an option of an option without its wrapper, a case without a value that has null.
/// Names with hyphens, another order and null for what is absent are no slips, and are not told.
pub struct Loosener<'a> {
    random: &'a mut Random,
    /// The path of each slip, and whether it is a member that is dropped.
    slips: Vec<(String, bool)>,
}

impl<'a> Loosener<'a> {
    /// No slips yet.
    pub fn new(random: &'a mut Random) -> Self {
        Self {
            random,
            slips: Vec::new(),
        }
    }

    /// The slips so far: paths, and whether what stood there is dropped.
    #[must_use]
    pub fn slips(self) -> Vec<(String, bool)> {
        self.slips
    }

    fn slip(&mut self, path: &str, loose: impl Into<Json>) -> Json {
        self.slips.push((path.to_owned(), false));
        loose.into()
    }

    /// The value in canonical form at this path, with some slips.
    pub fn loosen(&mut self, ty: &Type, value: &Json, path: &str) -> Json {
        let slips = self.random.below(2) == 0;
        match (ty, value) {
            (Type::Bool, Json::Bool(value)) if slips => {
                self.slip(path, value.to_string().to_uppercase())
            }
            (Type::Integer(_), Json::Number(number)) if slips => match self.random.below(2) {
                0 => self.slip(path, number.to_string()),
                _ => {
                    let whole: Result<Json, _> = serde_json::from_str(&format!("{number}.0"));
                    self.slip(path, whole.unwrap_or_default())
                }
            },
            (Type::Float32 | Type::Float64, Json::Number(number)) if slips => {
                self.slip(path, number.to_string())
            }
            (Type::Enum(_) | Type::Variant(_), Json::String(name)) if slips => {
                match self.random.below(2) {
                    0 if matches!(ty, Type::Variant(_)) => {
                        self.slip(path, object(name.clone(), Json::Null))
                    }
                    _ if *name != name.to_uppercase() => self.slip(path, name.to_uppercase()),
                    _ => value.clone(),
                }
            }
            (Type::List(inner), Json::Array(items)) if slips && may_stand_alone(inner, items) => {
                // The item keeps the path that it has in the list.
                let item = self.loosen_inside(inner, &items[0], &format!("{path}[0]"));
                self.slip(path, item)
            }
            (Type::Flags(_), Json::Array(names)) if slips && names.len() == 1 => {
                self.slip(path, names[0].clone())
            }
            (Type::Option(inner), Json::Object(some)) if matches!(**inner, Type::Option(_)) => {
                let inside = &some["some"];
                // What looks like a wrapper is read as one.
                let is_wrapper =
                    inside.is_null() || inside.as_object().is_some_and(|o| o.len() == 1);
                if slips && !is_wrapper {
                    let inside = self.loosen_inside(inner, inside, path);
                    return self.slip(path, inside);
                }
                let inside = self.loosen(inner, inside, &format!("{path}.some"));
                object("some".to_owned(), inside)
            }
            (Type::Option(inner), value) if !value.is_null() => self.loosen(inner, value, path),
            (Type::Record(record), Json::Object(members)) => {
                let mut loose = self.members(record, members, path);
                if slips {
                    loose.insert(UNKNOWN.to_owned(), true.into());
                    self.slips.push((format!("{path}.{UNKNOWN}"), true));
                }
                Json::Object(loose)
            }
            _ => self.parts(ty, value, path),
        }
    }

    /// A value without whose wrapper it must not look like another one.
    fn loosen_inside(&mut self, ty: &Type, value: &Json, path: &str) -> Json {
        let before = self.slips.len();
        let loose = self.loosen(ty, value, path);
        let is_clear = !loose.is_array() && loose.as_object().is_none_or(|o| o.len() != 1);
        if is_clear || loose.is_object() == value.is_object() && !value.is_array() {
            return loose;
        }
        self.slips.truncate(before);
        value.clone()
    }

    /// What has no slips of its own and holds what may.
    fn parts(&mut self, ty: &Type, value: &Json, path: &str) -> Json {
        match (ty, value) {
            (Type::List(inner) | Type::FixedList(inner, _), Json::Array(items)) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(n, item)| self.loosen(inner, item, &format!("{path}[{n}]")));
                items.collect()
            }
            (Type::Tuple(types), Json::Array(items)) => {
                let items = types.iter().zip(items).enumerate();
                let items =
                    items.map(|(n, (ty, item))| self.loosen(ty, item, &format!("{path}[{n}]")));
                items.collect()
            }
            (Type::Map(_, inner), Json::Object(entries)) => {
                let entries = entries.iter().map(|(key, value)| {
                    let value = self.loosen(inner, value, &format!("{path}{}", step(key)));
                    (key.clone(), value)
                });
                Json::Object(entries.collect())
            }
            (Type::Result(ok, err), Json::Object(sides)) => {
                let sides = sides.iter().map(|(side, value)| {
                    let ty = if side == "ok" { ok } else { err };
                    let loose = ty.as_ref();
                    let loose = loose.map(|ty| self.loosen(ty, value, &format!("{path}.{side}")));
                    (side.clone(), loose.unwrap_or_default())
                });
                Json::Object(sides.collect())
            }
            (Type::Variant(cases), Json::Object(chosen)) => {
                let chosen = chosen.iter().map(|(name, value)| {
                    let case = cases.cases.iter().find(|case| case.name == *name);
                    let ty = case.and_then(|case| case.payload.as_ref());
                    let loose = ty.map(|ty| self.loosen(ty, value, &format!("{path}.{name}")));
                    (name.replace('_', "-"), loose.unwrap_or_default())
                });
                Json::Object(chosen.collect())
            }
            (_, value) => value.clone(),
        }
    }

    /// The members in another order, with hyphens, and null for what is not there.
    fn members(&mut self, record: &RecordType, members: &JsonObject, path: &str) -> JsonObject {
        let mut loose = JsonObject::new();
        for field in record.fields.iter().rev() {
            let name = match self.random.below(2) {
                0 => field.name.replace('_', "-"),
                _ => field.name.clone(),
            };
            let path = format!("{path}.{}", field.name);
            match members.get(&field.name) {
                Some(value) => {
                    loose.insert(name, self.loosen(&field.ty, value, &path));
                }
                None if self.random.below(2) == 0 => {
                    loose.insert(name, Json::Null);
                }
                None => {}
            }
        }
        loose
    }
}

/// A key in a path. What needs quotes is not written out: [`up_to_quotes`] ends there.
fn step(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if key.is_empty() || key.len() > 64 || !key.chars().all(is_plain) {
        return QUOTES.to_owned();
    }
    format!(".{key}")
}

const QUOTES: &str = "[\"";

/// A path up to the first key that needs quotes.
#[must_use]
pub fn up_to_quotes(path: &str) -> String {
    let plain = path.split(QUOTES).next();
    plain.unwrap_or_default().to_owned()
}

/// Whether the only item of a list can be written without the list: not where it would be read as the
/// list itself.
fn may_stand_alone(inner: &Type, items: &[Json]) -> bool {
    let fits = match items {
        [only] => !only.is_array() && !only.is_null(),
        _ => false,
    };
    fits && !matches!(inner, Type::Json | Type::Bytes)
}

fn object(name: String, value: Json) -> Json {
    Json::Object([(name, value)].into_iter().collect())
}
