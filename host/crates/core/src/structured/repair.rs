//! What a model is told about a reply that does not fit.

use super::error::StructuredError;

/// Renders the request to write the reply again: what is wrong, and where.
#[must_use]
pub fn render_repair(error: &StructuredError) -> String {
    let mut text = format!("Your reply cannot be used: {}.\n", error.message);
    for issue in error.issues.iter().skip(1) {
        let place = match issue.path.as_str() {
            "" => "as a whole".to_owned(),
            path => format!("at `{path}`"),
        };
        text.push_str(&format!("Nor {place}, by `{}`.\n", issue.schema_path));
    }
    text.push_str(
        "Reply again with exactly one JSON value that fits the schema, and nothing around it.",
    );
    text
}
