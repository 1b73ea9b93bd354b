//! Structured data: JSON, JSON lines, CSV, TSV and TOML, queried with JMESPath.
//!
//! JMESPath is a standard with a suite of tests for its implementations, it filters, sorts, reshapes
//! and counts, and every query of it ends. Here is what models see; `read` makes values of texts,
//! `run` makes answers of values.

mod file;
mod read;
mod run;

/// Queries structured data.
#[openprogram_guest::functions]
pub mod query {
    use openprogram_guest::{Failure, Json};

    /// Query JSON, JSON lines, CSV, TSV or TOML with a JMESPath expression, in a text or in a file of
    /// a granted folder. `@` gives everything, `keys(@)` the names of an object, `length(@)` counts.
    ///
    /// Records of CSV and TSV are objects by the names of the first line. Without one of both, text
    /// or path, there is nothing to query.
    #[function(read_only)]
    pub fn query_data(
        /// The expression, for example ``items[?price > `10`].name``, `sort_by(@, &date)[-1]` or
        /// `[].{who: name, total: sum(amounts)}`. Texts are written `'so'`, other values between
        /// backticks.
        #[param(placeholder = "items[?left < `5`].name")]
        query: &str,
        /// The data itself; leave it out to query a file.
        #[param(multiline)]
        text: Option<String>,
        /// The file to query, for example `workspace/stock.json`.
        path: Option<String>,
        /// What the data is written in; without it that is seen from the name of the file, or from
        /// the data.
        #[param(default = "auto")]
        format: Format,
        /// The item of a list to begin with, where an earlier answer was cut; 0, the first one,
        /// without it.
        #[param(default = 0)]
        offset: u32,
        /// The most items of a list to give, up to 1000; 100 without it.
        #[param(default = 100)]
        limit: u32,
    ) -> Result<Answer, Failure> {
        let source = crate::read::Source { text, path, format };
        let window = crate::run::Window { offset, limit };
        crate::run::query_data(query, source, &window)
    }

    /// What data is written in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// Whatever it looks like.
        Auto,
        /// One JSON value.
        Json,
        /// One JSON value on each line; together they are a list.
        JsonLines,
        /// Values parted by commas; the first line holds names.
        Csv,
        /// Values parted by tabs; the first line holds names.
        Tsv,
        /// A TOML document.
        Toml,
    }

    /// What a query gives.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Answer {
        /// The result, or some items of it.
        pub value: Json,
        /// How many items the result has, where it is a list.
        pub items: Option<u32>,
        /// What is missing and how to get it; nothing where the result is complete.
        pub more: Option<String>,
    }
}
