//! Opens a runtime with another model for one call, where a grant allows it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;
use openprogram_core::grant::{Access, GrantKind, MODEL_TOKENS_DEFAULT, ModelGrant, grant_command};
use openprogram_core::guest::{ApprovalRequest, HostServices};
use openprogram_core::question::unapproved;

use crate::budget::TokenBudget;
use crate::frame::Frame;
use crate::opened::OpenedRuntime;
use crate::ports::Ports;

/// The longest name of a model that is looked at; longer ones name nothing.
const NAME_BYTES_MAX: usize = 256;

/// Opens the model of this name for the function of `frame`. `gate` is what that function may ask.
///
/// # Errors
/// `invalid-argument` for what is no name, `denied` without a grant, `no-provider` when there is no
/// such model, `limit-reached` when too many are open.
pub(crate) async fn open_runtime(
    ports: &Ports,
    frame: &Frame,
    gate: &dyn HostServices,
    model: &str,
) -> Result<RuntimeRef, Failure> {
    let needed = needed_line(model)?;
    let component = frame.component().unwrap_or_default();
    let grants = ports.parts.grants.get(component);
    let refuse = |failure: Failure| {
        let message = failure.message.clone();
        let needed = Some(needed.clone());
        gate.note(Access::refused(GrantKind::Models, model, message, needed));
        failure
    };
    let Some(grant) = grants.and_then(|grants| grants.model(model)) else {
        return Err(refuse(denied(component, model, &needed)));
    };
    if grant.asks {
        let request = ApprovalRequest {
            kind: GrantKind::Models,
            what: model.to_owned(),
            grant: grant.to_string(),
            sends: None,
        };
        let line = request.grant.clone();
        let approved = gate.approve(request).await;
        approved.inspect_err(|failure| {
            gate.note(unapproved(GrantKind::Models, model, &line, failure));
        })?;
    }
    let provider = ports.parts.models.open(model).await?;
    gate.note(Access::granted(GrantKind::Models, model, grant.to_string()));
    let limit = grant.what.max_tokens;
    let opened = OpenedRuntime {
        provider,
        model: model.to_owned(),
        budgets: budgets(frame, component, model, limit),
        is_closed: AtomicBool::new(false),
    };
    let number = frame.opened.add(opened)?;
    Ok(RuntimeRef::Opened(number))
}

/// What the requests with the model spend of: of the budgets of a chain, all.
fn budgets(frame: &Frame, component: &str, model: &str, limit: u64) -> Vec<Arc<TokenBudget>> {
    let mut budgets = vec![frame.run.model_budgets.of(component, model, limit)];
    let opened = frame.chain().flat_map(|frame| frame.opened.iter());
    for above in opened.filter(|opened| opened.model == model) {
        for budget in &above.budgets {
            if !budgets.iter().any(|known| Arc::ptr_eq(known, budget)) {
                budgets.push(Arc::clone(budget));
            }
        }
    }
    budgets
}

/// The line of a grant that allows this model.
fn needed_line(model: &str) -> Result<String, Failure> {
    let grant = ModelGrant {
        model: model.to_owned(),
        max_tokens: MODEL_TOKENS_DEFAULT,
    };
    let line = grant.to_string();
    // What no grant can name is no model.
    if model.len() <= NAME_BYTES_MAX && line.parse() == Ok(grant) {
        return Ok(line);
    }
    let shown: String = model.chars().take(64).collect();
    let message = format!("`{shown}` is not the name of a model; write `PROVIDER:MODEL`");
    Err(Failure::new(FailureCode::InvalidArgument, message).with("path", "model"))
}

fn denied(component: &str, model: &str, needed: &str) -> Failure {
    let message = format!("`{component}` may not open the model `{model}`");
    let how = grant_command(component, GrantKind::Models, needed);
    Failure::new(FailureCode::Denied, message)
        .with("what", format!("model {model}"))
        .with("how_to_allow", how)
}
