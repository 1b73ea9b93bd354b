//! The component `files` in folders that are granted, granted to be read, and not granted.

use std::fs;

use expect_test::expect;
use serde_json::{Value, json};

use super::{Desk, told, told_with_notes};

pub(super) fn desk() -> Desk {
    Desk::with([
        ("work/notes.md", "# Notes\n\nfirst\nsecond TODO\nthird\n"),
        (
            "work/src/main.rs",
            "fn main() {\n    // TODO: all of it\n}\n",
        ),
        ("work/src/deep/lib.rs", "pub fn lib() {}\n"),
        ("work/.hidden/secret.md", "TODO: hide\n"),
        ("work/windows.txt", "one\r\ntwo\r\nthree\r\n"),
        ("beside/secret.md", "TODO: keep\n"),
    ])
}

/// Calls a function on the desk with one grant.
pub(super) async fn call(grant: &str, function: &str, arguments: Value) -> String {
    told(
        &desk()
            .host("files", &[grant])
            .call(function, arguments)
            .await,
    )
}

#[tokio::test]
async fn without_a_grant_nothing_is_there_and_the_remedy_is_told() {
    for (function, arguments) in [
        ("read-file", json!({"path": "work/notes.md"})),
        ("write-file", json!({"path": "work/notes.md", "text": "x"})),
        (
            "edit-file",
            json!({"path": "work/notes.md", "old_text": "first", "new_text": "x"}),
        ),
        ("list-files", json!({})),
        ("list-files", json!({"path": "work"})),
        ("search-files", json!({"pattern": "TODO"})),
    ] {
        let desk = desk();
        let called = desk.host("files", &[]).call(function, arguments).await;
        assert_eq!(
            told(&called),
            "denied: no folder is granted here; a person can grant one with `openprogram grant \
             files --dir rw:FOLDER`, or `ro:FOLDER` to read only",
            "{function}"
        );
    }
}

#[tokio::test]
async fn a_file_is_read_by_numbered_lines() {
    let read = |arguments| call("ro:work", "read-file", arguments);
    expect![[r#"
        1	# Notes
        2	
        3	first
        4	second TODO
        5	third
    "#]]
    .assert_eq(&read(json!({"path": "work/notes.md"})).await);
    expect![[r#"
        3	first
        [the file of 33 bytes goes on: read on with offset 4]
    "#]]
    .assert_eq(&read(json!({"path": "work/notes.md", "offset": 3, "limit": 1})).await);
    expect!["invalid-argument: `work/notes.md` ends after line 5"]
        .assert_eq(&read(json!({"path": "work/notes.md", "offset": 6})).await);
    expect!["function-failed: there is no `work/gone.md`; `list_files` shows what is there"]
        .assert_eq(&read(json!({"path": "work/gone.md"})).await);
    expect!["function-failed: `work/src` is a folder; `list_files` shows what it holds"]
        .assert_eq(&read(json!({"path": "work/src"})).await);
    expect!["function-failed: a part of `work/notes.md/x` is a file and no folder; `list_files` shows what is there"]
        .assert_eq(&read(json!({"path": "work/notes.md/x"})).await);
}

#[tokio::test]
async fn just_outside_of_a_grant_nothing_is_read() {
    let desk = desk();
    let read = async |path: &str| {
        let host = desk.host("files", &["ro:work/src"]);
        told_with_notes(&host.call("read-file", json!({ "path": path })).await)
    };
    expect![[r#"
        1	pub fn lib() {}
        dirs read work/src: by `ro:work/src`"#]]
    .assert_eq(&read("work/src/deep/lib.rs").await);
    expect![[r#"
        denied: `work/notes.md` lies in no granted folder; granted: `work/src` (to read only). A person can grant another one with `openprogram grant files --dir rw:FOLDER`, or `ro:FOLDER` to read only
    "#]]
    .assert_eq(&read("work/notes.md").await);
    expect![[r#"
        denied: `work/src/../notes.md` is refused: it leads out of the granted folder, is kept from components, or a person said no
        dirs read work/src: by `ro:work/src`
        dirs work/src/../notes.md: refused, `work/src/../notes.md` leads out of the granted folder"#]]
    .assert_eq(&read("work/src/../notes.md").await);
    expect![[r#"
        denied: `/etc/passwd` lies in no granted folder; granted: `work/src` (to read only). A person can grant another one with `openprogram grant files --dir rw:FOLDER`, or `ro:FOLDER` to read only
    "#]]
    .assert_eq(&read("/etc/passwd").await);
}

#[tokio::test]
async fn a_folder_to_read_is_written_by_nothing_and_the_grant_that_it_takes_is_noted() {
    for (function, arguments) in [
        ("write-file", json!({"path": "work/new.md", "text": "x"})),
        (
            "write-file",
            json!({"path": "work/notes.md", "text": "x", "if_exists": "replace"}),
        ),
        (
            "write-file",
            json!({"path": "work/notes.md", "text": "x", "if_exists": "append"}),
        ),
        (
            "edit-file",
            json!({"path": "work/notes.md", "old_text": "first", "new_text": "x"}),
        ),
    ] {
        let desk = desk();
        let called = desk
            .host("files", &["ro:work"])
            .call(function, arguments)
            .await;
        let told = told_with_notes(&called);
        assert!(told.starts_with("denied: `work/n"), "{told}");
        assert!(
            told.contains("with a grant that begins with `rw:`"),
            "{told}"
        );
        assert!(told.ends_with("; needs `rw:work`"), "{told}");
        assert_eq!(
            desk.text("work/notes.md"),
            "# Notes\n\nfirst\nsecond TODO\nthird\n"
        );
        assert!(!desk.path("work/new.md").exists());
        // And what is noted is enough.
        let called = desk
            .host("files", &["ro:work", "rw:work"])
            .call("write-file", json!({"path": "work/new.md", "text": "x"}))
            .await;
        assert!(called.result.is_ok(), "{called:?}");
    }
}

#[tokio::test]
async fn a_file_is_written_and_never_replaced_unasked() {
    let desk = desk();
    let write = async |arguments| {
        told(
            &desk
                .host("files", &["rw:work"])
                .call("write-file", arguments)
                .await,
        )
    };
    expect![[r#"
        {
          "path": "work/a/b/new.md",
          "outcome": "created",
          "bytes": 4
        }"#]]
    .assert_eq(&write(json!({"path": "work/a/b/new.md", "text": "new\n"})).await);
    expect!["function-failed: `work/a/b/new.md` is there already (4 bytes) and was left as it is; set `if_exists` to `replace` or `append`, or change a part of it with `edit_file`"]
        .assert_eq(&write(json!({"path": "work/a/b/new.md", "text": "x"})).await);
    assert_eq!(desk.text("work/a/b/new.md"), "new\n");
    for (how, text, expected) in [
        ("append", "more\n", "new\nmore\n"),
        ("replace", "other", "other"),
        ("replace", "", ""),
    ] {
        let arguments = json!({"path": "work/a/b/new.md", "text": text, "if_exists": how});
        let told = write(arguments).await;
        assert!(told.contains(&format!("\"{how}")), "{told}");
        assert_eq!(desk.text("work/a/b/new.md"), expected);
    }
    expect!["function-failed: `work/src` is a folder; `list_files` shows what it holds"]
        .assert_eq(&write(json!({"path": "work/src", "text": "x", "if_exists": "replace"})).await);
    expect!["function-failed: a part of `work/notes.md/x` is a file and no folder; `list_files` shows what is there"]
        .assert_eq(&write(json!({"path": "work/notes.md/x", "text": "x"})).await);
    // Nothing is left behind on the way.
    let left = fs::read_dir(desk.path("work/a/b")).unwrap().count();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn a_piece_is_edited_and_line_breaks_stay() {
    let desk = desk();
    let edit = async |path: &str, old: &str, new: &str| {
        let arguments = json!({"path": path, "old_text": old, "new_text": new});
        told(
            &desk
                .host("files", &["rw:work"])
                .call("edit-file", arguments)
                .await,
        )
    };
    expect![[r#"
        {
          "path": "work/notes.md",
          "replacements": 1,
          "lines": "1\t# Notes\n2\t\n3\tfirst\n4\tand a half\n5\tsecond TODO\n6\tthird\n"
        }"#]]
    .assert_eq(&edit("work/notes.md", "first\n", "first\nand a half\n").await);
    assert!(
        desk.text("work/notes.md")
            .contains("first\nand a half\nsecond")
    );
    edit("work/windows.txt", "one\ntwo", "1\n2\n3").await;
    assert_eq!(desk.text("work/windows.txt"), "1\r\n2\r\n3\r\nthree\r\n");
    expect!["function-failed: `old_text` is not in `work/notes.md`: read the file and copy the piece from it"]
        .assert_eq(&edit("work/notes.md", "nowhere", "x").await);
    expect!["function-failed: `old_text` is in `work/notes.md` 3 times, in the lines 4, 5, 6; add lines around it until it is found once, or set `replace_all`"]
        .assert_eq(&edit("work/notes.md", "d", "x").await);
    let all = json!({
        "path": "work/windows.txt", "old_text": "\n", "new_text": ";\n", "replace_all": true,
    });
    let called = desk
        .host("files", &["rw:work"])
        .call("edit-file", all)
        .await;
    assert_eq!(called.result.unwrap()["replacements"], 4);
    assert_eq!(
        desk.text("work/windows.txt"),
        "1;\r\n2;\r\n3;\r\nthree;\r\n"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_can_be_run_or_has_another_name_stays_so() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let desk = Desk::with([
        ("work/run.sh", "#!/bin/sh\necho one\n"),
        ("work/twin", "one\n"),
        ("work/real", "one\n"),
        ("work/plain", "one\n"),
    ]);
    let script = desk.path("work/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::hard_link(desk.path("work/twin"), desk.path("work/other-twin")).unwrap();
    symlink("real", desk.path("work/link")).unwrap();
    let inode = |name: &str| fs::metadata(desk.path(name)).unwrap().ino();
    let before = inode("work/plain");
    for path in ["work/run.sh", "work/twin", "work/link", "work/plain"] {
        let arguments = json!({"path": path, "old_text": "one", "new_text": "2"});
        let called = desk
            .host("files", &["rw:work"])
            .call("edit-file", arguments)
            .await;
        assert!(called.result.is_ok(), "{path} {called:?}");
    }
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(
        (mode & 0o777, desk.text("work/run.sh").as_str()),
        (0o755, "#!/bin/sh\necho 2\n")
    );
    assert_eq!(desk.text("work/other-twin"), "2\n");
    assert!(desk.path("work/link").is_symlink());
    assert_eq!(desk.text("work/real"), "2\n");
    // An ordinary file is another one afterwards, so that nobody ever sees a half.
    assert_ne!(inode("work/plain"), before);
    assert_eq!(fs::read_dir(desk.path("work")).unwrap().count(), 6);
}

#[tokio::test]
async fn a_granted_folder_has_the_name_of_its_grant_and_the_whole_project_none() {
    let desk = desk();
    let names = async |grants: &[&str]| {
        let host = desk.host("files", grants);
        let listing = host.call("list-files", json!({})).await.result.unwrap();
        let entries = listing["entries"].as_array().unwrap().iter();
        let paths = entries.map(|entry| entry["path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(&["ro:work/src=code", "rw:work=/out"]).await,
        "code out"
    );
    assert_eq!(names(&["ro:."]).await, ".");
    let whole = desk.host("files", &["rw:."]);
    let read = whole
        .call("read-file", json!({"path": "beside/secret.md"}))
        .await;
    assert_eq!(told(&read), "1\tTODO: keep\n");
    let edit = json!({"path": "./beside/secret.md", "old_text": "keep", "new_text": "kept"});
    assert!(whole.call("edit-file", edit).await.result.is_ok());
    assert_eq!(desk.text("beside/secret.md"), "TODO: kept\n");
    let named = desk.host("files", &["rw:work/src=/code"]);
    let read = named
        .call("read-file", json!({"path": "code/deep/lib.rs"}))
        .await;
    assert_eq!(told(&read), "1\tpub fn lib() {}\n");
    let write = json!({"path": "/code/new.rs", "text": "x", "if_exists": "replace"});
    assert!(named.call("write-file", write).await.result.is_ok());
    assert_eq!(desk.text("work/src/new.rs"), "x");
}
