//! Grants of folders and variables.

use expect_test::{Expect, expect};
use openprogram_tests::web::WebHost;
use serde_json::json;

use super::{Project, act};

/// What the guest has of a file with these grants, and what is noted.
async fn check(grants: &[&str], function: &str, path: &str, expected: Expect) {
    let project = Project::new();
    let host = project.host(grants);
    let called = host
        .call(function, json!({"path": path, "text": "new"}))
        .await;
    expected.assert_eq(&called.all());
}

#[tokio::test]
async fn file_reach_without_a_grant_finds_no_folder() {
    check(
        &[],
        "read",
        "data/file",
        expect![[r#"
        failed: the function failed: "No such file or directory (os error 44)"
    "#]],
    )
    .await;
    let project = Project::new();
    let folders = project.host(&[]).call("folders", json!({})).await;
    assert_eq!(folders.result, Ok(json!([])));
}

#[tokio::test]
async fn a_granted_folder_is_read_and_written_as_the_grant_says() {
    check(
        &["ro:data"],
        "read",
        "data/file",
        expect![[r#"
        data
        dirs read data: by `ro:data`"#]],
    )
    .await;
    check(
        &["rw:data"],
        "read",
        "data/deep/file",
        expect![[r#"
        deep
        dirs read data: by `rw:data`"#]],
    )
    .await;
    check(
        &["ro:data=/in"],
        "read",
        "/in/file",
        expect![[r#"
        data
        dirs read data: by `ro:data=/in`"#]],
    )
    .await;
    check(
        &["rw:out"],
        "write",
        "out/new",
        expect![[r#"
        null
        dirs write out: by `rw:out`"#]],
    )
    .await;
    check(
        &["ro:out", "rw:out"],
        "write",
        "out/new",
        expect![[r#"
        null
        dirs write out: by `rw:out`"#]],
    )
    .await;
}

#[tokio::test]
async fn a_file_just_outside_of_a_grant_is_refused() {
    check(&["ro:data"], "write", "data/file", expect![[r#"
        failed: the function failed: "Read-only file system (os error 69)"
        dirs data/file: refused, `data/file` is granted to be read and not to be changed; needs `rw:data`"#]]).await;
    check(
        &["ro:data", "rw:out"],
        "read",
        "beside/secret",
        expect![[r#"
        failed: the function failed: "No such file or directory (os error 44)"
    "#]],
    )
    .await;
    check(&["ro:data"], "read", "data/../beside/secret", expect![[r#"
        failed: the function failed: "Operation not permitted (os error 63)"
        dirs read data: by `ro:data`
        dirs data/../beside/secret: refused, `data/../beside/secret` leads out of the granted folder"#]]).await;
    check(
        &["ro:data/deep"],
        "read",
        "data/file",
        expect![[r#"
        failed: the function failed: "No such file or directory (os error 44)"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_folder_that_asks_is_asked_about_once_in_a_call() {
    let project = Project::new();
    let host = project.host(&["ask rw:out"]);
    let refused = host.call("make", json!({"path": "out", "count": 3})).await;
    expect![[r#"
        failed: the function failed: "Operation not permitted (os error 63)"
        dirs out/0: refused, `out/0` needs a yes, which was not given"#]]
    .assert_eq(&refused.all());
    assert_eq!(refused.asked.len(), 1);
    let host = host.approving();
    let made = host.call("make", json!({"path": "out", "count": 3})).await;
    expect![[r#"
        null
        dirs write out: by `ask rw:out`"#]]
    .assert_eq(&made.all());
    assert_eq!(made.asked.len(), 1);
    let (what, grant) = (&made.asked[0].what, &made.asked[0].grant);
    assert_eq!((what.as_str(), grant.as_str()), ("write out", "ask rw:out"));
}

#[tokio::test]
async fn a_grant_that_means_no_folder_ends_the_call_with_the_remedy() {
    let project = Project::new();
    let root = project.path().to_string_lossy().into_owned();
    for (grant, expected) in [
        (
            "rw:missing",
            expect![
                "failed: the grant `rw:missing` of `client` means a folder that is not there; make it with `mkdir -p PROJECT/missing`, or take the grant back with `openprogram revoke client --dir rw:missing`"
            ],
        ),
        (
            "ro:data/file",
            expect![
                "failed: the grant `ro:data/file` of `client` means a file; grant the folder that it lies in, or take the grant back with `openprogram revoke client --dir ro:data/file`"
            ],
        ),
        (
            "ro:.openprogram",
            expect![
                "failed: the grant `ro:.openprogram` of `client` means what belongs to this program itself, which is never granted, or take the grant back with `openprogram revoke client --dir ro:.openprogram`"
            ],
        ),
        (
            "ro:data/../.openprogram=state",
            expect![
                "failed: the grant `ro:data/../.openprogram=state` of `client` means what belongs to this program itself, which is never granted, or take the grant back with `openprogram revoke client --dir ro:data/../.openprogram=state`"
            ],
        ),
    ] {
        let called = act(&project.host(&[grant]), "stat", "x", "y").await;
        expected.assert_eq(&called.seen().replace(&root, "PROJECT"));
    }
    let twice = project.host(&["ro:data=in", "ro:out=./in/"]);
    expect!["failed: the grant `ro:out=./in/` of `client` shows another folder under the name `in` than `ro:data=in`; give one of them another name with `=NAME`, or take the grant back with `openprogram revoke client --dir ro:out=./in/`"].assert_eq(&act(&twice, "stat", "x", "y").await.seen());
}

#[cfg(unix)]
#[tokio::test]
async fn a_grant_through_a_link_is_refused_with_the_folder_that_is_meant() {
    let project = Project::new();
    let root = project.path().to_string_lossy().into_owned();
    std::os::unix::fs::symlink("data", project.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", project.path().join("gone")).unwrap();
    for (grant, expected) in [
        (
            "ro:link",
            expect![
                "failed: the grant `ro:link` of `client` leads through the link PROJECT/link, which shows nobody where it leads; grant what is meant with `openprogram grant client --dir ro:PROJECT/data=link`, or take the grant back with `openprogram revoke client --dir ro:link`"
            ],
        ),
        (
            "rw:out/../link/deep=deep",
            expect![
                "failed: the grant `rw:out/../link/deep=deep` of `client` leads through the link PROJECT/out/../link, which shows nobody where it leads; grant what is meant with `openprogram grant client --dir rw:PROJECT/data/deep=deep`, or take the grant back with `openprogram revoke client --dir rw:out/../link/deep=deep`"
            ],
        ),
        (
            "ro:gone",
            expect![
                "failed: the grant `ro:gone` of `client` leads through the link PROJECT/gone, which shows nobody where it leads; put a folder there, or take the grant back with `openprogram revoke client --dir ro:gone`"
            ],
        ),
    ] {
        let called = act(&project.host(&[grant]), "stat", "x", "y").await;
        expected.assert_eq(&called.seen().replace(&root, "PROJECT"));
    }
}

#[tokio::test]
async fn the_line_that_a_refusal_needs_asks_where_the_grant_asks() {
    let project = Project::new();
    let host = project.host(&["ask ro:data"]).approving();
    let called = act(&host, "create", "data", "new").await;
    assert!(
        called.noted().contains("needs `ask rw:data`"),
        "{}",
        called.noted()
    );
}

#[tokio::test]
async fn a_folder_that_was_replaced_is_found_again() {
    let project = Project::new();
    let host = project.host(&["rw:out"]);
    let read = || host.call("read", json!({"path": "out/file"}));
    assert_eq!(read().await.result, Ok(json!("out")));
    std::fs::rename(project.path().join("out"), project.path().join("old")).unwrap();
    assert!(read().await.seen().contains("is not there"));
    std::fs::create_dir(project.path().join("out")).unwrap();
    std::fs::write(project.path().join("out/file"), "fresh").unwrap();
    assert_eq!(read().await.result, Ok(json!("fresh")));
}

#[tokio::test]
async fn variables_are_seen_when_they_are_granted_and_no_others() {
    let ask = |host: WebHost, name: &'static str| async move {
        host.call("variable", json!({"name": name})).await.result
    };
    let without = || WebHost::of("file-reach");
    let with = || without().variable("SEEN", "value");
    assert_eq!(ask(without(), "SEEN").await, Ok(json!(null)));
    assert_eq!(ask(with(), "SEEN").await, Ok(json!("value")));
    for other in ["PATH", "HOME", "seen", "SEEN2"] {
        assert_eq!(ask(with(), other).await, Ok(json!(null)), "{other}");
    }
    let names = with().call("variables", json!({})).await.result;
    assert_eq!(names, Ok(json!(["SEEN"])));
    let names = without().call("variables", json!({})).await.result;
    assert_eq!(names, Ok(json!([])));
}
