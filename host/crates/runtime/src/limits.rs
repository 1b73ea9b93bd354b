//! The limits of a run and of all runs together, each with its reason. Reaching one is a
//! `limit-reached` failure that names it.

use openprogram_core::content::MediaLimits;

/// How much one run may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// How many calls may stand above each other, as `call_depth`.
    ///
    /// Each holds an instance, and instances are pooled.
    pub call_depth: u32,
    /// How often one function may stand in the chain of running calls, as `recursion`.
    ///
    /// A decision that offers its own function ends here before it fills the chain.
    pub recursion: u32,
    /// How many calls one function may make while it runs, as `fan_out`.
    pub fan_out: u64,
    /// How many calls one run may make in all, as `calls`.
    pub calls: u64,
    /// How many model requests one run may make in all, re-asks included, as `model_turns`.
    pub model_turns: u64,
    /// How many tokens all model requests of one run may use, input and output together, as
    /// `tokens`; `None` for any number. The reply that uses them up is the last one.
    pub tokens: Option<u64>,
    /// How long one run may take in milliseconds, as `run_ms`; `None` for any time.
    pub run_ms: Option<u64>,
    /// The longest prompt of a decision, and the most text of a turn, in bytes, as `prompt_bytes`.
    pub prompt_bytes: u64,
    /// The most bytes of the images of a turn, as `image_bytes`. Providers take less.
    pub image_bytes: u64,
    /// The most bytes of the films of a turn, as `video_bytes`. Providers take less.
    pub video_bytes: u64,
    /// The most bytes of the sound of a turn, as `audio_bytes`. Providers take less.
    pub audio_bytes: u64,
    /// How many functions the model of a turn may be offered, as `turn_tools`.
    ///
    /// Each is described in every request. A turn that would offer more has to name its tools.
    pub turn_tools: u64,
    /// The longest reply of a model that is read, in bytes, as `reply_bytes`.
    pub reply_bytes: u64,
    /// How many calls one reply may ask for, as `reply_calls`.
    pub reply_calls: u64,
    /// How many bytes the replies and results of one turn may have in all, as `turn_bytes`.
    ///
    /// All of them are sent again with every request of the turn.
    pub turn_bytes: u64,
}

/// How much goes on at once over all runs of one runtime. What finds no place waits; runs that wait
/// are served in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// How many model requests are under way at once; 0 counts as 1.
    ///
    /// Providers refuse floods, and each request holds a connection.
    pub requests: u32,
    /// How many calls run at once that stand below no other call; 0 counts as 1.
    ///
    /// As many as there are slots for instances. Calls below them never wait.
    pub calls: u32,
    /// How many may wait for one kind of place, as `queue`.
    pub queue: u64,
    /// How long one may wait in milliseconds, as `queue_ms`; for a model request no longer than the
    /// turn has time.
    pub queue_ms: u64,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self {
            requests: 32,
            calls: 64,
            queue: 10_000,
            queue_ms: 10 * 60 * 1_000,
        }
    }
}

/// How often a decision may ask again; the contract of `menu.set-max-retries`.
pub const MENU_RETRIES_MAX: u32 = 10;

/// The longest system prompt in bytes; the contract of `runtime.set-system`.
pub const SYSTEM_BYTES_MAX: u64 = 64 * 1024;

impl RunLimits {
    /// The most bytes of each kind of media in one turn.
    #[must_use]
    pub fn media(&self) -> MediaLimits {
        MediaLimits {
            image_bytes: self.image_bytes,
            video_bytes: self.video_bytes,
            audio_bytes: self.audio_bytes,
        }
    }
}

impl Default for RunLimits {
    /// Room for any sensible program, and an end for one that has lost its way.
    fn default() -> Self {
        let media = MediaLimits::default();
        Self {
            call_depth: 32,
            recursion: 8,
            fan_out: 1_000,
            calls: 10_000,
            model_turns: 1_000,
            tokens: None,
            run_ms: None,
            prompt_bytes: 1024 * 1024,
            image_bytes: media.image_bytes,
            video_bytes: media.video_bytes,
            audio_bytes: media.audio_bytes,
            turn_tools: 512,
            reply_bytes: 4 * 1024 * 1024,
            reply_calls: 128,
            turn_bytes: 32 * 1024 * 1024,
        }
    }
}
