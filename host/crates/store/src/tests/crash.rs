//! What is left when a process is killed or its last writes are torn.

use std::io::{BufRead, BufReader};
use std::path::Path;

use openprogram_core::id::NodeId;
use openprogram_core::session::{NodeStatus, SessionStore};
use pollster::block_on;

use super::processes::appender;
use super::{all_nodes, append, create_session, end, open, turn};
use crate::{OpenError, SqliteStore};

/// How often a writer is killed. Each time costs a few milliseconds.
const KILLS: usize = 20;

#[test]
fn a_killed_writer_loses_nothing_that_it_was_told_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let mut n_nodes = 0;
    for round in 0..KILLS {
        let writer = 1 + round as u64;
        let mut child = appender(&file, writer, 0);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // After a different number of appends each time, then without warning.
        let told: Vec<String> = lines
            .by_ref()
            .take(7 * round + 1)
            .map(Result::unwrap)
            .collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let told: Vec<String> = told
            .into_iter()
            .chain(lines.map_while(Result::ok))
            .collect();

        // The one after it simply goes on.
        let store = open(&file);
        let nodes = all_nodes(&store);
        let seqs: Vec<u64> = nodes.iter().map(|node| node.seq).collect();
        assert_eq!(seqs, (1..=nodes.len() as u64).collect::<Vec<u64>>());
        for line in &told {
            // The last line may be cut off by the kill.
            let [what, seq, id] = line.split(' ').collect::<Vec<_>>()[..] else {
                continue;
            };
            if id.len() < "n-0123456789abcdef".len() {
                continue;
            }
            let node = &nodes[seq.parse::<usize>().unwrap() - 1];
            assert_eq!(node.opened.id.as_str(), id);
            assert!(
                what == "opened" || node.status() == NodeStatus::Completed,
                "{line}"
            );
        }
        let open_ones = nodes[n_nodes..].iter().filter(|node| node.end.is_none());
        assert!(
            open_ones.count() <= 1,
            "at most the last one has an unknown outcome"
        );
        n_nodes = nodes.len();
    }
}

#[test]
fn a_node_that_was_open_when_its_process_died_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    block_on(store.open_node(turn(1))).unwrap();
    drop(store);
    let store = open(&file);
    let node = block_on(store.node(&NodeId::from_bits(1)))
        .unwrap()
        .unwrap();
    assert_eq!(node.status(), NodeStatus::Open);
    // Whoever finds out what became of it may close it.
    block_on(store.close_node(&node.opened.id, end())).unwrap();
}

/// Copies the database and the first bytes of its write-ahead file, as a crash would leave them.
fn copy_torn(from: &Path, to: &Path, wal: &[u8]) {
    std::fs::copy(from, to).unwrap();
    std::fs::write(to.with_extension("db-wal"), wal).unwrap();
}

#[test]
fn a_torn_write_ahead_file_gives_back_whole_appends_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    for n in 1..=20 {
        append(&store, n).unwrap();
    }
    let whole = all_nodes(&store);
    let wal = std::fs::read(file.with_extension("db-wal")).unwrap();
    assert!(
        wal.len() > 60_000,
        "the appends are still in the write-ahead file"
    );

    let mut counts = Vec::new();
    for part in 0..=40 {
        let torn = folder.path().join(format!("torn-{part}.db"));
        let mut kept = wal[..wal.len() * part / 40].to_vec();
        if let Some(byte) = kept.last_mut() {
            // The last sector may hold anything.
            *byte ^= u8::from(part % 2 == 1);
        }
        copy_torn(&file, &torn, &kept);
        let store = match SqliteStore::open_read_only(&torn) {
            Ok(store) => store,
            // So early that not even the tables were there.
            Err(OpenError::Missing { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let found = block_on(store.session(&super::session_id())).unwrap();
        let nodes = if found.is_some() {
            all_nodes(&store)
        } else {
            Vec::new()
        };
        assert_eq!(nodes, whole[..nodes.len()], "a whole beginning");
        counts.push(nodes.len());
        drop(store);

        // And it can be written again.
        let store = open(&torn);
        if found.is_some() {
            let next = append(&store, 1_000).unwrap();
            assert_eq!(next, nodes.len() as u64 + 1);
        }
    }
    assert!(
        counts.is_sorted(),
        "more of the file never gives back less: {counts:?}"
    );
    assert_eq!(counts.last(), Some(&20));
}

#[test]
fn damage_inside_the_file_is_told_and_nothing_panics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    for n in 1..=50 {
        append(&store, n).unwrap();
    }
    drop(store);
    let whole = std::fs::read(&file).unwrap();
    let mut n_told = 0;
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..512].fill(0xa5);
        let damaged = folder.path().join(format!("damaged-{page}.db"));
        std::fs::write(&damaged, bytes).unwrap();
        let told = match SqliteStore::open_read_only(&damaged) {
            Err(OpenError::Damaged { .. } | OpenError::Foreign { .. }) => true,
            Err(error) => panic!("{error}"),
            Ok(store) => {
                let all = openprogram_core::session::NodeQuery::default();
                let nodes = block_on(store.nodes(&super::session_id(), all));
                nodes.is_err_and(|error| error.to_string().contains("damaged-"))
            }
        };
        n_told += usize::from(told);
    }
    assert!(n_told > 0);
}
