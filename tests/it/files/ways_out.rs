//! Ways out of a folder, or into more than a grant allows. Each ends in an error of the guest, and
//! nothing is changed.

use expect_test::expect;
use serde_json::json;

use super::{Project, act};

#[tokio::test]
async fn a_folder_to_read_is_changed_by_nothing() {
    let project = Project::new();
    let host = project.host(&["ro:data", "rw:out"]);
    // Among them GHSA-2r75: opening to read with TRUNCATE.
    for what in [
        "truncate",
        "create",
        "create-new",
        "open-to-write",
        "make-folder",
        "remove-folder",
        "remove",
        "set-times",
        "resize-unwritable",
        "write-unwritable",
        "set-times-unwritable",
    ] {
        let called = act(&host, what, "data", "file").await;
        assert_eq!(called.seen(), "read-only", "{what}");
        let noted = called.noted();
        assert!(noted.contains("needs `rw:data`"), "{what}: {noted}");
    }
    // GHSA-4ch3: by a name elsewhere.
    for what in ["rename", "link", "symlink"] {
        for (from, to) in [("data", "out"), ("out", "data")] {
            let arguments = json!({
                "what": what, "folder": from, "path": "file", "other_folder": to, "other_path": "new",
            });
            let called = host.call("act-on-two", arguments).await;
            let seen = called.seen();
            assert!(
                ["read-only", "not-permitted"].contains(&seen.as_str()),
                "{what} {from} {to}: {seen}"
            );
        }
    }
    assert_eq!(
        (project.text("data/file"), project.text("out/file")),
        ("data".into(), "out".into())
    );
    assert_eq!(
        (project.text("data/new"), project.text("out/new")),
        ("gone".into(), "gone".into())
    );
}

#[tokio::test]
async fn functions_rename_and_make_no_links_between_folders_to_write() {
    let project = Project::new();
    let host = project.host(&["rw:data", "rw:out"]);
    for (what, expected) in [
        ("link", "not-permitted"),
        ("symlink", "not-permitted"),
        ("rename", "done"),
    ] {
        let arguments = json!({
            "what": what, "folder": "data", "path": "file", "other_folder": "out",
            "other_path": "new",
        });
        assert_eq!(
            host.call("act-on-two", arguments).await.seen(),
            expected,
            "{what}"
        );
    }
    assert_eq!(project.text("out/new"), "data");
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_dots_and_slashes_lead_nowhere_else() {
    let project = Project::new();
    let data = project.path().join("data");
    for (target, link) in [
        ("../beside", "up"),
        ("/etc", "absolute"),
        ("../beside/secret", "secret"),
        ("deep", "inside"),
        ("../openprogram.toml", "config"),
    ] {
        std::os::unix::fs::symlink(target, data.join(link)).unwrap();
    }
    let host = project.host(&["rw:data"]);
    // Among them GHSA-vqjp: a slash behind the name of a link.
    for path in [
        "..",
        "../",
        "../beside/secret",
        "up",
        "up/",
        "up/.",
        "up/secret",
        "up/../beside/secret",
        "absolute/",
        "absolute/passwd",
        "/etc/passwd",
        "secret",
        "secret/",
        "inside/../../beside",
        "config",
        "../data/../openprogram.toml",
    ] {
        for what in [
            "open",
            "open-folder",
            "stat",
            "hash",
            "truncate",
            "create",
            "set-times",
        ] {
            let seen = act(&host, what, "data", path).await.seen();
            assert_eq!(seen, "not-permitted", "{what} {path}");
        }
        for what in ["make-folder", "remove-folder", "remove", "create-new"] {
            let seen = act(&host, what, "data", &format!("{path}/x")).await.seen();
            assert!(
                ["not-permitted", "not-directory"].contains(&seen.as_str()),
                "{what} {path}: {seen}"
            );
        }
    }
    // What the link itself is may be known, and it may go.
    for (what, path, expected) in [
        ("stat-itself", "up", "done"),
        ("open-itself", "up", "loop"),
        ("create-new", "up", "exist"),
        ("open", "inside/file", "done"),
        ("open-folder", "inside/", "done"),
        ("open", "file/", "not-directory"),
        ("create", "new/", "is-directory"),
        ("create", "none/new", "no-entry"),
        ("remove", "up", "done"),
    ] {
        assert_eq!(
            act(&host, what, "data", path).await.seen(),
            expected,
            "{what} {path}"
        );
    }
    assert_eq!(project.text("beside/secret"), "secret");
    assert_eq!(project.text("openprogram.toml"), "grants");
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_and_sockets_are_not_opened_and_nobody_waits_for_them() {
    let project = Project::new();
    let at = |name: &str| project.path().join("data").join(name);
    let made = std::process::Command::new("mkfifo")
        .arg(at("pipe"))
        .status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let host = project.host(&["rw:data"]);
    for path in ["pipe", "socket"] {
        for what in ["open", "open-itself", "open-to-write", "truncate", "create"] {
            let called = act(&host, what, "data", path).await;
            assert_eq!(called.seen(), "not-permitted", "{what} {path}");
        }
        assert_eq!(act(&host, "stat", "data", path).await.seen(), "done");
    }
}

#[tokio::test]
async fn what_belongs_to_the_program_is_kept_from_a_guest_that_has_the_project() {
    let project = Project::new();
    let host = project.host(&["rw:."]);
    let listed = host.call("list", json!({"path": "."})).await;
    assert_eq!(listed.result, Ok(json!(["beside", "data", "out"])));
    for path in [
        "openprogram.toml",
        "OPENPROGRAM.TOML",
        "openprogram.lock",
        ".openprogram",
        ".openprogram/sessions.db",
        ".openprogram/new",
        "data/../.openprogram/sessions.db",
        "data/openprogram.toml",
        "data/.openprogram",
    ] {
        for what in [
            "open",
            "truncate",
            "create",
            "stat",
            "make-folder",
            "remove",
            "set-times",
        ] {
            let seen = act(&host, what, ".", path).await.seen();
            assert_eq!(seen, "not-permitted", "{what} {path}");
        }
    }
    let rename = |from: &str, to: &str| {
        let arguments = json!({
            "what": "rename", "folder": ".", "path": from, "other_folder": ".", "other_path": to,
        });
        host.call("act-on-two", arguments)
    };
    assert_eq!(
        rename("data/file", "openprogram.toml").await.seen(),
        "not-permitted"
    );
    assert_eq!(rename(".openprogram", "mine").await.seen(), "not-permitted");
    let called = act(&host, "open", ".", "openprogram.lock").await;
    expect![[r#"
        not-permitted
        dirs read .: by `rw:.`
        dirs ./openprogram.lock: refused, `./openprogram.lock` belongs to this program itself, which is never granted"#]].assert_eq(&called.all());
    assert_eq!(project.text("openprogram.toml"), "grants");
    assert_eq!(act(&host, "open", ".", "data/file").await.seen(), "done");
}

#[cfg(unix)]
#[tokio::test]
async fn the_state_folder_is_known_under_every_name_and_stays_where_it_is() {
    let project = Project::new();
    let state = project.path().join("data/state");
    std::fs::create_dir(&state).unwrap();
    std::fs::write(state.join("sessions.db"), "sessions").unwrap();
    std::os::unix::fs::symlink("state", project.path().join("data/alias")).unwrap();
    let host = project.host(&["rw:."]).protected(&state);
    for path in [
        "data/state",
        "data/state/sessions.db",
        "data/alias/sessions.db",
        "data/state/new",
    ] {
        for what in ["open", "create", "truncate", "stat"] {
            assert_eq!(
                act(&host, what, ".", path).await.seen(),
                "not-permitted",
                "{what} {path}"
            );
        }
    }
    let arguments = json!({
        "what": "rename", "folder": ".", "path": "data", "other_folder": ".", "other_path": "mine",
    });
    assert_eq!(
        host.call("act-on-two", arguments).await.seen(),
        "not-permitted"
    );
    let inside = project.host(&["ro:data/state"]).protected(&state);
    let refused = act(&inside, "stat", "x", "y").await.seen();
    assert!(refused.contains("never granted"), "{refused}");
}
