//! What one call may write, make, hold and list.

use openprogram_component::Limits;
use serde_json::json;

use super::Project;

/// A call with this limit, how it ends, and how many bytes its report says were written.
async fn check(
    limit: impl FnOnce(&mut Limits),
    function: &str,
    mut arguments: serde_json::Value,
    expected: &str,
    written: u64,
) {
    let project = Project::new();
    arguments["folder"] = json!("out");
    let called = project
        .host(&["rw:out"])
        .limits(limit)
        .call(function, arguments)
        .await;
    assert_eq!(
        (called.seen().as_str(), called.report.written_bytes),
        (expected, written)
    );
}

#[tokio::test]
async fn a_call_writes_so_many_bytes_and_no_more() {
    let limit = |limits: &mut Limits| limits.files_bytes = 10_000;
    let ended = "failed: the component wrote more than 10000 bytes to files in one run";
    let append = |times: u32| json!({"path": "out/new", "bytes": 1_000, "times": times});
    check(limit, "append", append(10), "null", 10_000).await;
    check(limit, "append", append(11), ended, 10_000).await;
    let resize = |size: u64| json!({"path": "new", "size": size});
    check(limit, "resize", resize(10_000), "done", 10_000).await;
    check(limit, "resize", resize(10_001), ended, 0).await;
    // A hole counts.
    let poke = |at: u64| json!({"path": "new", "at": at});
    check(limit, "poke", poke(9_999), "done", 10_000).await;
    check(limit, "poke", poke(10_000), ended, 0).await;
}

#[tokio::test]
async fn calls_of_one_run_write_and_make_so_much_together() {
    let project = Project::new();
    let host = project.host(&["rw:out"]).limits(|limits| {
        limits.files_bytes = 10_000;
        limits.files_count = 3;
    });
    let append = json!({"path": "out/file", "bytes": 1_000, "times": 6});
    let make = json!({"path": "out", "count": 2});
    let ended = [
        "failed: the component wrote more than 10000 bytes to files in one run",
        "failed: the component made more than 3 files and folders in one run",
    ];
    for (host, expected) in [(host.clone().in_one_run(), ended), (host, ["null", "null"])] {
        for expected in [["null", "null"], expected] {
            let written = host.call("append", append.clone()).await;
            let clear = |n: u32| std::fs::remove_file(project.path().join(format!("out/{n}")));
            let made = host.call("make", make.clone()).await;
            assert_eq!([written.seen(), made.seen()], expected);
            assert!(written.report.written_bytes <= 6_000, "{written:?}");
            (clear(0), clear(1)).0.unwrap();
        }
    }
}

#[tokio::test]
async fn a_file_grows_to_its_limit_and_no_further() {
    let limit = |limits: &mut Limits| limits.file_size = 5_000;
    let ended = "failed: the function made a file larger than 5000 bytes";
    let poke = |at: u64| json!({"path": "new", "at": at});
    check(limit, "poke", poke(4_999), "done", 5_000).await;
    check(limit, "poke", poke(5_000), ended, 0).await;
    check(limit, "poke", poke(u64::MAX), ended, 0).await;
    check(
        limit,
        "resize",
        json!({"path": "new", "size": u64::MAX}),
        ended,
        0,
    )
    .await;
    let append = json!({"path": "out/new", "bytes": 2_000, "times": 3});
    check(limit, "append", append, ended, 4_000).await;
}

#[tokio::test]
async fn a_call_makes_so_many_files_and_no_more() {
    let limit = |limits: &mut Limits| limits.files_count = 3;
    let make = |count: u32| json!({"path": "out", "count": count});
    check(limit, "make", make(3), "null", 0).await;
    let ended = "failed: the component made more than 3 files and folders in one run";
    check(limit, "make", make(4), ended, 0).await;
}

#[tokio::test]
async fn listings_are_bounded_together_before_they_are_read() {
    let project = Project::new();
    for number in 0..20 {
        std::fs::write(project.path().join(format!("out/{number}")), "").unwrap();
    }
    let host = project
        .host(&["ro:out"])
        .limits(|limits| limits.folder_entries = 50);
    let hold = |count: u32| host.call("hold-listings", json!({"folder": "out", "count": count}));
    assert_eq!(hold(2).await.seen(), "2 held");
    let ended = "failed: the function listed more than 50 entries of folders at once";
    assert_eq!(hold(3).await.seen(), ended);
}

#[tokio::test]
async fn open_files_are_handles() {
    let project = Project::new();
    let host = project
        .host(&["ro:out"])
        .limits(|limits| limits.handles = 100);
    let hold = |count: u32| {
        let arguments = json!({"folder": "out", "path": "file", "count": count});
        host.call("hold-files", arguments)
    };
    assert_eq!(hold(50).await.seen(), "50 held");
    let ended = "failed: the function holds more than 100 handles";
    assert_eq!(hold(200).await.seen(), ended);
}

/// The host walks every step of a path, on threads of its own.
#[tokio::test]
async fn what_the_host_computes_for_a_path_is_computing_time_of_the_guest() {
    let project = Project::new();
    let deep = "d/".repeat(400);
    std::fs::create_dir_all(project.path().join("out").join(&deep)).unwrap();
    let host = project
        .host(&["ro:out"])
        .limits(|limits| limits.cpu_ms = 300);
    let look = |times: u32| json!({"folder": "out", "path": &deep, "times": times});
    let few = host.call("look-often", look(3)).await;
    assert_eq!(few.result, Ok(json!(3)));
    let before = few.report.cpu_us;
    let twice = host.call("look-often", look(6)).await;
    assert!(twice.report.cpu_us > before, "{twice:?} after {before}");
    let ended = host.call("look-often", look(100_000)).await;
    let expected = "failed: the function computed longer than 300 ms";
    assert_eq!(ended.seen(), expected, "{ended:?}");
    // Without the walk it would have been some thousand calls.
    assert!(ended.report.host_calls < 2_000, "{ended:?}");
}

#[tokio::test]
async fn cheap_calls_of_the_host_are_counted_and_end() {
    let project = Project::new();
    let host = project.host(&[]).limits(|limits| limits.host_calls = 1_000);
    let ask = |times: u32| host.call("ask-time", json!({"times": times}));
    let asked = ask(900).await;
    assert_eq!(asked.result, Ok(json!(900)));
    assert!(
        (900..1_000).contains(&asked.report.host_calls),
        "{:?}",
        asked.report
    );
    let ended = ask(1_001).await;
    assert_eq!(
        ended.seen(),
        "failed: the function called the host more than 1000 times"
    );
    assert_eq!(ended.report.host_calls, 1_000);
}
