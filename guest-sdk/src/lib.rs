//! What authors of OpenProgram functions use.
