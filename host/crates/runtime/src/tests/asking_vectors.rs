//! What the original does with questions, case by case, and where we do something else on purpose.

use std::collections::BTreeMap;
use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::question::{
    Answer, AskRequest, Nobody, Prompt, QuestionBody, Questions, Unanswered, parse_form,
};
use serde_json::json;

use super::asking::{asks, grant};
use super::{object, runtime_with, told};
use crate::RunRequest;
use crate::testing::{ScriptedAnswer, ScriptedQuestions};

const CASES: &str = include_str!("../../../core/fixtures/vectors/ask.json");

/// The cases in which ours is another outcome, with the reason.
const DIFFERENCES: [(&str, &str, &str); 11] = [
    (
        "ask/custom_not_in_options",
        "internal",
        "answers are checked: who shows the question asks again, and none that does not fit arrives",
    ),
    (
        "ask/no_prompt_timeout",
        "invalid-argument",
        "a question without words cannot be answered by anybody",
    ),
    (
        "ask/cancel_session",
        "cancelled",
        "stopping is no answer: the run ends, and its question is withdrawn",
    ),
    (
        "ask/confirm_declined",
        "declined",
        "not to answer is no `no`, and has one failure for all questions",
    ),
    ("ask/confirm_declined_default_true", "declined", "as above"),
    (
        "ask/form_unvalidated",
        "internal",
        "as for an answer that is no option",
    ),
    (
        "ask/form_timeout_default",
        "ask-timeout",
        "defaults belong to fields, so that each of them is checked",
    ),
    (
        "ask/form_timeout_default_empty",
        "ask-timeout",
        "as above; fields that may stay empty give an empty object",
    ),
    (
        "ask/headless_ask_still_waits",
        r#"["D"]"#,
        "the same answer, and nobody is waited for",
    ),
    (
        "ask/many_timeout_default",
        r#"["d"]"#,
        "the same; a default is one of each prompt",
    ),
    (
        "ask/can_ask_true",
        r#"["any"]"#,
        "asked about in the same call as a question; it says true",
    ),
];

/// Which values the original takes for a yes; ours has a yes or a no, and what a person types for it
/// is the business of who shows the question.
const OF_THE_FRONT_END: &str = "ask/confirm/";
/// One question has one answer: the port returns it.
const ONE_ANSWER: &str = "ask/first_answer_wins";

/// The default of the question, which the cases do not hold.
fn default(id: &str) -> Option<Json> {
    Some(match id {
        "ask/timeout_default_falsy" => json!(""),
        "ask/many_timeout_default" => json!("d"),
        "ask/headless_ask_still_waits" => json!("D"),
        "ask/can_ask_true" => json!("any"),
        "ask/confirm_timeout_true" | "ask/confirm_declined_default_true" => json!(true),
        _ => return None,
    })
}

fn body(case: &Json) -> QuestionBody {
    let id = case["id"].as_str().unwrap();
    let any = json!({"kind": "ask", "prompt": "Which?", "options": [], "allow_custom": true});
    let posted = case["posted"].get(0).unwrap_or(&any);
    let default = default(id);
    let texts = |value: &Json| -> Vec<String> { serde_json::from_value(value.clone()).unwrap() };
    let prompt = |posted: &Json| Prompt {
        text: posted["prompt"].as_str().unwrap().to_owned(),
        options: texts(&posted["options"]),
        multiple: posted["multi"] == true,
        free_text: posted["allow_custom"] == true,
        default: default
            .as_ref()
            .and_then(Json::as_str)
            .map(|text| vec![text.to_owned()]),
    };
    match posted["kind"].as_str().unwrap() {
        "ask" => QuestionBody::Ask(vec![prompt(posted)]),
        "ask_many" => {
            let questions = posted["questions"].as_array().unwrap();
            QuestionBody::Ask(questions.iter().map(prompt).collect())
        }
        "confirm" => QuestionBody::Confirm {
            text: posted["prompt"].as_str().unwrap().to_owned(),
            default: default.as_ref().and_then(Json::as_bool),
        },
        "form" => QuestionBody::Form {
            title: posted["prompt"].as_str().unwrap().to_owned(),
            fields: parse_form(&posted["schema"]).unwrap(),
        },
        other => panic!("{other}"),
    }
}

fn answer(case: &Json) -> ScriptedAnswer {
    let given = &case["answer"][1];
    match case["answer"][0].as_str() {
        Some("declined") => ScriptedAnswer::Not(Unanswered::Declined),
        Some("answered") => ScriptedAnswer::Given(match given {
            Json::Object(values) => Answer::Filled(values.clone()),
            Json::Array(texts) => {
                let texts = texts.iter().map(|text| text.as_str().unwrap().to_owned());
                Answer::Replies(vec![texts.collect()])
            }
            text => Answer::Replies(vec![vec![text.as_str().unwrap().to_owned()]]),
        }),
        // Nothing is said; some of these runs are stopped.
        _ => ScriptedAnswer::Silence,
    }
}

/// What the original gave: the code of its failure, or the value.
fn expected(case: &Json) -> String {
    match case["error"]["type"].as_str() {
        Some("UserDeclined") => "declined".to_owned(),
        Some("AskTimeout") => "ask-timeout".to_owned(),
        Some("CancelledError") => "cancelled".to_owned(),
        Some(other) => panic!("{other}"),
        None => match &case["result"] {
            // A text alone and a list of texts are one here.
            Json::String(text) => json!([text]).to_string(),
            other => other.to_string(),
        },
    }
}

/// What ours gives.
async fn ours(case: &Json) -> String {
    let id = case["id"].as_str().unwrap();
    let request = AskRequest {
        body: body(case),
        timeout_ms: Some(1_000),
    };
    let questions: Arc<dyn Questions> = match id {
        "ask/headless_ask_still_waits" => Arc::new(Nobody),
        _ => Arc::new(ScriptedQuestions::new([answer(case)])),
    };
    let runtime = runtime_with(asks(request), |parts| {
        grant(parts);
        parts.questions = questions;
    });
    let is_stopped = matches!(
        case["answer"][0].as_str(),
        Some("cancelled" | "cancel_session")
    );
    let stop = async move {
        match is_stopped {
            true => tokio::time::sleep(std::time::Duration::from_millis(500)).await,
            false => std::future::pending().await,
        }
    };
    let outcome = runtime
        .run_function_until(RunRequest::new("ask"), stop)
        .await;
    let told = object(told(&outcome));
    if let Some(value) = told.get("ok") {
        assert_eq!(
            value["can_ask"],
            id != "ask/headless_ask_still_waits",
            "{id}"
        );
        return match &value["answer"] {
            Json::Array(replies) => {
                let texts = replies.iter().flat_map(|texts| texts.as_array().unwrap());
                Json::from_iter(texts.cloned()).to_string()
            }
            other => other.to_string(),
        };
    }
    told["code"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn questions_end_as_in_the_original_except_where_a_reason_is_given() {
    let file: Json = serde_json::from_str(CASES).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut differences: BTreeMap<_, _> = DIFFERENCES
        .into_iter()
        .map(|(id, outcome, _)| (id, outcome))
        .collect();
    let mut n_run = 0;
    for case in cases {
        let id = case["id"].as_str().unwrap();
        if id.starts_with(OF_THE_FRONT_END) || id == ONE_ANSWER {
            continue;
        }
        n_run += 1;
        let ours = ours(case).await;
        match differences.remove(id) {
            Some(outcome) => assert_eq!(ours, outcome, "{id}"),
            None => assert_eq!(ours, expected(case), "{id}"),
        }
    }
    assert_eq!(differences, BTreeMap::new());
    assert_eq!((n_run, cases.len()), (23, 37));
}
