//! The port behind which every provider stands.

use async_trait::async_trait;

use super::error::LlmError;
use super::event::EventSink;
use super::request::{DecisionLimits, DecisionReply, DecisionState, ModelReply, ModelRequest};
use crate::content::ThinkingLevel;
use crate::structured::{ResponseFormat, StructuredCode, StructuredError};

/// What a provider can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It writes text.
    pub text: bool,
    /// It picks one option of a menu without writing text.
    pub decide: bool,
}

/// How a provider holds the replies of its model to a response format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatAbility {
    /// A model is held to the format while it writes. Otherwise replies are prepared for what will be
    /// asked, and only checked.
    pub is_held: bool,
    /// It does so in a request with tools too.
    pub with_tools: bool,
    /// Members come in the order in which the schema names its properties.
    pub keeps_order: bool,
}

/// Serves one model. Methods take `&self`: several requests may be under way at once, and dropping
/// a future cancels its request.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The full name, `provider:model`.
    fn name(&self) -> &str;

    /// What it can do; constant over its life.
    fn abilities(&self) -> Abilities;

    /// Whether and how it holds replies to a response format, as far as that is verified; constant
    /// over its life.
    ///
    /// The default promises nothing, and requests with a format are not made.
    fn format_ability(&self) -> Option<FormatAbility> {
        None
    }

    /// Checks that it can be told all of a format, without asking anybody. Only called when it has a
    /// [`FormatAbility`]; the default takes every format.
    ///
    /// # Errors
    /// `unsupported`, with the places of the schema.
    fn check_format(&self, format: &ResponseFormat) -> Result<(), StructuredError> {
        let _ = format;
        Ok(())
    }

    /// Whether it holds a model to the schemas of tools that are [strict](crate::tool::ToolSpec), as
    /// far as that is verified; constant over its life.
    fn holds_tools(&self) -> bool {
        false
    }

    /// Checks that it can be told all of a format as the schema of such a tool. Only called when it
    /// holds to them; the default takes every schema of an object.
    ///
    /// # Errors
    /// `unsupported`, with the places of the schema.
    fn check_submit(&self, format: &ResponseFormat) -> Result<(), StructuredError> {
        if format.schema.get("type").and_then(crate::Json::as_str) == Some("object") {
            return Ok(());
        }
        let message = format!(
            "`{}` takes a schema of an object alone; put the value into one",
            self.name()
        );
        Err(StructuredError::new(StructuredCode::Unsupported, message))
    }

    /// Whether it lets its model search the web with a tool of its own; constant over its life.
    ///
    /// The default does not, and requests that want it are not made.
    fn searches_web(&self) -> bool {
        false
    }

    /// What it makes of a level of thinking, without asking anybody: `None` when the level holds as it
    /// stands, else the word of the provider for what holds in its place, for example `low` for a
    /// model that always thinks and is asked not to.
    ///
    /// The default takes every level as it stands: what it means is up to the provider.
    ///
    /// # Errors
    /// [`LlmError::Unsupported`], with what to do, for a level other than
    /// [`Off`](ThinkingLevel::Off) when the model is not known to think in levels.
    fn thinking(&self, level: ThinkingLevel) -> Result<Option<String>, LlmError> {
        let _ = level;
        Ok(None)
    }

    /// Asks the model once. Every piece of the reply goes to `sink` as it arrives and is in the
    /// reply too. Never retries: the caller does.
    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError>;

    /// Which decisions it can be asked for; constant over its life, and only looked at when
    /// [`Abilities::decide`] is set.
    fn decision_limits(&self) -> DecisionLimits {
        DecisionLimits::default()
    }

    /// Lets the provider weigh the options of one decision.
    ///
    /// The default refuses; only called when [`Abilities::decide`] is set. The caller checks the
    /// answer: finite, in range, known options, sum.
    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        let _ = state;
        Err(LlmError::Unsupported(format!(
            "`{}` does not decide",
            self.name()
        )))
    }

    /// Releases what it holds: a session with a server, a process, a file.
    ///
    /// A runtime calls it once, when it is closed or its last handle is dropped, and asks nothing
    /// after that. A provider that several runtimes share is told by each of them. It may be inside
    /// an async runtime and must not block; the default has nothing to release.
    fn close(&self) {}
}

/// Checks that a provider holds its replies to a format, whole and with the tools of the request.
///
/// # Errors
/// `unsupported`: nothing is asked in a weaker form than was wanted.
pub fn check_native(
    provider: &dyn Provider,
    format: &ResponseFormat,
    has_tools: bool,
) -> Result<FormatAbility, StructuredError> {
    let unsupported = |message| StructuredError::new(StructuredCode::Unsupported, message);
    let name = provider.name();
    let Some(ability) = provider.format_ability() else {
        return Err(unsupported(format!(
            "`{name}` is not known to hold its replies to a schema; use another model, or set \
             `native_json_schema = true` in a `[[profiles]]` row for it in \
             openprogram.toml"
        )));
    };
    if has_tools && !ability.with_tools {
        return Err(unsupported(format!(
            "`{name}` is not known to hold its replies to a schema in a turn with tools; make the \
             turn without tools, or set `native_json_with_tools = true` in a `[[profiles]]` \
             row for it in openprogram.toml"
        )));
    }
    provider.check_format(format)?;
    Ok(ability)
}

#[cfg(test)]
mod tests {
    use super::super::format_way::{BesideFormat, FormatWay, plan_format_way, submit_tool};
    use super::*;
    use crate::Json;
    use crate::tool::ToolChoice;

    /// What the capabilities of a case come to.
    struct Capable {
        native: Option<FormatAbility>,
        strict_tool: bool,
    }

    #[async_trait]
    impl Provider for Capable {
        fn name(&self) -> &str {
            "test:m"
        }

        fn abilities(&self) -> Abilities {
            Abilities {
                text: true,
                decide: false,
            }
        }

        fn format_ability(&self) -> Option<FormatAbility> {
            self.native
        }

        fn holds_tools(&self) -> bool {
            self.strict_tool
        }

        async fn complete(
            &self,
            _: &ModelRequest,
            _: &dyn EventSink,
        ) -> Result<ModelReply, LlmError> {
            Err(LlmError::Unsupported("not asked here".to_owned()))
        }
    }

    fn capable(case: &Json) -> Capable {
        let capabilities = &case["capabilities"];
        let opted_in =
            capabilities["native_model_opt_in"] == true && case["model_structured_output"] == true;
        let native = capabilities["native"] == "supported" || opted_in;
        // Every request is a stream here.
        let native = native && capabilities["streaming"] == true;
        Capable {
            native: native.then_some(FormatAbility {
                is_held: true,
                with_tools: capabilities["with_tools"] == true,
                keeps_order: false,
            }),
            strict_tool: capabilities["strict_tool"] == true,
        }
    }

    /// Left out: a dialect of a provider that has none here.
    fn is_left_out(case: &Json) -> bool {
        case["capabilities"]["schema_profile"] == "google_json_schema"
    }

    fn choice_of(case: &Json) -> ToolChoice {
        match &case["tool_choice"] {
            Json::Null => ToolChoice::Auto,
            Json::String(word) if word == "auto" => ToolChoice::Auto,
            Json::String(word) if word == "required" => ToolChoice::Required,
            Json::String(word) if word == "none" => ToolChoice::None,
            named => ToolChoice::Named(named["name"].as_str().unwrap().to_owned()),
        }
    }

    #[test]
    fn providers_are_used_or_refused_as_in_the_vectors() {
        let file = include_str!("../../fixtures/vectors/structured_output.json");
        let file: Json = serde_json::from_str(file).unwrap();
        let (mut n_law, mut n_left_out) = (0, 0);
        for case in file["cases"].as_array().unwrap() {
            let is_one = case["id"].as_str().unwrap().starts_with("negotiate/");
            if !is_one || case["status"] != "law" {
                continue;
            }
            if is_left_out(case) {
                n_left_out += 1;
                continue;
            }
            let format = ResponseFormat::read(&case["format"]).unwrap();
            let tools = case["tools"].as_array().unwrap().iter();
            let tools: Vec<_> = tools.filter_map(Json::as_str).collect();
            let beside = BesideFormat {
                tools: &tools,
                tool_choice: &choice_of(case),
                parallel_tool_calls: case["parallel_tool_calls"].as_bool(),
            };
            match plan_format_way(&capable(case), &format, beside) {
                Ok(way) => {
                    // The original calls our tool by its kind.
                    let mode = way.as_str().replace("submit", "tool");
                    assert_eq!(case["ok"]["mode"], mode, "{}", case["id"]);
                    if way == FormatWay::Submit {
                        let tool = submit_tool(&format);
                        assert_eq!(case["ok"]["submit_tool_name"], tool.name);
                        assert_eq!(tool.parameters, *format.schema);
                    }
                }
                Err(error) => {
                    assert_eq!(error.code.as_str(), case["error"]["code"], "{}", case["id"]);
                }
            }
            n_law += 1;
        }
        assert_eq!((n_law, n_left_out), (23, 1));
    }
}
