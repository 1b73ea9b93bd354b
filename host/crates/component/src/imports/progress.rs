//! `progress`: words for the person who watches.

use openprogram_core::text::head;

use crate::bindings::openprogram::agentic::progress as wire;
use crate::state::CallState;

/// The bytes of a message that are looked at; the line that is shown is shorter.
const MESSAGE_BYTES: usize = 4 << 10;

impl wire::Host for CallState {
    async fn report(&mut self, message: String, fraction: Option<f64>) -> wasmtime::Result<()> {
        // Without any grant there is nobody to tell.
        if let Ok(services) = self.services() {
            services.report(&head(&message, MESSAGE_BYTES), fraction);
        }
        Ok(())
    }
}
