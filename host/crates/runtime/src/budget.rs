//! Budgets of tokens: of a whole run, and of one component with one granted model.
//!
//! What a request costs is known after it. So a budget is looked at before a request and charged
//! after it: the reply that uses it up still counts, and the request after that is refused. What is
//! left bounds the reply. While a request is under way it is charged with a guess (`reserve`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, Message};
use openprogram_core::failure::Failure;
use openprogram_core::llm::{DecisionState, ModelReply, ModelRequest};
use openprogram_core::session::Usage;

/// Bytes of text that are taken for one token where a provider does not tell its usage, or tells one
/// that cannot be.
const BYTES_PER_TOKEN: u64 = 4;

/// More bytes of text for one token than this are not believed: no text is all words that a model
/// reads as one.
const BYTES_PER_TOKEN_MAX: u64 = 32;

/// What a picture or the like is taken for.
const MEDIA_TOKENS: usize = 1_600;

/// So many tokens, input and output together, and how many of them are spent.
#[derive(Debug)]
pub(crate) struct TokenBudget {
    which: &'static str,
    /// Whose tokens they are, for the refusal.
    whose: String,
    limit: u64,
    spent: AtomicU64,
}

impl TokenBudget {
    /// A budget of which nothing is spent. `which` is the name of the limit.
    fn new(which: &'static str, whose: String, limit: u64) -> Self {
        Self {
            which,
            whose,
            limit,
            spent: AtomicU64::new(0),
        }
    }

    /// The budget of a whole run.
    pub(crate) fn of_run(limit: u64) -> Self {
        Self::new("tokens", "of the run".to_owned(), limit)
    }

    /// Refuses a request once everything is spent.
    ///
    /// # Errors
    /// `limit-reached`.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let spent = self.spent.load(Ordering::Relaxed);
        if spent < self.limit {
            return Ok(());
        }
        let (limit, whose) = (self.limit, &self.whose);
        let message = format!("the {limit} tokens {whose} are spent: {spent} were used");
        Err(Failure::limit(self.which, limit, message).with("used", spent))
    }

    /// How many tokens are left.
    pub(crate) fn left(&self) -> u64 {
        self.limit
            .saturating_sub(self.spent.load(Ordering::Relaxed))
    }

    /// Counts what a request cost.
    pub(crate) fn charge(&self, tokens: u64) {
        self.change(|spent| spent.saturating_add(tokens));
    }

    /// Takes a charge back.
    pub(crate) fn refund(&self, tokens: u64) {
        self.change(|spent| spent.saturating_sub(tokens));
    }

    fn change(&self, change: impl Fn(u64) -> u64) {
        let change = |spent| Some(change(spent));
        // The closure always gives a value.
        let _ = self
            .spent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// How much is spent.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }
}

/// The budgets of one run for granted models, by component and model.
#[derive(Debug, Default)]
pub(crate) struct ModelBudgets(Mutex<BTreeMap<(String, String), Arc<TokenBudget>>>);

impl ModelBudgets {
    /// The one budget of this component with this model; made with `limit` when it is first asked
    /// for.
    pub(crate) fn of(&self, component: &str, model: &str, limit: u64) -> Arc<TokenBudget> {
        let mut budgets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (component.to_owned(), model.to_owned());
        let budget = budgets.entry(key).or_insert_with(|| {
            let whose = format!("of `{component}` for the model `{model}`");
            Arc::new(TokenBudget::new("model_tokens", whose, limit))
        });
        Arc::clone(budget)
    }
}

/// The request with as many tokens for its reply as these budgets have left beside what it is
/// guessed to cost itself; at least one, since a budget is used up by a reply and not by a guess.
/// Without budgets it is the request as it stands.
pub(crate) fn bounded<'r>(
    request: &'r ModelRequest,
    budgets: impl Iterator<Item = u64>,
) -> Cow<'r, ModelRequest> {
    let Some(left) = budgets.min() else {
        return Cow::Borrowed(request);
    };
    let said = Length::of_request(request).tokens();
    let room = left.saturating_sub(said).max(1);
    let most = request
        .max_output_tokens
        .map_or(room, |most| most.min(room));
    Cow::Owned(ModelRequest {
        max_output_tokens: Some(most),
        ..request.clone()
    })
}

/// How long something is that a model reads or writes, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Length {
    /// What every provider counts.
    text: usize,
    /// What each counts in its own way: media, thinking, tools of its server.
    other: usize,
}

impl Length {
    fn of<'b>(blocks: impl Iterator<Item = &'b ContentBlock>) -> Self {
        let mut length = Self::default();
        for block in blocks {
            let bytes = block_bytes(block);
            match block {
                ContentBlock::Text(_) | ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_) => {
                    length.text += bytes
                }
                _ => length.other += bytes,
            }
        }
        length
    }

    /// That of a request.
    pub(crate) fn of_request(request: &ModelRequest) -> Self {
        let tools = request.tools.iter();
        let tools: usize = tools
            .map(|tool| described(&tool.name, &tool.description, &tool.parameters))
            .sum();
        let system = request.system.as_ref().map_or(0, String::len);
        Self::of_messages(&request.messages).and_text(system + tools)
    }

    /// That of a decision put to a provider that weighs options.
    pub(crate) fn of_decision(state: &DecisionState) -> Self {
        let choices = state.choices.iter();
        let choices: usize = choices
            .map(|choice| described(&choice.name, &choice.description, &choice.parameters))
            .sum();
        let system = state.system.as_ref().map_or(0, String::len);
        Self::of_messages(&state.messages).and_text(state.prompt.len() + system + choices)
    }

    /// That of a reply.
    pub(crate) fn of_reply(reply: &ModelReply) -> Self {
        Self::of(reply.content.iter())
    }

    fn of_messages(messages: &[Message]) -> Self {
        Self::of(messages.iter().flat_map(|message| &message.content))
    }

    fn and_text(self, bytes: usize) -> Self {
        Self {
            text: self.text + bytes,
            ..self
        }
    }

    fn bytes(self) -> usize {
        self.text + self.other
    }

    /// Its tokens, guessed.
    pub(crate) fn tokens(self) -> u64 {
        bytes_to_tokens(self.bytes())
    }

    /// Whether so many tokens are too few for the text.
    fn is_more_than(self, tokens: u64) -> bool {
        let text = self.text as u64;
        text > 0 && (tokens == 0 || tokens.saturating_mul(BYTES_PER_TOKEN_MAX) < text)
    }
}

/// What a request cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) tokens: u64,
    /// Whether some of it is guessed.
    pub(crate) is_estimated: bool,
}

/// What a request and its reply cost: what the provider tells, and what their lengths say of each part
/// of which it tells nothing, or less than can be.
pub(crate) fn cost(told: Option<Usage>, request: Length, reply: Length) -> Cost {
    let Some(told) = told else {
        return Cost {
            tokens: bytes_to_tokens(request.bytes() + reply.bytes()),
            is_estimated: true,
        };
    };
    let parts = [(told.input_tokens, request), (told.output_tokens, reply)];
    let mut cost = Cost {
        tokens: 0,
        is_estimated: false,
    };
    for (tokens, length) in parts {
        let is_estimated = length.is_more_than(tokens);
        let tokens = if is_estimated {
            length.tokens()
        } else {
            tokens
        };
        cost.tokens = cost.tokens.saturating_add(tokens);
        cost.is_estimated |= is_estimated;
    }
    cost
}

fn described(name: &str, description: &str, parameters: &Json) -> usize {
    name.len() + description.len() + parameters.to_string().len()
}

/// So many bytes of text in tokens, rounded up.
pub(crate) fn bytes_to_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

fn block_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.len(),
        ContentBlock::Thinking(json) | ContentBlock::ServerTool(json) => json.to_string().len(),
        ContentBlock::ToolCall(call) => call.name.len() + call.arguments.len(),
        ContentBlock::ToolResult(result) => result.text.len(),
        ContentBlock::CacheMark(_) => 0,
        // Providers shrink a picture until it costs some hundred to some thousand tokens.
        _ => MEDIA_TOKENS * BYTES_PER_TOKEN as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_refused_once_it_is_spent_and_not_before() {
        let budget = TokenBudget::of_run(10);
        budget.charge(9);
        assert_eq!(budget.check(), Ok(()));
        budget.charge(5);
        let failure = budget.check().unwrap_err();
        assert_eq!(
            failure.to_string(),
            "the 10 tokens of the run are spent: 14 were used"
        );
        assert_eq!(failure.details["which"], "tokens");
        budget.charge(u64::MAX);
        assert_eq!(budget.check().unwrap_err().details["used"], u64::MAX);
        let none = TokenBudget::of_run(0);
        assert!(none.check().is_err());
    }

    #[test]
    fn a_reply_may_have_what_is_left_beside_the_request() {
        let session = openprogram_core::id::SessionId::from_bits(1);
        let said = vec![openprogram_core::content::Message::user("12345678")];
        let mut request = ModelRequest::new(None, said, session);
        let most = |request: &ModelRequest, left: &[u64]| {
            bounded(request, left.iter().copied()).max_output_tokens
        };
        assert_eq!(most(&request, &[]), None);
        assert_eq!(most(&request, &[100, 12]), Some(10));
        assert_eq!(most(&request, &[2]), Some(1));
        request.max_output_tokens = Some(7);
        assert_eq!(most(&request, &[100]), Some(7));
        assert_eq!(most(&request, &[]), Some(7));
    }

    #[test]
    fn usage_that_cannot_be_is_not_believed_of_either_part() {
        let length = |text, other| Length { text, other };
        let told = |input_tokens, output_tokens| {
            Some(Usage {
                input_tokens,
                output_tokens,
                ..Usage::default()
            })
        };
        let cost = |told, request, reply| {
            let Cost {
                tokens,
                is_estimated,
            } = cost(told, request, reply);
            (tokens, is_estimated)
        };
        let (request, reply) = (length(400, 0), length(4_000, 0));
        assert_eq!(cost(None, request, reply), (1_100, true));
        assert_eq!(cost(told(0, 0), request, reply), (1_100, true));
        assert_eq!(cost(told(90, 0), request, reply), (1_090, true));
        assert_eq!(cost(told(0, 900), request, reply), (1_000, true));
        assert_eq!(cost(told(90, 124), request, reply), (1_090, true));
        assert_eq!(cost(told(13, 125), request, reply), (138, false));
        assert_eq!(cost(told(90, 0), request, length(0, 0)), (90, false));
        assert_eq!(cost(told(0, 1), request, length(3, 0)), (101, true));
        // What a picture and what was thought cost is up to the provider, where it tells something.
        let shown = length(8, 6_400);
        assert_eq!(cost(told(2, 5), shown, length(8, 9_999)), (7, false));
        assert_eq!(cost(told(0, 5), shown, length(8, 0)), (1_607, true));
        assert_eq!(cost(told(u64::MAX, 5), shown, reply).0, u64::MAX);
    }

    #[test]
    fn a_component_has_one_budget_for_a_model() {
        let budgets = ModelBudgets::default();
        budgets.of("a", "m:x", 5).charge(5);
        assert!(budgets.of("a", "m:x", 5).check().is_err());
        assert!(budgets.of("b", "m:x", 5).check().is_ok());
        assert!(budgets.of("a", "m:y", 5).check().is_ok());
    }
}
