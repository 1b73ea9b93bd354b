//! How much a frame reads: `callers` before it started, `subcalls` since.

use expect_test::{Expect, expect};
use pollster::block_on;

use super::{Graph, node_id, session_id, shown_read};
use crate::context::{FrameView, read_context};
use crate::function::Expose::{Full, Hidden, Io};
use crate::function::RenderRange;
use crate::session::StoreError;

/// Before the frame: a word, a hidden call with a turn, a reply. Since: two turns around a call
/// that is hidden and one that is not, and a turn that still runs.
fn session() -> (Graph, u64) {
    let mut graph = Graph::new();
    graph.user("one");
    let hidden = graph.call(None, "hidden", Hidden);
    graph.turn(Some(hidden), "hidden says");
    graph.turn(None, "four");
    let frame = graph.running_call(None, "frame", Io);
    graph.turn(Some(frame), "six");
    graph.call(Some(frame), "seven", Io);
    let hidden = graph.call(Some(frame), "hidden", Hidden);
    graph.turn(Some(hidden), "hidden says");
    graph.turn(Some(frame), "ten");
    graph.running_turn(Some(frame));
    (graph, frame)
}

fn check(callers: Option<u64>, subcalls: Option<u64>, expected: Expect) {
    let (graph, frame) = session();
    expected.assert_eq(&shown_read(&graph.read(Some(frame), callers, subcalls)));
}

#[test]
fn callers_counts_every_node_before_the_frame() {
    check(
        None,
        Some(0),
        expect![[r#"
        user: one
        assistant: four
        reads 1 4
    "#]],
    );
    check(
        Some(0),
        Some(0),
        expect![[r#"
        reads 
    "#]],
    );
    check(
        Some(1),
        Some(0),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: four
        reads 4
    "#]],
    );
    // The hidden ones are counted and not shown.
    check(
        Some(2),
        Some(0),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: four
        reads 4
    "#]],
    );
    check(
        Some(3),
        Some(0),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: four
        reads 4
    "#]],
    );
    check(
        Some(4),
        Some(0),
        expect![[r#"
        user: one
        assistant: four
        reads 1 4
    "#]],
    );
    check(
        Some(u64::MAX),
        Some(0),
        expect![[r#"
        user: one
        assistant: four
        reads 1 4
    "#]],
    );
}

#[test]
fn subcalls_counts_what_is_shown_of_the_frames_own_work() {
    check(
        Some(0),
        None,
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: six
        user: Call: seven({}) / Result: result of seven
        assistant: ten
        reads 6 7 10
    "#]],
    );
    check(
        Some(0),
        Some(1),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: ten
        reads 10
    "#]],
    );
    // Neither the running turn nor the hidden call is counted.
    check(
        Some(0),
        Some(2),
        expect![[r#"
        user: Call: seven({}) / Result: result of seven
        assistant: ten
        reads 7 10
    "#]],
    );
    check(
        Some(0),
        Some(3),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: six
        user: Call: seven({}) / Result: result of seven
        assistant: ten
        reads 6 7 10
    "#]],
    );
    check(
        Some(0),
        Some(u64::MAX),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: six
        user: Call: seven({}) / Result: result of seven
        assistant: ten
        reads 6 7 10
    "#]],
    );
}

#[test]
fn both_ranges_hold_at_once() {
    check(
        None,
        None,
        expect![[r#"
        user: one
        assistant: four
         + six
        user: Call: seven({}) / Result: result of seven
        assistant: ten
        reads 1 4 6 7 10
    "#]],
    );
    check(
        Some(1),
        Some(1),
        expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: four
         + ten
        reads 4 10
    "#]],
    );
}

#[test]
fn a_chat_turn_has_nothing_before_it() {
    let (graph, _) = session();
    let all = shown_read(&graph.read(None, None, None));
    for callers in [0, 3] {
        assert_eq!(shown_read(&graph.read(None, Some(callers), None)), all);
    }
    expect![[r#"
        user: one
        assistant: four
        user: Call: frame({}) / No result yet: it still runs, or it was interrupted and its outcome is unknown.
        reads 1 4 5
    "#]].assert_eq(&all);
    expect![[r#"
        user: Call: frame({}) / No result yet: it still runs, or it was interrupted and its outcome is unknown.
        reads 5
    "#]].assert_eq(&shown_read(&graph.read(None, None, Some(1))));
    expect![[r#"
        reads 
    "#]]
    .assert_eq(&shown_read(&graph.read(None, None, Some(0))));
}

#[test]
fn a_running_caller_is_one_of_the_nodes_before_the_frame() {
    let mut graph = Graph::new();
    graph.user("please");
    let outer = graph.running_call(None, "outer", Hidden);
    let inner = graph.running_call(Some(outer), "inner", Io);
    expect![[r#"
        user: Call: outer({}) / It runs now; this turn is part of it.
        reads 2
    "#]]
    .assert_eq(&shown_read(&graph.read(Some(inner), Some(1), None)));
    expect![[r#"
        reads 
    "#]]
    .assert_eq(&shown_read(&graph.read(Some(inner), Some(0), None)));
}

#[test]
fn the_last_few_are_found_behind_many_that_are_not_shown() {
    let mut graph = Graph::new();
    let frame = graph.running_call(None, "frame", Full);
    graph.turn(Some(frame), "first");
    graph.turn(Some(frame), "second");
    for _ in 0..100 {
        graph.running_turn(Some(frame));
        let quiet = graph.call(Some(frame), "quiet", Hidden);
        graph.turn(Some(quiet), "not heard");
    }
    expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: second
        reads 3
    "#]]
    .assert_eq(&shown_read(&graph.read(Some(frame), None, Some(1))));
    expect![[r#"
        user: (What follows was written earlier in this work.)
        assistant: first
         + second
        reads 2 3
    "#]]
    .assert_eq(&shown_read(&graph.read(Some(frame), None, Some(3))));
}

#[test]
fn a_frame_does_not_read_what_others_write_beside_it() {
    let mut graph = Graph::new();
    let outer = graph.running_call(None, "outer", Io);
    let turn = graph.turn(Some(outer), "outer says");
    let one = graph.running_call(Some(turn), "one", Full);
    let other = graph.running_call(Some(turn), "other", Full);
    graph.turn(Some(one), "one says");
    graph.turn(Some(other), "other says");
    let below = graph.call(Some(one), "below", Full);
    graph.turn(Some(below), "below says");
    graph.turn(Some(outer), "outer says meanwhile");

    expect![[r#"
        user: Call: outer({}) / It runs now; this turn is part of it.
        assistant: outer says
         + one says
        user: Call: below({}) / Result: result of below
        assistant: below says
        reads 1 2 5 7 8
    "#]]
    .assert_eq(&shown_read(&graph.read(Some(one), None, None)));
    expect![[r#"
        user: Call: outer({}) / It runs now; this turn is part of it.
        assistant: outer says
        user: Call: one({}) / No result yet: it still runs, or it was interrupted and its outcome is unknown.
        assistant: other says
        reads 1 2 3 6
    "#]].assert_eq(&shown_read(&graph.read(Some(other), None, None)));
    expect![[r#"
        user: Call: below({}) / Result: result of below
        assistant: below says
        reads 7 8
    "#]]
    .assert_eq(&shown_read(&graph.read(Some(one), Some(0), Some(2))));
}

#[test]
fn a_frame_that_does_not_exist_is_named() {
    let (graph, _) = session();
    let view = FrameView {
        session: session_id(),
        frame: Some(node_id(99)),
        range: RenderRange::default(),
        hidden: Vec::new(),
    };
    let refused = block_on(read_context(&graph.store, &view));
    assert!(matches!(refused, Err(StoreError::NoNode(id)) if id == node_id(99)));
}
