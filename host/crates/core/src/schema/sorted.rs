//! One form of a value, whatever the order in which its members were written.

use crate::Json;

/// The value with the members of all objects in the order of their names.
#[must_use]
pub fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(members) => {
            let mut names: Vec<_> = members.keys().collect();
            names.sort();
            let member = |name: &String| (name.clone(), sorted(&members[name]));
            Json::Object(names.into_iter().map(member).collect())
        }
        other => other.clone(),
    }
}
