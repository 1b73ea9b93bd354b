//! Every hostile guest of the list ends as the list says, and the host is healthy after it.
//!
//! Advisories about wasmtime, and what tries them here. Guests are lines of
//! `tests/guests/attacks.txt`; everything else is the name of a test.
//!
//! | advisory | about | tried by |
//! | --- | --- | --- |
//! | GHSA-852m | resources of WASI | `many-pollables`, `poll-one-very-often`, `random-gibibyte`, `insecure-random-without-end`, `standard-input`, `output-of-100-mb`, `output-of-zeroes` |
//! | CVE-2026-27195 | a call after a dropped one | `calls_that_nobody_waits_for_any_more_leave_nothing_behind` |
//! | GHSA-m758 | lifting of flags | `flags-of-other-bits` |
//! | GHSA-394w | transcoding of strings | `text-between-parts-outside`, `-too-long`, `-to-nowhere` |
//! | GHSA-jxhv | transcoding of strings | `text-between-parts-misaligned`, `utf16-text-misaligned`, `realloc-misaligned` |
//! | GHSA-hx6p | transcoding of strings | `text-between-parts-shrinks`, `utf16-lone-surrogate`, `latin1-text-outside` |
//! | GHSA-6wgr | data of earlier calls | `leftovers` |
//! | GHSA-p8xm | huge tables | `huge-table`, `huge-table-64`, `huge-table-growth`, `huge-memory-64` |
//! | GHSA-2hw9 | traps in bulk steps | `bulk-memory`, `bulk-table`, `data-outside`, `elements-outside` |
//! | GHSA-hgjw | types of two engines | `handle-of-another-kind`, `an_image_runs_only_as_the_component_that_it_was_made_of` |
//! | GHSA-x84v | streams of async functions | `async_parts_inside_are_refused_by_name` |
//!
//! Not tried: GHSA-hfr4 (clones of a linker, of which there is one here), GHSA-3p27 (WASI 0.1, which
//! is not linked), GHSA-jhxm and those of Winch (other compilers than the one used here).

use std::collections::BTreeSet;

use openprogram_tests::hostile::{Hosts, attacks};

#[tokio::test]
async fn every_attack_ends_as_the_list_says_and_the_host_goes_on() {
    let hosts = Hosts::in_memory().await.unwrap();
    let mut findings = Vec::new();
    // Twice, since what follows a trap or a timeout is a new start as well.
    for attack in attacks().iter().chain(attacks()) {
        if let Err(error) = hosts.check(attack).await {
            findings.push(format!("{error:#}"));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn the_list_has_more_than_forty_guests() {
    let guests: BTreeSet<_> = attacks().iter().map(|attack| attack.guest).collect();
    assert!(guests.len() > 40, "{guests:?}");
}
