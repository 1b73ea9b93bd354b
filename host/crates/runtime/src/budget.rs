//! Budgets of tokens: of a whole run, and of one component with one granted model.
//!
//! What a request costs is known after it. So a budget is looked at before a request and charged
//! after it: the reply that uses it up still counts, and the request after that is refused. What is
//! left bounds the reply. While a request is under way it is charged with a guess (`reserve`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use openprogram_core::content::{ContentBlock, Message};
use openprogram_core::failure::Failure;
use openprogram_core::llm::{DecisionState, ModelRequest};

/// Bytes of text that are taken for one token where a provider does not tell its usage.
const BYTES_PER_TOKEN: u64 = 4;

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
    let room = left.saturating_sub(estimated(request, 0)).max(1);
    let most = request
        .max_output_tokens
        .map_or(room, |most| most.min(room));
    Cow::Owned(ModelRequest {
        max_output_tokens: Some(most),
        ..request.clone()
    })
}

/// The tokens of a request and of so many bytes of reply, guessed from their length.
pub(crate) fn estimated(request: &ModelRequest, reply_bytes: usize) -> u64 {
    let system = request.system.as_ref().map_or(0, String::len);
    let said = messages_bytes(&request.messages);
    let tools = request.tools.iter();
    let tools: usize = tools
        .map(|tool| {
            let schema = tool.parameters.to_string();
            tool.name.len() + tool.description.len() + schema.len()
        })
        .sum();
    bytes_to_tokens(system + said + tools + reply_bytes)
}

/// The tokens of a decision put to a provider that weighs options, guessed from its length.
pub(crate) fn estimated_decision(state: &DecisionState) -> u64 {
    let system = state.system.as_ref().map_or(0, String::len);
    let choices = state.choices.iter();
    let choices: usize = choices
        .map(|choice| {
            let schema = choice.parameters.to_string();
            choice.name.len() + choice.description.len() + schema.len()
        })
        .sum();
    bytes_to_tokens(state.prompt.len() + system + messages_bytes(&state.messages) + choices)
}

fn messages_bytes(messages: &[Message]) -> usize {
    let blocks = messages.iter().flat_map(|message| &message.content);
    blocks.map(block_bytes).sum()
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
    fn a_component_has_one_budget_for_a_model() {
        let budgets = ModelBudgets::default();
        budgets.of("a", "m:x", 5).charge(5);
        assert!(budgets.of("a", "m:x", 5).check().is_err());
        assert!(budgets.of("b", "m:x", 5).check().is_ok());
        assert!(budgets.of("a", "m:y", 5).check().is_ok());
    }
}
