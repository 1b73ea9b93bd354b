//! Values, rules and ports of OpenProgram; no input or output.
