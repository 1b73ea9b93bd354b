//! What a chat does when it is told a command.

use std::path::Path;

use openprogram_core::function::FunctionRef;
use openprogram_core::id::SessionId;

use super::command::{Command, HELP};
use super::toolset::Toolset;
use super::wanted::Wanted;
use super::{After, Attached, Chat};
use crate::commands::console::Console;
use crate::commands::signature::signature;
use crate::text::one_line;

impl Chat<'_> {
    pub(super) async fn obey(
        &mut self,
        command: Command,
        console: &mut Console,
    ) -> anyhow::Result<After> {
        match command {
            Command::Help => console.say(HELP),
            Command::Model(None) => console.say(&self.model),
            Command::Model(Some(name)) => {
                let wanted = Wanted {
                    model: Some(name),
                    ..self.wanted.clone()
                };
                if self.want(wanted, console).await? {
                    console.say(&format!("the model is {} now", self.model));
                }
            }
            Command::Thinking(None) => console.say(self.wanted.level(self.app).as_str()),
            Command::Thinking(Some(level)) => {
                let wanted = Wanted {
                    thinking: Some(level),
                    ..self.wanted.clone()
                };
                if self.want(wanted, console).await? {
                    console.say(&format!("the level of thinking is {level} now"));
                }
            }
            Command::File(None) => self.say_files(console),
            Command::File(Some(path)) if path == "none" => {
                self.files.clear();
                console.say("no file is shown with the next turn");
            }
            Command::File(Some(path)) => match self.attach(Path::new(&path)) {
                Ok(()) => self.say_files(console),
                Err(error) => self.refuse(&error, console)?,
            },
            Command::WebSearch(None) => console.say(match self.wanted.web_search {
                true => "on",
                false => "off",
            }),
            Command::WebSearch(Some(web_search)) => self.search_web(web_search, console).await?,
            Command::Toolset(None) => console.say(self.toolset.name()),
            Command::Toolset(Some(name)) => self.take_toolset(&name, console)?,
            Command::Tools => self.say_tools(console),
            Command::Session(None) => match &self.session {
                Some(session) => console.say(&format!("session {session}")),
                None => console.say("there is no session yet; the first turn makes one"),
            },
            Command::Session(Some(id)) => self.change_session(&id, console).await?,
            Command::New => {
                self.session = None;
                console.say("the next turn starts a new session");
            }
            Command::Stop => console.say("no turn runs"),
            Command::Quit => return Ok(After::Quit),
        }
        Ok(After::GoOn)
    }

    /// Goes on with another model, or with the same one that does something else; says why not.
    async fn want(&mut self, wanted: Wanted, console: &mut Console) -> anyhow::Result<bool> {
        match wanted.prepare(self.app, &self.questions, console).await {
            Ok((prepared, model)) => {
                (self.prepared, self.model, self.wanted) = (prepared, model, wanted);
                Ok(true)
            }
            // The chat goes on with the one it has.
            Err(error) => self.refuse(&error, console).map(|()| false),
        }
    }

    fn take_toolset(&mut self, name: &str, console: &mut Console) -> anyhow::Result<()> {
        let sets = &self.app.settings().tool_sets;
        match Toolset::parse(name, sets, self.prepared.runtime.catalog()) {
            Ok(toolset) => {
                console.say(&format!("the toolset is {} now", toolset.name()));
                self.toolset = toolset;
                self.say_left_out(console);
                Ok(())
            }
            Err(failure) => self.refuse_briefly(&failure.message, console),
        }
    }

    async fn change_session(&mut self, id: &str, console: &mut Console) -> anyhow::Result<()> {
        let entered = match SessionId::parse(id) {
            Ok(session) => self.enter(session).await,
            Err(error) => Err(error.into()),
        };
        match entered {
            Ok(()) => console.say("the chat goes on in this session"),
            Err(error) => self.refuse(&error, console)?,
        }
        Ok(())
    }

    async fn search_web(&mut self, web_search: bool, console: &mut Console) -> anyhow::Result<()> {
        let wanted = Wanted {
            web_search,
            ..self.wanted.clone()
        };
        match wanted.check(&self.prepared).await {
            Ok(()) => {
                self.wanted = wanted;
                console.say(match web_search {
                    true => "the model may search the web now",
                    false => "the model may not search the web now",
                });
            }
            Err(error) => self.refuse(&error, console)?,
        }
        Ok(())
    }

    fn say_files(&self, console: &mut Console) {
        if self.files.is_empty() {
            console.say("no file is shown with the next turn; `/file PATH` adds one");
        }
        for Attached { path, block } in &self.files {
            let Some(media) = block.as_media() else {
                continue;
            };
            let (kind, bytes) = (media.kind.as_str(), media.data.len());
            let path = one_line(path, 200);
            console.say(&format!(
                "{path} ({kind}, {bytes} bytes) goes with the next turn"
            ));
        }
    }

    fn say_tools(&self, console: &mut Console) {
        let catalog = self.prepared.runtime.catalog();
        let sets = &self.app.settings().tool_sets;
        let functions = self.toolset.functions(catalog, sets).into_iter();
        let line = |function: Result<FunctionRef, String>| match function {
            Ok(function) => match self.lacking(&function) {
                None => one_line(&signature(&function), 1_000),
                Some(why) => why,
            },
            Err(missing) => one_line(&missing, 1_000),
        };
        let lines: Vec<_> = functions.map(line).collect();
        match lines.is_empty() {
            true => console.say("the model may call nothing"),
            false => console.say(&lines.join("\n")),
        }
    }
}
