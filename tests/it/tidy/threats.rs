//! The threat model names the tests that prove its promises, and every one of them exists.

use std::path::Path;

use super::{none, read};

const PAGE: &str = "THREAT-MODEL.md";
/// The columns of the table of promises; its last one names the tests.
const COLUMNS: usize = 3;

/// The promises of the page: what is promised, and the tests as `path:function`.
fn promises(page: &str) -> Vec<(String, Vec<String>)> {
    let rows = page
        .lines()
        .skip_while(|line| *line != "## Promises")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let promise = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), COLUMNS, "{row}");
        let tests = cells[COLUMNS - 1].split('`').skip(1).step_by(2);
        (cells[1].to_owned(), tests.map(str::to_owned).collect())
    };
    // The first row is the heading.
    rows.skip(1).map(promise).collect()
}

/// Whether a source holds a test of this name: an attribute stands in front of it, or it belongs to
/// a block of properties.
fn has_test(source: &str, name: &str) -> bool {
    let mut lines = source.lines().map(str::trim);
    let mut is_test = false;
    lines.any(|line| {
        let found = is_test && line.contains(&format!("fn {name}("));
        // Other attributes may stand between the two.
        is_test = line.ends_with("test]")
            || line.starts_with("#[test")
            || line.starts_with("#[tokio::test")
            || (is_test && line.starts_with("#["));
        found
    })
}

#[test]
fn every_promise_of_the_threat_model_has_tests_that_exist() {
    let mut findings = Vec::new();
    let promises = promises(&read(Path::new(PAGE)));
    assert!(promises.len() > 20, "{} promises", promises.len());
    for (promise, tests) in &promises {
        if tests.is_empty() {
            findings.push(format!("no test is named: {promise}"));
        }
        for test in tests {
            let exists = test.split_once(':').is_some_and(|(path, name)| {
                let path = Path::new(path);
                super::root().join(path).is_file() && has_test(&read(path), name)
            });
            if !exists {
                findings.push(format!("there is no test `{test}`: {promise}"));
            }
        }
    }
    none(&findings, "the threat model names tests that are not there");
}

#[test]
fn a_test_is_found_by_its_attribute_and_its_name() {
    let source =
        "#[test]\n#[cfg(unix)]\nfn one() {}\nfn two() {}\n#[tokio::test]\nasync fn three() {}\n";
    assert_eq!(
        ["one", "two", "three", "on"].map(|name| has_test(source, name)),
        [true, false, true, false]
    );
    let page = "## Promises\n\n| a | b | c |\n| --- | --- | --- |\n| memory | ends | `x.rs:y`, `z.rs:w` |\n\n## Next\n| d |\n";
    let tests = vec!["x.rs:y".to_owned(), "z.rs:w".to_owned()];
    assert_eq!(promises(page), [("ends".to_owned(), tests)]);
}
