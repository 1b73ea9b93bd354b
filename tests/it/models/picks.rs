//! Picks of a real small model: held to the shape of a pick, left alone, and weighed by a decision
//! endpoint in front of it. What it picks is near chance; that it is a pick is not.

use std::process::Command;
use std::time::{Duration, Instant};

use openprogram_core::decision::{
    ConfidenceSource, MenuOption, OptionKind, OptionSpec, parse_schema,
};
use openprogram_core::failure::FailureCode;
use openprogram_core::session::Node;
use openprogram_runtime::{DecideOutcome, DecideRequest, DecidedPick};
use openprogram_tests::cli::Project;
use serde_json::json;

use super::server::Server;
use super::small::{TRIES, model, model_with_slots};
use super::{nodes, part, prepared};
use crate::cli::BINARY;

/// How often a model that is held to the shape of a pick must give one.
const HELD_TRIES: usize = 50;
/// How long the decision endpoint may take to learn the model's vocabulary. It takes nine seconds
/// of a processor of its own.
const LEARNS: Duration = Duration::from_secs(300);

const HELD: &str = "native_json_schema = true\nnative_json_keeps_order = true\n";

/// A project whose model is on this server, with these lines in its profile.
fn project(url: &str, protocol: &str, profile: &str) -> Project {
    let file = format!(
        "model = \"home:m\"\n\n[providers.home]\nprotocol = \"{protocol}\"\n\
         base_url = \"{url}\"\n\n[[profiles]]\nprotocol = \"{protocol}\"\n\
         max_output_tokens = 100\n{profile}"
    );
    Project::new(BINARY).file("openprogram.toml", file)
}

fn options() -> Vec<MenuOption> {
    let schema = json!({"stars": {"type": "int", "options": [1, 2, 3, 4, 5]}});
    let schema = parse_schema(&schema).unwrap();
    let option = |name: &str, kind, description: &str| OptionSpec {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        kind,
    };
    let specs = [
        option(
            "close",
            OptionKind::Value(json!("CLOSED")),
            "Nothing is left to do.",
        ),
        option(
            "escalate",
            OptionKind::Value(json!(1)),
            "A person takes over.",
        ),
        option(
            "rate",
            OptionKind::Schema(schema),
            "Rate the message with stars.",
        ),
    ];
    let resolve = |spec: OptionSpec| {
        spec.resolve(|name| Err(name.to_owned()))
            .expect("no function is named")
    };
    specs.map(resolve).to_vec()
}

/// Always the same, so that the server reads it once; what is written varies all the same.
fn decision() -> DecideRequest {
    let prompt = "A customer writes: the parcel came late and the box was open. Pick one.";
    DecideRequest::new(prompt, options())
}

fn method(node: &Node) -> String {
    let facts = &node.end.as_ref().unwrap().facts;
    facts["method"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_model_that_is_held_to_a_pick_gives_a_valid_one_every_time() {
    let Some(server) = model(None) else { return };
    let project = project(&format!("{}/v1", server.url()), "openai", HELD);
    let prepared = prepared(&project).await;
    let mut seen = std::collections::BTreeSet::new();
    for turn in 0..HELD_TRIES {
        let DecideOutcome { session, result } = prepared.runtime.decide(decision()).await;
        let pick = result.unwrap_or_else(|failure| panic!("try {turn}: {failure}"));
        assert_eq!(pick.method, "constrained");
        let nodes = nodes(&prepared, session.as_ref()).await;
        assert_eq!(nodes.len(), 1, "try {turn} was asked again: {nodes:#?}");
        seen.insert(pick.option);
    }
    println!("{HELD_TRIES} of {HELD_TRIES} picks are valid: {seen:?}");
}

#[tokio::test]
async fn left_alone_every_reply_is_a_pick_or_is_asked_about_and_ends_in_a_named_failure() {
    let Some(server) = model(None) else { return };
    let project = project(&format!("{}/v1", server.url()), "openai", "");
    let prepared = prepared(&project).await;
    let (mut n_valid, mut n_asked_again) = (0, 0);
    for _ in 0..TRIES {
        let DecideOutcome { session, result } = prepared.runtime.decide(decision()).await;
        let nodes = nodes(&prepared, session.as_ref()).await;
        assert!(nodes.iter().all(|node| method(node) == "text"));
        n_asked_again += nodes.len() - 1;
        match result {
            Ok(_) => n_valid += 1,
            Err(failure) => {
                assert_eq!(failure.code, FailureCode::Decision, "{failure}");
                assert_eq!(nodes.len(), 2, "{nodes:#?}");
                assert!(nodes[1].opened.facts.contains_key("retry_of"));
            }
        }
    }
    println!("{n_valid} of {TRIES} valid, {n_asked_again} asked again");
}

/// The decision endpoint in front of the model, once it is ready.
fn endpoint(upstream: &Server) -> Option<Server> {
    let mut command = Command::new(part("venv/bin/callo")?);
    command.args([
        "serve",
        "--upstream",
        upstream.url(),
        "--port",
        &free_port(),
    ]);
    command.arg("--gguf").arg(part("model.gguf")?);
    let server = Server::start(&mut command, "listening on");
    let began = Instant::now();
    let question = json!({"state": "s", "questions": {"q": {"type": "noul"}}});
    while !server.is_ready("/v1/systemone", &question) {
        assert!(
            began.elapsed() < LEARNS,
            "the decision endpoint does not get ready"
        );
        std::thread::sleep(Duration::from_millis(500));
    }
    Some(server)
}

/// A port that nobody listens on; it has to be named.
fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

fn check_weighed(pick: &DecidedPick, n_options: usize) {
    assert_eq!(pick.method, "endpoint");
    let confidence = pick.confidence.unwrap();
    assert_eq!(confidence.source, ConfidenceSource::Endpoint);
    let weights = pick.probabilities.as_ref().unwrap();
    assert_eq!(weights.len(), n_options);
    let largest = weights
        .iter()
        .map(|(_, weight)| *weight)
        .fold(0.0, f64::max);
    assert_eq!(confidence.value, largest);
}

#[tokio::test]
async fn an_endpoint_that_others_wrote_weighs_options_and_the_model_behind_it_gives_arguments() {
    let folder = tempfile_folder();
    let Some(upstream) = model_with_slots(&folder) else {
        return;
    };
    let Some(server) = endpoint(&upstream) else {
        return;
    };

    let endpoint = project(server.url(), "systemone", "");
    let alone = prepared(&endpoint).await;
    let values = |n: usize| {
        (0..n)
            .map(|n| option_value(&format!("option-{n}")))
            .collect()
    };
    // More options than letters are labelled in another way there.
    for count in [2, 30] {
        let request = DecideRequest::new("Which number?", values(count));
        let outcome = alone.runtime.decide(request).await;
        check_weighed(&outcome.result.unwrap(), count);
        let nodes = nodes(&alone, outcome.session.as_ref()).await;
        let usage = nodes[0].end.as_ref().unwrap().usage;
        assert!(
            usage.is_some_and(|usage| usage.input_tokens > 0),
            "{usage:?}"
        );
    }

    let profile = format!("{HELD}decisions = \"systemone\"\n");
    let with_writer = project(&format!("{}/v1", server.url()), "openai", &profile);
    let both = prepared(&with_writer).await;
    let mut options = options();
    options.truncate(2);
    // Whatever is picked takes an argument.
    for option in &mut options {
        let schema = json!({"stars": {"type": "int", "options": [1, 2, 3]}});
        let kind = OptionKind::Schema(parse_schema(&schema).unwrap());
        let spec = OptionSpec {
            name: option.name.clone(),
            description: None,
            kind,
        };
        *option = spec.resolve(|name| Err(name.to_owned())).unwrap();
    }
    let request = DecideRequest::new("The parcel came late. Pick one.", options);
    let outcome = both.runtime.decide(request).await;
    let pick = outcome.result.unwrap();
    check_weighed(&pick, 2);
    assert!((1..=3).contains(&pick.arguments["stars"].as_u64().unwrap()));
    let nodes = nodes(&both, outcome.session.as_ref()).await;
    let methods: Vec<_> = nodes.iter().map(method).collect();
    assert_eq!(methods, ["endpoint", "constrained"]);
    drop(server);
    let _ = std::fs::remove_dir_all(folder);
}

fn option_value(name: &str) -> MenuOption {
    let spec = OptionSpec {
        name: name.to_owned(),
        description: None,
        kind: OptionKind::Value(json!(name)),
    };
    spec.resolve(|name| Err(name.to_owned()))
        .expect("no function is named")
}

/// A folder of this test alone.
fn tempfile_folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("openprogram-slots-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
