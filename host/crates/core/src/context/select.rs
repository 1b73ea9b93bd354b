//! Which nodes a frame reads.
//!
//! Three parts, in the order of `seq`: before the frame (`callers` counts every node written),
//! the frame's own node (never read), and since (`subcalls` counts what is shown). What other
//! frames write meanwhile belongs to none of them, so a frame that runs beside others reads the
//! same as one that runs alone.

use std::collections::HashMap;

use super::render;
use crate::function::RenderRange;
use crate::id::{NodeId, SessionId};
use crate::session::{NodeKind, NodeQuery, SeenNode, SessionStore, StoreError};

/// How many nodes are read at once when only the last few are wanted: some of them may have
/// nothing to show, and a second portion costs more than a few nodes too many.
const PORTION_MIN: u64 = 16;

/// Whose turn it is and how much it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameView {
    /// The session.
    pub session: SessionId,
    /// The node of the running function; `None` for a turn at the top, which sees the whole
    /// session as its own progress.
    pub frame: Option<NodeId>,
    /// How much it reads.
    pub range: RenderRange,
    /// Nodes that the frame wrote and does not read in this turn; they do not count in the range.
    pub hidden: Vec<NodeId>,
}

/// What [`select`] found.
#[derive(Debug)]
pub(super) struct Selected {
    /// The nodes to show, ascending by `seq`; each of them has something to show.
    pub(super) nodes: Vec<SeenNode>,
    /// The running functions and the turns between them, innermost first.
    pub(super) chain: Vec<SeenNode>,
    /// The functions among them.
    pub(super) inside: Vec<NodeId>,
}

pub(super) async fn select(
    store: &dyn SessionStore,
    view: &FrameView,
) -> Result<Selected, StoreError> {
    let chain = match &view.frame {
        Some(frame) => store.chain(&view.session, frame).await?,
        None => Vec::new(),
    };
    // Inside its own functions a chain sees everything: expose is for callers only.
    let functions = chain.iter().filter(|node| node.kind == NodeKind::Code);
    let reader = Reader {
        store,
        session: &view.session,
        hidden: &view.hidden,
        inside: functions.map(|node| node.id.clone()).collect(),
    };

    let mut nodes = Vec::new();
    if let Some(frame) = chain.first() {
        nodes = reader.before(frame.seq, view.range.callers).await?;
        nodes.retain(|node| render::is_shown(node, &reader.inside));
    }
    let since = reader.since(chain.first(), view.range.subcalls).await?;
    nodes.extend(since);
    let inside = reader.inside;
    Ok(Selected {
        nodes,
        chain,
        inside,
    })
}

struct Reader<'a> {
    store: &'a dyn SessionStore,
    session: &'a SessionId,
    hidden: &'a [NodeId],
    inside: Vec<NodeId>,
}

impl Reader<'_> {
    async fn read(&self, query: NodeQuery) -> Result<Vec<SeenNode>, StoreError> {
        self.store
            .seen_nodes(self.session, &self.inside, query)
            .await
    }

    /// What can be seen of the last `callers` nodes before `frame_seq`.
    async fn before(
        &self,
        frame_seq: u64,
        callers: Option<u64>,
    ) -> Result<Vec<SeenNode>, StoreError> {
        if callers == Some(0) {
            return Ok(Vec::new());
        }
        // `seq` has no gaps, so counting nodes is subtracting.
        let before_the_last = |n: u64| frame_seq.saturating_sub(1).saturating_sub(n);
        self.read(NodeQuery {
            after: callers.map(before_the_last),
            before: Some(frame_seq),
            last: None,
        })
        .await
    }

    /// The last `subcalls` nodes to show of those that the frame wrote.
    async fn since(
        &self,
        frame: Option<&SeenNode>,
        subcalls: Option<u64>,
    ) -> Result<Vec<SeenNode>, StoreError> {
        let wanted = subcalls.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let mut family = Family::new(frame);
        let mut found: Vec<SeenNode> = Vec::new();
        let mut query = NodeQuery {
            after: frame.map(|frame| frame.seq),
            before: None,
            last: subcalls.map(|n| n.max(PORTION_MIN)),
        };
        // Newest first, in growing portions, until enough are found.
        while found.len() < wanted {
            let nodes = self.read(query).await?;
            let Some(oldest) = nodes.first() else { break };
            let is_all = query
                .last
                .is_none_or(|portion| (nodes.len() as u64) < portion);
            query.before = Some(oldest.seq);
            query.last = query.last.map(|portion| portion.saturating_mul(2));

            family.meet(&nodes);
            for node in nodes.into_iter().rev() {
                if found.len() == wanted {
                    break;
                }
                let is_read =
                    render::is_shown(&node, &self.inside) && !self.hidden.contains(&node.id);
                if is_read && self.is_of(&mut family, &node).await? {
                    found.push(node);
                }
            }
            if is_all {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Whether a node stands below the frame.
    async fn is_of(&self, family: &mut Family, node: &SeenNode) -> Result<bool, StoreError> {
        let Some(frame) = &family.frame else {
            return Ok(true);
        };
        // Seen inside the frame only, so it is below it.
        if node.scope.as_ref() == Some(frame) {
            return Ok(true);
        }
        let Some(caller) = &node.caller else {
            return Ok(false);
        };
        if let Some(known) = family.known(caller) {
            return Ok(known);
        }
        let chain = self.store.chain(self.session, caller).await?;
        let is_below = chain.iter().any(|node| node.id == *frame);
        family.answers.insert(caller.clone(), is_below);
        Ok(is_below)
    }
}

/// What is known about who stands below the frame.
struct Family {
    frame: Option<NodeId>,
    /// The callers of the nodes met.
    callers: HashMap<NodeId, Option<NodeId>>,
    /// Answers that the store gave.
    answers: HashMap<NodeId, bool>,
}

impl Family {
    fn new(frame: Option<&SeenNode>) -> Self {
        Self {
            frame: frame.map(|frame| frame.id.clone()),
            callers: HashMap::new(),
            answers: HashMap::new(),
        }
    }

    fn meet(&mut self, nodes: &[SeenNode]) {
        // At the top everything is family, and nobody asks.
        if self.frame.is_some() {
            let callers = nodes
                .iter()
                .map(|node| (node.id.clone(), node.caller.clone()));
            self.callers.extend(callers);
        }
    }

    /// Whether a node is the frame or below it, if the nodes met tell.
    fn known(&self, id: &NodeId) -> Option<bool> {
        let mut id = id;
        loop {
            if self.frame.as_ref() == Some(id) {
                return Some(true);
            }
            if let Some(answer) = self.answers.get(id) {
                return Some(*answer);
            }
            match self.callers.get(id)? {
                Some(caller) => id = caller,
                None => return Some(false),
            }
        }
    }
}
