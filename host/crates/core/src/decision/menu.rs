//! A menu: options that were checked together, before any model is asked.

use std::collections::HashSet;

use super::option::{MenuOption, Payload};
use super::render::render_option;
use crate::failure::{Failure, FailureCode};
use crate::function::Offer;
use crate::schema::{RecordType, names_equal, quoted};
use crate::text::is_clean_line;

/// How many options one menu may have. Far more than a model can weigh, few enough to render.
pub const MENU_OPTIONS_MAX: usize = 512;
/// How long the text of a menu may be, in bytes. A long text repeated by many options is refused
/// here rather than by a model that cannot take it.
pub const MENU_TEXT_BYTES_MAX: usize = 1024 * 1024;
/// How many bytes the name of an option or a field may have.
pub const OPTION_NAME_BYTES_MAX: usize = 256;

/// The field under which the result of a schema option holds the name of the option.
pub(super) const DECISION_FIELD: &str = "decision";

/// Why options do not make a menu.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MenuError {
    /// There is nothing to pick.
    #[error("the menu has no options; add at least one")]
    Empty,
    /// There are too many.
    #[error("the menu has {count} options, more than the limit of {MENU_OPTIONS_MAX}; split it")]
    TooManyOptions {
        /// How many there are.
        count: usize,
    },
    /// There is too much to read.
    #[error(
        "the text of the menu is longer than the limit of {MENU_TEXT_BYTES_MAX} bytes; \
         shorten or split it"
    )]
    TooLong,
    /// Two options have one name; `-` and `_` are equal.
    #[error("the option `{name}` is in the menu twice; rename one")]
    Duplicate {
        /// The name of the later option.
        name: String,
    },
    /// A name is too long or has characters that nobody sees.
    #[error(
        "the name {name} cannot be shown in a menu; \
         use at most {OPTION_NAME_BYTES_MAX} bytes without control or invisible characters"
    )]
    Name {
        /// The name, quoted and cut.
        name: String,
    },
    /// The function of an option cannot be offered.
    #[error("the function of option `{name}` cannot be offered: {reason}")]
    NotOfferable {
        /// The name of the option.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Two fields of an option have one name; `-` and `_` are equal.
    #[error("the option `{option}` has the field `{field}` twice; rename one")]
    DuplicateField {
        /// The name of the option.
        option: String,
        /// The name of the later field.
        field: String,
    },
    /// A field would hide the name of the option in the result.
    #[error(
        "the option `{option}` has a field `{field}`, which its result needs for the name of the \
         option; rename the field"
    )]
    ReservedField {
        /// The name of the option.
        option: String,
        /// The name of the field.
        field: String,
    },
}

impl MenuError {
    /// The error as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        Failure::new(FailureCode::InvalidArgument, self.to_string()).with("path", "menu")
    }
}

/// Checked options in the order in which the model sees them: at least one, every name once.
#[derive(Clone, Debug, PartialEq)]
pub struct Menu {
    options: Vec<MenuOption>,
    text: String,
}

impl Menu {
    /// Checks options, renders them, and makes a menu of them.
    ///
    /// # Errors
    /// When there are none or too many, or a name or a field cannot be told apart or shown.
    pub fn new(options: Vec<MenuOption>) -> Result<Self, MenuError> {
        if options.is_empty() {
            return Err(MenuError::Empty);
        }
        if options.len() > MENU_OPTIONS_MAX {
            let count = options.len();
            return Err(MenuError::TooManyOptions { count });
        }
        let mut names = HashSet::new();
        let mut text = String::new();
        for option in &options {
            check_name(&option.name)?;
            if !names.insert(option.name.replace('-', "_")) {
                let name = option.name.clone();
                return Err(MenuError::Duplicate { name });
            }
            check_payload(option)?;
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&render_option(option));
            if text.len() > MENU_TEXT_BYTES_MAX {
                return Err(MenuError::TooLong);
            }
        }
        Ok(Self { options, text })
    }

    /// The menu as a model reads it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The options in menu order; never empty.
    #[must_use]
    pub fn options(&self) -> &[MenuOption] {
        &self.options
    }

    /// The same options, the first `by` of them moved to the end.
    #[must_use]
    pub fn rotated(&self, by: usize) -> Self {
        let mut options = self.options.clone();
        if !options.is_empty() {
            let places = options.len();
            options.rotate_left(by % places);
        }
        let texts: Vec<_> = options.iter().map(render_option).collect();
        Self {
            options,
            text: texts.join("\n"),
        }
    }

    /// The option of a name, `-` and `_` being equal, and its place in the menu.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(usize, &MenuOption)> {
        let mut options = self.options.iter().enumerate();
        options.find(|(_, option)| names_equal(&option.name, name))
    }
}

fn check_name(name: &str) -> Result<(), MenuError> {
    if name.len() > OPTION_NAME_BYTES_MAX || !is_clean_line(name) {
        let name = quoted(name);
        return Err(MenuError::Name { name });
    }
    Ok(())
}

fn check_payload(option: &MenuOption) -> Result<(), MenuError> {
    match &option.payload {
        Payload::Value(_) => Ok(()),
        Payload::Schema(record) => check_fields(option, record),
        Payload::Function(function) => match &function.offer {
            Offer::Offered => Ok(()),
            Offer::NotOfferable(reason) => Err(MenuError::NotOfferable {
                name: option.name.clone(),
                reason: reason.clone(),
            }),
        },
    }
}

fn check_fields(option: &MenuOption, record: &RecordType) -> Result<(), MenuError> {
    let mut names = HashSet::new();
    for field in &record.fields {
        check_name(&field.name)?;
        let (option, field) = (option.name.clone(), field.name.clone());
        if names_equal(&field, DECISION_FIELD) {
            return Err(MenuError::ReservedField { option, field });
        }
        if !names.insert(field.replace('-', "_")) {
            return Err(MenuError::DuplicateField { option, field });
        }
    }
    Ok(())
}
