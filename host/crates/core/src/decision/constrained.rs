//! The shape of a reply that can be nothing but a pick, for models that are held to a JSON Schema.
//!
//! What is written in this shape is read and checked like any other reply. `call` comes before
//! `args`: members are written in this order, and the name decides which arguments belong to it.

use std::sync::Arc;

use serde_json::json;

use super::menu::Menu;
use super::option::{MenuOption, Payload};
use crate::Json;
use crate::function::parameters_to_json_schema;
use crate::schema::{Type, type_to_json_schema};

impl MenuOption {
    /// Whether there is anything that the model may fill in.
    #[must_use]
    pub fn takes_arguments(&self) -> bool {
        !self.members().is_empty()
    }

    /// JSON Schema of what the model may fill in, an object schema.
    #[must_use]
    pub fn arguments_schema(&self) -> Json {
        match &self.payload {
            Payload::Function(function) => parameters_to_json_schema(function.visible_parameters()),
            Payload::Schema(record) => type_to_json_schema(&Type::Record(Arc::clone(record))),
            Payload::Value(_) => parameters_to_json_schema(std::iter::empty()),
        }
    }
}

/// JSON Schema of a pick from a menu: `{"call": NAME}` for options without arguments, else
/// `{"pick": {"call": NAME, "args": {…}}}` with a shape of its own for each option that takes
/// arguments. A menu of one option needs no choice and no `pick`.
///
/// The choice stands inside an object because some providers take no choice at the top.
#[must_use]
pub fn pick_schema(menu: &Menu) -> Json {
    let (with, without): (Vec<&MenuOption>, Vec<_>) = menu
        .options()
        .iter()
        .partition(|option| option.takes_arguments());
    let names: Vec<&str> = without.iter().map(|option| option.name.as_str()).collect();
    let mut shapes: Vec<Json> = Vec::new();
    if !names.is_empty() {
        shapes.push(object(
            json!({ "call": { "type": "string", "enum": names } }),
        ));
    }
    shapes.extend(with.into_iter().map(|option| {
        let call = json!({ "type": "string", "enum": [option.name] });
        object(json!({ "call": call, "args": option.arguments_schema() }))
    }));
    if shapes.len() == 1 {
        return shapes.remove(0);
    }
    object(json!({ "pick": { "anyOf": shapes } }))
}

/// An object with exactly these properties.
fn object(properties: Json) -> Json {
    let names: Vec<String> = properties
        .as_object()
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}
