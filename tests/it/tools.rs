//! Which tools the turns of real guests have, and what becomes of their calls.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::tool_filter::ToolSets;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_tests::host::{TestHost, named};
use serde_json::json;

/// The presets and the sources of these tests.
fn sets() -> ToolSets {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut sets = ToolSets::default();
    let small = names(&["turner.add", "delegate", "leaf"]);
    sets.presets.insert("small".to_owned(), small);
    sets.unsafe_in
        .insert("telegram".to_owned(), names(&["delegate"]));
    sets
}

/// Runs a function of the turner over these replies, and gives the tools of each request or the name
/// of the failure.
async fn seen(function: &str, arguments: Json, replies: Vec<ScriptedReply>) -> String {
    let model = Arc::new(ScriptedProvider::new(replies));
    let host = TestHost::new()
        .guest("turner")
        .guest("caller")
        .provider(model.clone())
        .tool_sets(sets());
    let host = host.start().await;
    if let Err(failure) = host.call(function, arguments).await {
        return named(&failure);
    }
    let requests = model.requests();
    let tools = requests.iter().map(|request| {
        let names = request.tools.iter().map(|tool| tool.name.as_str());
        names.collect::<Vec<_>>().join(" ")
    });
    tools.collect::<Vec<_>>().join(" | ")
}

#[tokio::test]
async fn turner_has_what_is_left_of_a_preset() {
    let equipped = async |more: Json| {
        let mut arguments = json!({"prompt": "x", "toolset": "small", "deny": []});
        let own = arguments.as_object_mut().unwrap();
        own.extend(more.as_object().unwrap().clone());
        seen("equipped", arguments, vec!["done".into()]).await
    };
    // `leaf` is of the other component, and not granted.
    assert_eq!(equipped(json!({})).await, "add delegate");
    assert_eq!(equipped(json!({"toolset": "none"})).await, "");
    assert_eq!(equipped(json!({"source": "telegram"})).await, "add");
    assert_eq!(equipped(json!({"source": "matrix"})).await, "add delegate");
    assert_eq!(equipped(json!({"deny": ["add"]})).await, "delegate");
    assert_eq!(equipped(json!({"allow": ["add"]})).await, "add");
    assert_eq!(
        equipped(json!({"toolset": "large"})).await,
        "invalid-argument toolset"
    );
    let full = equipped(json!({"toolset": "full", "allow": ["add", "spin", "leaf"]})).await;
    assert_eq!(full, "add spin");
}

#[tokio::test]
async fn turner_inherits_the_tools_and_the_source_of_the_turn_above() {
    let below = |arguments: &'static str| {
        vec![
            ScriptedReply::calls("", [("a", "delegate", arguments)]),
            "below".into(),
            "done".into(),
        ]
    };
    let tools = json!({"prompt": "x", "tools": ["delegate", "add"]});
    let prompt = "{\"prompt\": \"y\"}";
    assert_eq!(
        seen("work", tools, below(prompt)).await,
        "add delegate | add delegate | add delegate"
    );
    // A preset of its own ends the inheritance, but not what is unsafe where the turn above is from.
    let reply = ScriptedReply::calls(
        "",
        [(
            "a",
            "equipped",
            "{\"prompt\": \"y\", \"toolset\": \"small\", \"deny\": []}",
        )],
    );
    let arguments = json!({
        "prompt": "x", "toolset": "full", "source": "telegram", "deny": [],
        "allow": ["equipped", "delegate"],
    });
    let replies = vec![reply, "below".into(), "done".into()];
    assert_eq!(
        seen("equipped", arguments, replies).await,
        "equipped | add | equipped"
    );
}

#[tokio::test]
async fn turner_adds_many_numbers_at_once_and_the_sums_come_in_order() {
    let arguments: Vec<_> = (0..20)
        .map(|n| (format!("c{n}"), format!("{{\"a\": {n}, \"b\": 1}}")))
        .collect();
    let calls = arguments.iter();
    let calls = calls.map(|(id, arguments)| (id.as_str(), "add", arguments.as_str()));
    let replies = vec![ScriptedReply::calls("", calls), "done".into()];
    let model = Arc::new(ScriptedProvider::new(replies));
    let host = TestHost::new().guest("turner").provider(model.clone());
    let host = host.start().await;
    let arguments = json!({"prompt": "x", "tools": ["add"]});
    host.call("work", arguments).await.unwrap();
    let last = model.requests()[1].messages.last().unwrap().content.clone();
    let sums: Vec<_> = last
        .iter()
        .map(|block| match block {
            openprogram_core::content::ContentBlock::ToolResult(result) => result.text.clone(),
            other => panic!("{other:?} is no result"),
        })
        .collect();
    let expected: Vec<_> = (1..=20).map(|sum: u32| sum.to_string()).collect();
    assert_eq!(sums, expected);
}
