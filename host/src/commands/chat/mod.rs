//! `openprogram chat`: turns of one session, typed line by line.
//!
//! Every turn is one at the top of a run, as a program would make it; nothing here knows how a turn
//! works. What a model writes is shown by the progress of a run, and questions are asked in place.

mod command;
mod input;
mod told;
mod toolset;
mod watcher;

use std::sync::Arc;
use std::time::Instant;

use openprogram_core::JsonObject;
use openprogram_core::content::ContentBlock;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, RuntimeRole};
use openprogram_core::guest::{ExecReply, ExecRequest};
use openprogram_core::id::SessionId;
use openprogram_runtime::{TurnOutcome, TurnRequest};
use tokio::sync::Notify;

use self::command::{Command, HELP, Said, read};
use self::input::{Entry, Input};
use self::toolset::Toolset;
use self::watcher::Watcher;
use super::console::Console;
use super::exit::{Exit, Report};
use super::progress;
use super::questions::{TerminalQuestions, Typed};
use super::signature::signature;
use super::spent::tokens;
use super::stop::{Asked, Signals};
use super::time::duration;
use crate::app::{App, Budgets, Components, Prepared, RunChoice};
use crate::settings::ModelNames;
use crate::text::one_line;

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
    /// Go on in this session instead of starting one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What the model may call: `full`, every function of the project, `none`, or one of `[toolsets]` in
    /// openprogram.toml
    #[arg(long, value_name = "NAME", default_value = "full")]
    toolset: String,
    /// Print what happens as JSON, one object on a line: {"type": "text" | "thinking" | "tool_use" |
    /// "tool_result" | "retry" | … }, and at the end of a turn {"type": "reply", "session", "text",
    /// "usage"} or {"type": "error", "session", "error": {"code", "message", "details"}}
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
    questions: Arc<TerminalQuestions>,
    input: Input,
    signals: Signals,
    toolset: Toolset,
    /// The session; `None` until the first turn makes one.
    session: Option<SessionId>,
    json: bool,
}

/// Whether the chat goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    GoOn,
    Quit,
}

impl<'a> Chat<'a> {
    async fn open(args: &Args, app: &'a App, console: &mut Console) -> anyhow::Result<Self> {
        let toolset = Toolset::parse(&args.toolset, &app.settings().tool_sets);
        let toolset = toolset.map_err(|problem| {
            Failure::new(FailureCode::InvalidArgument, problem).with("path", "toolset")
        })?;
        let input = Input::new();
        // Each turn has a progress of its own.
        let (pauser, _) = progress::pauses();
        let questions = Arc::new(TerminalQuestions::with_lines(pauser, input.lines.clone()));
        let (prepared, model) = prepare(app, args.model.clone(), &questions, console).await?;
        Ok(Self {
            app,
            prepared,
            model,
            questions,
            input,
            signals: Signals::listen(),
            toolset,
            session: None,
            json: args.json,
        })
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
                    console.say(&problem);
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

    async fn obey(&mut self, command: Command, console: &mut Console) -> anyhow::Result<After> {
        match command {
            Command::Help => console.say(HELP),
            Command::Model(None) => console.say(&self.model),
            Command::Model(Some(name)) => {
                match prepare(self.app, Some(name), &self.questions, console).await {
                    Ok((prepared, model)) => {
                        console.say(&format!("the model is {model} now"));
                        (self.prepared, self.model) = (prepared, model);
                    }
                    // The chat goes on with the one it has.
                    Err(error) => Report::of(&error).say_to(console),
                }
            }
            Command::Toolset(None) => console.say(self.toolset.name()),
            Command::Toolset(Some(name)) => {
                match Toolset::parse(&name, &self.app.settings().tool_sets) {
                    Ok(toolset) => {
                        console.say(&format!("the toolset is {} now", toolset.name()));
                        self.toolset = toolset;
                    }
                    Err(problem) => console.say(&problem),
                }
            }
            Command::Tools => self.say_tools(console),
            Command::Session(None) => match &self.session {
                Some(session) => console.say(&format!("session {session}")),
                None => console.say("there is no session yet; the first turn makes one"),
            },
            Command::Session(Some(id)) => {
                let entered = match SessionId::parse(&id) {
                    Ok(session) => self.enter(session).await,
                    Err(error) => Err(error.into()),
                };
                match entered {
                    Ok(()) => console.say("the chat goes on in this session"),
                    Err(error) => Report::of(&error).say_to(console),
                }
            }
            Command::New => {
                self.session = None;
                console.say("the next turn starts a new session");
            }
            Command::Stop => console.say("no turn runs"),
            Command::Quit => return Ok(After::Quit),
        }
        Ok(After::GoOn)
    }

    fn say_tools(&self, console: &mut Console) {
        let catalog = self.prepared.runtime.catalog();
        let sets = &self.app.settings().tool_sets;
        let functions = self.toolset.functions(catalog, sets).into_iter();
        let line = |function: Result<FunctionRef, String>| match function {
            Ok(function) => one_line(&signature(&function), 1_000),
            Err(missing) => one_line(&missing, 1_000),
        };
        let lines: Vec<_> = functions.map(line).collect();
        match lines.is_empty() {
            true => console.say("the model may call nothing"),
            false => console.say(&lines.join("\n")),
        }
    }

    /// Makes one turn and tells what came of it.
    async fn turn(&mut self, text: String, console: &mut Console) -> anyhow::Result<After> {
        let began = Instant::now();
        let mut watcher = Watcher::start(&self.questions, &self.app.settings().terminal, self.json);
        let mut turn = ExecRequest::new(RuntimeRole::Main, vec![ContentBlock::Text(text)]);
        turn.tools = self.toolset.tools();
        let request = TurnRequest {
            turn,
            context: JsonObject::new(),
            session: self.session.clone(),
            provider: None,
            events: watcher.sender(),
            on_retry: None,
        };
        let (outcome, after) = self.watched(request, &mut watcher, console).await?;
        let are_shown = watcher.finish(console).await?;
        if outcome.session.is_some() {
            self.session.clone_from(&outcome.session);
        }
        match outcome.result {
            Ok(reply) => self.tell(&reply, are_shown, began, console)?,
            Err(failure) if self.json => {
                let error = told::error(self.session.as_ref(), &failure);
                console.json_line(&error)?;
            }
            Err(failure) => Report::of(&failure.into()).say_to(console),
        }
        Ok(after)
    }

    /// Waits for the end of a turn, and does what is asked meanwhile.
    async fn watched(
        &mut self,
        request: TurnRequest,
        watcher: &mut Watcher,
        console: &mut Console,
    ) -> anyhow::Result<(TurnOutcome<ExecReply>, After)> {
        let runtime = self.prepared.runtime.clone();
        let stop = Notify::new();
        let mut turn = Box::pin(runtime.exec_until(request, stop.notified()));
        let mut asking = self.questions.asking();
        let (mut after, mut is_stopping) = (After::GoOn, false);
        loop {
            // What is typed while a question is on the screen is an answer to it.
            let is_asking = *asking.borrow_and_update();
            let listens = self.input.is_terminal && !self.input.is_over && !is_asking;
            tokio::select! {
                biased;
                outcome = &mut turn => return Ok((outcome, after)),
                event = watcher.next() => if let Some(event) = event.as_ref().and_then(told::event) {
                    console.json_line(&event)?;
                },
                asked = self.signals.next() => {
                    if is_stopping {
                        // It does not stop; whoever asks twice does not want to wait.
                        std::process::exit(Exit::Stopped as i32);
                    }
                    is_stopping = true;
                    stop.notify_one();
                    if asked == Asked::Terminate {
                        after = After::Quit;
                    }
                }
                changed = asking.changed() => if changed.is_err() {
                    // The questions live as long as the chat.
                    self.input.is_over = true;
                },
                typed = self.input.lines.next(), if listens => match typed {
                    Some(Typed::Line(line)) => match read(&line) {
                        Said::Command(Command::Stop) => stop.notify_one(),
                        Said::Command(Command::Quit) => {
                            after = After::Quit;
                            stop.notify_one();
                        }
                        _ => self.input.keep(line),
                    },
                    Some(Typed::End) => after = After::Quit,
                    None => self.input.is_over = true,
                },
            }
        }
    }

    fn tell(
        &self,
        reply: &ExecReply,
        is_shown: bool,
        began: Instant,
        console: &mut Console,
    ) -> anyhow::Result<()> {
        if self.json {
            let reply = told::reply(self.session.as_ref(), reply);
            return Ok(console.json_line(&reply)?);
        }
        if !is_shown {
            console.text(&reply.text)?;
        }
        if self.input.is_terminal {
            let took = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
            console.say(&format!("{}; {}", tokens(&reply.usage), duration(took)));
        }
        Ok(())
    }
}

async fn prepare(
    app: &App,
    model: Option<String>,
    questions: &Arc<TerminalQuestions>,
    console: &mut Console,
) -> anyhow::Result<(Prepared, String)> {
    let limits = app.settings().limits;
    let choice = RunChoice {
        components: Components::Project,
        models: Some(ModelNames {
            main: model,
            ..ModelNames::default()
        }),
        thinking: None,
        budgets: Budgets {
            tokens: limits.max_tokens,
            run_ms: limits.max_time_s.map(|seconds| seconds * 1_000),
            model_turns: limits.max_turns,
        },
        is_recorded: true,
    };
    let questions = Arc::clone(questions);
    let prepared = app
        .prepare_asking(&choice, questions, console.words())
        .await?;
    prepared.say_left_out(console.words());
    let model = prepared.runtime.writing_model()?.to_owned();
    Ok((prepared, model))
}
