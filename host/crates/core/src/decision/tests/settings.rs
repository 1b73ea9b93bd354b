//! Confidence, votes, groups and the way out: what they do and what is refused.

use serde_json::json;

use super::super::{
    Confidence, ConfidenceSource, DecisionSettings, GROUPS_MAX, GroupedMenu, MENU_OPTIONS_MAX,
    Menu, MenuOption, MinConfidence, OPTION_TEXT_CHARS_MAX, OptionGroup, OptionKind, OptionSpec,
    Payload, Pick, count_votes, parse_reply, rotation, settle,
};
use super::menu;
use crate::Json;
use crate::schema::CheckMode;

fn letters(names: &[&str]) -> Menu {
    let entry = |name: &&str| json!({"key": name, "handler": {"kind": "value", "value": name}});
    let entries: Vec<_> = names.iter().map(entry).collect();
    menu(&json!({"form": "dict", "entries": entries})).unwrap()
}

fn with_schema() -> Menu {
    let file = json!({"form": "dict", "entries": [
        {"key": "stop", "handler": {"kind": "value", "value": 0}},
        {"key": "plan", "handler": {"kind": "schema", "schema": {"steps": {"type": "int"}}}}
    ]});
    menu(&file).unwrap()
}

fn pick(menu: &Menu, name: &str) -> Pick {
    let reply = json!({"call": name}).to_string();
    parse_reply(menu, &reply, CheckMode::Strict).unwrap()
}

fn plan(menu: &Menu, steps: u32) -> Pick {
    let reply = json!({"call": "plan", "args": {"steps": steps}}).to_string();
    parse_reply(menu, &reply, CheckMode::Strict).unwrap()
}

fn group(name: &str, options: &[&str]) -> OptionGroup {
    OptionGroup {
        name: name.to_owned(),
        description: None,
        options: options.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn sure(level: f64, hand_off: Option<&str>) -> DecisionSettings {
    DecisionSettings {
        min_confidence: Some(MinConfidence {
            level,
            hand_off: hand_off.map(str::to_owned),
        }),
        ..DecisionSettings::default()
    }
}

fn grouped(groups: Vec<OptionGroup>) -> DecisionSettings {
    DecisionSettings {
        groups,
        ..DecisionSettings::default()
    }
}

fn votes(votes: u32) -> DecisionSettings {
    DecisionSettings {
        votes: Some(votes),
        ..DecisionSettings::default()
    }
}

fn check_refusals<const N: usize>(cases: [(DecisionSettings, &str, &str); N]) {
    for (settings, path, expected) in cases {
        let error = settings.check(&with_schema()).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.to_failure().details["path"], json!(path));
        assert!(!settings.is_default());
    }
}

#[test]
fn settings_that_cannot_hold_are_refused_with_what_to_change() {
    check_refusals([
        (
            sure(0.0, None),
            "min_confidence",
            "the minimum confidence is 0; use a number above 0 and at most 1",
        ),
        (
            sure(f64::NAN, None),
            "min_confidence",
            "the minimum confidence is NaN; use a number above 0 and at most 1",
        ),
        (
            sure(0.5, Some("human")),
            "min_confidence",
            "\"human\", which takes over unsure picks, is not one of the options; add it",
        ),
        (
            sure(0.5, Some("plan")),
            "min_confidence",
            "\"plan\", which takes over unsure picks, needs arguments; name an option without any",
        ),
        (
            votes(0),
            "votes",
            "a decision is put to the vote 0 times; use 1 to 15",
        ),
        (
            votes(16),
            "votes",
            "a decision is put to the vote 16 times; use 1 to 15",
        ),
    ]);
    for settings in [
        DecisionSettings::default(),
        sure(1.0, Some("stop")),
        votes(1),
        votes(15),
    ] {
        assert_eq!(settings.check(&with_schema()), Ok(None));
    }
}

#[test]
fn groups_that_cannot_hold_are_refused_with_what_to_change() {
    let many = (0..=GROUPS_MAX).map(|n| group(&n.to_string(), &["stop"]));
    check_refusals([
        (
            grouped(vec![group("all", &[])]),
            "groups",
            "the group \"all\" has no options; add one or leave the group out",
        ),
        (
            grouped(vec![group("all", &["stop", "go"])]),
            "groups",
            "the group \"all\" names \"go\", which is not one of the options",
        ),
        (
            grouped(vec![group("a", &["stop"]), group("b", &["stop"])]),
            "groups",
            "the option \"stop\" is in the groups twice; name it once",
        ),
        (
            grouped(vec![group("plan", &["stop"])]),
            "groups",
            "the menu of the groups cannot be made: the option `plan` is in the menu twice; rename one",
        ),
        (
            grouped(many.collect()),
            "groups",
            "the menu has 65 groups, more than the limit of 64; merge some",
        ),
    ]);
}

#[test]
fn a_pick_that_is_not_sure_enough_is_handed_off_or_fails() {
    let menu = letters(&["a", "b", "human"]);
    let known = |value: f64| {
        Some(Confidence {
            value,
            source: ConfidenceSource::Votes,
        })
    };
    let settled = |settings: &DecisionSettings, name: &str, confidence| {
        let wanted = settings.min_confidence.as_ref();
        settle(&menu, wanted, pick(&menu, name), confidence)
            .map(|settled| (settled.pick.index, settled.handed_off))
    };
    let off = DecisionSettings::default();
    assert_eq!(settled(&off, "b", None), Ok((1, None)));
    let fails = sure(0.8, None);
    assert_eq!(settled(&fails, "b", known(0.8)), Ok((1, None)));
    let unsure = settled(&fails, "b", known(0.6)).unwrap_err().to_failure();
    assert_eq!(
        unsure.to_json(),
        json!({
            "code": "decision",
            "message": "the pick \"b\" has the confidence 0.6 (votes), less than the minimum of 0.8",
            "details": {
                "kind": "low_confidence", "pick": "b", "min_confidence": 0.8,
                "confidence": 0.6, "confidence_source": "votes"
            }
        })
    );
    let unknown = settled(&fails, "b", None).unwrap_err().to_failure();
    assert_eq!(
        unknown.to_json(),
        json!({
            "code": "decision",
            "message": "the pick \"b\" has no known confidence, and the minimum is 0.8; ask for \
                        votes, or use a model that weighs options",
            "details": {"kind": "low_confidence", "pick": "b", "min_confidence": 0.8}
        })
    );
    let handed = sure(0.8, Some("human"));
    assert_eq!(settled(&handed, "a", known(0.9)), Ok((0, None)));
    let to_human = Ok((2, Some("a".to_owned())));
    assert_eq!(settled(&handed, "a", known(0.79)), to_human);
    assert_eq!(settled(&handed, "a", None), to_human);
    assert_eq!(settled(&handed, "human", known(0.1)), Ok((2, None)));
}

#[test]
fn the_most_votes_win_and_a_tie_names_the_tied() {
    let menu = with_schema();
    let stop = || pick(&menu, "stop");
    let elected = |picks: Vec<Pick>, n_asked: u32| count_votes(&menu, picks, n_asked);
    let won = elected(vec![stop(), plan(&menu, 1), stop()], 3)
        .unwrap()
        .unwrap();
    assert_eq!(won.pick, stop());
    assert_eq!(won.tally, [("stop".to_owned(), 2), ("plan".to_owned(), 1)]);
    assert!((won.confidence.value - 2.0 / 3.0).abs() < 1e-9);
    // Asks without a valid pick count against the winner.
    let won = elected(vec![stop()], 4).unwrap().unwrap();
    assert!((won.confidence.value - 0.25).abs() < 1e-9);
    // The arguments that most asks agree on, and the earliest among equals.
    let plans = |steps: &[u32]| steps.iter().map(|n| plan(&menu, *n)).collect::<Vec<_>>();
    let steps = |picks| elected(picks, 3).unwrap().unwrap().pick.arguments["steps"].clone();
    assert_eq!(steps(plans(&[1, 2, 2])), json!(2));
    assert_eq!(steps(plans(&[3, 1, 2])), json!(3));
    let tie = elected(vec![plan(&menu, 1), stop()], 3).unwrap_err();
    assert_eq!(
        tie.to_failure().to_json(),
        json!({
            "code": "decision",
            "message": "the vote is tied between \"stop\" and \"plan\"; ask an odd number of times or more often",
            "details": {
                "kind": "tie", "tied": ["stop", "plan"], "tally": {"stop": 1, "plan": 1}
            }
        })
    );
    assert_eq!(elected(vec![], 3), Ok(None));
}

#[test]
fn a_rotated_menu_shows_every_option_first_in_turn_and_its_picks_are_the_same() {
    let menu = letters(&["a", "b", "c"]);
    assert_eq!(menu.rotated(0), menu);
    assert_eq!(menu.rotated(3), menu);
    let rotated = menu.rotated(1);
    assert_eq!(rotated.text(), letters(&["b", "c", "a"]).text());
    let picked = pick(&rotated, "a");
    assert_eq!(picked.index, 2);
    assert_eq!(menu.adopt(picked), Some(pick(&menu, "a")));
    assert_eq!(letters(&["x"]).adopt(pick(&menu, "a")), None);
    let first = |options: usize, votes: u32| -> Vec<usize> {
        (0..votes)
            .map(|vote| rotation(options, vote, votes))
            .collect()
    };
    assert_eq!(first(3, 3), [0, 1, 2]);
    assert_eq!(first(2, 5), [0, 1, 0, 1, 0]);
    assert_eq!(first(100, 5), [0, 20, 40, 60, 80]);
    assert_eq!(rotation(0, 1, 3), 0);
}

#[test]
fn groups_are_picked_before_their_options() {
    let menu = letters(&["refund", "reship", "call_back", "spam"]);
    let money = OptionGroup {
        description: Some("The customer wants something back.".to_owned()),
        ..group("make_good", &["refund", "reship"])
    };
    let grouped = GroupedMenu::new(&menu, &[money, group("talk", &["call-back"])]).unwrap();
    expect_test::expect![[r#"
        make_good()
            The customer wants something back.
            Leads to: "refund", "reship"
            Call: {"call": "make_good"}

        talk()
            Leads to: "call_back"
            Call: {"call": "talk"}

        spam()
            Call: {"call": "spam"}
    "#]]
    .assert_eq(grouped.first().text());
    let first = |name: &str| pick(grouped.first(), name);
    let second = grouped.second(&first("make_good")).unwrap();
    assert_eq!(second.text(), letters(&["refund", "reship"]).text());
    let last = menu.adopt(pick(second, "reship")).unwrap();
    assert_eq!(last, pick(&menu, "reship"));
    assert_eq!(grouped.second(&first("spam")), None);
    assert_eq!(menu.adopt(first("spam")), Some(pick(&menu, "spam")));

    let names: Vec<_> = (0..30).map(|n| format!("o{n}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let grouped = GroupedMenu::new(&letters(&names), &[group("all", &names)]).unwrap();
    assert!(grouped.first().text().contains("\"o19\", … 10 more\n"));
}

#[test]
fn the_way_out_is_an_option_whose_value_is_null() {
    let never = |name: &str| -> Result<_, String> { Err(name.to_owned()) };
    let exit = |name: Option<&str>, description: Option<&str>| {
        let spec = OptionSpec::exit(name.map(str::to_owned), description.map(str::to_owned));
        let option: MenuOption = spec.resolve(never).unwrap();
        Menu::new(vec![option]).unwrap()
    };
    expect_test::expect![[r#"
        none_of_these()
            None of the other options fits.
            Call: {"call": "none_of_these"}
    "#]]
    .assert_eq(exit(None, Some(" ")).text());
    let menu = exit(Some("pass"), Some("Leave it."));
    assert_eq!(
        menu.text(),
        "pass()\n    Leave it.\n    Call: {\"call\": \"pass\"}\n"
    );
    let value = super::super::resolve_value(&menu, &pick(&menu, "pass"));
    assert_eq!(value, Some(Json::Null));
}

#[test]
fn every_option_of_the_largest_menu_is_shown_and_can_be_picked() {
    let names: Vec<_> = (0..MENU_OPTIONS_MAX)
        .map(|n| format!("option-{n}"))
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let menu = letters(&names);
    for (index, name) in names.iter().enumerate() {
        assert!(
            menu.text()
                .contains(&format!("    Call: {{\"call\": \"{name}\"}}\n"))
        );
        let picked = pick(&menu, &name.replace('-', "_"));
        assert_eq!((picked.index, picked.name.as_str()), (index, *name));
    }
}

#[test]
fn a_long_description_is_cut_visibly() {
    let described = |length: usize| {
        let description = "x".repeat(length);
        let payload = Payload::Value(Json::Null);
        let option = MenuOption::new("a".to_owned(), Some(description), payload);
        Menu::new(vec![option]).unwrap().text().to_owned()
    };
    let most = "x".repeat(OPTION_TEXT_CHARS_MAX);
    assert!(described(OPTION_TEXT_CHARS_MAX).contains(&format!("    {most}\n")));
    assert!(described(OPTION_TEXT_CHARS_MAX + 1).contains(&format!("    {most} … [cut]\n")));
}

#[test]
fn options_are_made_one_by_one_or_by_name() {
    let fields = super::super::parse_schema(&json!({"why": "the reason"})).unwrap();
    let list = vec![
        OptionSpec::function("refund", "issue-refund"),
        OptionSpec::value("done", "OVER"),
        OptionSpec::schema("plan", fields.clone()),
    ];
    let by_name = OptionSpec::by_name([
        ("refund", OptionKind::Function("issue-refund".to_owned())),
        ("done", OptionKind::Value(json!("OVER"))),
        ("plan", OptionKind::Schema(fields)),
    ]);
    assert_eq!(list, by_name);
    let described = OptionSpec::value("done", "OVER").described("It is over.");
    assert_eq!(described.description.as_deref(), Some("It is over."));
}
