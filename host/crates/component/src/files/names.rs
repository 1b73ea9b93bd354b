//! Names that no guest touches, and those that Windows reads as something else.

/// The project file, the lock file and the state folder. Whoever writes one of them decides what
/// components may do, now or in a folder where somebody runs this program next.
const OWN: [&str; 3] = ["openprogram.toml", "openprogram.lock", ".openprogram"];
/// Devices that Windows finds in every folder, under any ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Whether a name is one of ours on some file system: those of macOS and Windows ignore case, some
/// of macOS ignore characters that nobody sees, and Windows ignores dots and spaces at the end.
pub(super) fn is_own(name: &str) -> bool {
    let seen = name.chars().filter(|c| !is_invisible(*c));
    let folded: String = seen.flat_map(char::to_lowercase).collect();
    OWN.contains(&folded.trim_end_matches(['.', ' ']))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a name means something else on Windows: a part of a path, a stream, a device, a short
/// name, or the name without its end.
pub(super) fn is_bad_on_windows(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let stem = stem.to_lowercase();
    let numbered = stem
        .strip_prefix("com")
        .or_else(|| stem.strip_prefix("lpt"));
    let is_port = numbered.is_some_and(|number| {
        let mut digits = number.chars();
        digits
            .next()
            .is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c))
            && digits.next().is_none()
    });
    let is_short = name
        .split_once('~')
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    name.contains(['\\', ':', '/'])
        || name.ends_with(['.', ' '])
        || DEVICES.contains(&stem.as_str())
        || is_port
        || is_short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_names_are_known_in_every_form_that_a_file_system_takes_for_them() {
        for own in [
            "openprogram.toml",
            "OpenProgram.TOML",
            "openprogram.lock",
            "openprogram.loc\u{212a}",
            ".openprogram",
            ".OPENPROGRAM",
            ".openprogram.",
            ".openprogram . ",
            ".open\u{200c}program",
            "openprogram.toml ",
        ] {
            assert!(is_own(own), "{own:?}");
        }
        for other in [
            "openprogram",
            "openprogram.toml.bak",
            "openprogram.toml~",
            "toml",
            "",
        ] {
            assert!(!is_own(other), "{other:?}");
        }
    }

    #[test]
    fn names_that_windows_reads_otherwise_are_known() {
        for bad in [
            "a\\b",
            "c:",
            "file.txt:stream",
            "CON",
            "nul.txt",
            "Com1",
            "lpt9.log",
            "com¹",
            "CONIN$",
            "name.",
            "name ",
            "OPENPR~1",
            "aux .txt",
        ] {
            assert!(is_bad_on_windows(bad), "{bad:?}");
        }
        for good in [
            "console", "com", "com10", "nulls", "a.b", "~", "a~b", "lptx",
        ] {
            assert!(!is_bad_on_windows(good), "{good:?}");
        }
    }
}
