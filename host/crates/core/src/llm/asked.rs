//! What a model is asked for, as reports of failed tries name it.

use super::request::ModelRequest;
use crate::content::ContentBlock;

/// What a model is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// A turn, with or without calls, with or without a closing decision.
    #[default]
    Exec,
    /// A decision alone.
    Decision,
}

impl Operation {
    /// What failed, as the first line of a report says it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exec => "exec()",
            Self::Decision => "the decision",
        }
    }
}

/// What was asked, as reports name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What for.
    pub operation: Operation,
    /// The full name of the model, usually `provider:model`.
    pub model: String,
    /// Whether the request holds an image; bad images are a common reason of refusals.
    pub had_image: bool,
}

impl Asked {
    /// What one request asks of one model.
    #[must_use]
    pub fn of(operation: Operation, model: &str, request: &ModelRequest) -> Self {
        let mut blocks = request.messages.iter().flat_map(|message| &message.content);
        Self {
            operation,
            model: model.to_owned(),
            had_image: blocks.any(|block| matches!(block, ContentBlock::Image { .. })),
        }
    }
}
