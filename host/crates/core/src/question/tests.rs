//! Questions with their answers, and what an approval is bound to.

use pollster::block_on;
use serde_json::json;

use super::*;
use crate::failure::Failure;
use crate::grant::GrantKind;
use crate::id::Timestamp;
use crate::schema::{Field, IntegerKind, Type};
use crate::{Json, JsonObject};

fn prompt(options: &[&str]) -> Prompt {
    Prompt {
        text: "Which?".to_owned(),
        options: options.iter().map(ToString::to_string).collect(),
        ..Prompt::default()
    }
}

/// What becomes of one reply to one prompt.
fn reply(prompt: &Prompt, texts: &[&str]) -> String {
    let body = QuestionBody::Ask(vec![prompt.clone()]);
    let texts = texts.iter().map(ToString::to_string).collect();
    match body.check_answer(Answer::Replies(vec![texts])) {
        Ok(Answer::Replies(replies)) => replies[0].join("|"),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_reply_is_one_of_the_options_unless_any_text_is_an_answer() {
    let closed = prompt(&["Red", "Blue", "blue"]);
    let free = Prompt {
        free_text: true,
        ..closed.clone()
    };
    let multiple = Prompt {
        multiple: true,
        ..closed.clone()
    };
    let none_of = "is none of `Red`, `Blue`, `blue`";
    for (prompt, texts, expected) in [
        (&closed, &["Red"][..], "Red".to_owned()),
        (&closed, &[" red "][..], "Red".to_owned()),
        (&closed, &["BLUE"][..], format!("`BLUE` {none_of}")),
        (&closed, &["blue"][..], "blue".to_owned()),
        (&closed, &["green"][..], format!("`green` {none_of}")),
        (&closed, &[][..], "0 answers where one is wanted".to_owned()),
        (
            &closed,
            &["Red", "Blue"][..],
            "2 answers where one is wanted".to_owned(),
        ),
        (&free, &["green"][..], "green".to_owned()),
        (&free, &["red"][..], "Red".to_owned()),
        (&multiple, &["blue", "Red"][..], "blue|Red".to_owned()),
        (&multiple, &[][..], String::new()),
        (
            &multiple,
            &["Red", "red"][..],
            "`Red` is chosen twice".to_owned(),
        ),
        (&prompt(&[]), &["anything"][..], "anything".to_owned()),
    ] {
        assert_eq!(reply(prompt, texts), expected, "{texts:?} to {prompt:?}");
    }
}

#[test]
fn a_question_that_cannot_be_answered_is_not_put() {
    let check = |body: QuestionBody| body.check().err().map(|error| error.to_string());
    let ask = |prompts| check(QuestionBody::Ask(prompts));
    assert_eq!(ask(vec![prompt(&["a", "b"]), prompt(&[])]), None);
    assert_eq!(ask(Vec::new()).unwrap(), "the question has no prompts");
    let many = ask(vec![prompt(&[]); PROMPTS_MAX + 1]);
    assert_eq!(many.unwrap(), "the question has more than 32 prompts");
    let twice = ask(vec![prompt(&["a", "a"])]).unwrap();
    assert_eq!(twice, "option 2 (`a`) is empty or there twice");
    let empty = ask(vec![prompt(&[" "])]).unwrap();
    assert_eq!(empty, "option 1 (` `) is empty or there twice");
    let long: Vec<String> = (0..=OPTIONS_MAX).map(|n| n.to_string()).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert_eq!(
        ask(vec![prompt(&long)]).unwrap(),
        "a prompt has more than 100 options"
    );
    let mut none = prompt(&[]);
    none.multiple = true;
    let none = ask(vec![none]).unwrap();
    assert_eq!(none, "several options may be chosen, and there are none");
    let mut wrong = prompt(&["a"]);
    wrong.default = Some(vec!["b".to_owned()]);
    assert_eq!(ask(vec![wrong]).unwrap(), "`b` is none of `a`");
}

fn form() -> QuestionBody {
    let field = |name: &str, ty, required, default| FormField {
        required,
        default,
        ..FormField::new(Field::new(name, ty))
    };
    QuestionBody::Form {
        title: "An order".to_owned(),
        fields: vec![
            field("count", Type::Integer(IntegerKind::U8), true, None),
            field("size", Type::String, true, Some(json!("small"))),
            field("note", Type::String, false, None),
        ],
    }
}

#[test]
fn a_form_is_filled_by_its_fields_and_their_types() {
    let fill = |values: Json| {
        let Json::Object(values) = values else {
            panic!("an object");
        };
        match form().check_answer(Answer::Filled(values)) {
            Ok(Answer::Filled(values)) => Json::Object(values).to_string(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(form().check(), Ok(()));
    assert_eq!(fill(json!({"count": "3"})), r#"{"count":3,"size":"small"}"#);
    let all = json!({"note": "n", "size": "big", "count": 1});
    assert_eq!(fill(all), r#"{"count":1,"size":"big","note":"n"}"#);
    assert_eq!(fill(json!({})), "`count` needs a value");
    assert_eq!(fill(json!({"color": 1})), "the form has no field `color`");
    assert!(fill(json!({"count": 999})).starts_with("`count`: "));
}

#[test]
fn an_answer_to_another_kind_of_question_is_none() {
    let error = form().check_answer(Answer::Approved(true)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer is one to another kind of question"
    );
}

#[test]
fn defaults_hold_for_silence_and_never_for_a_refusal() {
    let confirm = |default| QuestionBody::Confirm {
        text: "Go on?".to_owned(),
        default,
    };
    let mut with_default = prompt(&["a", "b"]);
    with_default.default = Some(vec!["b".to_owned()]);
    let replies = Ok(Answer::Replies(vec![vec!["b".to_owned()]]));
    let timed_out = Err(Unanswered::TimedOut);
    for (body, expected) in [
        // A default of no is one.
        (confirm(Some(false)), Ok(Answer::Confirmed(false))),
        (confirm(None), timed_out.clone()),
        (QuestionBody::Ask(vec![with_default.clone()]), replies),
        (
            QuestionBody::Ask(vec![with_default, prompt(&[])]),
            timed_out.clone(),
        ),
        (form(), timed_out.clone()),
        (QuestionBody::Approval(Box::new(approval())), timed_out),
    ] {
        assert_eq!(
            body.without_answer(Unanswered::TimedOut),
            expected.clone(),
            "{body:?}"
        );
        let declined = Unanswered::Declined;
        assert_eq!(body.without_answer(declined), Err(declined), "{body:?}");
        // Where nobody is, nobody is waited for, and the rest is the same.
        let nobody = body.without_answer(Unanswered::NobodyThere);
        let expected = expected.map_err(|_| Unanswered::NobodyThere);
        assert_eq!(nobody, expected, "{body:?}");
    }
}

fn approval() -> Approval {
    let arguments = json!({"to": {"b": 1, "a": [true]}, "amount": 30});
    Approval {
        function: "acme:shop/desk.refund".to_owned(),
        component: "shop".to_owned(),
        digest: "sha256:1".to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
        hidden: Vec::new(),
        what: "run acme:shop/desk.refund".to_owned(),
        sends: None,
        grant: None,
        reason: Some("It pays.".to_owned()),
    }
}

fn asking_grant() -> AskingGrant {
    AskingGrant {
        kind: GrantKind::Calls,
        line: "ask shop.refund".to_owned(),
        component: "desk".to_owned(),
        digest: "sha256:4".to_owned(),
    }
}

fn sending() -> Sending {
    Sending {
        url: "https://a.example/?q=1".to_owned(),
        headers: Vec::new(),
        header_bytes: 0,
        body: None,
        digest: "sha256:3".to_owned(),
    }
}

#[test]
fn an_approval_is_bound_to_everything_but_the_order_of_arguments() {
    let text = approval().canonical_text();
    let expected = r#"["acme:shop/desk.refund","shop","sha256:1",{"amount":30,"to":{"a":[true],"b":1}},"run acme:shop/desk.refund",null]"#;
    assert_eq!(text, expected);
    let mut same = approval();
    let reordered = json!({"amount": 30, "to": {"a": [true], "b": 1}});
    same.arguments = reordered.as_object().cloned().unwrap();
    same.reason = None;
    assert_eq!(same.canonical_text(), text);
    let changes: [fn(&mut Approval); 7] = [
        |approval| approval.function.push('s'),
        |approval| approval.component.push('s'),
        |approval| approval.digest.push('2'),
        |approval| approval.what.push('s'),
        |approval| {
            approval.arguments.insert("amount".to_owned(), json!(31));
        },
        |approval| {
            approval.grant = Some(asking_grant());
        },
        |approval| approval.sends = Some(sending()),
    ];
    for change in changes {
        let mut other = approval();
        change(&mut other);
        assert_ne!(other.canonical_text(), text, "{other:?}");
    }
    let sends = |change: fn(&mut Sending)| {
        let (mut other, mut sends) = (approval(), sending());
        change(&mut sends);
        other.sends = Some(sends);
        other.canonical_text()
    };
    let sent = sends(|_| ());
    assert_ne!(sends(|sends| sends.url.push('2')), sent);
    assert_ne!(sends(|sends| sends.digest.push('2')), sent);
    let by = |change: fn(&mut AskingGrant)| {
        let (mut other, mut grant) = (approval(), asking_grant());
        change(&mut grant);
        other.grant = Some(grant);
        other.canonical_text()
    };
    let asked = by(|_| ());
    let changes: [fn(&mut AskingGrant); 4] = [
        |grant| grant.kind = GrantKind::Http,
        |grant| grant.line.push('s'),
        |grant| grant.component.push('s'),
        |grant| grant.digest.push('2'),
    ];
    for change in changes {
        assert_ne!(by(change), asked);
    }
}

#[test]
fn an_answer_for_good_reads_back_and_names_who_profits() {
    let mut approval = approval();
    let kept = KeptAnswer::new(&approval, "sha256:9".to_owned(), true, Timestamp(7));
    let expected = json!({
        "question": "sha256:9", "answer": "always", "component": "shop",
        "function": "acme:shop/desk.refund", "digest": "sha256:1",
        "what": "run acme:shop/desk.refund",
        "arguments": r#"{"to":{"b":1,"a":[true]},"amount":30}"#, "at": 7,
    });
    assert_eq!(kept.to_json(), expected);
    assert_eq!(KeptAnswer::from_json(&expected), Some(kept));

    approval.grant = Some(asking_grant());
    approval.what = "x".repeat(100_000);
    let kept = KeptAnswer::new(&approval, "sha256:9".to_owned(), false, Timestamp(7));
    assert_eq!((kept.component.as_str(), kept.word()), ("desk", "never"));
    assert!(kept.what.len() < 1_100, "{}", kept.what.len());
    assert_eq!(KeptAnswer::from_json(&kept.to_json()), Some(kept));
    for (key, wrong) in [
        ("answer", json!("sometimes")),
        ("question", json!(3)),
        ("at", json!("7")),
    ] {
        let mut other = expected.clone();
        other[key] = wrong;
        assert_eq!(KeptAnswer::from_json(&other), None, "{key}");
    }
}

#[test]
fn a_process_keeps_so_many_answers_and_the_oldest_makes_room() {
    let memory = ProcessMemory::default();
    let keep = |number: usize, is_yes| {
        let at = Timestamp(i64::try_from(number).unwrap());
        let answer = KeptAnswer::new(&approval(), format!("sha256:{number}"), is_yes, at);
        block_on(memory.keep(answer)).unwrap();
    };
    let find = |number: usize| {
        let question = format!("sha256:{number}");
        block_on(memory.find(&question))
    };
    for number in 0..=ANSWERS_KEPT_MAX {
        keep(number, true);
    }
    assert_eq!(
        (find(0), find(1), find(ANSWERS_KEPT_MAX)),
        (None, Some(true), Some(true))
    );
    keep(1, false);
    assert_eq!((find(1), find(2)), (Some(false), Some(true)));
}

#[test]
fn a_receipt_reads_back() {
    for answer in [
        ReceiptAnswer::Approved,
        ReceiptAnswer::Declined,
        ReceiptAnswer::TimedOut,
        ReceiptAnswer::NobodyThere,
    ] {
        for (grant, remembered) in [(None, false), (Some("ask shop.refund".to_owned()), true)] {
            let receipt = Receipt {
                question: "sha256:2".to_owned(),
                what: "call shop.refund".to_owned(),
                grant,
                answer,
                remembered,
                by: "terminal".to_owned(),
                at: Timestamp(1_000),
            };
            assert_eq!(Receipt::from_json(&receipt.to_json()), Some(receipt));
        }
    }
    assert_eq!(Receipt::from_json(&Json::Object(JsonObject::new())), None);
}

/// What a form is, or why it is none.
fn parsed(fields: Json) -> String {
    match parse_form(&fields) {
        Ok(fields) => {
            let body = QuestionBody::Form {
                title: "F".to_owned(),
                fields,
            };
            match body.check() {
                Ok(()) => Json::Object(question_to_json(&body)).to_string(),
                Err(error) => format!("{} | {error}", error.path),
            }
        }
        Err(error) => format!("{} | {error}", error.path),
    }
}

#[test]
fn a_form_is_read_from_its_json_and_nothing_in_it_is_guessed() {
    let fields = json!({
        "name": "Who is it for?",
        "n": {"type": "integer", "default": 1, "minimum": 1, "maximum": 9},
        "size": {"options": ["s", "m"], "required": false},
        "key": {"secret": true},
    });
    let shown: Json = serde_json::from_str(&parsed(fields)).unwrap();
    let fields = &shown["fields"];
    assert_eq!(fields["required"], json!(["name", "key"]));
    assert_eq!(fields["properties"]["n"]["minimum"], json!(1.0));
    assert_eq!(fields["properties"]["n"]["default"], json!(1));
    assert_eq!(fields["properties"]["key"]["writeOnly"], json!(true));
    for (fields, expected) in [
        (
            json!([]),
            "fields | `fields` must be a JSON object from names to fields",
        ),
        (json!({}), "fields | the question has no fields"),
        (
            json!({"a": {"tpye": "string"}}),
            "fields.a | a field has no `tpye`; it has `type`, `description`, `options`, `fields`, \
             `items`, `default`, `required`, `secret`, `minimum`, `maximum`",
        ),
        (
            json!({"a": {"type": "integer", "default": "x"}}),
            "fields.a | `a`: expected an integer, got a string",
        ),
        (
            json!({"a": {"type": "integer", "default": 3, "maximum": 2}}),
            "fields.a | `a`: 3 is not at most 2",
        ),
        (
            json!({"a": {"minimum": 2}}),
            "fields.a.minimum | `fields.a.minimum` is a number, and goes with a number",
        ),
        (
            json!({"a": {"secret": true, "default": "x"}}),
            "fields.a.secret | `fields.a.secret` is for a text without allowed values and without a \
             default",
        ),
        (
            json!({"a": {"required": "yes"}}),
            "fields.a.required | `fields.a.required` is true or false",
        ),
    ] {
        assert_eq!(parsed(fields.clone()), expected, "{fields}");
    }
}

#[test]
fn what_is_long_or_cannot_be_seen_is_refused_with_the_limit_that_it_reaches() {
    let refused = |body: QuestionBody| body.check().unwrap_err().to_failure();
    let ask = |change: fn(&mut Prompt)| {
        let mut prompt = prompt(&["a"]);
        change(&mut prompt);
        refused(QuestionBody::Ask(vec![prompt]))
    };
    let which = |failure: Failure| failure.details["which"].as_str().unwrap().to_owned();
    let long = ask(|prompt| prompt.text = "x".repeat(PROMPT_BYTES_MAX + 1));
    assert_eq!(which(long), "prompt_bytes");
    let option = ask(|prompt| prompt.options.push("x".repeat(OPTION_BYTES_MAX + 1)));
    assert_eq!(which(option), "option_bytes");
    let many = ask(|prompt| prompt.options = (0..=OPTIONS_MAX).map(|n| n.to_string()).collect());
    assert_eq!(which(many), "prompt_options");
    let prompts = refused(QuestionBody::Ask(vec![prompt(&[]); PROMPTS_MAX + 1]));
    assert_eq!(which(prompts), "card_prompts");
    let mut full = prompt(&[]);
    full.text = "x".repeat(PROMPT_BYTES_MAX);
    let card = refused(QuestionBody::Ask(vec![full; 17]));
    assert_eq!(which(card), "card_bytes");

    for option in ["a\nb", "\u{1b}[2J", "a\u{202e}b", "\u{200b}"] {
        let body = QuestionBody::Ask(vec![prompt(&["ok", option])]);
        let failure = refused(body);
        assert_eq!(
            failure.details["path"], "questions[0].options",
            "{option:?}"
        );
    }
    for text in ["", " \n", "\u{1b}[2J"] {
        let body = QuestionBody::Confirm {
            text: text.to_owned(),
            default: None,
        };
        assert_eq!(refused(body).details["path"], "prompt", "{text:?}");
    }
    let body = QuestionBody::Confirm {
        text: " Go\u{1b}[2J on? \n".to_owned(),
        default: None,
    };
    let QuestionBody::Confirm { text, .. } = body.cleaned() else {
        panic!("the same kind");
    };
    assert_eq!(text, "Go on?");
}

#[test]
fn a_secret_is_in_no_record_and_in_no_error() {
    let fields = parse_form(&json!({"user": "", "pass-word": {"secret": true}})).unwrap();
    let body = QuestionBody::Form {
        title: "Log in".to_owned(),
        fields,
    };
    assert_eq!(secret_names(&body), ["pass-word"]);
    let values = json!({"user": "u", "pass_word": "hunter2"});
    let Json::Object(values) = values else {
        panic!("an object");
    };
    let answer = body.check_answer(Answer::Filled(values)).unwrap();
    assert_eq!(answer_to_json(&body, &answer), json!({"user": "u"}));
    let Json::Object(values) = json!({"user": "u", "pass-word": [7_777]}) else {
        panic!("an object");
    };
    let error = body.check_answer(Answer::Filled(values)).unwrap_err();
    assert_eq!(error.to_string(), "`pass-word` is not what it can take");
}
