//! What stays as it is in a folder that a function may write: files of this program while they are
//! written, what is built, and folders that are granted.

use expect_test::expect;
use openprogram_tests::web::WebHost;
use serde_json::json;

use super::{Project, act};

/// A guest with the project, in which `data/deep` is built and keys and sources lie about.
fn host(project: &Project) -> WebHost {
    let place = |name: &str| project.path().join(name);
    project
        .host(&["rw:."])
        .kept(&place("data/deep"))
        .kept(&place("beside/secret"))
        .kept(&place("tools/missing"))
        .kept(&place(".cargo"))
}

#[tokio::test]
async fn what_is_built_or_trusted_is_read_and_not_changed() {
    let project = Project::new();
    let host = host(&project);
    for (what, path) in [
        ("open-to-write", "data/deep/file"),
        ("truncate", "data/deep/file"),
        ("create", "data/deep/new"),
        ("make-folder", "data/deep/src"),
        ("remove", "data/deep/file"),
        ("remove-folder", "data/deep"),
        ("set-times", "data/deep"),
        ("create-inside", "data/deep"),
        ("remove", "beside/secret"),
        ("open-to-write", "data/../beside/SECRET"),
        ("make-folder", ".cargo"),
        ("create", ".cargo"),
        // The folder above what is not there.
        ("make-folder", "tools"),
        ("create", "Tools"),
    ] {
        let seen = act(&host, what, ".", path).await.seen();
        // A name in another case is another file here, and is no more made than ours.
        let expected = ["not-permitted", "no-entry"];
        assert!(expected.contains(&seen.as_str()), "{what} {path}: {seen}");
    }
    for (from, to) in [
        ("data", "moved"),
        ("data/deep", "moved"),
        ("beside", "moved"),
        ("out", ".cargo"),
        ("out", "tools"),
        ("out/file", "beside/secret"),
        ("out/file", "data/deep/file"),
    ] {
        assert_eq!(
            rename(&host, from, to).await,
            "not-permitted",
            "{from} {to}"
        );
    }
    for path in ["data/deep/file", "beside/secret"] {
        assert_eq!(act(&host, "open", ".", path).await.seen(), "done", "{path}");
    }
    let called = act(&host, "create", ".", "data/deep/new").await;
    expect![[r#"
        not-permitted
        dirs write .: by `rw:.`
        dirs ./data/deep/new: refused, `./data/deep/new` decides what this program builds or trusts, and functions do not change it"#]].assert_eq(&called.all());
    // Beside all this the folder is theirs.
    for (what, path) in [
        ("create", "data/new"),
        ("remove", "data/new"),
        ("create", "out/.cargo"),
    ] {
        assert_eq!(
            act(&host, what, ".", path).await.seen(),
            "done",
            "{what} {path}"
        );
    }
    assert_eq!(project.text("data/deep/file"), "deep");
    assert_eq!(project.text("beside/secret"), "secret");
}

#[tokio::test]
async fn a_folder_in_what_is_built_is_granted_to_be_read_alone() {
    let project = Project::new();
    let kept = project.path().join("data");
    let called = act(
        &project.host(&["rw:data/deep"]).kept(&kept),
        "stat",
        "x",
        "y",
    )
    .await;
    expect!["failed: the grant `rw:data/deep` of `client` lies in what a component is built from, which functions do not change; grant it with `ro:`, or a folder elsewhere, or take the grant back with `openprogram revoke client --dir rw:data/deep`"].assert_eq(&called.seen());
    let host = project.host(&["ro:data/deep"]).kept(&kept);
    assert_eq!(act(&host, "open", "data/deep", "file").await.seen(), "done");
}

#[tokio::test]
async fn names_under_which_our_files_are_written_are_ours() {
    let project = Project::new();
    let host = project.host(&["rw:."]);
    for name in [
        "openprogram.toml.4711.new",
        "openprogram.lock.4711.new",
        ".openprogram.toml.swp",
    ] {
        std::fs::write(project.path().join(name), "half").unwrap();
        for what in ["open", "open-to-write", "create", "remove"] {
            let seen = act(&host, what, ".", name).await.seen();
            assert_eq!(seen, "not-permitted", "{what} {name}");
        }
        assert_eq!(project.text(name), "half");
    }
    let listed = host.call("list", json!({"path": "."})).await;
    assert_eq!(listed.result, Ok(json!(["beside", "data", "out"])));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_becomes_one_of_ours_is_written_no_more() {
    let project = Project::new();
    let host = project
        .host(&["rw:."])
        .limits(|limits| limits.host_calls = u64::MAX);
    let (at, ours) = (
        project.path().join("out/new"),
        project.path().join("openprogram.toml"),
    );
    let moved = std::thread::spawn(move || {
        let begun = std::time::Instant::now();
        while !at.metadata().is_ok_and(|found| found.len() > 0) {
            assert!(begun.elapsed().as_secs() < 60, "nothing is written");
            std::thread::yield_now();
        }
        std::fs::rename(at, ours).unwrap();
    });
    let append = json!({"path": "out/new", "bytes": 1, "times": 2_000_000});
    let called = host.call("append", append).await;
    moved.join().unwrap();
    let seen = called.seen();
    assert!(seen.starts_with("failed: the function failed"), "{seen}");
    assert!(project.text("openprogram.toml").len() < 2_000_000);
}

#[cfg(unix)]
#[tokio::test]
async fn links_stay_where_they_are_and_granted_folders_too() {
    let project = Project::new();
    std::os::unix::fs::symlink("/etc", project.path().join("data/escape")).unwrap();
    let host = project
        .host(&["rw:.", "rw:data"])
        .anchor(&project.path().join("data/deep"))
        .anchor(&project.path().join("out"));
    for (from, to) in [
        ("data/escape", "new"),
        ("data/escape", "data/other"),
        ("out", "gone"),
        ("data/deep", "gone"),
        ("data", "gone"),
        ("beside", "out"),
    ] {
        assert_eq!(
            rename(&host, from, to).await,
            "not-permitted",
            "{from} {to}"
        );
    }
    assert_eq!(
        act(&host, "remove-folder", ".", "out").await.seen(),
        "not-permitted"
    );
    let arguments = json!({
        "what": "rename", "folder": "data", "path": "escape", "other_folder": ".", "other_path": "x",
    });
    let called = host.call("act-on-two", arguments).await;
    expect![[r#"
        not-permitted
        dirs write data: by `rw:data`
        dirs data/escape: refused, `data/escape` is a link, and functions move none"#]]
    .assert_eq(&called.all());
    assert_eq!(rename(&host, "beside", "data/new").await, "done");
}

async fn rename(host: &WebHost, from: &str, to: &str) -> String {
    let arguments = json!({
        "what": "rename", "folder": ".", "path": from, "other_folder": ".", "other_path": to,
    });
    host.call("act-on-two", arguments).await.seen()
}
