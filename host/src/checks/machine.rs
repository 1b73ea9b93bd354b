//! What the system lets a process have: address space, mappings, open files.
//!
//! Linux tells these in files. Elsewhere only the engine itself is tried.

use std::fs;

use super::{Check, sentence};
use crate::app::App;

const ENGINE: &str = "engine";
const MAPPINGS: &str = "memory mappings";
const FILES: &str = "open files";
/// The pool of 80 slots takes 14 mappings in each; a thousand compiled components take three each;
/// twice that leaves room for what a process has anyway.
const MAPPINGS_MIN: u64 = 8_192;
/// A run holds some ten files and one connection to each server; nested cargo needs more.
const FILES_MIN: u64 = 256;

pub(super) fn checks(app: &App) -> Vec<Check> {
    // Read even when the engine starts: a limit close by is told before it is met.
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let overcommit = fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    let mappings = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    let address_space = soft_limit(&limits, "Max address space");
    let started = app.try_engine();
    let engine = match started {
        Ok(notice) => engine(address_space, overcommit.trim() == "2", notice.as_deref()),
        Err(error) => Check::failed(
            ENGINE,
            sentence(&error),
            "give the process more memory: `ulimit -v unlimited`, or a larger container",
        ),
    };
    let mut checks = vec![engine];
    checks.extend(mappings.trim().parse().ok().map(mappings_check));
    checks.extend(soft_limit(&limits, "Max open files").map(files_check));
    checks
}

fn engine(address_space: Option<Limit>, is_strict: bool, notice: Option<&str>) -> Check {
    let space = match address_space {
        None => String::new(),
        Some(Limit::None) => "; address space is not limited".to_owned(),
        Some(Limit::Of(bytes)) => format!("; address space is limited to {} MiB", bytes >> 20),
    };
    let Some(notice) = notice else {
        return Check::ok(ENGINE, format!("starts with its pool of memory{space}"));
    };
    let mend = if matches!(address_space, Some(Limit::Of(_))) {
        "run `ulimit -v unlimited` in the shell that starts openprogram"
    } else if is_strict {
        "let the system promise more memory than it has: `sysctl vm.overcommit_memory=0`"
    } else {
        "start openprogram where the system gives more address space; it works without, slower"
    };
    Check::warning(ENGINE, format!("{notice}{space}"), mend)
}

fn mappings_check(most: u64) -> Check {
    if most >= MAPPINGS_MIN {
        return Check::ok(MAPPINGS, format!("{most} are allowed"));
    }
    Check::warning(
        MAPPINGS,
        format!("{most} are allowed, and many calls at once need {MAPPINGS_MIN}"),
        "run `sysctl vm.max_map_count=65530` as the administrator",
    )
}

fn files_check(most: Limit) -> Check {
    match most {
        Limit::None => Check::ok(FILES, "are not limited"),
        Limit::Of(most) if most >= FILES_MIN => Check::ok(FILES, format!("{most} are allowed")),
        Limit::Of(most) => Check::warning(
            FILES,
            format!("{most} are allowed, and a run with a build needs {FILES_MIN}"),
            "run `ulimit -n 1024` in the shell that starts openprogram",
        ),
    }
}

/// A limit of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    None,
    Of(u64),
}

/// The soft limit of this name in the text of `/proc/self/limits`.
fn soft_limit(limits: &str, name: &str) -> Option<Limit> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(Limit::None),
        number => number.parse().ok().map(Limit::Of),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     
Max open files            20000                20000                files     
Max address space         unlimited            unlimited            bytes     
";

    #[test]
    fn limits_are_read_as_the_system_tells_them() {
        for (name, limit) in [
            ("Max open files", Some(Limit::Of(20_000))),
            ("Max address space", Some(Limit::None)),
            ("Max something", None),
        ] {
            assert_eq!(soft_limit(LIMITS, name), limit, "{name}");
        }
        assert_eq!(soft_limit("", "Max open files"), None);
        assert_eq!(soft_limit("Max open files", "Max open files"), None);
    }

    #[test]
    fn little_of_something_is_a_warning_with_a_remedy() {
        let limited = Some(Limit::Of(4 << 30));
        for (check, status) in [
            (engine(Some(Limit::None), false, None), Status::Ok),
            (engine(None, false, None), Status::Ok),
            (engine(limited, false, Some("no room")), Status::Warning),
            (
                engine(Some(Limit::None), true, Some("no room")),
                Status::Warning,
            ),
            (mappings_check(65_530), Status::Ok),
            (mappings_check(1_000), Status::Warning),
            (files_check(Limit::None), Status::Ok),
            (files_check(Limit::Of(1_024)), Status::Ok),
            (files_check(Limit::Of(64)), Status::Warning),
        ] {
            assert_eq!(check.status, status, "{check:?}");
            assert_eq!(check.mend.is_none(), status == Status::Ok, "{check:?}");
        }
    }
}
