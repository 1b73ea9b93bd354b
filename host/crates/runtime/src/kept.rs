//! Results of calls that models made, kept for the same arguments as long as the author says.
//!
//! They belong to the process and to no session. A result is found by the digest of the component,
//! the function and all of its arguments, hidden ones included, so that neither another version nor
//! another user of it is answered with it. Errors are not kept, and what takes too much room is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openprogram_core::function::Function;
use openprogram_core::id::NodeId;
use openprogram_core::schema::sorted;
use openprogram_core::{Json, JsonObject};
use sha2::{Digest as _, Sha256};

/// How many results are kept; the oldest makes way.
const RESULTS_MAX: usize = 1_024;
/// How many bytes of results are kept, as JSON; the oldest make way.
const BYTES_MAX: usize = 16 << 20;
/// A longer result is not kept: a few of them would be all that is.
const RESULT_BYTES_MAX: usize = 1 << 20;

/// By what a result is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The key of one call. The result of a function that works with a model is one of that model.
    pub(crate) fn of(function: &Function, arguments: &JsonObject, model: Option<&str>) -> Self {
        let model = model.filter(|_| function.declares_runtime());
        let parts = vec![
            function.digest.clone().into(),
            function.name.component.clone().into(),
            function.name.to_string().into(),
            sorted(&Json::Object(arguments.clone())),
            model.map_or(Json::Null, Json::from),
        ];
        Self(Sha256::digest(Json::Array(parts).to_string()).into())
    }
}

/// All results that are kept.
#[derive(Debug, Default)]
pub(crate) struct KeptResults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    results: BTreeMap<Key, Kept>,
    /// The keys in the order in which they came.
    order: BTreeMap<u64, Key>,
    number: u64,
    bytes: usize,
}

/// One result.
#[derive(Clone, Debug)]
struct Kept {
    value: Json,
    bytes: usize,
    /// The call that gave it.
    node: NodeId,
    ends: Duration,
    number: u64,
}

impl KeptResults {
    /// The result of the same call, where it is kept and holds at `now`, with the call that gave it.
    pub(crate) fn find(&self, key: &Key, now: Duration) -> Option<(Json, NodeId)> {
        let mut state = self.state();
        let kept = state.results.get(key)?;
        if kept.ends <= now {
            state.forget(key);
            return None;
        }
        Some((kept.value.clone(), kept.node.clone()))
    }

    /// Keeps a result until `ends`.
    pub(crate) fn keep(&self, key: Key, value: &Json, node: &NodeId, ends: Duration) {
        let bytes = value.to_string().len();
        if bytes > RESULT_BYTES_MAX {
            return;
        }
        let mut state = self.state();
        state.forget(&key);
        state.number += 1;
        let number = state.number;
        state.bytes += bytes;
        state.order.insert(number, key);
        let kept = Kept {
            value: value.clone(),
            bytes,
            node: node.clone(),
            ends,
            number,
        };
        state.results.insert(key, kept);
        while state.results.len() > RESULTS_MAX || state.bytes > BYTES_MAX {
            let Some(oldest) = state.order.values().next().copied() else {
                return;
            };
            state.forget(&oldest);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What is lost of it is only a result that is computed again.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget(&mut self, key: &Key) {
        if let Some(kept) = self.results.remove(key) {
            self.order.remove(&kept.number);
            self.bytes -= kept.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::FunctionName;
    use serde_json::json;

    use super::*;

    fn key(number: usize) -> Key {
        let function = Function::new(FunctionName::new("a", None, "f"));
        let arguments = json!({ "n": number });
        Key::of(&function, arguments.as_object().unwrap(), None)
    }

    fn node() -> NodeId {
        NodeId::from_bits(1)
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_key_is_of_digest_function_and_all_arguments_whatever_their_order() {
        let mut function = Function::new(FunctionName::new("a", None, "f"));
        let of = |function: &Function, arguments: Json, model: Option<&str>| {
            Key::of(function, arguments.as_object().unwrap(), model)
        };
        let key = of(&function, json!({"a": 1, "b": {"c": 2, "d": 3}}), Some("m"));
        assert_eq!(
            key,
            of(&function, json!({"b": {"d": 3, "c": 2}, "a": 1}), Some("n"))
        );
        assert_ne!(
            key,
            of(&function, json!({"a": 1, "b": {"c": 2, "d": "3"}}), None)
        );
        function.digest = "sha256:other".to_owned();
        assert_ne!(
            key,
            of(&function, json!({"a": 1, "b": {"c": 2, "d": 3}}), None)
        );
    }

    #[test]
    fn results_end_and_the_oldest_make_way() {
        let kept = KeptResults::default();
        kept.keep(key(0), &json!("first"), &node(), at(10));
        assert_eq!(kept.find(&key(0), at(9)), Some((json!("first"), node())));
        assert_eq!(kept.find(&key(1), at(9)), None);
        assert_eq!(kept.find(&key(0), at(10)), None);
        // What has ended does not come back with an earlier time.
        assert_eq!(kept.find(&key(0), at(9)), None);
        for number in 0..=RESULTS_MAX {
            kept.keep(key(number), &json!(number), &node(), at(10));
        }
        assert_eq!(kept.find(&key(0), at(1)), None);
        assert!(kept.find(&key(1), at(1)).is_some());
        // The same call again takes no more room.
        kept.keep(key(1), &json!("again"), &node(), at(10));
        assert!(kept.find(&key(2), at(1)).is_some());
    }

    #[test]
    fn the_bytes_of_results_are_bounded() {
        let kept = KeptResults::default();
        let long = Json::from("x".repeat(RESULT_BYTES_MAX));
        kept.keep(key(0), &long, &node(), at(10));
        assert_eq!(kept.find(&key(0), at(1)), None);
        let fits = Json::from("x".repeat(RESULT_BYTES_MAX - 2));
        let n_fit = BYTES_MAX / RESULT_BYTES_MAX;
        for number in 0..=n_fit {
            kept.keep(key(number), &fits, &node(), at(10));
        }
        assert_eq!(kept.find(&key(0), at(1)), None);
        assert!(kept.find(&key(1), at(1)).is_some() && kept.find(&key(n_fit), at(1)).is_some());
        assert_eq!(kept.state().bytes, n_fit * RESULT_BYTES_MAX);
    }
}
