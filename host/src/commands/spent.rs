//! What a run cost: the tokens of its model requests, as the graph has them.

use std::collections::HashSet;
use std::time::Duration;

use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::session::{NodeKind, NodeQuery, SessionStore, StoreError, Usage};

use super::console::Console;
use super::time::duration;
use crate::text::one_line;

/// How many models are named on the line.
const MODELS_NAMED_MAX: usize = 3;

/// The tokens of some model requests and the models that were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Spent {
    usage: Usage,
    models: Vec<String>,
}

impl Spent {
    /// What the requests at and below `top` cost, or those of the whole session without one.
    /// `None` when no provider told anything.
    async fn of(
        store: &dyn SessionStore,
        session: &SessionId,
        top: Option<&NodeId>,
    ) -> Result<Option<Self>, StoreError> {
        let mut query = NodeQuery::default();
        if let Some(top) = top {
            let node = store.node(top).await?;
            // Nodes have numbers from 1.
            query.after = node.map(|node| node.seq - 1);
        }
        let mut inside: HashSet<NodeId> = top.cloned().into_iter().collect();
        let mut spent = Self::default();
        for node in store.nodes(session, query).await? {
            let caller = node.opened.caller.as_ref();
            let is_inside = top.is_none()
                || inside.contains(&node.opened.id)
                || caller.is_some_and(|caller| inside.contains(caller));
            if !is_inside {
                continue;
            }
            let usage = node.end.and_then(|end| end.usage);
            if let Some(usage) = usage.filter(|_| node.opened.kind == NodeKind::Llm) {
                spent.add(&usage, &node.opened.name);
            }
            inside.insert(node.opened.id);
        }
        Ok((!spent.models.is_empty()).then_some(spent))
    }

    fn add(&mut self, usage: &Usage, model: &str) {
        self.usage = self.usage.plus(*usage);
        if !self.models.iter().any(|known| known == model) {
            self.models.push(model.to_owned());
        }
    }

    /// All of it on one line.
    fn line(&self, took: Duration) -> String {
        let named = self.models.iter().take(MODELS_NAMED_MAX);
        let mut models: Vec<_> = named.map(|model| one_line(model, 80)).collect();
        let more = self.models.len() - models.len();
        if more > 0 {
            models.push(format!("{more} more"));
        }
        format!(
            "{}; {}; {}",
            tokens(&self.usage),
            models.join(", "),
            duration(i64::try_from(took.as_millis()).unwrap_or(i64::MAX))
        )
    }
}

/// Tells a person what the requests at and below `top` cost, or those of the whole session.
pub(super) async fn say_spent(
    store: &dyn SessionStore,
    session: &SessionId,
    top: Option<&NodeId>,
    took: Duration,
    console: &mut Console,
) {
    match Spent::of(store, session, top).await {
        Ok(Some(spent)) => console.say(&spent.line(took)),
        Ok(None) => {}
        // The result counts; what it cost is in the graph still.
        Err(error) => console.say(&format!("note: the tokens cannot be told: {error}")),
    }
}

/// Tokens as people read them: `120 + 8 tokens`, and what of the input came from a cache.
pub(super) fn tokens(usage: &Usage) -> String {
    let Usage {
        input_tokens,
        output_tokens,
        cache_read,
        ..
    } = usage;
    let mut text = format!("{input_tokens} + {output_tokens} tokens");
    if *cache_read > 0 {
        text.push_str(&format!(" ({cache_read} cached)"));
    }
    text
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::{Expose, RenderRange};
    use openprogram_core::id::Timestamp;
    use openprogram_core::session::{MemoryStore, NewNode, NodeEnd, NodeStatus, Session};
    use openprogram_core::{Json, JsonObject};

    use super::*;
    use crate::commands::console::tests::Recorded;

    /// A session of nodes: number, caller, kind, model, and tokens where they were told.
    async fn store(nodes: &[(u64, u64, NodeKind, &str, Option<u64>)]) -> MemoryStore {
        let session = Session {
            id: SessionId::from_bits(1),
            created_at: Timestamp(0),
            title: String::new(),
            base: None,
        };
        let store = MemoryStore::default();
        store.create_session(session).await.unwrap();
        for (id, caller, kind, name, tokens) in nodes {
            let node = NewNode {
                id: NodeId::from_bits(*id),
                session: SessionId::from_bits(1),
                kind: *kind,
                name: (*name).to_owned(),
                caller: (*caller > 0).then(|| NodeId::from_bits(*caller)),
                predecessor: None,
                reads: Vec::new(),
                input: Json::Null,
                expose: Expose::Io,
                render_range: RenderRange::default(),
                doc: None,
                facts: JsonObject::new(),
                started_at: Timestamp(0),
            };
            let end = NodeEnd {
                status: NodeStatus::Completed,
                output: None,
                failure: None,
                usage: tokens.map(|tokens| Usage {
                    input_tokens: tokens,
                    output_tokens: 1,
                    cache_read: tokens / 2,
                    cache_create: 0,
                }),
                attempts: Vec::new(),
                facts: JsonObject::new(),
                finished_at: Timestamp(0),
            };
            store.append_node(node, end).await.unwrap();
        }
        store
    }

    #[tokio::test]
    async fn tokens_are_those_of_the_run_and_of_what_it_called() {
        use NodeKind::{Code, Llm};
        let store = store(&[
            (1, 0, Code, "f", None),
            (2, 1, Llm, "a:m", Some(100)),
            (3, 0, Code, "f", None),
            (4, 1, Llm, "a:m", Some(1_000)),
            (5, 3, Llm, "a:m", Some(10)),
            (6, 5, Code, "g", None),
            (7, 6, Llm, "b:n", Some(20)),
            (8, 6, Llm, "c:o", None),
        ])
        .await;
        let took = Duration::from_millis(4_200);
        for (top, line) in [
            (Some(3), "30 + 2 tokens (15 cached); a:m, b:n; 4.2 s\n"),
            (Some(6), "20 + 1 tokens (10 cached); b:n; 4.2 s\n"),
            (Some(8), ""),
            (None, "1130 + 4 tokens (565 cached); a:m, b:n; 4.2 s\n"),
        ] {
            let recorded = Recorded::default();
            let (session, top) = (SessionId::from_bits(1), top.map(NodeId::from_bits));
            let console = &mut recorded.console();
            say_spent(&store, &session, top.as_ref(), took, console).await;
            assert_eq!(recorded.take(), (String::new(), line.to_owned()), "{top:?}");
        }
    }
}
