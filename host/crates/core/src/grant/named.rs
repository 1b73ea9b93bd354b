//! Grants that are a name, or a name with a little more: variables, secrets, models, functions.

use std::fmt;
use std::str::FromStr;

use super::{GrantTextError, HttpGrant, HttpTarget};

/// Tokens that one run may spend with a granted model whose grant names no number.
pub const MODEL_TOKENS_DEFAULT: u64 = 100_000;

/// One variable of the environment, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableGrant {
    /// Its name.
    pub name: String,
}

impl FromStr for VariableGrant {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        if !is_variable(text) {
            let message = format!("`{text}` is not the name of a variable of the environment");
            return Err(GrantTextError(message));
        }
        Ok(Self {
            name: text.to_owned(),
        })
    }
}

impl fmt::Display for VariableGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn is_variable(name: &str) -> bool {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_well = !name.starts_with(|c: char| c.is_ascii_digit());
    !name.is_empty() && starts_well && name.chars().all(is_name_char)
}

/// A function of another component, by any unambiguous tail of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallGrant {
    /// The name.
    pub function: String,
}

impl FromStr for CallGrant {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        if text.is_empty() || text.contains(char::is_whitespace) {
            return Err(GrantTextError(format!("`{text}` is not a function")));
        }
        Ok(Self {
            function: text.to_owned(),
        })
    }
}

impl fmt::Display for CallGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)
    }
}

/// A model that may be opened, with the tokens that one run may spend with it: `PROVIDER:MODEL` or
/// `PROVIDER:MODEL=TOKENS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelGrant {
    /// The model, `provider:model`.
    pub model: String,
    /// The tokens of one run, input and output together.
    pub max_tokens: u64,
}

impl FromStr for ModelGrant {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        let (model, tokens) = match text.rsplit_once('=') {
            Some((model, tokens)) => (model, Some(tokens)),
            None => (text, None),
        };
        if model
            .split_once(':')
            .is_none_or(|(a, b)| a.is_empty() || b.is_empty())
            || model.contains(char::is_whitespace)
        {
            let message = format!(
                "`{text}` is not a model; write `PROVIDER:MODEL`, and `=TOKENS` behind it for \
                 another budget than {MODEL_TOKENS_DEFAULT}"
            );
            return Err(GrantTextError(message));
        }
        let parsed = tokens.map_or(Ok(MODEL_TOKENS_DEFAULT), str::parse::<u64>);
        let max_tokens = parsed.map_err(|_| {
            let tokens = tokens.unwrap_or_default();
            GrantTextError(format!("`{tokens}` in `{text}` is not a number of tokens"))
        })?;
        Ok(Self {
            model: model.to_owned(),
            max_tokens,
        })
    }
}

impl fmt::Display for ModelGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.model, self.max_tokens)
    }
}

/// A secret that the host adds to requests below a URL, as a header: `VARIABLE=URL`, and behind it
/// ` HEADER` or ` HEADER: PREFIX` for another one than `authorization: Bearer`.
///
/// The variable is read by the host and its value is never seen by the guest. It is no grant of the
/// network by itself: the request needs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretGrant {
    /// The variable of the host's environment that holds it.
    pub variable: String,
    /// Where it may go. The methods do not count.
    pub target: HttpGrant,
    /// The name of the header, lower case.
    pub header: String,
    /// What stands before the secret in the value, with its space; may be empty.
    pub prefix: String,
}

impl SecretGrant {
    /// Whether a request to this target carries it.
    #[must_use]
    pub fn covers(&self, target: &HttpTarget) -> bool {
        self.target.covers_place(target)
    }
}

/// Headers that say where a request goes and where it ends; they are the host's.
const FRAMING: [&str; 5] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
];
const AUTHORIZATION: &str = "authorization";
const BEARER: &str = "Bearer ";

impl FromStr for SecretGrant {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        let Some((variable, rest)) = text.split_once('=') else {
            let message = format!(
                "`{text}` is not a secret; write `VARIABLE=URL`, and ` HEADER` or ` HEADER: PREFIX` \
                 behind it for another header than `authorization: Bearer`"
            );
            return Err(GrantTextError(message));
        };
        if !is_variable(variable) {
            // It is not shown: someone may have written the secret itself there.
            return Err(GrantTextError::new(
                "what stands before `=` in a secret is not the name of a variable of the environment",
            ));
        }
        let (url, header) = rest.split_once(' ').unwrap_or((rest, ""));
        let target: HttpGrant = url.parse()?;
        let (header, prefix) = match header.trim() {
            "" => (AUTHORIZATION.to_owned(), BEARER.to_owned()),
            header => {
                let (name, prefix) = header.split_once(':').unwrap_or((header, ""));
                let prefix = prefix.trim();
                let space = if prefix.is_empty() { "" } else { " " };
                (name.to_ascii_lowercase(), format!("{prefix}{space}"))
            }
        };
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let is_framing = FRAMING.contains(&header.as_str());
        if header.is_empty() || !header.chars().all(is_token) || !prefix.is_ascii() || is_framing {
            return Err(GrantTextError(format!(
                "`{header}` in `{text}` is not a header for a secret"
            )));
        }
        Ok(Self {
            variable: variable.to_owned(),
            target,
            header,
            prefix,
        })
    }
}

impl fmt::Display for SecretGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.variable, self.target)?;
        match (self.header.as_str(), self.prefix.as_str()) {
            (AUTHORIZATION, BEARER) => Ok(()),
            (header, "") => write!(f, " {header}"),
            (header, prefix) => write!(f, " {header}: {}", prefix.trim_end()),
        }
    }
}
