//! A session with everything that it goes on from.

use openprogram_core::id::SessionId;
use openprogram_core::session::{Run, StoreError};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Problem;

/// The parts of a session, newest first: its own nodes, then those of its base, and so on.
pub(crate) struct Branch {
    parts: Vec<Part>,
}

/// The nodes of one row of `sessions`, up to a place.
struct Part {
    session: i64,
    upto: i64,
    /// Where its own nodes begin after.
    base_seq: i64,
    /// Places up to `base_seq` that are read as open.
    open: Vec<Run>,
}

impl Branch {
    pub(crate) fn of(database: &Connection, session: &SessionId) -> Result<Self, Problem> {
        let by_id = "SELECT key, base, base_seq, base_open FROM sessions WHERE id = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let open: Option<String> = row.get(3)?;
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, open))
        };
        type Row = (i64, Option<i64>, Option<i64>, Option<String>);
        let found: Option<Row> = database
            .prepare_cached(by_id)?
            .query_row([session.as_str()], read)
            .optional()?;
        let mut row = found.ok_or_else(|| StoreError::NoSession(session.clone()))?;
        let mut upto = i64::MAX;
        let mut parts = Vec::with_capacity(1);
        let damaged = || StoreError::Corrupt(format!("`base` of the session `{session}`"));
        loop {
            let (key, base, base_seq, open) = row;
            let open = open.as_deref().map_or(Some(Vec::new()), Run::parse_all);
            parts.push(Part {
                session: key,
                upto,
                base_seq: base_seq.unwrap_or_default(),
                open: open.ok_or_else(damaged)?,
            });
            let Some(base) = base else {
                return Ok(Self { parts });
            };
            // A base is older than its forks; anything else would never end.
            if base >= key {
                return Err(damaged().into());
            }
            upto = upto.min(base_seq.unwrap_or_default());
            let by_key = "SELECT key, base, base_seq, base_open FROM sessions WHERE key = ?1";
            row = database.prepare_cached(by_key)?.query_row([base], read)?;
        }
    }

    /// The row that new nodes are written to.
    pub(crate) fn own(&self) -> i64 {
        self.parts[0].session
    }

    /// The last place before the first node of its own.
    pub(crate) fn base_seq(&self) -> i64 {
        self.parts[0].base_seq
    }

    /// How many sessions it goes on from.
    pub(crate) fn depth(&self) -> usize {
        self.parts.len() - 1
    }

    /// Each row of `sessions` and the last place that is read of it, newest first.
    pub(crate) fn parts(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> {
        self.parts.iter().map(|part| (part.session, part.upto))
    }

    /// Whether a node of this row and place is read.
    pub(crate) fn holds(&self, session: i64, seq: u64) -> bool {
        let mut parts = self.parts();
        parts.any(|(own, upto)| own == session && i64::try_from(seq).is_ok_and(|seq| seq <= upto))
    }

    /// Whether the node at a place had not ended where this branch begins.
    pub(crate) fn is_open(&self, seq: u64) -> bool {
        let is_listed = |run: &Run| (run.first..=run.last).contains(&seq);
        self.parts
            .iter()
            .any(|part| part.open.iter().any(is_listed))
    }
}
