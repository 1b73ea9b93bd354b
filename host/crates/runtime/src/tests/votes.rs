//! Votes with rotated options, and menus in two stages.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::content::Role;
use openprogram_core::decision::{DecisionSettings, MinConfidence, OptionGroup};
use openprogram_core::guest::DecisionRequest;
use openprogram_core::llm::{LlmError, LlmFailure, LlmReason};
use openprogram_core::session::{Node, NodeStatus};
use serde_json::json;

use super::desk::{model, route, routing};
use super::{decision, graph, nodes, told, value, without_menus};
use crate::testing::{ScriptedDecider, ScriptedReply};

fn voted(votes: u32) -> DecisionRequest {
    DecisionRequest {
        settings: DecisionSettings {
            votes: Some(votes),
            ..DecisionSettings::default()
        },
        ..routing()
    }
}

fn call(name: &str) -> String {
    json!({ "call": name }).to_string()
}

/// The names of the options in the order of the menu in a request.
fn offered(request: &openprogram_core::llm::ModelRequest) -> Vec<String> {
    let last = request.messages.last().unwrap();
    let menu = last.content.last().unwrap().as_text().unwrap();
    let calls = menu
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Call: "));
    let name = |line: &str| serde_json::from_str::<Json>(line).unwrap()["call"].clone();
    calls
        .map(|line| name(line).as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn every_vote_sees_another_order_and_nothing_of_the_others() {
    let model = model([call("done"), call("later"), call("later")]);
    let (_, outcome) = route(voted(3), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": {}}));
    let requests = model.requests();
    let orders: Vec<_> = requests.iter().map(offered).collect();
    expect![[r#"
        [
            [
                "refund",
                "later",
                "plan",
                "done",
            ],
            [
                "later",
                "plan",
                "done",
                "refund",
            ],
            [
                "plan",
                "done",
                "refund",
                "later",
            ],
        ]
    "#]]
    .assert_debug_eq(&orders);
    for request in &requests {
        // The situation and the menu: no reply of an earlier vote.
        assert_eq!(request.messages.len(), 1, "{request:#?}");
    }
}

#[tokio::test]
async fn every_vote_and_the_count_are_recorded() {
    let model = model([call("done"), call("later"), call("later")]);
    let (runtime, outcome) = route(voted(3), model).await;
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {}
        2 llm scripted:text caller=1
          in   "Pick one way to handle this message.\n\nrefu…
          fact vote=1
          fact votes=3
          fact runtime="runtime"
          fact method="text"
          fact pick="done"
          fact arguments={}
          out  "{\"call\":\"done\"}"
        3 llm scripted:text caller=1
          in   "Pick one way to handle this message.\n\nlate…
          fact vote=2
          fact votes=3
          fact runtime="runtime"
          fact method="text"
          fact pick="later"
          fact arguments={}
          fact confidence=0.6666666666666666
          fact confidence_source="votes"
          fact tally={"later":2,"done":1}
          out  "{\"call\":\"later\"}"
        4 llm scripted:text caller=1
          in   "Pick one way to handle this message.\n\nplan…
          fact vote=3
          fact votes=3
          fact runtime="runtime"
          fact method="text"
          fact pick="later"
          fact arguments={}
          out  "{\"call\":\"later\"}"
        5 code test:desk/api.wait caller=1
          in   {}
          fact picked_by=node 3
          out  {}
    "#]]
    .assert_eq(&without_menus(&graph(&runtime, &outcome).await));
}

#[tokio::test]
async fn a_vote_without_a_pick_counts_for_nobody_and_lowers_the_confidence() {
    let mut request = voted(3);
    request.max_retries = 0;
    let replies = ["no", &call("later"), &call("later")].map(str::to_owned);
    let (runtime, outcome) = route(request.clone(), model(replies)).await;
    assert_eq!(told(&outcome), json!({"ok": {}}));
    let nodes = nodes(&runtime, &outcome).await;
    let confidence = |node: &Node| node.end.as_ref()?.facts.get("tally").cloned();
    let tallies: Vec<_> = nodes.iter().filter_map(confidence).collect();
    assert_eq!(tallies, [json!({"later": 2})]);

    let (_, outcome) = route(request, model(["no", "none", "never"])).await;
    let failure = told(&outcome);
    assert_eq!(failure["details"]["kind"], "no_action", "{failure}");
    assert_eq!(failure["details"]["reply_head"], "never");
}

#[tokio::test]
async fn a_vote_that_is_asked_again_reads_its_own_reply_and_no_later_vote_does() {
    let mut request = voted(3);
    request.max_retries = 1;
    let replies = [
        "refund it",
        &call("done"),
        "perhaps",
        "again",
        &call("done"),
    ];
    let model = model(replies.map(str::to_owned));
    let (_, outcome) = route(request, model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "CONVERSATION_OVER"}));
    // The second vote is asked again and gives no pick; its retry reads what it said itself.
    let requests = model.requests();
    let counts: Vec<_> = requests.iter().map(|r| r.messages.len()).collect();
    assert_eq!(counts, [1, 3, 1, 3, 1], "{requests:#?}");
    let own = requests[3].messages.iter().flat_map(|m| &m.content);
    let own: Vec<_> = own.filter_map(|block| block.as_text()).collect();
    assert!(!own.concat().contains("refund it"), "{own:?}");
}

#[tokio::test]
async fn what_votes_said_is_read_again_once_they_are_counted() {
    let mut request = grouped(Some(2));
    request.max_retries = 1;
    let replies = [
        "hm",
        &call("money"),
        &call("money"),
        &call("visa"),
        &call("visa"),
    ];
    let model = model(replies.map(str::to_owned));
    let (_, outcome) = route(request, model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "visa"}));
    let requests = model.requests();
    let texts_read: Vec<Vec<_>> = requests
        .iter()
        .map(|request| {
            let replies = request
                .messages
                .iter()
                .filter(|m| m.role == Role::Assistant);
            let blocks = replies.flat_map(|message| &message.content);
            blocks.filter_map(|block| block.as_text()).collect()
        })
        .collect();
    let money = call("money");
    let of_first_stage = vec!["hm", &money, &money];
    let expected = [
        vec![],
        vec!["hm"],
        vec![],
        of_first_stage.clone(),
        of_first_stage,
    ];
    assert_eq!(texts_read, expected);
}

#[tokio::test]
async fn the_share_of_the_votes_is_a_confidence() {
    let sure = |level: f64| {
        let mut request = voted(3);
        request.settings.min_confidence = Some(MinConfidence {
            level,
            hand_off: Some("done".to_owned()),
        });
        let replies = [call("later"), call("later"), call("done")];
        async move { told(&route(request, model(replies)).await.1) }
    };
    assert_eq!(sure(0.6).await, json!({"ok": {}}));
    assert_eq!(sure(0.7).await, json!({"ok": "CONVERSATION_OVER"}));
}

#[tokio::test]
async fn a_tie_is_a_failure_unless_the_weights_break_it() {
    let (runtime, outcome) = route(voted(2), model([call("later"), call("done")])).await;
    expect![[r#"
        {
          "code": "decision",
          "message": "the vote is tied between \"later\" and \"done\"; ask an odd number of times or more often",
          "details": {
            "kind": "tie",
            "tied": [
              "later",
              "done"
            ],
            "tally": {
              "later": 1,
              "done": 1
            }
          }
        }
    "#]].assert_eq(&format!("{:#}\n", told(&outcome)));
    let nodes = nodes(&runtime, &outcome).await;
    assert!(
        nodes
            .iter()
            .skip(1)
            .all(|node| node.status() == NodeStatus::Completed)
    );

    let distributions = [
        [("later", 0.6), ("done", 0.4)],
        [("later", 0.1), ("done", 0.9)],
    ];
    let decider = Arc::new(ScriptedDecider::new(distributions));
    let (_, outcome) = route(voted(2), decider).await;
    assert_eq!(told(&outcome), json!({"ok": "CONVERSATION_OVER"}));
    let even = [
        [("later", 0.6), ("done", 0.4)],
        [("later", 0.4), ("done", 0.6)],
    ];
    let (_, outcome) = route(voted(2), Arc::new(ScriptedDecider::new(even))).await;
    assert_eq!(told(&outcome)["details"]["kind"], "tie");
}

#[tokio::test]
async fn weights_that_break_a_tie_leave_the_share_of_all_asks_as_the_confidence() {
    // The third ask picks what needs arguments, which a decider cannot give.
    let distributions = [
        [("later", 0.6), ("done", 0.3), ("refund", 0.1)],
        [("later", 0.1), ("done", 0.8), ("refund", 0.1)],
        [("later", 0.1), ("done", 0.1), ("refund", 0.8)],
    ];
    let mut request = voted(3);
    request.settings.min_confidence = Some(MinConfidence {
        level: 0.4,
        hand_off: None,
    });
    let decider = Arc::new(ScriptedDecider::new(distributions));
    let failure = told(&route(request, decider).await.1);
    assert_eq!(failure["details"]["kind"], "low_confidence", "{failure}");
    assert_eq!(failure["details"]["pick"], "done");
    assert_eq!(failure["details"]["confidence"], json!(1.0 / 3.0));
}

#[tokio::test]
async fn a_model_that_fails_in_a_vote_fails_the_decision_and_no_node_stays_open() {
    let failure = LlmFailure::new(LlmReason::Auth, false, "the key is wrong");
    let replies = [
        ScriptedReply::from(call("later")),
        LlmError::Failed(failure).into(),
    ];
    let (runtime, outcome) = route(voted(3), model(replies)).await;
    assert_eq!(told(&outcome)["details"]["reason"], "auth");
    let nodes = nodes(&runtime, &outcome).await;
    let statuses: Vec<_> = nodes.iter().map(Node::status).collect();
    let expected = [
        NodeStatus::Failed,
        NodeStatus::Completed,
        NodeStatus::Failed,
    ];
    assert_eq!(statuses, expected);
}

fn grouped(votes: Option<u32>) -> DecisionRequest {
    let options = ["visa", "cash", "plane", "train", "none"];
    let options = options.map(|name| value(name, json!(name))).to_vec();
    let group = |name: &str, options: &[&str]| OptionGroup {
        name: name.to_owned(),
        description: Some(format!("Everything about {name}.")),
        options: options.iter().map(|name| (*name).to_owned()).collect(),
    };
    DecisionRequest {
        settings: DecisionSettings {
            votes,
            groups: vec![
                group("money", &["visa", "cash"]),
                group("travel", &["plane", "train"]),
            ],
            ..DecisionSettings::default()
        },
        ..decision("Pick.", options)
    }
}

#[tokio::test]
async fn a_group_is_picked_first_and_one_of_its_options_then() {
    let model = model([call("travel"), call("train")]);
    let (runtime, outcome) = route(grouped(None), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "train"}));
    let menus: Vec<_> = model.requests().iter().map(offered).collect();
    assert_eq!(
        menus,
        [vec!["money", "travel", "none"], vec!["plane", "train"]]
    );
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  "train"
        2 llm scripted:text caller=1
          in   "Pick.\n\nmoney()\n    Everything about money…
          fact runtime="runtime"
          fact method="text"
          fact pick="travel"
          fact arguments={}
          out  "{\"call\":\"travel\"}"
        3 llm scripted:text caller=1 reads=2
          in   "Pick.\n\nplane()\n    Call: {\"call\": \"pla…
          fact group="travel"
          fact runtime="runtime"
          fact method="text"
          fact pick="train"
          fact arguments={}
          out  "{\"call\":\"train\"}"
    "#]]
    .assert_eq(&without_menus(&graph(&runtime, &outcome).await));
}

#[tokio::test]
async fn an_option_outside_the_groups_needs_one_stage() {
    let model = model([call("none")]);
    let (_, outcome) = route(grouped(None), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "none"}));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_group_with_one_option_needs_one_stage_and_the_only_group_none() {
    let mut request = grouped(None);
    request.settings.groups[1].options.truncate(1);
    let first = model([call("travel")]);
    let (_, outcome) = route(request.clone(), first.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "plane"}));
    assert_eq!(first.requests().len(), 1);

    request.settings.groups.truncate(1);
    request.options.truncate(2);
    let second = model([call("cash")]);
    let (_, outcome) = route(request, second.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "cash"}));
    let menus: Vec<_> = second.requests().iter().map(offered).collect();
    assert_eq!(menus, [["visa", "cash"]]);
}

#[tokio::test]
async fn both_stages_are_voted_on_and_both_must_be_sure() {
    let replies = ["travel", "travel", "money", "train", "train", "plane"].map(call);
    let sure = |level: f64| {
        let mut request = grouped(Some(3));
        request.settings.min_confidence = Some(MinConfidence {
            level,
            hand_off: None,
        });
        let model = model(replies.clone());
        async move { told(&route(request, model).await.1) }
    };
    assert_eq!(sure(0.4).await, json!({"ok": "train"}));
    let unsure = sure(0.5).await;
    // Two thirds of two thirds.
    let confidence = unsure["details"]["confidence"].as_f64().unwrap();
    assert!((confidence - 4.0 / 9.0).abs() < 1e-9, "{unsure}");
}

#[tokio::test]
async fn a_large_menu_is_asked_about_whole_and_again_with_the_reason() {
    let options = (0..400)
        .map(|n| value(&format!("option_{n}"), json!(n)))
        .collect();
    let model = model(["The last one.".to_owned(), call("option-399")]);
    let (_, outcome) = route(decision("Pick.", options), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": 399}));
    let counts: Vec<_> = model.requests().iter().map(|r| offered(r).len()).collect();
    assert_eq!(counts, [400, 400]);
}
