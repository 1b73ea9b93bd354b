//! The calls of one reply, each answered once and in order.
//!
//! Calls that only read run at the same time where neighbours do; every other one runs alone, after
//! all before it and before all after it.

use std::sync::Arc;

use openprogram_core::content::ToolCall;
use openprogram_core::failure::Failure;
use openprogram_core::guest::TurnEvent;

use crate::complete::{Asker, out_of_time};
use crate::ending::{Counted, UsedUp};
use crate::events::{Event, cut_result};
use crate::joined::{Work, joined};
use crate::ports::Ports;
use crate::tool_call::{Answered, Calling, WantedCall};
use crate::turn::PlannedTurn;

/// The most calls of one reply that run at the same time; the others wait. Each holds an instance.
const BESIDE_MAX: usize = 8;

/// The calls of one reply, about to be made.
pub(super) struct Acting<'a> {
    pub(super) ports: &'a Arc<Ports>,
    pub(super) asker: &'a Asker<'a>,
    pub(super) planned: &'a PlannedTurn,
    pub(super) calling: Calling<'a>,
    /// Whether calls may run at the same time at all.
    pub(super) beside: bool,
}

impl Acting<'_> {
    /// Makes the calls and counts them. Gives the answers, all of them unless there is a failure beside
    /// them: `llm`, when the time is up before.
    pub(super) async fn answer(
        &self,
        calls: &[WantedCall],
        used_up: &mut UsedUp,
    ) -> (Vec<Answered>, Option<Failure>) {
        let mut answers = Vec::new();
        let mut left = calls;
        while !left.is_empty() {
            let (group, rest) = left.split_at(self.group(left));
            match self.answer_group(group, used_up).await {
                Ok(answered) => answers.extend(answered),
                Err(failure) => return (answers, Some(failure)),
            }
            left = rest;
        }
        (answers, None)
    }

    /// How many of the first calls run at the same time.
    fn group(&self, calls: &[WantedCall]) -> usize {
        let beside = |wanted: &&WantedCall| self.beside && self.calling.may_run_beside(wanted);
        calls.iter().take_while(beside).count().max(1)
    }

    async fn answer_group(
        &self,
        group: &[WantedCall],
        used_up: &mut UsedUp,
    ) -> Result<Vec<Answered>, Failure> {
        let mut works = Vec::new();
        for wanted in group {
            self.tell_call(&wanted.call);
            works.push(self.work(wanted, used_up.count_call(wanted)));
        }
        let Some(answers) = self.asker.deadline.cut(joined(works, BESIDE_MAX)).await else {
            // The nodes of the calls are closed before anybody is told.
            self.ports.recorder.settle().await?;
            let names = group.iter().map(|wanted| &*wanted.call.name);
            return Err(out_of_time(self.asker, names));
        };
        for (wanted, answered) in group.iter().zip(&answers) {
            used_up.count_answer(answered);
            self.tell_answer(&wanted.call, answered);
        }
        Ok(answers)
    }

    /// One call, unless it was made too often.
    fn work<'a>(&'a self, wanted: &'a WantedCall, counted: Counted) -> Work<'a, Answered> {
        Box::pin(async move {
            let mut answered = match counted.refusal() {
                Some(text) => Answered::refused(&wanted.call, text),
                None => self.calling.answer(wanted).await,
            };
            counted.warn(&mut answered);
            answered
        })
    }

    /// Answers all calls with this text, and makes none.
    pub(super) fn refuse(&self, calls: &[WantedCall], text: &str) -> Vec<Answered> {
        let refuse = |wanted: &WantedCall| {
            self.tell_call(&wanted.call);
            let answered = Answered::refused(&wanted.call, text);
            self.tell_answer(&wanted.call, &answered);
            answered
        };
        calls.iter().map(refuse).collect()
    }

    fn tell_call(&self, call: &ToolCall) {
        self.calling.frame.run.emit(|| Event::ToolUse {
            node: self.calling.turn.clone(),
            call: call.clone(),
        });
        self.planned.tell(|| TurnEvent::ToolUse(call.clone()));
    }

    fn tell_answer(&self, call: &ToolCall, answered: &Answered) {
        let node = || self.calling.turn.clone();
        let run = &self.calling.frame.run;
        run.emit(|| Event::tool_result(node(), &call.name, &answered.result));
        self.planned.tell(|| TurnEvent::ToolResult {
            tool: call.name.clone(),
            result: cut_result(&answered.result),
        });
    }
}
