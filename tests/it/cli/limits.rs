//! The limits of one component, as a person sets them in the project file.

use super::{project, project_with};

/// A project with one guest and these lines in its table.
fn with_limits(lines: &str) -> openprogram_tests::cli::Project {
    let text = format!(
        "[components.log-flood]\nsource = \"log-flood.wasm\"\n[components.log-flood.limits]\n{lines}\n"
    );
    project()
        .guests(&["log-flood"])
        .file("openprogram.toml", text)
}

/// What it writes to stderr counts at once; what it writes to stdout stays with its own buffer.
const WRITE: [&str; 5] = [
    "run",
    "log-flood/guest.write",
    "--arg",
    "bytes=600",
    "--json",
];

#[test]
fn a_component_has_the_limits_that_the_project_file_gives_it() {
    let outcome = with_limits("log_bytes = 600").run(&WRITE);
    assert_eq!(
        (outcome.code, outcome.json()["ok"].clone()),
        (0, 1_200.into())
    );
    let outcome = with_limits("log_bytes = 599").run(&WRITE);
    let error = outcome.json()["error"].clone();
    assert_eq!(outcome.code, 6, "{outcome:?}");
    assert_eq!(error["details"]["which"], "log_bytes");
    assert_eq!(error["details"]["limit"], 599);
    // Others keep the usual ones.
    let others = project_with(&["log-flood"]).run(&WRITE);
    assert_eq!(others.code, 0, "{others:?}");
}

#[test]
fn a_limit_that_is_none_or_above_its_ceiling_is_refused_by_name() {
    for (lines, expected) in [
        (
            "memory_bytes = 300_000_000",
            "it must be from 1 to 268435456, not 300000000",
        ),
        ("cpu_ms = 0", "it must be from 1 to 3600000, not 0"),
        (
            "patience = 1",
            "`patience`: there is no such limit; there are `memory_bytes`",
        ),
    ] {
        let outcome = with_limits(lines).run(&WRITE);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        let text = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(text.contains("components.log-flood.limits"), "{text}");
        assert!(text.contains(expected), "{text}");
    }
    let outcome = with_limits("cpu_ms = -1").run(&WRITE);
    assert_eq!(outcome.code, 2, "{outcome:?}");
}
