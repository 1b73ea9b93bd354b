//! The SQL of what is done to whole sessions, inside a transaction that is already begun.

use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    Base, FORK_DEPTH_MAX, ForkPoint, ForkStep, Node, Session, StoreError,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::branch::Branch;
use crate::error::Problem;
use crate::row::runs_text;
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
    let values = params![fork.id.as_str(), branch.own(), seq, runs_text(&base.open)];
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
        let fork =
            SessionId::parse(&fork).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let session = id.clone();
        return Err(StoreError::HasFork { session, fork }.into());
    }
    database.execute("DELETE FROM nodes WHERE session = ?1", [key])?;
    texts::forget(database, key)?;
    database.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
    Ok(())
}
