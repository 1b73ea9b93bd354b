//! Tests that need the whole host.
