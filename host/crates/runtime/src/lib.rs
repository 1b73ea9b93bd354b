//! Orchestration of turns, decisions and function calls over the ports of core.
