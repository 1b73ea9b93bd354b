//! Types as JSON Schema (draft 2020-12), the form that models and clients read.

use super::Type;
use crate::Json;
use crate::function::Parameter;

/// The schema of one type.
#[must_use]
pub fn type_to_json_schema(ty: &Type) -> Json {
    let _ = ty;
    Json::Object(crate::JsonObject::new())
}

/// The object schema of the visible parameters.
#[must_use]
pub fn parameters_to_json_schema<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Json {
    let _ = parameters;
    Json::Object(crate::JsonObject::new())
}
