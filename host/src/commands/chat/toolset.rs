//! What the model of a chat may call, by a name.

use openprogram_core::guest::ToolsWanted;

use crate::text::one_line;

/// What the model of a turn may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Toolset {
    /// Every function.
    Full,
    /// None.
    None,
}

impl Toolset {
    /// Reads a name.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        match name {
            "full" => Ok(Self::Full),
            "none" => Ok(Self::None),
            _ => Err(format!(
                "there is no toolset `{}`; there are `full` and `none`",
                one_line(name, 40)
            )),
        }
    }

    /// The name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::None => "none",
        }
    }

    /// What a turn is told of it.
    pub(super) fn tools(self) -> ToolsWanted {
        match self {
            Self::Full => ToolsWanted::Default,
            Self::None => ToolsWanted::Named(Vec::new()),
        }
    }
}
