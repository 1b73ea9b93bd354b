//! The limits of one call, and the meter that holds those of memory. Time inside the guest is in
//! `cpu`.
//!
//! Every limit has a name, a default with its reason, and one failure: [`CallError::LimitReached`]
//! with that name.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use openprogram_core::guest::{CallError, ComponentTotals};
use wasmtime::ResourceLimiter;

/// The limits of one call. The names of the fields are the names in failures and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory, summed over all memories of the component.
    pub memory_bytes: u64,
    /// Linear memories of one component.
    pub memories: u32,
    /// Tables of one component.
    pub tables: u32,
    /// Table elements, summed over all tables.
    pub table_elements: u64,
    /// Core instances of one component.
    pub core_instances: u32,
    /// Time that a call computes, in imports that end at once too, without waiting, in milliseconds.
    pub cpu_ms: u64,
    /// Time that all calls of a component in one run compute together, as a model or a decider too, in
    /// milliseconds.
    pub run_cpu_ms: u64,
    /// Time from start to end, waiting included, in milliseconds.
    pub wall_ms: u64,
    /// Bytes written to stdout and stderr together.
    pub log_bytes: u64,
    /// Bytes of the result as JSON.
    pub result_bytes: u64,
    /// Nesting of JSON values, in arguments and results.
    pub json_depth: u64,
    /// Handles alive at once: menus, picks, pollables, streams, descriptors.
    pub handles: u64,
    /// Handles of resources that one instance which lives on has given to models and callers.
    pub live_handles: u64,
    /// Time after which an instance that lives on ends because nobody used it, in milliseconds.
    pub idle_ms: u64,
    /// Host memory that one crossing from guest to host may take.
    pub hostcall_bytes: u64,
    /// Random bytes that one request may ask for.
    pub random_bytes: u64,
    /// Calls above a call.
    pub call_depth: u64,
    /// Options of one menu.
    pub menu_options: u64,
    /// Bytes of the texts of one menu: names, descriptions, values, schemas, context.
    pub menu_bytes: u64,
    /// Bytes that all menus and picks of a call hold together.
    pub menus_bytes: u64,
    /// Bytes of one text that a guest gives to the host: a prompt, a name, arguments.
    pub text_bytes: u64,
    /// Bytes of a system prompt.
    pub system_bytes: u64,
    /// Bytes of the pictures of one turn.
    pub image_bytes: u64,
    /// Bytes of the films of one turn.
    pub video_bytes: u64,
    /// Bytes of the sound of one turn.
    pub audio_bytes: u64,
    /// Texts, pictures, films, sounds and marks of one turn.
    pub turn_parts: u64,
    /// Functions that one turn names as tools.
    pub turn_tools: u64,
    /// Bytes that all turns being prepared hold together.
    pub turn_bytes: u64,
    /// Turns of one call that were started and are still held.
    pub open_turns: u64,
    /// Events of one such turn that wait to be taken.
    pub turn_events: u64,
    /// Bytes of their texts.
    pub turn_event_bytes: u64,
    /// Tools of one turn that its function runs itself.
    pub local_tools: u64,
    /// Bytes of one reply of a model component, its thinking and calls included.
    pub reply_bytes: u64,
    /// Calls in one reply of a model component.
    pub reply_calls: u64,
    /// Calls of the host, whatever they do.
    pub host_calls: u64,
    /// Bytes that the calls of a component in one run write to files, holes that they make included.
    pub files_bytes: u64,
    /// Files and folders that the calls of a component in one run make.
    pub files_count: u64,
    /// Bytes of a file that a call writes to.
    pub file_size: u64,
    /// Entries of all listings of folders that a call holds at once.
    pub folder_entries: u64,
    /// HTTP requests of the calls of a component in one run, refused ones included.
    pub http_requests: u64,
    /// HTTP requests that wait for an answer or for its end at once.
    pub http_in_flight: u64,
    /// HTTP requests of one call in a second. More of them wait for their turn.
    pub http_per_second: u64,
    /// Bytes of the headers of one HTTP request, with what it takes to hold them.
    pub http_fields_bytes: u64,
    /// Bytes of the body of one HTTP request.
    pub http_request_bytes: u64,
    /// Bytes of the head of one HTTP response.
    pub http_head_bytes: u64,
    /// Bytes of the body of one HTTP response.
    pub http_response_bytes: u64,
    /// Time until a server is connected, its certificate checked, in milliseconds.
    pub http_connect_ms: u64,
    /// Time from there to the head of the response, in milliseconds.
    pub http_first_byte_ms: u64,
    /// Time between two pieces of a response body, in milliseconds.
    pub http_idle_ms: u64,
    /// Time of one HTTP request to the end of its response, in milliseconds.
    pub http_total_ms: u64,
}

/// Thirty times what one call computes.
const RUN_CPU_MS: u64 = 300_000;

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Interpreters of other languages start at 20 to 60 MiB; this leaves them room to work.
            memory_bytes: 256 << 20,
            // A component made of several languages has a memory for each; engines of
            // JavaScript need three.
            memories: 8,
            tables: 16,
            table_elements: 100_000,
            // A component in Python makes one for each of its native libraries, forty at least.
            core_instances: 128,
            // Functions of this kind think in the model, not in the guest.
            cpu_ms: 10_000,
            // Hundreds of calls of interpreters, which start anew each time.
            run_cpu_ms: RUN_CPU_MS,
            // A chain of model turns with retries ends within this.
            wall_ms: 600_000,
            // What a person can still read.
            log_bytes: 1 << 20,
            result_bytes: 4 << 20,
            // Far above what interfaces use, far below what recursion on a fiber can take.
            json_depth: 64,
            handles: 1_000,
            // More than a model keeps apart; each is a value in the memory of the guest.
            live_handles: 256,
            // A person thinks no longer than this about the next line of a chat.
            idle_ms: 1_800_000,
            // A list costs 40 bytes per element on the host; this carries 1.6 million elements.
            hostcall_bytes: 64 << 20,
            random_bytes: 64 << 10,
            // Each level keeps a slot of the pool.
            call_depth: 32,
            menu_options: 256,
            menu_bytes: 1 << 20,
            // As JSON values they take some times as much.
            menus_bytes: 8 << 20,
            text_bytes: 1 << 20,
            // The number stands in the contract, at `set-system`.
            system_bytes: 64 << 10,
            // This and the next numbers stand in the contract too. Providers take less.
            image_bytes: 32 << 20,
            video_bytes: 48 << 20,
            audio_bytes: 32 << 20,
            // Each costs some bytes of its own.
            turn_parts: 1_000,
            turn_tools: 512,
            // Two turns full of pictures.
            turn_bytes: 64 << 20,
            // More than a provider serves one caller at once.
            open_turns: 64,
            // Some seconds of a stream that is not read; pieces of text are joined.
            turn_events: 256,
            turn_event_bytes: 1 << 20,
            // Each is described in every request.
            local_tools: 64,
            // Far above the longest replies that models write.
            reply_bytes: 4 << 20,
            reply_calls: 128,
            // Some seconds of the cheapest ones.
            host_calls: 5_000_000,
            // Reports and archives fit, and a loop that writes leaves most disks room.
            files_bytes: 256 << 20,
            // A large source tree.
            files_count: 10_000,
            file_size: 1 << 30,
            // An entry takes some hundred bytes in the host.
            folder_entries: 100_000,
            // Pages of a listing, not a crawl.
            http_requests: 1_000,
            // What browsers open to all hosts at once is about this.
            http_in_flight: 16,
            // Public interfaces begin to refuse about here.
            http_per_second: 50,
            // Servers take 8 to 64 KiB; each field costs some bytes of its own.
            http_fields_bytes: 128 << 10,
            http_request_bytes: 16 << 20,
            http_head_bytes: 64 << 10,
            // A quarter of the memory of a call.
            http_response_bytes: 64 << 20,
            http_connect_ms: 10_000,
            // Uploads are within it, and servers that think.
            http_first_byte_ms: 120_000,
            http_idle_ms: 60_000,
            // Half of the time of a call.
            http_total_ms: 300_000,
        }
    }
}

/// A limit that was reached inside a call. Travels through wasmtime as the cause of its error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct LimitReached {
    pub(crate) which: &'static str,
    pub(crate) limit: u64,
    pub(crate) message: String,
}

impl LimitReached {
    pub(crate) fn new(which: &'static str, limit: u64, message: impl Into<String>) -> Self {
        Self {
            which,
            limit,
            message: message.into(),
        }
    }
}

impl From<LimitReached> for CallError {
    fn from(reached: LimitReached) -> Self {
        Self::LimitReached {
            which: reached.which,
            limit: reached.limit,
            message: reached.message,
        }
    }
}

/// How many times the memory of one call all calls of a component hold that go on at once in a run:
/// some that run beside each other, and no chain of calls that each hold all.
const MEMORY_AT_ONCE: u64 = 4;

/// Sums memories and tables over a whole store and remembers what it refused.
#[derive(Debug)]
pub(crate) struct MemoryMeter {
    bytes: u64,
    bytes_most: u64,
    bytes_max: u64,
    totals: Arc<ComponentTotals>,
    elements: u64,
    elements_max: u64,
    last_growth: u64,
    instances: usize,
    tables: usize,
    memories: usize,
    refused: Option<LimitReached>,
}

impl MemoryMeter {
    pub(crate) fn new(limits: &Limits, totals: Arc<ComponentTotals>) -> Self {
        let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            bytes: 0,
            bytes_most: 0,
            bytes_max: limits.memory_bytes,
            totals,
            elements: 0,
            elements_max: limits.table_elements,
            last_growth: 0,
            instances: count(limits.core_instances),
            tables: count(limits.tables),
            memories: count(limits.memories),
            refused: None,
        }
    }

    /// Counts for another call in the same store, which holds what the ones before it have left.
    pub(crate) fn begin(&mut self, totals: Arc<ComponentTotals>) {
        self.totals.memory_bytes.fetch_sub(self.bytes, Relaxed);
        totals.memory_bytes.fetch_add(self.bytes, Relaxed);
        self.totals = totals;
        self.bytes_most = self.bytes;
        self.refused = None;
    }

    /// The most bytes held at once.
    pub(crate) fn bytes_most(&self) -> u64 {
        self.bytes_most
    }

    /// Counts memory with that of the other calls; `false` when all of them would hold too much.
    fn take_together(&mut self, growth: u64) -> bool {
        let max = self.bytes_max.saturating_mul(MEMORY_AT_ONCE);
        let fits = |all: u64| all.checked_add(growth).filter(|all| *all <= max);
        let all = &self.totals.memory_bytes;
        if all.fetch_update(Relaxed, Relaxed, fits).is_ok() {
            return true;
        }
        self.refused.get_or_insert_with(|| {
            let message = format!(
                "the calls of the component that go on at once need more memory than {max} bytes"
            );
            LimitReached::new("memory_bytes", max, message)
        });
        false
    }

    /// The first growth that was refused. A guest usually aborts after one, with a plain trap.
    pub(crate) fn refused(&self) -> Option<&LimitReached> {
        self.refused.as_ref()
    }
}

impl Drop for MemoryMeter {
    /// The memory goes with the store.
    fn drop(&mut self) {
        self.totals.memory_bytes.fetch_sub(self.bytes, Relaxed);
    }
}

impl ResourceLimiter for MemoryMeter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let growth = desired.saturating_sub(current) as u64;
        let total = self.bytes.saturating_add(growth);
        if total > self.bytes_max {
            self.last_growth = 0;
            let limit = self.bytes_max;
            self.refused.get_or_insert_with(|| {
                let message = format!("the function needs more memory than {limit} bytes");
                LimitReached::new("memory_bytes", limit, message)
            });
            return Ok(false);
        }
        if !self.take_together(growth) {
            self.last_growth = 0;
            return Ok(false);
        }
        self.bytes = total;
        self.last_growth = growth;
        self.bytes_most = self.bytes_most.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.bytes = self.bytes.saturating_sub(self.last_growth);
        self.totals
            .memory_bytes
            .fetch_sub(self.last_growth, Relaxed);
        self.last_growth = 0;
        Ok(())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self
            .elements
            .saturating_add(desired.saturating_sub(current) as u64);
        if total > self.elements_max {
            let limit = self.elements_max;
            self.refused.get_or_insert_with(|| {
                let message = format!("the function needs more than {limit} table elements");
                LimitReached::new("table_elements", limit, message)
            });
            return Ok(false);
        }
        self.elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_summed_over_memories_and_the_first_refusal_is_kept() {
        let limits = Limits {
            memory_bytes: 100,
            table_elements: 10,
            ..Limits::default()
        };
        let mut meter = MemoryMeter::new(&limits, Arc::default());
        let mut grow = |from, to| meter.memory_growing(from, to, None).unwrap();
        assert_eq!(
            [grow(0, 60), grow(0, 30), grow(60, 80), grow(30, 40)],
            [true, true, false, true]
        );
        assert!(!meter.table_growing(0, 11, None).unwrap());
        let refused = meter.refused().map(|r| (r.which, r.limit));
        assert_eq!(
            (meter.bytes_most(), refused),
            (100, Some(("memory_bytes", 100)))
        );
    }

    #[test]
    fn calls_of_a_component_at_once_share_memory_and_give_it_back() {
        let limits = Limits {
            memory_bytes: 100,
            ..Limits::default()
        };
        let totals = Arc::<ComponentTotals>::default();
        let meter = || MemoryMeter::new(&limits, Arc::clone(&totals));
        let mut chain: Vec<_> = (0..5).map(|_| meter()).collect();
        let grown = chain
            .iter_mut()
            .map(|m| m.memory_growing(0, 90, None).unwrap());
        assert_eq!(grown.collect::<Vec<_>>(), [true, true, true, true, false]);
        let refused = chain[4].refused().map(|r| (r.which, r.limit));
        assert_eq!(refused, Some(("memory_bytes", 400)));
        drop(chain);
        assert_eq!(totals.memory_bytes.load(Relaxed), 0);
        assert!(meter().memory_growing(0, 100, None).unwrap());
    }

    #[test]
    fn a_growth_that_failed_elsewhere_is_given_back() {
        let limits = Limits {
            memory_bytes: 100,
            ..Limits::default()
        };
        let mut meter = MemoryMeter::new(&limits, Arc::default());
        assert!(meter.memory_growing(0, 80, Some(10)).unwrap());
        meter
            .memory_grow_failed(wasmtime::Error::msg("over the maximum"))
            .unwrap();
        assert!(meter.memory_growing(0, 100, None).unwrap());
    }
}
