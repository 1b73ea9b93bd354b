//! Whether conditions of functions hold, and which functions are available for a turn.
//!
//! A function that a condition names is asked without a grant and within limits of its own, and what
//! it does not answer in time nobody knows. Nothing here is recorded but what came of it.

use std::collections::BTreeMap;

use openprogram_core::function::{Function, FunctionRef, RuntimeRole};
use openprogram_core::gating::{Condition, Holds, RequiredApproval, Situation};
use openprogram_core::schema::names_equal;
use openprogram_core::{Json, JsonObject};

use crate::chosen_provider::provider_of;
use crate::deadline::Deadline;
use crate::frame::Frame;
use crate::ports::Ports;

/// How long all functions that one turn asks may take together, in milliseconds: longer than one may
/// take, and short beside a model request.
const ASKING_MS: u64 = 5_000;
/// Characters of a reason that a function gives for an approval.
const REASON_CHARS_MAX: usize = 1_000;

/// The functions that are available now, and the names of those that are not.
pub(crate) async fn available(
    ports: &Ports,
    functions: Vec<FunctionRef>,
    model: &str,
) -> (Vec<FunctionRef>, Vec<String>) {
    let (mut there, mut missing) = (Vec::with_capacity(functions.len()), Vec::new());
    let mut asking = Asking::new(ports, Some(model));
    for function in functions {
        let holds = match &function.gating.available_if {
            None => Holds::Yes,
            Some(condition) => {
                let known = asking.all(&function, condition, None).await;
                condition.holds(&known)
            }
        };
        if holds == Holds::Yes {
            there.push(function);
        } else {
            missing.push(function.name.to_string());
        }
    }
    (there, missing)
}

/// What a person has to approve of this call by the function of `frame`, and why; `None` for nothing.
pub(crate) async fn required_approval(
    ports: &Ports,
    frame: &Frame,
    function: &FunctionRef,
    arguments: &JsonObject,
) -> Option<RequiredApproval> {
    let required = function.gating.requires_approval.as_ref()?;
    let Some(condition) = &required.when else {
        return Some(required.clone());
    };
    let mut asking = Asking::new(ports, model_of(ports, frame));
    let known = asking.all(function, condition, Some(arguments)).await;
    if condition.holds(&known) == Holds::No {
        return None;
    }
    Some(RequiredApproval {
        reason: known.reason.or_else(|| required.reason.clone()),
        when: None,
    })
}

/// The model that a call would work with, as conditions know it.
pub(crate) fn model_of<'a>(ports: &'a Ports, frame: &'a Frame) -> Option<&'a str> {
    let runtime = frame.ambient.unwrap_or(RuntimeRole::Main.into());
    let provider = provider_of(ports, frame, runtime).ok()?;
    Some(provider.name())
}

/// Asks functions that conditions name, each once, until the time is up.
struct Asking<'a> {
    ports: &'a Ports,
    model: Option<&'a str>,
    deadline: Deadline,
    answers: BTreeMap<String, Answer>,
}

/// What a function said, and why.
#[derive(Clone)]
struct Answer {
    holds: Holds,
    reason: Option<String>,
}

impl<'a> Asking<'a> {
    fn new(ports: &'a Ports, model: Option<&'a str>) -> Self {
        Self {
            ports,
            model,
            deadline: Deadline::start(&ports.parts, Some(ASKING_MS)),
            answers: BTreeMap::new(),
        }
    }

    /// Asks every function that the condition names.
    async fn all(
        &mut self,
        function: &Function,
        condition: &Condition,
        arguments: Option<&'a JsonObject>,
    ) -> Known<'a> {
        let mut known = Known {
            ports: self.ports,
            component: function.name.component.clone(),
            model: self.model,
            arguments,
            says: BTreeMap::new(),
            reason: None,
        };
        for name in condition.exports() {
            let answer = match self.deciding(function, name) {
                Some(deciding) => self.one(&deciding, arguments).await,
                None => Answer::unknown(),
            };
            known.says.insert(name.to_owned(), answer.holds);
            known.reason = known.reason.or(answer.reason);
        }
        known
    }

    /// The function that a condition names, in the same interface.
    fn deciding(&self, function: &Function, name: &str) -> Option<FunctionRef> {
        let catalog = &self.ports.parts.catalog;
        let mut same = catalog.component(&function.name.component).iter();
        let found = same.find(|other| {
            other.name.interface == function.name.interface
                && names_equal(&other.name.function, name)
        });
        found.cloned()
    }

    async fn one(&mut self, deciding: &FunctionRef, arguments: Option<&JsonObject>) -> Answer {
        // With arguments there is one function, which is asked for nothing else.
        let key = deciding.name.to_string();
        if let (None, Some(answer)) = (arguments, self.answers.get(&key)) {
            return answer.clone();
        }
        let mut given = JsonObject::new();
        if let (Some(parameter), Some(arguments)) = (deciding.parameters.first(), arguments) {
            let name = parameter.field.name.clone();
            given.insert(name, Json::Object(arguments.clone()));
        }
        let asked = self.ports.parts.functions.ask(deciding, given);
        let answer = match self.deadline.cut(asked).await {
            Some(Ok(value)) => Answer::read(&value),
            Some(Err(_)) | None => Answer::unknown(),
        };
        self.answers.insert(key, answer.clone());
        answer
    }
}

impl Answer {
    fn unknown() -> Self {
        Self {
            holds: Holds::Unknown,
            reason: None,
        }
    }

    /// A yes or a no, or why it is a yes.
    fn read(value: &Json) -> Self {
        let (holds, reason) = match value {
            Json::Bool(holds) => ((*holds).into(), None),
            Json::Null => (Holds::No, None),
            Json::String(reason) => {
                let reason = openprogram_core::text::one_line(reason, REASON_CHARS_MAX);
                (Holds::Yes, (!reason.is_empty()).then_some(reason))
            }
            _ => (Holds::Unknown, None),
        };
        Self { holds, reason }
    }
}

/// What is known for one condition.
struct Known<'a> {
    ports: &'a Ports,
    component: String,
    model: Option<&'a str>,
    arguments: Option<&'a JsonObject>,
    says: BTreeMap<String, Holds>,
    reason: Option<String>,
}

impl Situation for Known<'_> {
    fn has_dir(&self, path: &str) -> Holds {
        let functions = &self.ports.parts.functions;
        functions.has_dir(&self.component, path)
    }

    fn has_env(&self, name: &str) -> Holds {
        let functions = &self.ports.parts.functions;
        functions.has_env(&self.component, name)
    }

    fn model(&self) -> Option<&str> {
        self.model
    }

    fn arguments(&self) -> Option<&JsonObject> {
        self.arguments
    }

    fn says(&self, function: &str) -> Holds {
        let says = self.says.get(function);
        says.copied().unwrap_or(Holds::Unknown)
    }
}
