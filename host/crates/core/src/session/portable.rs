//! A session as one file: lines of JSON that another project can take in.
//!
//! The first line says what the file is, each further one is a node in its order. Nothing of a
//! node is left out, so what was exported and imported reads as before. A file may come from
//! anywhere: everything in it is bounded and checked, and an error names its line.

use serde::{Deserialize, Serialize};

use super::node::{Attempt, NewNode, Node, NodeEnd, NodeKind, NodeStatus, Session, Usage};
use super::runs::Run;
use crate::failure::Failure;
use crate::function::{Expose, RenderRange};
use crate::id::{NodeId, SessionId, Timestamp};
use crate::{Json, JsonObject};

/// What the first line says that a file is.
const FORMAT: &str = "openprogram-session";
/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;
/// The most nodes that a file may hold.
pub const PORTABLE_NODES_MAX: usize = 1_000_000;
/// The most bytes of the name of a node.
const NAME_BYTES_MAX: usize = 1_024;
/// The most nodes that the edge `reads` of one node may lead to.
const READS_MAX: usize = 1_000_000;

/// Why a file is no session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct PortableError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u64,
    session: String,
    title: String,
    created_at_ms: i64,
    nodes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    seq: u64,
    id: String,
    kind: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    caller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    predecessor: Option<String>,
    /// Places in the order, as runs.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    reads: String,
    input: Json,
    expose: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    callers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    subcalls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    doc: Option<String>,
    #[serde(skip_serializing_if = "JsonObject::is_empty", default)]
    facts: JsonObject,
    started_at_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    status: String,
    /// An array of one: an output of null is not the same as none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    output: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    failure: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    usage: Option<Tokens>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    attempts: Vec<Try>,
    #[serde(skip_serializing_if = "JsonObject::is_empty", default)]
    facts: JsonObject,
    finished_at_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_read: u64,
    cache_create: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Try {
    started_at_ms: i64,
    failure: Json,
}

/// The lines of a session, each without its line break. `nodes` are all of its nodes, ascending
/// from `seq` 1.
pub fn portable_lines<'a>(
    session: &Session,
    nodes: &'a [Node],
) -> impl Iterator<Item = String> + use<'a> {
    let head = Head {
        format: FORMAT.to_owned(),
        version: VERSION,
        session: session.id.as_str().to_owned(),
        title: session.title.clone(),
        created_at_ms: session.created_at.0,
        nodes: nodes.len() as u64,
    };
    let places: std::collections::HashMap<&NodeId, u64> = nodes
        .iter()
        .map(|node| (&node.opened.id, node.seq))
        .collect();
    let lines = nodes.iter().map(move |node| {
        let opened = &node.opened;
        let reads = opened.reads.iter().filter_map(|id| places.get(id).copied());
        let reads: Vec<u64> = reads.collect();
        text(&Line::of(node, Run::text_of(&reads)))
    });
    std::iter::once(text(&head)).chain(lines)
}

/// Plain values become text without fail.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl Line {
    fn of(node: &Node, reads: String) -> Self {
        let opened = &node.opened;
        let name = |id: &NodeId| id.as_str().to_owned();
        Self {
            seq: node.seq,
            id: name(&opened.id),
            kind: opened.kind.as_str().to_owned(),
            name: opened.name.clone(),
            caller: opened.caller.as_ref().map(name),
            predecessor: opened.predecessor.as_ref().map(name),
            reads,
            input: opened.input.clone(),
            expose: opened.expose.as_str().to_owned(),
            callers: opened.render_range.callers,
            subcalls: opened.render_range.subcalls,
            doc: opened.doc.clone(),
            facts: opened.facts.clone(),
            started_at_ms: opened.started_at.0,
            end: node.end.as_ref().map(End::of),
        }
    }
}

impl End {
    fn of(end: &NodeEnd) -> Self {
        let tries = end.attempts.iter().map(|attempt| Try {
            started_at_ms: attempt.started_at.0,
            failure: attempt.failure.to_json(),
        });
        Self {
            status: end.status.as_str().to_owned(),
            output: end.output.iter().cloned().collect(),
            failure: end.failure.as_ref().map(Failure::to_json),
            usage: end.usage.map(|usage| Tokens {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cache_read: usage.cache_read,
                cache_create: usage.cache_create,
            }),
            attempts: tries.collect(),
            facts: end.facts.clone(),
            finished_at_ms: end.finished_at.0,
        }
    }

    fn read(self) -> Result<NodeEnd, String> {
        let status = NodeStatus::parse(&self.status).filter(|s| *s != NodeStatus::Open);
        let failure = |json: &Json| Failure::from_json(json).ok_or("`failure` is no failure");
        if self.output.len() > 1 {
            return Err("`output` holds more than one value".to_owned());
        }
        let attempts = self.attempts.iter().map(|attempt| {
            Ok::<_, &str>(Attempt {
                started_at: Timestamp(attempt.started_at_ms),
                failure: failure(&attempt.failure)?,
            })
        });
        Ok(NodeEnd {
            status: status.ok_or_else(|| unknown("status", &self.status))?,
            failure: self.failure.as_ref().map(failure).transpose()?,
            usage: self.usage.map(|usage| Usage {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cache_read: usage.cache_read,
                cache_create: usage.cache_create,
            }),
            attempts: attempts.collect::<Result<_, _>>()?,
            output: self.output.into_iter().next(),
            facts: self.facts,
            finished_at: Timestamp(self.finished_at_ms),
        })
    }
}

fn unknown(key: &str, word: &str) -> String {
    let word: String = word.chars().take(40).collect();
    format!("`{word}` is no {key}")
}

/// Reads a session line by line.
#[derive(Debug, Default)]
pub struct PortableReader {
    line: usize,
    head: Option<(Session, u64)>,
    nodes: Vec<Node>,
}

impl PortableReader {
    /// Takes the next line; blank ones are passed over.
    ///
    /// # Errors
    /// When it does not belong there or says something that no session says.
    pub fn line(&mut self, text: &str) -> Result<(), PortableError> {
        self.line += 1;
        let read = match &self.head {
            _ if text.trim().is_empty() => Ok(()),
            None => read_head(text).map(|head| self.head = Some(head)),
            Some((session, _)) => {
                let session = session.id.clone();
                self.node(text, session)
            }
        };
        read.map_err(|what| self.error(what))
    }

    /// The session and its nodes, ascending from `seq` 1.
    ///
    /// # Errors
    /// When lines are missing.
    pub fn end(self) -> Result<(Session, Vec<Node>), PortableError> {
        let found = self.nodes.len() as u64;
        let what = match self.head {
            Some((session, count)) if count == found => return Ok((session, self.nodes)),
            Some((_, count)) => format!("the file ends after {found} of {count} nodes"),
            None => "the file is empty".to_owned(),
        };
        let line = self.line;
        Err(PortableError { line, what })
    }

    fn error(&self, what: String) -> PortableError {
        let line = self.line;
        PortableError { line, what }
    }

    fn node(&mut self, text: &str, session: SessionId) -> Result<(), String> {
        if self.nodes.len() == PORTABLE_NODES_MAX {
            return Err(format!("there are more than {PORTABLE_NODES_MAX} nodes"));
        }
        let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let seq = self.nodes.len() as u64 + 1;
        if line.seq != seq {
            return Err(format!("`seq` is {}, and {seq} is next", line.seq));
        }
        if line.name.len() > NAME_BYTES_MAX {
            return Err(format!("the name is longer than {NAME_BYTES_MAX} bytes"));
        }
        let reads = self.reads(&line.reads)?;
        let end = line.end.map(End::read).transpose()?;
        let id = |text: String| NodeId::parse(&text).ok_or_else(|| unknown("id of a node", &text));
        let opened = NewNode {
            id: id(line.id)?,
            session,
            kind: NodeKind::parse(&line.kind).ok_or_else(|| unknown("kind", &line.kind))?,
            name: line.name,
            caller: line.caller.map(id).transpose()?,
            predecessor: line.predecessor.map(id).transpose()?,
            reads,
            input: line.input,
            expose: Expose::parse(&line.expose).ok_or_else(|| unknown("expose", &line.expose))?,
            render_range: RenderRange {
                callers: line.callers,
                subcalls: line.subcalls,
            },
            doc: line.doc,
            facts: line.facts,
            started_at: Timestamp(line.started_at_ms),
        };
        self.nodes.push(Node { seq, opened, end });
        Ok(())
    }

    /// The nodes of runs of places, all of them before this line.
    fn reads(&self, text: &str) -> Result<Vec<NodeId>, String> {
        let runs = Run::parse_all(text).ok_or_else(|| unknown("list of places", text))?;
        let mut reads = Vec::new();
        for run in runs {
            let range = run.first.saturating_sub(1)..run.last;
            let range = usize::try_from(range.start).ok()..usize::try_from(range.end).ok();
            let nodes = match (run.first, range.start, range.end) {
                (1.., Some(start), Some(end)) => self.nodes.get(start..end),
                _ => None,
            };
            let nodes = nodes.ok_or_else(|| {
                let before = self.nodes.len();
                format!("`reads` leads to a node that is not one of the {before} before it")
            })?;
            if reads.len() + nodes.len() > READS_MAX {
                return Err(format!("`reads` leads to more than {READS_MAX} nodes"));
            }
            reads.extend(nodes.iter().map(|node| node.opened.id.clone()));
        }
        Ok(reads)
    }
}

fn read_head(text: &str) -> Result<(Session, u64), String> {
    let what = "this is no file of `openprogram export`";
    let head: Head = serde_json::from_str(text).map_err(|error| format!("{what}: {error}"))?;
    if head.format != FORMAT {
        return Err(what.to_owned());
    }
    if head.version != VERSION {
        return Err(format!(
            "the file has version {}, and this program reads version {VERSION}",
            head.version
        ));
    }
    let session = Session {
        id: SessionId::parse(&head.session).map_err(|error| error.to_string())?,
        created_at: Timestamp(head.created_at_ms),
        title: head.title,
        base: None,
    };
    Ok((session, head.nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::conformance;

    fn session() -> Session {
        Session {
            id: SessionId::from_bits(1),
            created_at: Timestamp(7),
            title: "ein Titel ✓\nmit Zeilen".to_owned(),
            base: None,
        }
    }

    fn read(lines: impl IntoIterator<Item = String>) -> Result<(Session, Vec<Node>), String> {
        let mut reader = PortableReader::default();
        for line in lines {
            reader.line(&line).map_err(|error| error.to_string())?;
        }
        reader.end().map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_reads_as_before() {
        let nodes = conformance::varied_nodes();
        let lines: Vec<String> = portable_lines(&session(), &nodes).collect();
        assert!(lines.iter().all(|line| !line.contains('\n')));
        assert_eq!(read(lines), Ok((session(), nodes)));
        let empty = portable_lines(&session(), &[]);
        assert_eq!(read(empty), Ok((session(), Vec::new())));
    }

    #[test]
    fn a_file_that_is_no_session_is_refused_with_its_line() {
        let nodes = conformance::varied_nodes();
        let lines: Vec<String> = portable_lines(&session(), &nodes).collect();
        let changed = |at: usize, from: &str, to: &str| {
            let mut lines = lines.clone();
            assert!(lines[at].contains(from), "{}", lines[at]);
            lines[at] = lines[at].replacen(from, to, 1);
            read(lines)
        };
        let told = |read: Result<_, String>, expected: &str| {
            let error = read.unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        told(read([]), "line 0: the file is empty");
        told(
            read(["{}".to_owned()]),
            "line 1: this is no file of `openprogram export`: missing",
        );
        told(
            changed(0, FORMAT, "other"),
            "line 1: this is no file of `openprogram export`",
        );
        told(
            changed(0, "\"version\":1", "\"version\":2"),
            "has version 2, and this program reads",
        );
        told(
            changed(0, "op-", "no-"),
            "line 1: `no-0000000000000001` is not a session id",
        );
        told(
            changed(1, "\"seq\":1", "\"seq\":2"),
            "line 2: `seq` is 2, and 1 is next",
        );
        told(
            changed(2, "\"kind\":\"user\"", "\"kind\":\"users\""),
            "line 3: `users` is no kind",
        );
        told(
            changed(2, "\"expose\":\"", "\"expose\":\"x"),
            "is no expose",
        );
        told(
            changed(2, "\"id\":", "\"more\":1,\"id\":"),
            "line 3: unknown field `more`",
        );
        told(
            changed(2, "\"status\":\"", "\"status\":\"open"),
            "is no status",
        );
        told(
            changed(4, "\"reads\":\"", "\"reads\":\"1-18446744073709551615,"),
            "line 5: `reads` leads to a node that is not one of the 3 before it",
        );
        told(
            changed(4, "\"reads\":\"", "\"reads\":\"0,"),
            "line 5: `reads` leads to a node",
        );
        told(
            read(lines[..3].to_vec()),
            "line 3: the file ends after 2 of",
        );
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        told(
            changed(4, "\"input\":", &format!("\"input\":{deep},\"x\":")),
            "recursion limit",
        );
    }
}
