//! The thread that advances the epoch, which is when guests that compute are looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// The distance of two epochs. The time of a guest is looked at that often while it computes, so
/// a limit on computing time is exceeded by no more than this.
const TICK: Duration = Duration::from_millis(5);
/// How long the ticker sleeps while nothing runs, before it looks whether the engine is gone.
const IDLE: Duration = Duration::from_millis(500);
/// A thread that advances the epoch while guests run. It ends with the engine.
pub(crate) struct Ticker {
    thread: Thread,
    running: Arc<AtomicUsize>,
}

impl Ticker {
    pub(crate) fn start(engine: &wasmtime::Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let (weak, shared) = (engine.weak(), Arc::clone(&running));
        let tick = move || {
            // The engine may not be held while sleeping, or it would never end.
            while let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
                drop(engine);
                if shared.load(Ordering::Relaxed) == 0 {
                    std::thread::park_timeout(IDLE);
                } else {
                    std::thread::sleep(TICK);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("epoch-ticker".to_owned())
            .spawn(tick)?;
        Ok(Self {
            thread: thread.thread().clone(),
            running,
        })
    }

    /// Keeps the ticker going while the guard lives.
    pub(crate) fn running(&self) -> Running<'_> {
        if self.running.fetch_add(1, Ordering::Relaxed) == 0 {
            self.thread.unpark();
        }
        Running(self)
    }
}

/// Keeps the ticker going.
pub(crate) struct Running<'a>(&'a Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}
