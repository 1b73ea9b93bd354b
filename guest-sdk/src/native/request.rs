//! A request that keeps what it was told.

use std::cell::RefCell;
use std::time::Duration;

use super::runtime::ToolChoice as Raw;
use crate::testing::{MockKind, MockMedium, MockMediumKind as Kind, MockRequest};
use crate::{CacheTtl, ToolChoice};

#[derive(Debug)]
pub(crate) struct Request {
    pub(super) told: RefCell<MockRequest>,
}

impl Request {
    pub(crate) fn new() -> Self {
        Self {
            told: RefCell::new(MockRequest::new(MockKind::Turn)),
        }
    }

    fn tell(&self, change: impl FnOnce(&mut MockRequest)) {
        change(&mut self.told.borrow_mut());
    }

    pub(crate) fn add_text(&self, text: &str) {
        self.tell(|told| told.texts.push(text.to_owned()));
    }

    fn add_medium(&self, kind: Kind, data: &[u8], mime_type: &str) {
        self.tell(|told| told.media.push(medium(kind, data, mime_type)));
    }

    pub(crate) fn add_image(&self, data: &[u8], mime_type: &str) {
        self.add_medium(Kind::Image, data, mime_type);
    }

    pub(crate) fn add_video(&self, data: &[u8], mime_type: &str) {
        self.add_medium(Kind::Video, data, mime_type);
    }

    pub(crate) fn add_audio(&self, data: &[u8], mime_type: &str) {
        self.add_medium(Kind::Audio, data, mime_type);
    }

    pub(crate) fn add_file(&self, path: &str) {
        self.tell(|told| told.media.push(file(path)));
    }

    pub(crate) fn mark_cache(&self) {
        self.tell(|told| told.cache_marks.push(None));
    }

    pub(crate) fn mark_cache_for(&self, ttl: &str) {
        self.tell(|told| told.cache_marks.push(CacheTtl::of_word(ttl)));
    }

    pub(crate) fn add_system_text(&self, text: &str) {
        self.tell(|told| told.system.push(text.to_owned()));
    }

    pub(crate) fn set_tools(&self, functions: &[String]) {
        self.tell(|told| {
            told.tools = Some(functions.to_vec());
            told.toolset = None;
        });
    }

    pub(crate) fn set_toolset(&self, name: &str) {
        self.tell(|told| {
            told.toolset = Some(name.to_owned());
            told.tools = None;
        });
    }

    pub(crate) fn set_tools_source(&self, source: &str) {
        self.tell(|told| told.tools_source = Some(source.to_owned()));
    }

    pub(crate) fn set_tools_allow(&self, functions: &[String]) {
        self.tell(|told| told.tools_allow = Some(functions.to_vec()));
    }

    pub(crate) fn set_tools_deny(&self, functions: &[String]) {
        self.tell(|told| told.tools_deny = functions.to_vec());
    }

    pub(crate) fn add_local_tool(&self, name: &str, _: &str, _: &str) {
        self.tell(|told| told.local_tools.push(name.to_owned()));
    }

    pub(crate) fn set_tool_choice(&self, choice: &Raw) {
        let choice = match choice {
            Raw::Auto => ToolChoice::Auto,
            Raw::Required => ToolChoice::Required,
            Raw::None => ToolChoice::None,
            Raw::Named(function) => ToolChoice::Named(function.clone()),
        };
        self.tell(|told| told.tool_choice = choice);
    }

    pub(crate) fn set_parallel_tool_calls(&self, allowed: bool) {
        self.tell(|told| told.parallel_tool_calls = Some(allowed));
    }

    pub(crate) fn set_response_format(&self, format: &str) {
        self.tell(|told| told.response_format = serde_json::from_str(format).ok());
    }

    pub(crate) fn set_web_search(&self, allowed: bool) {
        self.tell(|told| told.web_search = allowed);
    }

    pub(crate) fn set_restarts(&self, allowed: bool) {
        self.tell(|told| told.restarts = allowed);
    }

    pub(crate) fn set_max_iterations(&self, max_iterations: u32) {
        self.tell(|told| told.max_iterations = Some(max_iterations));
    }

    pub(crate) fn set_timeout_ms(&self, timeout_ms: u64) {
        self.tell(|told| told.timeout = Some(Duration::from_millis(timeout_ms)));
    }
}

/// Something that is shown or played by its bytes.
pub(super) fn medium(kind: Kind, data: &[u8], mime_type: &str) -> MockMedium {
    MockMedium {
        kind,
        data: data.to_vec(),
        mime_type: mime_type.to_owned(),
        path: String::new(),
    }
}

/// A file that is shown or played.
pub(super) fn file(path: &str) -> MockMedium {
    MockMedium {
        path: path.to_owned(),
        ..medium(Kind::File, &[], "")
    }
}
