//! Long texts: kept beside the rows, each once.
//!
//! A system prompt or a large result comes again and again; the rows hold its key. What stands in
//! a column is JSON or a doc, so `@` in front marks a key, and a doc that begins so is kept beside.

use std::borrow::Cow;

use openprogram_core::session::StoreError;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::error::Problem;

/// The longest text that stands in a row, in bytes. Shorter ones cost less there than apart.
const ROW_BYTES_MAX: usize = 4_096;

/// In front of the key of a text.
const MARK: char = '@';

/// The text as it stands in a column of the row, long ones by their key.
pub(crate) fn kept(database: &Connection, session: i64, text: String) -> Result<String, Problem> {
    if text.len() <= ROW_BYTES_MAX && !text.starts_with(MARK) {
        return Ok(text);
    }
    let digest: [u8; 32] = Sha256::digest(&text).into();
    let known = "SELECT key FROM texts WHERE digest = ?1";
    let known: Option<i64> = database
        .prepare_cached(known)?
        .query_row([digest], |row| row.get(0))
        .optional()?;
    let key = match known {
        Some(key) => key,
        None => {
            let insert = "INSERT INTO texts (digest, text) VALUES (?1, ?2)";
            let mut statement = database.prepare_cached(insert)?;
            statement.insert(params![digest, text])?
        }
    };
    let uses = "INSERT INTO text_uses (session, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    database.prepare_cached(uses)?.execute([session, key])?;
    Ok(format!("{MARK}{key}"))
}

/// The text behind what stands in a column.
///
/// # Errors
/// When the key leads nowhere.
pub(crate) fn read<'a>(database: &Connection, column: &'a str) -> Result<Cow<'a, str>, Problem> {
    let Some(key) = column.strip_prefix(MARK) else {
        return Ok(Cow::Borrowed(column));
    };
    let lost = || StoreError::Corrupt(format!("the text `{column}`"));
    let key: i64 = key.parse().map_err(|_| lost())?;
    let text: Option<String> = database
        .prepare_cached("SELECT text FROM texts WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    Ok(Cow::Owned(text.ok_or_else(lost)?))
}

/// Deletes what a session held, and the texts that nobody else holds.
pub(crate) fn forget(database: &Connection, session: i64) -> Result<(), Problem> {
    let held = "SELECT text FROM text_uses WHERE session = ?1 AND NOT EXISTS (SELECT 1 FROM \
                text_uses AS other WHERE other.text = text_uses.text AND other.session <> ?1)";
    let texts: Vec<i64> = database
        .prepare_cached(held)?
        .query_map([session], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    database.execute("DELETE FROM text_uses WHERE session = ?1", [session])?;
    let mut delete = database.prepare_cached("DELETE FROM texts WHERE key = ?1")?;
    for text in texts {
        delete.execute([text])?;
    }
    Ok(())
}
