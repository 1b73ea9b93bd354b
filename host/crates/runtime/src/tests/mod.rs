//! Whole runs over scripted models and native functions.
