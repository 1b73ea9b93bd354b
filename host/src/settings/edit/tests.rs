//! Grants are given to and taken from every form that a project file may have.

use expect_test::{Expect, expect};

use super::*;
use crate::settings::ProjectFile;

fn line(kind: GrantKind, line: &str) -> GrantLine {
    GrantLine::parse(kind, line).unwrap()
}

/// Gives these grants to `shop`; the outcome is a valid project file.
fn given(before: &str, grants: &[(GrantKind, &str)]) -> String {
    let mut text = ProjectText::read(before).unwrap();
    for (kind, grant) in grants {
        text.give("shop", &line(*kind, grant)).unwrap();
    }
    let after = text.to_text();
    let file = ProjectFile::read(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
    let held = &file.components["shop"].grants;
    for (kind, grant) in grants {
        let expected = line(*kind, grant).line;
        assert!(held.lines_of(*kind).contains(&expected), "{after}");
    }
    after
}

/// Takes these grants from `shop`; the outcome is a valid project file.
fn taken(before: &str, grants: &[(GrantKind, &str)]) -> String {
    let mut text = ProjectText::read(before).unwrap();
    for (kind, grant) in grants {
        assert!(text.take("shop", &line(*kind, grant)).unwrap(), "{grant}");
        assert!(!text.take("shop", &line(*kind, grant)).unwrap(), "{grant}");
    }
    let after = text.to_text();
    ProjectFile::read(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
    after
}

const ENV: &[(GrantKind, &str)] = &[(GrantKind::Env, "LANG")];
const ALL: &[(GrantKind, &str)] = &[
    (GrantKind::Env, "LANG"),
    (GrantKind::Env, "HOME"),
    (GrantKind::AskUser, "true"),
];

fn check(after: String, expected: Expect) {
    expected.assert_eq(&after);
}

#[test]
fn a_file_that_says_nothing_of_the_component_gets_a_table() {
    check(
        given("", ALL),
        expect![[r#"
            [components.shop]
            env = ["LANG", "HOME"]
            ask_user = true
        "#]],
    );
    check(
        given("# Mine.\nmodel = \"a:b\" # a model\n", ENV),
        expect![[r#"
            # Mine.
            model = "a:b" # a model

            [components.shop]
            env = ["LANG"]
        "#]],
    );
}

#[test]
fn a_path_becomes_a_table_with_its_comments() {
    check(
        given(
            "[components]\n# A desk.\ndesk = \"desk\"\n# The shop\n# at the corner.\nshop = \"shop.wasm\" # built\nz = \"z\"\n\n[runtimes]\nexec = \"a:b\"\n",
            ENV,
        ),
        expect![[r#"
            [components]
            # A desk.
            desk = "desk"
            z = "z"

            # The shop
            # at the corner.
            [components.shop]
            source = "shop.wasm" # built
            env = ["LANG"]

            [runtimes]
            exec = "a:b"
        "#]],
    );
    check(
        given("components = { shop = \"s.wasm\", b = \"b\" }\n", ENV),
        expect![[r#"
            components = { b = "b" , shop = { source = "s.wasm", env = ["LANG"] } }
        "#]],
    );
    check(
        given("components.shop = \"s.wasm\"\ncomponents.b = \"b\"\n", ENV),
        expect![[r#"
            components.b = "b"

            [components.shop]
            source = "s.wasm"
            env = ["LANG"]
        "#]],
    );
    check(
        given("[components]\nshop.source = \"s.wasm\"\n", ENV),
        expect![[r#"
            [components]
            shop.source = "s.wasm"
            shop.env = ["LANG"]
        "#]],
    );
}

#[test]
fn a_list_keeps_its_form_and_its_comments() {
    check(
        given(
            "[components.shop]\nenv = [ \"A\" ] # two\ncalls = []\n",
            ENV,
        ),
        expect![[r#"
            [components.shop]
            env = [ "A" , "LANG"] # two
            calls = []
        "#]],
    );
    for (list, expected) in [
        (
            "[\n  \"A\",  # first\n  # of two\n  \"B\",  # second\n]",
            "[\n  \"A\",  # first\n  # of two\n  \"B\",  # second\n  \"LANG\",\n]",
        ),
        (
            "[\n  \"A\" # first\n]",
            "[\n  \"A\", # first\n  \"LANG\",\n]",
        ),
        ("[\n  # none yet\n]", "[\n  # none yet\n    \"LANG\",\n]"),
    ] {
        let after = given(&format!("[components.shop]\nenv = {list}\n"), ENV);
        assert_eq!(after, format!("[components.shop]\nenv = {expected}\n"));
    }
}

#[test]
fn a_grant_takes_the_place_of_one_about_the_same_and_stands_once() {
    let mut text = ProjectText::read("[components.shop]\nenv = [\"A\", 'ask LANG']\n").unwrap();
    let lang = line(GrantKind::Env, "LANG");
    let replaced = Given::Replaced("ask LANG".to_owned());
    assert_eq!(text.give("shop", &lang), Ok(replaced));
    assert_eq!(text.give("shop", &lang), Ok(Given::WasThere));
    let asks = line(GrantKind::AskUser, "true");
    assert_eq!(text.give("shop", &asks), Ok(Given::Added));
    assert_eq!(text.give("shop", &asks), Ok(Given::WasThere));
    check(
        text.to_text(),
        expect![[r#"
            [components.shop]
            env = ["A", "LANG"]
            ask_user = true
        "#]],
    );
}

#[test]
fn what_is_taken_away_leaves_everything_else() {
    let before = "# Top.\n[components.shop]\nsource = \"s\" # here\nenv = [\n    \"A\", # one\n    \"LANG\",\n    \"HOME\", # three\n]\nask_user = true\n";
    check(
        taken(before, ENV),
        expect![[r#"
            # Top.
            [components.shop]
            source = "s" # here
            env = [
                "A", # one
                "HOME", # three
            ]
            ask_user = true
        "#]],
    );
    check(
        taken(before, &[(GrantKind::Env, "A"), (GrantKind::Env, "HOME")]),
        expect![[r#"
            # Top.
            [components.shop]
            source = "s" # here
            env = [ # one
                "LANG", # three
            ]
            ask_user = true
        "#]],
    );
    check(
        taken("[components.shop]\nenv = [\"LANG\", \"HOME\"]\n", ENV),
        expect![[r#"
            [components.shop]
            env = ["HOME"]
        "#]],
    );
    // Nothing is left of a table that says nothing.
    let only = "model = \"a:b\"\n\n[components.shop]\nenv = [\"LANG\"]\n";
    assert_eq!(taken(only, ENV), "model = \"a:b\"\n");
    let mut text = ProjectText::read(before).unwrap();
    text.take_all("shop");
    text.take_all("none");
    check(
        text.to_text(),
        expect![[r#"
            # Top.
            [components.shop]
            source = "s" # here
        "#]],
    );
    assert_eq!(text.take("none", &line(GrantKind::Env, "LANG")), Ok(false));
}
