//! The next step as a decision: a menu of options, a reply, a checked pick.
//!
//! Takes the reply as text; how the model is asked is not known here.

mod option;

pub use option::{MenuOption, OptionKind, OptionSpec, Payload};
