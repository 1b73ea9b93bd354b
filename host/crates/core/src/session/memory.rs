//! The default store: keeps everything in memory, for one process.

/// Keeps sessions in memory; gone with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {}
