//! Which nodes a frame reads, and how they look to a model.
//!
//! One model turn is asked with: what the frame may read (`select`), as messages (`render`), then
//! a situation text, then the text of the turn. The cost is that of the nodes read: a frame with
//! a wall before it and little behind it pays nothing for a long session.

mod render;
mod select;

use crate::content::{ContentBlock, Message};
use crate::id::NodeId;
use crate::session::{SessionStore, StoreError};

pub use render::{ARGUMENTS_BYTES_MAX, DOC_BYTES_MAX, OUTPUT_BYTES_MAX, PATH_NAMES_MAX};
pub use select::FrameView;

/// What a frame reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextRead {
    /// The nodes as messages, oldest first. Roles alternate and the first is the user's.
    pub messages: Vec<Message>,
    /// Exactly the nodes that `messages` shows, in their order.
    pub reads: Vec<NodeId>,
    /// The function whose turn it is, its doc and the call path. `None` outside any function.
    pub situation: Option<String>,
}

/// Reads and renders the context of a turn that is about to be made.
///
/// Called before the node of the turn is opened; turns that still run are never shown.
///
/// # Errors
/// When the session or the frame does not exist, or the store fails.
pub async fn read_context(
    store: &dyn SessionStore,
    view: &FrameView,
) -> Result<ContextRead, StoreError> {
    let selected = select::select(store, view).await?;
    Ok(ContextRead {
        messages: render::render_messages(&selected),
        reads: selected.nodes.into_iter().map(|node| node.id).collect(),
        situation: render::render_situation(&selected.chain),
    })
}

impl ContextRead {
    /// The messages of the request: what was read, the situation, the text of the turn.
    ///
    /// The last message is the user's and ends with `turn_text` as a block of its own.
    #[must_use]
    pub fn finish(self, turn_text: &str) -> Vec<Message> {
        self.finish_with([ContentBlock::Text(turn_text.to_owned())])
    }

    /// The same for a turn of several blocks: text and images.
    #[must_use]
    pub fn finish_with(self, turn: impl IntoIterator<Item = ContentBlock>) -> Vec<Message> {
        render::finish(self.messages, self.situation, turn)
    }
}

#[cfg(test)]
mod tests;
