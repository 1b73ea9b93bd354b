//! How much a model thinks before it answers.

/// How much a model thinks before it answers. What a level means is up to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThinkingLevel {
    /// Not at all, or as little as the model can.
    #[default]
    Off,
    /// A little.
    Low,
    /// As much as most tasks need.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    XHigh,
}

impl ThinkingLevel {
    /// All levels, the lowest first.
    pub const ALL: [Self; 5] = [Self::Off, Self::Low, Self::Medium, Self::High, Self::XHigh];

    /// The word in settings and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

/// A word that names no level of thinking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no level of thinking; there are `off`, `low`, `medium`, `high` and `xhigh`")]
pub struct NoThinkingLevel(pub String);

impl std::str::FromStr for ThinkingLevel {
    type Err = NoThinkingLevel;

    fn from_str(word: &str) -> Result<Self, NoThinkingLevel> {
        let mut levels = Self::ALL.into_iter();
        let found = levels.find(|level| level.as_str() == word);
        found.ok_or_else(|| NoThinkingLevel(word.chars().take(32).collect()))
    }
}

impl std::fmt::Display for ThinkingLevel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_read_by_its_word_and_no_other_word_is() {
        for level in ThinkingLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let error = "High".parse::<ThinkingLevel>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`High` is no level of thinking; there are `off`, `low`, `medium`, `high` and `xhigh`"
        );
    }
}
