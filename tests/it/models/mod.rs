//! Models and servers that others wrote: a small language model, a scripted provider, a judging one.
//!
//! `tests/parts/install` puts them into `target/parts`. Where they are missing these tests say so and
//! pass, except under `CI`. How things are joined is asserted, what a model says is not.

mod endpoints;
mod insisting;
mod judging;
mod own;
mod picks;
mod scripted;
mod server;
mod small;
mod tickets;

use std::path::PathBuf;

use openprogram::app::{App, Budgets, Components, Prepared, RunChoice};
use openprogram::settings::{ModelNames, Settings};
use openprogram_core::id::SessionId;
use openprogram_core::session::{Node, NodeQuery};
use openprogram_tests::cli::Project;
use openprogram_tests::{guests, toolchain};

use crate::cli::BINARY;
use server::Server;

/// Where a reply of the small model is cut: what it says has no end, and the arguments of its calls
/// need some room.
const REPLY_TOKENS: u32 = 120;

/// What the tests speak, and the path of its base URL below that of a server.
const PROTOCOLS: [(&str, &str); 2] = [("openai", "/v1"), ("anthropic", "")];

/// A file of the installed parts; `None`, with a printed reason, where they are not installed.
fn part(path: &str) -> Option<PathBuf> {
    Some(toolchain::parts()?.join(path))
}

/// A file beside the script that installs the parts.
fn beside(name: &str) -> PathBuf {
    guests::root().join("tests/parts").join(name)
}

/// A project with these guests whose model is on a server, as `home:m`.
fn project(base_url: &str, protocol: &str, guests: &[&str]) -> Project {
    let mut file = format!(
        "model = \"home:m\"\n\n[providers.home]\nprotocol = \"{protocol}\"\n\
         base_url = \"{base_url}\"\n\n[[profiles]]\nprotocol = \"{protocol}\"\n\
         max_output_tokens = {REPLY_TOKENS}\nforced_tool_choice = true\n\n[components]\n"
    );
    for name in guests {
        file.push_str(&format!("{name} = \"{name}.wasm\"\n"));
    }
    Project::new(BINARY)
        .guests(guests)
        .file("openprogram.toml", file)
}

/// The same on this server, at the path of the protocol.
fn project_at(server: &Server, (protocol, path): (&str, &str), guests: &[&str]) -> Project {
    let base_url = format!("{}{path}", server.url());
    project(&base_url, protocol, guests)
}

/// The project as a program has it, with short sleeps between tries.
async fn prepared(project: &Project) -> Prepared {
    let variables = |name: &str| match name {
        "OPENPROGRAM_RETRY_BACKOFF_BASE" => Some("0.01".into()),
        _ => None,
    };
    let settings = Settings::load(&project.folder(), &variables).unwrap();
    let choice = RunChoice {
        components: Components::Project,
        models: Some(ModelNames::default()),
        thinking: None,
        budgets: Budgets::default(),
        is_recorded: true,
    };
    let prepared = App::new(settings).prepare(&choice, &mut Vec::new()).await;
    prepared.unwrap()
}

async fn nodes(prepared: &Prepared, session: Option<&SessionId>) -> Vec<Node> {
    let store = prepared.runtime.store();
    let nodes = store.nodes(session.unwrap(), NodeQuery::default()).await;
    nodes.unwrap()
}
