//! Each expose, seen from each place.

use expect_test::{Expect, expect};
use serde_json::json;

use super::{Graph, said, shown_read};
use crate::function::Expose::{self, Full, Hidden, Io, Llm};
use crate::session::{CallAnswer, NodeKind};

/// The settings of the functions of one session.
#[derive(Clone, Copy)]
struct Exposes {
    sibling: Expose,
    frame: Expose,
    child: Expose,
    grandchild: Expose,
}

const ALL_IO: Exposes = Exposes {
    sibling: Io,
    frame: Io,
    child: Io,
    grandchild: Io,
};

/// A person's words, a call that is done, and a frame that made a turn and called a child that
/// called a grandchild. The last turn of the frame still runs.
fn session(exposes: Exposes) -> (Graph, u64) {
    let mut graph = Graph::new();
    graph.user("please");
    let sibling = graph.call(None, "sibling", exposes.sibling);
    graph.turn(Some(sibling), "sibling says");
    let nephew = graph.call(Some(sibling), "nephew", Io);
    graph.turn(Some(nephew), "nephew says");
    let frame = graph.running_call(None, "frame", exposes.frame);
    let first = graph.turn(Some(frame), "frame says");
    let child = graph.call(Some(first), "child", exposes.child);
    graph.turn(Some(child), "child says");
    let grandchild = graph.call(Some(child), "grandchild", exposes.grandchild);
    graph.turn(Some(grandchild), "grandchild says");
    graph.running_turn(Some(frame));
    (graph, frame)
}

fn check_from_frame(exposes: Exposes, expected: Expect) {
    let (graph, frame) = session(exposes);
    expected.assert_eq(&shown_read(&graph.read(Some(frame), None, None)));
}

fn check_from_chat(exposes: Exposes, expected: Expect) {
    let (graph, _) = session(exposes);
    expected.assert_eq(&shown_read(&graph.read(None, None, None)));
}

#[test]
fn calls_without_a_node_are_seen_as_those_of_functions_are() {
    // A chat, a function of it that called another one, and what each of them reads.
    for (exposed, readers, expected) in [
        (Full, "callers", "chat, frame, inside"),
        (Llm, "function", "frame, inside"),
        (Io, "callers", "frame, inside"),
        (Hidden, "callers", "frame, inside"),
    ] {
        let mut graph = Graph::new();
        let frame = graph.running_call(None, "frame", exposed);
        let first = graph.turn(Some(frame), "");
        let mut new = graph.node(NodeKind::Llm, "model", Some(frame));
        let mut answer = json!({
            "id": "a", "name": "own", "arguments": {}, "status": "completed", "output": 1
        });
        if readers != "callers" {
            answer["read_by"] = readers.into();
        }
        new.facts
            .insert(CallAnswer::FACT.to_owned(), json!([answer]));
        let second = graph.add(new, said("frame says"));
        let inside = graph.running_call(Some(second), "inside", Io);
        assert_eq!(first + 2, inside);
        let seen = [
            ("chat", None),
            ("frame", Some(frame)),
            ("inside", Some(inside)),
        ];
        let seen = seen.into_iter().filter(|(_, place)| {
            let read = shown_read(&graph.read(*place, None, None));
            read.contains("Call: own({}) / Result: 1")
        });
        let seen: Vec<_> = seen.map(|(name, _)| name).collect();
        assert_eq!(seen.join(", "), expected, "{exposed:?}");
    }
}

#[test]
fn a_frame_sees_its_own_turns_whatever_it_exposes() {
    let (io, frame) = session(ALL_IO);
    let expected = shown_read(&io.read(Some(frame), None, None));
    for frame in [Io, Llm, Full, Hidden] {
        let (graph, at) = session(Exposes { frame, ..ALL_IO });
        assert_eq!(
            shown_read(&graph.read(Some(at), None, None)),
            expected,
            "{frame:?}"
        );
    }
    check_from_frame(
        ALL_IO,
        expect![[r#"
        user: please
         + Call: sibling({}) / Result: result of sibling
        assistant: frame says
        user: Call: child({}) / Result: result of child
        reads 1 2 7 8
    "#]],
    );
}

#[test]
fn a_child_is_seen_as_it_is_exposed() {
    for (child, expected) in [
        (
            Io,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            reads 1 2 7 8
        "#]],
        ),
        (
            Llm,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
             + child says
            reads 1 2 7 9
        "#]],
        ),
        (
            Full,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            assistant: child says
            user: Call: grandchild({}) / Result: result of grandchild
            reads 1 2 7 8 9 10
        "#]],
        ),
        (
            Hidden,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            reads 1 2 7
        "#]],
        ),
    ] {
        check_from_frame(Exposes { child, ..ALL_IO }, expected);
    }
}

#[test]
fn a_grandchild_is_seen_through_a_full_child_as_it_is_exposed() {
    for (grandchild, expected) in [
        (
            Io,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            assistant: child says
            user: Call: grandchild({}) / Result: result of grandchild
            reads 1 2 7 8 9 10
        "#]],
        ),
        (
            Llm,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            assistant: child says
             + grandchild says
            reads 1 2 7 8 9 11
        "#]],
        ),
        (
            Full,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            assistant: child says
            user: Call: grandchild({}) / Result: result of grandchild
            assistant: grandchild says
            reads 1 2 7 8 9 10 11
        "#]],
        ),
        (
            Hidden,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            assistant: child says
            reads 1 2 7 8 9
        "#]],
        ),
    ] {
        let exposes = Exposes {
            child: Full,
            grandchild,
            ..ALL_IO
        };
        check_from_frame(exposes, expected);
    }
}

#[test]
fn a_grandchild_is_not_seen_through_any_other_child() {
    let from_frame = |child, grandchild| {
        let (graph, frame) = session(Exposes {
            child,
            grandchild,
            ..ALL_IO
        });
        shown_read(&graph.read(Some(frame), None, None))
    };
    for child in [Io, Llm, Hidden] {
        for grandchild in [Llm, Full, Hidden] {
            let seen = from_frame(child, grandchild);
            assert_eq!(seen, from_frame(child, Io), "{child:?} {grandchild:?}");
            assert!(!seen.contains("grandchild"), "{seen}");
        }
    }
}

#[test]
fn a_sibling_is_seen_as_it_is_exposed() {
    for (sibling, expected) in [
        (
            Io,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            user: Call: child({}) / Result: result of child
            reads 1 2 7 8
        "#]],
        ),
        (
            Llm,
            expect![[r#"
            user: please
            assistant: sibling says
             + frame says
            user: Call: child({}) / Result: result of child
            reads 1 3 7 8
        "#]],
        ),
        (
            Full,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: sibling says
            user: Call: nephew({}) / Result: result of nephew
            assistant: frame says
            user: Call: child({}) / Result: result of child
            reads 1 2 3 4 7 8
        "#]],
        ),
        (
            Hidden,
            expect![[r#"
            user: please
            assistant: frame says
            user: Call: child({}) / Result: result of child
            reads 1 7 8
        "#]],
        ),
    ] {
        check_from_frame(Exposes { sibling, ..ALL_IO }, expected);
    }
}

#[test]
fn a_chat_turn_sees_functions_as_they_are_exposed() {
    for (frame, child, expected) in [
        (
            Io,
            Io,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
             + Call: frame({}) / No result yet: it still runs, or it was interrupted and its outcome is unknown.
            reads 1 2 6
        "#]],
        ),
        (
            Llm,
            Io,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            assistant: frame says
            reads 1 2 7
        "#]],
        ),
        (
            Full,
            Io,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
             + Call: frame({}) / No result yet: it still runs, or it was interrupted and its outcome is unknown.
            assistant: frame says
            user: Call: child({}) / Result: result of child
            reads 1 2 6 7 8
        "#]],
        ),
        (
            Full,
            Full,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
             + Call: frame({}) / No result yet: it still runs, or it was interrupted and its outcome is unknown.
            assistant: frame says
            user: Call: child({}) / Result: result of child
            assistant: child says
            user: Call: grandchild({}) / Result: result of grandchild
            reads 1 2 6 7 8 9 10
        "#]],
        ),
        (
            Hidden,
            Full,
            expect![[r#"
            user: please
             + Call: sibling({}) / Result: result of sibling
            reads 1 2
        "#]],
        ),
    ] {
        let exposes = Exposes {
            frame,
            child,
            ..ALL_IO
        };
        check_from_chat(exposes, expected);
    }
}

#[test]
fn a_child_sees_what_its_callers_did_whatever_they_expose() {
    let seen_under = |expose| {
        let mut graph = Graph::new();
        graph.user("please");
        let outer = graph.running_call(None, "outer", expose);
        let turn = graph.turn(Some(outer), "outer says");
        graph.call(Some(turn), "done", Io);
        let inner = graph.running_call(Some(outer), "inner", expose);
        graph.turn(Some(inner), "inner says");
        shown_read(&graph.read(Some(inner), None, None))
    };
    for expose in [Llm, Full, Hidden] {
        assert_eq!(seen_under(expose), seen_under(Io), "{expose:?}");
    }
    expect![[r#"
        user: please
         + Call: outer({}) / It runs now; this turn is part of it.
        assistant: outer says
        user: Call: done({}) / Result: result of done
        assistant: inner says
        reads 1 2 3 4 6
    "#]]
    .assert_eq(&seen_under(Io));
}
