//! Two guests in the same folders: one lets folders change places while the other is at work there.

use std::fs;
use std::os::unix::fs::symlink;

use openprogram_tests::web::WebHost;
use serde_json::json;
use tokio::task::JoinHandle;

use super::Project;

const SWAPS: u32 = 400;
const LOOKS: u32 = 2_000;

/// A folder `s`, and another one to take its place in which the same names are links.
fn project() -> Project {
    let project = Project::new();
    let at = |path: &str| project.path().join(path);
    for folder in ["data/s/up", "data/s/state", "data/t"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for file in [
        "data/s/up/secret",
        "data/s/state/sessions.db",
        "data/s/plain",
    ] {
        fs::write(at(file), "mine").unwrap();
    }
    symlink("../../beside", at("data/t/up")).unwrap();
    symlink("../../.openprogram", at("data/t/state")).unwrap();
    symlink("../../beside/secret", at("data/t/plain")).unwrap();
    project
}

/// A guest that swaps two folders; it says how often it did.
fn swapping(host: &WebHost, folder: &str, below: &str) -> JoinHandle<u64> {
    let (path, other) = (format!("{below}s"), format!("{below}t"));
    let arguments = json!({"folder": folder, "path": path, "other": other, "times": SWAPS});
    let host = host.clone();
    tokio::spawn(async move {
        let swapped = host.call("swap-often", arguments).await.result.unwrap();
        swapped.as_u64().unwrap()
    })
}

/// What one guest reads in all these places while another one swaps.
async fn read_while_swapped(project: &Project, folder: &str, below: &str) -> Vec<String> {
    let host = project.host(&[&format!("rw:{folder}")]).in_one_run();
    let swapping = swapping(&host, folder, below);
    let mut found = Vec::new();
    for path in ["s/up/secret", "s/state/sessions.db", "s/plain"] {
        let path = format!("{below}{path}");
        let arguments = json!({"folder": folder, "path": path, "times": LOOKS});
        let read = host.call("read-often", arguments).await.result.unwrap();
        found.extend(
            read.as_array()
                .unwrap()
                .iter()
                .map(|text| text.as_str().unwrap().to_owned()),
        );
    }
    assert!(swapping.await.unwrap() > 0, "nothing was swapped");
    found.sort();
    found.dedup();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_for_one_of_links_leads_nowhere_else() {
    let project = project();
    assert_eq!(read_while_swapped(&project, "data", "").await, ["mine"]);
}

/// With the whole project granted the links stay inside of the folder, and lead to what is ours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_for_one_of_links_does_not_lead_to_what_is_ours() {
    let project = project();
    let found = read_while_swapped(&project, ".", "data/").await;
    // What lies beside is granted here; sessions are not.
    assert!(!found.contains(&"sessions".to_owned()), "{found:?}");
    assert!(found.contains(&"mine".to_owned()), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_behind_a_folder_that_is_swapped() {
    let project = project();
    for (folder, below) in [("data", ""), (".", "data/")] {
        let host = project.host(&[&format!("rw:{folder}")]).in_one_run();
        let swapping = swapping(&host, folder, below);
        let paths: &[&str] = match folder {
            "data" => &[
                "s/up/secret",
                "s/up/new",
                "s/state/sessions.db",
                "s/state/new",
                "s/plain",
            ],
            // What lies beside is granted here.
            _ => &["s/state/sessions.db", "s/state/new"],
        };
        for path in paths {
            let arguments = json!({
                "folder": folder, "path": format!("{below}{path}"), "text": "pwned", "times": LOOKS / 4,
            });
            host.call("write-often", arguments).await.result.unwrap();
        }
        assert!(swapping.await.unwrap() > 0, "nothing was swapped");
        assert_eq!(project.text("beside/secret"), "secret", "{folder}");
        assert_eq!(project.text("beside/new"), "gone", "{folder}");
        assert_eq!(
            project.text(".openprogram/sessions.db"),
            "sessions",
            "{folder}"
        );
        assert_eq!(project.text(".openprogram/new"), "gone", "{folder}");
    }
}
