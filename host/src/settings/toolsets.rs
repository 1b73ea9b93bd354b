//! The tables `[toolsets]` and `[unsafe_in]`: named sets of functions, and what is no tool in turns
//! from somewhere.
//!
//! Whether the functions are there is not checked here: that is known once components are loaded.

use std::collections::BTreeMap;

use openprogram_core::tool_filter::{FULL, NONE, ToolSets};

/// The longest name of a set or of a source.
const NAME_BYTES_MAX: usize = 64;
/// Most sets in one table.
const SETS_MAX: usize = 256;
/// Most functions of one set: no turn has more.
const FUNCTIONS_MAX: usize = 512;
/// The longest name of a function.
const FUNCTION_BYTES_MAX: usize = 512;

type Table = BTreeMap<String, Vec<String>>;

/// Checks both tables.
///
/// # Errors
/// The key and what is wrong with it.
pub(super) fn read(presets: Table, unsafe_in: Table) -> Result<ToolSets, (String, String)> {
    for (table, sets) in [("toolsets", &presets), ("unsafe_in", &unsafe_in)] {
        if sets.len() > SETS_MAX {
            return Err((table.to_owned(), format!("more than {SETS_MAX} names")));
        }
        for (name, functions) in sets {
            let checked = check(name, functions);
            checked.map_err(|message| (format!("{table}.{name}"), message))?;
        }
    }
    for name in [FULL, NONE] {
        if presets.contains_key(name) {
            let message = format!("`{name}` is always there; take another name");
            return Err((format!("toolsets.{name}"), message));
        }
    }
    Ok(ToolSets { presets, unsafe_in })
}

fn check(name: &str, functions: &[String]) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(plain) {
        return Err(format!(
            "the name has lower-case letters, digits, `-` and `_`, at most {NAME_BYTES_MAX}"
        ));
    }
    if functions.len() > FUNCTIONS_MAX {
        return Err(format!("more than {FUNCTIONS_MAX} functions"));
    }
    let is_name = |name: &String| !name.trim().is_empty() && name.len() <= FUNCTION_BYTES_MAX;
    if !functions.iter().all(is_name) {
        return Err(format!(
            "a function is named by its full name or a tail of it, for example `files.read`, in at \
             most {FUNCTION_BYTES_MAX} bytes"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, functions: &[&str]) -> Table {
        let functions = functions.iter().map(|name| (*name).to_owned()).collect();
        BTreeMap::from([(name.to_owned(), functions)])
    }

    #[test]
    fn sets_are_taken_as_they_stand() {
        let presets = table("default", &["files.read", "clock.now"]);
        let unsafe_in = table("telegram", &["shell.run"]);
        let expected = ToolSets {
            presets: presets.clone(),
            unsafe_in: unsafe_in.clone(),
        };
        assert_eq!(read(presets, unsafe_in), Ok(expected));
        assert!(read(table("empty", &[]), Table::new()).is_ok());
    }

    #[test]
    fn sets_that_cannot_be_used_are_named() {
        let always = |name| format!("toolsets.{name}: `{name}` is always there; take another name");
        let name = "the name has lower-case letters, digits, `-` and `_`, at most 64";
        let function = "a function is named by its full name or a tail of it, for example \
                        `files.read`, in at most 512 bytes";
        for (presets, unsafe_in, expected) in [
            (table("full", &[]), Table::new(), always("full")),
            (table("none", &["a"]), Table::new(), always("none")),
            (
                table("A b", &[]),
                Table::new(),
                format!("toolsets.A b: {name}"),
            ),
            (Table::new(), table("", &[]), format!("unsafe_in.: {name}")),
            (
                table("a", &["x", " "]),
                Table::new(),
                format!("toolsets.a: {function}"),
            ),
            (
                Table::new(),
                table("a", &["x"; 513]),
                "unsafe_in.a: more than 512 functions".to_owned(),
            ),
        ] {
            let (key, message) = read(presets, unsafe_in).unwrap_err();
            assert_eq!(format!("{key}: {message}"), expected);
        }
    }
}
