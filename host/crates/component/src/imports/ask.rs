//! `ask`: questions to the person who runs the function.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::HostServices;
use openprogram_core::question::{
    Answer, AskReply, AskRequest, QuestionBody, QuestionError, parse_form,
};
use openprogram_core::{Json, JsonObject};
use wasmtime::component::Resource;

use super::functions::not_json;
use super::to_wire;
use crate::bindings::openprogram::agentic::ask as wire;
use crate::bindings::openprogram::agentic::types;
use crate::convert::parse_json;
use crate::handles::{AnswerHandle, CardHandle, Held};
use crate::state::CallState;

impl CallState {
    /// A card that is being prepared, and what it and all menus may hold.
    fn card_of(
        &mut self,
        card: &Resource<CardHandle>,
    ) -> wasmtime::Result<(&mut CardHandle, Held<'_>)> {
        let held = Held {
            limits: &self.limits,
            bytes: &mut self.menu_bytes,
        };
        Ok((self.table.get_mut(card)?, held))
    }
}

/// Puts a question. The state of a store cannot be shared while its call is awaited.
async fn put(
    services: Result<Arc<dyn HostServices>, Failure>,
    request: Result<AskRequest, Failure>,
) -> Result<AskReply, Failure> {
    services?.ask_user(request?).await
}

/// An answer of another kind than the question, which the host does not give.
fn unexpected() -> Failure {
    Failure::new(
        FailureCode::Internal,
        "the answer is one to another kind of question",
    )
}

impl wire::Host for CallState {
    async fn can_ask(&mut self) -> wasmtime::Result<bool> {
        Ok(self.services().is_ok_and(|services| services.can_ask()))
    }

    async fn ask(
        &mut self,
        card: Resource<CardHandle>,
    ) -> wasmtime::Result<Result<Resource<AnswerHandle>, types::Failure>> {
        let request = self.table.get(&card)?.request();
        let asked = put(self.services(), request).await;
        self.pushed(asked.map(AnswerHandle))
    }

    async fn confirm(
        &mut self,
        prompt: String,
        default: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> wasmtime::Result<Result<bool, types::Failure>> {
        let request = AskRequest {
            body: QuestionBody::Confirm {
                text: prompt,
                default,
            },
            timeout_ms,
        };
        let confirmed = match put(self.services(), Ok(request)).await {
            Ok(reply) => match reply.answer {
                Answer::Confirmed(is_yes) => Ok(is_yes),
                _ => Err(unexpected()),
            },
            Err(failure) => Err(failure),
        };
        Ok(confirmed.map_err(|failure| to_wire(&failure)))
    }

    async fn form(
        &mut self,
        prompt: String,
        fields: String,
        timeout_ms: Option<u64>,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let request = form(self, prompt, &fields, timeout_ms);
        let filled = match put(self.services(), request).await {
            Ok(reply) => match reply.answer {
                Answer::Filled(values) => Ok(values),
                _ => Err(unexpected()),
            },
            Err(failure) => Err(failure),
        };
        let written = |values: JsonObject| Json::Object(values).to_string();
        Ok(filled.map(written).map_err(|failure| to_wire(&failure)))
    }
}

fn form(
    state: &CallState,
    prompt: String,
    fields: &str,
    timeout_ms: Option<u64>,
) -> Result<AskRequest, Failure> {
    state.check_text("the text of the fields", fields)?;
    let depth = state.limits.json_depth;
    let fields = parse_json(fields, depth).map_err(|error| not_json("fields", &error, depth))?;
    let fields = parse_form(&fields).map_err(|error: QuestionError| error.to_failure())?;
    let body = QuestionBody::Form {
        title: prompt,
        fields,
    };
    Ok(AskRequest { body, timeout_ms })
}

impl wire::HostCard for CallState {
    async fn new(&mut self) -> wasmtime::Result<Resource<CardHandle>> {
        Ok(self.table.push(CardHandle::default())?)
    }

    async fn add_prompt(
        &mut self,
        card: Resource<CardHandle>,
        text: String,
    ) -> wasmtime::Result<()> {
        let (card, mut held) = self.card_of(&card)?;
        card.set(|card| {
            card.pay(std::slice::from_ref(&text), &mut held)?;
            card.add_prompt(text)
        });
        Ok(())
    }

    async fn add_option(
        &mut self,
        card: Resource<CardHandle>,
        text: String,
    ) -> wasmtime::Result<()> {
        let (card, mut held) = self.card_of(&card)?;
        card.set(|card| {
            card.pay(std::slice::from_ref(&text), &mut held)?;
            card.add_option(text)
        });
        Ok(())
    }

    async fn set_multiple(
        &mut self,
        card: Resource<CardHandle>,
        allowed: bool,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&card)?.set(|card| {
            card.prompt()?.multiple = allowed;
            Ok(())
        });
        Ok(())
    }

    async fn set_free_text(
        &mut self,
        card: Resource<CardHandle>,
        allowed: bool,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&card)?.set(|card| {
            card.prompt()?.free_text = allowed;
            Ok(())
        });
        Ok(())
    }

    async fn set_default(
        &mut self,
        card: Resource<CardHandle>,
        answer: Vec<String>,
    ) -> wasmtime::Result<()> {
        let (card, mut held) = self.card_of(&card)?;
        card.set(|card| {
            card.pay(&answer, &mut held)?;
            card.prompt()?.default = Some(answer);
            Ok(())
        });
        Ok(())
    }

    async fn set_timeout_ms(
        &mut self,
        card: Resource<CardHandle>,
        timeout_ms: u64,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&card)?.set_timeout_ms(timeout_ms);
        Ok(())
    }

    async fn drop(&mut self, card: Resource<CardHandle>) -> wasmtime::Result<()> {
        let card = self.table.delete(card)?;
        self.menu_bytes -= card.held();
        Ok(())
    }
}

impl wire::HostAnswer for CallState {
    async fn replies(
        &mut self,
        answer: Resource<AnswerHandle>,
    ) -> wasmtime::Result<Vec<Vec<String>>> {
        Ok(match &self.table.get(&answer)?.0.answer {
            Answer::Replies(replies) => replies.clone(),
            _ => Vec::new(),
        })
    }

    async fn is_default(&mut self, answer: Resource<AnswerHandle>) -> wasmtime::Result<bool> {
        Ok(self.table.get(&answer)?.0.is_default)
    }

    async fn drop(&mut self, answer: Resource<AnswerHandle>) -> wasmtime::Result<()> {
        self.table.delete(answer)?;
        Ok(())
    }
}
