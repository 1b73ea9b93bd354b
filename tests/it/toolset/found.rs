//! Listing and searching in granted folders.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::files::{call, desk};

async fn check(grant: &str, function: &str, arguments: Value, expected: Expect) {
    expected.assert_eq(&call(grant, function, arguments).await);
}

#[tokio::test]
async fn folders_are_listed_by_depth_and_glob() {
    let list = async |arguments| {
        let desk = desk();
        let host = desk.host("files", &["ro:work"]);
        let listing = host.call("list-files", arguments).await.result.unwrap();
        let entries = listing["entries"].as_array().unwrap().iter();
        let mut shown: Vec<String> = entries
            .map(|entry| {
                let bytes = entry["bytes"].as_u64().map(|bytes| format!(" {bytes}"));
                let text = |key: &str| entry[key].as_str().unwrap().to_owned();
                format!(
                    "{} {}{}",
                    text("kind"),
                    text("path"),
                    bytes.unwrap_or_default()
                )
            })
            .collect();
        shown.extend(listing["more"].as_str().map(str::to_owned));
        shown.join("\n")
    };
    expect!["folder work"].assert_eq(&list(json!({})).await);
    expect![[r#"
        file work/notes.md 33
        folder work/src
        file work/windows.txt 17"#]]
    .assert_eq(&list(json!({"path": "work"})).await);
    expect![[r#"
        folder work/.hidden
        file work/notes.md 33
        folder work/src
        folder work/src/deep
        file work/src/main.rs 37
        file work/windows.txt 17"#]]
    .assert_eq(
        &list(json!({"path": "./work/", "depth": 2, "hidden": true}))
            .await
            .lines()
            .filter(|line| !line.contains("secret"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    expect![[r#"
        file work/src/deep/lib.rs 16
        file work/src/main.rs 37"#]]
    .assert_eq(&list(json!({"glob": "*.rs"})).await);
    expect!["file work/src/main.rs 37"]
        .assert_eq(&list(json!({"path": "work", "glob": "src/*.rs"})).await);
    expect![[r#"
        file work/notes.md 33
        folder work/src
        2 entries are shown and there are more: go on with `after` set to `work/src`, or set `glob`"#]]
    .assert_eq(&list(json!({"path": "work", "depth": 9, "limit": 2})).await);
    expect![[r#"
        folder work/src/deep
        file work/src/deep/lib.rs 16
        2 entries are shown and there are more: go on with `after` set to `work/src/deep/lib.rs`, or set `glob`"#]]
    .assert_eq(&list(json!({"path": "work", "depth": 9, "limit": 2, "after": "work/src"})).await);
    expect![[r#"
        file work/src/main.rs 37
        file work/windows.txt 17"#]]
    .assert_eq(
        &list(json!({"path": "work", "depth": 9, "limit": 2, "after": "work/src/deep/lib.rs"}))
            .await,
    );
    check("ro:work", "list-files", json!({"path": "work/notes.md"}), expect!["function-failed: a part of `work/notes.md` is a file and no folder; `list_files` shows what is there"]).await;
    check("ro:work", "list-files", json!({"path": "beside"}), expect!["denied: `beside` lies in no granted folder; granted: `work` (to read only). A person can grant another one with `openprogram grant files --dir rw:FOLDER`, or `ro:FOLDER` to read only"]).await;
    check("ro:work", "list-files", json!({"glob": "[a"}), expect!["invalid-argument: `[a` is no glob: unclosed character class; missing ']'; write for example `*.md` or `src/**/*.rs`"]).await;
}

#[tokio::test]
async fn files_are_searched_in_granted_folders_alone() {
    check(
        "ro:work",
        "search-files",
        json!({"pattern": "TODO|fn \\w+"}),
        expect![[r#"
            {
              "files": [
                {
                  "path": "work/notes.md",
                  "lines": [
                    "4: second TODO"
                  ]
                },
                {
                  "path": "work/src/deep/lib.rs",
                  "lines": [
                    "1: pub fn lib() {}"
                  ]
                },
                {
                  "path": "work/src/main.rs",
                  "lines": [
                    "1: fn main() {",
                    "2:     // TODO: all of it"
                  ]
                }
              ],
              "matches": 4,
              "files_searched": 4
            }"#]],
    )
    .await;
    let found = async |arguments| {
        let told = call("ro:work", "search-files", arguments).await;
        let found: Value = serde_json::from_str(&told).unwrap();
        let files = found["files"].as_array().unwrap().iter();
        let paths: Vec<_> = files
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect();
        (
            paths.join(" "),
            found["more"].as_str().unwrap_or_default().to_owned(),
        )
    };
    for (arguments, paths, more) in [
        (
            json!({"pattern": "(?i)todo", "glob": "*.md"}),
            "work/notes.md",
            "",
        ),
        (
            json!({"pattern": "TODO", "hidden": true}),
            "work/.hidden/secret.md work/notes.md work/src/main.rs",
            "",
        ),
        (
            json!({"pattern": "TODO", "path": "work/src"}),
            "work/src/main.rs",
            "",
        ),
        (
            json!({"pattern": "two$", "path": "work/windows.txt"}),
            "work/windows.txt",
            "",
        ),
        (
            json!({"pattern": "() {", "plain": true, "path": "work/src/main.rs"}),
            "work/src/main.rs",
            "",
        ),
        (
            json!({"pattern": "x", "glob": "*.py"}),
            "",
            "no file fits `glob`",
        ),
        (
            json!({"pattern": "TODO", "limit": 1}),
            "work/notes.md",
            "1 matching lines are shown and there are more: raise `limit`, or narrow `pattern`, `path` or `glob`",
        ),
    ] {
        assert_eq!(
            found(arguments.clone()).await,
            (paths.to_owned(), more.to_owned()),
            "{arguments}"
        );
    }
    check("ro:work", "search-files", json!({"pattern": "TODO", "path": "beside"}), expect!["denied: `beside` lies in no granted folder; granted: `work` (to read only). A person can grant another one with `openprogram grant files --dir rw:FOLDER`, or `ro:FOLDER` to read only"]).await;
    check(
        "ro:work",
        "search-files",
        json!({"pattern": "TODO", "path": "work/gone"}),
        expect!["function-failed: there is no `work/gone`; `list_files` shows what is there"],
    )
    .await;
    check("ro:work", "search-files", json!({"pattern": "(a"}), expect!["invalid-argument: the pattern is no regular expression: unclosed group; set `plain` to look for it as a text"]).await;
}
