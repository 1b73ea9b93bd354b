//! Puts to a person what needs an approval, and keeps a receipt of the answer.
//!
//! The answer is bound to the function, its arguments, the digest of its component and what is
//! wanted. It holds for one use, or where the person says so for each that is the same in all of
//! these, also where nobody is there. Without an answer the answer is no.

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::gating::RequiredApproval;
use openprogram_core::grant::{Access, GrantKind};
use openprogram_core::guest::ApprovalRequest;
use openprogram_core::question::{
    Answer, Approval, AskingGrant, KeptAnswer, Question, QuestionBody, Receipt, ReceiptAnswer,
    Sending, Unanswered, unapproved,
};
use openprogram_core::session::{NewNode, Node};
use openprogram_core::{Json, JsonObject};
use sha2::{Digest as _, Sha256};

use crate::accesses::Accesses;
use crate::deadline::until;
use crate::events::Event;
use crate::frame::Frame;
use crate::ports::Ports;
use crate::recorder::store_failure;

/// What a person is to approve for the call of a frame.
pub(crate) struct Wanted {
    /// In words: `run NAME`, `call NAME`, `POST https://…`.
    pub(crate) what: String,
    /// What leaves, where a request is sent.
    pub(crate) sends: Option<Sending>,
    /// The grant that asks.
    pub(crate) grant: Option<AskingGrant>,
    /// Why the author of the function wants it approved.
    pub(crate) reason: Option<String>,
}

/// Asks for a use of a grant by the function of `frame`.
///
/// # Errors
/// As for [`approve`].
pub(crate) async fn approve_use(
    ports: &Ports,
    frame: &Frame,
    request: ApprovalRequest,
) -> Result<(), Failure> {
    let grant = AskingGrant {
        kind: request.kind,
        line: request.grant,
        component: frame.component().unwrap_or_default().to_owned(),
        digest: digest_of(frame),
    };
    let wanted = Wanted {
        what: request.what,
        sends: request.sends,
        grant: Some(grant),
        reason: None,
    };
    approve(ports, frame, wanted).await
}

/// Asks for the call that `frame` is about to run, where its function or a grant of the caller wants
/// that. A refusal of a grant is in the record of the caller.
///
/// # Errors
/// As for [`approve`].
pub(crate) async fn approve_call(
    ports: &Ports,
    caller: &Frame,
    frame: &Frame,
    required: Option<&RequiredApproval>,
) -> Result<(), Failure> {
    let (Some(function), policy) = (&frame.function, &ports.parts.policy) else {
        return Ok(());
    };
    let name = &function.name;
    let permit = caller.component().and_then(|component| {
        let permit = policy.permit(component, function)?;
        Some((component, permit))
    });
    let what = format!("call {name}");
    let grant = permit.filter(|(_, permit)| permit.asks);
    let grant = grant.map(|(component, permit)| AskingGrant {
        kind: GrantKind::Calls,
        line: permit.line.clone(),
        component: component.to_owned(),
        digest: digest_of(caller),
    });
    if grant.is_some() || required.is_some() {
        let wanted = Wanted {
            what: match grant {
                Some(_) => what.clone(),
                None => format!("run {name}"),
            },
            sends: None,
            grant: grant.clone(),
            reason: required.and_then(|required| required.reason.clone()),
        };
        let approved = approve(ports, frame, wanted).await;
        approved.inspect_err(|failure| {
            if let Some(grant) = &grant {
                caller.note_access(unapproved(grant.kind, &what, &grant.line, failure));
            }
        })?;
    }
    if let Some((_, permit)) = permit {
        let line = permit.line.clone();
        caller.note_access(Access::granted(GrantKind::Calls, what, line));
    }
    Ok(())
}

/// Puts one question about the call of `frame` and keeps the receipt on its node.
///
/// # Errors
/// `approval-denied` when the answer is not yes, `limit-reached` when the call has asked too often,
/// `internal` when the call cannot be read from the store.
async fn approve(ports: &Ports, frame: &Frame, wanted: Wanted) -> Result<(), Failure> {
    if !ports.recorder.store().keeps() {
        let what = wanted.what;
        let message = format!(
            "`{what}` needs the approval of a person, which is kept with the record of the call; \
             this runtime has no store"
        );
        let reason = ReceiptAnswer::NobodyThere.as_str();
        let failure = Failure::new(FailureCode::ApprovalDenied, message);
        return Err(failure.with("what", what).with("reason", reason));
    }
    let approval = approval(ports, frame, wanted).await?;
    let question = hash(&approval.canonical_text());
    let kept = ports.parts.answers.find(&question).await;
    // The same answer to the same question is one entry of the record, however often it counts.
    let is_known =
        kept.is_some() && frame.with_accesses(|accesses| accesses.has_receipt_by_memory(&question));
    if !is_known {
        frame.with_accesses(Accesses::count_approval)?;
    }
    let (answer, is_kept, by) = match kept {
        Some(is_yes) => (of_yes(is_yes), true, Receipt::BY_MEMORY),
        None => {
            let (answer, is_for_good) = answer(ports, frame, &approval).await;
            let is_kept = is_for_good && keep(ports, frame, &approval, &question, answer).await;
            (answer, is_kept, ports.parts.questions.answered_by())
        }
    };
    let receipt = Receipt {
        question,
        what: approval.what.clone(),
        grant: approval.grant.as_ref().map(|grant| grant.line.clone()),
        answer,
        remembered: is_kept,
        by: by.to_owned(),
        at: ports.recorder.now(),
    };
    if !is_known {
        frame.with_accesses(|accesses| accesses.keep_receipt(&receipt));
    }
    match answer {
        ReceiptAnswer::Approved => Ok(()),
        _ => Err(refusal(&approval, &receipt)),
    }
}

/// Keeps an answer for good, and says whether it is kept. The person is told where it is not.
async fn keep(
    ports: &Ports,
    frame: &Frame,
    approval: &Approval,
    question: &str,
    answer: ReceiptAnswer,
) -> bool {
    let is_yes = answer == ReceiptAnswer::Approved;
    let at = ports.recorder.now();
    let kept = KeptAnswer::new(approval, question.to_owned(), is_yes, at);
    let outcome = ports.parts.answers.keep(kept).await;
    if let Err(problem) = &outcome {
        frame.run.emit(|| Event::AnswerNotKept {
            node: frame.node.clone(),
            what: approval.what.clone(),
            problem: problem.clone(),
        });
    }
    outcome.is_ok()
}

fn of_yes(is_yes: bool) -> ReceiptAnswer {
    match is_yes {
        true => ReceiptAnswer::Approved,
        false => ReceiptAnswer::Declined,
    }
}

/// Why it does not happen.
fn refusal(approval: &Approval, receipt: &Receipt) -> Failure {
    let what = &approval.what;
    let is_by_memory = receipt.by == Receipt::BY_MEMORY;
    let message = match receipt.answer {
        ReceiptAnswer::Approved | ReceiptAnswer::Declined if is_by_memory => {
            format!("a person answered `never` to `{what}` before")
        }
        ReceiptAnswer::Approved | ReceiptAnswer::Declined => {
            format!("a person did not approve `{what}`")
        }
        ReceiptAnswer::TimedOut => format!("nobody approved `{what}` in time"),
        ReceiptAnswer::NobodyThere => {
            format!("`{what}` needs the approval of a person, and nobody is there to ask")
        }
    };
    Failure::new(FailureCode::ApprovalDenied, message)
        .with("function", approval.function.clone())
        .with("what", what.clone())
        .with("reason", receipt.answer.as_str())
}

/// The digest of the component whose function runs in this frame.
fn digest_of(frame: &Frame) -> String {
    let function = frame.function.as_ref();
    function.map_or_else(String::new, |function| function.digest.clone())
}

/// The question, with the call as the record holds it: what is shown is what runs.
async fn approval(ports: &Ports, frame: &Frame, wanted: Wanted) -> Result<Approval, Failure> {
    let (Some(function), Some(id)) = (&frame.function, &frame.node) else {
        let message = "nothing runs that a person could approve";
        return Err(Failure::new(FailureCode::Internal, message));
    };
    let found = ports.recorder.store().node(id).await;
    let found = found.map_err(|error| store_failure(&error))?;
    let Some(Node { opened, .. }) = found else {
        let message = format!("the node `{id}` is not in the store");
        return Err(Failure::new(FailureCode::Internal, message));
    };
    let hidden = opened.facts.get(NewNode::HIDDEN_ARGUMENTS);
    let hidden = hidden.and_then(Json::as_array).into_iter().flatten();
    Ok(Approval {
        function: function.name.to_string(),
        component: function.name.component.clone(),
        digest: function.digest.clone(),
        hidden: hidden
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        arguments: match opened.input {
            Json::Object(arguments) => arguments,
            _ => JsonObject::new(),
        },
        what: wanted.what,
        sends: wanted.sends,
        grant: wanted.grant,
        reason: wanted.reason,
    })
}

/// Waits for the answer, and no longer than a question may take. Says whether it is one for good.
async fn answer(ports: &Ports, frame: &Frame, approval: &Approval) -> (ReceiptAnswer, bool) {
    let questions = &ports.parts.questions;
    if !questions.can_ask() {
        return (ReceiptAnswer::NobodyThere, false);
    }
    let question = Question {
        session: frame.run.session.clone(),
        function: Some(approval.function.clone()),
        component: Some(approval.component.clone()),
        body: QuestionBody::Approval(Box::new(approval.clone())),
    };
    let body = question.body.clone();
    let asked = questions.ask(question);
    let answered = match ports.parts.question_timeout {
        Some(time) => until(asked, ports.parts.timer.sleep(time)).await,
        None => Some(asked.await),
    };
    let once = match answered.unwrap_or(Err(Unanswered::TimedOut)) {
        Ok(answer) => match body.check_answer(answer) {
            Ok(Answer::Remembered(is_yes)) => return (of_yes(is_yes), true),
            Ok(Answer::Approved(true)) => ReceiptAnswer::Approved,
            // What is no answer to this question is no yes either.
            _ => ReceiptAnswer::Declined,
        },
        Err(Unanswered::Declined) => ReceiptAnswer::Declined,
        Err(Unanswered::TimedOut) => ReceiptAnswer::TimedOut,
        Err(Unanswered::NobodyThere) => ReceiptAnswer::NobodyThere,
    };
    (once, false)
}

fn hash(text: &str) -> String {
    let mut written = "sha256:".to_owned();
    for byte in Sha256::digest(text) {
        written.push_str(&format!("{byte:02x}"));
    }
    written
}
