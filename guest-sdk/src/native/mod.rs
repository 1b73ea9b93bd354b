//! What stands in for the host in a native build: the script of a test.
//!
//! The modules have the items of the bindings that the SDK uses. A turn takes its answers from the
//! script of its runtime; everything else asks the newest [`MockRuntime`](crate::testing::MockRuntime)
//! of the thread. Without one, or when it has no more answers, that is a mistake of the test, which
//! panics and names what was asked for.

pub(crate) mod ask;
pub(crate) mod decision;
pub(crate) mod functions;
pub(crate) mod poll;
pub(crate) mod progress;
mod request;
pub(crate) mod runtime;
pub(crate) mod script;
mod turn;

use std::cell::RefCell;
use std::rc::Rc;

use runtime::Runtime;
use script::Script;

thread_local! {
    /// The runtimes of this thread that tests have made, the newest last.
    static LENT: RefCell<Vec<Runtime>> = const { RefCell::new(Vec::new()) };
}

/// Makes a runtime the one of the call chain of this thread.
pub(crate) fn install(runtime: &Runtime) {
    LENT.with_borrow_mut(|lent| lent.push(runtime.clone()));
}

/// Takes a runtime away again.
pub(crate) fn remove(runtime: &Runtime) {
    LENT.with_borrow_mut(|lent| lent.retain(|other| !Rc::ptr_eq(&other.script, &runtime.script)));
}

/// The newest runtime, if a test has made one.
fn ambient() -> Option<Runtime> {
    LENT.with_borrow(|lent| lent.last().cloned())
}

/// The newest runtime, which has to be there for this.
fn needed(what: &str) -> Runtime {
    ambient().unwrap_or_else(|| {
        panic!(
            "{what}, which needs a host, and there is none in a native build; make an \
             `openprogram_guest::testing::MockRuntime` in the test"
        )
    })
}

/// Does something with the newest script.
fn with_script<T>(what: &str, work: impl FnOnce(&mut Script) -> T) -> T {
    work(&mut needed(what).script.borrow_mut())
}

/// Whether names are equal, `-` and `_` being the same.
fn same(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

/// The beginning of a text that may be long, for a message.
fn head(text: &str) -> String {
    const CHARS: usize = 200;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names in a message.
fn list<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
