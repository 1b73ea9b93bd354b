//! Function metadata: what is known of one function, whoever tells it.
//!
//! Everything a model, a person or another function learns about a function comes from here.

use std::fmt;
use std::sync::Arc;

use crate::gating::{Effects, Gating};
use crate::schema::{Field, Type};
use crate::{Json, schema};

/// The full name of a function, written `namespace:package/interface.function`.
///
/// World-level functions have no interface and are written `component.function`. Where a component
/// exports one interface in several versions, the version belongs to the name of what they share:
/// `namespace:package/interface@1.0.0.function`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionName {
    /// The name under which the component is installed.
    pub component: String,
    /// The exported interface with its package and version, as the component spells it.
    pub interface: Option<String>,
    /// The function, in WIT kebab-case.
    pub function: String,
    /// Whether the name is written with the version, because without it the component would have
    /// two functions of this name.
    pub versioned: bool,
}

impl FunctionName {
    /// A name that is written without the version.
    pub fn new(
        component: impl Into<String>,
        interface: Option<String>,
        function: impl Into<String>,
    ) -> Self {
        Self {
            component: component.into(),
            interface,
            function: function.into(),
            versioned: false,
        }
    }

    /// The name without the version, written or not.
    #[must_use]
    pub fn unversioned(&self) -> String {
        self.written(false)
    }

    fn written(&self, versioned: bool) -> String {
        let owner = self.interface.as_ref().unwrap_or(&self.component);
        let owner = match owner.split_once('@') {
            Some((unversioned, _)) if !versioned => unversioned,
            _ => owner,
        };
        format!("{owner}.{}", self.function)
    }
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(self.versioned))
    }
}

/// Which of the three injected runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeRole {
    /// Parameter `runtime`.
    Main,
    /// Parameter `exec-runtime`.
    Exec,
    /// Parameter `review-runtime`.
    Review,
}

impl RuntimeRole {
    /// The role that a parameter name reserves, in kebab-case or snake_case.
    #[must_use]
    pub fn of_parameter(name: &str) -> Option<Self> {
        [Self::Main, Self::Exec, Self::Review]
            .into_iter()
            .find(|role| schema::names_equal(role.parameter(), name))
    }

    /// The parameter name, as shown.
    #[must_use]
    pub fn parameter(self) -> &'static str {
        match self {
            Self::Main => "runtime",
            Self::Exec => "exec_runtime",
            Self::Review => "review_runtime",
        }
    }
}

/// One of the runtimes that a running call may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeRef {
    /// Lent to it by a parameter.
    Lent(RuntimeRole),
    /// Opened by it: the number is of this call alone, counted from 0.
    Opened(u32),
}

impl RuntimeRef {
    /// How records and failures call it: the parameter, or `opened`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Lent(role) => role.parameter(),
            Self::Opened(_) => "opened",
        }
    }
}

impl From<RuntimeRole> for RuntimeRef {
    fn from(role: RuntimeRole) -> Self {
        Self::Lent(role)
    }
}

/// Where the value of a parameter comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterSource {
    /// Given by the caller or the model.
    Argument,
    /// Filled from the context of the frame; never shown to or taken from a model.
    Context,
    /// Injected by the host.
    Runtime(RuntimeRole),
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, type, description and allowed values.
    ///
    /// The type of an injected runtime is [`Type::Json`] and is never looked at.
    pub field: Field,
    /// Where its value comes from.
    pub source: ParameterSource,
    /// The value when absent; already checked against the type.
    pub default: Option<Json>,
    /// An example shown in forms.
    pub placeholder: Option<String>,
    /// Whether a form shows several lines; `None` leaves it to the type.
    pub multiline: Option<bool>,
    /// The name of a dynamic source of allowed values.
    pub options_from: Option<String>,
}

impl Parameter {
    /// A visible parameter that has only a name and a type.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            field: Field::new(name, ty),
            source: ParameterSource::Argument,
            default: None,
            placeholder: None,
            multiline: None,
            options_from: None,
        }
    }

    /// Whether a model sees it.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.source == ParameterSource::Argument
    }

    /// Whether a value must be given: not an `option`, no default, not injected.
    #[must_use]
    pub fn is_required(&self) -> bool {
        !matches!(self.source, ParameterSource::Runtime(_))
            && self.default.is_none()
            && !matches!(self.field.ty, Type::Option(_))
    }
}

/// The object schema of the visible parameters, as models read it.
///
/// A parameter without description is described by its placeholder.
/// Defaults are not shown; [`parameters_to_form_schema`] shows them.
#[must_use]
pub fn parameters_to_json_schema<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Json {
    let visible = parameters.filter(|parameter| parameter.is_visible());
    schema::properties_to_json_schema(visible.map(|parameter| property(parameter, false)))
}

/// The object schema of the visible parameters with their defaults, for people and their forms.
#[must_use]
pub fn parameters_to_form_schema<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Json {
    let visible = parameters.filter(|parameter| parameter.is_visible());
    schema::properties_to_json_schema(visible.map(|parameter| property(parameter, true)))
}

/// The schema of one parameter, hidden ones too, with its default; for people and their forms.
#[must_use]
pub fn parameter_to_form_schema(parameter: &Parameter) -> Json {
    let object = schema::properties_to_json_schema([property(parameter, true)].into_iter());
    let name = &parameter.field.name;
    object["properties"][name.as_str()].clone()
}

fn property(parameter: &Parameter, with_default: bool) -> schema::Property<'_> {
    schema::Property {
        field: &parameter.field,
        required: parameter.is_required(),
        example: parameter.placeholder.as_deref(),
        default: parameter.default.as_ref().filter(|_| with_default),
    }
}

/// What callers see of a function in their own context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Expose {
    /// Name, input and output, and nothing below.
    #[default]
    Io,
    /// Its model turns in place of its input and output.
    Llm,
    /// Both, and its calls by their own setting.
    Full,
    /// Nothing.
    Hidden,
}

impl Expose {
    /// The word in metadata.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Llm => "llm",
            Self::Full => "full",
            Self::Hidden => "hidden",
        }
    }

    /// Reads the word in metadata.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Io, Self::Llm, Self::Full, Self::Hidden]
            .into_iter()
            .find(|e| e.as_str() == text)
    }
}

/// How much of the session the turns of a function read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RenderRange {
    /// The last so many nodes written before the frame started; `None` all, 0 a wall.
    pub callers: Option<u64>,
    /// The last so many nodes written since; `None` all, 0 none. Written -1 for all in metadata.
    pub subcalls: Option<u64>,
}

/// Whether a function can be offered to models and callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It can.
    Offered,
    /// It cannot, for this reason.
    NotOfferable(String),
}

/// One function of a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its full name.
    pub name: FunctionName,
    /// The digest of the component, `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// The name under which models see it, where it is not its own: 1 to 64 letters, digits, `_` and
    /// `-`.
    pub model_name: Option<String>,
    /// The whole doc; empty when there is none.
    pub description: String,
    /// What models read of what it is for, where it is not the first paragraph of the doc.
    pub model_description: Option<String>,
    /// The kind of function that it is, for lists and forms: one word.
    pub category: Option<String>,
    /// The parameters in declaration order, injected runtimes included.
    pub parameters: Vec<Parameter>,
    /// The type of the result, the success side where the function returns a `result`.
    pub returns: Option<Type>,
    /// The type of its own error, where the function returns a `result` with one.
    pub fails_with: Option<Type>,
    /// The system prompt while it runs.
    pub system: Option<String>,
    /// What callers see of it.
    pub expose: Expose,
    /// How much its own turns read.
    pub render_range: RenderRange,
    /// When it is offered, and what holds for its calls.
    pub gating: Gating,
    /// What its calls do.
    pub effects: Effects,
    /// Whether its calls go into an instance that lives on after them, because it takes, gives or
    /// belongs to a resource of its component.
    pub is_stateful: bool,
    /// Whether it can be offered.
    pub offer: Offer,
}

impl Function {
    /// A function of which only the name is known: without parameters and words, offered, and with
    /// the settings that hold where metadata says nothing.
    #[must_use]
    pub fn new(name: FunctionName) -> Self {
        Self {
            name,
            digest: String::new(),
            model_name: None,
            description: String::new(),
            model_description: None,
            category: None,
            parameters: Vec::new(),
            returns: None,
            fails_with: None,
            system: None,
            expose: Expose::default(),
            render_range: RenderRange::default(),
            gating: Gating::default(),
            effects: Effects::default(),
            is_stateful: false,
            offer: Offer::Offered,
        }
    }

    /// What models and menus read of what it is for: what was declared, else the first paragraph of
    /// the description, on one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let declared = self.model_description.as_deref();
        first_paragraph(declared.unwrap_or(&self.description))
    }

    /// The parameters that a model sees, in declaration order.
    pub fn visible_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| parameter.is_visible())
    }

    /// Whether it declares a runtime parameter, and so sets the ambient runtime of its frame.
    #[must_use]
    pub fn declares_runtime(&self) -> bool {
        self.parameters
            .iter()
            .any(|p| matches!(p.source, ParameterSource::Runtime(_)))
    }
}

/// A shared function of the catalog.
pub type FunctionRef = Arc<Function>;

/// The text up to the first blank line, its lines joined by single spaces.
#[must_use]
pub fn first_paragraph(text: &str) -> String {
    let lines = text
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty());
    lines
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::IntegerKind;

    #[test]
    fn parameters_are_an_object_without_hidden_and_injected_ones() {
        let mut first = Parameter::new("zeta", Type::Integer(IntegerKind::U8));
        first.field.description = Some("How many.".to_owned());
        first.field.options = vec![json!(1), json!(2)];
        let mut second = Parameter::new("alpha", Type::String);
        second.default = Some(json!("x"));
        second.placeholder = Some("Paste".to_owned());
        let third = Parameter::new("maybe", Type::Option(Box::new(Type::Bool)));
        let mut hidden = Parameter::new("user", Type::String);
        hidden.source = ParameterSource::Context;
        let mut runtime = Parameter::new("runtime", Type::Json);
        runtime.source = ParameterSource::Runtime(RuntimeRole::Main);
        let parameters = [first, second, third, hidden, runtime];
        let expected = |alpha: Json| {
            json!({
                "type": "object",
                "properties": {
                    "zeta": {
                        "type": "integer", "minimum": 0, "maximum": 255,
                        "description": "How many.", "enum": [1, 2],
                    },
                    "alpha": alpha,
                    "maybe": {"type": "boolean"},
                },
                "required": ["zeta"],
                "additionalProperties": false,
            })
            .to_string()
        };
        assert_eq!(
            parameters_to_json_schema(parameters.iter()).to_string(),
            expected(json!({"type": "string", "description": "e.g. Paste"}))
        );
        assert_eq!(
            parameters_to_form_schema(parameters.iter()).to_string(),
            expected(json!({"type": "string", "description": "e.g. Paste", "default": "x"}))
        );
        assert_eq!(
            parameter_to_form_schema(&parameters[1]),
            json!({"type": "string", "description": "e.g. Paste", "default": "x"})
        );
        assert_eq!(
            parameters_to_json_schema([].into_iter()),
            json!({"type": "object", "properties": {}, "additionalProperties": false})
        );
    }
}
