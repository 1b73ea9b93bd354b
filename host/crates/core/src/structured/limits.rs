//! How large a schema may be and how much work one check may cost. Each limit is a named error.

/// The longest schema, as JSON text; a longer one is an `invalid_schema`.
pub const SCHEMA_BYTES_MAX: usize = 1024 * 1024;
/// The most schemas inside one schema; more are an `invalid_schema`.
pub const SCHEMA_NODES_MAX: usize = 4096;
/// How many bytes the paths of all schemas inside one schema and of their keywords may have
/// together: a long name that holds many schemas counts once for each of them. More are an
/// `invalid_schema`.
pub const SCHEMA_PATHS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How many levels of arrays and objects a schema may have below its root: fifty objects inside
/// each other. Deeper ones are an `invalid_schema`.
pub const SCHEMA_DEPTH_MAX: usize = 100;
/// How many bytes a compiled pattern may have; a larger one is `unsupported`.
pub const PATTERN_SIZE_MAX: usize = 64 * 1024;
/// How many bytes of a reply may be read by patterns, each pattern counted: a second at the
/// very worst. A reply that needs more fails its check.
pub const PATTERN_CHARS_MAX: u64 = 256 * 1024;
/// How many steps the check of one reply may take, several times what the longest reply of a model
/// needs. A schema that branches without end needs more, and fails the reply.
pub const CHECK_STEPS_MAX: u64 = 4_000_000;
/// How many schemas may be inside each other while a value is checked, references followed. The
/// JSON reader takes 127 levels; each needs two schemas or three.
pub const CHECK_DEPTH_MAX: usize = 400;
/// How many places one error names.
pub const ISSUES_MAX: usize = 20;
/// How many places that do not fit one check looks for. The ones that an error names are the first
/// of these in order; a check that finds so many ends.
pub const PLACES_MAX: usize = 4096;
/// How many bytes of a path are told; keys of a reply can be of any length.
pub const PATH_BYTES_MAX: usize = 256;
