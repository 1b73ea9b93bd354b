//! A module in a file of its own, which the macro could not see.

#[openprogram_guest::functions]
mod file_module_content;

fn main() {}
