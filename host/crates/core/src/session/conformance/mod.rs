//! The suite that every session store must pass.
//!
//! A store runs [`check_store`] in its own tests; one whose handles share a database over several
//! connections or processes runs [`check_shared`] as well. Each rule is one function of `read` or
//! `write`.

mod archive;
mod read;
mod sample;
mod whole;
mod write;

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use self::sample::{end, fail, node, session};
use super::node::{Node, NodeKind};
use super::store::{NodeQuery, SessionArchive, SessionStore};
use crate::id::NodeId;

/// How many nodes each of the writers appends that write at the same time.
const APPENDS_EACH: u64 = 50;

/// Checks one kind of store; `make` gives a new empty one.
///
/// # Panics
/// When the store breaks a rule.
pub async fn check_store<S: SessionStore>(make: impl Fn() -> S) {
    write::sessions_are_kept_and_listed_newest_first(&make()).await;
    write::a_node_comes_back_as_it_was_written(&make()).await;
    write::seq_counts_from_one_in_each_session(&make()).await;
    write::an_append_is_refused_as_a_whole(&make()).await;
    write::edges_stay_inside_the_session(&make()).await;
    write::a_closed_node_never_changes(&make()).await;
    read::queries_combine(&make()).await;
    read::what_does_not_exist_is_named(&make()).await;
    read::nodes_are_seen_in_their_scope(&make()).await;
    read::a_chain_leads_to_the_top(&make()).await;
    let store = make();
    check_shared(&[&store, &store, &store, &store]);
}

/// Checks what one kind of store does to sessions as a whole; `make` gives a new empty one.
///
/// # Panics
/// When the store breaks a rule.
pub async fn check_archive<S: SessionArchive>(make: impl Fn() -> S) {
    archive::a_fork_reads_its_base_and_goes_on_alone(&make()).await;
    archive::a_fork_reads_what_ran_as_open(&make()).await;
    archive::forks_stand_on_forks(&make()).await;
    archive::what_cannot_be_forked_is_named(&make()).await;
    archive::a_deleted_session_is_gone(&make()).await;
    whole::a_text_is_found_newest_first(&make()).await;
    whole::sizes_grow_and_the_longest_untouched_comes_first(&make()).await;
    whole::a_session_is_imported_whole_or_not_at_all(&make()).await;
}

/// Checks that several handles on the same empty store append side by side without loss, each
/// from a thread of its own.
///
/// # Panics
/// When a node is lost, stands twice, or `seq` has a gap.
pub fn check_shared<S: SessionStore>(handles: &[&S]) {
    let session = session(1, 0);
    wait_for(handles[0].create_session(session.clone())).unwrap_or_else(fail);

    let writers = handles.len() as u64;
    std::thread::scope(|threads| {
        for (writer, handle) in (0..writers).zip(handles) {
            threads.spawn(move || {
                let mut last = 0;
                for n in 0..APPENDS_EACH {
                    let node = node(1, writer * APPENDS_EACH + n, NodeKind::Llm);
                    let id = node.id.clone();
                    // Half of them are opened first, so that closing is mixed in.
                    let seq = if n % 2 == 0 {
                        wait_for(handle.append_node(node, end("at once"))).unwrap_or_else(fail)
                    } else {
                        let seq = wait_for(handle.open_node(node)).unwrap_or_else(fail);
                        wait_for(handle.close_node(&id, end("later"))).unwrap_or_else(fail);
                        seq
                    };
                    assert!(seq > last, "the order of one writer is kept");
                    last = seq;
                }
            });
        }
    });

    for handle in handles {
        let nodes = wait_for(handle.nodes(&session.id, NodeQuery::default()));
        let nodes = nodes.unwrap_or_else(fail);
        let seqs: Vec<u64> = nodes.iter().map(|node| node.seq).collect();
        let expected: Vec<u64> = (1..=writers * APPENDS_EACH).collect();
        assert_eq!(seqs, expected, "seq has no gap and no number twice");
        let mut ids: Vec<NodeId> = nodes.into_iter().map(|node| node.opened.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), expected.len(), "every node is there once");
    }
}

/// Runs one future to its end on this thread.
fn wait_for<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Nodes that careless readers and writers change: every kind, status, edge and rare value.
#[must_use]
pub fn varied_nodes() -> Vec<Node> {
    let mut nodes = Vec::new();
    for (seq, kind) in (1..).zip([NodeKind::User, NodeKind::User, NodeKind::Llm]) {
        nodes.push(Node {
            seq,
            opened: node(1, seq, kind),
            end: Some(end("done")),
        });
    }
    nodes.push(Node {
        seq: 4,
        opened: sample::full_node(),
        end: Some(sample::full_end()),
    });
    let mut null = sample::full_end();
    null.output = Some(crate::Json::Null);
    nodes.push(Node {
        seq: 5,
        opened: node(1, 5, NodeKind::Code),
        end: Some(null),
    });
    let mut nothing = end("");
    nothing.output = None;
    nodes.push(Node {
        seq: 6,
        opened: node(1, 6, NodeKind::Code),
        end: Some(nothing),
    });
    nodes.push(Node {
        seq: 7,
        opened: node(1, 7, NodeKind::Llm),
        end: None,
    });
    nodes
}
