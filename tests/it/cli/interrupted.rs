//! Ctrl-C while a model writes: the server sees its request closed, and the record says how it ended.

use std::io::Write as _;
use std::process::{Child, Command, Output};
use std::time::Duration;

use openprogram_core::Json;
use openprogram_tests::cli::Project;
use openprogram_tests::waiting::WaitingServer;

use super::project;

/// A busy machine takes its time; the server would wait for ever.
const PROMPTLY: Duration = Duration::from_secs(30);

/// A project whose model is on this server.
fn asking(server: &WaitingServer) -> Project {
    let file = format!(
        "model = \"home:m\"\n[providers.home]\nprotocol = \"openai\"\nbase_url = \"{}\"\n\
         [components]\nturner = \"turner.wasm\"\n",
        server.url()
    );
    project()
        .guests(&["turner"])
        .file("openprogram.toml", file)
        .variable("TERM", "dumb")
}

/// Interrupts the command in the middle of a reply, and waits until the server saw it go.
async fn interrupt(child: &Child, server: &mut WaitingServer) {
    let asked = tokio::time::timeout(PROMPTLY, server.asked()).await;
    asked.expect("the model is asked");
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status();
    assert!(killed.unwrap().success());
    let gone = tokio::time::timeout(PROMPTLY, server.gone()).await;
    gone.expect("the request is closed");
}

async fn ended(child: Child) -> Output {
    let waited = tokio::task::spawn_blocking(move || child.wait_with_output());
    waited.await.unwrap().unwrap()
}

/// The kind and the status of every node of the one session.
fn statuses(project: &Project) -> Vec<(String, String)> {
    let sessions = project.run(&["sessions", "--json"]).json();
    let session = sessions["sessions"][0]["session"].as_str().unwrap();
    let shown = project.run(&["show", session, "--json"]).json();
    let nodes = shown["nodes"].as_array().unwrap();
    let word = |node: &Json, name: &str| node[name].as_str().unwrap().to_owned();
    let told = nodes
        .iter()
        .map(|node| (word(node, "kind"), word(node, "status")));
    told.collect()
}

fn pair(kind: &str, status: &str) -> (String, String) {
    (kind.to_owned(), status.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_in_a_run_closes_the_request_of_the_model() {
    let mut server = WaitingServer::start().await;
    let project = asking(&server);
    let child = project.start(&["run", "ask", "--arg", "prompt=x", "--json"]);
    interrupt(&child, &mut server).await;
    let ended = ended(child).await;
    assert_eq!(ended.status.code(), Some(6), "{ended:?}");
    let told: Json = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(told["error"]["code"], "cancelled", "{ended:?}");
    let cancelled = [pair("code", "cancelled"), pair("llm", "cancelled")];
    assert_eq!(statuses(&project), cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_in_a_chat_closes_the_request_of_the_turn_and_the_chat_goes_on() {
    let mut server = WaitingServer::start().await;
    let project = asking(&server);
    let mut child = project.start_piped(&["chat"]);
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "hello").unwrap();
    interrupt(&child, &mut server).await;
    // It was the turn that ended: the chat reads on.
    writeln!(input, "/toolset").unwrap();
    drop(input);
    let ended = ended(child).await;
    let words = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    for part in ["the run was cancelled", "full", "session op-"] {
        assert!(words.contains(part), "`{part}`: {words}");
    }
    let expected = [pair("user", "completed"), pair("llm", "cancelled")];
    assert_eq!(statuses(&project), expected);
}
