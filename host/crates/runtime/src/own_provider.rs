//! A provider of the caller's own for one turn or decision, in place of the one of the runtime.

use std::fmt;
use std::sync::Arc;

use openprogram_core::llm::Provider;

/// A provider for one turn or decision alone.
///
/// Functions that the turn causes to run keep the models of the runtime. It stays the caller's:
/// the runtime does not close it.
#[derive(Clone)]
pub struct OwnProvider(Arc<dyn Provider>);

impl OwnProvider {
    /// This provider.
    #[must_use]
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self(provider)
    }

    pub(crate) fn get(&self) -> &dyn Provider {
        &*self.0
    }
}

impl<P: Provider + 'static> From<Arc<P>> for OwnProvider {
    fn from(provider: Arc<P>) -> Self {
        Self(provider)
    }
}

impl fmt::Debug for OwnProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnProvider").field(&self.0.name()).finish()
    }
}
