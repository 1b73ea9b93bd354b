//! One turn as a guest prepares it, setter by setter.
//!
//! What a setter cannot accept is remembered and told when the turn is made, because setters have no
//! result in the contract.

mod tools;

use openprogram_core::content::ContentBlock;
use openprogram_core::failure::Failure;
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::guest::{ExecRequest, LocalTool};
use openprogram_core::structured::{StructuredCode, StructuredError};
use openprogram_core::tool::ToolChoice;

use super::invalid;
use super::media::MediaCount;
use crate::limits::Limits;

/// The longest name of a function: longer ones name nothing.
const NAME_BYTES_MAX: usize = 512;

/// The longest response format that is read; its schema may have half as much.
const FORMAT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// One turn as a guest prepares it.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct RequestHandle {
    /// The turn so far; its runtime is the one it will be made with.
    pub(super) request: ExecRequest,
    /// Whether what was taken of a reply may be told anew, when it is started.
    pub(crate) takes_restarts: bool,
    parts: u64,
    text_bytes: u64,
    system_bytes: u64,
    pub(super) media: MediaCount,
    /// How much of what is held is the response format.
    format_bytes: u64,
    /// Everything held, as it counts for all turns that are being prepared.
    held: u64,
    /// The first thing a setter could not accept.
    refused: Option<Failure>,
}

/// What the turns that are being prepared may hold together, of one call; menus and picks likewise.
pub(crate) struct Held<'a> {
    pub(crate) limits: &'a Limits,
    /// How much they hold.
    pub(crate) bytes: &'a mut u64,
}

impl RequestHandle {
    pub(crate) fn new() -> Self {
        Self {
            request: ExecRequest::new(RuntimeRole::Main, Vec::new()),
            takes_restarts: false,
            parts: 0,
            text_bytes: 0,
            system_bytes: 0,
            media: MediaCount::default(),
            format_bytes: 0,
            held: 0,
            refused: None,
        }
    }

    /// How much it holds, to be given back when it is dropped.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// The turn, made with this runtime.
    ///
    /// # Errors
    /// What a setter could not accept, and `invalid-argument` for a turn that says nothing.
    pub(crate) fn turn(&self, runtime: impl Into<RuntimeRef>) -> Result<ExecRequest, Failure> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let mut content = self.request.content.iter();
        if content.all(ContentBlock::is_cache_mark) {
            let message = "the turn says nothing; give it a text or a picture".to_owned();
            return Err(invalid("content", message));
        }
        Ok(ExecRequest {
            runtime: runtime.into(),
            ..self.request.clone()
        })
    }

    pub(crate) fn add_text(&mut self, text: String, held: Held<'_>) {
        self.set(|handle| {
            let limits = held.limits;
            handle.text_bytes += text.len() as u64;
            let max = limits.text_bytes;
            check(handle.text_bytes, "text_bytes", max, "bytes of text")?;
            handle.pay(text.len(), held)?;
            if !text.is_empty() {
                handle.request.content.push(ContentBlock::Text(text));
            }
            Ok(())
        });
    }

    pub(crate) fn add_system_text(&mut self, text: String, held: Held<'_>) {
        self.set(|handle| {
            let limits = held.limits;
            handle.system_bytes += text.len() as u64;
            let max = limits.system_bytes;
            check(
                handle.system_bytes,
                "system_bytes",
                max,
                "bytes of system text",
            )?;
            handle.pay(text.len(), held)?;
            if !text.is_empty() {
                handle.request.system.push(text);
            }
            Ok(())
        });
    }

    pub(crate) fn add_local_tool(
        &mut self,
        name: String,
        description: &str,
        parameters: &str,
        held: Held<'_>,
    ) {
        self.set(|handle| {
            let path = format!("local_tools[{}]", handle.request.local_tools.len());
            let count = handle.request.local_tools.len() as u64 + 1;
            check(count, "local_tools", held.limits.local_tools, "local tools")?;
            let bytes = (name.len() + description.len() + parameters.len()) as u64;
            let max = held.limits.text_bytes;
            check(bytes, "text_bytes", max, "bytes in one local tool")?;
            let parameters = serde_json::from_str(parameters).map_err(|error| {
                let path = format!("{path}.parameters");
                invalid(&path, format!("`{path}` is not JSON: {error}"))
            })?;
            let tool = LocalTool::read(&path, name, description, &parameters)?;
            handle.request.local_tools.push(tool);
            handle.hold(bytes, held)
        });
    }

    pub(crate) fn set_tool_choice(&mut self, choice: ToolChoice) {
        self.set(|handle| {
            if let ToolChoice::Named(name) = &choice {
                check_name("tool_choice", name)?;
            }
            handle.request.tool_choice = choice;
            Ok(())
        });
    }

    pub(crate) fn set_parallel_tool_calls(&mut self, allowed: bool) {
        self.set(|handle| {
            handle.request.parallel_tool_calls = Some(allowed);
            Ok(())
        });
    }

    pub(crate) fn set_response_format(&mut self, format: &str, held: Held<'_>) {
        self.set(|handle| {
            let read = match format.len() <= FORMAT_BYTES_MAX {
                true => serde_json::from_str(format).map_err(|_| "the response format is not JSON"),
                false => Err("the response format is longer than 2 MiB"),
            };
            let read = read.map_err(|message| {
                StructuredError::new(StructuredCode::InvalidSchema, message).to_failure()
            })?;
            handle.request.response_format = Some(read);
            handle.held -= handle.format_bytes;
            *held.bytes -= handle.format_bytes;
            handle.format_bytes = format.len() as u64;
            handle.hold(format.len() as u64, held)
        });
    }

    pub(crate) fn set_web_search(&mut self, allowed: bool) {
        self.set(|handle| {
            handle.request.web_search = allowed;
            Ok(())
        });
    }

    pub(crate) fn set_max_iterations(&mut self, max_iterations: u32) {
        self.set(|handle| {
            handle.request.max_iterations = max_iterations;
            Ok(())
        });
    }

    pub(crate) fn set_timeout_ms(&mut self, timeout_ms: u64) {
        self.set(|handle| {
            if timeout_ms == 0 {
                let message = "a turn needs a time of at least 1 ms".to_owned();
                return Err(invalid("timeout_ms", message));
            }
            handle.request.timeout_ms = Some(timeout_ms);
            Ok(())
        });
    }

    /// Whether a setter was refused, so that nothing more is taken.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Lets a setter work, unless an earlier one was refused: a turn that cannot be made must not
    /// grow either.
    pub(super) fn set(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) {
        if self.refused.is_none()
            && let Err(failure) = work(self)
        {
            self.refused = Some(failure);
        }
    }

    /// Counts one part of what is said.
    pub(super) fn pay(&mut self, bytes: usize, held: Held<'_>) -> Result<(), Failure> {
        self.parts += 1;
        let max = held.limits.turn_parts;
        check(self.parts, "turn_parts", max, "parts")?;
        self.hold(bytes as u64, held)
    }

    fn hold(&mut self, bytes: u64, held: Held<'_>) -> Result<(), Failure> {
        hold_with_turns(bytes, held)?;
        self.held += bytes;
        Ok(())
    }
}

/// Counts what the turns that are being prepared hold together.
///
/// # Errors
/// `limit-reached`, and nothing is counted.
pub(super) fn hold_with_turns(bytes: u64, held: Held<'_>) -> Result<(), Failure> {
    let max = held.limits.turn_bytes;
    let all = held.bytes.saturating_add(bytes);
    if all > max {
        let message = format!("the turns being prepared hold more than {max} bytes");
        return Err(Failure::limit("turn_bytes", max, message));
    }
    *held.bytes = all;
    Ok(())
}

pub(super) fn check(count: u64, which: &'static str, max: u64, what: &str) -> Result<(), Failure> {
    if count <= max {
        return Ok(());
    }
    let message = format!("the turn has more than {max} {what}");
    Err(Failure::limit(which, max, message))
}

fn check_name(path: &str, name: &str) -> Result<(), Failure> {
    if name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    let message = format!("`{path}` is longer than {NAME_BYTES_MAX} bytes");
    Err(invalid(path, message))
}

#[cfg(test)]
mod tests {
    use openprogram_core::content::MediaKind;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn limits() -> Limits {
        Limits {
            text_bytes: 10,
            system_bytes: 4,
            image_bytes: 30,
            turn_parts: 4,
            turn_tools: 2,
            turn_bytes: 40,
            ..Limits::default()
        }
    }

    /// Calls the setters, with `others` bytes held by other turns, and makes the turn.
    #[track_caller]
    fn check_setters(setters: &[Setter], others: u64, expected: &str) {
        let (limits, mut bytes) = (limits(), others);
        let mut handle = RequestHandle::new();
        for setter in setters {
            let held = Held {
                limits: &limits,
                bytes: &mut bytes,
            };
            match *setter {
                Setter::Text(text) => handle.add_text(text.to_owned(), held),
                Setter::System(text) => handle.add_system_text(text.to_owned(), held),
                Setter::Image(data) => {
                    handle.add_media(MediaKind::Image, data.to_vec(), "", held);
                }
                Setter::File(path, data) => handle.add_file(path, Ok(data.to_vec()), held),
                Setter::Mark(ttl) => handle.mark_cache(ttl, held),
                Setter::Tools(names) => {
                    let names = names.iter().map(|name| (*name).to_owned());
                    handle.set_tools(names.collect(), held);
                }
            }
        }
        assert_eq!(bytes - others, handle.held());
        let told = match handle.turn(RuntimeRole::Exec) {
            Ok(turn) => format!("{} parts, {} held", turn.content.len(), handle.held()),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(told, expected);
    }

    #[derive(Clone, Copy)]
    enum Setter {
        Text(&'static str),
        System(&'static str),
        Image(&'static [u8]),
        File(&'static str, &'static [u8]),
        Mark(Option<&'static str>),
        Tools(&'static [&'static str]),
    }

    #[test]
    fn what_a_setter_cannot_accept_is_told_when_the_turn_is_made() {
        use Setter::{File, Image, Mark, System, Text, Tools};
        let nothing = "the turn says nothing; give it a text or a picture";
        check_setters(
            &[Text("hello"), Image(PNG), System("be")],
            0,
            "2 parts, 19 held",
        );
        check_setters(&[Text("hi"), Tools(&["ab", "c"])], 0, "1 parts, 5 held");
        check_setters(
            &[Text("hi"), Tools(&["ab"]), Tools(&[])],
            0,
            "1 parts, 2 held",
        );
        check_setters(&[], 0, nothing);
        check_setters(&[Text("")], 0, nothing);
        check_setters(
            &[Text("123456"), Text("78901"), Image(b"no picture")],
            0,
            "the turn has more than 10 bytes of text",
        );
        check_setters(
            &[Text("a"), System("abc"), System("de")],
            0,
            "the turn has more than 4 bytes of system text",
        );
        check_setters(
            &[Image(PNG), Image(PNG), Image(PNG)],
            0,
            "the turn has more than 30 bytes of image",
        );
        let unknown = |what: &str| {
            format!(
                "`{what}` is no picture (PNG, JPEG, GIF, WebP), no film (MP4, QuickTime, WebM, \
                 Matroska, MPEG, AVI) and no sound (WAV, MP3, M4A, AAC, Ogg, FLAC, AIFF): its first \
                 bytes are of another kind"
            )
        };
        check_setters(&[Text("a"), Image(b"GIF88a")], 0, &unknown("content[1]"));
        check_setters(&[File("in/a.png", b"%PDF-")], 0, &unknown("in/a.png"));
        let marks = [Mark(None), Mark(Some("1h"))];
        check_setters(
            &[File("clip.mp4", PNG), marks[0], marks[1]],
            0,
            "3 parts, 12 held",
        );
        check_setters(
            &[Text("a"), Mark(Some("2h")), marks[0]],
            0,
            "the time of a mark for the cache: it must be `5m` or `1h`",
        );
        // A picture counts as one, whatever it is called.
        check_setters(
            &[Image(PNG), Image(PNG), File("clip.mp4", PNG)],
            0,
            "the turn has more than 30 bytes of image",
        );
        check_setters(&marks, 0, nothing);
        check_setters(&[Text("a"); 5], 0, "the turn has more than 4 parts");
        check_setters(
            &[Text("a"), Tools(&["a", "b", "c"])],
            0,
            "the turn has more than 2 tools",
        );
        check_setters(
            &[Text("abc")],
            38,
            "the turns being prepared hold more than 40 bytes",
        );
    }

    #[test]
    fn a_response_format_is_held_once_and_has_to_be_json() {
        let (limits, mut bytes) = (limits(), 0);
        let mut handle = RequestHandle::new();
        let mut set = |handle: &mut RequestHandle, format: &str| {
            let bytes = &mut bytes;
            let limits = &limits;
            handle.set_response_format(format, Held { limits, bytes });
            handle.held()
        };
        assert_eq!(set(&mut handle, "{\"type\": \"null\"}"), 16);
        assert_eq!(set(&mut handle, "{}"), 2);
        assert_eq!(set(&mut handle, "{oops"), 2);
        let failure = handle.turn(RuntimeRole::Main).unwrap_err();
        assert_eq!(failure.to_string(), "the response format is not JSON");
        assert_eq!(failure.details["code"], "invalid_schema");
        let mut handle = RequestHandle::new();
        set(&mut handle, &" ".repeat(41));
        assert_eq!(
            handle.turn(RuntimeRole::Main).unwrap_err().details["code"],
            "invalid_schema"
        );
    }

    #[test]
    fn names_and_times_that_mean_nothing_are_refused() {
        let long = "n".repeat(NAME_BYTES_MAX + 1);
        let mut handle = RequestHandle::new();
        handle.set_tool_choice(ToolChoice::Named(long));
        let told = handle.turn(RuntimeRole::Main).map_err(|f| f.to_string());
        assert_eq!(told, Err("`tool_choice` is longer than 512 bytes".into()));
        let mut handle = RequestHandle::new();
        handle.set_timeout_ms(0);
        let told = handle.turn(RuntimeRole::Main).map_err(|f| f.to_string());
        assert_eq!(told, Err("a turn needs a time of at least 1 ms".into()));
    }
}
