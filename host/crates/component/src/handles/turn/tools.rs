//! Which tools a turn has, as a guest sets it.

use openprogram_core::failure::Failure;
use openprogram_core::guest::ToolsWanted;

use super::{Held, RequestHandle, check, check_name, invalid};

/// The longest word for where a turn comes from.
const SOURCE_BYTES_MAX: usize = 64;

impl RequestHandle {
    pub(crate) fn set_tools(&mut self, names: Vec<String>, held: Held<'_>) {
        self.set(|handle| {
            check_names("tools", &names, &held)?;
            let now = bytes(&names);
            let before = handle.wanted_bytes();
            handle.request.tools = ToolsWanted::Named(names);
            handle.hold_anew(before, now, held)
        });
    }

    pub(crate) fn set_toolset(&mut self, name: String, held: Held<'_>) {
        self.set(|handle| {
            check_name("toolset", &name)?;
            let now = name.len() as u64;
            let before = handle.wanted_bytes();
            handle.request.tools = ToolsWanted::Preset(name);
            handle.hold_anew(before, now, held)
        });
    }

    pub(crate) fn set_tools_allow(&mut self, names: Vec<String>, held: Held<'_>) {
        self.set(|handle| {
            check_names("tools_allow", &names, &held)?;
            let now = bytes(&names);
            let before = handle.request.tool_filter.allow.replace(names);
            handle.hold_anew(before.as_deref().map_or(0, bytes), now, held)
        });
    }

    pub(crate) fn set_tools_deny(&mut self, names: Vec<String>, held: Held<'_>) {
        self.set(|handle| {
            check_names("tools_deny", &names, &held)?;
            let now = bytes(&names);
            let before = std::mem::replace(&mut handle.request.tool_filter.deny, names);
            handle.hold_anew(bytes(&before), now, held)
        });
    }

    pub(crate) fn set_tools_source(&mut self, source: String, held: Held<'_>) {
        self.set(|handle| {
            if source.trim().is_empty() || source.len() > SOURCE_BYTES_MAX {
                let message = format!(
                    "`tools_source` is a word for where the turn comes from, at most \
                     {SOURCE_BYTES_MAX} bytes"
                );
                return Err(invalid("tools_source", message));
            }
            let now = source.len() as u64;
            let sources = &mut handle.request.tool_filter.sources;
            let before = std::mem::replace(sources, vec![source]);
            handle.hold_anew(bytes(&before), now, held)
        });
    }

    fn wanted_bytes(&self) -> u64 {
        match &self.request.tools {
            ToolsWanted::Default => 0,
            ToolsWanted::Named(names) => bytes(names),
            ToolsWanted::Preset(name) => name.len() as u64,
        }
    }

    /// Holds so much in place of what was held for the same before.
    fn hold_anew(&mut self, before: u64, now: u64, held: Held<'_>) -> Result<(), Failure> {
        self.held -= before;
        *held.bytes -= before;
        self.hold(now, held)
    }
}

fn check_names(what: &str, names: &[String], held: &Held<'_>) -> Result<(), Failure> {
    let max = held.limits.turn_tools;
    check(names.len() as u64, "turn_tools", max, "tools")?;
    for (index, name) in names.iter().enumerate() {
        check_name(&format!("{what}[{index}]"), name)?;
    }
    Ok(())
}

fn bytes(names: &[String]) -> u64 {
    names.iter().map(|name| name.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::RuntimeRole;

    use super::*;
    use crate::limits::Limits;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Works on a turn that holds one byte of text, and gives how much it holds then, or the failure.
    fn set(work: impl Fn(&mut RequestHandle, Held<'_>)) -> Result<u64, String> {
        let limits = Limits {
            turn_tools: 2,
            turn_bytes: 40,
            ..Limits::default()
        };
        let mut all = 0;
        let mut handle = RequestHandle::new();
        // Whatever is set twice is held once.
        for is_text in [true, false, false] {
            let held = Held {
                limits: &limits,
                bytes: &mut all,
            };
            match is_text {
                true => handle.add_text("a".to_owned(), held),
                false => work(&mut handle, held),
            }
        }
        assert_eq!(all, handle.held());
        let turn = handle.turn(RuntimeRole::Main);
        turn.map(|_| handle.held())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_words_about_tools_are_held_once_and_are_bounded() {
        let two = || names(&["ab", "c"]);
        assert_eq!(set(|turn, held| turn.set_tools(two(), held)), Ok(4));
        assert_eq!(set(|turn, held| turn.set_tools_allow(two(), held)), Ok(4));
        assert_eq!(set(|turn, held| turn.set_tools_deny(two(), held)), Ok(4));
        let preset = || "none".to_owned();
        assert_eq!(set(|turn, held| turn.set_toolset(preset(), held)), Ok(5));
        let source = || "web".to_owned();
        assert_eq!(
            set(|turn, held| turn.set_tools_source(source(), held)),
            Ok(4)
        );

        let refused = |told: &str| Err(told.to_owned());
        let three = || names(&["a", "b", "c"]);
        let many = "the turn has more than 2 tools";
        assert_eq!(
            set(|turn, held| turn.set_tools(three(), held)),
            refused(many)
        );
        assert_eq!(
            set(|turn, held| turn.set_tools_allow(three(), held)),
            refused(many)
        );
        assert_eq!(
            set(|turn, held| turn.set_tools_deny(three(), held)),
            refused(many)
        );
        let long = || "n".repeat(513);
        assert_eq!(
            set(|turn, held| turn.set_tools_deny(vec![long()], held)),
            refused("`tools_deny[0]` is longer than 512 bytes")
        );
        assert_eq!(
            set(|turn, held| turn.set_toolset(long(), held)),
            refused("`toolset` is longer than 512 bytes")
        );
        for source in [" ", &"s".repeat(65)] {
            let told = "`tools_source` is a word for where the turn comes from, at most 64 bytes";
            assert_eq!(
                set(|turn, held| turn.set_tools_source(source.to_owned(), held)),
                refused(told)
            );
        }
        let large = || names(&["a".repeat(30).as_str(), "b".repeat(30).as_str()]);
        assert_eq!(
            set(|turn, held| turn.set_tools_allow(large(), held)),
            refused("the turns being prepared hold more than 40 bytes")
        );
    }
}
