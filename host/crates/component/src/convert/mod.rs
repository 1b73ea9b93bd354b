//! Values between JSON in canonical form and the component model, driven by the types of the core.
//!
//! A shown name and its WIT name differ in `_` and `-` only, and WIT names hold no `_`, so one is
//! made from the other. Both directions name the path of what does not fit, and both are bounded.

mod base64_text;
mod from_json;
mod to_json;

#[cfg(test)]
mod tests;

pub(crate) use base64_text::{decode_bytes, encode_bytes};
pub(crate) use from_json::{ConvertError, Handles, NoHandles, argument};
pub(crate) use to_json::{
    Made, Output, OutputError, ParseError, check_json_depth, parse_json, result,
};

/// The WIT form of a shown name.
fn wit_name(shown: &str) -> String {
    shown.replace('_', "-")
}
