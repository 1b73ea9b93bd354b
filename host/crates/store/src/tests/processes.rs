//! Several connections and several processes on one file.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use openprogram_core::id::NodeId;
use openprogram_core::session::conformance;

use super::{all_nodes, open};
use crate::SqliteStore;

/// The example `append`, built beside this test.
pub(super) fn appender(file: &Path, writer: u64, count: u64) -> Child {
    let test = std::env::current_exe().unwrap();
    let target: PathBuf = test.ancestors().nth(2).unwrap().to_owned();
    Command::new(target.join("examples").join("append"))
        .arg(file)
        .args(["1", &writer.to_string(), &count.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn connections_append_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let stores: Vec<SqliteStore> = (0..4).map(|_| open(&file)).collect();
    let stores: Vec<&SqliteStore> = stores.iter().collect();
    conformance::check_shared(&stores);
}

#[test]
fn connections_that_open_a_new_file_at_once_agree_on_it() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..10 {
        let file = folder.path().join(format!("{round}.db"));
        let stores: Vec<SqliteStore> = std::thread::scope(|threads| {
            let openers: Vec<_> = (0..6).map(|_| threads.spawn(|| open(&file))).collect();
            openers
                .into_iter()
                .map(|opener| opener.join().unwrap())
                .collect()
        });
        let stores: Vec<&SqliteStore> = stores.iter().take(2).collect();
        conformance::check_shared(&stores);
    }
}

#[test]
fn processes_append_to_one_session_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let count = 200;
    let appenders: Vec<Child> = (1..=3)
        .map(|writer| appender(&file, writer, count))
        .collect();
    for appender in appenders {
        let output = appender.wait_with_output().unwrap();
        assert!(output.status.success());
    }
    let nodes = all_nodes(&open(&file));
    let seqs: Vec<u64> = nodes.iter().map(|node| node.seq).collect();
    assert_eq!(seqs, (1..=3 * count).collect::<Vec<u64>>());
    for writer in 1..=3 {
        let expected = (1..=count).map(|n| NodeId::from_bits((writer << 32) | n));
        let prefix = format!("n-{writer:08x}");
        let written = nodes.iter().map(|node| node.opened.id.clone());
        let written = written.filter(|id| id.as_str().starts_with(&prefix));
        assert!(written.eq(expected), "each writer's nodes, in its order");
    }
    assert!(nodes.iter().all(|node| node.end.is_some()));
}
