//! What people and models do to the toolset that it was not made for: each ends in a sentence, in
//! time and within its bounds.

use std::fs;

use serde_json::json;

use super::{Desk, told};

/// What answers to models are cut at; the toolset ends its own before that.
const ANSWER_BYTES_MAX: usize = 30_000;

#[tokio::test]
async fn huge_files_are_read_and_searched_in_pieces() {
    let line = "2026-12-01 something happened again, and nobody knows why\n";
    let desk = Desk::with([("work/small.log", "TODO\n")]);
    let huge = line.repeat((48 << 20) / line.len());
    fs::write(desk.path("work/huge.log"), &huge).unwrap();
    fs::write(desk.path("work/one-line.json"), "[1,".repeat(8 << 20)).unwrap();
    // Files of hundreds of megabytes do not fit into this memory, and need not.
    let host = desk
        .host("files", &["rw:work"])
        .limits(|limits| limits.memory_bytes = 24 << 20);
    let n_lines = huge.lines().count();
    let end = json!({"path": "work/huge.log", "offset": n_lines - 1});
    let read = told(&host.call("read-file", end).await);
    assert!(read.ends_with("knows why\n[end of the file]\n"), "{read}");
    let start = told(
        &host
            .call("read-file", json!({"path": "work/huge.log"}))
            .await,
    );
    assert!(start.len() < ANSWER_BYTES_MAX, "{}", start.len());
    assert!(start.contains("goes on: read on with offset"), "{start}");
    let line = told(
        &host
            .call("read-file", json!({"path": "work/one-line.json"}))
            .await,
    );
    assert!(
        line.ends_with(" bytes more: read on with column 2001]\n"),
        "{line}"
    );
    let searched = told(
        &host
            .call("search-files", json!({"pattern": "TODO|nowhere"}))
            .await,
    );
    assert!(searched.contains("work/small.log"), "{searched}");
    assert!(
        searched.contains("1 line of more than 1,048,576 bytes"),
        "{searched}"
    );
    let found = told(
        &host
            .call("search-files", json!({"pattern": "again", "limit": 200}))
            .await,
    );
    assert!(found.len() < ANSWER_BYTES_MAX, "{}", found.len());
    let edit = json!({"path": "work/huge.log", "old_text": "a", "new_text": "b"});
    let edited = told(&host.call("edit-file", edit).await);
    assert!(
        edited.ends_with("files of up to 16,777,216 are edited"),
        "{edited}"
    );
}

#[tokio::test]
async fn what_is_no_text_is_told_and_left_alone() {
    let desk = Desk::with([
        ("work/picture.png", &b"\x89PNG\r\n\x1a\n\0\0"[..]),
        ("work/latin.txt", b"one\nGr\xfc\xdfe\n"),
        ("work/wide.txt", b"\xff\xfeh\0i\0"),
        ("work/late.bin", &[b'x'; 20_000]),
        ("work/marked.txt", b"\xef\xbb\xbffirst\r\n"),
    ]);
    let mut late = desk.bytes("work/late.bin");
    late.extend_from_slice(b"\n\0\xff\n");
    fs::write(desk.path("work/late.bin"), &late).unwrap();
    let host = desk.host("files", &["rw:work"]);
    for (path, said) in [
        (
            "work/picture.png",
            "`work/picture.png` is not UTF-8 text but a PNG picture",
        ),
        (
            "work/latin.txt",
            "line 2 of `work/latin.txt` is not UTF-8 (byte 0xfc)",
        ),
        (
            "work/wide.txt",
            "`work/wide.txt` is not UTF-8 text but UTF-16 text; convert it to UTF-8 first",
        ),
        (
            "work/late.bin",
            "line 2 of `work/late.bin` is not UTF-8 (byte 0xff)",
        ),
    ] {
        let before = desk.bytes(path);
        let edit = json!({"path": path, "old_text": "one", "new_text": "two"});
        for (function, arguments) in [("read-file", json!({ "path": path })), ("edit-file", edit)] {
            let told = told(&host.call(function, arguments).await);
            assert!(told.contains(said), "{function} {told}");
        }
        assert_eq!(desk.bytes(path), before);
    }
    let edit = json!({"path": "work/marked.txt", "old_text": "first\n", "new_text": "1\n2\n"});
    assert!(host.call("edit-file", edit).await.result.is_ok());
    assert_eq!(desk.bytes("work/marked.txt"), b"\xef\xbb\xbf1\r\n2\r\n");
}

#[cfg(unix)]
#[tokio::test]
async fn links_lead_to_nothing_that_was_not_granted() {
    use std::os::unix::fs::symlink;
    let desk = Desk::with([
        ("work/in/real.md", "inside TODO\n"),
        ("beside/secret.md", "secret TODO\n"),
    ]);
    for (target, link) in [
        ("../beside/secret.md", "work/out.md"),
        ("../beside", "work/folder"),
        ("in/real.md", "work/inside.md"),
        ("loop", "work/loop"),
        ("/etc/passwd", "work/absolute"),
    ] {
        symlink(target, desk.path(link)).unwrap();
    }
    let host = desk.host("files", &["rw:work"]);
    for path in ["work/out.md", "work/folder/secret.md", "work/absolute"] {
        let write = json!({"path": path, "text": "x", "if_exists": "replace"});
        let edit = json!({"path": path, "old_text": "secret", "new_text": "x"});
        for (function, arguments) in [
            ("read-file", json!({ "path": path })),
            ("write-file", write),
            ("edit-file", edit),
            ("search-files", json!({"path": path, "pattern": "TODO"})),
        ] {
            let told = told(&host.call(function, arguments).await);
            assert!(
                !told.contains("secret TODO") && !told.contains("root:"),
                "{told}"
            );
            assert!(told.starts_with("denied: "), "{function} {path}: {told}");
        }
    }
    assert_eq!(desk.text("beside/secret.md"), "secret TODO\n");
    let inside = told(
        &host
            .call("read-file", json!({"path": "work/inside.md"}))
            .await,
    );
    assert_eq!(inside, "1\tinside TODO\n");
    let looped = told(&host.call("read-file", json!({"path": "work/loop"})).await);
    assert!(looped.starts_with("function-failed: "), "{looped}");
    let search = host.call("search-files", json!({"pattern": "TODO"})).await;
    let search = search.result.unwrap();
    assert_eq!(search["files"][0]["path"], "work/in/real.md");
    assert_eq!(search["files"].as_array().unwrap().len(), 1);
    let list = json!({"path": "work", "depth": 9});
    let list = told(&host.call("list-files", list).await);
    assert!(
        list.contains("\"link\"") && !list.contains("secret"),
        "{list}"
    );
}

#[tokio::test]
async fn patterns_that_explode_elsewhere_are_searched_or_refused_at_once() {
    let desk = Desk::with([("work/a.txt", format!("{}!\n", "a".repeat(50_000)))]);
    let host = desk
        .host("files", &["ro:work"])
        .limits(|limits| limits.cpu_ms = 5_000);
    for pattern in [
        "(a+)+$",
        "(a|aa)+$",
        "(.*a){20}$",
        "(a*)*b",
        "(?:a?){500}a{500}",
    ] {
        let called = host
            .call("search-files", json!({ "pattern": pattern }))
            .await;
        let told = told(&called);
        let is_fine = called.result.is_ok() || told.contains("repeat less");
        assert!(is_fine, "{pattern}: {told}");
    }
    for pattern in [
        "((a{100}){100}){100}",
        &"(".repeat(100_000),
        &"a|".repeat(200_000),
    ] {
        let told = told(
            &host
                .call("search-files", json!({ "pattern": pattern }))
                .await,
        );
        assert!(
            told.starts_with("invalid-argument: the pattern is"),
            "{told}"
        );
        assert!(told.len() < 500, "{}", told.len());
    }
    for glob in [
        "{".repeat(900),
        "{a,b}".repeat(150),
        "**/".repeat(300),
        "[!".repeat(400),
    ] {
        let called = host.call("list-files", json!({ "glob": glob })).await;
        let told = told(&called);
        assert!(
            called.result.is_ok() || told.starts_with("invalid-argument: "),
            "{told}"
        );
        assert!(told.len() < 3_000, "{}", told.len());
    }
}

#[tokio::test]
async fn wide_and_deep_folders_are_listed_within_bounds() {
    let desk = Desk::with([("work/start", "")]);
    let deep = (0..60)
        .map(|n| format!("d{n}"))
        .collect::<Vec<_>>()
        .join("/");
    fs::create_dir_all(desk.path("work").join(&deep)).unwrap();
    fs::create_dir(desk.path("work/wide")).unwrap();
    for n in 0..3_000 {
        fs::write(desk.path("work/wide").join(format!("file-{n:05}")), "x").unwrap();
    }
    let host = desk.host("files", &["ro:work"]);
    let list = json!({"path": "work", "depth": 4_000_000_000_u32, "limit": 4_000_000_000_u32});
    let listing = host.call("list-files", list).await.result.unwrap();
    let bytes = listing.to_string().len();
    assert!(bytes < 60_000, "{bytes}");
    // Going on from page to page finds everything once.
    let (mut seen, mut after) = (0, json!(null));
    for _ in 0..100 {
        let list = json!({"path": "work/wide", "limit": 200, "after": after});
        let listing = host.call("list-files", list).await.result.unwrap();
        let entries = listing["entries"].as_array().unwrap();
        seen += entries.len();
        if listing["more"].is_null() {
            break;
        }
        after = entries.last().unwrap()["path"].clone();
    }
    assert_eq!(seen, 3_000);
}

#[tokio::test]
async fn strange_paths_end_in_a_sentence() {
    let desk = Desk::with([("work/a", "x")]);
    let host = desk.host("files", &["rw:work"]);
    for path in [
        "",
        " ",
        "\0",
        "work\\a",
        "work/\u{202e}a",
        "work/..",
        "work/../work/a",
        "../work/a",
        "work/a\n`rm -rf`",
        &"x/".repeat(50_000),
        &format!("work/{}", "n".repeat(5_000)),
    ] {
        let write = json!({"path": path, "text": "x"});
        let edit = json!({"path": path, "old_text": "a", "new_text": "b"});
        for (function, arguments) in [
            ("read-file", json!({ "path": path })),
            ("write-file", write),
            ("edit-file", edit),
            ("list-files", json!({ "path": path })),
            ("search-files", json!({"path": path, "pattern": "a"})),
        ] {
            let told = told(&host.call(function, arguments).await);
            assert!(told.len() < 600, "{function} {path:?}: {told}");
            assert!(!told.contains('\0'), "{function} {path:?}: {told}");
        }
    }
    assert_eq!(desk.text("work/a"), "x");
}

#[tokio::test]
async fn a_write_that_is_more_than_a_call_may_leaves_the_old_file() {
    let old = "old\n".repeat(1_000);
    let desk = Desk::with([("work/a", &old)]);
    let host = desk
        .host("files", &["rw:work"])
        .limits(|limits| limits.files_bytes = 10_000);
    let write = json!({
        "path": "work/a", "text": "new\n".repeat(10_000), "if_exists": "replace",
    });
    let told = told(&host.call("write-file", write).await);
    assert!(told.contains("wrote more than 10000 bytes"), "{told}");
    assert_eq!(desk.text("work/a"), old);
}
