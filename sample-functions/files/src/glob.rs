//! Which paths a glob means.

use globset::{GlobBuilder, GlobMatcher};
use openprogram_guest::Failure;

/// The most bytes of a glob: what people write, and far below what is slow to compile.
const GLOB_BYTES_MAX: usize = 1000;

/// A glob over names, or over paths below a folder where it has a slash.
pub(crate) struct Glob {
    matcher: GlobMatcher,
    is_about_names: bool,
}

impl Glob {
    /// Reads a glob: `*` and `?` within a name, `**` over folders, `[a-z]`, `{a,b}`.
    ///
    /// # Errors
    /// Where it is none.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::invalid_argument("glob", why);
        if text.len() > GLOB_BYTES_MAX {
            return Err(wrong(format!("a glob has at most {GLOB_BYTES_MAX} bytes")));
        }
        let pattern = text.trim_start_matches("./").trim_start_matches('/');
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            wrong(format!(
                "`{text}` is no glob: {}; write for example `*.md` or `src/**/*.rs`",
                error.kind()
            ))
        })?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            is_about_names: !text.contains('/'),
        })
    }

    /// Whether it means a path below the folder.
    pub(crate) fn means(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let subject = if self.is_about_names { name } else { path };
        self.matcher.is_match(subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_mean_names_or_paths() {
        for (glob, path, expected) in [
            ("*.md", "notes.md", true),
            ("*.md", "deep/down/notes.md", true),
            ("*.md", "notes.mdx", false),
            ("deep/*.md", "deep/notes.md", true),
            ("deep/*.md", "deep/down/notes.md", false),
            ("./deep/**/*.md", "deep/down/notes.md", true),
            ("/deep/*.md", "deep/notes.md", true),
            ("**/*.{csv,json}", "orders.csv", true),
            ("no?es.[a-m]d", "notes.md", true),
            ("*", "any", true),
        ] {
            assert_eq!(
                Glob::read(glob).unwrap().means(path),
                expected,
                "{glob} {path}"
            );
        }
    }

    #[test]
    fn what_is_no_glob_is_refused() {
        let read = |glob: &str| Glob::read(glob).err().unwrap().message().to_owned();
        assert!(read("[a").contains("`[a` is no glob"), "{}", read("[a"));
        assert!(read("{a").contains("`{a` is no glob"), "{}", read("{a"));
        assert!(read(&"*".repeat(1001)).contains("at most 1000"));
    }
}
