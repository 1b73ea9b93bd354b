//! What can be told of a provider before it is asked anything: its address and the name of its model.

use openprogram_core::text::{is_clean_line, one_line};
use reqwest::Url;

/// The longest name of a model. Names of hubs, with an owner and a file, have some 150 characters.
const MODEL_CHARS_MAX: usize = 256;
/// How much of a wrong name an error shows.
const SHOWN_CHARS_MAX: usize = 64;
/// Servers whose names are plain: letters, digits and signs of ASCII. Others name models as they
/// like, by the paths of files too.
const PLAIN_NAMES: [&str; 2] = ["api.openai.com", "api.anthropic.com"];

/// Why a provider cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The base URL cannot be used.
    #[error("the base URL of `{name}` {why}; it looks like `https://HOST/PATH`")]
    BaseUrl {
        /// The name of the provider.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// No server can have a model of this name.
    #[error("no server has a model named `{model}`: the name {why}")]
    Model {
        /// The name of the model as an error shows it: cut, and without what acts on a terminal.
        model: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The key holds characters that no header takes.
    #[error("the key of `{name}` holds characters that cannot be sent; copy it again")]
    Key {
        /// The name of the provider.
        name: String,
    },
}

/// The address below a base URL. The base is not repeated in errors: people put keys into URLs.
pub(crate) fn address(name: &str, base_url: &str, path: &str) -> Result<Url, SetupError> {
    let error = |why| SetupError::BaseUrl {
        name: name.to_owned(),
        why,
    };
    let base = base_url.trim().trim_end_matches('/');
    let url = Url::parse(&format!("{base}{path}")).map_err(|_| error("is not a URL"))?;
    let plain = Url::parse(base).map_err(|_| error("is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(error("is not an `http` or `https` URL"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(error(
            "holds a user name or password, which belong into the key",
        ));
    }
    if plain.query().is_some() || plain.fragment().is_some() {
        return Err(error("has a `?` or `#` part"));
    }
    Ok(url)
}

/// Checks that the server at this address may have a model of this name. Whether it has it, its first
/// reply tells.
///
/// # Errors
/// [`SetupError::Model`].
pub(crate) fn check_model(url: &Url, model: &str) -> Result<(), SetupError> {
    let is_plain = |model: &str| model.bytes().all(|byte| byte.is_ascii_graphic());
    let has_plain_names = url
        .host_str()
        .is_some_and(|host| PLAIN_NAMES.contains(&host));
    let why = if model.trim().is_empty() {
        "is empty"
    } else if model.chars().nth(MODEL_CHARS_MAX).is_some() {
        "is longer than 256 characters"
    } else if model.trim() != model {
        "begins or ends with white space"
    } else if !is_clean_line(model) {
        "holds a character that is not seen"
    } else if has_plain_names && !is_plain(model) {
        "holds a blank or another character that no name of this server has"
    } else {
        return Ok(());
    };
    Err(SetupError::Model {
        model: one_line(model, SHOWN_CHARS_MAX),
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_built_below_the_base_url() {
        let at = |base| address("n", base, "/chat/completions").map(String::from);
        for (base, expected) in [
            (
                "https://a.example/v1",
                "https://a.example/v1/chat/completions",
            ),
            (" http://[::1]:80/v1/ ", "http://[::1]/v1/chat/completions"),
        ] {
            assert_eq!(at(base), Ok(expected.to_owned()));
        }
        for base in [
            "",
            "a.example/v1",
            "file:///etc/passwd",
            "https://key@a.example/v1",
            "https://a.example/v1?key=1",
            "https://a.example/#x",
        ] {
            let message = at(base).unwrap_err().to_string();
            assert!(message.starts_with("the base URL of `n` "), "{message}");
            assert!(!message.contains("key@"), "{message}");
        }
    }

    #[track_caller]
    fn check(base_url: &str, model: &str, expected: Option<&str>) {
        let url = address("x:m", base_url, "/p").unwrap();
        let told = check_model(&url, model).map_err(|error| error.to_string());
        let told = told.err();
        let expected = expected.map(|why| {
            let shown = one_line(model, SHOWN_CHARS_MAX);
            format!("no server has a model named `{shown}`: the name {why}")
        });
        assert_eq!(told, expected, "{model:?}");
    }

    #[test]
    fn a_name_that_no_model_can_have_is_refused_without_asking() {
        let home = "http://127.0.0.1:8080/v1";
        let vendors = ["https://api.openai.com/v1", "https://api.anthropic.com"];
        for base_url in vendors.into_iter().chain([home]) {
            for (model, why) in [
                ("", "is empty"),
                (" \t", "is empty"),
                ("gpt-4o ", "begins or ends with white space"),
                ("gpt\n4o", "holds a character that is not seen"),
                ("gpt\u{1b}[2J4o", "holds a character that is not seen"),
                ("gpt\u{200b}4o", "holds a character that is not seen"),
                (&"m".repeat(257), "is longer than 256 characters"),
            ] {
                check(base_url, model, Some(why));
            }
            for model in [
                "gpt-4o",
                "ft:gpt-4o-2024:org::id",
                "owner/model@v1+x",
                &"m".repeat(256),
            ] {
                check(base_url, model, None);
            }
        }
        let why = "holds a blank or another character that no name of this server has";
        for model in ["gpt 4o", "clаude-3"] {
            for base_url in vendors {
                check(base_url, model, Some(why));
            }
            check(home, model, None);
        }
    }
}
