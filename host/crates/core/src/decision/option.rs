//! Options as their authors give them, and as a menu holds them.

use std::sync::Arc;

use super::arguments;
use crate::Json;
use crate::function::FunctionRef;
use crate::schema::{Member, RecordType};
use crate::text::clean;

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

impl OptionSpec {
    /// An option that runs the function of this name.
    pub fn function(name: impl Into<String>, function: impl Into<String>) -> Self {
        Self::of(name.into(), OptionKind::Function(function.into()))
    }

    /// An option that stands for a value.
    pub fn value(name: impl Into<String>, value: impl Into<Json>) -> Self {
        Self::of(name.into(), OptionKind::Value(value.into()))
    }

    /// An option whose fields the model fills in.
    pub fn schema(name: impl Into<String>, fields: RecordType) -> Self {
        Self::of(name.into(), OptionKind::Schema(fields))
    }

    /// The same option with a description.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    fn of(name: String, kind: OptionKind) -> Self {
        Self {
            name,
            description: None,
            kind,
        }
    }

    /// Options by name, in the order of the entries.
    pub fn by_name<N: Into<String>>(
        entries: impl IntoIterator<Item = (N, OptionKind)>,
    ) -> Vec<Self> {
        let entries = entries.into_iter();
        entries
            .map(|(name, kind)| Self::of(name.into(), kind))
            .collect()
    }

    /// Looks up the function that the option names, if it names one.
    ///
    /// Without a description, or with an empty one, the summary of the function is shown.
    ///
    /// # Errors
    /// What the look-up answers.
    pub fn resolve<E>(
        self,
        look_up: impl FnOnce(&str) -> Result<FunctionRef, E>,
    ) -> Result<MenuOption, E> {
        let payload = match self.kind {
            OptionKind::Function(name) => Payload::Function(look_up(&name)?),
            OptionKind::Value(value) => Payload::Value(value),
            OptionKind::Schema(record) => Payload::Schema(Arc::new(record)),
        };
        Ok(MenuOption::new(self.name, self.description, payload))
    }
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

impl MenuOption {
    /// An option; without a description, or with an empty one, that of its function is taken.
    #[must_use]
    pub fn new(name: String, description: Option<String>, payload: Payload) -> Self {
        let own = description.filter(|text| !text.trim().is_empty());
        let description = own.unwrap_or_else(|| match &payload {
            Payload::Function(function) => function.summary(),
            Payload::Schema(record) => record.description.clone().unwrap_or_default(),
            Payload::Value(_) => String::new(),
        });
        Self {
            name,
            description: clean(&description).into_owned(),
            payload,
        }
    }

    /// What the model may fill in, in declared order.
    pub(super) fn members(&self) -> Vec<Member<'_>> {
        match &self.payload {
            Payload::Function(function) => arguments::members(function),
            Payload::Schema(record) => record.fields.iter().map(Member::of).collect(),
            Payload::Value(_) => Vec::new(),
        }
    }
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
