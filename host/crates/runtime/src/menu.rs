//! The menu of a decision, with every function on it looked up for the function that decides.

use openprogram_core::decision::{MENU_OPTIONS_MAX, Menu, MenuError, OptionSpec, render_menu};
use openprogram_core::failure::Failure;
use openprogram_core::guest::DecisionRequest;

use crate::call::find_function;
use crate::frame::Frame;
use crate::ports::Ports;

/// The menu of a function, every function on it looked up.
pub(crate) fn menu_in_frame(
    ports: &Ports,
    frame: &Frame,
    specs: Vec<OptionSpec>,
) -> Result<Menu, Failure> {
    let count = specs.len();
    if count > MENU_OPTIONS_MAX {
        return Err(MenuError::TooManyOptions { count }.to_failure());
    }
    let component = frame.component();
    let mut options = Vec::with_capacity(count);
    for spec in specs {
        let name = spec.name.clone();
        let found = spec.resolve(|function| find_function(ports, component, function));
        options.push(found.map_err(|failure| of_option(&name, failure))?);
    }
    Menu::new(options).map_err(|error| error.to_failure())
}

/// The menu of a decision as a model reads it.
pub(crate) fn render_for_frame(
    ports: &Ports,
    frame: &Frame,
    request: DecisionRequest,
) -> Result<String, Failure> {
    let menu = menu_in_frame(ports, frame, request.options)?;
    Ok(render_menu(&menu))
}

/// A failure about one option names it.
pub(crate) fn of_option(option: &str, mut failure: Failure) -> Failure {
    let shown: String = option.chars().take(64).collect();
    failure.message = format!("option `{shown}`: {}", failure.message);
    failure.with("option", shown)
}
