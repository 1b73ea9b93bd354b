//! What servers and models are known to take, as data.
//!
//! A profile is layered: first what every server of the protocol takes, then the rows that match,
//! the less exact ones first and the user's last. Each row says only what it changes, so a model
//! that nobody knows is asked for nothing that it might refuse.

use serde::Deserialize;

/// The rows that come with the program.
const BUILT_IN: &str = include_str!("profiles.toml");

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI Chat Completions.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// The decision endpoint of OpenAI alone.
    #[serde(rename = "openai_decisions")]
    OpenAiDecisions,
    /// The decision endpoint of Google alone.
    GoogleDecisions,
    /// A System One endpoint alone.
    #[serde(rename = "systemone")]
    SystemOne,
}

/// The form of a decision endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum DecisionProtocol {
    /// `POST /decisions` as OpenAI publishes it.
    #[serde(rename = "openai_decisions")]
    OpenAi,
    /// `POST /v1beta/decisions` as Google publishes it.
    #[serde(rename = "google_decisions")]
    Google,
    /// `POST /v1/systemone`, of TypeSafe and of many servers at home.
    #[serde(rename = "systemone")]
    SystemOne,
}

/// The field in which a server takes the limit of tokens of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// How a level of thinking is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingForm {
    /// `reasoning_effort`, for OpenAI Chat Completions.
    Effort,
    /// `thinking.type` `enabled` and `reasoning_effort`, for OpenAI Chat Completions.
    Toggle,
    /// `thinking.type` `adaptive` and `output_config.effort`, for Anthropic Messages.
    Adaptive,
    /// `thinking.type` `enabled` and `thinking.budget_tokens`, for Anthropic Messages.
    Budget,
    /// Not at all: a row takes back what a less exact one says.
    #[serde(rename = "none")]
    Unknown,
}

/// What one model on one server takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The field of the token limit, for OpenAI Chat Completions.
    pub max_tokens_field: MaxTokensField,
    /// The token limit of a reply; `None` leaves it to the server, where the protocol can.
    pub max_output_tokens: Option<u64>,
    /// Whether a tool call can be demanded (`required`, or a named tool).
    pub forced_tool_choice: bool,
    /// Whether a named tool can be demanded by its name, for OpenAI Chat Completions. Elsewhere it
    /// is the only one offered, and a call is required: some servers pass over the name in silence.
    pub named_tool_choice: bool,
    /// Whether several calls in one reply can be switched off.
    pub parallel_switch: bool,
    /// The most tools in one request.
    pub tools_max: Option<usize>,
    /// Whether it sees images.
    pub images: bool,
    /// Whether it hears sound, for OpenAI Chat Completions: WAV and MP3.
    pub audio: bool,
    /// Whether a stream is asked to end with its usage.
    pub stream_usage: bool,
    /// Whether the session is sent as the key of the prompt cache.
    pub prompt_cache_key: bool,
    /// The value of `thinking.type` that switches thinking off, where it is on by itself.
    pub thinking_off: Option<String>,
    /// Whether it can be let search the web with a tool of the server.
    pub web_search: bool,
    /// How a level of thinking is said; `None` where it is not known to think in levels.
    pub thinking: Option<ThinkingForm>,
    /// The words for the effort that it takes.
    pub thinking_efforts: Vec<String>,
    /// Whether it thinks whatever it is told, so that `off` is its lowest effort.
    pub thinking_always: bool,
    /// Whether what it thought has to stand beside its calls when their results are sent, for OpenAI
    /// Chat Completions: in the field `reasoning_content`.
    pub thinking_back: bool,
    /// Whether constrained JSON output is verified.
    pub native_json_schema: bool,
    /// Whether it is verified together with tools.
    pub native_json_with_tools: bool,
    /// The decision endpoint that the server has for the model beside its own protocol.
    pub decisions: Option<DecisionProtocol>,
    /// The most options of one decision, where the model takes fewer than its protocol.
    pub decision_options_max: Option<usize>,
    /// The most bytes of what a decision is about; older parts of the context are left out.
    pub decision_state_bytes: usize,
    /// Whether members come in the order of the schema's properties, all of them being required.
    pub native_json_keeps_order: bool,
    /// Whether it is verified that arguments are held to the schemas of strict tools.
    pub strict_tools: bool,
}

/// Fits the smallest window that is published, 32,000 tokens, with room for the options.
const DECISION_STATE_BYTES: usize = 64 * 1024;

impl Profile {
    /// What every server of a protocol takes.
    #[must_use]
    pub fn conservative(protocol: Protocol) -> Self {
        let max_output_tokens = match protocol {
            Protocol::OpenAi
            | Protocol::OpenAiDecisions
            | Protocol::GoogleDecisions
            | Protocol::SystemOne => None,
            // The protocol demands a number; every model served today takes this one.
            Protocol::Anthropic => Some(8192),
        };
        Self {
            max_tokens_field: MaxTokensField::MaxTokens,
            max_output_tokens,
            forced_tool_choice: false,
            named_tool_choice: false,
            parallel_switch: false,
            tools_max: None,
            images: false,
            audio: false,
            stream_usage: true,
            prompt_cache_key: false,
            thinking_off: None,
            web_search: false,
            thinking: None,
            thinking_efforts: Vec::new(),
            thinking_always: false,
            thinking_back: false,
            native_json_schema: false,
            native_json_with_tools: false,
            decisions: None,
            decision_options_max: None,
            decision_state_bytes: DECISION_STATE_BYTES,
            native_json_keeps_order: false,
            strict_tools: false,
        }
    }
}

/// One row of the table: what it matches and what it changes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileRow {
    /// The protocol it is for.
    pub protocol: Protocol,
    /// The host of the base URL, with `:port` where the URL has one; absent for every host.
    pub host: Option<String>,
    /// The beginning of the model's name; absent for every model.
    pub model: Option<String>,
    /// See [`Profile::max_tokens_field`].
    pub max_tokens_field: Option<MaxTokensField>,
    /// See [`Profile::max_output_tokens`].
    pub max_output_tokens: Option<u64>,
    /// See [`Profile::forced_tool_choice`].
    pub forced_tool_choice: Option<bool>,
    /// See [`Profile::named_tool_choice`].
    pub named_tool_choice: Option<bool>,
    /// See [`Profile::parallel_switch`].
    pub parallel_switch: Option<bool>,
    /// See [`Profile::tools_max`].
    pub tools_max: Option<usize>,
    /// See [`Profile::images`].
    pub images: Option<bool>,
    /// See [`Profile::audio`].
    pub audio: Option<bool>,
    /// See [`Profile::stream_usage`].
    pub stream_usage: Option<bool>,
    /// See [`Profile::prompt_cache_key`].
    pub prompt_cache_key: Option<bool>,
    /// See [`Profile::thinking_off`]; an empty text sends nothing.
    pub thinking_off: Option<String>,
    /// See [`Profile::web_search`].
    pub web_search: Option<bool>,
    /// See [`Profile::thinking`].
    pub thinking: Option<ThinkingForm>,
    /// See [`Profile::thinking_efforts`].
    pub thinking_efforts: Option<Vec<String>>,
    /// See [`Profile::thinking_always`].
    pub thinking_always: Option<bool>,
    /// See [`Profile::thinking_back`].
    pub thinking_back: Option<bool>,
    /// See [`Profile::native_json_schema`].
    pub native_json_schema: Option<bool>,
    /// See [`Profile::native_json_with_tools`].
    pub native_json_with_tools: Option<bool>,
    /// See [`Profile::decisions`].
    pub decisions: Option<DecisionProtocol>,
    /// See [`Profile::decision_options_max`].
    pub decision_options_max: Option<usize>,
    /// See [`Profile::decision_state_bytes`].
    pub decision_state_bytes: Option<usize>,
    /// See [`Profile::native_json_keeps_order`].
    pub native_json_keeps_order: Option<bool>,
    /// See [`Profile::strict_tools`].
    pub strict_tools: Option<bool>,
    /// Where the facts come from.
    pub source: Option<String>,
    /// When they were checked, for example `2026-11`.
    pub checked_on: Option<String>,
}

impl ProfileRow {
    fn matches(&self, protocol: Protocol, host: &str, model: &str) -> bool {
        let same_host = |own: &String| own.eq_ignore_ascii_case(host);
        let starts = |own: &String| model.starts_with(own.as_str());
        self.protocol == protocol
            && self.host.as_ref().is_none_or(same_host)
            && self.model.as_ref().is_none_or(starts)
    }

    /// How exact the row is: a host counts more than any name of a model.
    fn exactness(&self) -> (bool, usize) {
        (
            self.host.is_some(),
            self.model.as_ref().map_or(0, String::len),
        )
    }

    fn apply(&self, profile: &mut Profile) {
        fn set<T: Clone>(field: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(
            &mut profile.max_tokens_field,
            self.max_tokens_field.as_ref(),
        );
        set(
            &mut profile.forced_tool_choice,
            self.forced_tool_choice.as_ref(),
        );
        set(
            &mut profile.named_tool_choice,
            self.named_tool_choice.as_ref(),
        );
        set(&mut profile.parallel_switch, self.parallel_switch.as_ref());
        set(&mut profile.images, self.images.as_ref());
        set(&mut profile.audio, self.audio.as_ref());
        set(
            &mut profile.thinking_efforts,
            self.thinking_efforts.as_ref(),
        );
        set(&mut profile.thinking_always, self.thinking_always.as_ref());
        set(&mut profile.thinking_back, self.thinking_back.as_ref());
        set(&mut profile.stream_usage, self.stream_usage.as_ref());
        set(
            &mut profile.prompt_cache_key,
            self.prompt_cache_key.as_ref(),
        );
        set(&mut profile.web_search, self.web_search.as_ref());
        set(
            &mut profile.native_json_schema,
            self.native_json_schema.as_ref(),
        );
        set(
            &mut profile.native_json_with_tools,
            self.native_json_with_tools.as_ref(),
        );
        set(
            &mut profile.native_json_keeps_order,
            self.native_json_keeps_order.as_ref(),
        );
        set(&mut profile.strict_tools, self.strict_tools.as_ref());
        profile.max_output_tokens = self.max_output_tokens.or(profile.max_output_tokens);
        let thinking = self.thinking.or(profile.thinking);
        profile.thinking = thinking.filter(|form| *form != ThinkingForm::Unknown);
        profile.tools_max = self.tools_max.or(profile.tools_max);
        profile.decisions = self.decisions.or(profile.decisions);
        profile.decision_options_max = self.decision_options_max.or(profile.decision_options_max);
        set(
            &mut profile.decision_state_bytes,
            self.decision_state_bytes.as_ref(),
        );
        if let Some(word) = &self.thinking_off {
            profile.thinking_off = Some(word.clone()).filter(|word| !word.is_empty());
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    profile: Vec<ProfileRow>,
}

/// The text is not a table of profiles.
#[derive(Debug, thiserror::Error)]
#[error("the table of profiles cannot be read")]
pub struct ProfileError(#[source] toml::de::Error);

/// All known rows.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// In order of application: the built-in ones by exactness, then the user's.
    rows: Vec<ProfileRow>,
}

impl Profiles {
    /// The rows that come with the program.
    ///
    /// # Errors
    /// Never in a released program; a test reads the table.
    pub fn built_in() -> Result<Self, ProfileError> {
        let table: Table = toml::from_str(BUILT_IN).map_err(ProfileError)?;
        let mut rows = table.profile;
        rows.sort_by_key(ProfileRow::exactness);
        Ok(Self { rows })
    }

    /// Adds rows of the user; any of them has more weight than every row before.
    #[must_use]
    pub fn with_overrides(mut self, rows: impl IntoIterator<Item = ProfileRow>) -> Self {
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(ProfileRow::exactness);
        self.rows.extend(rows);
        self
    }

    /// The profile of a model behind a base URL; of a URL that cannot be read the host is empty.
    #[must_use]
    pub fn find(&self, protocol: Protocol, base_url: &str, model: &str) -> Profile {
        let host = host_of(base_url);
        let mut profile = Profile::conservative(protocol);
        let matching = |row: &&ProfileRow| row.matches(protocol, &host, model);
        for row in self.rows.iter().filter(matching) {
            row.apply(&mut profile);
        }
        profile
    }
}

/// The host of a URL, with its port where it is written.
fn host_of(url: &str) -> String {
    let Ok(url) = reqwest::Url::parse(url) else {
        return String::new();
    };
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: &str = "https://api.openai.com/v1";
    const ANTHROPIC: &str = "https://api.anthropic.com";

    fn built_in(protocol: Protocol, url: &str, model: &str) -> Profile {
        Profiles::built_in().unwrap().find(protocol, url, model)
    }

    #[test]
    fn every_row_says_where_it_comes_from_and_when_it_was_checked() {
        for row in Profiles::built_in().unwrap().rows {
            assert!(row.source.is_some() && row.checked_on.is_some(), "{row:?}");
            assert!(
                row.host.is_some(),
                "a model is known on its own host only: {row:?}"
            );
        }
    }

    #[test]
    fn a_server_that_nobody_knows_is_asked_for_nothing_special() {
        for (protocol, url, model) in [
            (Protocol::OpenAi, "http://127.0.0.1:8080/v1", "gpt-6-sol"),
            (
                Protocol::OpenAi,
                "https://api.openai.com.evil.example/v1",
                "gpt-6-sol",
            ),
            (Protocol::OpenAi, "not a url", "gpt-6-sol"),
            (
                Protocol::Anthropic,
                "http://localhost:1234",
                "claude-opus-5",
            ),
            (Protocol::Anthropic, OPENAI, "claude-opus-5"),
        ] {
            let profile = built_in(protocol, url, model);
            assert_eq!(profile, Profile::conservative(protocol), "{url}");
        }
    }

    #[test]
    fn the_longest_name_decides() {
        let forced = |model| built_in(Protocol::Anthropic, ANTHROPIC, model).forced_tool_choice;
        for (model, expected) in [
            ("claude-opus-4-8", true),
            ("claude-opus-5", true),
            ("claude-opus-5-5", false),
            ("claude-opus-5-5-20261001", false),
            ("claude-sonnet-5-5", false),
            ("claude-haiku-5-5", true),
            ("claude-fable-5", true),
            ("claude-fable-5-1", false),
            ("claude-mythos-5-2", false),
            ("claude-next", false),
        ] {
            assert_eq!(forced(model), expected, "{model}");
        }
    }

    #[test]
    fn the_cache_key_goes_to_the_verified_host_only() {
        let key = |url| built_in(Protocol::OpenAi, url, "gpt-5").prompt_cache_key;
        assert!(key(OPENAI));
        assert!(!key("https://openrouter.ai/api/v1"));
    }

    #[test]
    fn rows_of_the_user_have_the_last_word() {
        let text = r#"
            [[profile]]
            protocol = "openai"
            host = "127.0.0.1:8080"
            forced_tool_choice = true
            [[profile]]
            protocol = "anthropic"
            model = "claude-opus-5-5"
            forced_tool_choice = true
            thinking_off = ""
            max_output_tokens = 1000
        "#;
        let table: Table = toml::from_str(text).unwrap();
        let profiles = Profiles::built_in().unwrap().with_overrides(table.profile);
        let local = profiles.find(Protocol::OpenAi, "http://127.0.0.1:8080/v1", "m");
        let expected = Profile {
            forced_tool_choice: true,
            ..Profile::conservative(Protocol::OpenAi)
        };
        assert_eq!(local, expected);
        let opus = profiles.find(Protocol::Anthropic, ANTHROPIC, "claude-opus-5-5");
        let expected = Profile {
            forced_tool_choice: true,
            max_output_tokens: Some(1000),
            thinking_off: None,
            ..built_in(Protocol::Anthropic, ANTHROPIC, "claude-opus-5-5")
        };
        assert_eq!(opus, expected);
    }

    #[test]
    fn a_row_with_an_unknown_key_is_refused() {
        let text = "[[profile]]\nprotocol = \"openai\"\nforced_tools = true";
        assert!(toml::from_str::<Table>(text).is_err());
    }
}
