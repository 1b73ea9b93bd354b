//! The code of one component, shared by all who call it and compiled once.

use tokio::sync::OnceCell;

use crate::engine::Engine;
use crate::error::LoadError;
use crate::facts::Signature;
use crate::prepare::{self, Prepared};
use crate::source::ComponentSource;

/// The code of a component, compiled when it is first needed.
pub(crate) struct Code {
    digest: String,
    source: ComponentSource,
    signature: Signature,
    prepared: OnceCell<Prepared>,
}

impl Code {
    pub(crate) fn new(digest: String, source: ComponentSource, signature: Signature) -> Self {
        Self {
            digest,
            source,
            signature,
            prepared: OnceCell::new(),
        }
    }

    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The compiled component. The first caller compiles it or takes it from the cache; callers
    /// at the same time wait for it.
    pub(crate) async fn prepared(&self, engine: &Engine) -> Result<&Prepared, LoadError> {
        let prepare = || prepare::prepare(engine, &self.digest, &self.source, &self.signature);
        self.prepared.get_or_try_init(prepare).await
    }
}
