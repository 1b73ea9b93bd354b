//! How a level of thinking is said to a model, as far as it is known to think in levels.
//!
//! A level that the model does not have becomes the nearest one that it has; `off` becomes as little
//! as it can. What holds instead is told, so that the record says it.

use openprogram_core::content::ThinkingLevel;

use crate::profile::{Profile, ThinkingForm};

/// Fewest tokens that a model with a budget may think.
const BUDGET_MIN: u64 = 1_024;
/// Tokens that a reply keeps beside the budget of thinking.
const REPLY_TOKENS_MIN: u64 = 4_096;

/// What is sent about thinking.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SaidThinking {
    /// The value of `thinking.type`.
    pub(crate) kind: Option<String>,
    /// How many tokens it may take.
    pub(crate) budget_tokens: Option<u64>,
    /// The word of the effort.
    pub(crate) effort: Option<String>,
    /// The word for what holds, where it is not the level itself.
    pub(crate) applied: Option<String>,
}

/// How a level is said to a model.
///
/// # Errors
/// One sentence with what to do, for a level that is not `off` when the model has none.
pub(crate) fn said_thinking(
    level: ThinkingLevel,
    profile: &Profile,
) -> Result<SaidThinking, String> {
    let off_word = profile.thinking_off.clone();
    let has = |word: &&&str| profile.thinking_efforts.iter().any(|own| own == **word);
    let Some(form) = profile
        .thinking
        .filter(|form| *form != ThinkingForm::Unknown)
    else {
        if level == ThinkingLevel::Off {
            return Ok(SaidThinking {
                kind: off_word,
                ..SaidThinking::default()
            });
        }
        return Err(format!(
            "the model is not known to think in levels such as `{level}`; use `off` or another \
             model, or set `thinking` and `thinking_efforts` in a `[[profiles]]` row for it in \
             openprogram.toml"
        ));
    };
    if form == ThinkingForm::Budget {
        let budget_tokens = budget(level);
        let on_word = budget_tokens.map(|_| "enabled".to_owned());
        return Ok(SaidThinking {
            kind: on_word.or(off_word),
            budget_tokens,
            ..SaidThinking::default()
        });
    }
    let word = words(level).iter().find(has).map(|word| (*word).to_owned());
    let is_off = level == ThinkingLevel::Off;
    if is_off && off_word.is_some() {
        return Ok(SaidThinking {
            kind: off_word,
            ..SaidThinking::default()
        });
    }
    if is_off && form == ThinkingForm::Adaptive && !profile.thinking_always {
        return Ok(SaidThinking::default());
    }
    let Some(word) = word else {
        return Err(format!(
            "`thinking_efforts` names nothing for the level `{level}`; name the words that the \
             model takes, for example [\"low\", \"medium\", \"high\"], in its `[[profiles]]` row in \
             openprogram.toml"
        ));
    };
    let kind = match form {
        ThinkingForm::Toggle => Some("enabled"),
        ThinkingForm::Adaptive if !is_off => Some("adaptive"),
        _ => None,
    };
    let holds = word == level.as_str() || (is_off && word == "none");
    Ok(SaidThinking {
        kind: kind.map(str::to_owned),
        budget_tokens: None,
        applied: (!holds).then(|| word.clone()),
        effort: Some(word),
    })
}

/// The tokens of thinking that fit into a reply of so many tokens.
///
/// # Errors
/// When there is no room for any.
pub(crate) fn fitting_budget(budget: u64, max_tokens: u64) -> Result<u64, String> {
    let room = max_tokens.saturating_sub(REPLY_TOKENS_MIN);
    if room < BUDGET_MIN {
        return Err(format!(
            "a reply of at most {max_tokens} tokens leaves no room for thinking; use the level \
             `off`, or allow more tokens"
        ));
    }
    Ok(budget.min(room))
}

/// Words for a level, the best first.
fn words(level: ThinkingLevel) -> &'static [&'static str] {
    match level {
        ThinkingLevel::Off => &["none", "minimal", "low", "medium", "high", "default"],
        ThinkingLevel::Low => &["low", "medium", "high", "default"],
        ThinkingLevel::Medium => &["medium", "high", "low", "default"],
        ThinkingLevel::High => &["high", "xhigh", "max", "medium", "low", "default"],
        ThinkingLevel::XHigh => &["xhigh", "max", "high", "medium", "low", "default"],
    }
}

fn budget(level: ThinkingLevel) -> Option<u64> {
    match level {
        ThinkingLevel::Off => None,
        ThinkingLevel::Low => Some(2_048),
        ThinkingLevel::Medium => Some(10_000),
        ThinkingLevel::High => Some(16_384),
        ThinkingLevel::XHigh => Some(32_768),
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::content::ThinkingLevel::{High, Low, Medium, Off, XHigh};

    use super::*;
    use crate::profile::{Profiles, Protocol};

    /// What is sent for every level, as `type/budget/effort` and, after an arrow, what holds.
    #[track_caller]
    fn check(protocol: Protocol, url: &str, model: &str, expected: [&str; 5]) {
        let profile = Profiles::built_in().unwrap().find(protocol, url, model);
        let told = [Off, Low, Medium, High, XHigh].map(|level| {
            let said = match said_thinking(level, &profile) {
                Ok(said) => said,
                Err(_) => return "refused".to_owned(),
            };
            let budget = said.budget_tokens.map(|budget| budget.to_string());
            let parts = [said.kind, budget, said.effort];
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            let applied = said.applied.map(|word| format!(" -> {word}"));
            format!("{}{}", parts.join(" "), applied.unwrap_or_default())
        });
        assert_eq!(told.each_ref().map(String::as_str), expected, "{model}");
    }

    const OPENAI: &str = "https://api.openai.com/v1";
    const ANTHROPIC: &str = "https://api.anthropic.com";

    #[test]
    fn every_level_has_its_form_at_openai() {
        let all = ["none", "low", "medium", "high", "xhigh"];
        for (model, expected) in [
            ("gpt-6-sol", all),
            ("gpt-5.5", all),
            ("gpt-5.2", all),
            ("gpt-5.1", ["none", "low", "medium", "high", "high -> high"]),
            (
                "gpt-6-astra",
                ["low -> low", "low", "medium", "high", "xhigh"],
            ),
            (
                "gpt-5-mini",
                [
                    "minimal -> minimal",
                    "low",
                    "medium",
                    "high",
                    "high -> high",
                ],
            ),
            (
                "gpt-5-pro",
                [
                    "high -> high",
                    "high -> high",
                    "high -> high",
                    "high",
                    "high -> high",
                ],
            ),
            (
                "gpt-5.4-pro",
                [
                    "medium -> medium",
                    "medium -> medium",
                    "medium",
                    "high",
                    "xhigh",
                ],
            ),
            (
                "o3-mini",
                ["low -> low", "low", "medium", "high", "high -> high"],
            ),
            (
                "gpt-5-chat-latest",
                ["", "refused", "refused", "refused", "refused"],
            ),
            ("gpt-4o", ["", "refused", "refused", "refused", "refused"]),
        ] {
            check(Protocol::OpenAi, OPENAI, model, expected);
        }
    }

    #[test]
    fn every_level_has_its_form_at_servers_that_speak_like_openai() {
        check(
            Protocol::OpenAi,
            "https://api.deepseek.com",
            "deepseek-chat",
            [
                "disabled",
                "enabled low",
                "enabled high -> high",
                "enabled high",
                "enabled max -> max",
            ],
        );
        check(
            Protocol::OpenAi,
            "https://api.groq.com/openai/v1",
            "openai/gpt-oss-120b",
            ["low -> low", "low", "medium", "high", "high -> high"],
        );
        check(
            Protocol::OpenAi,
            "https://api.groq.com/openai/v1",
            "qwen/qwen3-32b",
            [
                "none",
                "default -> default",
                "default -> default",
                "default -> default",
                "default -> default",
            ],
        );
        check(
            Protocol::OpenAi,
            "http://127.0.0.1:8080/v1",
            "m",
            ["", "refused", "refused", "refused", "refused"],
        );
    }

    #[test]
    fn every_level_has_its_form_at_anthropic() {
        let budgets = [
            "",
            "enabled 2048",
            "enabled 10000",
            "enabled 16384",
            "enabled 32768",
        ];
        let adaptive = |off| {
            [
                off,
                "adaptive low",
                "adaptive medium",
                "adaptive high",
                "adaptive xhigh",
            ]
        };
        for (model, expected) in [
            ("claude-opus-4-1", budgets),
            ("claude-sonnet-4-6", budgets),
            ("claude-haiku-4-5", budgets),
            ("claude-opus-4-7", adaptive("")),
            ("claude-opus-5", adaptive("disabled")),
            ("claude-sonnet-5-5", adaptive("between_tools")),
            ("claude-opus-5-5", adaptive("low -> low")),
            ("claude-fable-5-1", adaptive("low -> low")),
            ("claude-mythos-5", adaptive("low -> low")),
        ] {
            check(Protocol::Anthropic, ANTHROPIC, model, expected);
        }
        check(
            Protocol::Anthropic,
            "http://localhost:1234",
            "claude-opus-5",
            ["", "refused", "refused", "refused", "refused"],
        );
    }

    #[test]
    fn a_row_without_words_says_what_is_missing() {
        let profile = Profile {
            thinking: Some(ThinkingForm::Effort),
            ..Profile::conservative(Protocol::OpenAi)
        };
        let error = said_thinking(Low, &profile).unwrap_err();
        assert!(error.starts_with("`thinking_efforts` names nothing for the level `low`; "));
    }

    #[test]
    fn the_budget_of_thinking_leaves_room_for_the_reply() {
        assert_eq!(fitting_budget(32_768, 64_000), Ok(32_768));
        assert_eq!(fitting_budget(32_768, 8_192), Ok(4_096));
        assert_eq!(fitting_budget(2_048, 5_120), Ok(1_024));
        let error = fitting_budget(2_048, 5_119).unwrap_err();
        assert!(error.starts_with("a reply of at most 5119 tokens leaves no room"));
    }
}
