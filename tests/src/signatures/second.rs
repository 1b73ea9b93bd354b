//! Asks wasmtime's Python package, with conversions and a judge of schemas of its own.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use openprogram_core::Json;
use serde_json::json;

use crate::guests::root;
use crate::toolchain::parts;

/// What is asked at once, because the start of Python takes longer than the calls.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Components and their calls.
    pub components: Vec<AskedComponent>,
    /// Schemas and values.
    pub schemas: Vec<AskedSchema>,
}

/// A component and its calls.
#[derive(Clone, Debug)]
pub struct AskedComponent {
    /// Its file.
    pub file: PathBuf,
    /// The interface of the functions.
    pub interface: String,
    /// The calls.
    pub calls: Vec<AskedCall>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct AskedCall {
    /// The function.
    pub function: String,
    /// The arguments in their order.
    pub arguments: Vec<Json>,
}

/// A schema that has to be one, take some values and refuse others.
#[derive(Clone, Debug)]
pub struct AskedSchema {
    /// The schema.
    pub schema: Json,
    /// What it has to take.
    pub valid: Vec<Json>,
    /// What it has to refuse.
    pub invalid: Vec<Json>,
}

/// What was answered, in the order of what was asked.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The results of the calls of each component.
    pub results: Vec<Vec<Json>>,
    /// What is wrong with each schema.
    pub schemas: Vec<Option<String>>,
}

/// The answers; `None`, with a printed reason, where the package is not installed.
///
/// # Errors
/// When the package refuses a component or fails.
pub fn ask_second(asked: &Asked) -> Result<Option<Answered>> {
    let Some(parts) = parts() else {
        return Ok(None);
    };
    let components = asked.components.iter().map(|component| {
        let calls = component.calls.iter();
        let calls =
            calls.map(|call| json!({"function": call.function, "arguments": call.arguments}));
        let calls: Vec<_> = calls.collect();
        json!({"file": component.file, "interface": component.interface, "calls": calls})
    });
    let schemas = asked.schemas.iter().map(
        |asked| json!({"schema": asked.schema, "valid": asked.valid, "invalid": asked.invalid}),
    );
    let input = json!({
        "components": components.collect::<Vec<_>>(),
        "schemas": schemas.collect::<Vec<_>>(),
    });
    let mut python = Command::new(parts.join("venv/bin/python"))
        .arg(root().join("tests/parts/second.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("Python")?;
    let mut standard_input = python.stdin.take().context("its input")?;
    standard_input.write_all(input.to_string().as_bytes())?;
    drop(standard_input);
    let output = python.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`second.py` failed: {said}");
    let answer: Json = serde_json::from_slice(&output.stdout)?;
    let array = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let results = array(&answer["results"]);
    let schemas = array(&answer["schemas"]);
    Ok(Some(Answered {
        results: results.iter().map(array).collect(),
        schemas: schemas
            .iter()
            .map(|reason| reason.as_str().map(ToOwned::to_owned))
            .collect(),
    }))
}
