//! Values, rules and ports of OpenProgram.
//!
//! Nothing here reads a file, a clock or the environment, and nothing needs an async runtime:
//! what the world has to do is a trait (a port) that another crate implements.
//! Modules stand in reading order; a module uses only modules above it (ARCHITECTURE, arrows).
#![warn(missing_docs)]

pub mod text;

pub mod failure;

pub mod content;
pub mod grant;
pub mod id;
pub mod schema;
pub mod secret;
pub mod structured;
pub mod totals;

pub mod gating;

pub mod function;

pub mod catalog;

pub mod tool;

pub mod tool_schema;

pub mod lint;

pub mod host_tool;
pub mod tool_filter;
pub mod tool_search;

pub mod skill;

pub mod session;

pub mod context;

pub mod decision;

pub mod form;

pub mod llm;

pub mod question;

pub mod guest;

/// One JSON value. Integers and decimals keep their exact text; objects keep their order.
pub type Json = serde_json::Value;
/// One JSON object in written order.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
