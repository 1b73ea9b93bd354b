//! JSON as it stands in a reply: texts and numbers still point into it.
//!
//! Most of what a reply holds is looked at and thrown away; only the pick becomes a value.

use std::borrow::Cow;

use crate::text::one_line;
use crate::{Json, JsonObject};

/// How many characters an error repeats of a key.
const KEY_CHARS_MAX: usize = 64;

/// The members of an object in written order. Of equal keys the last one counts, where they are taken
/// at all.
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

/// The first name that an object of this value has twice, the object itself among them; `but` may
/// stand twice in that one. The reader has bounded the depth.
pub(super) fn repeated<'n>(members: &'n Members<'_>, but: Option<&str>) -> Option<&'n str> {
    let names = members.iter().map(|(key, _)| key.as_ref());
    let mut names: Vec<_> = names.filter(|name| Some(*name) != but).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last());
    let twice = twice.and_then(|pair| pair.first().copied());
    twice.or_else(|| members.iter().find_map(|(_, node)| repeated_in(node)))
}

fn repeated_in<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match node {
        Node::Object(members) => repeated(members, None),
        Node::Array(items) => items.iter().find_map(repeated_in),
        _ => None,
    }
}

/// A name that a model wrote, for an error.
pub(super) fn shown_key(key: &str) -> String {
    one_line(key, KEY_CHARS_MAX)
}

fn number(text: &str) -> Json {
    // What fits into 64 bits is made faster this way; its text stays the same but for `-0`.
    match text.parse::<i64>() {
        Ok(value) if text != "-0" => Json::from(value),
        _ => text.parse().map_or(Json::Null, Json::Number),
    }
}
