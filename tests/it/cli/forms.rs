//! `inspect --as`: functions exactly as a model reads them, at every provider.

use expect_test::expect;
use openprogram_tests::cli::{Outcome, Project};
use openprogram_tests::fuzz::Random;
use openprogram_tests::guests::root;
use openprogram_tests::signatures::{Signature, component};
use wit_parser::Resolve;

use super::{project, project_with};

fn shown(project: &Project, arguments: &[&str]) -> String {
    let mut all = vec!["inspect"];
    all.extend(arguments);
    let outcome = project.run(&all);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.stderr, "", "{outcome:?}");
    outcome.stdout
}

#[test]
fn functions_are_shown_as_each_provider_is_sent_them() {
    let project = project_with(&["essays"]);
    let of = |form: &[&str]| {
        let mut arguments = vec!["essays", "--as"];
        arguments.extend(form);
        shown(&project, &arguments)
    };
    insta::assert_snapshot!("form_tools_openai", of(&["tools", "--dialect", "openai"]));
    insta::assert_snapshot!(
        "form_tools_anthropic",
        of(&["tools", "--dialect", "anthropic"])
    );
    insta::assert_snapshot!("form_tools_mcp", of(&["tools", "--dialect", "mcp"]));
    insta::assert_snapshot!("form_menu", of(&["menu"]));
    insta::assert_snapshot!("form_wit", of(&["wit"]));
    // A model has the form of its server, and needs neither its key nor the network for it.
    let openai = of(&["tools", "--dialect", "openai"]);
    assert_eq!(of(&["tools", "--model", "openai:gpt-5"]), openai);
    let anthropic = of(&["tools", "--dialect", "anthropic"]);
    assert_eq!(of(&["tools", "--model", "anthropic:claude-x"]), anthropic);
    // The model of this project is a component, which is sent no JSON of a provider.
    assert_eq!(of(&["tools"]), of(&["tools", "--dialect", "mcp"]));
    let project = project.file(
        "openprogram.toml",
        "model = \"anthropic:claude-x\"\n[components]\nessays = \"essays.wasm\"\n",
    );
    assert_eq!(shown(&project, &["essays", "--as", "tools"]), anthropic);
}

#[test]
fn forms_are_told_to_programs_and_wrong_ones_are_refused() {
    let project = project_with(&[]);
    for form in ["tools", "menu", "wit"] {
        let text = shown(&project, &["support", "--as", form]);
        let told = project.run(&["inspect", "support", "--as", form, "--json"]);
        let told = told.json()[form].clone();
        match told.as_str() {
            Some(told) => assert_eq!(told.trim_end(), text.trim_end()),
            None => assert_eq!(
                told,
                serde_json::from_str::<serde_json::Value>(&text).unwrap()
            ),
        }
    }
    let refused = |arguments: &[&str]| {
        let mut all = vec!["inspect", "support"];
        all.extend(arguments);
        let outcome: Outcome = project.run(&all);
        format!(
            "{} {}",
            outcome.code,
            outcome.stderr.lines().next().unwrap_or_default()
        )
    };
    let lines = [
        refused(&["--as", "menu", "--dialect", "openai"]),
        refused(&["--as", "tools", "--model", "nobody:x"]),
        refused(&["--as", "tools", "--model", "nobody"]),
        refused(&["--as", "tools", "--model", "script:x"]),
        refused(&["--as", "xml"]),
        refused(&["--dialect", "openai"]),
    ];
    expect![[r#"
        2 error: `--dialect` and `--model` choose the form of `--as tools`; leave them out
        4 error: there is no provider `nobody`; the known ones are `anthropic:MODEL`, `openai:MODEL`
        2 error: `nobody` is not the name of a model; it looks like `anthropic:MODEL` or `openai:MODEL`
        2 error: `script:x` is sent no tools in a form of its own; choose one with `--dialect`
        2 error: invalid value 'xml' for '--as <FORM>'
        2 error: the following required arguments were not provided:"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn the_wit_that_is_shown_is_wit() {
    let mut random = Random::new(11);
    let mut next = 0;
    let signatures: Vec<_> = (0..20)
        .map(|_| Signature::random(&mut random, &mut next))
        .collect();
    let project = project()
        .guests(&["support", "essays", "every-type", "two-versions"])
        .file("random.wasm", component(&signatures).unwrap());
    for name in ["support", "essays", "every-type", "two-versions", "random"] {
        let file = format!("{name}.wasm");
        let outcome = project.run(&["inspect", &file, "--as", "wit"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let mut resolve = Resolve::default();
        resolve.push_dir(root().join("wit")).unwrap();
        let text = format!("package test:all;\n{}", outcome.stdout);
        let pushed = resolve.push_source("shown.wit", &text);
        assert!(pushed.is_ok(), "{name}: {pushed:?}\n{text}");
    }
}
