//! Replies that are JSON of a given shape: the format as it is asked for, and the check of a reply.
//!
//! Whatever a provider promises, the reply is read here as exactly one JSON value and checked
//! against the schema as it was given. What is promised is a subset of JSON Schema 2020-12; a schema
//! that asks for more is refused before any model is asked, never checked in part. What goes wrong
//! is told by stable codes and by where it went wrong, never by what a model wrote.

mod check;
mod check_part;
mod check_value;
mod compile;
mod decimal;
mod error;
mod format;
mod keyword;
mod limits;
mod repair;
mod rule;
mod shape;
mod submit;
#[cfg(test)]
mod tests;
mod unrepeated;

pub use check::Validator;
pub use error::{Issue, IssueCode, StructuredCode, StructuredError};
pub use format::{Fallback, ResponseFormat};
pub use limits::{
    CHECK_DEPTH_MAX, CHECK_STEPS_MAX, ISSUES_MAX, PATH_BYTES_MAX, PATTERN_CHARS_MAX,
    PATTERN_SIZE_MAX, PLACES_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX,
    SCHEMA_PATHS_BYTES_MAX,
};
pub use repair::render_repair;
pub use submit::{
    SUBMIT_TOOL, missing_submission, mixed_submission, prompt_instruction, render_resubmit,
    submit_description, submit_instruction, without_fence,
};
