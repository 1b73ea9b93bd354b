//! The next step as a decision: a menu of options, a reply, a checked pick.
//!
//! Takes the reply as text; how the model is asked is not known here.

mod arguments;
mod confidence;
mod constrained;
mod error;
mod example;
mod extract;
mod group;
mod menu;
mod node;
mod object;
mod option;
mod option_file;
mod option_function;
mod pick;
mod prompt;
mod read;
mod read_string;
mod render;
mod repair;
mod schema_form;
mod schema_tagged;
mod score;
mod settings;
mod type_name;
mod vote;
mod weights;
mod words;

#[cfg(test)]
mod tests;

pub use arguments::{check_arguments, fill_hidden, hidden_values};
pub use confidence::{Confidence, ConfidenceSource, LowConfidence, MinConfidence, Settled, settle};
pub use constrained::pick_schema;
pub use error::DecisionError;
pub use extract::{CANDIDATES_MAX, Candidate, REPLY_BYTES_MAX, extract};
pub use group::{GROUPS_MAX, GroupError, GroupedMenu, OptionGroup};
pub use menu::{MENU_OPTIONS_MAX, MENU_TEXT_BYTES_MAX, Menu, MenuError, OPTION_NAME_BYTES_MAX};
pub use object::{ARGUMENTS_TEXT_BYTES_MAX, ObjectError, ParsedObject, parse_object};
pub use option::{MenuOption, OptionKind, OptionSpec, Payload};
pub use option_file::{FileOption, parse_option_file};
pub use pick::{Pick, PickError, PickErrorKind, check_pick, make_pick, parse_reply, resolve_value};
pub use prompt::{finish_instruction, render_retry};
pub use render::{OPTION_TEXT_CHARS_MAX, render_menu};
pub use schema_form::{SCHEMA_FIELDS_MAX, SCHEMA_LEVELS_MAX, SchemaError, parse_schema};
pub use score::{CALIBRATION_BINS, Score, ScoredCase, score};
pub use settings::{DecisionSettings, EXIT_NAME, SettingsError, VOTES_MAX};
pub use vote::{Elected, Tie, count_votes, rotation, tally_to_json};
pub use weights::{
    WEIGHT_SUM_TOLERANCE, Weighed, WeightsError, pick_without_arguments, read_weights,
};
pub use words::signature_type;
