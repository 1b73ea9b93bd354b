//! What is said of a function, besides what is said of its parameters.

use openprogram_core::Json;
use openprogram_core::function::{Expose, Function, RenderRange};
use openprogram_core::text::is_clean;
use openprogram_core::tool::check_tool_name;

use super::attribute::Attribute;
use super::gating;
use crate::error::MetadataError;

/// The longest system prompt, as for `set-system`.
const SYSTEM_BYTES_MAX: usize = 64 << 10;
/// The longest name of a category, a preset or a source.
const LABEL_BYTES_MAX: usize = 64;

/// Sets every attribute of a function.
pub(super) fn set(
    function: &mut Function,
    attributes: &[(String, String)],
) -> Result<(), MetadataError> {
    let owner = function.name.function.clone();
    let attributes = Attribute::read_all(&owner, attributes)?;
    for attribute in &attributes {
        if !gating::set(&mut function.gating, attribute)? {
            set_one(function, attribute)?;
        }
    }
    gating::set_together(&mut function.gating, &attributes)?;
    let effects = &function.effects;
    let destructive = attributes.iter().find(|a| a.key == "destructive");
    match destructive {
        Some(attribute) if effects.read_only && effects.destructive == Some(true) => {
            Err(attribute.bad("what is `read_only` cannot be destructive".to_owned()))
        }
        _ => Ok(()),
    }
}

fn set_one(function: &mut Function, attribute: &Attribute<'_>) -> Result<(), MetadataError> {
    match attribute.key {
        "name" => {
            let name = attribute.string()?;
            check_tool_name(&name).map_err(|problem| attribute.bad(problem))?;
            function.model_name = Some(name);
        }
        "description" => {
            let text = attribute.string()?;
            if text.trim().is_empty() {
                return Err(attribute.bad("it must not be empty".to_owned()));
            }
            function.model_description = Some(text);
        }
        "category" => function.category = Some(label(attribute, &attribute.value)?),
        "system" => {
            let text = attribute.string()?;
            if text.len() > SYSTEM_BYTES_MAX {
                let problem = format!("it is longer than {SYSTEM_BYTES_MAX} bytes");
                return Err(attribute.bad(problem));
            }
            function.system = Some(text);
        }
        "expose" => {
            let word = attribute.string()?;
            let expose = Expose::parse(&word).ok_or_else(|| {
                attribute.bad("it must be `io`, `llm`, `full` or `hidden`".to_owned())
            })?;
            function.expose = expose;
        }
        "render_range" => function.render_range = render_range(attribute)?,
        "read_only" => function.effects.read_only = attribute.boolean()?,
        "idempotent" => function.effects.idempotent = attribute.boolean()?,
        "destructive" => function.effects.destructive = Some(attribute.boolean()?),
        "open_world" => function.effects.open_world = Some(attribute.boolean()?),
        _ => return Err(attribute.unknown()),
    }
    Ok(())
}

/// A word by which functions are grouped: visible, without spaces, and short.
pub(super) fn label(attribute: &Attribute<'_>, value: &Json) -> Result<String, MetadataError> {
    let fits = |text: &&str| {
        (1..=LABEL_BYTES_MAX).contains(&text.len())
            && is_clean(text)
            && !text.contains(char::is_whitespace)
    };
    let text = value.as_str().filter(fits).map(str::to_owned);
    text.ok_or_else(|| {
        attribute.bad(format!(
            "it must be a word of 1 to {LABEL_BYTES_MAX} bytes, without spaces"
        ))
    })
}

fn render_range(attribute: &Attribute<'_>) -> Result<RenderRange, MetadataError> {
    let bad = || {
        attribute.bad(
            "it must be `{\"callers\": n or null, \"subcalls\": n}`, with -1 for all subcalls"
                .to_owned(),
        )
    };
    let mut range = RenderRange::default();
    for (key, value) in attribute.value.as_object().ok_or_else(bad)? {
        let count = match value.as_i64() {
            Some(-1) if key == "subcalls" => None,
            Some(count) => Some(u64::try_from(count).map_err(|_| bad())?),
            None if value.is_null() => None,
            None => return Err(bad()),
        };
        match key.as_str() {
            "callers" => range.callers = count,
            "subcalls" => range.subcalls = count,
            _ => return Err(bad()),
        }
    }
    Ok(range)
}
