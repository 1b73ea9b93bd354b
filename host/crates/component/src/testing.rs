//! What tests of other crates reach of this one: the conversion of values, without a component.

use openprogram_core::Json;
use openprogram_core::guest::CallError;
use openprogram_core::schema::Type;

use crate::convert::{NoHandles, Output, argument, result};
use crate::limits::Limits;

/// A value of this type as it comes back from the component model, to which it was given.
///
/// # Errors
/// When the value does not fit the type, or is deeper or larger than the limits.
pub fn round_trip(value: &Json, ty: &Type, limits: &Limits) -> Result<Json, CallError> {
    let given = argument("value", Some(value), ty, limits.json_depth, &NoHandles)?;
    Ok(result(given, ty, &mut Output::new(limits))?)
}
