//! Deciders: components that pick from a menu but do not write text.
//!
//! Implement [`Decider`] and export it with [`export_decider!`](crate::export_decider). What a
//! decider is asked is plain data, so it can be tested natively.

use std::marker::PhantomData;

use crate::{Failure, Json, failure, value};

use bindings::exports::openprogram::agentic::decider as raw;

/// The generated bindings of the world of deciders.
#[doc(hidden)]
pub mod bindings {
    #![allow(missing_docs, unreachable_pub, unsafe_code, reason = "generated code")]
    wit_bindgen::generate!({
        path: "../wit",
        world: "decider-provider",
        with: { "openprogram:agentic/types@0.1.0": crate::bindings::openprogram::agentic::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_decider_bindings",
    });
}

/// Picks by giving each option of a menu a probability.
pub trait Decider {
    /// Gives a distribution over the options. Options left out have probability 0, and the weights
    /// of all options sum to 1, within 0.001.
    ///
    /// # Errors
    ///
    /// Any failure ends the decision.
    fn decide(state: &State) -> Result<Vec<Weight>, Failure>;
}

/// What a decider is asked. Later versions may add fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// The prompt of the decision, without the menu.
    pub prompt: String,
    /// The system prompt, if there is one.
    pub system: Option<String>,
    /// The options, in the order of the menu; never empty, every name once.
    pub choices: Vec<Choice>,
}

impl State {
    /// A state without system prompt, as a test needs it.
    pub fn new(prompt: impl Into<String>, choices: Vec<Choice>) -> Self {
        State {
            prompt: prompt.into(),
            system: None,
            choices,
        }
    }
}

/// One option of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON Schema of the arguments, an object schema.
    pub parameters: Json,
}

/// How much one option is preferred.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// The name of an option of the menu.
    pub option: String,
    /// From 0 to 1.
    pub probability: f64,
}

/// Exports a type that implements [`Decider`]. Once per component.
///
/// ```
/// use openprogram_guest::Failure;
/// use openprogram_guest::decider::{Decider, State, Weight};
///
/// /// Always takes the first option.
/// struct First;
///
/// impl Decider for First {
///     fn decide(state: &State) -> Result<Vec<Weight>, Failure> {
///         let first = state.choices[0].name.clone();
///         Ok(vec![Weight { option: first, probability: 1.0 }])
///     }
/// }
///
/// openprogram_guest::export_decider!(First);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_decider {
    ($decider:ty) => {
        #[allow(
            unsafe_code,
            warnings,
            clippy::all,
            reason = "generated code, which exports symbols"
        )]
        const _: () = {
            type Adapter = $crate::__private::DeciderAdapter<$decider>;
            use $crate::__private::decider::export_decider_bindings;
    export_decider_bindings!(Adapter with_types_in $crate::__private::decider);
        };
    };
}

/// Carries a decider over to the generated trait.
#[doc(hidden)]
pub struct Adapter<D>(PhantomData<D>);

impl<D: Decider> raw::Guest for Adapter<D> {
    fn decide(
        state: &bindings::openprogram::agentic::decision_state::State,
    ) -> Result<Vec<raw::Weight>, crate::bindings::openprogram::agentic::types::Failure> {
        crate::contract::link_contract();
        let choices = state.choices().into_iter().map(|choice| Choice {
            name: choice.name,
            description: choice.description,
            parameters: value::from_host(choice.parameters),
        });
        let state = State {
            prompt: state.prompt(),
            system: state.system(),
            choices: choices.collect(),
        };
        let weights = D::decide(&state).map_err(failure::to_host)?;
        let weight = |weight: Weight| raw::Weight {
            option: weight.option,
            probability: weight.probability,
        };
        Ok(weights.into_iter().map(weight).collect())
    }
}
