//! Where values come from, and what is wrong with variables whose values cannot be used.

use std::time::Duration;

use openprogram_core::llm::{RetryPolicy, attempts_of, backoff_of, timeout_of};

use openprogram_runtime::QUESTION_TIMEOUT_DEFAULT;

use super::Variables;

/// The most tries of one request.
pub(super) const MAX_RETRIES: &str = "OPENPROGRAM_MAX_RETRIES";
/// The sleep before the second try, in seconds.
pub(super) const BACKOFF_BASE: &str = "OPENPROGRAM_RETRY_BACKOFF_BASE";
/// The time for one turn or decision, in seconds.
pub(super) const EXEC_TIMEOUT: &str = "OPENPROGRAM_EXEC_TIMEOUT_S";
/// The time for the answer to a question, in seconds.
pub(super) const ASK_TIMEOUT: &str = "OPENPROGRAM_ASK_TIMEOUT_S";
/// How much of a value that cannot be used is shown.
const SHOWN_CHARS_MAX: usize = 40;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// The project file.
    ProjectFile,
    /// This variable of the environment.
    Variable(String),
}

/// A number about asking models that a variable may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberVariable {
    /// The variable.
    pub name: &'static str,
    /// Whether its value is the one that holds.
    pub is_used: bool,
    /// What is wrong with its value and what holds in its place.
    pub warning: Option<String>,
}

/// How often, how patiently and for how long models are asked, and what decided that.
pub(super) fn numbers(
    variables: Variables,
) -> (RetryPolicy, Option<Duration>, [NumberVariable; 3]) {
    let (retries, tries) = NumberVariable::read(MAX_RETRIES, variables, |text| {
        let default = RetryPolicy::default().attempts_max;
        if attempts_of(text).is_none() {
            let wrong = format!("not a whole number; the default of {default} tries holds");
            return (false, Some(wrong));
        }
        let is_none = text.trim().parse().is_ok_and(|number: i64| number < 1);
        let wrong = "less than one try; one try is made";
        (true, is_none.then(|| wrong.to_owned()))
    });
    let (backoff, base) = NumberVariable::read(BACKOFF_BASE, variables, |text| {
        let default = RetryPolicy::default().backoff_base.as_secs_f64();
        let is_used = backoff_of(text).is_some();
        let wrong = "not a number of seconds from 0; the default of";
        (
            is_used,
            (!is_used).then(|| format!("{wrong} {default} seconds holds")),
        )
    });
    let (timeout, time) = NumberVariable::read(EXEC_TIMEOUT, variables, |text| {
        // Zero is how people write that there is no limit.
        let is_zero = text.trim().parse().is_ok_and(|number: f64| number == 0.0);
        let is_used = is_zero || timeout_of(None, Some(text)).is_some();
        let wrong = "not a number of seconds above 0; the time has no limit";
        (is_used, (!is_used).then(|| wrong.to_owned()))
    });
    (
        RetryPolicy::from_settings(None, tries.as_deref(), base.as_deref()),
        timeout_of(None, time.as_deref()),
        [retries, backoff, timeout],
    )
}

/// How long a question waits for its answer (`None` for no end), and what decided that.
pub(super) fn ask_timeout(variables: Variables) -> (Option<Duration>, NumberVariable) {
    let seconds = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.and_then(|number| Duration::try_from_secs_f64(number).ok())
    };
    let (variable, text) = NumberVariable::read(ASK_TIMEOUT, variables, |text| {
        let is_used = seconds(text).is_some();
        let default = QUESTION_TIMEOUT_DEFAULT.as_secs();
        let wrong =
            format!("not a number of seconds from 0; the default of {default} seconds holds");
        (is_used, (!is_used).then_some(wrong))
    });
    let time = match text.as_deref().map(seconds) {
        // Zero is how people write that there is no limit.
        Some(Some(Duration::ZERO)) => None,
        Some(Some(time)) => Some(time),
        Some(None) | None => Some(QUESTION_TIMEOUT_DEFAULT),
    };
    (time, variable)
}

impl NumberVariable {
    /// Reads a variable; `check` says whether its text is used and what is wrong with it. What is
    /// empty counts as absent.
    fn read(
        name: &'static str,
        variables: Variables,
        check: impl Fn(&str) -> (bool, Option<String>),
    ) -> (Self, Option<String>) {
        let value = variables(name).unwrap_or_default();
        let text = value.to_string_lossy().into_owned();
        if text.trim().is_empty() {
            let unset = Self {
                name,
                is_used: false,
                warning: None,
            };
            return (unset, None);
        }
        let (is_used, wrong) = check(&text);
        let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        let warning = |wrong| format!("`{name}` is `{}`, {wrong}", shown.escape_debug());
        let variable = Self {
            name,
            is_used,
            warning: wrong.map(warning),
        };
        (variable, Some(text))
    }

    /// Where the value that holds comes from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        if self.is_used {
            Origin::Variable(self.name.to_owned())
        } else {
            Origin::Default
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(name: &str, value: &str, expected: Expect) {
        let found = |asked: &str| (asked == name).then(|| value.into());
        let (policy, timeout, variables) = numbers(&found);
        let variable = variables.iter().find(|known| known.name == name).unwrap();
        expected.assert_eq(&format!(
            "{} tries, {:?}, {timeout:?}; {:?}; {}",
            policy.attempts_max,
            policy.backoff_base,
            variable.origin(),
            variable.warning.as_deref().unwrap_or("no warning")
        ));
    }

    #[test]
    fn a_number_that_can_be_used_is_used_without_a_word() {
        check(
            MAX_RETRIES,
            " 2 ",
            expect![[r#"2 tries, 1.5s, None; Variable("OPENPROGRAM_MAX_RETRIES"); no warning"#]],
        );
        check(
            BACKOFF_BASE,
            "0",
            expect![[
                r#"6 tries, 0ns, None; Variable("OPENPROGRAM_RETRY_BACKOFF_BASE"); no warning"#
            ]],
        );
        check(
            EXEC_TIMEOUT,
            "2.5",
            expect![[
                r#"6 tries, 1.5s, Some(2.5s); Variable("OPENPROGRAM_EXEC_TIMEOUT_S"); no warning"#
            ]],
        );
        check(
            EXEC_TIMEOUT,
            "0",
            expect![[r#"6 tries, 1.5s, None; Variable("OPENPROGRAM_EXEC_TIMEOUT_S"); no warning"#]],
        );
        check(
            MAX_RETRIES,
            " ",
            expect!["6 tries, 1.5s, None; Default; no warning"],
        );
    }

    #[test]
    fn a_question_waits_as_long_as_the_variable_says() {
        let check = |value: &'static str| {
            let found = move |asked: &str| (asked == ASK_TIMEOUT).then(|| value.into());
            let (time, variable) = ask_timeout(&found);
            (time.map(|time| time.as_secs_f64()), variable.warning)
        };
        for (value, time) in [("2.5", Some(2.5)), ("0", None), ("", Some(300.0))] {
            assert_eq!(check(value), (time, None), "{value}");
        }
        for value in ["soon", "-1", "NaN", "1e300"] {
            let warning = format!(
                "`OPENPROGRAM_ASK_TIMEOUT_S` is `{value}`, not a number of seconds from 0; the \
                 default of 300 seconds holds"
            );
            assert_eq!(check(value), (Some(300.0), Some(warning)));
        }
    }

    #[test]
    fn a_number_that_cannot_be_used_is_named_with_what_holds() {
        check(
            MAX_RETRIES,
            "3.5",
            expect![
                "6 tries, 1.5s, None; Default; `OPENPROGRAM_MAX_RETRIES` is `3.5`, not a whole number; the default of 6 tries holds"
            ],
        );
        check(
            MAX_RETRIES,
            "-4",
            expect![
                "1 tries, 1.5s, None; Variable(\"OPENPROGRAM_MAX_RETRIES\"); `OPENPROGRAM_MAX_RETRIES` is `-4`, less than one try; one try is made"
            ],
        );
        check(
            BACKOFF_BASE,
            "fa\u{1b}st",
            expect![[
                r"6 tries, 1.5s, None; Default; `OPENPROGRAM_RETRY_BACKOFF_BASE` is `fa\u{1b}st`, not a number of seconds from 0; the default of 1.5 seconds holds"
            ]],
        );
        check(
            EXEC_TIMEOUT,
            "-1",
            expect![
                "6 tries, 1.5s, None; Default; `OPENPROGRAM_EXEC_TIMEOUT_S` is `-1`, not a number of seconds above 0; the time has no limit"
            ],
        );
    }
}
