//! One named property that a component tells: its value read, and how a wrong one is refused.

use std::collections::HashSet;

use openprogram_core::Json;

use crate::error::MetadataError;

/// One attribute, its value read.
pub(super) struct Attribute<'a> {
    owner: &'a str,
    pub(super) key: &'a str,
    pub(super) value: Json,
}

impl<'a> Attribute<'a> {
    pub(super) fn read_all(
        owner: &'a str,
        attributes: &'a [(String, String)],
    ) -> Result<Vec<Self>, MetadataError> {
        let mut seen = HashSet::new();
        let read = attributes.iter().map(|(key, text)| {
            let mut attribute = Self {
                owner,
                key,
                value: Json::Null,
            };
            if !seen.insert(key) {
                return Err(attribute.bad("it is given twice".to_owned()));
            }
            attribute.value = serde_json::from_str(text)
                .map_err(|error| attribute.bad(format!("it is not JSON: {error}")))?;
            Ok(attribute)
        });
        read.collect()
    }

    pub(super) fn string(&self) -> Result<String, MetadataError> {
        let text = self.value.as_str().map(ToOwned::to_owned);
        text.ok_or_else(|| self.bad("it must be a string".to_owned()))
    }

    pub(super) fn boolean(&self) -> Result<bool, MetadataError> {
        let value = self.value.as_bool();
        value.ok_or_else(|| self.bad("it must be true or false".to_owned()))
    }

    pub(super) fn bad(&self, problem: String) -> MetadataError {
        MetadataError::BadAttribute {
            owner: self.owner.to_owned(),
            key: cut(self.key),
            problem,
        }
    }

    pub(super) fn unknown(&self) -> MetadataError {
        MetadataError::UnknownAttribute {
            owner: self.owner.to_owned(),
            key: cut(self.key),
        }
    }
}

/// A name as an error shows it; it comes from the guest.
pub(super) fn cut(name: &str) -> String {
    name.chars().take(128).collect()
}
