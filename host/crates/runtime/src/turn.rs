//! A turn before it is made: everything about it is checked that can be checked without a model.

use std::sync::Arc;

use openprogram_core::JsonObject;
use openprogram_core::content::{ContentBlock, MediaMismatch};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::{ExecRequest, TurnEvent, TurnWatcher};
use openprogram_core::llm::{BesideFormat, FormatWay, Provider};
use openprogram_core::schema::names_equal;
use openprogram_core::structured::{ResponseFormat, SUBMIT_TOOL};
use openprogram_core::tool::ToolChoice;

use crate::chosen_provider::{check_writes, provider_of};
use crate::complete::{Said, thinking_facts};
use crate::frame::Frame;
use crate::limits::SYSTEM_BYTES_MAX;
use crate::media::{check_bytes, mismatch_facts, settled, tell_mismatches};
use crate::ports::Ports;
use crate::skills::offer_skills;
use crate::structured::{PlannedFormat, plan_format};
use crate::tools::Tools;

/// The most model requests that one turn may take, whatever it asks for.
const ITERATIONS_MAX: u32 = 50;

/// A turn that may be made: everything checked that can be checked without a model.
pub(crate) struct PlannedTurn {
    pub(crate) runtime: RuntimeRef,
    pub(crate) said: Said,
    pub(crate) tools: Tools,
    /// Who started it and goes on beside it.
    pub(crate) watcher: Option<Arc<dyn TurnWatcher>>,
    pub(crate) choice: ToolChoice,
    pub(crate) parallel: Option<bool>,
    /// What the last reply has to look like.
    pub(crate) format: Option<PlannedFormat>,
    /// The shape of a pick that the model is held to, in a turn that closes with one.
    pub(crate) shape: Option<ResponseFormat>,
    /// Whether the model may search the web.
    pub(crate) web_search: bool,
    /// What else its first node says.
    pub(crate) facts: JsonObject,
    /// How many model requests it may take.
    pub(crate) iterations_max: u32,
}

impl PlannedTurn {
    /// Tells whoever started the turn.
    pub(crate) fn tell(&self, event: impl FnOnce() -> TurnEvent) {
        if let Some(watcher) = &self.watcher {
            watcher.event(event());
        }
    }
}

/// Checks a turn that its function waits for.
///
/// # Errors
/// As for [`plan_watched_turn`], and `invalid-argument` for local tools, which its function cannot
/// run while it waits.
pub(crate) async fn plan_turn(
    ports: &Ports,
    frame: &Frame,
    request: ExecRequest,
) -> Result<PlannedTurn, Failure> {
    if let Some(tool) = request.local_tools.first() {
        let message = format!(
            "the turn has the local tool `{}`, which its function runs while the turn goes on; make \
             it with `start`",
            tool.name
        );
        let failure = Failure::new(FailureCode::InvalidArgument, message);
        return Err(failure.with("path", "local_tools"));
    }
    plan_watched_turn(ports, frame, request, None).await
}

/// Checks a turn, which may be one that goes on beside its function.
///
/// # Errors
/// Before any model is asked: `no-provider`, `invalid-argument`, `denied`, `not-found`,
/// `limit-reached`, `structured`.
pub(crate) async fn plan_watched_turn(
    ports: &Ports,
    frame: &Frame,
    request: ExecRequest,
    watcher: Option<Arc<dyn TurnWatcher>>,
) -> Result<PlannedTurn, Failure> {
    let provider = provider_of(ports, frame, request.runtime)?;
    check_writes(provider)?;
    if request.web_search {
        check_searches(provider)?;
    }
    thinking_facts(provider, frame.thinking(request.runtime))?;
    let (mut tools, mut facts) = Tools::of(ports, frame, &request, provider.name()).await?;
    let skills = offer_skills(ports, frame, &request, &mut tools)?;
    let (content, mismatches) = said(ports, request.content)?;
    let own = frame.system(request.runtime);
    let system = joined(own.into_iter().chain(request.system))?;
    let system = with_skills(system, skills);
    let format = request.response_format.as_ref().map(|format| {
        let beside = BesideFormat {
            tools: &tools.all_names(),
            tool_choice: &request.tool_choice,
            parallel_tool_calls: request.parallel_tool_calls,
        };
        plan_format(provider, format, beside)
    });
    let format = format.transpose()?;
    tools.check_names()?;
    let hands_in = format.as_ref().is_some_and(|f| f.way == FormatWay::Submit);
    let choice = match &request.tool_choice {
        // The tool by which a value is handed in is a tool like others here.
        ToolChoice::Required if hands_in => ToolChoice::Required,
        ToolChoice::Named(name) if hands_in && names_equal(name, SUBMIT_TOOL) => {
            ToolChoice::Named(SUBMIT_TOOL.to_owned())
        }
        choice => tools.choice(&ports.parts.catalog, frame, choice)?,
    };
    facts.extend(mismatch_facts(&mismatches));
    tell_mismatches(frame, &mismatches);
    Ok(PlannedTurn {
        runtime: request.runtime,
        said: Said { system, content },
        tools,
        watcher,
        choice,
        parallel: if hands_in {
            Some(false)
        } else {
            request.parallel_tool_calls
        },
        format,
        shape: None,
        web_search: request.web_search,
        facts,
        iterations_max: request.max_iterations.clamp(1, ITERATIONS_MAX),
    })
}

/// Checks that a provider lets its model search the web.
///
/// # Errors
/// `no-provider`, with what to do.
fn check_searches(provider: &dyn Provider) -> Result<(), Failure> {
    if provider.searches_web() {
        return Ok(());
    }
    let name = provider.name();
    let message = format!(
        "`{name}` is not known to search the web; make the turn without it, use another model, or \
         set `web_search = true` in a `[[profiles]]` row for it in openprogram.toml"
    );
    Err(Failure::new(FailureCode::NoProvider, message).with("model", name))
}

/// The content without what says nothing, all media under its true type; and what it was mistaken
/// for.
fn said(
    ports: &Ports,
    content: Vec<ContentBlock>,
) -> Result<(Vec<ContentBlock>, Vec<MediaMismatch>), Failure> {
    let mut content = content;
    let invalid = |path: &str, message: String| {
        Failure::new(FailureCode::InvalidArgument, message).with("path", path)
    };
    let is_said = |block: &ContentBlock| {
        let is_text = matches!(block, ContentBlock::Text(_) | ContentBlock::CacheMark(_));
        is_text || block.as_media().is_some()
    };
    if !content.iter().all(is_said) {
        let message = "a turn is said in texts, images, video and audio only".to_owned();
        return Err(invalid("content", message));
    }
    let limits = &ports.parts.limits;
    let texts = content.iter().filter_map(ContentBlock::as_text);
    check_bytes(
        "prompt_bytes",
        texts.map(str::len),
        limits.prompt_bytes,
        "text",
    )?;
    let mismatches = settled(ports, &mut content)?;
    content.retain(|block| block.as_text().is_none_or(|text| !text.trim().is_empty()));
    if content.iter().all(ContentBlock::is_cache_mark) {
        let message = "the turn says nothing; give it a text or an image".to_owned();
        return Err(invalid("content", message));
    }
    Ok((content, mismatches))
}

/// The system prompt with the list of skills below it, which has bounds of its own.
fn with_skills(system: Option<String>, skills: Option<String>) -> Option<String> {
    match (system, skills) {
        (Some(system), Some(skills)) => Some(format!("{system}\n\n{skills}")),
        (system, skills) => system.or(skills),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> Result<Option<String>, Failure> {
    let parts: Vec<_> = parts.filter(|part| !part.trim().is_empty()).collect();
    let system = parts.join("\n\n");
    let length = system.len() as u64;
    if length > SYSTEM_BYTES_MAX {
        let message =
            format!("the system prompt is {length} bytes long; the most is {SYSTEM_BYTES_MAX}");
        return Err(Failure::limit("system_bytes", SYSTEM_BYTES_MAX, message));
    }
    Ok((!parts.is_empty()).then_some(system))
}
