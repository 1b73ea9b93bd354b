//! The OpenProgram host: library models, sandboxed functions, and the command line.
