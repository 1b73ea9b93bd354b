//! Scripts that shells read to complete the command line.

use std::process::Command;

use super::project;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn every_shell_gets_a_script_that_knows_the_subcommands() {
    let project = project().file("openprogram.toml", "a broken project file");
    for shell in SHELLS {
        let script = project.run(&["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (0, ""), "{shell}");
        for command in ["run", "doctor", "completions"] {
            assert!(script.stdout.contains(command), "{shell}: {command}");
        }
    }
    let unknown = project.run(&["completions", "csh"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    for shell in SHELLS {
        assert!(unknown.stderr.contains(shell), "{}", unknown.stderr);
    }
}

#[test]
fn bash_reads_its_script_and_offers_the_subcommands() {
    let project = project();
    let script = project.run(&["completions", "bash"]).stdout;
    let project = project.file("completions.bash", script);
    let bash = |arguments: &[&str]| {
        let mut command = Command::new("bash");
        let output = command.args(arguments).current_dir(project.folder());
        let output = output.output().expect("bash is installed");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words}");
        String::from_utf8(output.stdout).unwrap()
    };
    bash(&["-n", "completions.bash"]);
    for (word, expected) in [
        ("", &["run", "show", "doctor", "completions"][..]),
        ("doc", &["doctor"]),
    ] {
        let ask = format!(
            "source completions.bash; COMP_WORDS=(openprogram '{word}'); COMP_CWORD=1; \
             _openprogram openprogram '{word}' openprogram; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let offered = bash(&["-c", &ask]);
        let offered: Vec<_> = offered.lines().collect();
        for command in expected {
            assert!(offered.contains(command), "`{word}`: {offered:?}");
        }
        assert!(
            word.is_empty() || offered.len() == expected.len(),
            "{offered:?}"
        );
    }
}
