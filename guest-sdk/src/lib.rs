//! What authors of OpenProgram functions use.
#![warn(missing_docs)]

pub mod decider;
pub mod decision;
pub mod functions;

mod failure;
mod runtime;
mod value;

pub use failure::{DecisionKind, Failure, FailureKind};
pub use openprogram_guest_macros::functions;
pub use runtime::Runtime;
pub use serde_json::{Value, json};
pub use value::Json;

/// A result whose error is, unless said otherwise, a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// An exported function, by which menus name it.
///
/// The attribute [`functions`](macro@functions) implements this for a type with the name of each
/// function, so `Menu::function::<refund>` names the function `refund`.
pub trait ExportedFunction {
    /// The full name, `namespace:package/interface.function`.
    const NAME: &'static str;
}

/// The generated bindings of everything that a component may import from the host.
mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated code")]
    wit_bindgen::generate!({
        path: "../wit",
        world: "imports",
        generate_all,
    });
}

/// For generated code only.
#[doc(hidden)]
pub mod __private {
    pub use super::bindings::openprogram::agentic::{decision, functions, runtime, types};
    pub use super::decider::Adapter as DeciderAdapter;
    pub use super::decider::bindings as decider;
    pub use super::failure::{from_host as failure_from_host, to_host as failure_to_host};
    pub use super::value::{from_host as json_from_host, to_host as json_to_host};
    pub use wit_bindgen;

    /// The hash of the contract, which every component carries in a custom section.
    pub const CONTRACT_HASH: [u8; 64] = openprogram_guest_macros::contract_hash!();
}
