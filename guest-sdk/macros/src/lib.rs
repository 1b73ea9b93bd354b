//! The attribute that turns a module of functions into a component.
