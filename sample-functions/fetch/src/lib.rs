//! The web: a granted URL, as text that a model can read.
//!
//! The page of what models see. Requests go through the host, which refuses what no grant covers;
//! `http` sends them, `answer` makes text of what comes back, `html` renders pages.

mod answer;
mod decode;
mod html;
mod http;
mod url;

/// Fetches what is granted of the web.
#[openprogram_guest::functions]
pub mod fetch {
    use openprogram_guest::Failure;

    /// Fetch a URL and give its text. A page is given as readable text with headings, lists and
    /// links; set `form` to `source` for its HTML. Redirects are followed where they are granted.
    ///
    /// An answer with an error status is an answer: look at `status`.
    #[function(read_only)]
    pub fn fetch_url(
        /// The URL with its scheme.
        #[param(placeholder = "https://example.com/")]
        url: &str,
        /// Whether the whole answer is fetched, or its headers alone; `get` without it.
        #[param(default = "get")]
        method: Method,
        /// What is given of a page; `text` without it.
        #[param(default = "text")]
        form: Form,
        /// The character of the text to begin with, where an earlier answer was cut; 0, the first
        /// one, without it.
        #[param(default = 0)]
        offset: u32,
        /// The most characters to give; 20000 without it, and at most.
        #[param(default = 20000)]
        limit: u32,
    ) -> Result<Page, Failure> {
        crate::answer::fetch_url(url, method, form, offset, limit)
    }

    /// How a URL is asked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Method {
        /// The whole answer.
        Get,
        /// Its headers alone, which are given as the text.
        Head,
    }

    /// What is given of an HTML page. Anything else is given as it is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Form {
        /// What a reader sees, links as `[text](url)`.
        Text,
        /// Its HTML.
        Source,
    }

    /// An answer.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Page {
        /// The URL that answered, after redirects.
        pub url: String,
        /// The HTTP status, 200 for a success.
        pub status: u16,
        /// The type of what was answered, as the server tells it.
        pub content_type: Option<String>,
        /// The title of a page.
        pub title: Option<String>,
        /// The text, or a part of it.
        pub text: String,
        /// What is missing and how to get it; nothing where the text is complete.
        pub more: Option<String>,
    }
}
