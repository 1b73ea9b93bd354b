//! Arguments that stand in a file: `--arg name=@FILE`.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::function::Function;
use openprogram_core::schema::{Type, names_equal};

use super::arguments::Pair;
use super::exit::Usage;
use crate::input::{read_named, read_text};

/// Largest file of an argument; a function of a megabyte of text reads a granted folder better.
const ARGUMENT_FILE_BYTES_MAX: u64 = 8 << 20;

/// Puts what stands in files in the place of `@FILE`; `@-` is stdin, and `@@` begins a text with one
/// `@`. Bytes are written as base64 for a parameter that takes nothing else.
pub(super) fn read_files(function: &Function, pairs: Vec<Pair>) -> anyhow::Result<Vec<Pair>> {
    let n_of_stdin = pairs.iter().filter(|pair| pair.value == "@-").count();
    if n_of_stdin > 1 {
        return Err(Usage("stdin can be the value of one `--arg` alone".to_owned()).into());
    }
    pairs.into_iter().map(|pair| read(function, pair)).collect()
}

fn read(function: &Function, pair: Pair) -> anyhow::Result<Pair> {
    let Some(file) = pair.value.strip_prefix('@') else {
        return Ok(pair);
    };
    if file.starts_with('@') {
        let value = file.to_owned();
        return Ok(Pair { value, ..pair });
    }
    let path = PathBuf::from(file);
    let value = match takes_bytes(function, &pair.key) {
        true => read_named(&path, ARGUMENT_FILE_BYTES_MAX).map(|bytes| STANDARD.encode(bytes)),
        false => read_text(&path, ARGUMENT_FILE_BYTES_MAX),
    };
    match value {
        Ok(value) => Ok(Pair { value, ..pair }),
        Err(error) if is_missing(&path) => Err(Usage(format!(
            "{error}; `@` in `--arg {}` names a file, and `@@` begins a text with `@`",
            pair.key
        ))
        .into()),
        Err(error) => Err(error.into()),
    }
}

fn is_missing(path: &Path) -> bool {
    path.as_os_str().is_empty() || (path != Path::new("-") && !path.exists())
}

/// Whether the parameter of this name takes bytes.
fn takes_bytes(function: &Function, key: &str) -> bool {
    let mut named = function.parameters.iter();
    let parameter = named.find(|parameter| names_equal(&parameter.field.name, key));
    let mut ty = parameter.map(|parameter| &parameter.field.ty);
    while let Some(Type::Option(inner)) = ty {
        ty = Some(inner);
    }
    matches!(ty, Some(Type::Bytes))
}
