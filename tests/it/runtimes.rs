//! The runtimes of one function side by side, and how much their models think.

use std::sync::Arc;

use openprogram_core::content::ThinkingLevel;
use openprogram_core::session::Usage;
use openprogram_runtime::RuntimeSettings;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_tests::host::{TestHost, named};
use serde_json::json;

fn texts(replies: &[&str]) -> Arc<ScriptedProvider> {
    let replies: Vec<ScriptedReply> = replies.iter().map(|reply| (*reply).into()).collect();
    Arc::new(ScriptedProvider::new(replies))
}

fn named_model(name: &str, reply: &str) -> Arc<ScriptedProvider> {
    let model = ScriptedProvider::new(vec![ScriptedReply::from(reply)]);
    Arc::new(model.named(&format!("scripted:{name}")))
}

/// What a model was asked, one line for each request.
fn asked(model: &ScriptedProvider) -> Vec<String> {
    let requests = model.requests();
    let line = |request: &openprogram_core::llm::ModelRequest| {
        let last = request.messages.last().unwrap().content.last().unwrap();
        format!("{} ({})", last.as_text().unwrap(), request.thinking)
    };
    requests.iter().map(line).collect()
}

#[tokio::test]
async fn looker_observes_with_a_cheap_model_plans_with_a_strong_one_and_opens_a_third() {
    let main = texts(&[]);
    let cheap = named_model("cheap", "a door");
    let strong = named_model("strong", "open it");
    let third = named_model("third", "fine");
    let host = TestHost::new()
        .guest("looker")
        .provider(main.clone())
        .exec_and_review(cheap.clone(), strong.clone())
        .other_model("other:third", third.clone())
        .grant_model("looker", "other:third=1000")
        .settings(RuntimeSettings {
            exec_thinking: ThinkingLevel::Low,
            ..RuntimeSettings::default()
        })
        .start()
        .await;
    let arguments = json!({"task": "look", "third": "other:third"});
    let outcome = host.run("observe-and-plan", arguments).await;
    assert_eq!(
        outcome.result,
        Ok(json!({
            "models": ["scripted:cheap", "scripted:strong", "scripted:third"],
            "levels": ["Low", "High", "Off"],
            "seen": "a door",
            "plan": "open it",
            "verdict": "fine",
        }))
    );
    assert_eq!(asked(&cheap), ["look (low)"]);
    assert_eq!(asked(&strong), ["Plan: a door (high)"]);
    assert_eq!(asked(&third), ["Check: open it (off)"]);
    assert_eq!(main.requests().len(), 0);
    // The tokens that the grant leaves bound the reply of the opened model, and of no other.
    let most = |model: &ScriptedProvider| model.requests()[0].max_output_tokens;
    assert_eq!((most(&cheap), most(&strong)), (None, None));
    assert!(most(&third).is_some_and(|most| (900..1_000).contains(&most)));
    let nodes = host.nodes(&outcome.session.unwrap()).await;
    let facts = |fact: &str| {
        let facts = nodes.iter().map(|node| node.opened.facts.get(fact));
        facts.flatten().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        facts("runtime"),
        [r#""exec_runtime""#, r#""review_runtime""#, r#""opened""#]
    );
    assert_eq!(facts("thinking"), [r#""low""#, r#""high""#]);
}

#[tokio::test]
async fn looker_is_refused_the_third_model_without_a_grant() {
    let third = texts(&["never"]);
    let host = TestHost::new()
        .guest("looker")
        .provider(texts(&["a door", "open it"]))
        .other_model("other:third", third.clone())
        .start()
        .await;
    let arguments = json!({"task": "look", "third": "other:third"});
    let failure = host.failure("observe-and-plan", arguments).await;
    assert_eq!(named(&failure), "denied model other:third");
    assert_eq!(third.n_left(), 1);
}

#[tokio::test]
async fn looker_thinks_as_it_says_and_its_change_ends_with_its_call() {
    let used = ScriptedReply::from("hm").costing(Usage {
        input_tokens: 3,
        output_tokens: 4,
        ..Usage::default()
    });
    let model = Arc::new(ScriptedProvider::new(vec![used, "below".into()]));
    let host = TestHost::new()
        .guest("looker")
        .provider(model.clone())
        .settings(RuntimeSettings::default().with_thinking(ThinkingLevel::Medium))
        .start()
        .await;
    let arguments = json!({"prompt": "x", "levels": ["low", "high"], "below": "xhigh"});
    let told = host.call("think", arguments).await.unwrap();
    assert_eq!(
        told,
        json!({
            "before": "Medium",
            "after": "High",
            "below": "High",
            "text": "hm",
            "unused": true,
            "used": [3, 4],
            "max_retries": 6,
        })
    );
    assert_eq!(asked(&model), ["x (high)", "x (xhigh)"]);
}
