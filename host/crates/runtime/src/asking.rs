//! Puts the questions of functions to the person who runs them, where a grant allows it.
//!
//! Each question is a node below the call that asks, opened before anybody is asked and closed with
//! the answer, so that an answer once given is never lost. Models read nothing of it: what they are
//! told of an answer is up to the function. Who waits for an answer holds no place of a provider.

use std::time::Duration;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Expose, RenderRange};
use openprogram_core::grant::{Access, GrantKind, grant_command};
use openprogram_core::question::{
    Answer, AskReply, AskRequest, Question, QuestionBody, Unanswered, answer_to_json,
    question_to_json, secret_names,
};
use openprogram_core::session::{NewNode, NodeEnd, NodeKind, NodeStatus};
use openprogram_core::{Json, JsonObject};

use crate::accesses::Accesses;
use crate::deadline::until;
use crate::frame::Frame;
use crate::ports::Ports;

/// What the record of a use of the grant says was wanted, and the line of the grant.
const WHAT: &str = "ask the person who runs it";
const GRANT_LINE: &str = "true";

/// Whether a question of the function of `frame` would reach somebody.
pub(crate) fn can_ask(ports: &Ports, frame: &Frame) -> bool {
    is_granted(ports, frame) && ports.parts.questions.can_ask()
}

/// Puts a question of the function of `frame` and gives the answer, or the defaults where nobody
/// answered and the question has them.
///
/// # Errors
/// `denied` without the grant, `invalid-argument` or `limit-reached` for what cannot be asked;
/// `declined`, `ask-timeout` and `nobody-there` when there is no answer; `internal` when it cannot
/// be recorded.
pub(crate) async fn ask_user(
    ports: &Ports,
    frame: &Frame,
    request: AskRequest,
) -> Result<AskReply, Failure> {
    if !is_granted(ports, frame) {
        return Err(refused(frame));
    }
    if matches!(request.body, QuestionBody::Approval(_)) {
        let message = "a function cannot ask for an approval; its grants do";
        return Err(Failure::new(FailureCode::Denied, message).with("what", "approval"));
    }
    request.body.check().map_err(|error| error.to_failure())?;
    frame.with_accesses(Accesses::count_question)?;
    frame.note_access(Access::granted(GrantKind::AskUser, WHAT, GRANT_LINE));
    let body = request.body.cleaned();
    let open = ports.recorder.open(new_node(ports, frame, &body)).await?;
    let answered = answer(ports, frame, &body, request.timeout_ms).await;
    let outcome = match answered {
        Ok(answer) => Ok(AskReply {
            answer,
            is_default: false,
        }),
        Err(NoAnswer::Without(reason)) => match body.without_answer(reason) {
            Ok(answer) => Ok(AskReply {
                answer,
                is_default: true,
            }),
            Err(reason) => Err(unanswered(reason)),
        },
        Err(NoAnswer::Unfit(failure)) => Err(failure),
    };
    open.close(end(ports, &body, &outcome)).await?;
    outcome
}

fn is_granted(ports: &Ports, frame: &Frame) -> bool {
    let component = frame.component().unwrap_or_default();
    let grants = ports.parts.grants.get(component);
    grants.is_some_and(|grants| grants.ask_user)
}

fn refused(frame: &Frame) -> Failure {
    let component = frame.component().unwrap_or_default();
    let message = format!("`{component}` may not ask the person who runs it");
    let needed = Some(GRANT_LINE.to_owned());
    let how = grant_command(component, GrantKind::AskUser, GRANT_LINE);
    let kind = GrantKind::AskUser;
    frame.note_access(Access::refused(kind, WHAT, message.clone(), needed));
    Failure::new(FailureCode::Denied, message)
        .with("what", WHAT)
        .with("how_to_allow", how)
}

/// Why there is no answer.
enum NoAnswer {
    /// The person gave none.
    Without(Unanswered),
    /// Whoever shows questions gave one that does not fit; it was to be asked for again there.
    Unfit(Failure),
}

/// Waits for the answer, and no longer than the question or the host lets it.
async fn answer(
    ports: &Ports,
    frame: &Frame,
    body: &QuestionBody,
    timeout_ms: Option<u64>,
) -> Result<Answer, NoAnswer> {
    let questions = &ports.parts.questions;
    if !questions.can_ask() {
        return Err(NoAnswer::Without(Unanswered::NobodyThere));
    }
    let asked = questions.ask(Question {
        session: frame.run.session.clone(),
        function: frame.function.as_ref().map(|f| f.name.to_string()),
        component: frame.component().map(str::to_owned),
        body: body.clone(),
    });
    let wanted = timeout_ms.map(Duration::from_millis);
    let most = ports.parts.question_timeout;
    let answered = match wanted.into_iter().chain(most).min() {
        Some(time) => until(asked, ports.parts.timer.sleep(time)).await,
        None => Some(asked.await),
    };
    let given = answered.unwrap_or(Err(Unanswered::TimedOut));
    let given = given.map_err(NoAnswer::Without)?;
    body.check_answer(given).map_err(|error| {
        let message = format!("an answer that does not fit was taken: {error}");
        NoAnswer::Unfit(Failure::new(FailureCode::Internal, message))
    })
}

fn unanswered(reason: Unanswered) -> Failure {
    let code = match reason {
        Unanswered::Declined => FailureCode::Declined,
        Unanswered::TimedOut => FailureCode::AskTimeout,
        Unanswered::NobodyThere => FailureCode::NobodyThere,
    };
    Failure::new(code, reason.to_string())
}

fn new_node(ports: &Ports, frame: &Frame, body: &QuestionBody) -> NewNode {
    let name = match body {
        QuestionBody::Confirm { .. } => "confirm",
        QuestionBody::Form { .. } => "form",
        QuestionBody::Ask(_) | QuestionBody::Approval(_) => "ask",
    };
    let mut facts = JsonObject::new();
    let secret = secret_names(body);
    if !secret.is_empty() {
        facts.insert("secret".to_owned(), secret.into());
    }
    NewNode {
        id: ports.recorder.new_node_id(),
        session: frame.run.session.clone(),
        kind: NodeKind::Code,
        name: format!("openprogram:agentic/ask.{name}"),
        caller: frame.node.clone(),
        predecessor: None,
        reads: Vec::new(),
        input: Json::Object(question_to_json(body)),
        expose: Expose::Hidden,
        render_range: RenderRange::default(),
        doc: None,
        facts,
        started_at: ports.recorder.now(),
    }
}

fn end(ports: &Ports, body: &QuestionBody, outcome: &Result<AskReply, Failure>) -> NodeEnd {
    let mut facts = JsonObject::new();
    match outcome {
        Ok(reply) if reply.is_default => {
            facts.insert("answer".to_owned(), "default".into());
        }
        Ok(_) => {
            let by = ports.parts.questions.answered_by();
            facts.insert("by".to_owned(), by.into());
        }
        Err(_) => {}
    }
    NodeEnd {
        status: match outcome {
            Ok(_) => NodeStatus::Completed,
            Err(_) => NodeStatus::Failed,
        },
        output: outcome
            .as_ref()
            .ok()
            .map(|reply| answer_to_json(body, &reply.answer)),
        failure: outcome.as_ref().err().cloned(),
        usage: None,
        attempts: Vec::new(),
        facts,
        finished_at: ports.recorder.now(),
    }
}
