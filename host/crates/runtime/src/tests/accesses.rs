//! What calls reached for: in their record, and told once.

use std::future::pending;
use std::sync::Arc;

use openprogram_core::grant::{Access, GrantKind};
use openprogram_core::guest::CallError;
use openprogram_core::session::{NodeQuery, NodeStatus};
use openprogram_core::{Json, JsonObject};
use serde_json::json;
use tokio::sync::Notify;

use super::{nodes, run, runtime_with, told};
use crate::testing::{NativeCall, NativeFunctions, function, passed_on};
use crate::{Event, RunRequest, event_channel};

fn refused() -> Access {
    let needed = Some("HOME".to_owned());
    Access::refused(GrantKind::Env, "HOME", "`desk` has no `HOME`", needed)
}

/// Uses a grant twice and is refused another thing twice.
fn reach(call: &NativeCall) {
    for _ in 0..2 {
        let used = Access::granted(GrantKind::Env, "LANG", "LANG");
        call.services.note(used);
        call.services.note(refused());
    }
}

fn expected() -> Json {
    json!([
        {"kind": "env", "what": "LANG", "grant": "LANG", "n": 2},
        {"kind": "env", "what": "HOME", "refused": "`desk` has no `HOME`", "needed": "HOME", "n": 2},
    ])
}

#[tokio::test]
async fn a_call_is_recorded_with_what_it_reached_for_and_refusals_are_told_once() {
    let reaches = |call: NativeCall| async move {
        reach(&call);
        Ok(json!(null))
    };
    let both = |call: NativeCall| async move {
        for _ in 0..2 {
            let done = call.services.call("reaches", json!({})).await;
            done.map_err(passed_on)?;
        }
        let denied = call.services.call("shop.ping", json!({})).await;
        Ok(json!(denied.unwrap_err().code.as_str()))
    };
    let functions = NativeFunctions::default()
        .with(function("desk", "both", "", []), both)
        .with(function("desk", "reaches", "", []), reaches)
        .with(function("shop", "ping", "", []), |_| async {
            Ok(json!(null))
        });
    let runtime = runtime_with(functions, |_| ());
    let (sender, mut receiver) = event_channel(64);
    let mut request = RunRequest::new("both");
    request.events = Some(sender);
    let outcome = runtime.run_function(request).await;
    assert_eq!(told(&outcome), json!({"ok": "denied"}));
    let recorded = nodes(&runtime, &outcome).await;
    let facts = |at: usize| recorded[at].end.as_ref().unwrap().facts.clone();
    let call = json!([{
        "kind": "calls", "what": "call test:shop/api.ping",
        "refused": "`desk` may not call `test:shop/api.ping`",
        "needed": "test:shop/api.ping", "n": 1,
    }]);
    let found = [facts(0), facts(1), facts(2)].map(|facts| facts["access"].clone());
    assert_eq!(found, [call, expected(), expected()]);
    let mut refusals = Vec::new();
    while let Some(event) = receiver.next().await {
        if let Event::AccessRefused {
            node,
            component,
            access,
        } = event
        {
            refusals.push((node, component, access.what));
        }
    }
    let node = |at: usize| Some(recorded[at].opened.id.clone());
    let desk = || "desk".to_owned();
    let expected = [
        (node(1), desk(), "HOME".to_owned()),
        (node(0), desk(), "call test:shop/api.ping".to_owned()),
    ];
    assert_eq!(refusals, expected);
}

#[tokio::test]
async fn a_call_that_is_cut_off_is_recorded_with_what_it_reached_for() {
    let there = Arc::new(Notify::new());
    let reaches = {
        let there = Arc::clone(&there);
        move |call: NativeCall| {
            let there = Arc::clone(&there);
            async move {
                reach(&call);
                there.notify_one();
                pending::<Result<Json, CallError>>().await
            }
        }
    };
    let functions = NativeFunctions::default().with(function("desk", "reaches", "", []), reaches);
    let runtime = runtime_with(functions, |_| ());
    let request = RunRequest::new("reaches");
    let outcome = runtime.run_function_until(request, there.notified()).await;
    assert_eq!(told(&outcome)["code"], "cancelled");
    let node = nodes(&runtime, &outcome).await.remove(0);
    assert_eq!(node.status(), NodeStatus::Cancelled);
    let access = json!({"access": expected()});
    assert_eq!(Json::Object(node.end.unwrap().facts), access);
}

#[tokio::test]
async fn what_is_noted_after_the_end_is_nobodys() {
    let kept = Arc::new(std::sync::Mutex::new(None));
    let keeps = {
        let kept = Arc::clone(&kept);
        move |call: NativeCall| {
            *kept.lock().unwrap() = Some(Arc::clone(&call.services));
            async { Ok(json!(null)) }
        }
    };
    let functions = NativeFunctions::default().with(function("desk", "keeps", "", []), keeps);
    let runtime = runtime_with(functions, |_| ());
    let outcome = run(&runtime, "keeps", json!({})).await;
    kept.lock().unwrap().take().unwrap().note(refused());
    let all = NodeQuery::default();
    let session = outcome.session.as_ref().unwrap();
    let found = runtime.store().nodes(session, all).await.unwrap();
    let facts: &JsonObject = &found[0].end.as_ref().unwrap().facts;
    assert_eq!(facts.get("access"), None);
}
