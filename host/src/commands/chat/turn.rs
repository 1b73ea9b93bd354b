//! One turn of a chat, from what was said to what is told of its end.

use std::time::Instant;

use openprogram_core::content::ContentBlock;
use openprogram_core::guest::ExecReply;
use openprogram_runtime::{TurnOutcome, TurnRequest};
use tokio::sync::Notify;

use super::command::{Command, Said, read};
use super::watcher::Watcher;
use super::{After, Chat, told};
use crate::commands::console::Console;
use crate::commands::exit::{Exit, Report};
use crate::commands::questions::Typed;
use crate::commands::spent::tokens;
use crate::commands::stop::Asked;
use crate::commands::time::duration;

impl Chat<'_> {
    /// Makes one turn and tells what came of it.
    pub(super) async fn turn(
        &mut self,
        text: String,
        console: &mut Console,
    ) -> anyhow::Result<After> {
        let began = Instant::now();
        let mut watcher = Watcher::start(&self.questions, &self.app.settings().terminal, self.json);
        let mut content: Vec<_> = self.files.drain(..).map(|file| file.block).collect();
        content.push(ContentBlock::Text(text));
        let mut request = TurnRequest::new(content);
        request.turn.tools = self.toolset.tools();
        request.turn.web_search = self.wanted.web_search;
        request.turn.tool_filter.deny = self.left_out().map(|(name, _)| name).collect();
        request.context.clone_from(&self.context);
        request.session.clone_from(&self.session);
        request.events = watcher.sender();
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
            console.given(&reply.text.as_str().into())?;
        }
        if self.input.is_terminal {
            let took = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
            console.say(&format!("{}; {}", tokens(&reply.usage), duration(took)));
        }
        Ok(())
    }
}
