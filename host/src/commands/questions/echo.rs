//! Hides what is typed into the terminal, while a secret is.

/// Nothing that is typed is shown while this is there.
pub(super) struct Hidden {
    #[cfg(unix)]
    before: rustix::termios::Termios,
}

#[cfg(unix)]
impl Hidden {
    /// Hides what is typed from now on; `None` where the terminal cannot.
    pub(super) fn start() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let input = std::io::stdin();
        let before = tcgetattr(&input).ok()?;
        let mut hidden = before.clone();
        hidden
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL);
        tcsetattr(&input, OptionalActions::Now, &hidden).ok()?;
        Some(Self { before })
    }
}

#[cfg(not(unix))]
impl Hidden {
    /// Terminals of this system are not hidden yet.
    pub(super) fn start() -> Option<Self> {
        None
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};

        // A terminal that is gone shows nothing either.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}
