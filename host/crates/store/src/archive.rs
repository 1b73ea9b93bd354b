//! The SQL of what is done to whole sessions, inside a transaction that is already begun.

use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    Base, FORK_DEPTH_MAX, ForkPoint, ForkStep, Node, Run, Session, SessionSize, StoreError,
    json_inside,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::branch::Branch;
use crate::error::Problem;
use crate::row::session_id;
use crate::statement::{insert_node, insert_session};
use crate::texts;

pub(crate) fn fork_session(
    database: &Connection,
    fork: &Session,
    from: &SessionId,
    point: ForkPoint,
) -> Result<(), Problem> {
    let branch = Branch::of(database, from)?;
    if branch.depth() >= FORK_DEPTH_MAX {
        return Err(StoreError::TooManyForks(from.clone()).into());
    }
    insert_session(database, fork)?;
    let base = Base::of(from, &steps(database, &branch)?, point)?;
    let sql = "UPDATE sessions SET base = ?2, base_seq = ?3, base_open = ?4 WHERE id = ?1";
    let seq = i64::try_from(base.seq).unwrap_or(i64::MAX);
    let values = params![
        fork.id.as_str(),
        branch.own(),
        seq,
        Run::text_of(&base.open)
    ];
    database.execute(sql, values)?;
    Ok(())
}

/// Where all nodes of a session stand, ascending.
fn steps(database: &Connection, branch: &Branch) -> Result<Vec<ForkStep>, Problem> {
    let sql = "SELECT seq, id, caller, started_at, finished_at FROM nodes WHERE session = ?1 \
               AND seq <= ?2 ORDER BY seq";
    let mut statement = database.prepare(sql)?;
    let mut steps = Vec::new();
    for (part, upto) in branch.parts().rev() {
        let found = statement.query_map([part, upto], |row| {
            let seq = row.get::<_, i64>(0)?.unsigned_abs();
            let finished_at: Option<i64> = row.get(4)?;
            Ok(ForkStep {
                seq,
                id: NodeId::from_stored(row.get(1)?),
                caller: row.get::<_, Option<String>>(2)?.map(NodeId::from_stored),
                started_at: Timestamp(row.get(3)?),
                finished_at: finished_at.filter(|_| !branch.is_open(seq)).map(Timestamp),
            })
        })?;
        for step in found {
            steps.push(step?);
        }
    }
    Ok(steps)
}

pub(crate) fn import_session(
    database: &Connection,
    session: &Session,
    nodes: Vec<Node>,
) -> Result<(), Problem> {
    insert_session(database, session)?;
    for (seq, mut node) in (1..).zip(nodes) {
        if node.seq != seq {
            let node = node.opened.id;
            return Err(StoreError::OutOfOrder { node, seq }.into());
        }
        node.opened.session = session.id.clone();
        insert_node(database, &node.opened, node.end.as_ref())?;
    }
    Ok(())
}

pub(crate) fn delete_session(database: &Connection, id: &SessionId) -> Result<(), Problem> {
    let key = Branch::of(database, id)?.own();
    let fork: Option<String> = database
        .query_row("SELECT id FROM sessions WHERE base = ?1", [key], |row| {
            row.get(0)
        })
        .optional()?;
    if let Some(fork) = fork {
        let fork = session_id(&fork)?;
        let session = id.clone();
        return Err(StoreError::HasFork { session, fork }.into());
    }
    database.execute("DELETE FROM nodes WHERE session = ?1", [key])?;
    texts::forget(database, key)?;
    database.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
    Ok(())
}

/// Whether a column holds a text; `?` is the text as a pattern. Long texts stand apart.
fn holds(column: &str) -> String {
    format!(
        "{column} LIKE ?1 ESCAPE '\\' OR ({column} LIKE '@%' AND {column} IN \
         (SELECT '@' || key FROM texts WHERE text LIKE ?1 ESCAPE '\\'))"
    )
}

pub(crate) fn search(
    database: &Connection,
    text: &str,
    session: Option<&SessionId>,
    limit: u64,
) -> Result<Vec<(SessionId, u64)>, Problem> {
    let (inside, name) = (pattern(&json_inside(text)), pattern(text));
    let said = [
        holds("input"),
        holds("output"),
        "name LIKE ?2 ESCAPE '\\'".to_owned(),
    ];
    let said = said.join(" OR ");
    let select = "SELECT sessions.id, seq FROM nodes JOIN sessions ON sessions.key = session WHERE";
    let mut left = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    let read = |row: &Row<'_>| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, i64>(1)?.unsigned_abs(),
        ))
    };
    let Some(session) = session else {
        let sql = format!("{select} {said} ORDER BY nodes.key DESC LIMIT ?3");
        let mut statement = database.prepare(&sql)?;
        for row in statement.query_map(params![inside, name, left], read)? {
            found.push(row?);
        }
        return found.into_iter().map(place_of).collect();
    };
    let sql =
        format!("{select} session = ?4 AND seq <= ?5 AND ({said}) ORDER BY seq DESC LIMIT ?3");
    let mut statement = database.prepare(&sql)?;
    for (part, upto) in Branch::of(database, session)?.parts() {
        let values = params![inside, name, left, part, upto];
        for row in statement.query_map(values, read)? {
            found.push(row?);
            left -= 1;
        }
    }
    found.into_iter().map(place_of).collect()
}

fn place_of((id, seq): (String, u64)) -> Result<(SessionId, u64), Problem> {
    Ok((session_id(&id)?, seq))
}

/// A pattern of LIKE that finds this text anywhere.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

pub(crate) fn sizes(database: &Connection) -> Result<Vec<SessionSize>, Problem> {
    let sql = "SELECT id, \
               coalesce((SELECT max(started_at) FROM nodes WHERE session = sessions.key), created_at), \
               coalesce((SELECT sum(length(name) + length(facts) + length(input) + length(reads) \
                 + coalesce(length(doc), 0) + coalesce(length(output), 0) \
                 + coalesce(length(attempts), 0) + coalesce(length(end_facts), 0)) \
                 FROM nodes WHERE session = sessions.key), 0) \
               + coalesce((SELECT sum(length(texts.text)) FROM text_uses JOIN texts \
                 ON texts.key = text_uses.text WHERE text_uses.session = sessions.key), 0) \
               FROM sessions ORDER BY 2, key";
    let mut statement = database.prepare(sql)?;
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, i64>(2)?));
    let mut sizes = Vec::new();
    for row in statement.query_map([], read)? {
        let (id, touched_at, bytes) = row?;
        sizes.push(SessionSize {
            session: session_id(&id)?,
            bytes: bytes.unsigned_abs(),
            touched_at: Timestamp(touched_at),
        });
    }
    Ok(sizes)
}
