//! Menus and picks, answered by a script.

use std::cell::RefCell;

use serde_json::{Map, json};

use super::request::{file, medium};
use super::runtime::{Request, Runtime, Turn};
use super::script::{Ending, what};
use super::{list, needed, same, with_script};
use crate::bindings::openprogram::agentic::types;
use crate::testing::{MockKind, MockMedium, MockMediumKind, MockRequest};
use crate::{Failure, Value, failure};

#[derive(Debug, Default)]
pub(crate) struct Menu {
    options: RefCell<Vec<(String, Means)>>,
    context: RefCell<Value>,
    runtime: RefCell<Option<Runtime>>,
    media: RefCell<Vec<MockMedium>>,
}

/// What an option stands for.
#[derive(Clone, Debug)]
enum Means {
    Function(String),
    Value(Value),
    Schema,
}

impl Menu {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn add(&self, name: &str, means: Means) {
        self.options.borrow_mut().push((name.to_owned(), means));
    }

    pub(crate) fn add_function(&self, name: &str, function: &str, _: Option<&str>) {
        self.add(name, Means::Function(function.to_owned()));
    }

    pub(crate) fn add_value(&self, name: &str, value: &str, _: Option<&str>) {
        let value = serde_json::from_str(value).unwrap_or_default();
        self.add(name, Means::Value(value));
    }

    pub(crate) fn add_schema(&self, name: &str, _: &str, _: Option<&str>) {
        self.add(name, Means::Schema);
    }

    pub(crate) fn set_context(&self, context: &str) {
        *self.context.borrow_mut() = serde_json::from_str(context).unwrap_or_default();
    }

    pub(crate) fn set_max_retries(&self, _: u32) {}

    pub(crate) fn set_runtime(&self, runtime: &Runtime) {
        *self.runtime.borrow_mut() = Some(runtime.clone());
    }

    pub(crate) fn set_min_confidence(&self, _: f64, _: Option<&str>) {}

    pub(crate) fn set_votes(&self, _: u32) {}

    pub(crate) fn set_exit(&self, name: Option<&str>, _: Option<&str>) {
        self.add(name.unwrap_or("none_of_these"), Means::Value(Value::Null));
    }

    pub(crate) fn add_group(&self, _: &str, _: Option<&str>, _: &[String]) {}

    fn show(&self, medium: MockMedium) {
        self.media.borrow_mut().push(medium);
    }

    pub(crate) fn add_image(&self, data: &[u8], mime_type: &str) {
        self.show(medium(MockMediumKind::Image, data, mime_type));
    }

    pub(crate) fn add_video(&self, data: &[u8], mime_type: &str) {
        self.show(medium(MockMediumKind::Video, data, mime_type));
    }

    pub(crate) fn add_audio(&self, data: &[u8], mime_type: &str) {
        self.show(medium(MockMediumKind::Audio, data, mime_type));
    }

    pub(crate) fn add_file(&self, path: &str) {
        self.show(file(path));
    }

    /// The request with what the menu says, unless it has no options.
    fn told(&self, request: MockRequest) -> Result<MockRequest, types::Failure> {
        let options = self.options.borrow();
        if options.is_empty() {
            let failed = Failure::invalid_argument("menu", "the menu has no options");
            return Err(failure::to_host(failed));
        }
        Ok(MockRequest {
            options: options.iter().map(|(name, _)| name.clone()).collect(),
            context: self.context.borrow().clone(),
            ..request
        })
    }

    /// Takes the next prepared pick for a decision that is no turn.
    fn decide(&self, kind: MockKind, text: &str) -> Result<Picked, types::Failure> {
        let mut asked = MockRequest::new(kind);
        asked.texts.push(text.to_owned());
        asked.media.clone_from(&self.media.borrow());
        let asked = self.told(asked)?;
        let chosen = self.runtime.borrow().clone();
        let runtime = chosen.unwrap_or_else(|| needed(&what(&asked)));
        runtime.started(asked)?.pick()
    }

    fn resolve(&self, picked: &Picked) -> Result<String, types::Failure> {
        let means = {
            let options = self.options.borrow();
            let found = options.iter().find(|(name, _)| *name == picked.name);
            found.map(|(_, means)| means.clone())
        };
        match means {
            Some(Means::Function(function)) => {
                let arguments = picked.arguments();
                let what = format!("the picked function `{function}` is called");
                with_script(&what, |script| script.result_of(&function, &arguments))
            }
            Some(Means::Value(value)) => Ok(value.to_string()),
            Some(Means::Schema) => {
                let mut fields = Map::new();
                fields.insert("decision".to_owned(), picked.name.clone().into());
                if let Value::Object(arguments) = &picked.arguments {
                    fields.extend(arguments.clone());
                }
                Ok(Value::Object(fields).to_string())
            }
            None => {
                let message = format!("`{}` is no option of this menu", picked.name);
                let failed = Failure::invalid_argument("picked", message);
                Err(failure::to_host(failed))
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Picked {
    name: String,
    arguments: Value,
}

/// The pick among the options of a request; anything else is a mistake.
pub(super) fn picked_of(asked: &MockRequest, ending: Ending) -> Result<Picked, Failure> {
    match ending {
        Ending::Pick { option, arguments } => {
            let known = asked.options.iter().find(|name| same(name, &option));
            let Some(name) = known else {
                panic!(
                    "`{option}` is prepared as a pick, and the options are {}",
                    list(&asked.options)
                );
            };
            Ok(Picked {
                name: name.clone(),
                arguments,
            })
        }
        Ending::Fail(failed) => Err(failed),
        Ending::Reply(_) | Ending::Structured(_) => panic!(
            "{}, and the next prepared answer is no pick; prepare one with `pick`",
            what(asked)
        ),
    }
}

impl Picked {
    pub(crate) fn name(&self) -> String {
        self.name.clone()
    }

    pub(crate) fn arguments(&self) -> String {
        match &self.arguments {
            Value::Null => json!({}).to_string(),
            arguments => arguments.to_string(),
        }
    }

    pub(crate) fn how(&self) -> String {
        "text".to_owned()
    }

    pub(crate) fn confidence(&self) -> Option<f64> {
        None
    }

    pub(crate) fn confidence_source(&self) -> Option<String> {
        None
    }

    pub(crate) fn handed_off(&self) -> Option<String> {
        None
    }
}

pub(crate) fn make(prompt: &str, menu: &Menu) -> Result<String, types::Failure> {
    menu.resolve(&pick(prompt, menu)?)
}

pub(crate) fn pick(prompt: &str, menu: &Menu) -> Result<Picked, types::Failure> {
    menu.decide(MockKind::Decision, prompt)
}

pub(crate) fn resolve(picked: &Picked, menu: &Menu) -> Result<String, types::Failure> {
    menu.resolve(picked)
}

pub(crate) fn close_with(
    runtime: &Runtime,
    request: &Request,
    menu: &Menu,
) -> Result<String, types::Failure> {
    menu.resolve(&pick_with(runtime, request, menu)?)
}

pub(crate) fn pick_with(
    runtime: &Runtime,
    request: &Request,
    menu: &Menu,
) -> Result<Picked, types::Failure> {
    start_with(runtime, request, menu)?.pick()
}

pub(crate) fn start_with(
    runtime: &Runtime,
    request: &Request,
    menu: &Menu,
) -> Result<Turn, types::Failure> {
    if !menu.media.borrow().is_empty() {
        let message = "a turn that closes with a decision shows what its request shows";
        let failed = Failure::invalid_argument("media", message);
        return Err(failure::to_host(failed));
    }
    let asked = MockRequest {
        kind: MockKind::Choice,
        ..request.told.borrow().clone()
    };
    runtime.started(menu.told(asked)?)
}

pub(crate) fn pick_of(turn: &Turn) -> Option<Result<Picked, types::Failure>> {
    turn.picked()
}

pub(crate) fn render(menu: &Menu) -> Result<String, types::Failure> {
    let asked = menu.told(MockRequest::new(MockKind::Decision))?;
    let options = list(&asked.options);
    let what = format!("a menu of {options} is rendered");
    with_script(&what, |script| match script.menus.pop_front() {
        Some(menu) => Ok(menu),
        None => panic!(
            "{what}, which the host alone does, and no text is prepared for that; add one with \
             `MockRuntime::rendered`"
        ),
    })
}

pub(crate) fn parse(reply: &str, menu: &Menu) -> Result<Picked, types::Failure> {
    menu.decide(MockKind::Parse, reply)
}
