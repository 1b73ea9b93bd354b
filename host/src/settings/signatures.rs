//! Which keys sign components, and whether installed ones have to be signed.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::input::open_found;
use crate::signature::{KEY_BYTES_MAX, Key};

/// Most keys of a project.
const KEYS_MAX: usize = 64;

/// The table `[signatures]` of the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignaturesTable {
    /// Files of public keys in PEM, relative to the project file.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Whether a component that is not signed is refused.
    #[serde(default)]
    pub required: bool,
}

/// Who may sign what is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignatureSettings {
    /// The public keys.
    pub keys: Vec<Key>,
    /// The files that they were read from.
    pub files: Vec<PathBuf>,
    /// Whether a component that is not signed with one of them is refused.
    pub required: bool,
}

impl SignatureSettings {
    /// Reads the keys that the project file names.
    ///
    /// # Errors
    /// The key of the project file, and what is wrong with it.
    pub(super) fn read(
        table: &SignaturesTable,
        project_folder: &Path,
    ) -> Result<Self, (&'static str, String)> {
        if table.required && table.keys.is_empty() {
            let message = "no key is named; write `keys = [\"FILE\"]` with a public key in PEM";
            return Err(("signatures.required", message.to_owned()));
        }
        if table.keys.len() > KEYS_MAX {
            return Err(("signatures.keys", format!("more than {KEYS_MAX} keys")));
        }
        let mut keys = Vec::new();
        for file in &table.keys {
            let refused = |message: String| ("signatures.keys", format!("`{file}`: {message}"));
            let read = open_found(&project_folder.join(file)).and_then(|file| {
                let mut bytes = Vec::new();
                file.take(KEY_BYTES_MAX).read_to_end(&mut bytes)?;
                Ok(bytes)
            });
            let bytes = read.map_err(|error| refused(error.to_string()))?;
            keys.push(Key::from_pem(&bytes).map_err(|error| refused(error.to_string()))?);
        }
        Ok(Self {
            keys,
            files: table
                .keys
                .iter()
                .map(|file| project_folder.join(file))
                .collect(),
            required: table.required,
        })
    }
}
