//! What is wrong with a request whatever the protocol: refused before anything is sent, with the
//! reason and the way out. Servers would refuse it too, later and in other words.

use openprogram_core::content::{ContentBlock, MediaKind, Role, ThinkingLevel};
use openprogram_core::llm::{FormatAbility, LlmFailure, ModelRequest};
use openprogram_core::structured::ResponseFormat;
use openprogram_core::tool::ToolChoice;

use crate::failure::refused;
use crate::profile::{Profile, ThinkingForm};

/// A reply is held to a format where that is verified, and nowhere else.
fn check_format(
    format: &ResponseFormat,
    request: &ModelRequest,
    profile: &Profile,
) -> Result<(), LlmFailure> {
    let name = &format.name;
    if !profile.native_json_schema {
        let message = format!(
            "the model is not known to hold its replies to a schema such as `{name}`; use another \
             one, or set `native_json_schema = true` in a `[[profiles]]` row for it in \
             openprogram.toml"
        );
        return Err(refused(message));
    }
    if !request.tools.is_empty() && !profile.native_json_with_tools {
        let message = format!(
            "the model is not known to hold its replies to a schema such as `{name}` beside tools; \
             offer no tools, or set `native_json_with_tools = true` in a `[[profiles]]` row for it \
             in openprogram.toml"
        );
        return Err(refused(message));
    }
    Ok(())
}

/// What a profile says about formats, as the runtime asks for it.
pub(crate) fn format_ability(profile: &Profile) -> Option<FormatAbility> {
    profile.native_json_schema.then_some(FormatAbility {
        is_held: true,
        with_tools: profile.native_json_with_tools,
        keeps_order: profile.native_json_keeps_order,
    })
}

/// Only the user shows and plays something, and only what the model is known to take.
fn check_media(request: &ModelRequest, profile: &Profile) -> Result<(), LlmFailure> {
    for message in &request.messages {
        for media in message.content.iter().filter_map(ContentBlock::as_media) {
            let kind = media.kind;
            let told = match kind {
                MediaKind::Image if !profile.images => {
                    "the model is not known to see images; use another one, or set `images = true` \
                     in a `[[profiles]]` row for it in openprogram.toml"
                }
                MediaKind::Audio if !profile.audio => {
                    "the model is not known to hear sound; use another one, or set `audio = true` \
                     in a `[[profiles]]` row for it in openprogram.toml"
                }
                MediaKind::Video => {
                    "the protocol of the model has no form for video; show pictures of it, or use a \
                     model of a component that takes it"
                }
                _ if message.role == Role::Assistant => {
                    let kind = kind.as_str();
                    let message =
                        format!("a message of the model holds {kind}; only the user's can");
                    return Err(refused(message));
                }
                _ => continue,
            };
            return Err(refused(told));
        }
    }
    Ok(())
}

/// Checks a request against what the model takes.
pub(crate) fn check(request: &ModelRequest, profile: &Profile) -> Result<(), LlmFailure> {
    let blocks = || request.messages.iter().flat_map(|message| &message.content);
    let is_empty = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.is_empty(),
        ContentBlock::CacheMark(_) => true,
        _ => false,
    };
    if blocks().all(is_empty) {
        return Err(refused(
            "the request holds no content; give the model something to answer",
        ));
    }
    check_media(request, profile)?;
    if request.web_search && !profile.web_search {
        return Err(refused(
            "the model is not known to search the web; use another one, or set `web_search = true` \
             in a `[[profiles]]` row for it in openprogram.toml",
        ));
    }
    if let Some(most) = profile.tools_max.filter(|most| request.tools.len() > *most) {
        let message = format!(
            "the request offers {} tools and the model takes {most}; offer fewer",
            request.tools.len()
        );
        return Err(refused(message));
    }
    if let Some(format) = &request.response_format {
        check_format(format, request, profile)?;
    }
    let strict = request.tools.iter().find(|tool| tool.strict);
    if let Some(tool) = strict.filter(|_| !profile.strict_tools) {
        let message = format!(
            "the model is not known to hold calls to a schema such as that of `{}`; use another \
             one, or set `strict_tools = true` in a `[[profiles]]` row for it in openprogram.toml",
            tool.name
        );
        return Err(refused(message));
    }
    check_choice(request, profile)
}

/// Only what is offered is demanded, and only from a model that can be held to it.
fn check_choice(request: &ModelRequest, profile: &Profile) -> Result<(), LlmFailure> {
    let demanded = match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::None => return Ok(()),
        ToolChoice::Required => "required",
        ToolChoice::Named(name) => {
            if request.tools.iter().all(|tool| tool.name != *name) {
                let message = format!("the tool `{name}` is demanded and not offered; offer it");
                return Err(refused(message));
            }
            name
        }
    };
    if request.tools.is_empty() {
        return Err(refused(
            "a tool call is demanded and no tool is offered; offer one",
        ));
    }
    let thinks = request.thinking != ThinkingLevel::Off;
    if thinks
        && matches!(
            profile.thinking,
            Some(ThinkingForm::Budget | ThinkingForm::Toggle)
        )
    {
        let message = format!(
            "the model does not take the tool choice `{demanded}` while it thinks; use `auto`, or \
             the thinking level `off`"
        );
        return Err(refused(message));
    }
    if !profile.forced_tool_choice {
        let message = format!(
            "the model is not known to take the tool choice `{demanded}`; use `auto`, or set \
             `forced_tool_choice = true` in a `[[profiles]]` row for it in openprogram.toml"
        );
        return Err(refused(message));
    }
    Ok(())
}
