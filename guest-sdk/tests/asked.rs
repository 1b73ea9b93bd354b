//! Questions and progress, natively, with answers that the test has prepared.

use std::time::Duration;

use openprogram_guest::ask::{self, Card, Field, Form, Question};
use openprogram_guest::testing::{MockQuestionKind, MockRuntime};
use openprogram_guest::{Failure, FailureKind, Json, json, progress};

#[test]
fn questions_are_answered_and_progress_is_kept() {
    let mock = MockRuntime::new()
        .answer("Oslo")
        .answer("A")
        .answer_all(["tent", "boat"])
        .confirm(true)
        .form(json!({"name": "Ada"}))
        .unanswered()
        .ask_fails(Failure::new("declined", "no"));
    assert!(ask::can_ask());
    assert_eq!(ask::ask("Where to?").unwrap(), "Oslo");
    let bring = Question::new("What do you bring?")
        .options(["tent", "boat", "cat"])
        .multiple();
    let card = Card::new()
        .question(Question::new("Which?").options(["A", "B"]))
        .question(bring)
        .timeout(Duration::from_secs(5));
    let answers = ask::ask(card).unwrap();
    assert_eq!(answers.replies, [vec!["A"], vec!["tent", "boat"]]);
    assert!(!answers.are_default);
    assert_eq!(ask::confirm("Go?", false), Ok(true));
    let form = Form::new("Who?").field(Field::text("name"));
    assert_eq!(form.fill().unwrap(), Json::from(json!({"name": "Ada"})));
    assert_eq!(ask::confirm("Still?", false), Ok(false));
    let declined = ask::ask("Why?").unwrap_err();
    assert_eq!(declined.kind(), FailureKind::Declined);
    progress::report_part("Halfway", 0.5);
    let told = &mock.progress()[0];
    assert_eq!(
        (told.message.as_str(), told.fraction),
        ("Halfway", Some(0.5))
    );
    let asked = mock.questions();
    let prompts: Vec<_> = asked.iter().map(|asked| asked.prompt.as_str()).collect();
    let expected = [
        "Where to?",
        "Which?",
        "What do you bring?",
        "Go?",
        "Who?",
        "Still?",
        "Why?",
    ];
    assert_eq!(prompts, expected);
    assert_eq!(asked[1].timeout, Some(Duration::from_secs(5)));
    assert!(asked[2].multiple);
    assert_eq!(asked[3].kind, MockQuestionKind::Confirm);
    assert_eq!(asked[3].default, Some(json!(false)));
    assert_eq!(asked[4].fields, json!({"name": {"type": "string"}}));
    assert_eq!(mock.n_left(), 0);
}

#[test]
fn with_nobody_there_the_defaults_hold() {
    let _mock = MockRuntime::new().nobody_there();
    assert!(!ask::can_ask());
    let place = Question::new("Where to?").options(["Rome", "Oslo"]);
    assert_eq!(ask::ask(place.clone().default("Oslo")).unwrap(), "Oslo");
    let failed = ask::ask(place).unwrap_err();
    assert_eq!(failed.kind(), FailureKind::NobodyThere);
    let seat = Field::choice("seat", ["window", "aisle"]).default("aisle");
    let form = Form::new("Who?").field(seat.clone());
    let filled = form.field(Field::text("note").optional()).fill();
    assert_eq!(filled.unwrap(), Json::from(json!({"seat": "aisle"})));
    let form = Form::new("Who?").field(seat).field(Field::text("name"));
    assert_eq!(form.fill().unwrap_err().kind(), FailureKind::NobodyThere);
}

#[test]
fn without_a_mock_nobody_is_there_and_nobody_watches() {
    assert!(!ask::can_ask());
    progress::report("Alone");
}
