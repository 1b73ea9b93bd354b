//! The help of every command is one snapshot, and no command is missing from it.

use super::project;

#[test]
fn every_subcommand_appears_in_the_help() {
    let project = project();
    let help = project.run(&["--help"]);
    assert_eq!(help.code, 0, "{help:?}");
    let listed = help.stdout.split("Commands:").nth(1).unwrap();
    let commands: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.starts_with("Options:"))
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    assert_eq!(
        commands,
        [
            "new",
            "build",
            "inspect",
            "add",
            "update",
            "remove",
            "functions",
            "grant",
            "revoke",
            "grants",
            "run",
            "decide",
            "chat",
            "sessions",
            "show",
            "fork",
            "export",
            "import",
            "audit",
            "providers",
            "doctor",
            "config",
            "completions"
        ]
    );
    let mut shown = help.stdout.clone();
    for command in commands {
        let help = project.run(&[command, "--help"]);
        assert_eq!(help.code, 0, "{command}: {help:?}");
        // A shell reads its script as it is.
        assert!(
            help.stdout.contains("--json") || command == "completions",
            "`{command}` has no `--json`"
        );
        shown.push_str(&format!(
            "\n$ openprogram {command} --help\n{}",
            help.stdout
        ));
    }
    insta::assert_snapshot!("help", shown);
}
