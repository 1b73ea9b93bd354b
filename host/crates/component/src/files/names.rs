//! Names that no guest touches, and those that Windows reads as something else.

/// The project file and the lock file. Whoever writes one of them decides what components may do,
/// now or in a folder where somebody runs this program next.
const OWN_FILES: [&str; 2] = ["openprogram.toml", "openprogram.lock"];
/// The state folder, as above.
const OWN_FOLDER: &str = ".openprogram";
/// What programs put before the name of a file while they write it.
const MARKS: [char; 4] = ['.', '#', '~', '_'];
/// Devices that Windows finds in every folder, under any ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Whether a name is one of ours on some file system: those of macOS and Windows ignore case, some
/// of macOS ignore characters that nobody sees, and Windows ignores dots and spaces at the end.
///
/// So is what begins with one of ours: a file that is written beside its place, by this program or
/// by an editor, has such a name before it is the file.
pub(super) fn is_own(name: &str) -> bool {
    let folded = folded(name);
    let bare = folded.trim_start_matches(MARKS);
    folded.starts_with(OWN_FOLDER) || OWN_FILES.iter().any(|own| bare.starts_with(own))
}

/// A name in the one form that stands for all that some file system takes for it.
pub(super) fn folded(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_invisible(*c));
    let folded: String = seen.flat_map(char::to_lowercase).collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
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
            // As they are written by us, and by editors.
            "openprogram.toml.4711.new",
            "openprogram.lock.4711.new",
            "openprogram.toml~",
            ".openprogram.toml.swp",
            "#openprogram.toml#",
            ".#openprogram.lock",
            ".openprogram.new",
        ] {
            assert!(is_own(own), "{own:?}");
        }
        for other in [
            "openprogram",
            "my-openprogram.toml",
            "openprogram.md",
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
