//! Tests of the decision engine as a whole.

mod hostile;
mod law;
mod law_picks;
mod options;
mod properties;
mod replies;
mod schemas;
mod scores;
mod settings;
mod text;

use super::{Menu, MenuError, MenuOption, SchemaError, parse_option_file};
use crate::Json;

/// The menu of an option file that names no function of a catalog.
pub(super) fn menu(file: &Json) -> Result<Menu, String> {
    let options = parse_option_file(file).map_err(|error: SchemaError| error.to_string())?;
    let look_up = |name: &str| Err(format!("no function `{name}`"));
    let options: Result<Vec<MenuOption>, String> = options
        .into_iter()
        .map(|option| option.resolve(look_up))
        .collect();
    Menu::new(options?).map_err(|error: MenuError| error.to_string())
}
