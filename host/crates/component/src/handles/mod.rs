//! What the handles of a guest stand for. The generated bindings name these types.

mod menu;

use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::PickedOption;
use openprogram_core::llm::DecisionState;

#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub use menu::MenuHandle;
pub(crate) use menu::invalid;

/// A handle to one of the runtimes of a call.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct RuntimeHandle {
    pub(crate) role: RuntimeRole,
}

/// A pick that was not carried out.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct PickedHandle(pub(crate) PickedOption);

/// One decision put to a decider.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct StateHandle(pub(crate) DecisionState);
