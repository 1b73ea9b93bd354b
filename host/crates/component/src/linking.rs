//! What components may import: the contract and WASI 0.2.
//!
//! One linker serves all components; what a call may do is decided by the state of its store.
//! Everything a component imports and this host lacks is named at once, each with the nearest
//! known name.

use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::p2::bindings as wasi;
use wasmtime_wasi::random::WasiRandom;

use crate::bindings::openprogram::agentic as contract_bindings;
use crate::contract;
use crate::error::{LoadError, MissingImport};
use crate::facts::{ImportFact, is_link};
use crate::files::GuestFiles;
use crate::sockets::{self, SOCKETS};
use crate::state::CallState;

/// The interfaces of WASI 0.2 that are always there. What environment, folders and HTTP give is
/// decided when they are used, by the grants of the component.
const WASI: [&str; 21] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:http/types",
    "wasi:http/outgoing-handler",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/random",
    "wasi:random/insecure",
];
/// Errors of streams, in the version that the linker knows; others of 0.2 find it too.
const WASI_ERROR: &str = "wasi:io/error@0.2.12";
const WASI_SEED: &str = "wasi:random/insecure-seed";
/// What reaches the network past the gate. What is known of it is linked and refuses; the rest is
/// refused at load.
const DENIED: &str = "wasi:sockets/";
/// Below this similarity a known name is no hint.
const NEAR: f64 = 0.6;

/// The linker that all components of an engine share.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    link_wasi(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    let own: fn(&mut CallState) -> &mut CallState = |state| state;
    contract_bindings::types::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::runtime::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::decision::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::functions::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::ask::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::progress::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::decision_state::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    contract_bindings::completion::add_to_linker::<_, HasSelf<CallState>>(&mut linker, own)?;
    Ok(linker)
}

fn link_wasi(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    // Streams, polling, clocks, randomness and the standard streams; then the rest by hand,
    // because the complete set of WASI has files and sockets that are not ours.
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(linker)?;
    tell_errors_in_one_line(linker)?;
    wasi::random::insecure::add_to_linker::<_, WasiRandom>(linker, |s| s.ctx().ctx.random())?;
    wasi::random::insecure_seed::add_to_linker::<_, WasiRandom>(linker, |s| s.ctx().ctx.random())?;
    wasi::cli::exit::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::cli::environment::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::cli::terminal_input::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::cli::terminal_output::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::cli::terminal_stdin::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::cli::terminal_stdout::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::cli::terminal_stderr::add_to_linker::<_, WasiCli>(linker, CallState::cli)?;
    wasi::filesystem::types::add_to_linker::<_, GuestFiles>(linker, CallState::files)?;
    wasi::filesystem::preopens::add_to_linker::<_, GuestFiles>(linker, CallState::files)?;
    sockets::add_to_linker(linker)
}

/// In place of the text for debugging, which may hold a backtrace with paths of this machine.
fn tell_errors_in_one_line(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.instance(WASI_ERROR)?.func_wrap(
        "[method]error.to-debug-string",
        |store, (error,): (Resource<wasmtime::Error>,)| {
            let error = store.data().table.get(&error)?;
            Ok((format!("{error:#}"),))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Checks that this host has everything a component imports.
///
/// The nearest known name is looked for as long as a person may still read the error.
///
/// # Errors
/// One error that names every import which is missing or not granted.
pub(crate) fn check_imports(imports: &[ImportFact]) -> Result<(), LoadError> {
    let known = known_names();
    let mut missing = Vec::new();
    let mut denied = Vec::new();
    for import in imports {
        let unversioned = import.name.split('@').next().unwrap_or(&import.name);
        if is_wasi(&import.name) {
            // Functions of a newer 0.2 that wasmtime lacks are found when the component links.
        } else if unversioned.starts_with(DENIED) {
            denied.push(import.name.clone());
        } else if is_link(&import.name) && !import.functions.is_empty() {
            // Who of the other components serves it is known where all of them are.
        } else if let Some((_, functions)) = known.iter().find(|(name, _)| *name == import.name) {
            let absent = import
                .functions
                .iter()
                .filter(|name| !functions.contains(name));
            missing.extend(absent.map(|function| {
                let near = nearest(function, functions.iter().map(String::as_str));
                MissingImport {
                    name: format!("{}.{function}", import.name),
                    nearest: near.map(|near| format!("{}.{near}", import.name)),
                }
            }));
        } else {
            let names = known.iter().map(|(name, _)| name.as_str());
            let is_compared = missing.len() < COMPARED_MAX;
            let near = is_compared.then(|| nearest(&import.name, names));
            missing.push(MissingImport {
                name: import.name.clone(),
                nearest: near.flatten(),
            });
        }
    }
    if missing.is_empty() && denied.is_empty() {
        return Ok(());
    }
    Err(LoadError::Imports { missing, denied })
}

/// Whether a name is an interface of WASI 0.2 that is linked, in any of its versions.
fn is_wasi(name: &str) -> bool {
    let (interface, version) = name.split_once('@').unwrap_or((name, ""));
    let known = WASI.contains(&interface) || interface == WASI_SEED || SOCKETS.contains(&interface);
    known && version.starts_with("0.2.")
}

/// Missing imports that are compared with what is known, to name the nearest.
const COMPARED_MAX: usize = 20;
/// Bytes of a name that is compared.
const COMPARED_BYTES_MAX: usize = 256;

/// The interfaces of the contract with their functions, and those of WASI.
fn known_names() -> Vec<(String, Vec<String>)> {
    let resolve = contract::resolve();
    let own = resolve.interfaces.iter().filter_map(|(id, interface)| {
        let functions = interface.functions.keys().cloned().collect();
        Some((resolve.id_of(id)?, functions))
    });
    let wasi = WASI.iter().chain([&WASI_SEED]);
    own.chain(wasi.map(|name| (format!("{name}@0.2.0"), Vec::new())))
        .collect()
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // Nothing that is known is as long, and comparing takes the product of the lengths.
    if name.len() > COMPARED_BYTES_MAX {
        return None;
    }
    let similar = |known: &'a str| (strsim::normalized_damerau_levenshtein(name, known), known);
    let best = known.map(similar).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity >= NEAR)
        .map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(imports: &[(&str, &[&str])], expected: &str) {
        let facts: Vec<_> = imports
            .iter()
            .map(|(name, functions)| ImportFact {
                name: (*name).to_owned(),
                functions: functions.iter().map(|f| (*f).to_owned()).collect(),
            })
            .collect();
        let told = check_imports(&facts).map_or_else(|error| error.to_string(), |()| String::new());
        assert_eq!(told, expected);
    }

    #[test]
    fn only_the_first_of_very_many_missing_imports_are_compared_with_what_is_known() {
        let near = "openprogram:agentic/function@0.1.0";
        let import = |name: &str| ImportFact {
            name: name.to_owned(),
            functions: Vec::new(),
        };
        let mut imports = vec![import(&"x".repeat(100_000)), import(near)];
        imports.resize(20_000, import(near));
        let Err(LoadError::Imports { missing, .. }) = check_imports(&imports) else {
            panic!("not refused");
        };
        assert_eq!(missing.len(), 20_000);
        let compared = missing.iter().filter(|import| import.nearest.is_some());
        assert_eq!(compared.count(), COMPARED_MAX - 1);
    }

    #[test]
    fn every_missing_import_is_named_with_the_nearest_known_name() {
        check(
            &[
                ("wasi:cli/exit@0.2.6", &["exit"]),
                ("openprogram:agentic/functions@0.1.0", &["call"]),
            ],
            "",
        );
        check(
            &[
                ("openprogram:agentic/function@0.1.0", &["call"]),
                ("openprogram:agentic/decision@0.1.0", &["make", "maek"]),
                ("acme:db/query@1.0.0", &[]),
                ("query", &[]),
                ("acme:db/query@2.0.0", &["run"]),
            ],
            "the component imports what this host does not have: \
             `openprogram:agentic/function@0.1.0` (nearest: `openprogram:agentic/functions@0.1.0`), \
             `openprogram:agentic/decision@0.1.0.maek` (nearest: \
             `openprogram:agentic/decision@0.1.0.make`), `acme:db/query@1.0.0`, `query`",
        );
        check(
            &[
                ("wasi:sockets/tcp@0.2.0", &[]),
                ("wasi:sockets/ip-name-lookup@0.2.12", &[]),
                ("wasi:http/types@0.2.0", &[]),
                ("wasi:http/outgoing-handler@0.2.12", &[]),
            ],
            "",
        );
        check(
            &[
                ("wasi:sockets/tcp@0.2.0", &[]),
                ("wasi:sockets/raw@0.2.0", &[]),
                ("wasi:sockets/types@0.3.0", &[]),
            ],
            "denied: sockets are not granted to components: `wasi:sockets/raw@0.2.0`, \
             `wasi:sockets/types@0.3.0`; those of WASI 0.2 may be imported, and every use of them is \
             refused; requests over HTTP (`wasi:http`) can be granted",
        );
    }
}
