//! The session graph as `show` and `sessions` tell it: a tree for people, documents for programs.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use openprogram_core::failure::Failure;
use openprogram_core::id::{NodeId, Timestamp};
use openprogram_core::question::Receipt;
use openprogram_core::session::{AnsweredBy, CallAnswer, Node, NodeStatus, Session, Usage};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::spent::tokens;
use super::time::{duration, moment};
use super::used::{Used, report_line, usage_to_json};
use crate::text::one_line;

/// Characters of a value on one line of the tree; `--json` shows the whole.
const VALUE_CHARS_MAX: usize = 160;
/// Deeper nodes are not indented further. Runs are not as deep; a damaged store may be.
const INDENTED_LEVELS_MAX: usize = 40;

/// A session with what is needed to show it.
pub(crate) struct Graph {
    pub(crate) session: Session,
    pub(crate) nodes: Vec<Node>,
    /// When the earliest run that is still going on began.
    pub(crate) running_since: Option<Timestamp>,
}

/// How far a node has come, as people and programs read it. An open node that no living process
/// works on has an unknown outcome.
pub(crate) fn status(node: &Node, running_since: Option<Timestamp>) -> &'static str {
    match node.status() {
        NodeStatus::Open => {
            if running_since.is_some_and(|since| since <= node.opened.started_at) {
                "running"
            } else {
                "unknown"
            }
        }
        ended => ended.as_str(),
    }
}

/// Where a fork goes on from another session, and null for any other session.
pub(crate) fn base_to_json(session: &Session) -> Json {
    match &session.base {
        Some(base) => json!({"session": base.session.as_str(), "seq": base.seq}),
        None => Json::Null,
    }
}

impl Graph {
    /// How the newest run of the session ended, or `empty`.
    pub(crate) fn status(&self) -> &'static str {
        let newest = self
            .nodes
            .iter()
            .rev()
            .find(|node| node.opened.caller.is_none());
        newest.map_or("empty", |node| status(node, self.running_since))
    }

    /// The graph as a tree: every node below its caller, in order.
    pub(crate) fn to_tree(&self) -> String {
        let used = Used::of(&self.nodes);
        let mut text = String::new();
        let title = one_line(&self.session.title, 80);
        let count = self.nodes.len();
        // Writing to a string cannot fail; the same holds below.
        let _ = writeln!(text, "{} {title}", self.session.id);
        let _ = writeln!(
            text,
            "{}, {count} {}, {}{}",
            moment(self.session.created_at),
            if count == 1 { "node" } else { "nodes" },
            self.status(),
            used.session
                .map_or_else(String::new, |usage| format!(", {}", tokens(&usage))),
        );
        if let Some(base) = &self.session.base {
            let _ = writeln!(
                text,
                "a fork of {} after its node {}",
                base.session, base.seq
            );
        }
        let below = self.by_caller();
        let mut waiting: Vec<Place> = Vec::new();
        push_below(&mut waiting, below.get(&None), &Place::root());
        while let Some(place) = waiting.pop() {
            let node = &self.nodes[place.index];
            let below = below.get(&Some(&node.opened.id));
            let run = used.run(&node.opened.id);
            self.write_node(&mut text, node, run, (&place, below.is_some()));
            push_below(&mut waiting, below, &place);
        }
        text
    }

    /// The places of nodes by caller. A caller that is not in the session counts as none.
    fn by_caller(&self) -> HashMap<Option<&NodeId>, Vec<usize>> {
        let mut known = HashSet::new();
        let mut below: HashMap<_, Vec<_>> = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let caller = node
                .opened
                .caller
                .as_ref()
                .filter(|caller| known.contains(*caller));
            below.entry(caller).or_default().push(index);
            known.insert(&node.opened.id);
        }
        below
    }

    /// `run` is what the run used that begins with the node.
    fn write_node(
        &self,
        text: &mut String,
        node: &Node,
        run: Option<&Usage>,
        (place, has_below): (&Place, bool),
    ) {
        let opened = &node.opened;
        let status = status(node, self.running_since);
        let (branch, inner) = place.branches();
        let name = one_line(&opened.name, 120);
        let _ = write!(
            text,
            "{branch}{} {} {name}  {status}",
            node.seq,
            opened.kind.as_str()
        );
        if let Some(end) = &node.end {
            let took = end.finished_at.0.saturating_sub(opened.started_at.0);
            let _ = write!(text, ", {}", duration(took));
            if let Some(usage) = &end.usage {
                let _ = write!(text, ", {}", tokens(usage));
            }
            if let Some(usage) = run {
                let _ = write!(text, ", {} in all", tokens(usage));
            }
            match end.attempts.len() {
                0 => {}
                1 => text.push_str(", 1 try failed"),
                count => {
                    let _ = write!(text, ", {count} tries failed");
                }
            }
        }
        text.push('\n');
        let line = if has_below { "│  " } else { "   " };
        for (label, value) in facts(node) {
            let _ = writeln!(text, "{inner}{line}{label:<8} {value}");
        }
    }

    /// The whole graph for programs.
    pub(crate) fn to_json(&self) -> Json {
        let nodes: Vec<_> = self
            .nodes
            .iter()
            .map(|n| node_to_json(n, self.running_since))
            .collect();
        let used = Used::of(&self.nodes);
        let runs = self.nodes.iter().filter_map(|node| {
            let usage = used.run(&node.opened.id)?;
            Some(json!({"node": node.opened.id.as_str(), "usage": usage_to_json(Some(usage))}))
        });
        json!({
            "session": self.session.id.as_str(),
            "title": self.session.title,
            "created_at_ms": self.session.created_at.0,
            "status": self.status(),
            "usage": usage_to_json(used.session.as_ref()),
            "runs": runs.collect::<Vec<_>>(),
            "base": base_to_json(&self.session),
            "nodes": nodes,
        })
    }
}

/// Where a node stands in the tree.
struct Place {
    index: usize,
    is_last: bool,
    /// For each level above, whether more follows there.
    above: Vec<bool>,
    is_root: bool,
}

impl Place {
    fn root() -> Self {
        Self {
            index: 0,
            is_last: true,
            above: Vec::new(),
            is_root: true,
        }
    }

    /// What stands before the node, and before the lines that belong to it.
    fn branches(&self) -> (String, String) {
        let mut before = String::new();
        for &more in &self.above {
            before.push_str(if more { "│  " } else { "   " });
        }
        let (branch, inner) = if self.is_last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        (format!("{before}{branch}"), format!("{before}{inner}"))
    }
}

fn push_below(waiting: &mut Vec<Place>, below: Option<&Vec<usize>>, parent: &Place) {
    let mut above = parent.above.clone();
    if !parent.is_root && above.len() < INDENTED_LEVELS_MAX {
        above.push(!parent.is_last);
    }
    let below = below.map_or(&[][..], Vec::as_slice);
    let last = below.last().copied();
    waiting.extend(below.iter().rev().map(|&index| Place {
        index,
        is_last: Some(index) == last,
        above: above.clone(),
        is_root: false,
    }));
}

/// The lines below a node.
fn facts(node: &Node) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let is_empty = node
        .opened
        .input
        .as_object()
        .is_some_and(|input| input.is_empty());
    // A turn that goes on with the results of its calls says nothing of its own.
    if !is_empty && !node.opened.input.is_null() {
        lines.push(("in", shown(&node.opened.input)));
    }
    let answers = CallAnswer::of_facts(&node.opened.facts);
    lines.extend(answers.filter_map(|answer| Some(("answer", answer_line(answer)?))));
    let Some(end) = &node.end else {
        return lines;
    };
    if let Some(output) = &end.output {
        lines.push(("out", shown(output)));
    }
    let fact = |key: &str| end.facts.get(key).filter(|value| !value.is_null());
    lines.extend(
        end.attempts
            .iter()
            .map(|attempt| ("try", failure_line(&attempt.failure))),
    );
    let calls = fact("calls").and_then(Json::as_array);
    lines.extend(
        calls
            .into_iter()
            .flatten()
            .map(|call| ("calls", call_line(call))),
    );
    lines.extend(pick_line(&end.facts));
    if let Some(problem) = fact("no_pick").and_then(|no_pick| no_pick.get("message")) {
        lines.push(("no pick", shown(problem)));
    }
    if let Some(failure) = &end.failure {
        lines.push(("failure", failure_line(failure)));
    }
    if let Some(refused) = fact("refused").and_then(Json::as_array) {
        let refused = refused.iter().filter_map(Failure::from_json);
        lines.extend(refused.map(|failure| ("refused", failure_line(&failure))));
    }
    let receipts = fact(Receipt::FACT).and_then(Json::as_array);
    let receipts = receipts
        .into_iter()
        .flatten()
        .filter_map(Receipt::from_json);
    lines.extend(receipts.map(|receipt| ("approval", receipt_line(&receipt))));
    if let Some(report) = report_line(&end.facts) {
        lines.push(("used", report));
    }
    if let Some(log) = fact("log") {
        lines.push(("log", shown(log)));
    }
    lines
}

/// What a decision picked and how, or only how.
fn pick_line(facts: &JsonObject) -> Option<(&'static str, String)> {
    let fact = |key: &str| facts.get(key).filter(|value| !value.is_null());
    let Some(pick) = fact("pick") else {
        return fact("method").map(|method| ("method", shown(method)));
    };
    let mut line = shown(pick);
    let says_something = |a: &&Json| a.as_object().is_none_or(|a| !a.is_empty());
    if let Some(arguments) = fact("arguments").filter(says_something) {
        let _ = write!(line, " {}", shown(arguments));
    }
    if let Some(method) = fact("method") {
        let _ = write!(line, " (by {})", shown(method));
    }
    Some(("pick", line))
}

/// What a person was asked and how that ended.
fn receipt_line(receipt: &Receipt) -> String {
    let what = one_line(&receipt.what, VALUE_CHARS_MAX);
    let by = one_line(&receipt.by, VALUE_CHARS_MAX);
    // One by memory is for good by its name.
    let is_news = receipt.remembered && receipt.by != Receipt::BY_MEMORY;
    let kept = if is_news { " for good" } else { "" };
    format!("{} by {by}{kept}: {what}", receipt.answer.as_str())
}

/// A call as the model wrote it: the tool and its arguments.
fn call_line(call: &Json) -> String {
    let part = |key: &str| call.get(key).map(shown).unwrap_or_default();
    format!("{} {}", part("name"), part("arguments"))
        .trim_end()
        .to_owned()
}

/// The answer to a call that has no node of its own.
fn answer_line(answer: CallAnswer) -> Option<String> {
    match answer.ran {
        AnsweredBy::Function(_) => None,
        AnsweredBy::Nothing(text) => Some(shown(&text.into())),
        AnsweredBy::Own(call) => Some(match &call.result {
            Ok(output) => shown(output),
            Err(failure) => failure_line(failure),
        }),
    }
}

fn failure_line(failure: &Failure) -> String {
    let message = one_line(&failure.message, VALUE_CHARS_MAX);
    match failure.details.get("error") {
        Some(error) => format!("{}: {message}: {}", failure.code.as_str(), shown(error)),
        None => format!("{}: {message}", failure.code.as_str()),
    }
}

/// A value on one line: text as it is, everything else as JSON.
fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => one_line(text, VALUE_CHARS_MAX),
        other => one_line(&other.to_string(), VALUE_CHARS_MAX),
    }
}

fn node_to_json(node: &Node, running_since: Option<Timestamp>) -> Json {
    let opened = &node.opened;
    let end = node.end.as_ref();
    let mut facts = opened.facts.clone();
    facts.extend(end.iter().flat_map(|end| end.facts.clone()));
    let attempts = end.map_or(&[][..], |end| &end.attempts);
    json!({
        "seq": node.seq,
        "id": opened.id.as_str(),
        "kind": opened.kind.as_str(),
        "name": opened.name,
        "status": status(node, running_since),
        "caller": opened.caller.as_ref().map(NodeId::as_str),
        "predecessor": opened.predecessor.as_ref().map(NodeId::as_str),
        "reads": opened.reads.iter().map(NodeId::as_str).collect::<Vec<_>>(),
        "input": opened.input,
        "output": end.and_then(|end| end.output.as_ref()),
        "failure": end.and_then(|end| end.failure.as_ref()).map(Failure::to_json),
        "expose": opened.expose.as_str(),
        "render_range": {
            "callers": opened.render_range.callers,
            "subcalls": opened.render_range.subcalls.map_or_else(|| json!(-1), |n| json!(n)),
        },
        "doc": opened.doc,
        "facts": facts,
        "usage": usage_to_json(end.and_then(|end| end.usage.as_ref())),
        "attempts": attempts.iter().map(|attempt| json!({
            "started_at_ms": attempt.started_at.0,
            "failure": attempt.failure.to_json(),
        })).collect::<Vec<_>>(),
        "started_at_ms": opened.started_at.0,
        "finished_at_ms": end.map(|end| end.finished_at.0),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use openprogram_core::JsonObject;
    use openprogram_core::failure::FailureCode;
    use openprogram_core::function::{Expose, RenderRange};
    use openprogram_core::id::SessionId;
    use openprogram_core::session::{Attempt, NewNode, NodeEnd, NodeKind};

    use super::*;

    fn node(seq: u64, kind: NodeKind, name: &str, caller: Option<u64>, input: Json) -> Node {
        let opened = NewNode {
            id: NodeId::from_bits(seq),
            session: SessionId::from_bits(1),
            kind,
            name: name.to_owned(),
            caller: caller.map(NodeId::from_bits),
            predecessor: None,
            reads: Vec::new(),
            input,
            expose: Expose::Io,
            render_range: RenderRange::default(),
            doc: None,
            facts: JsonObject::new(),
            started_at: Timestamp(1_796_046_138_000 + i64::try_from(seq).unwrap()),
        };
        Node {
            seq,
            opened,
            end: None,
        }
    }

    fn ended(mut node: Node, status: NodeStatus, output: Option<Json>, facts: Json) -> Node {
        node.end = Some(NodeEnd {
            status,
            output,
            failure: None,
            usage: None,
            attempts: Vec::new(),
            facts: facts.as_object().unwrap().clone(),
            finished_at: Timestamp(node.opened.started_at.0 + 12),
        });
        node
    }

    fn failed(node: Node, failure: Failure) -> Node {
        let mut node = ended(node, NodeStatus::Failed, None, json!({}));
        node.end.as_mut().unwrap().failure = Some(failure);
        node
    }

    fn graph(nodes: Vec<Node>, running_since: Option<i64>) -> Graph {
        let session = Session {
            id: SessionId::from_bits(1),
            created_at: Timestamp(1_796_046_138_000),
            title: "acme:support/desk.route-message".to_owned(),
            base: None,
        };
        Graph {
            session,
            nodes,
            running_since: running_since.map(Timestamp),
        }
    }

    /// Trailing space in a line would be trimmed in this source, so there must be none.
    fn check(graph: &Graph, expected: Expect) {
        let tree = graph.to_tree();
        assert!(tree.lines().all(|line| line == line.trim_end()), "{tree}");
        expected.assert_eq(&tree);
    }

    fn routed() -> Vec<Node> {
        let route = "acme:support/desk.route-message";
        let mut turn = ended(
            node(
                2,
                NodeKind::Llm,
                "component:lexical-model",
                Some(1),
                json!("Choose.\nNow."),
            ),
            NodeStatus::Completed,
            Some(json!({"refund": 0.9})),
            json!({"method": "decider", "pick": "refund", "arguments": {"order": 7}}),
        );
        turn.end.as_mut().unwrap().usage = Some(Usage {
            input_tokens: 120,
            output_tokens: 8,
            ..Usage::default()
        });
        let log = json!({"log": "\u{1b}[31mlooking\nfor 7", "log_bytes": 20});
        vec![
            ended(
                node(
                    1,
                    NodeKind::Code,
                    route,
                    None,
                    json!({"message": "money \u{1b}[2Jback"}),
                ),
                NodeStatus::Completed,
                Some(json!("refunded")),
                json!({}),
            ),
            turn,
            ended(
                node(
                    3,
                    NodeKind::Code,
                    "acme:support/desk.refund",
                    Some(1),
                    json!({"order": 7}),
                ),
                NodeStatus::Completed,
                Some(json!({"amount": 3})),
                log,
            ),
            failed(
                node(4, NodeKind::Code, "bank:pay/out.send", Some(3), json!({})),
                Failure::new(FailureCode::FunctionFailed, "`bank:pay/out.send` failed")
                    .with("error", json!({"closed": true})),
            ),
        ]
    }

    #[test]
    fn a_run_is_a_tree_with_its_decision_and_its_calls() {
        check(
            &graph(routed(), None),
            expect![[r#"
                op-0000000000000001 acme:support/desk.route-message
                2026-11-30 13:42:18Z, 4 nodes, completed, 120 + 8 tokens
                └─ 1 code acme:support/desk.route-message  completed, 12 ms, 120 + 8 tokens in all
                   │  in       {"message":"money \u001b[2Jback"}
                   │  out      refunded
                   ├─ 2 llm component:lexical-model  completed, 12 ms, 120 + 8 tokens
                   │     in       Choose. Now.
                   │     out      {"refund":0.9}
                   │     pick     refund {"order":7} (by decider)
                   └─ 3 code acme:support/desk.refund  completed, 12 ms
                      │  in       {"order":7}
                      │  out      {"amount":3}
                      │  log      looking for 7
                      └─ 4 code bank:pay/out.send  failed, 12 ms
                            failure  function-failed: `bank:pay/out.send` failed: {"closed":true}
            "#]],
        );
    }

    /// The answers to calls of every kind.
    fn answers() -> Json {
        json!([
            {"id": "a", "node": "n-0000000000000003"},
            {"id": "b", "refused": "There is no tool `fly`."},
            {"id": "c", "name": "add", "arguments": {}, "status": "completed", "output": {"n": 1}},
            {"id": "d", "name": "add", "arguments": {}, "status": "failed", "failure":
                {"code": "function-failed", "message": "too\nlarge", "details": {}}},
        ])
    }

    #[test]
    fn a_turn_shows_its_tries_its_calls_and_what_was_refused() {
        let turn = |seq, input, output, facts| {
            let node = node(seq, NodeKind::Llm, "openai:m", Some(1), input);
            ended(node, NodeStatus::Completed, output, facts)
        };
        let calls = json!({"calls": [
            {"id": "a", "name": "look_up", "arguments": "{\"order\":\n7}"},
            {"id": "b", "name": "\u{9b}fly", "arguments": ""},
        ]});
        let mut first = turn(2, json!("Look."), None, calls);
        let limited = Failure::new(FailureCode::Llm, "slow down").with("reason", "rate_limit");
        let end = first.end.as_mut().unwrap();
        end.attempts.push(Attempt {
            started_at: Timestamp(0),
            failure: limited,
        });
        end.usage = Some(Usage {
            input_tokens: 300,
            output_tokens: 20,
            cache_read: 200,
            cache_create: 0,
        });
        let mut second = turn(4, Json::Null, Some(json!("Found.")), json!({}));
        second
            .opened
            .facts
            .insert(CallAnswer::FACT.to_owned(), answers());
        let name = "acme:support/desk.handle-ticket";
        let top = node(1, NodeKind::Code, name, None, json!({"ticket": "?"}));
        let tool = node(
            3,
            NodeKind::Code,
            "acme:support/desk.look-up",
            Some(2),
            json!({"order": 7}),
        );
        let nodes = vec![
            ended(top, NodeStatus::Completed, Some(json!("Found.")), json!({})),
            first,
            ended(
                tool,
                NodeStatus::Completed,
                Some(json!("kettle")),
                json!({}),
            ),
            second,
        ];
        check(
            &graph(nodes, None),
            expect![[r#"
                op-0000000000000001 acme:support/desk.route-message
                2026-11-30 13:42:18Z, 4 nodes, completed, 300 + 20 tokens (200 cached)
                └─ 1 code acme:support/desk.handle-ticket  completed, 12 ms, 300 + 20 tokens (200 cached) in all
                   │  in       {"ticket":"?"}
                   │  out      Found.
                   ├─ 2 llm openai:m  completed, 12 ms, 300 + 20 tokens (200 cached), 1 try failed
                   │  │  in       Look.
                   │  │  try      llm: slow down
                   │  │  calls    look_up {"order": 7}
                   │  │  calls    ly
                   │  └─ 3 code acme:support/desk.look-up  completed, 12 ms
                   │        in       {"order":7}
                   │        out      kettle
                   └─ 4 llm openai:m  completed, 12 ms
                         answer   There is no tool `fly`.
                         answer   {"n":1}
                         answer   function-failed: too large
                         out      Found.
            "#]],
        );
    }

    #[test]
    fn an_open_node_runs_while_its_process_lives_and_is_unknown_afterwards() {
        let open = |seq, caller| node(seq, NodeKind::Code, "f", caller, json!({"n": seq}));
        let nodes = vec![open(1, None), open(2, None), open(3, Some(2))];
        let second = nodes[1].opened.started_at.0;
        check(
            &graph(nodes.clone(), None),
            expect![[r#"
            op-0000000000000001 acme:support/desk.route-message
            2026-11-30 13:42:18Z, 3 nodes, unknown
            ├─ 1 code f  unknown
            │     in       {"n":1}
            └─ 2 code f  unknown
               │  in       {"n":2}
               └─ 3 code f  unknown
                     in       {"n":3}
        "#]],
        );
        check(
            &graph(nodes, Some(second)),
            expect![[r#"
            op-0000000000000001 acme:support/desk.route-message
            2026-11-30 13:42:18Z, 3 nodes, running
            ├─ 1 code f  unknown
            │     in       {"n":1}
            └─ 2 code f  running
               │  in       {"n":2}
               └─ 3 code f  running
                     in       {"n":3}
        "#]],
        );
        check(
            &graph(Vec::new(), None),
            expect![[r#"
            op-0000000000000001 acme:support/desk.route-message
            2026-11-30 13:42:18Z, 0 nodes, empty
        "#]],
        );
    }

    #[test]
    fn a_long_value_is_cut_and_a_lost_caller_leaves_a_node_at_the_top() {
        let long = json!({"text": "x ".repeat(1_000)});
        let nodes = vec![node(5, NodeKind::User, "user", Some(99), long)];
        check(
            &graph(nodes, None),
            expect![[r#"
            op-0000000000000001 acme:support/desk.route-message
            2026-11-30 13:42:18Z, 1 node, empty
            └─ 5 user user  unknown
                  in       {"text":"x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x …
        "#]],
        );
    }

    #[test]
    fn a_very_deep_graph_is_shown_without_recursion() {
        let deep = |seq: u64| {
            let caller = seq.checked_sub(1).filter(|&caller| caller > 0);
            node(seq, NodeKind::Code, "f", caller, json!({}))
        };
        let tree = graph((1..=20_000).map(deep).collect(), None).to_tree();
        assert_eq!(tree.lines().count(), 2 + 20_000);
    }

    #[test]
    fn programs_get_everything() {
        let graph = graph(routed().split_off(3), None);
        let document = serde_json::to_string_pretty(&graph.to_json()).unwrap();
        expect![[r#"
            {
              "session": "op-0000000000000001",
              "title": "acme:support/desk.route-message",
              "created_at_ms": 1796046138000,
              "status": "empty",
              "usage": null,
              "runs": [],
              "base": null,
              "nodes": [
                {
                  "seq": 4,
                  "id": "n-0000000000000004",
                  "kind": "code",
                  "name": "bank:pay/out.send",
                  "status": "failed",
                  "caller": "n-0000000000000003",
                  "predecessor": null,
                  "reads": [],
                  "input": {},
                  "output": null,
                  "failure": {
                    "code": "function-failed",
                    "message": "`bank:pay/out.send` failed",
                    "details": {
                      "error": {
                        "closed": true
                      }
                    }
                  },
                  "expose": "io",
                  "render_range": {
                    "callers": null,
                    "subcalls": -1
                  },
                  "doc": null,
                  "facts": {},
                  "usage": null,
                  "attempts": [],
                  "started_at_ms": 1796046138004,
                  "finished_at_ms": 1796046138016
                }
              ]
            }"#]]
        .assert_eq(&document);
    }
}
