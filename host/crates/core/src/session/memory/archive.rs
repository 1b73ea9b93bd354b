//! What is done to whole sessions of the memory store.

use async_trait::async_trait;

use super::{Held, MemoryStore};
use crate::id::SessionId;
use crate::session::{
    Base, FORK_DEPTH_MAX, ForkPoint, ForkStep, Node, Session, SessionArchive, SessionSize,
    StoreError, json_inside,
};

#[async_trait]
impl SessionArchive for MemoryStore {
    async fn fork_session(
        &self,
        fork: Session,
        from: &SessionId,
        point: ForkPoint,
    ) -> Result<(), StoreError> {
        if fork.base.is_some() {
            return Err(StoreError::IsFork(fork.id));
        }
        let mut state = self.state();
        let branch = state.branch(from)?;
        if branch.parts.len() > FORK_DEPTH_MAX {
            return Err(StoreError::TooManyForks(from.clone()));
        }
        let steps = branch
            .held()
            .map(|held| ForkStep::of(&branch.read(&held.node)));
        let steps: Vec<ForkStep> = steps.collect();
        let base = Base::of(from, &steps, point)?;
        state.create(Session {
            base: Some(base),
            ..fork
        })
    }

    async fn import_session(&self, session: Session, nodes: Vec<Node>) -> Result<(), StoreError> {
        if session.base.is_some() {
            return Err(StoreError::IsFork(session.id));
        }
        let mut state = self.state();
        let id = session.id.clone();
        state.create(session)?;
        for (seq, mut node) in (1..).zip(nodes) {
            node.opened.session = id.clone();
            let written = if node.seq == seq {
                state.append(node.opened, node.end).map(|_| ())
            } else {
                let node = node.opened.id;
                Err(StoreError::OutOfOrder { node, seq })
            };
            if let Err(error) = written {
                state.delete(&id)?;
                return Err(error);
            }
        }
        Ok(())
    }

    async fn search(
        &self,
        text: &str,
        session: Option<&SessionId>,
        limit: u64,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let state = self.state();
        let branch = session.map(|id| state.branch(id)).transpose()?;
        let held: Vec<&Held> = match &branch {
            Some(branch) => branch.held().collect(),
            None => state
                .sessions
                .values()
                .flat_map(|graph| &graph.nodes)
                .collect(),
        };
        let name = text.to_ascii_lowercase();
        let inside = json_inside(&name);
        let found = held
            .into_iter()
            .rev()
            .filter(|held| held.says(&name, &inside));
        let found = found.map(|held| (held.node.opened.session.clone(), held.node.seq));
        Ok(found
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect())
    }

    async fn sizes(&self) -> Result<Vec<SessionSize>, StoreError> {
        let state = self.state();
        let sizes = state.sessions.values().map(|graph| {
            let opened = graph.nodes.iter().map(|held| held.node.opened.started_at);
            SessionSize {
                session: graph.session.id.clone(),
                bytes: graph.nodes.iter().map(Held::bytes).sum(),
                touched_at: opened.max().unwrap_or(graph.session.created_at),
            }
        });
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_by_key(|size| size.touched_at);
        Ok(sizes)
    }

    async fn delete_session(&self, id: &SessionId) -> Result<(), StoreError> {
        self.state().delete(id)
    }
}

impl Held {
    /// Whether its name holds one text or a value the other, both in small letters.
    fn says(&self, name: &str, inside: &str) -> bool {
        let output = self.node.end.as_ref().and_then(|end| end.output.as_ref());
        let values = [Some(&self.node.opened.input), output]
            .into_iter()
            .flatten();
        let mut values = values.map(|value| value.to_string().to_ascii_lowercase());
        let own = self.node.opened.name.to_ascii_lowercase();
        own.contains(name) || values.any(|value| value.contains(inside))
    }

    /// About how much it takes.
    fn bytes(&self) -> u64 {
        let opened = &self.node.opened;
        let end = self.node.end.as_ref();
        let output = end.and_then(|end| end.output.as_ref());
        let values = [Some(&opened.input), output].into_iter().flatten();
        let values: usize = values.map(|value| value.to_string().len()).sum();
        (values + opened.name.len() + opened.doc.as_ref().map_or(0, String::len)) as u64
    }
}
