//! A component picks: one call of its export `decider`.

use std::sync::Arc;

use openprogram_core::llm::{DecisionReply, DecisionState, LlmError, Weight};
use wasmtime::component::Resource;

use crate::guest::{Guest, gone};
use crate::handles::StateHandle;
use crate::imports::from_wire;
use crate::instance::Stop;

/// Lets a component weigh the options of a decision.
pub(crate) async fn decide(
    guest: &Guest,
    state: &DecisionState,
) -> Result<DecisionReply, LlmError> {
    let totals = Arc::clone(&state.totals);
    let state = StateHandle(state.clone());
    let decided = guest.call(&totals, async |prepared, store| {
        let indices = prepared.decider.as_ref().ok_or_else(|| gone("decider"))?;
        let instance = prepared.pre.instantiate_async(&mut *store).await?;
        let exports = indices.load(&mut *store, &instance)?;
        let table = &mut store.data_mut().table;
        let state = table.push(state).map_err(wasmtime::Error::from)?;
        let lent = Resource::new_borrow(state.rep());
        Ok::<_, Stop>(exports.call_decide(&mut *store, lent).await?)
    });
    let weights = decided.await?;
    let weights = weights.map_err(|failure| LlmError::Guest(from_wire(failure)))?;
    let weights = weights.into_iter().map(|weight| Weight {
        option: weight.option,
        probability: weight.probability,
    });
    Ok(DecisionReply::of(weights.collect()))
}
