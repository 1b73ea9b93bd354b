//! How much a model thinks before it answers.

use crate::host::runtime as raw;

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
    pub(crate) fn from_host(level: raw::ThinkingLevel) -> Self {
        match level {
            raw::ThinkingLevel::Off => ThinkingLevel::Off,
            raw::ThinkingLevel::Low => ThinkingLevel::Low,
            raw::ThinkingLevel::Medium => ThinkingLevel::Medium,
            raw::ThinkingLevel::High => ThinkingLevel::High,
            raw::ThinkingLevel::Xhigh => ThinkingLevel::XHigh,
        }
    }

    pub(crate) fn to_host(self) -> raw::ThinkingLevel {
        match self {
            ThinkingLevel::Off => raw::ThinkingLevel::Off,
            ThinkingLevel::Low => raw::ThinkingLevel::Low,
            ThinkingLevel::Medium => raw::ThinkingLevel::Medium,
            ThinkingLevel::High => raw::ThinkingLevel::High,
            ThinkingLevel::XHigh => raw::ThinkingLevel::Xhigh,
        }
    }

    /// The level of this word; `off` for one of a later version.
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "low" => ThinkingLevel::Low,
            "medium" => ThinkingLevel::Medium,
            "high" => ThinkingLevel::High,
            "xhigh" => ThinkingLevel::XHigh,
            _ => ThinkingLevel::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_both_ways_and_read_by_their_words() {
        for (level, word) in [
            (ThinkingLevel::Off, "off"),
            (ThinkingLevel::Low, "low"),
            (ThinkingLevel::Medium, "medium"),
            (ThinkingLevel::High, "high"),
            (ThinkingLevel::XHigh, "xhigh"),
        ] {
            assert_eq!(ThinkingLevel::from_host(level.to_host()), level);
            assert_eq!(ThinkingLevel::from_word(word), level);
        }
        assert_eq!(ThinkingLevel::from_word("of-tomorrow"), ThinkingLevel::Off);
    }
}
