//! Opens and closes the nodes of a run.
//!
//! A node that was opened is closed whatever happens: a future that is dropped leaves its node to
//! the recorder, which closes it as cancelled. Only the end of the process leaves a node open.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use openprogram_core::JsonObject;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    Attempt, NewNode, NodeEnd, NodeQuery, NodeStatus, Session, SessionStore, StoreError,
};
use tokio::runtime::Handle;

use crate::sources::{Clock, Ids};

/// A title is what a list shows on one line.
const TITLE_CHARS_MAX: usize = 80;

/// Writes the session graph. A cheap handle; clones share the queue of abandoned nodes.
#[derive(Clone)]
pub(crate) struct Recorder {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// The session of all runs where nothing is kept.
    alone: OnceLock<SessionId>,
    /// Nodes whose futures were dropped, in the order in which they are to be closed.
    abandoned: Mutex<VecDeque<(NodeId, NodeEnd)>>,
    /// Held while the queue is worked off, so that closings keep their order.
    settling: tokio::sync::Mutex<()>,
}

/// An open node. Dropping it without closing it closes the node as cancelled.
#[must_use]
pub(crate) struct OpenNode {
    recorder: Recorder,
    id: NodeId,
    is_open: bool,
    /// The tries of a model request that have failed, whatever ends it.
    failed_tries: Mutex<Vec<Attempt>>,
    facts_if_cut_off: FactsIfCutOff,
}

/// What the record says of a node that is cut off, beside that it was. Whoever knows it puts it here
/// before the node is dropped.
#[derive(Clone, Default)]
pub(crate) struct FactsIfCutOff(Arc<Mutex<JsonObject>>);

impl FactsIfCutOff {
    pub(crate) fn put(&self, facts: JsonObject) {
        // One assignment leaves it whole.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = facts;
    }

    fn take(&self) -> JsonObject {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Recorder {
    pub(crate) fn new(
        store: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        let inner = Inner {
            store,
            clock,
            ids,
            alone: OnceLock::new(),
            abandoned: Mutex::default(),
            settling: tokio::sync::Mutex::new(()),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn store(&self) -> &dyn SessionStore {
        &*self.inner.store
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    pub(crate) fn new_node_id(&self) -> NodeId {
        NodeId::from_bits(self.inner.ids.bits())
    }

    /// The id of a session that begins. Where nothing is kept it is the same one every time: a key
    /// of the prompt cache, and nothing that anybody finds again.
    pub(crate) fn new_session_id(&self) -> SessionId {
        let new = || SessionId::from_bits(self.inner.ids.bits());
        if self.store().keeps() {
            return new();
        }
        self.inner.alone.get_or_init(new).clone()
    }

    /// The session or node of a run as outcomes name it: not at all where nothing is kept.
    pub(crate) fn kept<T>(&self, id: T) -> Option<T> {
        self.store().keeps().then_some(id)
    }

    /// Finds the session, or creates one with this title.
    pub(crate) async fn enter_session(
        &self,
        wanted: Option<SessionId>,
        title: &str,
    ) -> Result<SessionId, Failure> {
        match wanted {
            Some(id) => self.find_session(&id).await.map(|()| id),
            None => {
                let id = self.new_session_id();
                self.create_session(&id, title).await.map(|()| id)
            }
        }
    }

    /// Checks that a session is there.
    pub(crate) async fn find_session(&self, id: &SessionId) -> Result<(), Failure> {
        match self.store().session(id).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                let mut message = format!("there is no session `{id}`");
                if !self.store().keeps() {
                    message.push_str(": this runtime has no store, and records none");
                }
                Err(Failure::new(FailureCode::NotFound, message).with("session", id.as_str()))
            }
            Err(error) => Err(store_failure(&error)),
        }
    }

    /// Creates a session with this title, cut to one line of a list.
    pub(crate) async fn create_session(&self, id: &SessionId, title: &str) -> Result<(), Failure> {
        let session = Session {
            id: id.clone(),
            created_at: self.now(),
            title: title.chars().take(TITLE_CHARS_MAX).collect(),
            base: None,
        };
        let created = self.store().create_session(session).await;
        created.map_err(|error| store_failure(&error))
    }

    /// The newest node at the top of a session, which precedes the next one there.
    pub(crate) async fn newest_at_top(
        &self,
        session: &SessionId,
    ) -> Result<Option<NodeId>, Failure> {
        let newest = NodeQuery {
            last: Some(1),
            ..NodeQuery::default()
        };
        let found = self.store().nodes(session, newest).await;
        let mut nodes = found.map_err(|error| store_failure(&error))?;
        let Some(newest) = nodes.pop() else {
            return Ok(None);
        };
        // It may be deep inside a run.
        let chain = self.store().chain(session, &newest.opened.id).await;
        let chain = chain.map_err(|error| store_failure(&error))?;
        Ok(chain.last().map(|top| top.id.clone()))
    }

    /// Opens a node.
    pub(crate) async fn open(&self, node: NewNode) -> Result<OpenNode, Failure> {
        // The guard comes first: dropped while the store still writes, it closes the node after.
        let mut open = OpenNode {
            recorder: self.clone(),
            id: node.id.clone(),
            is_open: true,
            failed_tries: Mutex::default(),
            facts_if_cut_off: FactsIfCutOff::default(),
        };
        match self.store().open_node(node).await {
            Ok(_) => Ok(open),
            Err(error) => {
                open.is_open = false;
                Err(store_failure(&error))
            }
        }
    }

    /// Writes a node that is over already.
    pub(crate) async fn append(&self, node: NewNode, end: NodeEnd) -> Result<(), Failure> {
        let appended = self.store().append_node(node, end).await;
        appended.map(|_| ()).map_err(|error| store_failure(&error))
    }

    /// Closes the nodes of runs that were cancelled. Returns when all of them are closed.
    pub(crate) async fn settle(&self) -> Result<(), Failure> {
        let _turn = self.inner.settling.lock().await;
        loop {
            // The entry stays in the queue until it is written: this future may be dropped too.
            let Some((id, end)) = self.abandoned().front().cloned() else {
                return Ok(());
            };
            let closed = self.store().close_node(&id, end).await;
            self.abandoned().pop_front();
            match closed {
                // `NoNode`: the opening itself never reached the store.
                Ok(()) | Err(StoreError::NodeClosed(_) | StoreError::NoNode(_)) => {}
                Err(error) => return Err(store_failure(&error)),
            }
        }
    }

    fn abandon(&self, id: NodeId, attempts: Vec<Attempt>, facts: JsonObject) {
        let end = NodeEnd {
            status: NodeStatus::Cancelled,
            output: None,
            failure: Some(Failure::new(
                FailureCode::Cancelled,
                "the run was cancelled",
            )),
            usage: None,
            attempts,
            facts,
            finished_at: self.now(),
        };
        self.abandoned().push_back((id, end));
        // Outside an async runtime the queue waits for the next run or for `settle`.
        if let Ok(handle) = Handle::try_current() {
            let recorder = self.clone();
            // An error stays visible: the node is then open in the graph.
            handle.spawn(async move { recorder.settle().await });
        }
    }

    fn abandoned(&self) -> MutexGuard<'_, VecDeque<(NodeId, NodeEnd)>> {
        // Pushes and pops leave the queue whole, so a poisoned lock is no reason to lose it.
        let abandoned = self.inner.abandoned.lock();
        abandoned.unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenNode {
    pub(crate) fn id(&self) -> &NodeId {
        &self.id
    }

    /// Where to put what the record says of it when it is cut off.
    pub(crate) fn facts_if_cut_off(&self) -> FactsIfCutOff {
        self.facts_if_cut_off.clone()
    }

    /// Keeps a failed try of a model request for the record.
    pub(crate) fn note_failed_try(&self, attempt: Attempt) {
        self.failed_tries().push(attempt);
    }

    fn failed_tries(&self) -> MutexGuard<'_, Vec<Attempt>> {
        // A push leaves the list whole.
        let tries = self.failed_tries.lock();
        tries.unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the node; its failed tries are added to the end.
    pub(crate) async fn close(mut self, mut end: NodeEnd) -> Result<(), Failure> {
        end.attempts.append(&mut self.failed_tries());
        let recorder = self.recorder.clone();
        let closed = recorder.store().close_node(&self.id, end).await;
        self.is_open = false;
        closed.map_err(|error| store_failure(&error))
    }
}

impl Drop for OpenNode {
    fn drop(&mut self) {
        if self.is_open {
            let tries = std::mem::take(&mut *self.failed_tries());
            let facts = self.facts_if_cut_off.take();
            self.recorder.abandon(self.id.clone(), tries, facts);
        }
    }
}

/// A failing store as callers see it.
pub(crate) fn store_failure(error: &StoreError) -> Failure {
    Failure::new(FailureCode::Internal, error.to_string())
}
