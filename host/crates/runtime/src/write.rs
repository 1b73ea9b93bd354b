//! The rungs of models that write: one JSON reply, held to the shape of a pick where the model can
//! be, and asked for again with the reason when it is no pick.

use openprogram_core::JsonObject;
use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{
    Confidence, DecisionError, Menu, Pick, PickError, make_pick, parse_reply, render_menu,
    render_retry,
};
use openprogram_core::failure::Failure;
use openprogram_core::schema::CheckMode;
use openprogram_core::session::Usage;
use openprogram_core::structured::ResponseFormat;

use crate::chosen_provider::check_writes;
use crate::complete::{Asker, Said, summed};
use crate::events::Event;
use crate::media::mismatch_facts;
use crate::open_pick::{CERTAIN, OpenPick, PlannedDecision, method, no_pick_facts, only_option};
use crate::open_turn::OpenTurn;

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct AskedFor<'m> {
    /// The options.
    pub(crate) menu: &'m Menu,
    /// The shape that the model is held to; `None` takes any text.
    pub(crate) shape: Option<&'m ResponseFormat>,
}

/// A pick, how it came about, how sure it is.
type Read = (Pick, &'static str, Option<Confidence>);

/// Puts prompt and menu to a model that writes.
///
/// # Errors
/// `no-provider` when it does not, `llm` when it cannot be asked, `decision` after the last invalid
/// pick. Recorded.
pub(crate) async fn write<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    menu: &Menu,
    shape: Option<&ResponseFormat>,
    facts: JsonObject,
) -> Result<OpenPick<'a>, Failure> {
    check_writes(asker.provider)?;
    let mut content = planned.media.content.clone();
    content.push(ContentBlock::Text(planned.prompt.clone()));
    let said = Said {
        system: asker.frame.system(asker.runtime),
        content,
    };
    let mut facts = facts;
    facts.extend(mismatch_facts(&planned.media.mismatches));
    let content = said.followed_by(render_menu(menu).trim_end());
    let first = asker.ask_for_text(said.system.clone(), content, shape, facts);
    let first = first.await?;
    let asked = AskedFor { menu, shape };
    read_pick(asker, planned, asked, &said, first).await
}

/// Asks a model that writes about a reply that came from elsewhere and held no valid pick.
///
/// # Errors
/// As for [`write`].
pub(crate) async fn write_again<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    reply: &str,
    error: &PickError,
) -> Result<OpenPick<'a>, Failure> {
    check_writes(asker.provider)?;
    let said = Said {
        system: asker.frame.system(planned.runtime),
        content: planned.media.content.clone(),
    };
    let content = said.followed_by(&render_retry(&planned.menu, reply, error));
    let first = asker.ask_for_text(said.system.clone(), content, None, JsonObject::new());
    let first = first.await?;
    let menu = &planned.menu;
    let asked = AskedFor { menu, shape: None };
    read_pick(asker, planned, asked, &said, first).await
}

/// Takes the pick out of a reply, and asks again while there is none.
pub(crate) async fn read_pick<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    AskedFor { menu, shape }: AskedFor<'_>,
    said: &Said,
    first: (OpenTurn<'a>, String),
) -> Result<OpenPick<'a>, Failure> {
    let written = match shape {
        Some(_) => method::CONSTRAINED,
        None => method::TEXT,
    };
    let (mut open, mut reply) = first;
    let mut n_asked = 1;
    let mut usage_again = Usage::default();
    loop {
        let error = match read(menu, &reply, written) {
            Ok((pick, method, confidence)) => {
                return Ok(OpenPick {
                    open,
                    reply,
                    pick,
                    method,
                    lacks_arguments: false,
                    confidence,
                    weights: None,
                    n_asked,
                    usage_again,
                    facts: JsonObject::new(),
                });
            }
            Err(error) => error,
        };
        let node = open.id().clone();
        let facts = no_pick_facts(written, &error);
        open.close(reply.clone(), facts).await?;
        if let Some(rejected) = asker.rejected {
            rejected.add(node.clone());
        }
        if n_asked > planned.max_retries {
            return Err(DecisionError::new(error, n_asked, &reply).to_failure());
        }
        asker.frame.run.emit(|| Event::DecisionRetried {
            node: node.clone(),
            kind: error.kind.as_str(),
            retries_left: planned.max_retries + 1 - n_asked,
        });
        // The context shows the reply to what was said and not what was said, so it is said again.
        let content = said.followed_by(&render_retry(menu, &reply, &error));
        let mut facts = JsonObject::new();
        facts.insert("retry_of".to_owned(), node.as_str().into());
        let again = asker.ask_for_text(said.system.clone(), content, shape, facts);
        (open, reply) = again.await?;
        usage_again = summed(usage_again, open.usage);
        n_asked += 1;
    }
}

/// The pick of a reply. Where there is nothing to decide, a reply without one is none the worse.
fn read(menu: &Menu, reply: &str, written: &'static str) -> Result<Read, PickError> {
    let error = match parse_reply(menu, reply, CheckMode::Strict) {
        Ok(pick) => return Ok((pick, written, None)),
        Err(error) => error,
    };
    let only = only_option(menu).ok_or(error)?;
    let pick = make_pick(menu, &only.name, JsonObject::new())?;
    Ok((pick, method::SINGLE, Some(CERTAIN)))
}
