//! What a chat wants of its model, and the runtime that is made for it.

use std::sync::Arc;

use openprogram_core::content::ThinkingLevel;
use openprogram_core::guest::ToolsWanted;
use openprogram_runtime::TurnRequest;

use crate::app::{App, Budgets, Components, Prepared, RunChoice};
use crate::commands::console::Console;
use crate::commands::questions::TerminalQuestions;
use crate::settings::ModelNames;

/// The model of a chat, and what it is asked to do beside answering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Its name; that of the project when absent.
    pub(super) model: Option<String>,
    /// How much it thinks; what the project says when absent.
    pub(super) thinking: Option<ThinkingLevel>,
    /// Whether it may search the web.
    pub(super) web_search: bool,
}

impl Wanted {
    /// The level of thinking that holds.
    pub(super) fn level(&self, app: &App) -> ThinkingLevel {
        let of_project = app.settings().models.thinking.main;
        self.thinking.or(of_project).unwrap_or_default()
    }

    /// Makes the runtime, and gives it with the name of the model.
    ///
    /// # Errors
    /// When it cannot be made, or the model is known not to do what is wanted.
    pub(super) async fn prepare(
        &self,
        app: &App,
        questions: &Arc<TerminalQuestions>,
        console: &mut Console,
    ) -> anyhow::Result<(Prepared, String)> {
        let limits = app.settings().limits;
        let choice = RunChoice {
            components: Components::Project,
            models: Some(ModelNames {
                main: self.model.clone(),
                ..ModelNames::default()
            }),
            thinking: self.thinking,
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
        self.check(&prepared).await?;
        Ok((prepared, model))
    }

    /// Checks that the model does what is wanted, by a turn that is not made.
    ///
    /// # Errors
    /// `no-provider`, with what it does not do.
    pub(super) async fn check(&self, prepared: &Prepared) -> anyhow::Result<()> {
        let mut request = TurnRequest::text("Hello.");
        request.turn.tools = ToolsWanted::Named(Vec::new());
        request.turn.web_search = self.web_search;
        Ok(prepared.runtime.check_turn(request).await?)
    }
}
