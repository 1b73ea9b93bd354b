//! Functions as provider-native tools: what a model may call and how it is told.

use crate::Json;

/// One tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name, `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// When to call it.
    pub description: String,
    /// JSON Schema of the arguments: an object schema.
    pub parameters: Json,
}

/// Whether and what the model must call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model calls at least one tool.
    Required,
    /// The model calls no tool.
    None,
    /// The model calls this tool.
    Named(String),
}
