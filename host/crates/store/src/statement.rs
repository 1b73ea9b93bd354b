//! The SQL of each method of the port, inside a transaction that is already begun.

use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::session::{
    NewNode, Node, NodeEnd, NodeQuery, NodeStatus, Run, Scope, SeenNode, Session, StoreError,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::branch::Branch;
use crate::error::Problem;
use crate::row::{
    self, EndRow, NODE_COLUMNS, NodeRow, SEEN_COLUMNS, SESSION_COLUMNS, facts_text, json_text,
    range_text,
};
use crate::texts;

pub(crate) fn insert_session(database: &Connection, session: &Session) -> Result<(), Problem> {
    if session.base.is_some() {
        return Err(StoreError::IsFork(session.id.clone()).into());
    }
    let sql = "INSERT INTO sessions (id, created_at, title) VALUES (?1, ?2, ?3) \
               ON CONFLICT (id) DO NOTHING";
    let values = params![session.id.as_str(), session.created_at.0, session.title];
    match database.prepare_cached(sql)?.execute(values)? {
        0 => Err(StoreError::SessionExists(session.id.clone()).into()),
        _ => Ok(()),
    }
}

pub(crate) fn session(database: &Connection, id: &SessionId) -> Result<Option<Session>, Problem> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?1");
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query([id.as_str()])?;
    rows.next()?.map(row::read_session).transpose()
}

pub(crate) fn sessions(database: &Connection, limit: u64) -> Result<Vec<Session>, Problem> {
    let sql = format!(
        "SELECT {SESSION_COLUMNS} FROM sessions ORDER BY created_at DESC, key DESC LIMIT ?1"
    );
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query([clamped(limit)])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.push(row::read_session(row)?);
    }
    Ok(sessions)
}

/// Checks a new node against the rules of the port, gives it the next `seq`, and writes it.
pub(crate) fn insert_node(
    database: &Connection,
    node: &NewNode,
    end: Option<&NodeEnd>,
) -> Result<u64, Problem> {
    let branch = Branch::of(database, &node.session)?;
    if place(database, &node.id)?.is_some() {
        return Err(StoreError::NodeExists(node.id.clone()).into());
    }
    let edge = |edge: &'static str, id: &NodeId| {
        let place = place(database, id)?.filter(|place| branch.holds(place.session, place.seq));
        let node = node.id.clone();
        place.ok_or_else(|| Problem::from(StoreError::BadEdge { node, edge }))
    };
    let caller = match &node.caller {
        Some(caller) => Some(edge("caller", caller)?),
        None => None,
    };
    if let Some(predecessor) = &node.predecessor {
        edge("predecessor", predecessor)?;
    }
    let mut reads = Vec::with_capacity(node.reads.len());
    for read in &node.reads {
        reads.push(edge("reads", read)?.seq);
    }
    check_end(&node.id, end)?;

    let caller = caller.map(|caller| caller.scope);
    let key = node.id.as_str().to_owned();
    let scope = Scope::of(&key, node.kind, node.expose, caller.as_ref());
    let session = branch.own();
    let end = EndRow::of(database, session, end)?;
    let kept = |text: String| texts::kept(database, session, text);
    let last = "SELECT max(seq) FROM nodes WHERE session = ?1";
    let last: Option<i64> = database
        .prepare_cached(last)?
        .query_row([session], |row| row.get(0))?;
    let seq = last.unwrap_or(branch.base_seq()) + 1;
    let sql = "INSERT INTO nodes (session, seq, id, kind, status, expose, caller, predecessor, \
               scope, turn_scope, call_scope, started_at, finished_at, name, render_range, facts, \
               doc, input, reads, output, failure, usage, attempts, end_facts) VALUES (?1, ?2, ?3, \
               ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
               ?22, ?23, ?24)";
    database.prepare_cached(sql)?.execute(params![
        session,
        seq,
        node.id.as_str(),
        node.kind.as_str(),
        end.status,
        node.expose.as_str(),
        node.caller.as_ref().map(NodeId::as_str),
        node.predecessor.as_ref().map(NodeId::as_str),
        scope.own,
        scope.turns,
        scope.calls,
        node.started_at.0,
        end.finished_at,
        node.name,
        range_text(node.render_range)?,
        kept(facts_text(&node.facts)?)?,
        node.doc.clone().map(kept).transpose()?,
        kept(json_text(&node.input)?)?,
        Run::text_of(&reads),
        end.output,
        end.failure,
        end.usage,
        end.attempts,
        end.end_facts,
    ])?;
    Ok(seq.unsigned_abs())
}

pub(crate) fn close_node(database: &Connection, id: &NodeId, end: &NodeEnd) -> Result<(), Problem> {
    let is_open = "SELECT session, status = 'open' FROM nodes WHERE id = ?1";
    let is_open: Option<(i64, bool)> = database
        .prepare_cached(is_open)?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let session = match is_open {
        None => return Err(StoreError::NoNode(id.clone()).into()),
        Some((_, false)) => return Err(StoreError::NodeClosed(id.clone()).into()),
        Some((session, true)) => session,
    };
    check_end(id, Some(end))?;
    let end = EndRow::of(database, session, Some(end))?;
    let sql = "UPDATE nodes SET status = ?2, finished_at = ?3, output = ?4, failure = ?5, \
               usage = ?6, attempts = ?7, end_facts = ?8 WHERE id = ?1";
    database.prepare_cached(sql)?.execute(params![
        id.as_str(),
        end.status,
        end.finished_at,
        end.output,
        end.failure,
        end.usage,
        end.attempts,
        end.end_facts,
    ])?;
    Ok(())
}

fn check_end(id: &NodeId, end: Option<&NodeEnd>) -> Result<(), StoreError> {
    match end {
        Some(end) if end.status == NodeStatus::Open => Err(StoreError::NotAnEnd(id.clone())),
        _ => Ok(()),
    }
}

pub(crate) fn node(database: &Connection, id: &NodeId) -> Result<Option<Node>, Problem> {
    let of = "SELECT sessions.id FROM nodes \
              JOIN sessions ON sessions.key = nodes.session WHERE nodes.id = ?1";
    let of: Option<String> = database
        .prepare_cached(of)?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    let Some(session) = of else {
        return Ok(None);
    };
    let session = row::session_id(&session)?;
    let branch = Branch::of(database, &session)?;
    let sql = format!("SELECT {NODE_COLUMNS} FROM nodes WHERE id = ?1");
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query([id.as_str()])?;
    match rows.next()? {
        Some(row) => {
            let row = NodeRow::read(database, row, &session)?;
            Ok(Some(with_reads(database, &branch, row)?))
        }
        None => Ok(None),
    }
}

pub(crate) fn nodes(
    database: &Connection,
    session: &SessionId,
    query: NodeQuery,
) -> Result<Vec<Node>, Problem> {
    let branch = Branch::of(database, session)?;
    let sql = format!(
        "SELECT {NODE_COLUMNS} FROM nodes WHERE session = ?1 AND seq > ?2 AND seq < ?3 \
         AND seq <= ?4 ORDER BY seq DESC LIMIT ?5"
    );
    let mut statement = database.prepare_cached(&sql)?;
    let mut bounds = Bounds::of(query);
    let mut nodes = Vec::new();
    for (part, upto) in branch.parts() {
        let before = nodes.len();
        let values = params![part, bounds.after, bounds.before, upto, bounds.limit];
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            let row = NodeRow::read(database, row, session)?;
            let node = with_reads(database, &branch, row)?;
            let is_open = branch.is_open(node.seq);
            nodes.push(if is_open { node.still_open() } else { node });
        }
        bounds.took(nodes.len() - before);
    }
    nodes.reverse();
    Ok(nodes)
}

pub(crate) fn seen_nodes(
    database: &Connection,
    session: &SessionId,
    inside: &[NodeId],
    query: NodeQuery,
) -> Result<Vec<SeenNode>, Problem> {
    let branch = Branch::of(database, session)?;
    let places = seen_places(database, &branch, inside, query)?;
    let sql = format!("SELECT {SEEN_COLUMNS} FROM nodes WHERE key = ?1");
    let mut statement = database.prepare_cached(&sql)?;
    let mut nodes = Vec::with_capacity(places.len());
    for (_, key) in places {
        let mut rows = statement.query([key])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        nodes.push(read_seen(database, &branch, row)?);
    }
    Ok(nodes)
}

/// The `seq` and key of the nodes seen, ascending: the last of each scope, merged.
///
/// Each scope is one run of the index, read from its end; one statement over all of them would
/// sort or pass everything that is not seen.
fn seen_places(
    database: &Connection,
    branch: &Branch,
    inside: &[NodeId],
    query: NodeQuery,
) -> Result<Vec<(i64, i64)>, Problem> {
    let mut scopes: Vec<Option<&str>> = inside.iter().map(|id| Some(id.as_str())).collect();
    scopes.push(None);
    scopes.sort_unstable();
    scopes.dedup();

    let sql = "SELECT seq, key FROM nodes WHERE session = ?1 AND scope IS ?2 AND seq > ?3 \
               AND seq < ?4 AND seq <= ?5 ORDER BY seq DESC LIMIT ?6";
    let mut statement = database.prepare_cached(sql)?;
    let bounds = Bounds::of(query);
    let mut places: Vec<(i64, i64)> = Vec::new();
    for (part, upto) in branch.parts() {
        for scope in &scopes {
            let (after, before) = (bounds.after, bounds.before);
            let values = params![part, scope, after, before, upto, bounds.limit];
            let found = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            for place in found {
                places.push(place?);
            }
        }
        if query.last.is_some_and(|last| places.len() as u64 >= last) {
            // What is older than this part is older than all of these.
            break;
        }
    }
    places.sort_unstable();
    let last = query.last.and_then(|last| usize::try_from(last).ok());
    places.drain(..places.len().saturating_sub(last.unwrap_or(usize::MAX)));
    Ok(places)
}

pub(crate) fn chain(
    database: &Connection,
    session: &SessionId,
    id: &NodeId,
) -> Result<Vec<SeenNode>, Problem> {
    let branch = Branch::of(database, session)?;
    let sql = format!("SELECT {SEEN_COLUMNS}, session FROM nodes WHERE id = ?1");
    let mut statement = database.prepare_cached(&sql)?;
    let mut chain: Vec<SeenNode> = Vec::new();
    let mut next = Some(id.clone());
    while let Some(id) = next {
        let mut rows = statement.query([id.as_str()])?;
        let missing = || StoreError::NoNode(id.clone());
        let row = rows.next()?.ok_or_else(missing)?;
        let part: i64 = row.get("session")?;
        let node = read_seen(database, &branch, row)?;
        if !branch.holds(part, node.seq) {
            return Err(missing().into());
        }
        if chain.last().is_some_and(|below| below.seq <= node.seq) {
            // A caller is older than what it calls; anything else would never end.
            return Err(StoreError::Corrupt(format!("`caller` of the node `{id}`")).into());
        }
        next = node.caller.clone();
        chain.push(node);
    }
    Ok(chain)
}

/// A node as this branch reads it.
fn read_seen(
    database: &Connection,
    branch: &Branch,
    row: &rusqlite::Row<'_>,
) -> Result<SeenNode, Problem> {
    let node = row::read_seen(database, row)?;
    let is_open = branch.is_open(node.seq);
    Ok(if is_open { node.still_open() } else { node })
}

/// Where an older node stands, as far as a new one has to know.
struct Place {
    session: i64,
    seq: u64,
    scope: Scope<String>,
}

fn place(database: &Connection, id: &NodeId) -> Result<Option<Place>, Problem> {
    let sql = "SELECT session, seq, scope, turn_scope, call_scope FROM nodes WHERE id = ?1";
    let place = database
        .prepare_cached(sql)?
        .query_row([id.as_str()], |row| {
            Ok(Place {
                session: row.get(0)?,
                seq: row.get::<_, i64>(1)?.unsigned_abs(),
                scope: Scope {
                    own: row.get(2)?,
                    turns: row.get(3)?,
                    calls: row.get(4)?,
                },
            })
        })
        .optional()?;
    Ok(place)
}

/// The node of a row, its places in the order turned into ids.
fn with_reads(database: &Connection, branch: &Branch, row: NodeRow) -> Result<Node, Problem> {
    let mut node = Node {
        seq: row.seq,
        opened: row.opened,
        end: row.end,
    };
    let sql = "SELECT id FROM nodes WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq";
    let mut statement = database.prepare_cached(sql)?;
    for run in row.reads {
        for (part, upto) in branch.parts().rev() {
            let values = params![part, clamped(run.first), clamped(run.last).min(upto)];
            let ids = statement.query_map(values, |row| row.get(0))?;
            for id in ids {
                node.opened.reads.push(NodeId::from_stored(id?));
            }
        }
    }
    Ok(node)
}

/// A query in the numbers of SQL.
struct Bounds {
    after: i64,
    before: i64,
    /// Negative is no limit.
    limit: i64,
}

impl Bounds {
    fn of(query: NodeQuery) -> Self {
        Self {
            after: query.after.map_or(0, clamped),
            before: query.before.map_or(i64::MAX, clamped),
            limit: query.last.map_or(-1, clamped),
        }
    }

    /// So many nodes of those wanted are found.
    fn took(&mut self, count: usize) {
        if self.limit >= 0 {
            self.limit = self.limit.saturating_sub(clamped(count as u64)).max(0);
        }
    }
}

/// No session has more nodes and no list more entries than fit.
fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
