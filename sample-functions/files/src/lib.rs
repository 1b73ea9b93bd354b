//! Files: read, written, edited, listed and searched, in the folders that a person granted and
//! nowhere else.
//!
//! The page of what models see. What the functions do stands in the modules beside it. All of them
//! hold three promises: whatever is cut says so and how to get the rest, no file is held in memory
//! whole unless it is edited, and what is refused or not found is told with what to do about it.

mod edit;
mod glob;
mod lines;
mod list;
mod place;
mod read;
mod replace;
mod search;
mod text;
mod walk;
mod write;

/// Works with text files in granted folders.
#[openprogram_guest::functions]
pub mod files {
    use openprogram_guest::Failure;

    /// Read a text file, or some of its lines. Every line comes with its number in front, parted
    /// from it by a tab; what was left out is told at the end, with the offset to read on from.
    ///
    /// Paths begin with the name of a granted folder, as `list_files` shows them. The text must be
    /// UTF-8.
    #[function(read_only)]
    pub fn read_file(
        /// The file, for example `workspace/notes.md`.
        #[param(placeholder = "workspace/notes.md")]
        path: &str,
        /// The number of the first line to read; 1 without it.
        #[param(default = 1)]
        offset: u32,
        /// The most lines to read; 2000 without it, and at most.
        #[param(default = 2000)]
        limit: u32,
        /// The character of each line to begin with, for lines that are too long to be shown
        /// whole; 1 without it.
        #[param(default = 1)]
        column: u32,
    ) -> Result<String, Failure> {
        let window = crate::read::Window {
            offset,
            limit,
            column,
        };
        crate::read::read_file(path, &window)
    }

    /// Write a text to a file. A new file is made, with the folders on the way to it; what becomes
    /// of a file that is there already, `if_exists` says. To change a part of a file use `edit_file`.
    pub fn write_file(
        /// The file, for example `workspace/notes.md`.
        #[param(placeholder = "workspace/notes.md")]
        path: &str,
        /// What the file is to hold, or what is added to it.
        #[param(multiline)]
        text: &str,
        /// What to do when the file is there already; `refuse` without it.
        #[param(default = "refuse")]
        if_exists: IfExists,
    ) -> Result<Written, Failure> {
        crate::write::write_file(path, text, if_exists)
    }

    /// Replace a piece of a file by another text. The piece must stand in the file exactly once,
    /// character by character, unless `replace_all` is set. Gives the changed lines with some around
    /// them.
    ///
    /// Line breaks stay as the file has them: `\n` stands for both kinds.
    pub fn edit_file(
        /// The file, for example `workspace/notes.md`.
        #[param(placeholder = "workspace/notes.md")]
        path: &str,
        /// The piece to replace, with its indentation and without line numbers; enough lines of it
        /// that it is found once.
        #[param(multiline)]
        old_text: &str,
        /// What stands there afterwards; empty to remove the piece.
        #[param(multiline)]
        new_text: &str,
        /// Whether every place where the piece stands is changed, instead of the only one.
        #[param(default = false)]
        replace_all: bool,
    ) -> Result<Edited, Failure> {
        crate::edit::edit_file(path, old_text, new_text, replace_all)
    }

    /// List files and folders. Without a path, the granted folders themselves: begin with that.
    ///
    /// Links are listed and not followed.
    #[function(read_only)]
    pub fn list_files(
        /// The folder to list, for example `workspace`; without it, every granted folder.
        path: Option<String>,
        /// Which files to list, for example `*.md`, `src/**/*.rs` or `*.{csv,json}`. Without a slash
        /// it is about names at any depth, with one about the whole path below the folder.
        glob: Option<String>,
        /// How many levels of folders to go down, up to 32: 1 lists the folder alone. Without it 1,
        /// and every level when there is a glob.
        depth: Option<u32>,
        /// Whether names that begin with a dot are listed too.
        #[param(default = false)]
        hidden: bool,
        /// The most entries to list, up to 500; 200 without it.
        #[param(default = 200)]
        limit: u32,
        /// The path after which to go on, where an earlier list ended.
        after: Option<String>,
    ) -> Result<Listing, Failure> {
        crate::list::list_files(&crate::list::Wanted {
            path,
            glob,
            depth,
            hidden,
            limit,
            after,
        })
    }

    /// Search the lines of files by a regular expression. Gives the lines with their numbers, file
    /// by file: `12: ` before a line that matches, `13- ` before a line around it.
    ///
    /// Files that are not text are passed over, and links are not followed.
    #[function(read_only)]
    pub fn search_files(
        /// What to look for within a line, in the syntax of Rust and RE2, so without look-around and
        /// references back; with `(?i)` in front, upper and lower case are the same.
        #[param(placeholder = "fn [a-z_]+\\(")]
        pattern: &str,
        /// The folder or file to search; without it, every granted folder.
        path: Option<String>,
        /// Which files to search, as `list_files` takes it.
        glob: Option<String>,
        /// Whether the pattern is a plain text instead of a regular expression.
        #[param(default = false)]
        plain: bool,
        /// How many lines to show before and after each one found, up to 10; none without it.
        #[param(default = 0)]
        context: u32,
        /// The most matching lines to show, up to 200; 50 without it.
        #[param(default = 50)]
        limit: u32,
        /// Whether files and folders whose names begin with a dot are searched too.
        #[param(default = false)]
        hidden: bool,
    ) -> Result<Found, Failure> {
        crate::search::search_files(&crate::search::Wanted {
            pattern: pattern.to_owned(),
            path,
            glob,
            plain,
            context,
            limit,
            hidden,
        })
    }

    /// What to do with a file that is there already.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum IfExists {
        /// Leave it as it is and say so.
        Refuse,
        /// Put the text in its place.
        Replace,
        /// Add the text to its end.
        Append,
    }

    /// A file that was written.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Written {
        /// The file.
        pub path: String,
        /// What became of it.
        pub outcome: Outcome,
        /// How many bytes it holds now.
        pub bytes: u64,
    }

    /// What became of a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Outcome {
        /// It is new.
        Created,
        /// It was there and holds the text now.
        Replaced,
        /// It was there and ends with the text now.
        Appended,
    }

    /// A file that was edited.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Edited {
        /// The file.
        pub path: String,
        /// How many places were changed.
        pub replacements: u32,
        /// The first changed lines and those around them, with their numbers.
        pub lines: String,
    }

    /// What a folder holds.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Listing {
        /// The entries, sorted by name, what a folder holds right after it.
        pub entries: Vec<Entry>,
        /// What is missing and how to get it; nothing where the list is complete.
        pub more: Option<String>,
    }

    /// A file or a folder.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Entry {
        /// Its path, as the other functions take it.
        pub path: String,
        /// What it is.
        pub kind: Kind,
        /// How many bytes a file holds.
        pub bytes: Option<u64>,
    }

    /// What an entry of a folder is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kind {
        /// A file.
        File,
        /// A folder.
        Folder,
        /// A link to something, which may lead out of what is granted.
        Link,
        /// Something that cannot be read, such as a pipe.
        Other,
    }

    /// What a search found.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Found {
        /// The files with matching lines, sorted by path.
        pub files: Vec<FileMatches>,
        /// How many matching lines are shown.
        pub matches: u32,
        /// How many files were searched.
        pub files_searched: u32,
        /// What is missing and how to get it; nothing where the search is complete.
        pub more: Option<String>,
    }

    /// The matching lines of a file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FileMatches {
        /// The file.
        pub path: String,
        /// The lines with their numbers; `--` stands where lines are left out.
        pub lines: Vec<String>,
    }
}
