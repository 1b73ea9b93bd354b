//! Finds the parts of a component that only async functions (WASI 0.3) use.
//!
//! Toolchains put them deep inside, where no signature shows them, and the engine has none of them.

use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentDefinedType, ComponentType, Payload, Result,
};

/// The name of the first such part of a section, as the component model calls it.
///
/// # Errors
/// When the section is damaged.
pub(crate) fn find(section: &Payload<'_>) -> Result<Option<&'static str>> {
    match section {
        Payload::ComponentCanonicalSection(functions) => {
            for function in functions.clone() {
                if let Some(name) = of_function(&function?) {
                    return Ok(Some(name));
                }
            }
        }
        // Types inside of types are seen by the engine, when nothing makes a value of them.
        Payload::ComponentTypeSection(types) => {
            for ty in types.clone() {
                if let ComponentType::Defined(defined) = ty?
                    && let Some(name) = of_type(&defined)
                {
                    return Ok(Some(name));
                }
            }
        }
        _ => {}
    }
    Ok(None)
}

fn of_type(ty: &ComponentDefinedType<'_>) -> Option<&'static str> {
    match ty {
        ComponentDefinedType::Future(_) => Some("future"),
        ComponentDefinedType::Stream(_) => Some("stream"),
        _ => None,
    }
}

fn of_function(function: &CanonicalFunction) -> Option<&'static str> {
    use CanonicalFunction as Built;
    let is_async = |options: &[CanonicalOption]| {
        let mut options = options.iter();
        options.any(|option| matches!(option, CanonicalOption::Async))
    };
    match function {
        Built::Lift { options, .. } => is_async(options).then_some("canon lift async"),
        Built::Lower { options, .. } => is_async(options).then_some("canon lower async"),
        Built::ResourceNew { .. } | Built::ResourceDrop { .. } | Built::ResourceRep { .. } => None,
        Built::BackpressureInc => Some("backpressure.inc"),
        Built::BackpressureDec => Some("backpressure.dec"),
        Built::TaskReturn { .. } => Some("task.return"),
        Built::TaskCancel => Some("task.cancel"),
        Built::ContextGet { .. } => Some("context.get"),
        Built::ContextSet { .. } => Some("context.set"),
        Built::SubtaskDrop => Some("subtask.drop"),
        Built::SubtaskCancel { .. } => Some("subtask.cancel"),
        Built::StreamNew { .. } => Some("stream.new"),
        Built::StreamRead { .. } => Some("stream.read"),
        Built::StreamWrite { .. } => Some("stream.write"),
        Built::StreamCancelRead { .. } => Some("stream.cancel-read"),
        Built::StreamCancelWrite { .. } => Some("stream.cancel-write"),
        Built::StreamDropReadable { .. } => Some("stream.drop-readable"),
        Built::StreamDropWritable { .. } => Some("stream.drop-writable"),
        Built::FutureNew { .. } => Some("future.new"),
        Built::FutureRead { .. } => Some("future.read"),
        Built::FutureWrite { .. } => Some("future.write"),
        Built::FutureCancelRead { .. } => Some("future.cancel-read"),
        Built::FutureCancelWrite { .. } => Some("future.cancel-write"),
        Built::FutureDropReadable { .. } => Some("future.drop-readable"),
        Built::FutureDropWritable { .. } => Some("future.drop-writable"),
        Built::ErrorContextNew { .. } => Some("error-context.new"),
        Built::ErrorContextDebugMessage { .. } => Some("error-context.debug-message"),
        Built::ErrorContextDrop => Some("error-context.drop"),
        Built::WaitableSetNew => Some("waitable-set.new"),
        Built::WaitableSetWait { .. } => Some("waitable-set.wait"),
        Built::WaitableSetPoll { .. } => Some("waitable-set.poll"),
        Built::WaitableSetDrop => Some("waitable-set.drop"),
        Built::WaitableJoin => Some("waitable.join"),
        // All others begin, stop and order threads.
        _ => Some("thread"),
    }
}
