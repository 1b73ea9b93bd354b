//! The hash of the contract that this SDK was made for, in a custom section of every component.
//!
//! The host reads it without running anything and refuses a component that was made for another
//! contract. It stands here once, so that a component of several parts carries it once.

openprogram_guest_macros::contract_section!();

/// Called by every generated export, so that the linker takes the object file with the section,
/// which nothing else refers to.
#[doc(hidden)]
#[inline(never)]
pub fn link_contract() {}
