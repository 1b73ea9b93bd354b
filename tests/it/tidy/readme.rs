//! The README shows code that is built and run, and commands that exist.

use std::path::Path;

use super::read;

/// The first code block of a language, as it stands between its fences.
fn block(text: &str, language: &str) -> String {
    let fence = format!("```{language}");
    let lines = text.lines().skip_while(|line| *line != fence).skip(1);
    let lines = lines.take_while(|line| *line != "```");
    lines.map(|line| format!("{line}\n")).collect()
}

/// What `new` writes is built and run by the tests of the command line.
#[test]
fn the_function_of_the_readme_is_the_source_of_a_new_project() {
    let readme = read(Path::new("README.md"));
    let template = read(Path::new("host/templates/rust/lib.rs"));
    assert_eq!(block(&readme, "rust"), template);
}

/// The example of the library is compiled and run by `it embedding`.
#[test]
fn the_library_of_the_readme_is_the_example_that_is_run() {
    let readme = read(Path::new("README.md"));
    let (_, library) = readme.split_once("## Use it as a library").unwrap();
    let example = read(Path::new("tests/it/embedding/example.rs"));
    assert_eq!(block(library, "rust"), example);
}

#[test]
fn a_block_is_found_between_its_fences() {
    let text = "```sh\nls\n```\n```rust\nfn a() {}\n\nfn b() {}\n```\n```rust\nfn c() {}\n```\n";
    assert_eq!(block(text, "rust"), "fn a() {}\n\nfn b() {}\n");
    assert_eq!(block(text, "toml"), "");
}
