//! Decisions: reading a reply, and a whole decision around a model that answers at once.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use async_trait::async_trait;
use openprogram_core::JsonObject;
use openprogram_core::decision::{
    Menu, MenuOption, OptionKind, OptionSpec, Payload, parse_reply, parse_schema,
};
use openprogram_core::function::{Expose, Function, Parameter, RenderRange};
use openprogram_core::guest::DecisionRequest;
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::llm::{Abilities, EventSink, LlmError, ModelReply, ModelRequest, Provider};
use openprogram_core::schema::{CheckMode, Type};
use openprogram_core::session::{NewNode, NodeEnd, NodeKind, NodeStatus, Session, SessionStore};
use openprogram_runtime::testing::{NativeFunctions, function, passed_on};
use openprogram_runtime::{Providers, RunRequest, Runtime, RuntimeParts};
use openprogram_tests::host::sqlite;
use serde_json::json;

use crate::table::{Timing, heading, line, time, time_async, wanted};

pub(super) async fn measure() -> Result<()> {
    replies()?;
    menus()?;
    heading("A decision around a model that answers at once, in SQLite, callers = 0");
    let folder = tempfile::tempdir()?;
    let short = decision(&folder.path().join("short.db"), 10).await?;
    line("in a session of 10 nodes", short, None);
    let long = decision(&folder.path().join("long.db"), 10_000).await?;
    line("in a session of 10,000 nodes", long, Some(short));
    wanted("at most 200 µs per model turn, commits included, and a ratio near 1");
    Ok(())
}

fn replies() -> Result<()> {
    let value = |name: &str| MenuOption {
        name: name.to_owned(),
        description: String::new(),
        payload: Payload::Value(json!(name)),
    };
    let names = ["refund", "escalate", "analyze", "done"];
    let menu = Menu::new(names.map(value).to_vec()).map_err(|error| anyhow!("{error}"))?;
    heading("Reading and checking a reply");
    let pick = r#"{"call": "done"}"#;
    let base = time(20_000, || {
        let value: serde_json::Value = serde_json::from_str(pick).expect("JSON");
        std::hint::black_box(value);
    });
    line("bare: the JSON of the pick alone", base, None);
    for bytes in [200, 2_000, 1 << 20] {
        let prose = "The customer wants to be heard {first}, and then to go on. ";
        let mut reply = prose.repeat(bytes / prose.len());
        reply.push_str(pick);
        let runs = if bytes > 10_000 { 50 } else { 20_000 };
        let timing = time(runs, || {
            let picked = parse_reply(&menu, &reply, CheckMode::Strict);
            std::hint::black_box(picked.is_ok());
        });
        line(
            &format!("a reply of {} bytes", reply.len()),
            timing,
            Some(base),
        );
    }
    wanted("2 KB at most 20 µs; 1 MiB at most 50 ms");
    whole_object(&menu);
    Ok(())
}

/// A reply that is one JSON object from end to end, against one JSON parse of the same bytes.
fn whole_object(menu: &Menu) {
    let notes = vec!["a word or two, \"quoted\""; 60];
    let reply = json!({"call": "done", "args": {"notes": notes}}).to_string();
    let base = time(20_000, || {
        let value: serde_json::Value = serde_json::from_str(&reply).expect("JSON");
        std::hint::black_box(value);
    });
    line(
        &format!("bare: one JSON parse of {} bytes", reply.len()),
        base,
        None,
    );
    let timing = time(20_000, || {
        let picked = parse_reply(menu, &reply, CheckMode::Strict);
        std::hint::black_box(picked.is_ok());
    });
    line(
        "reading and checking the same bytes as a pick",
        timing,
        Some(base),
    );
    wanted("a ratio of at most 3");
}

/// Checking and rendering menus of options with three arguments each.
fn menus() -> Result<()> {
    heading("Checking and rendering a menu");
    for count in [2, 10, 100] {
        let options = (0..count).map(|n| {
            let schema = json!({
                "reason": "Why this one fits.",
                "steps": [{"action": {"type": "str"}, "effort": {"type": "u8", "options": [1, 2, 3]}}],
                "sure": {"type": "bool"},
            });
            let fields = parse_schema(&schema)?;
            let description = "One sentence that says when to pick this option.".to_owned();
            let payload = Payload::Schema(Arc::new(fields));
            Ok(MenuOption::new(format!("option_{n}"), Some(description), payload))
        });
        let options = options.collect::<Result<Vec<_>>>()?;
        let menu = Menu::new(options.clone()).map_err(|error| anyhow!("{error}"))?;
        let text = json!(menu.text()).to_string();
        let base = time(2_000, || {
            let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            std::hint::black_box(value);
        });
        let timing = time(2_000, || {
            let menu = Menu::new(options.clone());
            std::hint::black_box(menu.is_ok());
        });
        let name = format!(
            "{count} options, {} bytes; ratio to one JSON parse of them",
            menu.text().len()
        );
        line(&name, timing, Some(base));
    }
    wanted("2 options at most 15 µs, 10 at most 75 µs, 100 at most 750 µs");
    Ok(())
}

/// A model that picks `done` whatever it is asked.
struct Instant;

#[async_trait]
impl Provider for Instant {
    fn name(&self) -> &'static str {
        "instant:done"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    async fn complete(&self, _: &ModelRequest, _: &dyn EventSink) -> Result<ModelReply, LlmError> {
        Ok(ModelReply::text_only(r#"{"call": "done"}"#.to_owned()))
    }
}

async fn decision(path: &Path, n_nodes: u64) -> Result<Timing> {
    let store = sqlite(path);
    let session = SessionId::from_bits(1);
    fill(&*store, &session, n_nodes).await?;
    let functions = NativeFunctions::default().with(deciding(), |call| async move {
        let options = ["done", "go on"].map(|name| OptionSpec {
            name: name.to_owned(),
            description: None,
            kind: OptionKind::Value(json!(name)),
        });
        let request = DecisionRequest::new("What now?", options.to_vec());
        call.services.make(request).await.map_err(passed_on)
    });
    let catalog = Arc::new(functions.catalog());
    let parts = RuntimeParts {
        providers: Providers::all(Arc::new(Instant)),
        ..RuntimeParts::new(store, Arc::new(functions), catalog)
    };
    let runtime = Runtime::new(parts);
    let (runtime, session) = (&runtime, &session);
    Ok(time_async(500, || async move {
        let request = RunRequest {
            session: Some(session.clone()),
            ..RunRequest::new("decide")
        };
        let outcome = runtime.run_function(request).await;
        assert_eq!(outcome.result, Ok(json!("done")));
    })
    .await)
}

fn deciding() -> Function {
    let runtime = Parameter::new("runtime", Type::Json);
    Function {
        render_range: RenderRange {
            callers: Some(0),
            subcalls: None,
        },
        ..function("bench", "decide", "Decides.", [runtime])
    }
}

pub(super) async fn fill(
    store: &dyn SessionStore,
    session: &SessionId,
    n_nodes: u64,
) -> Result<()> {
    let title = "a session with a past".to_owned();
    let created = Session {
        id: session.clone(),
        created_at: Timestamp(0),
        title,
        base: None,
    };
    store.create_session(created).await?;
    for number in 0..n_nodes {
        let node = NewNode {
            id: NodeId::from_bits(number + 1),
            session: session.clone(),
            kind: NodeKind::Code,
            name: "past:work/done.step".to_owned(),
            caller: None,
            predecessor: None,
            reads: Vec::new(),
            input: json!({ "number": number }),
            expose: Expose::Io,
            render_range: RenderRange::default(),
            doc: None,
            facts: JsonObject::new(),
            started_at: Timestamp(0),
        };
        let end = NodeEnd {
            status: NodeStatus::Completed,
            output: Some(json!("a result of some words")),
            failure: None,
            usage: None,
            attempts: Vec::new(),
            facts: JsonObject::new(),
            finished_at: Timestamp(0),
        };
        store.append_node(node, end).await?;
    }
    Ok(())
}
