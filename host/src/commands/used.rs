//! What a session and the runs in it used, as the graph has it: tokens, and what each call cost.

use std::collections::HashMap;

use openprogram_core::id::NodeId;
use openprogram_core::session::{Node, NodeKind, Usage};
use openprogram_core::{Json, JsonObject};

/// The tokens of a session, and of each run in it: of a function at the top with all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Of the whole session; `None` when no provider told any.
    pub(super) session: Option<Usage>,
    runs: HashMap<NodeId, Usage>,
}

impl Used {
    /// Sums up what the model requests among the nodes used. Callers stand before what they call.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut used = Self::default();
        let mut tops: HashMap<&NodeId, &NodeId> = HashMap::new();
        for node in nodes {
            let opened = &node.opened;
            let above = opened.caller.as_ref().and_then(|caller| tops.get(caller));
            let top = match (above, opened.kind) {
                (Some(top), _) => Some(*top),
                (None, NodeKind::Code) if opened.caller.is_none() => Some(&opened.id),
                (None, _) => None,
            };
            if let Some(top) = top {
                tops.insert(&opened.id, top);
            }
            let Some(usage) = node.end.as_ref().and_then(|end| end.usage) else {
                continue;
            };
            used.session = Some(used.session.unwrap_or_default().plus(usage));
            if let Some(top) = top {
                let run = used.runs.entry(top.clone()).or_default();
                *run = run.plus(usage);
            }
        }
        used
    }

    /// The tokens of the run that begins with a node.
    pub(super) fn run(&self, top: &NodeId) -> Option<&Usage> {
        self.runs.get(top)
    }
}

/// Tokens for programs; null for those that nobody told.
pub(super) fn usage_to_json(usage: Option<&Usage>) -> Json {
    usage.map_or(Json::Null, Usage::to_json)
}

/// What one call cost, on one line; `None` for what is no call of a component.
pub(super) fn report_line(facts: &JsonObject) -> Option<String> {
    let count = |key: &str| facts.get(key).and_then(Json::as_u64);
    let (computing, whole) = (count("cpu_us")?, count("wall_us")?);
    let mut parts = vec![
        format!("{} computing", milliseconds(computing)),
        format!("{} in all", milliseconds(whole)),
    ];
    if let Some(bytes) = count("memory_bytes") {
        parts.push(format!("{} memory", size(bytes)));
    }
    match count("host_calls") {
        None => {}
        Some(1) => parts.push("1 call of the host".to_owned()),
        Some(calls) => parts.push(format!("{calls} calls of the host")),
    }
    for (key, what) in [
        ("egress_bytes", "sent"),
        ("ingress_bytes", "received"),
        ("written_bytes", "written"),
        ("log_bytes", "logged"),
    ] {
        if let Some(bytes) = count(key) {
            parts.push(format!("{} {what}", size(bytes)));
        }
    }
    Some(parts.join(", "))
}

/// Microseconds as people read them: `0.4 ms`, `1200 ms`.
fn milliseconds(us: u64) -> String {
    match us {
        0..10_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        _ => format!("{} ms", us / 1_000),
    }
}

/// Bytes as people read them: `6 B`, `64 KiB`, `1.5 MiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::{Expose, RenderRange};
    use openprogram_core::id::{SessionId, Timestamp};
    use openprogram_core::session::{NewNode, NodeEnd, NodeStatus};
    use serde_json::json;

    use super::*;

    /// A node: number, caller, kind, and tokens where they were told.
    fn node((id, caller, kind, tokens): (u64, u64, NodeKind, Option<u64>)) -> Node {
        Node {
            seq: id,
            opened: NewNode {
                id: NodeId::from_bits(id),
                session: SessionId::from_bits(1),
                kind,
                name: "n".to_owned(),
                caller: (caller > 0).then(|| NodeId::from_bits(caller)),
                predecessor: None,
                reads: Vec::new(),
                input: Json::Null,
                expose: Expose::Io,
                render_range: RenderRange::default(),
                doc: None,
                facts: JsonObject::new(),
                started_at: Timestamp(0),
            },
            end: Some(NodeEnd {
                status: NodeStatus::Completed,
                output: None,
                failure: None,
                usage: tokens.map(|input_tokens| Usage {
                    input_tokens,
                    output_tokens: 1,
                    ..Usage::default()
                }),
                attempts: Vec::new(),
                facts: JsonObject::new(),
                finished_at: Timestamp(0),
            }),
        }
    }

    #[test]
    fn tokens_are_summed_for_the_session_and_for_each_run_in_it() {
        use NodeKind::{Code, Llm, User};
        let nodes = [
            (1, 0, User, None),
            (2, 0, Llm, Some(1_000)),
            (3, 2, Code, None),
            (4, 0, Code, None),
            (5, 4, Llm, Some(10)),
            (6, 5, Code, None),
            (7, 6, Llm, Some(20)),
            (8, 0, Code, None),
            (9, 8, Llm, None),
        ];
        let used = Used::of(&nodes.map(node));
        let run = |id: u64| used.run(&NodeId::from_bits(id)).map(|u| u.input_tokens);
        assert_eq!(
            used.session.map(|u| (u.input_tokens, u.output_tokens)),
            Some((1_030, 3))
        );
        let runs = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(run);
        let expected = [None, None, None, Some(30), None, None, None, None, None];
        assert_eq!(runs, expected);
        assert_eq!(Used::of(&[]), Used::default());
    }

    #[test]
    fn what_a_call_cost_stands_on_one_line() {
        let line = |facts: Json| report_line(facts.as_object().unwrap());
        assert_eq!(line(json!({})), None);
        assert_eq!(
            line(json!({"cpu_us": 420, "wall_us": 12_345, "memory_bytes": 65_536})).as_deref(),
            Some("0.4 ms computing, 12 ms in all, 64 KiB memory")
        );
        let all = json!({
            "cpu_us": 1, "wall_us": 2, "memory_bytes": 1_572_864, "host_calls": 2,
            "egress_bytes": 10, "ingress_bytes": 2_048, "written_bytes": 3, "log_bytes": 6,
        });
        assert_eq!(
            line(all).as_deref(),
            Some(
                "0.0 ms computing, 0.0 ms in all, 1.5 MiB memory, 2 calls of the host, 10 B sent, \
                 2 KiB received, 3 B written, 6 B logged"
            )
        );
    }
}
