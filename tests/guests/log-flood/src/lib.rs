//! Floods its log.

/// Writes much.
#[openprogram_guest::functions(package = "hostile:log-flood")]
pub mod guest {
    use std::io::Write as _;

    /// Writes lines for ever, whether or not anybody takes them.
    pub fn flood() {
        loop {
            let _ = writeln!(std::io::stdout(), "{}", "line of a flood ".repeat(64));
        }
    }

    /// Writes so many bytes to stdout and as many to stderr, and says how many were taken.
    pub fn write(bytes: u32) -> u64 {
        let text = vec![b'x'; bytes as usize];
        let mut taken = 0;
        taken += std::io::stdout().write(&text).unwrap_or(0) as u64;
        taken += std::io::stderr().write(&text).unwrap_or(0) as u64;
        taken
    }

    /// Writes signs that would take over a terminal.
    pub fn escape() {
        let _ = write!(std::io::stdout(), "\u{1b}[2J\u{1b}]0;owned\u{7}done");
    }

    /// Panics with a message of so many bytes.
    pub fn panic(bytes: u32) {
        panic!("{}", "p".repeat(bytes as usize));
    }
}
