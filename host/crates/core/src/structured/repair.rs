//! What a model is told about a reply that does not fit.

use super::error::StructuredError;

/// Renders the request to write the reply again: what is wrong, and where.
#[must_use]
pub fn render_repair(error: &StructuredError) -> String {
    let mut text = format!("Your reply cannot be used: {}.\n", error.message);
    error.tell_more_places(&mut text);
    text.push_str(
        "Reply again with exactly one JSON value that fits the schema, and nothing around it.",
    );
    text
}
