//! A valid pick whose node is still open, so that what becomes of it is recorded with it.

use openprogram_core::content::{ContentBlock, MediaMismatch};
use openprogram_core::decision::{
    Confidence, ConfidenceSource, DecisionSettings, LowConfidence, Menu, MenuOption, Pick,
    PickError, Settled, settle,
};
use openprogram_core::failure::Failure;
use openprogram_core::function::RuntimeRef;
use openprogram_core::id::NodeId;
use openprogram_core::llm::StopReason;
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::events::Event;
use crate::frame::Frame;
use crate::open_turn::OpenTurn;

/// How a pick came about, as records and results say it.
pub(crate) mod method {
    /// There was one option and nothing to fill in.
    pub(crate) const SINGLE: &str = "single";
    /// A component weighed the options.
    pub(crate) const DECIDER: &str = "decider";
    /// A provider's endpoint for decisions weighed the options.
    pub(crate) const ENDPOINT: &str = "endpoint";
    /// The model was held to the shape of a pick.
    pub(crate) const CONSTRAINED: &str = "constrained";
    /// The pick was read from a reply that could have been any text.
    pub(crate) const TEXT: &str = "text";
}

/// A decision that may be put to a model.
#[derive(Debug)]
pub(crate) struct PlannedDecision {
    pub(crate) runtime: RuntimeRef,
    pub(crate) prompt: String,
    /// What is shown before the prompt.
    pub(crate) media: ShownMedia,
    pub(crate) menu: Menu,
    /// The context of the frame with that of the menu laid over it.
    pub(crate) context: JsonObject,
    pub(crate) max_retries: u32,
    /// Checked against the menu.
    pub(crate) settings: DecisionSettings,
}

/// Media of a decision, under its true type.
#[derive(Debug, Default)]
pub(crate) struct ShownMedia {
    pub(crate) content: Vec<ContentBlock>,
    /// What was mistaken for something else.
    pub(crate) mismatches: Vec<MediaMismatch>,
}

/// A valid pick and the turn that made it.
pub(crate) struct Picked {
    pub(crate) pick: Pick,
    pub(crate) turn: NodeId,
    pub(crate) method: &'static str,
    /// How sure it is, if anybody said.
    pub(crate) confidence: Option<Confidence>,
    /// The option that was picked and not sure enough, when this one took over.
    pub(crate) handed_off: Option<String>,
    /// The probability of every option, in menu order, if the provider gave them.
    pub(crate) weights: Option<Vec<f64>>,
    /// How often the model was asked.
    pub(crate) n_asked: u32,
    /// Tokens used by asking again.
    pub(crate) usage_again: Usage,
    /// Why the reply ended that it was read from.
    pub(crate) stop: StopReason,
}

/// A valid pick whose node is open.
pub(crate) struct OpenPick<'a> {
    pub(crate) open: OpenTurn<'a>,
    /// The reply, or what a model that writes would have written.
    pub(crate) reply: String,
    pub(crate) pick: Pick,
    pub(crate) method: &'static str,
    /// The option takes arguments, and who picked it cannot give them.
    pub(crate) lacks_arguments: bool,
    pub(crate) confidence: Option<Confidence>,
    /// The probability of every option, in the order of the menu that was asked with.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) n_asked: u32,
    pub(crate) usage_again: Usage,
    /// What else the record says.
    pub(crate) facts: JsonObject,
}

impl<'a> OpenPick<'a> {
    /// The pick as one of this menu, which holds its option.
    pub(crate) fn on(mut self, menu: &Menu) -> Self {
        if let Some(pick) = menu.adopt(self.pick.clone()) {
            self.pick = pick;
        }
        self
    }

    /// Closes the node of a pick that does not count by itself.
    pub(crate) async fn close_alone(self) -> Result<NodeId, Failure> {
        let node = self.open.id().clone();
        let facts = self.facts();
        self.open.close(self.reply, facts).await?;
        Ok(node)
    }

    /// Settles what becomes of the pick and records it.
    ///
    /// # Errors
    /// `decision` when the pick is not sure enough and nothing takes over, recorded.
    pub(crate) async fn settle(mut self, planned: &PlannedDecision) -> Result<Picked, Failure> {
        let wanted = planned.settings.min_confidence.as_ref();
        let picked = self.pick.clone();
        match settle(&planned.menu, wanted, picked, self.confidence) {
            Ok(settled) => self.keep(settled).await,
            Err(low) => {
                let level = low.level.into();
                self.facts.insert(LowConfidence::KIND.to_owned(), level);
                self.close_alone().await?;
                Err(low.to_failure())
            }
        }
    }

    async fn keep(mut self, settled: Settled) -> Result<Picked, Failure> {
        if settled.handed_off.is_some() {
            let taker = settled.pick.name.as_str();
            self.facts.insert("handed_to".to_owned(), taker.into());
        }
        let (method, confidence, weights) = (self.method, self.confidence, self.weights.take());
        let (n_asked, usage_again) = (self.n_asked, self.usage_again);
        let stop = self.open.stop;
        let turn = self.close_alone().await?;
        Ok(Picked {
            pick: settled.pick,
            turn,
            method,
            confidence,
            handed_off: settled.handed_off,
            weights,
            n_asked,
            usage_again,
            stop,
        })
    }

    fn facts(&self) -> JsonObject {
        let mut facts = picked_facts(self.method, &self.pick);
        if let Some(confidence) = self.confidence {
            facts.extend(confidence_facts(confidence));
        }
        facts.extend(self.facts.clone());
        facts
    }
}

/// How sure a pick is that had no alternative.
pub(crate) const CERTAIN: Confidence = Confidence {
    value: 1.0,
    source: ConfidenceSource::OnlyOption,
};

/// The option of a menu that leaves nothing to decide and nothing to fill in.
pub(crate) fn only_option(menu: &Menu) -> Option<&MenuOption> {
    match menu.options() {
        [option] if !option.takes_arguments() => Some(option),
        _ => None,
    }
}

/// Tells that a decision has its pick.
pub(crate) fn tell_picked(frame: &Frame, picked: &Picked) {
    frame.run.emit(|| Event::DecisionPicked {
        node: picked.turn.clone(),
        option: picked.pick.name.clone(),
        method: picked.method,
    });
}

/// What the record says about a pick.
pub(crate) fn picked_facts(method: &str, pick: &Pick) -> JsonObject {
    let mut facts = JsonObject::new();
    facts.insert("method".to_owned(), method.into());
    facts.insert("pick".to_owned(), pick.name.clone().into());
    facts.insert("arguments".to_owned(), pick.arguments.clone().into());
    let coerced = pick.coerced();
    if !coerced.is_empty() {
        facts.insert("coerced".to_owned(), coerced.into());
    }
    facts
}

/// What it says about the confidence of one.
pub(crate) fn confidence_facts(confidence: Confidence) -> JsonObject {
    let source = ConfidenceSource::as_str(confidence.source);
    let mut facts = JsonObject::new();
    facts.insert("confidence".to_owned(), confidence.value.into());
    facts.insert("confidence_source".to_owned(), source.into());
    facts
}

/// What it says about a reply that gives no pick.
pub(crate) fn no_pick_facts(method: &str, error: &PickError) -> JsonObject {
    let mut facts = JsonObject::new();
    facts.insert("method".to_owned(), method.into());
    let no_pick = json!({ "kind": error.kind.as_str(), "message": error.message });
    facts.insert("no_pick".to_owned(), no_pick);
    facts
}

/// Weights as the record holds them: pairs of name and probability.
pub(crate) fn weights_to_json<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Json {
    weights
        .into_iter()
        .map(|(name, weight)| json!([name, weight]))
        .collect()
}
