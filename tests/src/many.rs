//! Small components that differ from each other, as many as a test or a figure wants.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use openprogram::app::App;
use openprogram::settings::Settings;

use crate::guests::assemble;

/// A component of the package `many:NAME` with so many functions `add-0`, `add-1`, …, each of which
/// adds `sum` to a number.
///
/// # Panics
/// When the name is no word of WIT.
#[must_use]
pub fn component(name: &str, functions: usize, sum: u32) -> Vec<u8> {
    let mut wit = format!("package many:{name};\n\ninterface guest {{\n");
    let mut wat = String::from("(module (memory (export \"memory\") 1)\n");
    for index in 0..functions {
        // Writing to a string cannot fail.
        let _ = writeln!(wit, "    add-{index}: func(number: u32) -> u32;");
        let _ = writeln!(
            wat,
            "(func (export \"many:{name}/guest#add-{index}\") (param i32) (result i32) \
             (i32.add (local.get 0) (i32.const {sum})))"
        );
    }
    wit.push_str("}\n\nworld component {\n    export guest;\n}\n");
    wat.push(')');
    assemble(&wit, &wat).unwrap_or_else(|error| panic!("component `{name}`: {error:#}"))
}

/// Installs components `many-a0`, `many-a1`, … of so many functions each in a project folder, as
/// `openprogram add` does.
///
/// # Errors
/// When one of them cannot be installed.
pub async fn install(folder: &Path, components: usize, functions: usize) -> Result<()> {
    let settings = Settings::load(folder, &|_| None)?;
    let app = App::new(settings);
    for index in 0..components {
        let name = format!("many-a{index}");
        let file = format!("{name}.wasm");
        std::fs::write(folder.join(&file), component(&name, functions, 1))?;
        let pending = app.check_add(&file, None, &mut io::sink()).await;
        let added = pending.and_then(|pending| app.add(pending));
        added.with_context(|| format!("component {index}"))?;
    }
    Ok(())
}
