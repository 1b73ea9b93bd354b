//! What is said of how a function is offered and called.

use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::gating::{Caching, Condition, Deferred, Gating, RequiredApproval};

use super::attribute::Attribute;
use super::settings::label;
use crate::error::MetadataError;

/// The longest reason for an approval: a person reads it before answering.
const REASON_BYTES_MAX: usize = 1_000;
/// The most presets or sources of one function.
const LABELS_MAX: usize = 32;
/// The longest time of a timeout or of a kept result, in seconds: a week.
const SECONDS_MAX: f64 = 604_800.0;

/// Sets one attribute; false when it is none of these.
pub(super) fn set(gating: &mut Gating, attribute: &Attribute<'_>) -> Result<bool, MetadataError> {
    match attribute.key {
        "toolset" => gating.toolsets = labels(attribute)?,
        "unsafe_in" => gating.unsafe_in = labels(attribute)?,
        "available_if" => gating.available_if = Some(condition(attribute, &attribute.value)?),
        "defer" => gating.deferred = deferred(attribute)?,
        "requires_approval" => gating.requires_approval = required_approval(attribute)?,
        "cache" => gating.cache = attribute.boolean()?.then(Caching::default),
        // Read when all attributes are known.
        "cache_ttl" => {}
        "timeout" => gating.timeout = Some(seconds(attribute)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Sets what depends on another attribute.
pub(super) fn set_together(
    gating: &mut Gating,
    attributes: &[Attribute<'_>],
) -> Result<(), MetadataError> {
    let Some(ttl) = attributes.iter().find(|a| a.key == "cache_ttl") else {
        return Ok(());
    };
    let time = seconds(ttl)?;
    match &mut gating.cache {
        Some(cache) => *cache = Caching { ttl: time },
        None => return Err(ttl.bad("nothing is kept without `cache`".to_owned())),
    }
    Ok(())
}

fn labels(attribute: &Attribute<'_>) -> Result<Vec<String>, MetadataError> {
    let words = match &attribute.value {
        Json::Array(words) if (1..=LABELS_MAX).contains(&words.len()) => words.as_slice(),
        Json::Array(_) => {
            let problem = format!("it must name 1 to {LABELS_MAX}");
            return Err(attribute.bad(problem));
        }
        word => std::slice::from_ref(word),
    };
    let mut labels: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let label = label(attribute, word)?;
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Ok(labels)
}

fn condition(attribute: &Attribute<'_>, value: &Json) -> Result<Condition, MetadataError> {
    Condition::from_json(value).map_err(|error| attribute.bad(error.to_string()))
}

fn deferred(attribute: &Attribute<'_>) -> Result<Option<Deferred>, MetadataError> {
    match &attribute.value {
        Json::Bool(deferred) => Ok(deferred.then(Deferred::default)),
        Json::String(words) if !words.trim().is_empty() => Ok(Some(Deferred {
            words: words.clone(),
        })),
        _ => Err(attribute
            .bad("it must be true, false or a text of words by which it is found".to_owned())),
    }
}

fn required_approval(attribute: &Attribute<'_>) -> Result<Option<RequiredApproval>, MetadataError> {
    let wrong = || {
        attribute.bad(
            "it must be true, false, a text that says why, or `{\"when\": CONDITION, \"reason\": \
             \"why\"}`"
                .to_owned(),
        )
    };
    let text = |reason: &Json| match reason {
        Json::String(reason) if reason.len() > REASON_BYTES_MAX => {
            Err(attribute.bad(format!("it is longer than {REASON_BYTES_MAX} bytes")))
        }
        Json::String(reason) if !reason.trim().is_empty() => Ok(reason.clone()),
        _ => Err(wrong()),
    };
    match &attribute.value {
        Json::Bool(required) => Ok(required.then(RequiredApproval::default)),
        Json::Object(members) => {
            let mut required = RequiredApproval::default();
            for (key, value) in members {
                match key.as_str() {
                    "when" => required.when = Some(condition(attribute, value)?),
                    "reason" => required.reason = Some(text(value)?),
                    _ => return Err(wrong()),
                }
            }
            required
                .when
                .is_some()
                .then_some(Some(required))
                .ok_or_else(wrong)
        }
        reason => Ok(Some(RequiredApproval {
            reason: Some(text(reason)?),
            when: None,
        })),
    }
}

/// A time in seconds, which may have a fraction.
fn seconds(attribute: &Attribute<'_>) -> Result<Duration, MetadataError> {
    let seconds = attribute
        .value
        .as_f64()
        .filter(|s| (0.001..=SECONDS_MAX).contains(s));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        attribute.bad(format!(
            "it must be a number of seconds from 0.001 to {SECONDS_MAX}"
        ))
    })
}
