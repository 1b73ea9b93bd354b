//! What turns and decisions show and play beside their texts, and hints for the cache of the provider.

use crate::Request;
use crate::decision::Menu;

/// How long a provider is asked to keep what comes again, after its last use. Later versions may add
/// some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheTtl {
    /// Five minutes.
    FiveMinutes,
    /// One hour.
    Hour,
}

impl CacheTtl {
    /// The word of the contract.
    fn word(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::Hour => "1h",
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let mut all = [Self::FiveMinutes, Self::Hour].into_iter();
        all.find(|ttl| ttl.word() == word)
    }
}

impl<End> Request<'_, End> {
    /// Shows a picture: the bytes of a PNG, JPEG, GIF or WebP file.
    ///
    /// The bytes tell what it is. A media type or a kind that says otherwise is not used, and the
    /// record of the turn tells both; `""` says nothing.
    pub fn image(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_image(data, mime_type);
        self
    }

    /// Shows a film: the bytes of an MP4, QuickTime, WebM, Matroska, MPEG or AVI file.
    pub fn video(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_video(data, mime_type);
        self
    }

    /// Plays sound: the bytes of a WAV, MP3, M4A, AAC, Ogg, FLAC or AIFF file.
    pub fn audio(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_audio(data, mime_type);
        self
    }

    /// Shows or plays a file of a granted folder, as its bytes tell.
    ///
    /// The path is one that the function could open itself; the host reads the file, and its bytes do
    /// not come here. A file that is not there or may not be read is reported when the turn is made.
    ///
    /// ```
    /// use openprogram_guest::{Failure, Request, Runtime};
    ///
    /// fn describe(name: &str, runtime: &Runtime) -> Result<String, Failure> {
    ///     let request = Request::new("What is to be seen here?").file(&format!("photos/{name}"));
    ///     Ok(runtime.exec(request.no_tools())?.text())
    /// }
    /// ```
    pub fn file(self, path: &str) -> Self {
        self.raw.add_file(path);
        self
    }

    /// Hints that what was said so far, the system prompt included, comes again in other requests, so
    /// that the provider may keep it in its cache. A provider without such hints passes over it.
    ///
    /// ```
    /// use openprogram_guest::{Failure, Request, Runtime};
    ///
    /// fn answers(book: &str, questions: &[&str], runtime: &Runtime) -> Result<Vec<String>, Failure> {
    ///     let ask = |question: &&str| {
    ///         let request = Request::new(book).mark_cache().text(question);
    ///         Ok(runtime.exec(request.no_tools())?.text())
    ///     };
    ///     questions.iter().map(ask).collect()
    /// }
    /// ```
    pub fn mark_cache(self) -> Self {
        self.raw.mark_cache();
        self
    }

    /// The same hint with how long the provider is asked to keep it. One that knows one time alone
    /// passes over the time.
    pub fn mark_cache_for(self, ttl: CacheTtl) -> Self {
        self.raw.mark_cache_for(ttl.word());
        self
    }
}

impl Menu<'_> {
    /// Shows a picture with the prompt: the bytes of a PNG, JPEG, GIF or WebP file.
    ///
    /// The bytes tell what it is. A media type or a kind that says otherwise is not used, and the
    /// record of the decision tells both; `""` says nothing. Everything shown stands before the
    /// prompt, each time the model is asked. In a turn that closes with a decision the
    /// [`Request`] shows things, and a menu that does is refused.
    ///
    /// ```
    /// use openprogram_guest::decision::{self, Menu};
    /// use openprogram_guest::Failure;
    ///
    /// fn is_readable(scan: &[u8]) -> Result<bool, Failure> {
    ///     let menu = Menu::new()
    ///         .value("readable", true)
    ///         .value("blurred", false)
    ///         .image(scan, "image/png");
    ///     decision::make("Can this page be read?", &menu)?.parse()
    /// }
    /// ```
    pub fn image(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_image(data, mime_type);
        self
    }

    /// Shows a film with the prompt: the bytes of an MP4, QuickTime, WebM, Matroska, MPEG or AVI file.
    pub fn video(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_video(data, mime_type);
        self
    }

    /// Plays sound with the prompt: the bytes of a WAV, MP3, M4A, AAC, Ogg, FLAC or AIFF file.
    pub fn audio(self, data: &[u8], mime_type: &str) -> Self {
        self.raw.add_audio(data, mime_type);
        self
    }

    /// Shows or plays a file of a granted folder with the prompt, as [`Request::file`] does.
    pub fn file(self, path: &str) -> Self {
        self.raw.add_file(path);
        self
    }
}
