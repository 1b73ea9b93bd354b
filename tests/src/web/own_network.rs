//! A network of its own for one test: addresses of the internet that are on this machine, and a
//! resolver that asks the server of the test.
//!
//! The test runs itself again in new namespaces of Linux. Where the system does not permit them the
//! test says so and passes, except where `OPENPROGRAM_DEMAND_OWN_NETWORK` is `1`: there it fails.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Names the test that runs inside.
const INSIDE: &str = "OPENPROGRAM_OWN_NETWORK";

/// Makes the network, puts the files of the resolver in place, and becomes the test.
const SCRIPT: &str = r#"set -e
files=$1
shift
ip link set lo up
for address in $ADDRESSES; do ip addr add "$address" dev lo; done
for file in resolv.conf hosts nsswitch.conf; do
    if [ -e "/etc/$file" ]; then mount --bind "$files/$file" "/etc/$file"; fi
done
exec "$@"
"#;

/// The variable that makes a test fail instead of being left out where there can be no network.
const DEMANDED: &str = "OPENPROGRAM_DEMAND_OWN_NETWORK";

/// Two of the internet, and some that no guest may reach without a grant of the address.
const ADDRESSES: &str = "93.184.216.34/32 93.184.216.35/32 10.0.0.5/32 169.254.169.254/32";

/// Runs a scenario in a network of its own. Called once by a test, with all that it does.
///
/// # Panics
/// When the scenario fails, and where `OPENPROGRAM_DEMAND_OWN_NETWORK` is `1` and there can be no such network.
pub fn in_own_network<F: Future<Output = ()>>(scenario: F) {
    let test = name_of::<F>();
    if env::var(INSIDE).as_deref() == Ok(&test) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(scenario);
        return;
    }
    let Some(flags) = permitted() else {
        let message = format!(
            "SKIPPED `{test}`: this system permits no network namespaces (`unshare --net --mount`, \
             `ip`)"
        );
        let is_demanded = env::var(DEMANDED).as_deref() == Ok("1");
        assert!(!is_demanded, "{message}");
        eprintln!("{message}");
        return;
    };
    let files = tempfile::tempdir().expect("a folder");
    write_files(files.path());
    let mut command = Command::new("unshare");
    command.args(flags).args(["sh", "-c", SCRIPT, "sh"]);
    command.arg(files.path());
    command.arg(env::current_exe().expect("this program"));
    command.args(["--exact", &test, "--nocapture"]);
    command.env(INSIDE, &test).env("ADDRESSES", ADDRESSES);
    // Nothing listens there: whoever asks a proxy fails.
    for proxy in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env(proxy, "http://127.0.0.1:9");
        command.env(proxy.to_uppercase(), "http://127.0.0.1:9");
    }
    let output = command.output().expect("`unshare` runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The path of the test that a future of it belongs to.
fn name_of<F>() -> String {
    let name = std::any::type_name::<F>();
    let (_, path) = name.split_once("::").unwrap_or(("", name));
    path.trim_end_matches("::{{closure}}").to_owned()
}

/// How namespaces are made here: as root, or as the root of a namespace of users.
fn permitted() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [
        &["--net", "--mount"],
        &["--map-root-user", "--net", "--mount"],
    ];
    WAYS.into_iter().find(|flags| {
        let mut command = Command::new("unshare");
        command.args(*flags).args(["ip", "link", "set", "lo", "up"]);
        command.output().is_ok_and(|output| output.status.success())
    })
}

fn write_files(folder: &Path) {
    for (name, text) in [
        (
            "resolv.conf",
            "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
        ),
        ("hosts", "127.0.0.1 localhost\n"),
        ("nsswitch.conf", "hosts: files dns\n"),
    ] {
        fs::write(folder.join(name), text).expect("a file");
    }
}
