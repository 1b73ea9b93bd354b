//! Writes the spans of a run as lines of JSON, to a file or to stderr.
//!
//! Only spans of this program are taken, never those of libraries, which may hold what was said.
//! A line that cannot be written is lost: no run ends because of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use openprogram_core::{Json, JsonObject};
use openprogram_runtime::SPAN_TARGET;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use crate::settings::{TraceSettings, TraceTarget};

/// Most bytes of the file; what comes after is not written, which the last line says.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// The attribute that is a list and comes as the text of one.
const REASONS: &str = "gen_ai.response.finish_reasons";

thread_local! {
    /// The spans that this thread is in, innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Writes every span that ends as one line.
pub struct SpanWriter {
    next: AtomicU64,
    spans: Mutex<HashMap<u64, Open>>,
    /// Where lines go, and how many bytes there are.
    out: Mutex<(Box<dyn Write + Send>, u64)>,
}

/// A span that has not ended.
struct Open {
    name: &'static str,
    parent: Option<u64>,
    began: Instant,
    began_at: Duration,
    attributes: JsonObject,
    /// How many handles there are.
    handles: usize,
}

/// Has the spans of this process written where the settings say, if they say so.
///
/// # Errors
/// When the file cannot be used.
pub fn start(settings: &TraceSettings) -> anyhow::Result<()> {
    let Some((target, _)) = &settings.target else {
        return Ok(());
    };
    let writer = match target {
        TraceTarget::Stderr => SpanWriter::new(io::stderr()),
        TraceTarget::File(path) => SpanWriter::to_file(path)
            .with_context(|| format!("spans cannot be written to `{}`", path.display()))?,
    };
    tracing::subscriber::set_global_default(writer).context("spans are written already")
}

impl SpanWriter {
    /// Writes to something.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self::after(out, 0)
    }

    /// Writes behind what is in a file, which is made for its owner alone where there is none.
    ///
    /// # Errors
    /// When it cannot be opened, or is no file of its own.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is no file of its own; remove it"));
        }
        let mut options = OpenOptions::new();
        let file: File = options.create(true).append(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self::after(file, bytes))
    }

    fn after(out: impl Write + Send + 'static, bytes: u64) -> Self {
        Self {
            next: AtomicU64::new(1),
            spans: Mutex::default(),
            out: Mutex::new((Box::new(out), bytes)),
        }
    }

    fn spans(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, id: u64, span: Open) {
        let Open {
            name,
            parent,
            began,
            began_at,
            mut attributes,
            ..
        } = span;
        let shown = attributes.shift_remove("otel.name");
        let kind = attributes.shift_remove("otel.kind");
        let line = json!({
            "name": shown.unwrap_or_else(|| name.into()),
            "kind": kind.unwrap_or_else(|| "internal".into()),
            "span_id": id,
            "parent_id": parent,
            "start_ms": u64::try_from(began_at.as_millis()).unwrap_or(u64::MAX),
            "duration_us": u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
            "attributes": attributes,
        });
        let mut line = line.to_string();
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let (out, bytes) = &mut *out;
        let before = *bytes;
        *bytes = before.saturating_add(line.len() as u64);
        if before > FILE_BYTES_MAX {
            return;
        }
        if *bytes > FILE_BYTES_MAX {
            line = format!("{}\n", json!({"name": "no more spans are written here"}));
        }
        // Nobody waits for these lines, and a run goes on without them.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

impl Subscriber for SpanWriter {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == SPAN_TARGET
    }

    fn new_span(&self, new: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let entered = || ENTERED.with_borrow(|entered| entered.last().copied());
        let parent = match new.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if new.is_contextual() => entered(),
            None => None,
        };
        let mut attributes = JsonObject::new();
        new.record(&mut Attribute(&mut attributes));
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let open = Open {
            name: new.metadata().name(),
            parent,
            began: Instant::now(),
            began_at: now.unwrap_or_default(),
            attributes,
            handles: 1,
        };
        self.spans().insert(id, open);
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if let Some(open) = self.spans().get_mut(&id.into_u64()) {
            values.record(&mut Attribute(&mut open.attributes));
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(id.into_u64()));
    }

    fn exit(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            let last = entered
                .iter()
                .rposition(|entered| *entered == id.into_u64());
            if let Some(last) = last {
                entered.remove(last);
            }
        });
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(open) = self.spans().get_mut(&id.into_u64()) {
            open.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let id = id.into_u64();
        let ended = {
            let mut spans = self.spans();
            let Some(open) = spans.get_mut(&id) else {
                return false;
            };
            open.handles -= 1;
            if open.handles > 0 {
                return false;
            }
            spans.remove(&id)
        };
        if let Some(ended) = ended {
            self.write(id, ended);
        }
        true
    }
}

/// Takes the attributes of a span.
struct Attribute<'a>(&'a mut JsonObject);

impl Attribute<'_> {
    fn set(&mut self, field: &Field, value: impl Into<Json>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Attribute<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let list = (field.name() == REASONS).then(|| serde_json::from_str::<Json>(value));
        match list {
            Some(Ok(list)) => self.set(field, list),
            _ => self.set(field, value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::{info_span, subscriber::with_default};

    use super::*;

    /// Lines that a test reads.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(bytes: &[u8]) -> Vec<Json> {
        let text = std::str::from_utf8(bytes).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn spans_are_lines_with_their_attributes_and_their_parents() {
        let out = Lines::default();
        with_default(SpanWriter::new(out.clone()), || {
            let outer =
                info_span!(target: SPAN_TARGET, "outer", "otel.name" = "outer a", n = 1_u64);
            outer.in_scope(|| {
                let inner = info_span!(
                    target: SPAN_TARGET, "inner",
                    "gen_ai.response.finish_reasons" = r#"["stop"]"#, late = tracing::field::Empty
                );
                inner.record("late", "x");
                let kept = inner.clone();
                drop(inner);
                // Not of this program.
                info_span!(target: "library", "said", secret = "s3cr3t").in_scope(|| {
                    tracing::error!(target: SPAN_TARGET, "s3cr3t");
                });
                drop(kept);
            });
        });
        let mut lines = lines(&out.0.lock().unwrap());
        for line in &mut lines {
            for key in ["start_ms", "duration_us"] {
                assert!(line[key].is_u64(), "{line}");
                line.as_object_mut().unwrap().shift_remove(key);
            }
        }
        let expected = [
            json!({"name": "inner", "kind": "internal", "span_id": 2, "parent_id": 1,
                "attributes": {"gen_ai.response.finish_reasons": ["stop"], "late": "x"}}),
            json!({"name": "outer a", "kind": "internal", "span_id": 1, "parent_id": null,
                "attributes": {"n": 1}}),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_file_is_private_and_grows_up_to_a_bound() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spans.jsonl");
        let span = || drop(info_span!(target: SPAN_TARGET, "one"));
        for _ in 0..2 {
            with_default(SpanWriter::to_file(&path).unwrap(), span);
        }
        assert_eq!(lines(&std::fs::read(&path).unwrap()).len(), 2);
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let full = Lines::default();
        with_default(SpanWriter::after(full.clone(), FILE_BYTES_MAX), || {
            span();
            span();
        });
        let told = lines(&full.0.lock().unwrap());
        assert_eq!(told, [json!({"name": "no more spans are written here"})]);

        let link = folder.path().join("link.jsonl");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(SpanWriter::to_file(&link).is_err());
        assert!(SpanWriter::to_file(folder.path()).is_err());
    }
}
