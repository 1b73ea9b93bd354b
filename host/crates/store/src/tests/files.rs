//! Which files are opened, made, migrated and refused.

use std::path::Path;

use openprogram_core::session::{SessionStore, conformance};
use pollster::block_on;
use rusqlite::Connection;

use super::{all_nodes, append, create_session, open, text_of, turn};
use crate::{Durability, SqliteStore};

#[test]
fn the_sqlite_store_passes_the_conformance_suite() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::Normal, Durability::Full] {
        let n = std::cell::Cell::new(0);
        block_on(conformance::check_store(|| {
            n.set(n.get() + 1);
            let file = folder.path().join(format!("{durability:?}-{}.db", n.get()));
            SqliteStore::open(file, durability).unwrap()
        }));
        block_on(conformance::check_archive(|| {
            n.set(n.get() + 1);
            let file = folder.path().join(format!("{durability:?}-{}.db", n.get()));
            SqliteStore::open(file, durability).unwrap()
        }));
    }
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/er/sessions.db");
    let store = open(&file);
    create_session(&store);
    for n in 1..=3 {
        append(&store, n).unwrap();
    }
    let written = all_nodes(&store);
    drop(store);
    assert_eq!(all_nodes(&open(&file)), written);
    assert_eq!(
        all_nodes(&SqliteStore::open_read_only(&file).unwrap()),
        written
    );
}

#[cfg(unix)]
#[test]
fn files_are_private_from_the_first_byte() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let file = state.join("sessions.db");
    let store = open(&file);
    create_session(&store);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(format!("{:o}", mode(&state)), "700");
    let mut found = Vec::new();
    for entry in state.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        found.push(format!("{name} {:o}", mode(&path)));
    }
    found.sort();
    let private = [
        "sessions.db 600",
        "sessions.db-shm 600",
        "sessions.db-wal 600",
    ];
    assert_eq!(found, private);
    drop(store);

    // A file that others could read is taken from them.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(open(&file));
    assert_eq!(format!("{:o}", mode(&file)), "600");
}

#[test]
fn a_reader_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    append(&store, 1).unwrap();
    let reader = SqliteStore::open_read_only(&file).unwrap();
    append(&store, 2).unwrap();
    assert_eq!(
        all_nodes(&reader).len(),
        2,
        "it sees what is appended meanwhile"
    );

    let refused = append(&reader, 3).unwrap_err();
    assert_eq!(
        text_of(&refused, folder.path()),
        "the session store failed: the session database `FOLDER/sessions.db` is open for reading \
         only, or its file may not be written"
    );
}

/// What opening says to a file that `prepare` makes.
fn check_refusal(
    prepare: impl Fn(&Path),
    open: impl Fn(&Path) -> Result<SqliteStore, crate::OpenError>,
    expected: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    prepare(&file);
    let before = std::fs::read(&file).ok();
    let refused = open(&file).unwrap_err();
    assert_eq!(text_of(&refused, folder.path()), expected);
    assert_eq!(
        std::fs::read(&file).ok(),
        before,
        "the file is left as it was"
    );
}

#[test]
fn files_that_cannot_be_used_are_refused_with_a_remedy() {
    let normal = |file: &Path| SqliteStore::open(file, Durability::Normal);
    let read_only = |file: &Path| SqliteStore::open_read_only(file);
    let sql = |text: &'static str| {
        move |file: &Path| Connection::open(file).unwrap().execute_batch(text).unwrap()
    };

    let missing = "there is no session database at `FOLDER/sessions.db`; the first run makes it";
    check_refusal(|_| (), read_only, missing);
    check_refusal(|file| std::fs::write(file, "").unwrap(), read_only, missing);

    let damaged = "`FOLDER/sessions.db` is not a database or is damaged; restore it from a copy, \
                   or move it and its `-wal` file away to begin a new one";
    let text = |file: &Path| std::fs::write(file, "not a database ".repeat(100)).unwrap();
    check_refusal(text, normal, damaged);
    check_refusal(text, read_only, damaged);

    let foreign = "`FOLDER/sessions.db` is a database of another program; choose another file for \
                   the sessions";
    check_refusal(sql("CREATE TABLE other (x)"), read_only, foreign);
    check_refusal(
        sql("PRAGMA application_id = 7; PRAGMA user_version = 1"),
        read_only,
        foreign,
    );

    let newer = "the session database `FOLDER/sessions.db` has version 99 and this program knows \
                 versions up to 3; update the program, or choose another database";
    let from_the_future = sql("PRAGMA application_id = 1330672487; PRAGMA user_version = 99");
    check_refusal(from_the_future, normal, newer);
    check_refusal(from_the_future, read_only, newer);

    let unreadable = "the session database `FOLDER/sessions.db` cannot be opened; check that the \
                      file and its folder may be read and written by you";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let refused = normal(&folder.path().join("file/sessions.db")).unwrap_err();
    let text = text_of(&refused, &folder.path().join("file"));
    assert!(text.starts_with(unreadable), "{text}");
}

#[test]
fn a_database_of_another_program_is_refused_before_it_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.db");
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE other (x)").unwrap();
    let before = std::fs::read(&file).unwrap();
    let refused = SqliteStore::open(&file, Durability::Normal).unwrap_err();
    assert!(matches!(refused, crate::OpenError::Foreign { .. }));
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn every_version_is_brought_to_the_newest_and_keeps_what_it_holds() {
    // One database as each version left it; a new version adds its own script.
    let scripts = [
        (1, include_str!("version_1.sql")),
        (3, include_str!("version_3.sql")),
    ];
    for (version, script) in scripts {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        Connection::open(&file)
            .unwrap()
            .execute_batch(script)
            .unwrap();
        let store = open(&file);
        let kept = all_nodes(&store);
        assert_eq!(kept.len(), 2, "version {version}");
        assert_eq!(kept[0].opened, turn_of_script(1));
        assert_eq!(kept[1].opened.caller, Some(kept[0].opened.id.clone()));
        assert_eq!(kept[1].opened.reads, [kept[0].opened.id.clone()]);
        assert_eq!(append(&store, 9).unwrap(), 3);

        let number = "PRAGMA user_version";
        let database = Connection::open(&file).unwrap();
        let newest: i64 = database.query_row(number, [], |row| row.get(0)).unwrap();
        assert_eq!(newest, 3);
    }
}

fn turn_of_script(n: u64) -> openprogram_core::session::NewNode {
    openprogram_core::session::NewNode {
        input: "hello".into(),
        ..turn(n)
    }
}

#[test]
fn a_row_that_cannot_be_read_is_named() {
    for (change, expected) in [
        ("input = '{'", "`input` of the node `n-0000000000000001`"),
        ("reads = '2-1'", "`reads` of the node `n-0000000000000001`"),
        ("facts = '[]'", "`facts` of the node `n-0000000000000001`"),
        (
            "failure = '{}'",
            "`failure` of the node `n-0000000000000001`",
        ),
        (
            "attempts = '[1]'",
            "`attempts` of the node `n-0000000000000001`",
        ),
        ("input = '@7'", "the text `@7`"),
        ("doc = '@'", "the text `@`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        let store = open(&file);
        create_session(&store);
        append(&store, 1).unwrap();
        let sql = format!("UPDATE nodes SET {change}");
        Connection::open(&file)
            .unwrap()
            .execute_batch(&sql)
            .unwrap();
        let refused = block_on(store.node(&turn(1).id)).unwrap_err();
        let expected = format!(
            "the session store holds something unreadable: {expected}, in `FOLDER/sessions.db`"
        );
        assert_eq!(text_of(&refused, folder.path()), expected);
    }
}

#[test]
fn a_value_too_deep_to_be_read_back_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("sessions.db"));
    create_session(&store);
    let nested = |levels: usize| {
        let text = "[".repeat(levels) + &"]".repeat(levels);
        let mut node = turn(levels as u64);
        node.input = serde_json::from_str(&text).unwrap();
        node
    };
    let kept = nested(120);
    block_on(store.open_node(kept.clone())).unwrap();
    assert_eq!(all_nodes(&store)[0].opened, kept);
    let refused = block_on(store.open_node(nested(121))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the session store failed: a value nests deeper than 120 levels, which cannot be kept"
    );
}

#[test]
fn what_a_frame_sees_is_found_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    drop(open(&file));
    let database = Connection::open(&file).unwrap();
    let plan: String = database
        .query_row(
            "EXPLAIN QUERY PLAN SELECT seq, key FROM nodes WHERE session = ?1 AND scope IS ?2 \
             AND seq > ?3 AND seq < ?4 AND seq <= ?5 ORDER BY seq DESC LIMIT ?6",
            rusqlite::params![1, None::<String>, 0, 9, 9, 9],
            |row| row.get(3),
        )
        .unwrap();
    assert_eq!(
        plan,
        "SEARCH nodes USING COVERING INDEX nodes_by_scope (session=? AND scope=? AND seq>? AND seq<?)"
    );
}
