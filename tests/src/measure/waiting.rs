//! Functions that wait for a model, many at once: what each of them holds, and how many threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use async_trait::async_trait;
use openprogram_component::{Engine, EngineOptions};
use openprogram_core::llm::{Abilities, EventSink, LlmError, ModelReply, ModelRequest, Provider};
use openprogram_core::session::SessionStore;
use openprogram_providers::{
    Profiles, Protocol, ServerModel, ServerOptions, TextProtocol, Transport, TransportOptions,
};
use openprogram_tests::host::{RunningHost, TestHost, sqlite};
use openprogram_tests::soak::Held;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long the stand-in for a provider takes for each reply.
const REPLY_TIME: Duration = Duration::from_secs(1);
/// How long all requests together may take to arrive.
const ARRIVAL_TIME: Duration = Duration::from_secs(300);
/// More memory than the waiting function of the guest has.
const MEMORY_BYTES: u64 = 16 << 20;

pub(super) async fn measure() -> Result<()> {
    println!("\nFunctions that wait for a model at the same time, each in an instance of its own");
    let folder = tempfile::tempdir()?;
    let stand_in = StandIn::start().await?;
    let waiting = Arc::clone(&stand_in.waiting);
    let store = sqlite(&folder.path().join("served.db"));
    tell(1_000, stand_in.model()?, waiting, store, || {}).await?;
    println!("  wanted: no thread for each of them, and little more than the second of a reply");
    let gate = Gate::default();
    let waiting = Arc::clone(&gate.waiting);
    let open = gate.open.clone();
    let store = sqlite(&folder.path().join("gated.db"));
    let open = move || {
        open.send_replace(true);
    };
    tell(10_000, Arc::new(gate), waiting, store, open).await?;
    println!("  wanted: at most 4 GiB resident");
    Ok(())
}

/// Lets so many functions wait, looks at the process when all of them do, and waits for their ends.
async fn tell(
    functions: usize,
    model: Arc<dyn Provider>,
    waiting: Arc<AtomicUsize>,
    store: Arc<dyn SessionStore>,
    open: impl FnOnce(),
) -> Result<()> {
    let host = Arc::new(host(functions, model, store).await?);
    // What the first call needs is not counted.
    let before = Held::now()?;
    let start = Instant::now();
    let mut runs = JoinSet::new();
    for _ in 0..functions {
        let host = Arc::clone(&host);
        runs.spawn(async move { host.run("ask", json!({"prompt": "Say a word."})).await });
    }
    let (most, during) = watched(functions, &waiting, &mut runs).await?;
    open();
    while let Some(run) = runs.join_next().await {
        let outcome = run.context("a run ended badly")?;
        outcome
            .result
            .map_err(|failure| anyhow::anyhow!("{failure}"))?;
    }
    let all = start.elapsed().as_secs_f64();
    let more_kib = during.resident_kib.saturating_sub(before.resident_kib);
    println!(
        "{functions:>7} functions: {most} waited at once, all done after {all:.1} s; {} threads, \
         {} open files, {} MiB resident, {} KiB for each that waits",
        during.threads,
        during.files,
        during.resident_kib >> 10,
        more_kib / most.max(1) as u64,
    );
    Ok(())
}

/// How many functions waited at the same time at most, and what the process held then. Ends when
/// all of them wait, or have waited.
async fn watched(
    functions: usize,
    waiting: &AtomicUsize,
    runs: &mut JoinSet<openprogram_runtime::RunOutcome>,
) -> Result<(usize, Held)> {
    let start = Instant::now();
    let (mut most, mut during) = (0, Held::now()?);
    while most < functions {
        ensure!(
            start.elapsed() < ARRIVAL_TIME,
            "only {most} of {functions} functions came to wait"
        );
        let now = waiting.load(Ordering::Relaxed);
        if now > most {
            (most, during) = (now, Held::now()?);
        } else if most > 0 && now == 0 {
            // Slower than the replies came: some were done before the last began.
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        if let Some(Ok(ended)) = runs.try_join_next() {
            ended
                .result
                .map_err(|failure| anyhow::anyhow!("{failure}"))?;
        }
    }
    Ok((most, during))
}

async fn host(
    functions: usize,
    model: Arc<dyn Provider>,
    store: Arc<dyn SessionStore>,
) -> Result<RunningHost> {
    let places = u32::try_from(functions)?;
    let engine = Engine::new(EngineOptions {
        slots: places,
        memory_bytes_max: MEMORY_BYTES,
        ..EngineOptions::default()
    });
    let host = TestHost::new()
        .engine(engine)
        .guest("turner")
        .store(store)
        .calls_at_once(places)
        .requests_at_once(places)
        .provider(model);
    Ok(host.start().await)
}

/// A model that answers when it is let to.
struct Gate {
    waiting: Arc<AtomicUsize>,
    open: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            waiting: Arc::default(),
            open: watch::Sender::new(false),
        }
    }
}

#[async_trait]
impl Provider for Gate {
    fn name(&self) -> &'static str {
        "gate:word"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    async fn complete(&self, _: &ModelRequest, _: &dyn EventSink) -> Result<ModelReply, LlmError> {
        let mut open = self.open.subscribe();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // The sender lives as long as this.
        let _ = open.wait_for(|open| *open).await;
        Ok(ModelReply::text_only("word"))
    }
}

/// A server on loopback that answers every request after a second.
struct StandIn {
    base_url: String,
    waiting: Arc<AtomicUsize>,
    _server: JoinSet<()>,
}

impl StandIn {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&waiting);
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(answer(stream, Arc::clone(&counted)));
            }
        });
        Ok(Self {
            base_url,
            waiting,
            _server: server,
        })
    }

    fn model(&self) -> Result<Arc<dyn Provider>> {
        let profile = Profiles::built_in()?.find(Protocol::OpenAi, &self.base_url, "word");
        let options = ServerOptions {
            name: "stand-in:word".to_owned(),
            protocol: TextProtocol::OpenAi,
            base_url: self.base_url.clone(),
            key: None,
            model: "word".to_owned(),
            profile,
        };
        let transport = Transport::new(TransportOptions::default())?;
        Ok(Arc::new(ServerModel::new(options, transport)?))
    }
}

/// Answers the requests of one connection.
async fn answer(mut stream: TcpStream, waiting: Arc<AtomicUsize>) -> Option<()> {
    loop {
        read_request(&mut stream).await?;
        waiting.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(REPLY_TIME).await;
        waiting.fetch_sub(1, Ordering::Relaxed);
        let piece = json!({"choices": [{
            "index": 0, "delta": {"content": "word"}, "finish_reason": "stop",
        }]});
        let body = format!("data: {piece}\n\ndata: [DONE]\n\n");
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.ok()?;
    }
}

/// Reads one request to its end; `None` when the connection ends.
async fn read_request(stream: &mut TcpStream) -> Option<()> {
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        read.extend_from_slice(&piece[..count]);
        let Some(head) = read.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head_text = String::from_utf8_lossy(&read[..head]).to_ascii_lowercase();
        let length = head_text
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|length| length.trim().parse::<usize>().ok())
            .unwrap_or(0);
        if read.len() >= head + 4 + length {
            return Some(());
        }
    }
}
