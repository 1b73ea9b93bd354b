//! The rules on random sessions, against a plain reading of them.

use proptest::prelude::*;

use super::{Graph, node_id};
use crate::content::{Message, Role};
use crate::function::Expose;
use crate::id::NodeId;
use crate::session::NodeKind;

/// One node of a random session.
#[derive(Clone, Debug)]
struct Plan {
    kind: NodeKind,
    expose: Expose,
    /// The place of the caller among the nodes before it; none of them is the top.
    caller: prop::sample::Index,
    ended: bool,
}

fn plan() -> impl Strategy<Value = Plan> {
    let kind = prop_oneof![
        1 => Just(NodeKind::User),
        4 => Just(NodeKind::Llm),
        5 => Just(NodeKind::Code),
    ];
    let expose = prop_oneof![
        3 => Just(Expose::Io),
        2 => Just(Expose::Llm),
        3 => Just(Expose::Full),
        1 => Just(Expose::Hidden),
    ];
    let parts = (
        kind,
        expose,
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.8),
    );
    parts.prop_map(|(kind, expose, caller, ended)| Plan {
        kind,
        expose,
        caller,
        ended,
    })
}

/// A session as the oracle knows it; the node of `seq` stands at the index before it.
struct Known {
    kind: NodeKind,
    expose: Expose,
    caller: Option<u64>,
    ended: bool,
}

fn build(plans: &[Plan]) -> (Graph, Vec<Known>) {
    let mut graph = Graph::new();
    let mut known = Vec::new();
    for (n, plan) in plans.iter().enumerate() {
        let caller = match plan.caller.index(n + 1) {
            0 => None,
            seq => Some(seq as u64),
        };
        let text = format!("<{}>", n + 1);
        let mut node = graph.node(plan.kind, &text, caller);
        node.expose = plan.expose;
        if plan.kind == NodeKind::User {
            node.input = text.clone().into();
        }
        let output = if plan.kind == NodeKind::Llm {
            &text
        } else {
            ""
        };
        graph.add(node, super::said(output).filter(|_| plan.ended));
        known.push(Known {
            kind: plan.kind,
            expose: plan.expose,
            caller,
            ended: plan.ended,
        });
    }
    (graph, known)
}

/// A node and its callers, innermost first.
fn chain(known: &[Known], seq: u64) -> Vec<u64> {
    let mut chain = vec![seq];
    while let Some(caller) = known[chain[chain.len() - 1] as usize - 1].caller {
        chain.push(caller);
    }
    chain
}

/// Whether a node is seen from inside `running`, by the words of the rules.
fn is_seen(known: &[Known], running: &[u64], seq: u64) -> bool {
    let node = &known[seq as usize - 1];
    if running.contains(&seq) {
        return true;
    }
    if node.kind == NodeKind::Code && matches!(node.expose, Expose::Hidden | Expose::Llm) {
        return false;
    }
    let mut is_own_turn = node.kind == NodeKind::Llm;
    for above in chain(known, seq).into_iter().skip(1) {
        if running.contains(&above) {
            return true;
        }
        let above = &known[above as usize - 1];
        if above.kind != NodeKind::Code {
            is_own_turn &= above.kind == NodeKind::Llm || node.kind == NodeKind::Llm;
            continue;
        }
        match above.expose {
            Expose::Io | Expose::Hidden => return false,
            Expose::Llm if !is_own_turn => return false,
            Expose::Llm | Expose::Full => {}
        }
        // Further up it is something below a call.
        is_own_turn = false;
    }
    true
}

/// What a frame reads, by the words of the rules.
fn oracle(
    known: &[Known],
    frame: Option<u64>,
    callers: Option<u64>,
    subcalls: Option<u64>,
) -> Vec<NodeId> {
    let running = frame.map_or_else(Vec::new, |frame| chain(known, frame));
    let says = |seq: &u64| {
        known[*seq as usize - 1].ended || known[*seq as usize - 1].kind != NodeKind::Llm
    };
    let seen = |seq: &u64| says(seq) && is_seen(known, &running, *seq);
    let all = 1..=known.len() as u64;

    let before = all
        .clone()
        .filter(|seq| frame.is_some_and(|frame| *seq < frame));
    let before: Vec<u64> = last(before.collect(), callers);
    let before = before.into_iter().filter(seen);
    let is_own =
        |seq: &u64| frame.is_none_or(|frame| *seq > frame && chain(known, *seq).contains(&frame));
    let since: Vec<u64> = last(all.filter(is_own).filter(seen).collect(), subcalls);
    before.chain(since).map(node_id).collect()
}

fn last(mut items: Vec<u64>, n: Option<u64>) -> Vec<u64> {
    let n = n.map_or(usize::MAX, |n| n as usize);
    items.drain(..items.len().saturating_sub(n));
    items
}

/// The nodes that messages show, by the marks in their texts.
fn marks(messages: &[Message]) -> Vec<NodeId> {
    let mut found = Vec::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        let text = block.as_text().unwrap();
        for part in text.split('<').skip(1) {
            let (seq, _) = part.split_once('>').unwrap();
            found.push(node_id(seq.parse().unwrap()));
        }
    }
    found
}

fn few() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), (0..20_u64).prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn frames_read_what_the_rules_say_and_show_what_they_read(
        plans in prop::collection::vec(plan(), 1..40),
        frame in any::<prop::sample::Index>(),
        callers in few(),
        subcalls in few(),
    ) {
        let (graph, known) = build(&plans);
        let functions: Vec<u64> = (1..=known.len() as u64)
            .filter(|seq| known[*seq as usize - 1].kind == NodeKind::Code)
            .collect();
        // The chat turn is one of the frames.
        let frame = match frame.index(functions.len() + 1) {
            0 => None,
            n => Some(functions[n - 1]),
        };
        let read = graph.read(frame, callers, subcalls);
        prop_assert_eq!(&read.reads, &oracle(&known, frame, callers, subcalls));

        prop_assert_eq!(&marks(&read.messages), &read.reads, "shown is read, in order, once");
        prop_assert!(read.reads.is_sorted(), "the order is seq");
        let wall = frame.filter(|_| callers == Some(0));
        prop_assert!(read.reads.iter().all(|id| wall.is_none_or(|frame| *id > node_id(frame))));

        let roles: Vec<Role> = read.finish("turn").iter().map(|message| message.role).collect();
        prop_assert_eq!((roles[0], roles[roles.len() - 1]), (Role::User, Role::User));
        prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "roles alternate");
    }

    #[test]
    fn callers_never_see_below_io_and_frames_always_see_their_own_turns(
        plans in prop::collection::vec(plan(), 1..40),
    ) {
        let (graph, known) = build(&plans);
        let is_function = |seq: u64| known[seq as usize - 1].kind == NodeKind::Code;
        let all = 1..=known.len() as u64;
        for frame in all.clone().filter(|seq| is_function(*seq)) {
            let running = chain(&known, frame);
            let reads = graph.read(Some(frame), None, None).reads;
            for seq in all.clone() {
                let is_read = reads.contains(&node_id(seq));
                let node = &known[seq as usize - 1];
                let own = node.caller == Some(frame) && node.kind == NodeKind::Llm && node.ended;
                prop_assert!(!own || is_read, "{} does not see its turn {}", frame, seq);
                let mut above = chain(&known, seq).into_iter().skip(1);
                let walled = above.any(|above| {
                    is_function(above)
                        && known[above as usize - 1].expose == Expose::Io
                        && !running.contains(&above)
                });
                prop_assert!(!(walled && is_read), "{} sees {} below io", frame, seq);
            }
        }
    }
}
