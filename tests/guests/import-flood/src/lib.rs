//! Calls imports that cost it nothing, each without end.

/// Floods.
#[openprogram_guest::functions(package = "hostile:import-flood")]
pub mod guest {
    use openprogram_guest::{Runtime, ThinkingLevel, functions, progress};
    use wasip2::clocks::{monotonic_clock, wall_clock};
    use wasip2::random::random;

    /// Asks both clocks.
    pub fn clocks() {
        loop {
            monotonic_clock::now();
            wall_clock::now();
        }
    }

    /// Asks for random numbers.
    pub fn numbers() {
        loop {
            random::get_random_u64();
        }
    }

    /// Tells how far it is.
    pub fn reports() {
        for part in (0..100).cycle() {
            progress::report_part("Going on.", f64::from(part) / 100.0);
        }
    }

    /// Writes empty lines.
    pub fn lines() {
        loop {
            eprintln!();
        }
    }

    /// Calls a function that is not there.
    pub fn calls() {
        loop {
            let _ = functions::call("no-such-function", ());
        }
    }

    /// Calls functions that are not there, of a new name each time.
    pub fn names() {
        for number in 0_u64.. {
            let _ = functions::call(&format!("no-such-function-{number}"), ());
        }
    }

    /// Sets what holds for the turns of a runtime.
    pub fn settings(runtime: &Runtime) {
        loop {
            let _ = runtime.set_system(Some("Be brief."));
            let _ = runtime.set_system(None);
            let _ = runtime.set_thinking_level(ThinkingLevel::Off);
        }
    }

    /// Opens models that it may not open.
    pub fn models() {
        for number in 0_u64.. {
            let _ = Runtime::open(&format!("nobody:model-{number}"));
        }
    }

    /// Waits for moments that are long gone.
    pub fn moments() {
        loop {
            monotonic_clock::subscribe_duration(0);
        }
    }

    /// Lets moments pass.
    pub fn waits() {
        loop {
            monotonic_clock::subscribe_duration(0).block();
        }
    }
}
