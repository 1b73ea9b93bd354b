//! What a person can do about an error, on one line each.

use openprogram_core::Json;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::grant::shell_word;
use openprogram_core::id::{SessionId, SessionIdError};
use openprogram_core::session::StoreError;
use openprogram_providers::OpenError;

use crate::app::AppError;
use crate::install::InstallError;
use crate::settings::SettingsError;
use crate::source::BuildError;
use crate::text::one_line;

use super::refused::TO_ALLOW;

fn shown_in(session: &SessionId) -> String {
    format!("`openprogram show {session}` shows what happened before")
}

/// What a person can do when nobody knows better.
pub(super) const DOCTOR: &str = "`openprogram doctor` checks this machine and the project";
const ANSWERED_BEFORE: &str = "`openprogram grants` lists what you answered for good, and \
                               `openprogram revoke NAME --answers` forgets it";
const ON_TERMINAL: &str = "run it on a terminal, where you are asked";
pub(super) const SESSIONS: &str = "`openprogram sessions` lists the sessions";

/// What a person can do about an error that is no failure of a run, where its sentence does not say.
pub(super) fn hint_of_kind(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    let is_failed_build = matches!(cause.downcast_ref(), Some(BuildError::Failed { .. }));
    let is_no_session = matches!(cause.downcast_ref(), Some(StoreError::NoSession(_)));
    let install = cause.downcast_ref::<InstallError>();
    let is_unreachable = install.is_some_and(InstallError::is_unreachable);
    let is_unknown_provider = matches!(
        cause.downcast_ref(),
        Some(AppError::Model(OpenError::UnknownProvider { .. }))
    );
    let hint = if is_unknown_provider {
        "`[providers.NAME]` in openprogram.toml adds a server as `NAME:MODEL`"
    } else if is_unreachable {
        "check the address, and whether this machine reaches it"
    } else if cause.is::<SettingsError>() {
        DOCTOR
    } else if cause.is::<SessionIdError>() || is_no_session {
        SESSIONS
    } else if is_failed_build {
        "its words above say why; `openprogram doctor` checks the toolchain"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// What a person can do about a model that was asked in vain; `None` when only the record can tell.
fn hint_of_model(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "transport" => {
            "check that the server runs; `openprogram providers` says where it is looked for"
        }
        "auth" | "authz" => {
            "check the key and what it allows; `openprogram providers` says which variable holds it"
        }
        "rate_limit" => "wait for a while, or choose another model with `--model`",
        "context" => "give the model less to read, or choose a larger one with `--model`",
        _ => return None,
    })
}

pub(super) fn detail<'a>(failure: &'a Failure, key: &str) -> Option<&'a str> {
    failure.details.get(key).and_then(Json::as_str)
}

/// Whether these are the words of a refusal that this command allows.
pub(super) fn is_of(words: &str, command: &str) -> bool {
    words
        .strip_suffix(command)
        .is_some_and(|words| words.ends_with(TO_ALLOW))
}

/// A name with a value, ready for a shell.
fn given(name: &str) -> String {
    shell_word(&format!("{}=VALUE", one_line(name, 200)))
}

/// What a person can do about a failure.
pub(super) fn hint(failure: &Failure, session: Option<&SessionId>) -> Option<String> {
    let detail = |key: &str| detail(failure, key);
    match failure.code {
        FailureCode::Denied => None,
        FailureCode::NobodyThere => Some(ON_TERMINAL.to_owned()),
        FailureCode::ApprovalDenied if detail("reason") == Some("nobody-there") => {
            Some(ON_TERMINAL.to_owned())
        }
        FailureCode::ApprovalDenied if failure.message.contains("answered `never`") => {
            Some(ANSWERED_BEFORE.to_owned())
        }
        // Most sentences of this kind name the ways already.
        FailureCode::NoProvider if failure.message.contains("--model") => None,
        // There is a model, and behind the semicolon stands what to do about what it cannot.
        FailureCode::NoProvider if detail("model").is_some() && failure.message.contains("; ") => {
            None
        }
        FailureCode::NoProvider => Some(
            "choose a model with `--model provider:model`, or with `model = \"provider:model\"` \
             in openprogram.toml"
                .to_owned(),
        ),
        FailureCode::NoRuntime => {
            Some("give a function on the call chain a parameter `runtime: &Runtime`".to_owned())
        }
        FailureCode::InvalidArgument if detail("function").is_some() => {
            let path = detail("path").filter(|path| !path.is_empty())?;
            if failure.message.contains("the context has no value") {
                Some(format!("give it with `--context {}`", given(path)))
            } else if failure.message.ends_with("a required value is missing") {
                let argument = path.split(['.', '[']).next().unwrap_or(path);
                Some(format!("give it with `--arg {}`", given(argument)))
            } else {
                None
            }
        }
        FailureCode::NotFound if detail("session").is_some() => Some(SESSIONS.to_owned()),
        FailureCode::NotFound => {
            Some("`openprogram functions` lists the functions of the project".to_owned())
        }
        FailureCode::Llm if failure.details.get("http_status") == Some(&404.into()) => {
            let model = one_line(detail("model").unwrap_or_default(), 200);
            Some(format!(
                "check the name of the model, `{model}`: its server has none of this name, or nothing at \
                 this address; `openprogram providers` tells the address, and most servers list their \
                 models there at `/models`"
            ))
        }
        FailureCode::Llm => match detail("reason").and_then(hint_of_model) {
            Some(hint) => Some(hint.to_owned()),
            None => session.map(shown_in),
        },
        FailureCode::InvalidArgument => None,
        // The record has what led to it.
        _ => session.map(shown_in),
    }
}
