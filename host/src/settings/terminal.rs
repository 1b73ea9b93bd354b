//! What the environment says about terminals: colours, and whether the cursor can be moved.
//!
//! Whether there is a terminal at all is asked where something is written.

use super::Variables;

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMode {
    /// Never.
    Never,
    /// On a terminal.
    OnTerminal,
    /// In files and pipes too.
    Always,
}

/// How a terminal may be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSettings {
    /// When colours are used.
    pub colours: ColourMode,
    /// The variable that decided about colours; `None` when none did.
    pub decided_by: Option<&'static str>,
    /// Whether a line on a terminal may be written over.
    pub can_overwrite: bool,
}

impl TerminalSettings {
    /// Reads `NO_COLOR`, `CLICOLOR_FORCE`, `TERM` and `CLICOLOR`; the first that says something wins.
    #[must_use]
    pub fn of_variables(variables: Variables) -> Self {
        let set = |name: &str| variables(name).filter(|value| !value.is_empty());
        let is_dumb = set("TERM").is_some_and(|term| term == "dumb");
        let (colours, decided_by) = if set("NO_COLOR").is_some() {
            (ColourMode::Never, Some("NO_COLOR"))
        } else if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
            (ColourMode::Always, Some("CLICOLOR_FORCE"))
        } else if is_dumb {
            (ColourMode::Never, Some("TERM"))
        } else if set("CLICOLOR").is_some_and(|value| value == "0") {
            (ColourMode::Never, Some("CLICOLOR"))
        } else {
            (ColourMode::OnTerminal, None)
        };
        Self {
            colours,
            decided_by,
            can_overwrite: !is_dumb,
        }
    }

    /// Whether an output is coloured.
    #[must_use]
    pub fn colours_on(&self, is_terminal: bool) -> bool {
        match self.colours {
            ColourMode::Never => false,
            ColourMode::OnTerminal => is_terminal,
            ColourMode::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_off_where_people_expect_it() {
        use ColourMode::{Always, Never, OnTerminal};
        for (variables, colours, decided_by) in [
            (&[][..], OnTerminal, None),
            (&[("TERM", "xterm-256color")][..], OnTerminal, None),
            (&[("TERM", "dumb")][..], Never, Some("TERM")),
            (&[("NO_COLOR", "1")][..], Never, Some("NO_COLOR")),
            (&[("NO_COLOR", "")][..], OnTerminal, None),
            (&[("CLICOLOR", "0")][..], Never, Some("CLICOLOR")),
            (&[("CLICOLOR", "1")][..], OnTerminal, None),
            (
                &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")][..],
                Always,
                Some("CLICOLOR_FORCE"),
            ),
            (&[("CLICOLOR_FORCE", "0")][..], OnTerminal, None),
            (
                &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")][..],
                Never,
                Some("NO_COLOR"),
            ),
        ] {
            let found = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            };
            let settings = TerminalSettings::of_variables(&found);
            let told = (settings.colours, settings.decided_by);
            assert_eq!(told, (colours, decided_by), "{variables:?}");
        }
    }

    #[test]
    fn a_pipe_is_coloured_only_when_that_is_asked_for() {
        let settings = |colours| TerminalSettings {
            colours,
            decided_by: None,
            can_overwrite: true,
        };
        for (colours, on_terminal, in_pipe) in [
            (ColourMode::Never, false, false),
            (ColourMode::OnTerminal, true, false),
            (ColourMode::Always, true, true),
        ] {
            let settings = settings(colours);
            let told = (settings.colours_on(true), settings.colours_on(false));
            assert_eq!(told, (on_terminal, in_pipe), "{colours:?}");
        }
    }
}
