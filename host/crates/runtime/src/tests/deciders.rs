//! Providers that weigh options and do not write.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::llm::LlmError;
use serde_json::json;

use super::desk::{route, routing};
use super::{graph, told};
use crate::testing::ScriptedDecider;

async fn check_decider(weights: &[(&str, f64)], expected: Json) {
    let decider = Arc::new(ScriptedDecider::new([weights.iter().copied()]));
    let (_, outcome) = route(routing(), decider).await;
    assert_eq!(told(&outcome), expected, "{weights:?}");
}

#[tokio::test]
async fn a_decider_picks_by_weight_and_is_never_trusted() {
    let wrong = |message: &str| {
        json!({
            "code": "llm",
            "message": format!("`scripted:decider` gave no distribution: {message}"),
            "details": {"reason": "provider", "retryable": false, "model": "scripted:decider"},
        })
    };
    check_decider(&[("later", 0.75), ("done", 0.25)], json!({"ok": {}})).await;
    let over = json!({"ok": "CONVERSATION_OVER"});
    check_decider(&[("later", 0.5), ("done", 0.5)], json!({"ok": {}})).await;
    check_decider(&[("done", 0.5), ("later", 0.4995)], over).await;
    let missing = |message: &str| {
        json!({
            "code": "decision",
            "message": format!("no valid pick after 1 attempt: {message}"),
            "details": {"kind": "missing_required", "attempts": 1, "reply_head": ""},
        })
    };
    check_decider(
        &[("refund", 1.0)],
        missing(
            "\"refund\" was picked by a model that only picks and cannot give arguments: `order`: a \
             required value is missing; use a model that writes",
        ),
    )
    .await;
    check_decider(
        &[("later", f64::NAN)],
        wrong("the weight of \"later\" is NaN, not a finite number"),
    )
    .await;
    check_decider(
        &[("later", f64::INFINITY)],
        wrong("the weight of \"later\" is inf, not a finite number"),
    )
    .await;
    check_decider(
        &[("later", -0.5), ("done", 1.5)],
        wrong("the weight of \"later\" is -0.5, not from 0 to 1"),
    )
    .await;
    check_decider(
        &[("delete", 1.0)],
        wrong("\"delete\" is not one of the options"),
    )
    .await;
    check_decider(
        &[("later", 0.5), ("later", 0.5)],
        wrong("\"later\" is weighed twice"),
    )
    .await;
    check_decider(
        &[("later", 0.5), ("done", 0.25)],
        wrong("the weights sum to 0.75, not to 1"),
    )
    .await;
    check_decider(&[], wrong("the answer weighs no option")).await;
}

#[tokio::test]
async fn what_a_decider_is_asked_and_what_is_recorded() {
    let decider = Arc::new(ScriptedDecider::new([[("later", 0.75), ("done", 0.25)]]));
    let (runtime, outcome) = route(routing(), decider.clone()).await;
    let state = decider.states().remove(0);
    assert_eq!(Some(&state.session), outcome.session.as_ref());
    let mut shown = format!("{}\n", state.prompt);
    for choice in &state.choices {
        let line = format!(
            "{}: {} {}\n",
            choice.name, choice.description, choice.parameters
        );
        shown.push_str(&line);
    }
    expect![[r#"
        Pick one way to handle this message.
        refund: Pays back. {"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}
        later: Waits. {"type":"object","properties":{},"additionalProperties":false}
        plan:  {"type":"object","properties":{"steps":{"type":"array","items":{"type":"string"}},"sure":{"type":"boolean"}},"required":["steps","sure"],"additionalProperties":false}
        done:  {"type":"object","properties":{},"additionalProperties":false}
    "#]].assert_eq(&shown);
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {}
        2 llm scripted:decider caller=1
          in   "Pick one way to handle this message."
          fact runtime="runtime"
          fact method="decider"
          fact pick="later"
          fact arguments={}
          fact confidence=0.75
          fact confidence_source="decider"
          fact weights=[["later",0.75],["done",0.25]]
          out  "{\"call\":\"later\"}"
        3 code test:desk/api.wait caller=1
          in   {}
          fact picked_by=node 2
          out  {}
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn a_decider_that_cannot_be_asked_fails_as_a_model() {
    let decider = ScriptedDecider::failing(LlmError::Unsupported("no weights".to_owned()));
    let (_, outcome) = route(routing(), Arc::new(decider)).await;
    let expected = json!({
        "code": "no-provider",
        "message": "no weights",
        "details": {"model": "scripted:decider"},
    });
    assert_eq!(told(&outcome), expected);
}
