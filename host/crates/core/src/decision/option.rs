//! Options as their authors give them, and as a menu holds them.

use std::sync::Arc;

use crate::Json;
use crate::function::FunctionRef;
use crate::schema::RecordType;

/// One option as its author gave it, before the function it names is looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// The name the model picks.
    pub name: String,
    /// When to pick it; without one a function's own summary is shown.
    pub description: Option<String>,
    /// What picking it means.
    pub kind: OptionKind,
}

/// What picking an option means.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionKind {
    /// The function of this name runs.
    Function(String),
    /// This value is the result.
    Value(Json),
    /// The model fills these fields in; the result is `{"decision": name, …fields}`.
    Schema(RecordType),
}

/// One option of a menu, its function looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct MenuOption {
    /// The name the model picks.
    pub name: String,
    /// What the menu says about it; may be empty.
    pub description: String,
    /// What picking it means.
    pub payload: Payload,
}

/// What picking an option means, its function looked up.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// This function runs.
    Function(FunctionRef),
    /// This value is the result.
    Value(Json),
    /// The model fills these fields in.
    Schema(Arc<RecordType>),
}
