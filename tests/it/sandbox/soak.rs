//! Hostile calls, many at once, leave nothing behind: no memory, no threads, no files.

use std::process::Command;

use openprogram_tests::soak::ALLOCATOR;
use serde_json::Value;

/// How many hostile calls are made after every attack was made twice; each is followed by a healthy
/// one. `.ci/long` makes many more.
const CALLS: u64 = 200;

#[test]
fn hostile_calls_at_once_leave_no_memory_threads_or_files_behind() {
    // A process of its own: everything else in this one would be measured as well.
    let mut measure = Command::new(env!("CARGO_BIN_EXE_measure"));
    measure.args(["soak", &CALLS.to_string()]).envs(ALLOCATOR);
    let output = measure.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["calls"], CALLS, "{told}");
}
