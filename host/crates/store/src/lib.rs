//! Session stores on databases.
//!
//! [`SqliteStore`] keeps sessions in one SQLite file. It is the default of the command line; any
//! number of processes may use the same file at the same time.
#![warn(missing_docs)]

mod archive;
mod branch;
mod error;
mod migrate;
mod open;
mod row;
mod sqlite;
mod statement;
mod texts;

#[cfg(test)]
mod tests;

pub use error::{OpenError, UseError};
pub use open::Durability;
pub use sqlite::SqliteStore;
