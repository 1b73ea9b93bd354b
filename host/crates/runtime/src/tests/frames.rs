//! Ambient runtime, context and system prompt over the frames of a run.
