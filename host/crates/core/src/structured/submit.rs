//! What a model is told where it is not held to a format by itself: to hand its value in by a tool
//! of ours, or to write it in words.

use super::error::{StructuredCode, StructuredError};
use super::format::ResponseFormat;

/// The tool by which a model hands its value in. No function can have this name: names of functions
/// begin with a letter.
pub const SUBMIT_TOOL: &str = "__openprogram_submit_json";

/// The description of that tool.
#[must_use]
pub fn submit_description(format: &ResponseFormat) -> String {
    let mut text =
        "Hand in the final value of this turn. Call it once, alone, when all other work \
                    is done."
            .to_owned();
    if let Some(description) = &format.description {
        text.push_str(&format!(" The value: {description}"));
    }
    text
}

/// What stands after the content of a turn whose value is handed in.
#[must_use]
pub fn submit_instruction() -> String {
    format!(
        "When you are done, hand in your answer by one call of `{SUBMIT_TOOL}`, without any other \
         call beside it. What you write in text is not the answer."
    )
}

/// What stands after the content of a turn whose value is asked for in words.
#[must_use]
pub fn prompt_instruction(format: &ResponseFormat) -> String {
    let mut text = "When you are done, end with a reply that is exactly one JSON value that fits \
                    this JSON Schema, and nothing around it."
        .to_owned();
    if let Some(description) = &format.description {
        text.push_str(&format!(" The value: {description}"));
    }
    text.push('\n');
    text.push_str(&format.schema.to_string());
    text
}

/// The reply to a value that was not handed in as it should.
#[must_use]
pub fn render_resubmit(error: &StructuredError) -> String {
    let mut text = format!("Your answer is not handed in: {}.\n", error.message);
    error.tell_more_places(&mut text);
    text.push_str(&format!(
        "Call `{SUBMIT_TOOL}` now, once and alone, with a value that fits its schema."
    ));
    text
}

/// The error of a turn that ended in text.
#[must_use]
pub fn missing_submission() -> StructuredError {
    let message = "the model ended without handing its value in";
    StructuredError::new(StructuredCode::MissingSubmission, message)
}

/// The error of a value that was handed in beside another call.
#[must_use]
pub fn mixed_submission() -> StructuredError {
    let message = "the model handed its value in beside other calls";
    StructuredError::new(StructuredCode::MixedSubmission, message)
}

/// A reply without the one code fence around it that models like to write, where it is all of it.
#[must_use]
pub fn without_fence(reply: &str) -> &str {
    let trimmed = reply.trim();
    let inside = trimmed
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    let Some((tag, inside)) = inside.and_then(|inside| inside.split_once('\n')) else {
        return reply;
    };
    let is_tag = tag.trim().is_empty() || tag.trim().eq_ignore_ascii_case("json");
    if is_tag && !inside.contains("```") {
        return inside.trim();
    }
    reply
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::super::Issue;
    use super::super::error::IssueCode;
    use super::*;

    fn format() -> ResponseFormat {
        let format = json!({
            "type": "json_schema",
            "schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "description": "How many.",
        });
        ResponseFormat::read(&format).unwrap()
    }

    #[test]
    fn what_a_model_is_told() {
        expect!["Hand in the final value of this turn. Call it once, alone, when all other work is done. The value: How many."].assert_eq(&submit_description(&format()));
        expect!["When you are done, hand in your answer by one call of `__openprogram_submit_json`, without any other call beside it. What you write in text is not the answer."].assert_eq(&submit_instruction());
        expect![[r#"
            When you are done, end with a reply that is exactly one JSON value that fits this JSON Schema, and nothing around it. The value: How many.
            {"type":"object","properties":{"n":{"type":"integer"}}}"#]].assert_eq(&prompt_instruction(&format()));
        expect![[r#"
            Your answer is not handed in: the model ended without handing its value in.
            Call `__openprogram_submit_json` now, once and alone, with a value that fits its schema."#]].assert_eq(&render_resubmit(&missing_submission()));
        let issue = |path: &str| Issue {
            path: path.to_owned(),
            schema_path: "/a".to_owned(),
            code: IssueCode::SchemaViolation,
        };
        let error = mixed_submission().with_issues([issue("/x"), issue("/y")]);
        expect![[r#"
            Your answer is not handed in: the model handed its value in beside other calls.
            Nor at `/y`, by `/a`.
            Call `__openprogram_submit_json` now, once and alone, with a value that fits its schema."#]].assert_eq(&render_resubmit(&error));
    }

    #[test]
    fn one_fence_around_everything_is_taken_off() {
        for (reply, expected) in [
            ("```json\n{\"n\": 1}\n```", "{\"n\": 1}"),
            (" ```\n1\n``` ", "1"),
            ("```JSON \n[]```", "[]"),
            ("{\"n\": 1}", "{\"n\": 1}"),
            ("Here: ```json\n1\n```", "Here: ```json\n1\n```"),
            (
                "```json\n1\n```\n```json\n2\n```",
                "```json\n1\n```\n```json\n2\n```",
            ),
            ("```rust\n1\n```", "```rust\n1\n```"),
            ("``````", "``````"),
            ("```", "```"),
        ] {
            assert_eq!(without_fence(reply), expected);
        }
    }
}
