//! The next step as a decision: the model picks one option of a menu, and the pick is the branch.
//!
//! [`make`] carries the pick out, [`pick`] only tells it. Both need a runtime: some function on the
//! call chain takes a `runtime: &Runtime`, or the menu names one. To let the model work first and
//! decide last, give the menu to [`Request::choices`](crate::Request::choices).

use serde::Serialize;

use crate::bindings::openprogram::agentic::decision as raw;
use crate::{ExportedFunction, Failure, Json, Runtime, failure, value};

/// The options of one decision, in the order in which the model sees them, and how to decide.
///
/// What cannot be an option (a value that JSON cannot express, a doubled name, an unknown function)
/// is reported by [`make`] and [`pick`] before any model is asked.
#[derive(Debug)]
pub struct Menu {
    raw: raw::Menu,
    /// The first value that could not be written as JSON.
    failure: Option<Failure>,
}

impl Menu {
    /// A menu without options. A decision over it is refused.
    pub fn new() -> Self {
        Menu {
            raw: raw::Menu::new(),
            failure: None,
        }
    }

    /// Adds an option that runs a function of this component, named by its path.
    ///
    /// The model reads the function's own description.
    pub fn function<F: ExportedFunction>(self, name: &str) -> Self {
        self.function_named(name, F::NAME)
    }

    /// Adds an option that runs a function of this component, with a description for this menu.
    pub fn function_described<F: ExportedFunction>(self, name: &str, description: &str) -> Self {
        self.function_named_described(name, F::NAME, description)
    }

    /// Adds an option that runs a function by its name, which may be one of another component.
    ///
    /// Such a function needs a grant.
    pub fn function_named(self, name: &str, function: &str) -> Self {
        self.raw.add_function(name, function, None);
        self
    }

    /// Adds an option that runs a function by its name, with a description for this menu.
    pub fn function_named_described(self, name: &str, function: &str, description: &str) -> Self {
        self.raw.add_function(name, function, Some(description));
        self
    }

    /// Adds an option that stands for a fixed value.
    pub fn value(self, name: &str, value: impl Serialize) -> Self {
        self.with_json(&value, |menu, json| menu.add_value(name, json, None))
    }

    /// Adds an option that stands for a fixed value, with a description.
    pub fn value_described(self, name: &str, value: impl Serialize, description: &str) -> Self {
        self.with_json(&value, |menu, json| {
            menu.add_value(name, json, Some(description))
        })
    }

    /// Adds an option whose fields the model fills in.
    ///
    /// `schema` is an object from field names to types: `{"type": "string"}` (or `integer`,
    /// `number`, `boolean`, `array`, `object`), a text (a described string), a list of one type, an
    /// object of further fields, or `{"type", "description", "options", "fields", "items"}`.
    pub fn schema(self, name: &str, schema: impl Serialize) -> Self {
        self.with_json(&schema, |menu, json| menu.add_schema(name, json, None))
    }

    /// Adds an option whose fields the model fills in, with a description.
    pub fn schema_described(self, name: &str, schema: impl Serialize, description: &str) -> Self {
        self.with_json(&schema, |menu, json| {
            menu.add_schema(name, json, Some(description))
        })
    }

    /// Sets the values that fill hidden parameters of the picked function, an object by name.
    ///
    /// They are added to the context of the calling function and hide its values of the same name.
    pub fn context(self, context: impl Serialize) -> Self {
        self.with_json(&context, raw::Menu::set_context)
    }

    /// Sets how many times the model is asked again after an invalid pick. Default 1, at most 10.
    pub fn max_retries(self, max_retries: u32) -> Self {
        self.raw.set_max_retries(max_retries);
        self
    }

    /// Decides with this runtime instead of the one of the call chain.
    pub fn runtime(self, runtime: &Runtime) -> Self {
        self.raw.set_runtime(runtime.raw());
        self
    }

    fn with_json(
        mut self,
        value: &(impl Serialize + ?Sized),
        set: impl FnOnce(&raw::Menu, &str),
    ) -> Self {
        match Json::from_value(value) {
            Ok(json) => set(&self.raw, json.as_str()),
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
        self
    }

    /// The menu for the host, unless a value of it was refused here.
    pub(crate) fn checked(&self) -> Result<&raw::Menu, Failure> {
        self.failure.clone().map_or(Ok(&self.raw), Err)
    }
}

impl Default for Menu {
    fn default() -> Self {
        Self::new()
    }
}

/// A valid pick that has not been carried out.
#[derive(Debug)]
pub struct Picked(raw::Picked);

impl Picked {
    /// The name of the picked option.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// The arguments as picked, a JSON object. Hidden parameters are not among them.
    pub fn arguments(&self) -> Json {
        value::from_host(self.0.arguments())
    }

    /// How the pick came about: `decider` (a provider that only picks) or `text` (read from a
    /// reply). Later versions may add ways.
    pub fn how(&self) -> String {
        self.0.how()
    }
}

/// Lets the model pick one option and resolves the pick into the result of the next step.
///
/// A picked function is run and gives its result, a picked value is given as it is, a picked schema
/// gives `{"decision": name, …fields}`. [`Json::parse`] gives the result a type.
///
/// # Errors
///
/// [`Decision`](crate::FailureKind::Decision) when the model never made a valid pick; the other kinds
/// say why it could not be asked, or how the picked function failed.
pub fn make(prompt: &str, menu: &Menu) -> Result<Json, Failure> {
    raw::make(prompt, menu.checked()?)
        .map(value::from_host)
        .map_err(failure::from_host)
}

/// Lets the model pick one option, checks the pick, and runs nothing.
///
/// # Errors
///
/// As [`make`], but for the failures of a picked function.
pub fn pick(prompt: &str, menu: &Menu) -> Result<Picked, Failure> {
    raw::pick(prompt, menu.checked()?)
        .map(Picked)
        .map_err(failure::from_host)
}
