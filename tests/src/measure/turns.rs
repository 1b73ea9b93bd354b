//! Turns: what the host adds around a model that answers at once, and to each piece of a reply.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use async_trait::async_trait;
use openprogram_core::content::ContentBlock;
use openprogram_core::function::{Function, Parameter, RenderRange, RuntimeRole};
use openprogram_core::guest::{ExecRequest, ToolsWanted};
use openprogram_core::id::SessionId;
use openprogram_core::llm::{
    Abilities, EventSink, LlmError, ModelEvent, ModelReply, ModelRequest, Provider,
};
use openprogram_core::schema::Type;
use openprogram_core::session::{MemoryStore, SessionStore};
use openprogram_runtime::testing::{NativeFunctions, function, passed_on};
use openprogram_runtime::{Event, Providers, RunRequest, Runtime, RuntimeParts, event_channel};
use openprogram_tests::host::sqlite;
use serde_json::json;

use crate::decisions::fill;
use crate::table::{Timing, heading, line, time_async, wanted};

/// How many pieces the measured reply has.
const N_PIECES: usize = 2_000;

pub(super) async fn measure() -> Result<()> {
    heading("A function with one turn of a model that answers at once, callers = 0");
    let folder = tempfile::tempdir()?;
    let mut bases = [None, None];
    for n_nodes in [10, 1_000, 10_000, 100_000] {
        let memory = Arc::new(MemoryStore::default());
        let path = folder.path().join(format!("{n_nodes}.db"));
        let timings = [
            turn(memory, n_nodes).await?,
            turn_in_sqlite(&path, n_nodes).await?,
        ];
        for ((store, timing), base) in ["memory", "SQLite"]
            .into_iter()
            .zip(timings)
            .zip(&mut bases)
        {
            line(
                &format!("{store}, a session of {n_nodes} nodes"),
                timing,
                *base,
            );
            base.get_or_insert(timing);
        }
    }
    wanted("at most 200 µs in SQLite, commits included, and ratios near 1");
    heading("From the provider to a watcher, per piece of a streamed reply");
    line(&format!("one of {N_PIECES} pieces"), piece().await?, None);
    wanted("at most 1 ms p99");
    Ok(())
}

async fn turn_in_sqlite(path: &Path, n_nodes: u64) -> Result<Timing> {
    turn(sqlite(path), n_nodes).await
}

/// A model that says one word, or many pieces of one, and notes when it did.
struct Talker {
    n_pieces: usize,
    said: Arc<Mutex<Vec<Instant>>>,
}

#[async_trait]
impl Provider for Talker {
    fn name(&self) -> &'static str {
        "instant:word"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    async fn complete(
        &self,
        _: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        for _ in 0..self.n_pieces {
            // As a network would: pieces come one by one, not in one burst.
            tokio::time::sleep(Duration::from_micros(200)).await;
            self.said
                .lock()
                .expect("no panic holds it")
                .push(Instant::now());
            sink.event(ModelEvent::Text("word ".to_owned()));
        }
        Ok(ModelReply::text_only("word ".repeat(self.n_pieces.max(1))))
    }
}

fn runtime(store: Arc<dyn SessionStore>, model: Talker) -> Runtime {
    let functions = NativeFunctions::default().with(turning(), |call| async move {
        let content = vec![ContentBlock::Text("Say a word.".to_owned())];
        let request = ExecRequest {
            tools: ToolsWanted::Named(Vec::new()),
            ..ExecRequest::new(RuntimeRole::Main, content)
        };
        let reply = call.services.exec(request).await.map_err(passed_on)?;
        Ok(json!(reply.text.len()))
    });
    let catalog = Arc::new(functions.catalog());
    Runtime::new(RuntimeParts {
        providers: Providers::all(Arc::new(model)),
        ..RuntimeParts::new(store, Arc::new(functions), catalog)
    })
}

fn turning() -> Function {
    let runtime = Parameter::new("runtime", Type::Json);
    Function {
        render_range: RenderRange {
            callers: Some(0),
            subcalls: None,
        },
        ..function("bench", "turn", "Makes a turn.", [runtime])
    }
}

async fn turn(store: Arc<dyn SessionStore>, n_nodes: u64) -> Result<Timing> {
    let session = SessionId::from_bits(1);
    fill(&*store, &session, n_nodes).await?;
    let runtime = runtime(
        store,
        Talker {
            n_pieces: 0,
            said: Arc::default(),
        },
    );
    let (runtime, session) = (&runtime, &session);
    Ok(time_async(500, || async move {
        let request = RunRequest {
            session: Some(session.clone()),
            ..RunRequest::new("turn")
        };
        let outcome = runtime.run_function(request).await;
        assert_eq!(outcome.result, Ok(json!(5)));
    })
    .await)
}

async fn piece() -> Result<Timing> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let model = Talker {
        n_pieces: N_PIECES,
        said: Arc::clone(&said),
    };
    let runtime = runtime(Arc::new(MemoryStore::default()), model);
    let (sender, mut receiver) = event_channel(N_PIECES + 64);
    let watcher = tokio::spawn(async move {
        let mut heard = Vec::with_capacity(N_PIECES);
        while let Some(event) = receiver.next().await {
            if let Event::Text { .. } = event {
                heard.push(Instant::now());
            }
        }
        heard
    });
    let request = RunRequest {
        events: Some(sender),
        ..RunRequest::new("turn")
    };
    let outcome = runtime.run_function(request).await;
    outcome
        .result
        .map_err(|failure| anyhow::anyhow!("{failure}"))?;
    let heard = watcher.await.context("the watcher")?;
    let said = std::mem::take(&mut *said.lock().expect("no panic holds it"));
    ensure!(
        heard.len() == said.len(),
        "{} of {} pieces arrived",
        heard.len(),
        said.len()
    );
    Ok(Timing::of(
        heard
            .iter()
            .zip(&said)
            .map(|(heard, said)| *heard - *said)
            .collect(),
    ))
}
