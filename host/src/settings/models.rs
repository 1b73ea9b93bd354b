//! The models of the settings: their names, the servers behind them with their keys, and how often
//! and how long they are asked.
//!
//! Keys are taken from the variables that their owners set for other programs too, and are held as
//! [`Secret`], which nothing prints. No key stands in a project file.

use std::collections::BTreeMap;
use std::time::Duration;

use openprogram_core::content::ThinkingLevel;
use openprogram_core::llm::RetryPolicy;
use openprogram_providers::{
    ANTHROPIC_BASE_URL, OPENAI_BASE_URL, ProfileError, ProfileRow, Profiles, Protocol, Secret,
};
use openprogram_runtime::RuntimeSettings;

use super::origin::{NumberVariable, Origin, ask_timeout, numbers};
use super::{ProviderEntry, Variables, check_component_name};

/// Most providers in one project file; more are not written by hand.
const PROVIDERS_MAX: usize = 100;
/// Most profile rows in one project file; each is looked at when a model is opened.
const PROFILES_MAX: usize = 1_000;
/// Names of providers that are something else.
const RESERVED: [&str; 4] = ["anthropic", "component", "openai", "script"];

/// A key and what is wrong with its value.
type Wrong = (String, String);

/// The models behind the three runtimes, each `provider:model`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelNames {
    /// Behind `runtime`.
    pub main: Option<String>,
    /// Behind `exec_runtime`; the main one when absent.
    pub exec: Option<String>,
    /// Behind `review_runtime`; the main one when absent.
    pub review: Option<String>,
}

/// How much the models behind the three runtimes think, as far as it was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkingSettings {
    /// Behind `runtime`; `off` when absent.
    pub main: Option<ThinkingLevel>,
    /// Behind `exec_runtime`.
    pub exec: Option<ThinkingLevel>,
    /// Behind `review_runtime`.
    pub review: Option<ThinkingLevel>,
}

impl ThinkingSettings {
    /// What holds for a run. What was typed holds for all runtimes. A runtime without a level has
    /// that of the main one where it has its model too, since another model may not have the level.
    #[must_use]
    pub fn of_run(
        &self,
        typed: Option<ThinkingLevel>,
        has_exec: bool,
        has_review: bool,
    ) -> RuntimeSettings {
        if let Some(level) = typed {
            return RuntimeSettings::default().with_thinking(level);
        }
        let main = self.main.unwrap_or_default();
        let level = |own: Option<ThinkingLevel>, has_model: bool| {
            own.unwrap_or(if has_model { ThinkingLevel::Off } else { main })
        };
        RuntimeSettings {
            system: None,
            thinking: main,
            exec_thinking: level(self.exec, has_exec),
            review_thinking: level(self.review, has_review),
        }
    }

    /// Reads the levels of a project file.
    pub(super) fn read(
        main: Option<&str>,
        exec: Option<&str>,
        review: Option<&str>,
    ) -> Result<Self, Wrong> {
        let level = |key: &str, word: Option<&str>| {
            let read = word.map(str::parse::<ThinkingLevel>).transpose();
            read.map_err(|_| {
                let levels = ThinkingLevel::ALL.map(|level| format!("`{level}`"));
                let message = format!("it is no level; there are {}", levels.join(", "));
                (key.to_owned(), message)
            })
        };
        Ok(Self {
            main: level("thinking_level", main)?,
            exec: level("runtimes.exec_thinking_level", exec)?,
            review: level("runtimes.review_thinking_level", review)?,
        })
    }
}

/// One server of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The part of a model's name before the colon.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// The URL above the paths of the protocol.
    pub base_url: String,
    /// What says where it is.
    pub origin: Origin,
    /// The variable that holds its key; `None` for a server that needs none.
    pub key_variable: Option<String>,
    /// Its key, where the variable is set.
    pub key: Option<Secret>,
    /// Whether it is of no use without a key.
    pub needs_key: bool,
}

impl ProviderSettings {
    /// The base URL as it may be shown; `None` when it is no `http` or `https` URL. What could be a
    /// key in it is replaced by stars.
    #[must_use]
    pub fn shown_base_url(&self) -> Option<String> {
        shown_url(&self.base_url)
    }

    /// Whether it can be asked: it has its key or needs none.
    #[must_use]
    pub fn has_what_it_needs(&self) -> bool {
        self.key.is_some() || !self.needs_key
    }
}

/// Everything about models that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSettings {
    /// The models of the project.
    pub names: ModelNames,
    /// How much they think.
    pub thinking: ThinkingSettings,
    /// The servers.
    pub providers: Vec<ProviderSettings>,
    /// What servers and models take, over what the program knows of them.
    pub profiles: Vec<ProfileRow>,
    /// How often and how patiently a failed request is tried again.
    pub retry: RetryPolicy,
    /// The time for one turn or decision that names none.
    pub exec_timeout: Option<Duration>,
    /// The time for the answer of a person; `None` for no end.
    pub ask_timeout: Option<Duration>,
    /// The variables behind the tries, the sleeps between them, and the two times.
    pub numbers: [NumberVariable; 4],
}

impl ModelSettings {
    /// What is known of servers and models: what comes with the program, and over it what was set.
    ///
    /// # Errors
    /// Never in a released program; see [`Profiles::built_in`].
    pub fn known_profiles(&self) -> Result<Profiles, ProfileError> {
        Ok(Profiles::built_in()?.with_overrides(self.profiles.iter().cloned()))
    }

    /// What holds without a project file.
    #[must_use]
    pub fn of_variables(variables: Variables) -> Self {
        let text = |name: &str| text(variables, name);
        let known = |name: &str, protocol, default_url: &str, variable: &str| {
            let url_variable = format!("{variable}_BASE_URL");
            let base_url = text(&url_variable);
            let key_variable = format!("{variable}_API_KEY");
            ProviderSettings {
                name: name.to_owned(),
                protocol,
                // A server of one's own may need no key; what is there is sent to it.
                needs_key: base_url
                    .as_ref()
                    .is_none_or(|url| host(url) == host(default_url)),
                origin: match base_url {
                    Some(_) => Origin::Variable(url_variable),
                    None => Origin::Default,
                },
                base_url: base_url.unwrap_or_else(|| default_url.to_owned()),
                key: text(&key_variable).map(Secret::new),
                key_variable: Some(key_variable),
            }
        };
        let (retry, exec_timeout, [retries, backoff, timeout]) = numbers(variables);
        let (ask_timeout, asking) = ask_timeout(variables);
        Self {
            names: ModelNames::default(),
            thinking: ThinkingSettings::default(),
            providers: vec![
                known(
                    "anthropic",
                    Protocol::Anthropic,
                    ANTHROPIC_BASE_URL,
                    "ANTHROPIC",
                ),
                known("openai", Protocol::OpenAi, OPENAI_BASE_URL, "OPENAI"),
            ],
            profiles: Vec::new(),
            retry,
            exec_timeout,
            ask_timeout,
            numbers: [retries, backoff, timeout, asking],
        }
    }

    /// Adds what the project file says.
    pub(super) fn apply(
        &mut self,
        names: ModelNames,
        providers: BTreeMap<String, ProviderEntry>,
        profiles: Vec<ProfileRow>,
        variables: Variables,
    ) -> Result<(), Wrong> {
        for (key, name) in [
            ("model", &names.main),
            ("runtimes.exec", &names.exec),
            ("runtimes.review", &names.review),
        ] {
            let checked = name.as_deref().map_or(Ok(()), check_model_name);
            checked.map_err(|message| (key.to_owned(), message))?;
        }
        self.names = names;
        for (key, count, most) in [
            ("providers", providers.len(), PROVIDERS_MAX),
            ("profiles", profiles.len(), PROFILES_MAX),
        ] {
            if count > most {
                return Err((key.to_owned(), format!("more than {most} {key}")));
            }
        }
        for (name, entry) in providers {
            let key = format!("providers.{name}");
            self.providers
                .push(provider(name, entry, variables).map_err(|m| (key, m))?);
        }
        self.profiles = profiles;
        Ok(())
    }
}

fn provider(
    name: String,
    entry: ProviderEntry,
    variables: Variables,
) -> Result<ProviderSettings, String> {
    if RESERVED.contains(&name.as_str()) {
        return Err(format!(
            "`{name}` is known already; take another name. `OPENAI_BASE_URL` and \
             `ANTHROPIC_BASE_URL` move the known ones"
        ));
    }
    check_component_name(&name).map_err(|form| form.replacen("a component", "a provider", 1))?;
    if entry.base_url.trim().is_empty() {
        return Err("`base_url` is empty; write a URL, for example \
                    `http://127.0.0.1:8080/v1`"
            .to_owned());
    }
    if let Some(variable) = &entry.key_env
        && !is_variable(variable)
    {
        return Err(
            "`key_env` is the name of a variable that holds the key, not the key: letters, \
                    digits and `_`"
                .to_owned(),
        );
    }
    Ok(ProviderSettings {
        name,
        protocol: entry.protocol,
        base_url: entry.base_url,
        origin: Origin::ProjectFile,
        needs_key: entry.key_env.is_some(),
        key: entry
            .key_env
            .as_deref()
            .and_then(|variable| text(variables, variable))
            .map(Secret::new),
        key_variable: entry.key_env,
    })
}

/// Checks the form of the name of a model; whether there is such a model is seen when it is opened.
fn check_model_name(name: &str) -> Result<(), String> {
    match name.split_once(':') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(()),
        // Not repeated: someone may have written a key there.
        _ => Err(
            "it is not the name of a model; write `provider:model`, for example \
             `anthropic:claude-sonnet-5-5` or `component:lexical-model`"
                .to_owned(),
        ),
    }
}

/// A variable that holds more than space. What is no text can be no key and no URL.
fn text(variables: Variables, name: &str) -> Option<String> {
    let value = variables(name)?.into_string().ok()?;
    (!value.trim().is_empty()).then_some(value)
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// People put keys into URLs: as a user, as a query, as a long part of the path, as a port.
fn shown_url(url: &str) -> Option<String> {
    const PART_CHARS_MAX: usize = 24;
    let (scheme, rest) = url.trim().split_once("://")?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return None;
    }
    // A password that should have been escaped may hold anything, so the last `@` ends it.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => ("***@", rest),
        None => ("", rest),
    };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (address, query) = rest.split_at(end);
    let mut parts = address.split('/');
    let authority = parts.next()?;
    if authority.is_empty() {
        return None;
    }
    // The colons of an address of the sixth version stand before its `]`.
    let port = authority.rfind(':');
    let port = port.filter(|at| !authority[*at..].contains(']'));
    let (host, port) = authority.split_at(port.unwrap_or(authority.len()));
    let is_port = port.chars().skip(1).all(|c| c.is_ascii_digit());
    let mut shown = format!("{scheme}://{user}{host}");
    shown.push_str(if is_port { port } else { ":***" });
    for part in parts {
        let is_long = part.chars().count() > PART_CHARS_MAX;
        shown.push('/');
        shown.push_str(if is_long { "***" } else { part });
    }
    if let Some(sign) = query.chars().next() {
        shown.push(sign);
        shown.push_str("***");
    }
    Some(shown)
}

/// The host of a URL, for a comparison; the provider checks the URL itself.
fn host(url: &str) -> &str {
    let rest = url.trim().split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> ModelSettings {
        let found = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        };
        ModelSettings::of_variables(&found)
    }

    #[test]
    fn a_runtime_thinks_as_it_is_told_else_as_the_main_one_where_it_has_its_model() {
        use ThinkingLevel::{High, Low, Medium, Off};
        let set = |main, exec, review| ThinkingSettings { main, exec, review };
        for (settings, typed, has, expected) in [
            (set(None, None, None), None, [false, false], [Off, Off, Off]),
            (
                set(Some(High), None, None),
                None,
                [false, true],
                [High, High, Off],
            ),
            (
                set(Some(High), Some(Low), Some(Medium)),
                None,
                [false, true],
                [High, Low, Medium],
            ),
            (
                set(Some(High), Some(Low), None),
                Some(Medium),
                [true, true],
                [Medium, Medium, Medium],
            ),
        ] {
            let held = settings.of_run(typed, has[0], has[1]);
            let levels = [held.thinking, held.exec_thinking, held.review_thinking];
            assert_eq!(levels, expected);
        }
        let read = ThinkingSettings::read(Some("low"), None, Some("xhigh"));
        let expected = set(Some(Low), None, Some(ThinkingLevel::XHigh));
        assert_eq!(read, Ok(expected));
        let (key, message) = ThinkingSettings::read(None, Some("much"), None).unwrap_err();
        assert_eq!(key, "runtimes.exec_thinking_level");
        assert_eq!(
            message,
            "it is no level; there are `off`, `low`, `medium`, `high`, `xhigh`"
        );
    }

    #[test]
    fn known_providers_take_keys_and_addresses_from_their_usual_variables() {
        for (variables, expected) in [
            (
                &[][..],
                [
                    (ANTHROPIC_BASE_URL, None, true),
                    (OPENAI_BASE_URL, None, true),
                ],
            ),
            (
                &[("OPENAI_API_KEY", " sk-1\n"), ("ANTHROPIC_API_KEY", " ")][..],
                [
                    (ANTHROPIC_BASE_URL, None, true),
                    (OPENAI_BASE_URL, Some("sk-1"), true),
                ],
            ),
            (
                &[
                    ("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"),
                    ("ANTHROPIC_BASE_URL", "https://api.anthropic.com/"),
                ][..],
                [
                    ("https://api.anthropic.com/", None, true),
                    ("http://127.0.0.1:8080/v1", None, false),
                ],
            ),
        ] {
            let providers = settings(variables).providers;
            let found: Vec<_> = providers
                .iter()
                .map(|p| (p.base_url.as_str(), p.key.clone(), p.needs_key))
                .collect();
            let expected = expected.map(|(url, key, needs)| (url, key.map(Secret::new), needs));
            assert_eq!(found, expected, "{variables:?}");
        }
    }

    #[test]
    fn a_url_is_shown_without_what_could_be_a_key() {
        for (url, shown) in [
            (
                "https://api.openai.com/v1",
                Some("https://api.openai.com/v1"),
            ),
            ("http://[::1]:8080/v1/", Some("http://[::1]:8080/v1/")),
            (
                "https://me:sk-1@h/v1?key=sk-1",
                Some("https://***@h/v1?***"),
            ),
            ("https://h/v1#sk-1", Some("https://h/v1#***")),
            (
                "https://h/sk-0123456789012345678901234567/v1",
                Some("https://h/***/v1"),
            ),
            ("https://me:a/sk-1@h/v1", Some("https://***@h/v1")),
            ("https://me:a?sk-1@h/v1", Some("https://***@h/v1")),
            ("https://h:sk-1/v1", Some("https://h:***/v1")),
            ("http://[::1]:sk-1", Some("http://[::1]:***")),
            ("http://[::1]", Some("http://[::1]")),
            ("sk-0123456789", None),
            ("ftp://h", None),
            ("https://", None),
            ("https:///sk-1", None),
        ] {
            assert_eq!(shown_url(url).as_deref(), shown, "{url}");
        }
    }

    #[test]
    fn tries_and_times_come_from_variables() {
        let set = settings(&[
            ("OPENPROGRAM_MAX_RETRIES", "2"),
            ("OPENPROGRAM_RETRY_BACKOFF_BASE", "0.5"),
            ("OPENPROGRAM_EXEC_TIMEOUT_S", "30"),
        ]);
        let policy = RetryPolicy::from_settings(None, Some("2"), Some("0.5"));
        let expected = (policy, Some(Duration::from_secs(30)));
        assert_eq!((set.retry, set.exec_timeout), expected);
        let unset = settings(&[]);
        let expected = (RetryPolicy::default(), None);
        assert_eq!((unset.retry, unset.exec_timeout), expected);
    }

    #[test]
    fn a_key_is_not_shown_with_the_settings() {
        let variables = [
            ("OPENAI_API_KEY", "sk-hidden-1"),
            ("ANTHROPIC_API_KEY", "sk-hidden-2"),
        ];
        let shown = format!("{:?}", settings(&variables));
        assert!(
            !shown.contains("hidden") && shown.contains("***"),
            "{shown}"
        );
    }
}
