//! What a turn gave.

use std::fmt;

use crate::host::runtime as raw;
use crate::model::StopReason;
use crate::{Json, value};

/// What a turn gave.
#[derive(Debug)]
pub struct Reply(pub(crate) raw::Reply);

impl Reply {
    /// The text of the last reply of the model.
    pub fn text(&self) -> String {
        self.0.text()
    }

    /// The checked value of a turn with a [response format](Request::response_format).
    pub fn structured(&self) -> Option<Json> {
        self.0.structured().map(value::from_host)
    }

    /// Tokens used by all model requests of the turn.
    pub fn usage(&self) -> Usage {
        Usage::from_host(&self.0.usage())
    }

    /// Why the last reply ended: a text may be cut off, or held back by the provider of the model.
    ///
    /// ```
    /// use openprogram_guest::model::StopReason;
    /// use openprogram_guest::{Failure, Runtime};
    ///
    /// fn summary(text: &str, runtime: &Runtime) -> Result<String, Failure> {
    ///     let reply = runtime.exec(format!("Sum this up:\n\n{text}"))?;
    ///     match reply.stop() {
    ///         StopReason::End => Ok(reply.text()),
    ///         other => Err(Failure::new("no-summary", format!("it ended as {other:?}"))),
    ///     }
    /// }
    /// ```
    pub fn stop(&self) -> StopReason {
        StopReason::from_host(&self.0.stop())
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

/// Tokens used by a model, as far as its provider tells; 0 where it does not. Later versions may
/// add fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Everything the model read, cached parts included.
    pub input_tokens: u64,
    /// Everything the model wrote.
    pub output_tokens: u64,
    /// The part of the input that was read from a cache.
    pub cache_read: u64,
    /// The part of the input that was written to a cache.
    pub cache_create: u64,
}

impl Usage {
    /// Usage of which no part is known to be cached.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        }
    }

    pub(crate) fn from_host(usage: &raw::Usage) -> Self {
        Usage {
            input_tokens: usage.input_tokens(),
            output_tokens: usage.output_tokens(),
            cache_read: usage.cache_read(),
            cache_create: usage.cache_create(),
        }
    }

    /// Says which parts of the input were read from a cache and written to one.
    #[must_use]
    pub fn cached(self, read: u64, create: u64) -> Self {
        Usage {
            cache_read: read,
            cache_create: create,
            ..self
        }
    }
}
