//! JSON as it stands in a reply: texts and numbers still point into it.
//!
//! Most of what a reply holds is looked at and thrown away; only the pick becomes a value.

use std::borrow::Cow;

use crate::{Json, JsonObject};

/// The members of an object in written order; of equal keys the last one counts.
pub(super) type Members<'a> = Vec<(Cow<'a, str>, Node<'a>)>;

/// One JSON value of a reply.
pub(super) enum Node<'a> {
    Null,
    Bool(bool),
    /// The text of a number, which is a JSON number.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Members<'a>),
}

impl Node<'_> {
    /// The value; the reader has bounded its depth.
    pub(super) fn into_json(self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(text) => number(text),
            Self::Text(text) => Json::String(text.into_owned()),
            Self::Array(items) => items.into_iter().map(Node::into_json).collect(),
            Self::Object(members) => Json::Object(into_object(members)),
        }
    }
}

/// The object with these members.
pub(super) fn into_object(members: Members<'_>) -> JsonObject {
    let mut object = JsonObject::with_capacity(members.len());
    for (key, value) in members {
        object.insert(key.into_owned(), value.into_json());
    }
    object
}

/// Whether there is a member of this name.
pub(super) fn has_member(members: &Members<'_>, name: &str) -> bool {
    members.iter().any(|(key, _)| key == name)
}

fn number(text: &str) -> Json {
    // What fits into 64 bits is made faster this way; its text stays the same but for `-0`.
    match text.parse::<i64>() {
        Ok(value) if text != "-0" => Json::from(value),
        _ => text.parse().map_or(Json::Null, Json::Number),
    }
}
