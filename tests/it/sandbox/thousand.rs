//! A thousand hostile calls leave nothing behind: no memory, no threads, no files.

use std::process::Command;

use serde_json::Value;

/// How many hostile calls are made; each is followed by a healthy one.
const CALLS: u64 = 1_000;

/// How much more may be resident after all calls than after the first fifth of them. Allocators
/// keep some pages; one page of a guest that leaked per call would be 50 MiB.
const GROWTH_KIB_MAX: u64 = 8 << 10;

#[test]
fn a_thousand_hostile_calls_leave_no_memory_threads_or_files_behind() {
    // A process of its own: everything else in this one would be measured as well.
    let mut measure = Command::new(env!("CARGO_BIN_EXE_measure"));
    let output = measure.args(["soak", &CALLS.to_string()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |when: &str, what: &str| told[when][what].as_u64().unwrap();
    assert_eq!(told["calls"], CALLS, "{told}");
    let (before, after) = (
        number("before", "resident_kib"),
        number("after", "resident_kib"),
    );
    assert!(after <= before + GROWTH_KIB_MAX, "memory grows: {told}");
    assert!(
        number("after", "threads") <= number("before", "threads"),
        "threads grow: {told}"
    );
    assert!(
        number("after", "files") <= number("before", "files"),
        "files grow: {told}"
    );
}
