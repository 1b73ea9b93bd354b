//! Nodes as rows: the twins of the values of the core, and both conversions.
//!
//! A row is written by this program only, so one that cannot be read is damage and says where.

use std::borrow::Cow;

use openprogram_core::failure::Failure;
use openprogram_core::function::{Expose, RenderRange};
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    Attempt, Base, NewNode, NodeEnd, NodeKind, NodeStatus, Run, SeenNode, Session, StoreError,
    Usage,
};
use openprogram_core::{Json, JsonObject};
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::texts;

/// What [`read_session`] reads.
pub(crate) const SESSION_COLUMNS: &str = "id, created_at, title, \
     (SELECT id FROM sessions AS base WHERE base.key = sessions.base), base_seq, base_open";

/// What [`read_seen`] reads.
pub(crate) const SEEN_COLUMNS: &str =
    "seq, id, kind, name, caller, scope, input, doc, facts, status, output, failure";

/// What [`NodeRow::read`] reads.
pub(crate) const NODE_COLUMNS: &str = "seq, id, kind, name, caller, predecessor, reads, input, \
     expose, render_range, doc, facts, started_at, status, output, failure, usage, attempts, \
     end_facts, finished_at";

#[derive(Serialize, Deserialize)]
struct RangeRow {
    callers: Option<u64>,
    subcalls: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct UsageRow {
    input_tokens: u64,
    output_tokens: u64,
    cache_read: u64,
    cache_create: u64,
}

#[derive(Serialize, Deserialize)]
struct AttemptRow {
    started_at: i64,
    failure: Json,
}

/// The closing columns of a node.
pub(crate) struct EndRow {
    pub(crate) status: &'static str,
    pub(crate) output: Option<String>,
    pub(crate) failure: Option<String>,
    pub(crate) usage: Option<String>,
    pub(crate) attempts: Option<String>,
    pub(crate) end_facts: Option<String>,
    pub(crate) finished_at: Option<i64>,
}

impl EndRow {
    /// The columns of an end, long texts kept for the session.
    pub(crate) fn of(
        database: &Connection,
        session: i64,
        end: Option<&NodeEnd>,
    ) -> Result<Self, Problem> {
        let Some(end) = end else {
            return Ok(Self {
                status: NodeStatus::Open.as_str(),
                output: None,
                failure: None,
                usage: None,
                attempts: None,
                end_facts: None,
                finished_at: None,
            });
        };
        let usage = end.usage.map(|usage| UsageRow {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read: usage.cache_read,
            cache_create: usage.cache_create,
        });
        let kept = |text: Option<String>| {
            text.map(|text| texts::kept(database, session, text))
                .transpose()
        };
        let failure = end.failure.as_ref();
        let failure = failure.map(|failure| json_text(&failure.to_json()));
        Ok(Self {
            status: end.status.as_str(),
            output: kept(end.output.as_ref().map(json_text).transpose()?)?,
            failure: kept(failure.transpose()?)?,
            usage: usage.as_ref().map(to_text).transpose()?,
            attempts: kept(Some(attempts_text(&end.attempts)?))?,
            end_facts: kept(Some(facts_text(&end.facts)?))?,
            finished_at: Some(end.finished_at.0),
        })
    }
}

/// A node read from its row. `reads` are still places in the order.
pub(crate) struct NodeRow {
    pub(crate) seq: u64,
    pub(crate) reads: Vec<Run>,
    pub(crate) opened: NewNode,
    pub(crate) end: Option<NodeEnd>,
}

impl NodeRow {
    /// Reads a row of [`NODE_COLUMNS`].
    pub(crate) fn read(
        database: &Connection,
        row: &Row<'_>,
        session: &SessionId,
    ) -> Result<Self, Problem> {
        let id = NodeId::from_stored(row.get(1)?);
        let at = Column {
            node: &id,
            database,
        };
        let opened = NewNode {
            session: session.clone(),
            kind: at.word(row, 2, NodeKind::parse)?,
            name: row.get(3)?,
            caller: row.get::<_, Option<String>>(4)?.map(NodeId::from_stored),
            predecessor: row.get::<_, Option<String>>(5)?.map(NodeId::from_stored),
            reads: Vec::new(),
            input: at.json(row, 7)?,
            expose: at.word(row, 8, Expose::parse)?,
            render_range: at.json::<RangeRow>(row, 9).map(|range| RenderRange {
                callers: range.callers,
                subcalls: range.subcalls,
            })?,
            doc: at.text_or_none(row, 10)?,
            facts: at.json(row, 11)?,
            started_at: Timestamp(row.get(12)?),
            id: id.clone(),
        };
        let status = at.word(row, 13, NodeStatus::parse)?;
        let end = match row.get::<_, Option<i64>>(19)? {
            None => None,
            Some(finished_at) => Some(NodeEnd {
                status,
                output: at.json_or_none(row, 14)?,
                failure: at.failure(row, 15)?,
                usage: at.json_or_none::<UsageRow>(row, 16)?.map(|usage| Usage {
                    input_tokens: usage.input_tokens,
                    output_tokens: usage.output_tokens,
                    cache_read: usage.cache_read,
                    cache_create: usage.cache_create,
                }),
                attempts: at.attempts(row, 17)?,
                facts: at.json(row, 18)?,
                finished_at: Timestamp(finished_at),
            }),
        };
        Ok(Self {
            seq: at.seq(row, 0)?,
            reads: at.word(row, 6, Run::parse_all)?,
            opened,
            end,
        })
    }
}

/// Reads a row of [`SEEN_COLUMNS`].
pub(crate) fn read_seen(database: &Connection, row: &Row<'_>) -> Result<SeenNode, Problem> {
    let id = NodeId::from_stored(row.get(1)?);
    let at = Column {
        node: &id,
        database,
    };
    Ok(SeenNode {
        seq: at.seq(row, 0)?,
        kind: at.word(row, 2, NodeKind::parse)?,
        name: row.get(3)?,
        caller: row.get::<_, Option<String>>(4)?.map(NodeId::from_stored),
        scope: row.get::<_, Option<String>>(5)?.map(NodeId::from_stored),
        input: at.json(row, 6)?,
        doc: at.text_or_none(row, 7)?,
        facts: at.json(row, 8)?,
        status: at.word(row, 9, NodeStatus::parse)?,
        output: at.json_or_none(row, 10)?,
        failure: at.failure(row, 11)?,
        id: id.clone(),
    })
}

/// The id of a session as a row holds it.
pub(crate) fn session_id(text: &str) -> Result<SessionId, Problem> {
    let id = SessionId::parse(text);
    id.map_err(|error| StoreError::Corrupt(error.to_string()).into())
}

/// Reads a row of [`SESSION_COLUMNS`].
pub(crate) fn read_session(row: &Row<'_>) -> Result<Session, Problem> {
    let id = session_id(&row.get::<_, String>(0)?)?;
    let damaged = || StoreError::Corrupt(format!("`base` of the session `{id}`"));
    let base = match row.get::<_, Option<String>>(3)? {
        None => None,
        Some(base) => {
            let seq = u64::try_from(row.get::<_, i64>(4)?).ok();
            let open: String = row.get(5)?;
            let open = Run::parse_all(&open).ok_or_else(damaged)?;
            Some(Base {
                session: SessionId::parse(&base).map_err(|_| damaged())?,
                seq: seq.ok_or_else(damaged)?,
                open: open.iter().flat_map(|run| run.first..=run.last).collect(),
            })
        }
    };
    Ok(Session {
        created_at: Timestamp(row.get(1)?),
        title: row.get(2)?,
        base,
        id,
    })
}

/// Reads the columns of one node and says whose they are when they cannot be read.
struct Column<'a> {
    node: &'a NodeId,
    database: &'a Connection,
}

impl Column<'_> {
    fn unreadable(&self, row: &Row<'_>, index: usize) -> Problem {
        let column = row.as_ref().column_name(index).unwrap_or("?");
        let what = format!("`{column}` of the node `{}`", self.node);
        Problem::Store(StoreError::Corrupt(what))
    }

    fn seq(&self, row: &Row<'_>, index: usize) -> Result<u64, Problem> {
        u64::try_from(row.get::<_, i64>(index)?).map_err(|_| self.unreadable(row, index))
    }

    fn word<T>(
        &self,
        row: &Row<'_>,
        index: usize,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Problem> {
        let word = row.get_ref(index)?.as_str().ok();
        word.and_then(parse)
            .ok_or_else(|| self.unreadable(row, index))
    }

    fn json<T: DeserializeOwned>(&self, row: &Row<'_>, index: usize) -> Result<T, Problem> {
        self.json_or_none(row, index)?
            .ok_or_else(|| self.unreadable(row, index))
    }

    fn json_or_none<T: DeserializeOwned>(
        &self,
        row: &Row<'_>,
        index: usize,
    ) -> Result<Option<T>, Problem> {
        let text = row.get_ref(index)?.as_str_or_null();
        let text = text.map_err(|_| self.unreadable(row, index))?;
        let Some(text) = text else { return Ok(None) };
        let text = texts::read(self.database, text)?;
        // Not read as `Option<T>`: a JSON null is a value and not its absence.
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| self.unreadable(row, index))
    }

    fn text_or_none(&self, row: &Row<'_>, index: usize) -> Result<Option<String>, Problem> {
        let text: Option<String> = row.get(index)?;
        let text = text.as_deref().map(|text| texts::read(self.database, text));
        Ok(text.transpose()?.map(Cow::into_owned))
    }

    fn failure(&self, row: &Row<'_>, index: usize) -> Result<Option<Failure>, Problem> {
        let Some(json) = self.json_or_none::<Json>(row, index)? else {
            return Ok(None);
        };
        let failure = Failure::from_json(&json);
        failure.map(Some).ok_or_else(|| self.unreadable(row, index))
    }

    fn attempts(&self, row: &Row<'_>, index: usize) -> Result<Vec<Attempt>, Problem> {
        let rows: Vec<AttemptRow> = self.json(row, index)?;
        let attempts = rows.into_iter().map(|attempt| {
            Some(Attempt {
                started_at: Timestamp(attempt.started_at),
                failure: Failure::from_json(&attempt.failure)?,
            })
        });
        attempts
            .collect::<Option<_>>()
            .ok_or_else(|| self.unreadable(row, index))
    }
}

fn to_text<T: Serialize>(value: &T) -> Result<String, Problem> {
    let refused = |error| Problem::Store(StoreError::Backend(Box::new(error)));
    serde_json::to_string(value).map_err(refused)
}

/// JSON as text that can be read back.
pub(crate) fn json_text(json: &Json) -> Result<String, Problem> {
    check_depth(json)?;
    to_text(json)
}

pub(crate) fn facts_text(facts: &JsonObject) -> Result<String, Problem> {
    facts.values().try_for_each(check_depth)?;
    to_text(facts)
}

/// Readers of JSON stop at 128 levels, so what is deeper must not be written. Some levels are left
/// for what stands around a value in its column.
const JSON_DEPTH_MAX: u32 = 120;

#[derive(Debug, thiserror::Error)]
#[error("a value nests deeper than {JSON_DEPTH_MAX} levels, which cannot be kept")]
struct TooDeep;

fn check_depth(json: &Json) -> Result<(), Problem> {
    fn fits(json: &Json, levels: u32) -> bool {
        match json {
            Json::Array(_) | Json::Object(_) if levels == 0 => false,
            Json::Array(items) => items.iter().all(|item| fits(item, levels - 1)),
            Json::Object(fields) => fields.values().all(|field| fits(field, levels - 1)),
            _ => true,
        }
    }
    if fits(json, JSON_DEPTH_MAX) {
        return Ok(());
    }
    Err(StoreError::Backend(Box::new(TooDeep)).into())
}

fn attempts_text(attempts: &[Attempt]) -> Result<String, Problem> {
    let mut rows = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let failure = attempt.failure.to_json();
        check_depth(&failure)?;
        rows.push(AttemptRow {
            started_at: attempt.started_at.0,
            failure,
        });
    }
    to_text(&rows)
}

pub(crate) fn range_text(range: RenderRange) -> Result<String, Problem> {
    to_text(&RangeRow {
        callers: range.callers,
        subcalls: range.subcalls,
    })
}
