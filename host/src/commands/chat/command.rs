//! What a line of a chat says: something for the model, or a command for the program.

use openprogram_core::content::{NoThinkingLevel, ThinkingLevel};

use crate::text::one_line;

/// What the commands do, as `/help` tells it.
pub(super) const HELP: &str = "\
/help             what can be typed
/model [NAME]     the model, or another one from the next turn on
/thinking [LEVEL] how much the model thinks, or another level: off, low, medium, high, xhigh
/file [PATH]      show a picture, film or sound file with the next turn; `none` takes all back
/web-search [on]  whether the model may search the web, or `on` or `off`
/toolset [NAME]   what the model may call, or another set: full, none, or one of the project
/tools            the functions that the model may call
/session [ID]     the session, or another one from the next turn on
/new              start a new session with the next turn
/stop             stop the turn that runs; Ctrl-C does too
/quit             end the chat; Ctrl-D, or Ctrl-C twice, do too

Anything else goes to the model. A line that ends with \\ goes on in the next one, and lines that
are pasted together are one text. A text that begins with / is written with two of them.";

/// A line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A text for the model.
    Text(String),
    /// Something for the program.
    Command(Command),
    /// A command that is none, with what is wrong.
    Wrong(String),
    /// Nothing.
    Blank,
}

/// A command of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Model(Option<String>),
    Thinking(Option<ThinkingLevel>),
    /// A path that may hold blanks.
    File(Option<String>),
    WebSearch(Option<bool>),
    Toolset(Option<String>),
    Tools,
    Session(Option<String>),
    New,
    Stop,
    Quit,
}

/// Reads what was typed.
pub(super) fn read(text: &str) -> Said {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Said::Blank;
    }
    let Some(command) = trimmed.strip_prefix('/') else {
        return Said::Text(text.trim_end_matches(['\n', '\r']).to_owned());
    };
    if command.starts_with('/') {
        return Said::Text(command.to_owned());
    }
    if let Some(path) = command.strip_prefix("file ") {
        let path = Some(path.trim()).filter(|path| !path.is_empty());
        return Said::Command(Command::File(path.map(str::to_owned)));
    }
    let mut words = command.split_whitespace();
    let name = words.next().unwrap_or_default();
    let argument = words.next().map(str::to_owned);
    if words.next().is_some() {
        return Said::Wrong(format!(
            "`/{name}` takes at most one word; `/help` lists the commands"
        ));
    }
    let alone = |command: Command| match &argument {
        None => Said::Command(command),
        Some(_) => Said::Wrong(format!("`/{name}` stands alone")),
    };
    match name {
        "help" => alone(Command::Help),
        "model" => Said::Command(Command::Model(argument)),
        "thinking" => match argument.as_deref().map(str::parse).transpose() {
            Ok(level) => Said::Command(Command::Thinking(level)),
            Err(NoThinkingLevel(word)) => {
                Said::Wrong(NoThinkingLevel(one_line(&word, 40)).to_string())
            }
        },
        "file" => alone(Command::File(None)),
        "web-search" => match argument.as_deref() {
            None => Said::Command(Command::WebSearch(None)),
            Some("on") => Said::Command(Command::WebSearch(Some(true))),
            Some("off") => Said::Command(Command::WebSearch(Some(false))),
            Some(_) => Said::Wrong("`/web-search` takes `on` or `off`".to_owned()),
        },
        "toolset" => Said::Command(Command::Toolset(argument)),
        "tools" => alone(Command::Tools),
        "session" => Said::Command(Command::Session(argument)),
        "new" => alone(Command::New),
        "stop" => alone(Command::Stop),
        "quit" | "exit" => alone(Command::Quit),
        _ => Said::Wrong(format!(
            "there is no command `/{}`; `/help` lists them, and `//` begins a text with `/`",
            one_line(name, 40)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_text_or_a_command() {
        let text = |text: &str| Said::Text(text.to_owned());
        let wrong = |text: &str| Said::Wrong(text.to_owned());
        for (line, expected) in [
            ("  hello \n", text("  hello ")),
            ("two\nlines\n", text("two\nlines")),
            ("", Said::Blank),
            (" \n", Said::Blank),
            ("//etc is a folder\n", text("/etc is a folder")),
            ("/help\n", Said::Command(Command::Help)),
            ("/model", Said::Command(Command::Model(None))),
            (
                " /model openai:m ",
                Said::Command(Command::Model(Some("openai:m".to_owned()))),
            ),
            (
                "/toolset none",
                Said::Command(Command::Toolset(Some("none".to_owned()))),
            ),
            ("/exit", Said::Command(Command::Quit)),
            (
                "/thinking high",
                Said::Command(Command::Thinking(Some(ThinkingLevel::High))),
            ),
            (
                "/thinking much",
                wrong(
                    "`much` is no level of thinking; there are `off`, `low`, `medium`, `high` and `xhigh`",
                ),
            ),
            (
                "/file  my holiday.png \n",
                Said::Command(Command::File(Some("my holiday.png".to_owned()))),
            ),
            ("/file ", Said::Command(Command::File(None))),
            (
                "/web-search off",
                Said::Command(Command::WebSearch(Some(false))),
            ),
            (
                "/web-search maybe",
                wrong("`/web-search` takes `on` or `off`"),
            ),
            ("/stop now", wrong("`/stop` stands alone")),
            (
                "/model a b",
                wrong("`/model` takes at most one word; `/help` lists the commands"),
            ),
            (
                "/fly",
                wrong(
                    "there is no command `/fly`; `/help` lists them, and `//` begins a text with `/`",
                ),
            ),
        ] {
            assert_eq!(read(line), expected, "{line:?}");
        }
    }

    #[test]
    fn the_help_names_every_command() {
        for command in [
            "help",
            "model",
            "thinking",
            "file",
            "web-search",
            "toolset",
            "tools",
            "session",
            "new",
            "stop",
            "quit",
        ] {
            assert!(HELP.contains(&format!("/{command} ")), "{command}");
            assert!(
                !matches!(read(&format!("/{command}")), Said::Wrong(_)),
                "{command}"
            );
        }
        let longest = HELP.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(96), "{longest:?}");
    }
}
