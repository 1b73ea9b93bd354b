//! `openprogram chat`: turns of one session, typed line by line.
//!
//! Every turn is one at the top of a run, as a program would make it; nothing here knows how a turn
//! works. What a model writes is shown by the progress of a run, and questions are asked in place.

mod command;
mod input;
mod lacking;
mod obey;
mod told;
mod toolset;
mod turn;
mod wanted;
mod watcher;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openprogram_core::JsonObject;
use openprogram_core::content::{ContentBlock, ThinkingLevel};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::id::SessionId;

use self::command::{Said, read};
use self::input::{Entry, Input};
use self::toolset::Toolset;
use self::wanted::Wanted;
use super::arguments::{Pair, context, parse_pair, thinking_levels};
use super::console::Console;
use super::exit::{Report, Usage};
use super::progress;
use super::questions::TerminalQuestions;
use super::shown_file::read_shown;
use super::stop::{Asked, Signals};
use crate::app::{App, Prepared};
use crate::text::one_line;

/// Files that are kept for the next turn.
const FILES_MAX: usize = 32;

/// Talks with a model, turn by turn, in one session
///
/// The model may call the functions of the project. What it writes appears while it writes it; what a
/// grant or a function wants approved, and what a component asks, is asked in place. `/help` lists
/// what else can be typed.
///
/// Where the input is a pipe, each line is one turn, and replies go to stdout. A turn that fails is
/// told and does not end the chat.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model, in place of that of the project
    #[arg(long, value_name = "PROVIDER:MODEL")]
    model: Option<String>,
    /// How much the model thinks, in place of what the project says
    #[arg(long, value_name = "LEVEL", value_parser = thinking_levels())]
    thinking: Option<ThinkingLevel>,
    /// Show this picture, film or sound file with the first turn; may be repeated
    ///
    /// What it is, is told by its bytes. A turn that the model cannot take is refused before it is sent.
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Let the model search the web with its provider's own tool; refused for a model without one
    #[arg(long)]
    web_search: bool,
    /// Go on in this session instead of starting one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What the model may call: `full`, every function of the project, `none`, or one of `[toolsets]` in
    /// openprogram.toml
    #[arg(long, value_name = "NAME", default_value = "full")]
    toolset: String,
    /// Give one value for hidden parameters of that name; may be repeated
    ///
    /// Read like that of `run`. No model sees it. A function that needs one which is not given is left
    /// out of what the model may call.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    context: Vec<Pair>,
    /// Print what happens as JSON, one object on a line: {"type": "text" | "thinking" | "tool_use" |
    /// "tool_result" | "retry" | … }, and at the end of a turn {"type": "reply", "session", "text",
    /// "usage", "stop"} or {"type": "error", "session", "error": {"code", "message", "details"}}; a chat
    /// that cannot begin ends with such an error, and a command that was not done is {"type":
    /// "refused_command", "error"}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let session = args.session.as_deref().map(SessionId::parse).transpose()?;
    let mut chat = Chat::open(&args, app, console).await?;
    if let Some(session) = session {
        chat.enter(session).await?;
    }
    chat.talk(console).await
}

/// A chat that goes on.
struct Chat<'a> {
    app: &'a App,
    prepared: Prepared,
    /// The name of the model.
    model: String,
    wanted: Wanted,
    /// What is shown with the next turn.
    files: Vec<Attached>,
    questions: Arc<TerminalQuestions>,
    input: Input,
    signals: Signals,
    toolset: Toolset,
    /// The values for hidden parameters.
    context: JsonObject,
    /// The session; `None` until the first turn makes one.
    session: Option<SessionId>,
    json: bool,
}

/// A file for the next turn.
struct Attached {
    /// Its path, as it was typed.
    path: String,
    block: ContentBlock,
}

/// Whether the chat goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    GoOn,
    Quit,
}

impl<'a> Chat<'a> {
    async fn open(args: &Args, app: &'a App, console: &mut Console) -> anyhow::Result<Self> {
        let input = Input::new();
        // Each turn has a progress of its own.
        let (pauser, _) = progress::pauses();
        let questions = Arc::new(TerminalQuestions::with_lines(pauser, input.lines.clone()));
        let wanted = Wanted {
            model: args.model.clone(),
            thinking: args.thinking,
            web_search: args.web_search,
        };
        let (prepared, model) = wanted.prepare(app, &questions, console).await?;
        let (sets, catalog) = (&app.settings().tool_sets, prepared.runtime.catalog());
        let toolset = Toolset::parse(&args.toolset, sets, catalog)?;
        let functions: Vec<_> = catalog.iter().map(AsRef::as_ref).collect();
        let context = context(&functions, &args.context)?;
        let mut chat = Self {
            app,
            prepared,
            model,
            wanted,
            files: Vec::new(),
            questions,
            input,
            signals: Signals::listen(),
            toolset,
            context,
            session: None,
            json: args.json,
        };
        for file in &args.files {
            chat.attach(file)?;
        }
        chat.say_left_out(console);
        Ok(chat)
    }

    /// Keeps a file for the next turn.
    fn attach(&mut self, path: &Path) -> anyhow::Result<()> {
        if self.files.len() == FILES_MAX {
            let message = format!("a turn of a chat shows at most {FILES_MAX} files");
            return Err(Failure::limit("files", FILES_MAX as u64, message).into());
        }
        self.files.push(Attached {
            block: read_shown(path)?,
            path: path.display().to_string(),
        });
        Ok(())
    }

    /// Goes on in a session that is there.
    async fn enter(&mut self, session: SessionId) -> anyhow::Result<()> {
        let found = self.prepared.runtime.store().session(&session).await?;
        if found.is_none() {
            let message = format!("there is no session `{session}`");
            let failure = Failure::new(FailureCode::NotFound, message);
            return Err(failure.with("session", session.as_str()).into());
        }
        self.session = Some(session);
        Ok(())
    }

    /// Tells that something typed was not done, and why.
    fn refuse(&self, error: &anyhow::Error, console: &mut Console) -> anyhow::Result<()> {
        let report = Report::of(error);
        report.say_to(console);
        if self.json {
            console.json_line(&told::refused(&report))?;
        }
        Ok(())
    }

    /// The same in the words of the chat, of something that is soon typed again.
    fn refuse_briefly(&self, problem: &str, console: &mut Console) -> anyhow::Result<()> {
        console.say(problem);
        if self.json {
            let report = Report::of(&Usage(problem.to_owned()).into());
            console.json_line(&told::refused(&report))?;
        }
        Ok(())
    }

    async fn talk(&mut self, console: &mut Console) -> anyhow::Result<()> {
        if self.input.is_terminal {
            let model = one_line(&self.model, 80);
            console.say(&format!("{model}; `/help` lists what can be typed"));
        }
        loop {
            let Some(entry) = self.next(console).await else {
                break;
            };
            let after = match read(&entry) {
                Said::Blank => After::GoOn,
                Said::Text(text) => self.turn(text, console).await?,
                Said::Command(command) => self.obey(command, console).await?,
                Said::Wrong(problem) => {
                    self.refuse_briefly(&problem, console)?;
                    After::GoOn
                }
            };
            if after == After::Quit {
                break;
            }
        }
        if let Some(notice) = self.prepared.notice() {
            console.say(&format!("note: {notice}"));
        }
        if let Some(session) = &self.session {
            console.say(&format!("session {session}"));
        }
        Ok(())
    }

    /// Waits for an entry; `None` when the chat is to end.
    async fn next(&mut self, console: &mut Console) -> Option<String> {
        let mut was_interrupted = false;
        loop {
            if self.input.is_terminal {
                let prompt = match self.input.has_begun() {
                    true => ". ",
                    false => "> ",
                };
                let words = console.words();
                // A prompt that cannot be written is missed by nobody.
                let _ = words.write_all(prompt.as_bytes());
                let _ = words.flush();
            }
            tokio::select! {
                asked = self.signals.next() => {
                    if was_interrupted || asked == Asked::Terminate {
                        return None;
                    }
                    was_interrupted = true;
                    self.input.forget();
                    console.say("\nCtrl-C again, or `/quit`, ends the chat");
                }
                entry = self.input.next() => match entry {
                    Entry::Whole(text) => return Some(text),
                    Entry::Begun => was_interrupted = false,
                    Entry::TooLong => console.say("that is longer than 1 MiB and is not used"),
                    Entry::End => {
                        if self.input.is_terminal {
                            console.say("");
                        }
                        return None;
                    }
                },
            }
        }
    }
}
