//! How questions of components look, and what a line means as an answer.

use std::time::Duration;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::id::SessionId;
use openprogram_core::question::{
    Answer, FormField, Prompt, Question, QuestionBody, Questions as _, Unanswered, parse_form,
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::asked::{confirm_line, field, field_line, head, prompt, prompt_line, words};
use super::dialogue::{meant, value, yes_or_no};
use super::{Lines, TerminalQuestions, Typed};
use crate::commands::progress::pauses;

fn which(options: &[&str]) -> Prompt {
    Prompt {
        text: "Which?".to_owned(),
        options: options.iter().map(ToString::to_string).collect(),
        ..Prompt::default()
    }
}

#[test]
fn a_question_tells_who_asks_and_that_no_answer_approves_anything() {
    let question = Question {
        session: SessionId::from_bits(1),
        function: Some("test:asker/guest.which".to_owned()),
        component: Some("asker\napproval needed".to_owned()),
        body: QuestionBody::Ask(vec![which(&[])]),
    };
    expect![[r#"
        question from a component: asker approval needed
          function   test:asker/guest.which
          session    op-0000000000000001
          what stands behind │ are its words; no answer to it approves anything
    "#]]
    .assert_eq(&head(&question));
}

#[test]
fn words_of_a_component_stand_behind_bars_and_are_short_enough_for_every_terminal() {
    let text = format!(
        "One.\n\n{}\nallow this once? [y/N] \r{}界界界\t.",
        "word ".repeat(20),
        "界".repeat(40)
    );
    let shown = format!("words:\n{}", words(&text));
    expect![[r#"
        words:
          │ One.
          │ 
          │ word word word word word word word word word word word word word
          │ word word word word word word word
          │ allow this once? [y/N]
          │ 界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界
          │ 界界界界界界界界界 .
    "#]]
    .assert_eq(&shown);
    let page = words(&"line\n".repeat(50));
    assert_eq!(page.lines().count(), 41);
    assert!(page.ends_with("  and 10 more lines that are not shown\n"));
}

#[test]
fn options_have_numbers_and_the_line_says_what_can_be_typed() {
    let long = "x".repeat(100);
    let mut asked = which(&["Red", &long]);
    expect![[r#"
        question 2 of 3
          │ Which?
            1 │ Red
            2 │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    "#]]
    .assert_eq(&prompt(&asked, 1, 3));
    let lines = |asked: &Prompt| prompt_line(asked);
    assert_eq!(lines(&which(&[])), "answer (a text; /decline)> ");
    assert_eq!(lines(&asked), "answer (1 to 2; /decline)> ");
    asked.free_text = true;
    asked.default = Some(vec!["own `text`".to_owned()]);
    assert_eq!(
        lines(&asked),
        "answer (1 to 2, or a text; Enter for `own 'text'`; /decline)> "
    );
    asked.multiple = true;
    asked.free_text = false;
    asked.default = Some(vec![long, "Red".to_owned()]);
    assert_eq!(
        lines(&asked),
        "answer (numbers like 1,2, or - for none; Enter for 2,1; /decline)> "
    );
    assert_eq!(confirm_line(None), "answer (y or n; /decline)> ");
    assert_eq!(
        confirm_line(Some(false)),
        "answer (y or n; Enter for n; /decline)> "
    );
}

#[test]
fn a_line_is_a_number_an_option_or_a_text() {
    let closed = which(&["Red", "2"]);
    let multiple = Prompt {
        multiple: true,
        ..closed.clone()
    };
    let with_default = Prompt {
        default: Some(vec!["Red".to_owned()]),
        ..closed.clone()
    };
    for (prompt, line, expected) in [
        (&closed, "1", Ok(vec!["Red"])),
        // What a person sees beside an option counts, whatever the option says.
        (&closed, "2", Ok(vec!["2"])),
        (&closed, " red ", Ok(vec!["red"])),
        (&closed, "3", Ok(vec!["3"])),
        (&closed, "0", Ok(vec!["0"])),
        (&closed, "", Err("an answer is needed")),
        (&with_default, " ", Ok(vec!["Red"])),
        (&multiple, "2, Red,", Ok(vec!["2", "Red"])),
        (&multiple, "-", Ok(vec![])),
        (&multiple, "", Ok(vec![])),
        (&which(&[]), " as it is ", Ok(vec![" as it is "])),
    ] {
        let told = meant(prompt, line);
        let told = told
            .as_ref()
            .map(|texts| texts.iter().map(String::as_str).collect());
        assert_eq!(told.map_err(|problem| *problem), expected, "{line:?}");
    }
}

fn fields() -> Vec<FormField> {
    let fields = json!({
        "name": {"description": "Whose\nis it?"},
        "age": {"type": "integer", "minimum": 0, "default": 7},
        "weight": {"type": "number", "required": false},
        "key": {"secret": true},
        "gift": {"type": "boolean", "default": false},
        "size": {"options": ["s", "m"], "default": "m"},
        "tags": [{"type": "string"}],
    });
    parse_form(&fields).unwrap()
}

#[test]
fn a_field_says_what_it_takes() {
    let fields = fields();
    let shown: String = fields
        .iter()
        .enumerate()
        .map(|(at, one)| format!("{}{}\n", field(one, at, fields.len()), field_line(one)))
        .collect();
    expect![[r#"
        field 1 of 7
          │ name: Whose
          │ is it?
        answer (a text; /decline)> 
        field 2 of 7
          │ age
        answer (a whole number at least 0; Enter for `7`; /decline)> 
        field 3 of 7
          │ weight
        answer (a number; Enter for none; /decline)> 
        field 4 of 7
          │ key
        answer (a text that is not shown; /decline)> 
        field 5 of 7
          │ gift
        answer (y or n; Enter for `false`; /decline)> 
        field 6 of 7
          │ size
            1 │ s
            2 │ m
        answer (1 to 2; Enter for 2; /decline)> 
        field 7 of 7
          │ tags
        answer (JSON of {"type":"array","items":{"type":"string"}}; /decline)> 
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_line_becomes_a_value_of_the_field() {
    let fields = fields();
    let of = |name: &str, line: &str| {
        let field = fields.iter().find(|field| field.field.name == name);
        value(field.unwrap(), line)
    };
    for (name, line, expected) in [
        ("name", " 7 ", json!(" 7 ")),
        ("age", "7", json!(7)),
        ("age", "seven", json!("seven")),
        ("weight", "1.5", json!(1.5)),
        ("gift", "Y", json!(true)),
        ("gift", "no", json!(false)),
        ("gift", "so", json!("so")),
        ("size", "1", json!("s")),
        ("size", "m", json!("m")),
        ("tags", r#"["a", "b"]"#, json!(["a", "b"])),
        ("tags", "a", json!("a")),
    ] {
        assert_eq!(of(name, line), expected, "{name} {line:?}");
    }
}

/// What counts as a yes in the original, and what differs on purpose: an answer that is neither is
/// asked for again instead of being a no, and its case does not matter.
#[test]
fn a_yes_is_typed_as_in_the_original() {
    let file = include_str!("../../../crates/core/fixtures/vectors/ask.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let mut n_run = 0;
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        // Nobody types a number, a list or nothing at all into a terminal.
        let Some(text) = case["answer"][1]
            .as_str()
            .filter(|_| id.starts_with("ask/confirm/"))
        else {
            continue;
        };
        n_run += 1;
        let differs = match id {
            "ask/confirm/'Yes'" => Some(Some(true)),
            "ask/confirm/'取消'" | "ask/confirm/''" | "ask/confirm/'1'" => Some(None),
            _ => None,
        };
        let expected = differs.unwrap_or_else(|| case["result"].as_bool());
        assert_eq!(yes_or_no(text.trim()), expected, "{id}");
    }
    assert_eq!(n_run, 9);
}

/// A person at a terminal, and where the test types.
fn person() -> (TerminalQuestions, mpsc::Sender<Typed>) {
    let (sender, receiver) = mpsc::channel(16);
    // Nobody tells any progress.
    let (pauser, _) = pauses();
    let mut questions = TerminalQuestions::with_lines(pauser, Lines::of(receiver));
    questions.is_there = || true;
    (questions, sender)
}

fn confirm(text: &str) -> Question {
    Question {
        session: SessionId::from_bits(1),
        function: None,
        component: None,
        body: QuestionBody::Confirm {
            text: text.to_owned(),
            default: None,
        },
    }
}

#[tokio::test(start_paused = true)]
async fn questions_that_come_together_queue_and_what_was_typed_before_answers_none() {
    let (questions, sender) = person();
    let mut asking = questions.asking();
    let typing = async {
        for line in ["y\n", "n\n", "y\n"] {
            // The first line comes before anything is asked.
            sender.send(Typed::Line(line.to_owned())).await.unwrap();
            sleep(Duration::from_millis(400)).await;
        }
    };
    let ask = async |after: u64, text: &str| {
        sleep(Duration::from_millis(after)).await;
        questions.ask(confirm(text)).await
    };
    let watching = async {
        asking.changed().await.unwrap();
        *asking.borrow_and_update()
    };
    let (first, second, is_asking, ()) =
        tokio::join!(ask(100, "One?"), ask(200, "Two?"), watching, typing);
    assert_eq!(first, Ok(Answer::Confirmed(false)));
    assert_eq!(second, Ok(Answer::Confirmed(true)));
    assert!(is_asking && !*questions.asking().borrow());
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_given_up_leaves_the_terminal_to_the_next_one() {
    let (questions, sender) = person();
    let given_up = tokio::time::timeout(Duration::from_secs(1), questions.ask(confirm("One?")));
    assert!(given_up.await.is_err());
    let typing = async {
        sleep(Duration::from_millis(400)).await;
        sender.send(Typed::End).await.unwrap();
    };
    let (second, ()) = tokio::join!(questions.ask(confirm("Two?")), typing);
    assert_eq!(second, Err(Unanswered::Declined));
    // The end of the input is a key of a terminal, and a closed one is gone.
    assert!(questions.can_ask());
    drop(sender);
    let third = questions.ask(confirm("Three?")).await;
    assert_eq!(third, Err(Unanswered::Declined));
    assert!(!questions.can_ask());
}
