//! A component that routes messages, for the tests of decisions.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::decision::OptionKind;
use openprogram_core::function::Offer;
use openprogram_core::guest::{CallError, DecisionRequest};
use openprogram_core::llm::Provider;
use openprogram_core::schema::{Field, RecordType, Type};
use serde_json::json;

use super::{decision, hidden, object, option, run, runs, runtime, text, value};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedProvider, ScriptedReply, function, passed_on,
};
use crate::{Providers, RunOutcome, Runtime};

/// Gives back its arguments.
pub(super) async fn echo(call: NativeCall) -> Result<Json, CallError> {
    Ok(Json::Object(call.arguments))
}

/// A component whose `route` puts this decision, beside functions to pick.
pub(super) fn desk(request: DecisionRequest) -> NativeFunctions {
    let route = move |call: NativeCall| {
        let request = request.clone();
        async move { call.services.make(request).await.map_err(passed_on) }
    };
    let mut rude = function("desk", "rude", "Says no.", []);
    rude.offer = Offer::NotOfferable("parameter `s` is a resource".to_owned());
    let refund = [text("order"), hidden("message")];
    NativeFunctions::default()
        .with(
            function("desk", "route", "Routes a message.", [text("runtime")]),
            route,
        )
        .with(
            function("desk", "refund", "Pays back.\n\nAsks nobody.", refund),
            echo,
        )
        .with(function("desk", "wait", "Waits.", []), echo)
        .with(rude, echo)
        .with(function("shop", "stock", "Counts.", []), echo)
}

pub(super) fn plan_type() -> RecordType {
    RecordType {
        name: None,
        description: None,
        fields: vec![
            Field::new("steps", Type::List(Box::new(Type::String))),
            Field::new("sure", Type::Bool),
        ],
    }
}

/// Routes a message: a function with a hidden parameter, one without, fields, a value.
pub(super) fn routing() -> DecisionRequest {
    let options = vec![
        runs("refund", "refund"),
        runs("later", "wait"),
        option("plan", OptionKind::Schema(plan_type())),
        value("done", json!("CONVERSATION_OVER")),
    ];
    let mut request = decision("Pick one way to handle this message.", options);
    request.context = object(json!({"message": "MY-SECRET-MESSAGE"}));
    request
}

pub(super) fn model<R: Into<ScriptedReply>>(
    replies: impl IntoIterator<Item = R>,
) -> Arc<ScriptedProvider> {
    let forbidden = ["MY-SECRET-MESSAGE", "`message`", "\"message\""];
    Arc::new(ScriptedProvider::new(replies).forbids(forbidden))
}

pub(super) async fn route(
    request: DecisionRequest,
    model: Arc<dyn Provider>,
) -> (Runtime, RunOutcome) {
    let runtime = runtime(desk(request), Providers::all(model));
    let outcome = run(&runtime, "route", json!({})).await;
    (runtime, outcome)
}
