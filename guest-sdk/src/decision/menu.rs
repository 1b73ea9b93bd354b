//! The options of one decision and how to decide, set by setters or written as [`menu!`](crate::menu).

use serde::Serialize;

use super::local::Closures;
use super::schema::{Choice, Fields};
use crate::host::decision as raw;
use crate::{ExportedFunction, Failure, Json, Runtime, Value};

/// The options of one decision, in the order in which the model sees them, and how to decide.
///
/// What cannot be an option (a value that JSON cannot express, a doubled name, an unknown function)
/// is reported by [`make`](super::make) and [`pick`](super::pick) before any model is asked.
#[derive(Debug)]
pub struct Menu<'a> {
    pub(crate) raw: raw::Menu,
    closures: Closures<'a>,
    /// The first value that could not be written as JSON.
    failure: Option<Failure>,
}

impl<'a> Menu<'a> {
    /// A menu without options. A decision over it is refused.
    pub fn new() -> Self {
        Menu {
            raw: raw::Menu::new(),
            closures: Closures::default(),
            failure: None,
        }
    }

    /// A menu with one option for each case of a type.
    pub fn of<C: Choice>() -> Self {
        C::add_to(Self::new())
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
    /// object of further fields, or `{"type", "description", "options", "fields", "items"}`. An
    /// object whose keys are all among these five describes one field; [`schema!`](crate::schema)
    /// and [`Menu::fields`] have no such exception.
    pub fn schema(self, name: &str, schema: impl Serialize) -> Self {
        self.with_json(&schema, |menu, json| menu.add_schema(name, json, None))
    }

    /// Adds an option whose fields the model fills in, with a description.
    pub fn schema_described(self, name: &str, schema: impl Serialize, description: &str) -> Self {
        self.with_json(&schema, |menu, json| {
            menu.add_schema(name, json, Some(description))
        })
    }

    /// Adds an option whose fields are those of a type. The model reads the type's description.
    ///
    /// [`Json::parse`] or [`Picked::fields`](super::Picked::fields) read the pick back.
    pub fn fields<F: Fields>(self, name: &str) -> Self {
        self.fields_described::<F>(name, "")
    }

    /// Adds an option whose fields are those of a type, with a description for this menu. An empty
    /// one leaves the type's.
    pub fn fields_described<F: Fields>(self, name: &str, description: &str) -> Self {
        let own = description.trim().is_empty();
        let description = if own { F::DESCRIPTION } else { description };
        self.schema_described(name, F::fields(), description)
    }

    /// Adds an option that runs a closure, here and not in a sandbox of its own.
    ///
    /// The model fills in the fields of its argument; `()` has none. What it gives is the result of
    /// the decision. The model reads the description of the type.
    pub fn closure<F: Fields, R: Serialize>(
        self,
        name: &str,
        run: impl FnMut(F) -> Result<R, Failure> + 'a,
    ) -> Self {
        self.closure_described(name, "", run)
    }

    /// Adds an option that runs a closure, with a description for this menu. An empty one leaves the
    /// type's.
    pub fn closure_described<F: Fields, R: Serialize>(
        self,
        name: &str,
        description: &str,
        mut run: impl FnMut(F) -> Result<R, Failure> + 'a,
    ) -> Self {
        let mut menu = self.fields_described::<F>(name, description);
        menu.closures.add(name, move |arguments| {
            let Value::Object(fields) = arguments else {
                return Err(Failure::invalid_argument("arguments", "not an object"));
            };
            Json::from_value(&run(F::read_fields(fields, "arguments")?)?)
        });
        menu
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

    /// Sets how sure a pick must be: above 0, at most 1. Default: any pick is taken.
    ///
    /// A pick that is less sure, or of which nobody says how sure it is, is a failure of the kind
    /// [`LowConfidence`](crate::DecisionKind::LowConfidence). Who says it: a provider that weighs
    /// options, or the [votes](Menu::votes).
    pub fn min_confidence(self, level: f64) -> Self {
        self.raw.set_min_confidence(level, None);
        self
    }

    /// Sets how sure a pick must be, and the option that is taken when it is not.
    ///
    /// That option needs no arguments.
    pub fn min_confidence_or(self, level: f64, hand_off: &str) -> Self {
        self.raw.set_min_confidence(level, Some(hand_off));
        self
    }

    /// Asks the model several times, each time with the options in another order; the option with
    /// the most picks wins, and its share is the confidence. 1 to 15, default 1.
    ///
    /// When several have the most, that is a failure of the kind
    /// [`Tie`](crate::DecisionKind::Tie).
    pub fn votes(self, votes: u32) -> Self {
        self.raw.set_votes(votes);
        self
    }

    /// Adds, after all others, the option `none_of_these`, whose value is null.
    pub fn exit(self) -> Self {
        self.raw.set_exit(None, None);
        self
    }

    /// Adds, after all others, an option for none of them, with a name and a description.
    pub fn exit_described(self, name: &str, description: &str) -> Self {
        self.raw.set_exit(Some(name), Some(description));
        self
    }

    /// Groups options, which are picked in two stages then: a group, or an option outside all
    /// groups, and one option of that group. At most 64 groups.
    ///
    /// The options are named; they may be added later.
    pub fn group(self, name: &str, description: &str, options: &[&str]) -> Self {
        let options: Vec<String> = options.iter().map(|name| (*name).to_owned()).collect();
        self.raw.add_group(name, Some(description), &options);
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

    pub(crate) fn has_closures(&self) -> bool {
        !self.closures.is_empty()
    }

    /// Runs the closure of an option; `None` when the option is none.
    pub(super) fn run_closure(
        &self,
        name: &str,
        arguments: impl FnOnce() -> Result<Value, Failure>,
    ) -> Option<Result<Json, Failure>> {
        self.closures.run(name, arguments)
    }
}

impl Default for Menu<'_> {
    fn default() -> Self {
        Self::new()
    }
}
