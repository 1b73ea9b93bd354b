//! The session graph: an append-only record of everything that happened, in order.

mod answer;
mod fork;
mod memory;
mod node;
mod nothing;
mod portable;
mod runs;
mod scope;
mod store;

#[cfg(any(test, feature = "testing"))]
pub mod conformance;

pub use answer::{AnsweredBy, CallAnswer, OwnCall, OwnReaders};
pub use fork::{Base, FORK_DEPTH_MAX, ForkPoint, ForkStep};
pub use memory::MemoryStore;
pub use node::{Attempt, NewNode, Node, NodeEnd, NodeKind, NodeStatus, SeenNode, Session, Usage};
pub use nothing::NoStore;
pub use portable::{PORTABLE_NODES_MAX, PortableError, PortableReader, portable_lines};
pub use runs::Run;
pub use scope::Scope;
pub use store::{NodeQuery, SessionArchive, SessionSize, SessionStore, StoreError, json_inside};
