//! A decision as a function asks for it, and the pick that it gets.

use crate::JsonObject;
use crate::content::ContentBlock;
use crate::decision::{Confidence, DecisionSettings, OptionSpec};
use crate::function::RuntimeRef;
use crate::id::NodeId;

/// One decision as a function asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRequest {
    /// The prompt.
    pub prompt: String,
    /// Pictures, films and sound that are shown before the prompt; not yet checked.
    pub media: Vec<ContentBlock>,
    /// The options in order; not yet checked.
    pub options: Vec<OptionSpec>,
    /// Values for hidden parameters, over those of the frame.
    pub context: JsonObject,
    /// How many times to ask again.
    pub max_retries: u32,
    /// The runtime to use instead of the ambient one.
    pub runtime: Option<RuntimeRef>,
    /// Confidence, votes and groups; all off by default.
    pub settings: DecisionSettings,
}

impl DecisionRequest {
    /// A decision with this prompt and these options, asked again once, over the ambient runtime.
    pub fn new(prompt: impl Into<String>, options: Vec<OptionSpec>) -> Self {
        Self {
            prompt: prompt.into(),
            media: Vec::new(),
            options,
            context: JsonObject::new(),
            max_retries: 1,
            runtime: None,
            settings: DecisionSettings::default(),
        }
    }
}

/// A valid pick that has not been carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct PickedOption {
    /// The name of the option.
    pub name: String,
    /// The arguments as picked.
    pub arguments: JsonObject,
    /// How the pick came about, for example `decider` or `text`.
    pub how: String,
    /// How sure the pick is, if anybody said.
    pub confidence: Option<Confidence>,
    /// The option that was picked and not sure enough, when this one took over.
    pub handed_off: Option<String>,
    /// The turn that made the pick; `None` when it was read from a reply that came from elsewhere.
    pub turn: Option<NodeId>,
}
