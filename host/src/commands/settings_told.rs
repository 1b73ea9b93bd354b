//! What is set for a function besides its parameters, as people and programs read it.

use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::function::{Expose, Function, ParameterSource};
use openprogram_core::gating::RequiredApproval;
use serde_json::json;

use crate::text::one_line;

/// Characters of what an author wrote, on its line.
const WORDS_CHARS_MAX: usize = 300;

/// Every setting with what holds, whether the author wrote it or not, under its name in metadata.
pub(super) fn settings_to_json(function: &Function) -> Json {
    let (gating, effects) = (&function.gating, &function.effects);
    let range = function.render_range;
    let subcalls = range.subcalls.map_or(json!(-1), Json::from);
    let defer = gating
        .deferred
        .as_ref()
        .map(|deferred| match deferred.words.as_str() {
            "" => json!(true),
            words => json!(words),
        });
    let approval = gating.requires_approval.as_ref().map(approval_to_json);
    let available = gating.available_if.as_ref();
    json!({
        "name": function.model_name,
        "description": function.model_description,
        "category": function.category,
        "system": function.system,
        "expose": function.expose.as_str(),
        "render_range": {"callers": range.callers, "subcalls": subcalls},
        "timeout": gating.timeout.map(|time| time.as_secs_f64()),
        "toolset": gating.toolsets,
        "unsafe_in": gating.unsafe_in,
        "available_if": available.map(|condition| condition.to_json()),
        "defer": defer.unwrap_or(json!(false)),
        "cache": gating.cache.is_some(),
        "cache_ttl": gating.cache.map(|cache| cache.ttl.as_secs_f64()),
        "requires_approval": approval.unwrap_or(json!(false)),
        "read_only": effects.read_only,
        "idempotent": effects.idempotent,
        "destructive": effects.destructive,
        "open_world": effects.open_world,
    })
}

fn approval_to_json(required: &RequiredApproval) -> Json {
    let mut shown = serde_json::Map::new();
    if let Some(when) = &required.when {
        shown.insert("when".to_owned(), when.to_json());
    }
    match (&required.reason, shown.is_empty()) {
        (None, true) => true.into(),
        (Some(reason), true) => reason.clone().into(),
        (reason, false) => {
            if let Some(reason) = reason {
                shown.insert("reason".to_owned(), reason.clone().into());
            }
            Json::Object(shown)
        }
    }
}

/// Lines of what differs from the defaults.
pub(super) fn settings_told(function: &Function) -> Vec<String> {
    let words = |text: &str| one_line(text, WORDS_CHARS_MAX);
    let mut lines = Vec::new();
    let runtimes = function.parameters.iter().filter_map(|p| match p.source {
        ParameterSource::Runtime(role) => Some(role.parameter()),
        _ => None,
    });
    let runtimes: Vec<_> = runtimes.collect();
    if !runtimes.is_empty() {
        lines.push(format!("works with a model: {}", runtimes.join(", ")));
    }
    if let Some(name) = &function.model_name {
        lines.push(format!("models call it `{name}`"));
    }
    if let Some(description) = &function.model_description {
        lines.push(format!("models read of it: {}", words(description)));
    }
    if let Some(category) = &function.category {
        lines.push(format!("category: {}", words(category)));
    }
    if let Some(system) = &function.system {
        lines.push(format!("system prompt: {}", words(system)));
    }
    if function.expose != Expose::default() {
        lines.push(format!("callers see: {}", function.expose.as_str()));
    }
    lines.extend(offering_told(function));
    if let Some(time) = function.gating.timeout {
        lines.push(format!("a call is stopped after {}", seconds(time)));
    }
    let range = function.render_range;
    for (count, what) in [
        (range.callers, "written before it"),
        (range.subcalls, "of its own"),
    ] {
        if let Some(count) = count {
            lines.push(format!("reads at most {count} nodes {what}"));
        }
    }
    lines
}

/// How it is offered to models, what a person approves, and what its calls do.
fn offering_told(function: &Function) -> Vec<String> {
    let (gating, effects) = (&function.gating, &function.effects);
    let words = |text: &str| one_line(text, WORDS_CHARS_MAX);
    let mut lines = Vec::new();
    if !gating.toolsets.is_empty() {
        lines.push(format!(
            "in the toolsets: {}",
            words(&gating.toolsets.join(", "))
        ));
    }
    if !gating.unsafe_in.is_empty() {
        let sources = words(&gating.unsafe_in.join(", "));
        lines.push(format!("not offered to models in turns from: {sources}"));
    }
    if let Some(condition) = &gating.available_if {
        let condition = words(&condition.to_json().to_string());
        lines.push(format!("offered to models where {condition} holds"));
    }
    if let Some(deferred) = &gating.deferred {
        let found = match deferred.words.as_str() {
            "" => String::new(),
            by => format!(", by these words too: {}", words(by)),
        };
        lines.push(format!("models have to look for it first{found}"));
    }
    if let Some(cache) = gating.cache {
        let time = seconds(cache.ttl);
        lines.push(format!("results of calls by models are kept for {time}"));
    }
    if let Some(required) = &gating.requires_approval {
        let mut line = "a person approves each call by a model or a function".to_owned();
        if let Some(when) = &required.when {
            line.push_str(&format!(
                " where {} holds",
                words(&when.to_json().to_string())
            ));
        }
        if let Some(reason) = &required.reason {
            line.push_str(&format!(": {}", words(reason)));
        }
        lines.push(line);
    }
    if effects.read_only {
        lines.push("changes nothing, so that several calls may run at once".to_owned());
    }
    if effects.idempotent {
        lines.push("the same call again changes nothing more".to_owned());
    }
    match effects.destructive {
        Some(true) => lines.push("may remove or overwrite something".to_owned()),
        Some(false) => lines.push("removes and overwrites nothing".to_owned()),
        None => {}
    }
    match effects.open_world {
        Some(true) => lines.push("reaches what nobody here controls".to_owned()),
        Some(false) => lines.push("reaches nothing that nobody here controls".to_owned()),
        None => {}
    }
    lines
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use openprogram_core::function::FunctionName;
    use openprogram_core::gating::{Caching, Condition, Deferred, Effects, Gating};

    use super::*;

    fn bare() -> Function {
        Function::new(FunctionName::new("a", None, "pay"))
    }

    fn rich() -> Function {
        let condition = |value: Json| Condition::from_json(&value).unwrap();
        let gating = Gating {
            toolsets: vec!["money".to_owned()],
            unsafe_in: vec!["telegram".to_owned(), "web".to_owned()],
            available_if: Some(condition(json!({"env": "BANK"}))),
            deferred: Some(Deferred {
                words: "transfer wire".to_owned(),
            }),
            requires_approval: Some(RequiredApproval {
                reason: Some("It pays.".to_owned()),
                when: Some(condition(json!({"argument": "amount", "above": 100}))),
            }),
            cache: Some(Caching::default()),
            timeout: Some(Duration::from_millis(1_500)),
        };
        let effects = Effects {
            read_only: false,
            idempotent: true,
            destructive: Some(true),
            open_world: Some(false),
        };
        Function {
            model_name: Some("send_money".to_owned()),
            model_description: Some("Sends money.".to_owned()),
            category: Some("finance".to_owned()),
            gating,
            effects,
            ..bare()
        }
    }

    #[test]
    fn a_bare_function_has_the_defaults_and_they_are_told() {
        assert_eq!(settings_told(&bare()), [""; 0]);
        expect![[r#"
            {
              "name": null,
              "description": null,
              "category": null,
              "system": null,
              "expose": "io",
              "render_range": {
                "callers": null,
                "subcalls": -1
              },
              "timeout": null,
              "toolset": [],
              "unsafe_in": [],
              "available_if": null,
              "defer": false,
              "cache": false,
              "cache_ttl": null,
              "requires_approval": false,
              "read_only": false,
              "idempotent": false,
              "destructive": null,
              "open_world": null
            }"#]]
        .assert_eq(&serde_json::to_string_pretty(&settings_to_json(&bare())).unwrap());
    }

    #[test]
    fn every_setting_is_told_in_words_and_as_data() {
        expect![[r#"
            models call it `send_money`
            models read of it: Sends money.
            category: finance
            in the toolsets: money
            not offered to models in turns from: telegram, web
            offered to models where {"env":"BANK"} holds
            models have to look for it first, by these words too: transfer wire
            results of calls by models are kept for 300 s
            a person approves each call by a model or a function where {"argument":"amount","above":100} holds: It pays.
            the same call again changes nothing more
            may remove or overwrite something
            reaches nothing that nobody here controls
            a call is stopped after 1.5 s"#]].assert_eq(&settings_told(&rich()).join("\n"));
        expect![[r#"{"name":"send_money","description":"Sends money.","category":"finance","system":null,"expose":"io","render_range":{"callers":null,"subcalls":-1},"timeout":1.5,"toolset":["money"],"unsafe_in":["telegram","web"],"available_if":{"env":"BANK"},"defer":"transfer wire","cache":true,"cache_ttl":300.0,"requires_approval":{"when":{"argument":"amount","above":100},"reason":"It pays."},"read_only":false,"idempotent":true,"destructive":true,"open_world":false}"#]].assert_eq(&settings_to_json(&rich()).to_string());
    }
}
