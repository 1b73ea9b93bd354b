//! What an error of wasmtime means: which limit was reached, or which trap it was.

use openprogram_core::guest::CallError;
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;
use wasmtime_wasi_http::FieldMapError;

use crate::limits::LimitReached;
use crate::links::ImportFailed;
use crate::state::CallState;

/// Guest frames that a trap shows, and the length of one.
const FRAMES_MAX: usize = 16;
const FRAME_CHARS: usize = 160;
/// Bytes of what the guest printed last that a trap shows: the message of a panic is there.
const WORDS_BYTES: usize = 500;

/// The error of a call that wasmtime stopped.
pub(crate) fn call_error(error: &wasmtime::Error, state: &CallState) -> CallError {
    if let Some(reached) = limit(error, state) {
        return reached.into();
    }
    if let Some(failed) = find::<ImportFailed>(error) {
        return CallError::Import {
            import: failed.import.clone(),
            component: failed.component.clone(),
            failure: Box::new(failed.failure.clone()),
        };
    }
    CallError::Trapped {
        trap: trap_name(error),
        backtrace: backtrace(error),
        last_words: state.last_words(WORDS_BYTES),
    }
}

fn limit(error: &wasmtime::Error, state: &CallState) -> Option<LimitReached> {
    let limits = &state.limits;
    if let Some(reached) = find::<LimitReached>(error) {
        return Some(reached.clone());
    }
    let root = error.root_cause().to_string();
    let handles = || {
        let message = format!("the function holds more than {} handles", limits.handles);
        LimitReached::new("handles", limits.handles, message)
    };
    if matches!(find(error), Some(ResourceTableError::Full))
        || root.contains("store handle limit exceeded")
    {
        return Some(handles());
    }
    // The type of this error is private to wasmtime.
    if root.contains("fuel allocated for hostcalls has been exhausted") {
        return Some(crossing(error, state));
    }
    if find::<FieldMapError>(error).is_some() {
        let max = limits.http_fields_bytes;
        let message =
            format!("the headers of a request are too many, or take more than {max} bytes");
        return Some(LimitReached::new("http_fields_bytes", max, message));
    }
    // This error has no type at all.
    if root.starts_with("requested len ") && root.contains(" exceeds limit ") {
        let max = limits.random_bytes;
        let message = format!("the function asked for more than {max} random bytes at once");
        return Some(LimitReached::new("random_bytes", max, message));
    }
    if let Some(pool) = find::<PoolConcurrencyLimitError>(error) {
        return Some(shared(pool));
    }
    if let Some(counted) = root.strip_prefix("resource limit exceeded: ") {
        let (which, limit) = match counted.split(' ').next() {
            Some("memory") => ("memories", limits.memories),
            Some("table") => ("tables", limits.tables),
            _ => ("core_instances", limits.core_instances),
        };
        let message = format!("the component needs more {which} than {limit}");
        return Some(LimitReached::new(which, limit.into(), message));
    }
    // A guest that is refused memory aborts, which looks like any other trap.
    state.memory_refused().cloned()
}

/// What all running functions together have too many of. Its fields are private to wasmtime, which
/// says "… limit of 640 for core instances reached".
fn shared(pool: &PoolConcurrencyLimitError) -> LimitReached {
    let text = pool.to_string();
    let mut words = text.split(' ');
    let limit = words.find_map(|word| word.parse().ok()).unwrap_or_default();
    let message = format!(
        "the functions that run at once need more than this program has for all of them ({text}); \
         let fewer run at once"
    );
    LimitReached::new("instances", limit, message)
}

/// The limit behind too large a crossing: while the guest runs it is an argument of an import,
/// after it has ended it is its result.
fn crossing(error: &wasmtime::Error, state: &CallState) -> LimitReached {
    let limits = &state.limits;
    let in_guest = error
        .downcast_ref::<WasmBacktrace>()
        .is_some_and(|trace| !trace.frames().is_empty());
    if in_guest {
        let max = limits.hostcall_bytes;
        let message = format!("the function gave the host more than {max} bytes at once");
        return LimitReached::new("hostcall_bytes", max, message);
    }
    let max = limits.result_bytes;
    LimitReached::new(
        "result_bytes",
        max,
        format!("the result is larger than {max} bytes"),
    )
}

fn find<E: std::error::Error + Send + Sync + 'static>(error: &wasmtime::Error) -> Option<&E> {
    error
        .downcast_ref::<E>()
        .or_else(|| error.chain().find_map(|cause| cause.downcast_ref::<E>()))
}

fn trap_name(error: &wasmtime::Error) -> String {
    if let Some(trap) = find::<Trap>(error) {
        let name = match trap {
            Trap::StackOverflow => "stack-overflow",
            Trap::MemoryOutOfBounds | Trap::HeapMisaligned => "memory-out-of-bounds",
            Trap::TableOutOfBounds | Trap::IndirectCallToNull => "table-out-of-bounds",
            Trap::BadSignature => "bad-signature",
            Trap::IntegerOverflow => "integer-overflow",
            Trap::IntegerDivisionByZero => "division-by-zero",
            Trap::BadConversionToInteger => "bad-conversion-to-integer",
            Trap::UnreachableCodeReached => "unreachable",
            Trap::CannotEnterComponent | Trap::CannotLeaveComponent => "reentrance",
            other => {
                let said = other.to_string();
                return one_line(said.strip_prefix("wasm trap: ").unwrap_or(&said));
            }
        };
        return name.to_owned();
    }
    if let Some(exit) = find::<I32Exit>(error) {
        return format!("exit-{}", exit.0);
    }
    // What is left is a value or handle that the component model does not allow.
    format!(
        "invalid-value: {}",
        one_line(&error.root_cause().to_string())
    )
}

fn backtrace(error: &wasmtime::Error) -> Vec<String> {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else {
        return Vec::new();
    };
    let frames = trace.frames().iter().take(FRAMES_MAX);
    // A component built without names has none to show.
    let named = frames.filter_map(|frame| {
        let name = frame.func_name()?;
        Some(name.chars().take(FRAME_CHARS).collect())
    });
    named.collect()
}

fn one_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(200)
        .collect()
}
