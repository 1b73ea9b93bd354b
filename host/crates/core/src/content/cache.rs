//! How long a provider is asked to keep what comes again.

/// How long a provider is asked to keep what comes again. Providers that know one time alone pass
/// over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheTtl {
    /// As long as the provider does by itself.
    #[default]
    Usual,
    /// Five minutes since the last use.
    FiveMinutes,
    /// One hour since the last use.
    Hour,
}

impl CacheTtl {
    /// The word in content blocks; `None` where nothing is said.
    #[must_use]
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Usual => None,
            Self::FiveMinutes => Some("5m"),
            Self::Hour => Some("1h"),
        }
    }
}

/// A word that names no such time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be `5m` or `1h`")]
pub struct NoCacheTtl;

impl std::str::FromStr for CacheTtl {
    type Err = NoCacheTtl;

    fn from_str(word: &str) -> Result<Self, NoCacheTtl> {
        let named = [Self::FiveMinutes, Self::Hour].into_iter();
        let mut found = named.filter(|ttl| ttl.as_str() == Some(word));
        found.next().ok_or(NoCacheTtl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_by_its_word_and_no_other_word_is() {
        assert_eq!("5m".parse(), Ok(CacheTtl::FiveMinutes));
        assert_eq!("1h".parse(), Ok(CacheTtl::Hour));
        for word in ["", "1H", "2h", "300s"] {
            assert_eq!(word.parse::<CacheTtl>(), Err(NoCacheTtl), "{word}");
        }
    }
}
