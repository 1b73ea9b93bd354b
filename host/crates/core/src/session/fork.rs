//! Forks: sessions that go on from a place in another one.
//!
//! A fork holds no copy of what came before it. It names its base and a place in the order, reads
//! the nodes of its base up to there as its own, and counts on from there.

use std::collections::HashSet;

use super::node::Node;
use super::store::StoreError;
use crate::id::{NodeId, SessionId, Timestamp};

/// How many forks may stand on each other; each costs every read a look at one session more.
pub const FORK_DEPTH_MAX: usize = 32;

/// Where a fork goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The session that it goes on from, which may be a fork as well.
    pub session: SessionId,
    /// The last node of it that the fork reads.
    pub seq: u64,
    /// Nodes up to `seq` that had not ended there, ascending. However they ended later, the fork
    /// reads them as open: what came of them belongs to the other branch.
    pub open: Vec<u64>,
}

/// A place in a session to fork at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkPoint {
    /// When the node of this `seq` had ended, with all that it caused.
    After(u64),
    /// Right before the node of this `seq` was opened.
    Before(u64),
}

/// What a store tells of a node so that the base of a fork can be found.
#[derive(Clone, Debug)]
pub struct ForkStep {
    /// Its place in the order.
    pub seq: u64,
    /// Its id.
    pub id: NodeId,
    /// The node that caused it.
    pub caller: Option<NodeId>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed; `None` while it is open.
    pub finished_at: Option<Timestamp>,
}

impl ForkStep {
    /// What is told of a node.
    #[must_use]
    pub fn of(node: &Node) -> Self {
        Self {
            seq: node.seq,
            id: node.opened.id.clone(),
            caller: node.opened.caller.clone(),
            started_at: node.opened.started_at,
            finished_at: node.end.as_ref().map(|end| end.finished_at),
        }
    }
}

impl Base {
    /// The base of a fork of `session` at `point`. `steps` are all nodes of that session, ascending.
    ///
    /// A fork before the first node reads nothing: its `seq` is 0.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn of(
        session: &SessionId,
        steps: &[ForkStep],
        point: ForkPoint,
    ) -> Result<Self, StoreError> {
        let (ForkPoint::After(at) | ForkPoint::Before(at)) = point;
        let index = at
            .checked_sub(1)
            .and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| Some((index, steps.get(index)?)));
        let (index, node) = found.ok_or_else(|| StoreError::NoPlace {
            session: session.clone(),
            seq: at,
        })?;
        let (seq, moment) = match point {
            ForkPoint::Before(_) => (at - 1, node.started_at),
            ForkPoint::After(_) => (
                last_below(steps, index),
                node.finished_at.unwrap_or(node.started_at),
            ),
        };
        let kept = steps.iter().take_while(|step| step.seq <= seq);
        // What runs around a node has not ended when the node has, even in the same millisecond.
        let around = around(steps, node);
        let is_open = |step: &&ForkStep| {
            let ended = step.finished_at;
            around.contains(&step.id) || ended.is_none_or(|ended| ended > moment)
        };
        Ok(Self {
            session: session.clone(),
            seq,
            open: kept.filter(is_open).map(|step| step.seq).collect(),
        })
    }
}

/// The last `seq` of the node at `index` and of everything that it caused.
fn last_below(steps: &[ForkStep], index: usize) -> u64 {
    let mut family = HashSet::from([&steps[index].id]);
    let mut last = steps[index].seq;
    for step in &steps[index + 1..] {
        if step
            .caller
            .as_ref()
            .is_some_and(|caller| family.contains(caller))
        {
            family.insert(&step.id);
            last = step.seq;
        }
    }
    last
}

/// Everything that a node was caused by.
fn around<'a>(steps: &'a [ForkStep], node: &ForkStep) -> HashSet<&'a NodeId> {
    let mut around = HashSet::new();
    let mut wanted = node.caller.as_ref();
    // A caller is older than what it causes.
    for step in steps.iter().rev().skip_while(|step| step.seq >= node.seq) {
        if wanted == Some(&step.id) {
            around.insert(&step.id);
            wanted = step.caller.as_ref();
        }
    }
    around
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes as `caller started finished`, `-` for none; their ids are their places.
    fn steps(lines: &[(u64, i64, i64)]) -> Vec<ForkStep> {
        let steps = (1..)
            .zip(lines)
            .map(|(seq, (caller, started, finished))| ForkStep {
                seq,
                id: NodeId::from_bits(seq),
                caller: (*caller > 0).then(|| NodeId::from_bits(*caller)),
                started_at: Timestamp(*started),
                finished_at: (*finished > 0).then_some(Timestamp(*finished)),
            });
        steps.collect()
    }

    fn check(point: ForkPoint, seq: u64, open: &[u64]) {
        // A turn (1), a call of two nodes below it (2 to 4), a turn (5), a call that runs beside
        // it (6) and what stands below (7).
        let steps = steps(&[
            (0, 1, 2),
            (0, 3, 9),
            (2, 4, 5),
            (2, 6, 9),
            (0, 10, 14),
            (0, 11, 0),
            (5, 12, 13),
        ]);
        let base = Base::of(&SessionId::from_bits(1), &steps, point).unwrap();
        assert_eq!((base.seq, base.open.as_slice()), (seq, open), "{point:?}");
    }

    #[test]
    fn a_fork_reads_what_had_happened_when_its_node_had_ended() {
        check(ForkPoint::After(1), 1, &[]);
        // With all that the call caused.
        check(ForkPoint::After(2), 4, &[]);
        // Inside the call it still ran, also when both ended in the same millisecond.
        check(ForkPoint::After(3), 3, &[2]);
        check(ForkPoint::After(4), 4, &[2]);
        // What ran beside it had not ended.
        check(ForkPoint::After(5), 7, &[6]);
        check(ForkPoint::After(7), 7, &[5, 6]);
        check(ForkPoint::Before(1), 0, &[]);
        check(ForkPoint::Before(2), 1, &[]);
        check(ForkPoint::Before(4), 3, &[2]);
        check(ForkPoint::Before(6), 5, &[5]);
    }

    #[test]
    fn a_place_that_is_not_there_is_named() {
        let steps = steps(&[(0, 1, 2)]);
        for point in [
            ForkPoint::After(0),
            ForkPoint::Before(0),
            ForkPoint::After(2),
            ForkPoint::Before(u64::MAX),
        ] {
            let base = Base::of(&SessionId::from_bits(1), &steps, point);
            assert!(matches!(base, Err(StoreError::NoPlace { .. })), "{point:?}");
        }
    }
}
