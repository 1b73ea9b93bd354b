//! Questions of guests to the person who runs them: through the contract and the SDK, against limits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::question::{Answer, Question, QuestionBody, Questions, Unanswered};
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

/// A person who takes some time for each of these answers.
struct Slow {
    time: Duration,
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<QuestionBody>>,
}

impl Slow {
    fn new(time: Duration, answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            time,
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl Questions for Slow {
    fn can_ask(&self) -> bool {
        true
    }

    fn answered_by(&self) -> &str {
        "slow"
    }

    async fn ask(&self, question: Question) -> Result<Answer, Unanswered> {
        tokio::time::sleep(self.time).await;
        self.asked.lock().unwrap().push(question.body);
        let next = self.answers.lock().unwrap().pop_front();
        next.ok_or(Unanswered::Declined)
    }
}

fn replies(texts: &[&[&str]]) -> Answer {
    let texts = texts.iter();
    let texts = texts.map(|texts| texts.iter().map(ToString::to_string).collect());
    Answer::Replies(texts.collect())
}

async fn answered(answers: impl IntoIterator<Item = Answer>) -> RunningHost {
    let person = Slow::new(Duration::ZERO, answers);
    let host = TestHost::new().guest("asker").grant_asking("asker");
    host.questions(person).start().await
}

#[tokio::test]
async fn asker_gets_typed_answers_to_questions_of_every_kind() {
    let filled = json!({"age": 7, "name": "Ada", "tags": ["x"]});
    let host = answered([
        replies(&[&["blue"]]),
        replies(&[&["b", "a"]]),
        replies(&[&["1"], &["2"]]),
        Answer::Confirmed(true),
        Answer::Filled(filled.as_object().cloned().unwrap()),
    ])
    .await;
    let fields = json!({
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "name": {"type": "string"},
        "seat": {"options": ["window", "aisle"], "default": "aisle"},
        "tags": [{"type": "string"}],
    });
    for (function, arguments, expected) in [
        ("can", json!({}), json!(true)),
        (
            "which",
            json!({"prompt": "Which?", "options": ["Red", "Blue"]}),
            json!("Blue"),
        ),
        (
            "several",
            json!({"prompt": "Which?", "options": ["a", "b", "c"]}),
            json!(["b", "a"]),
        ),
        (
            "card",
            json!({"prompts": ["One?", "Two?"]}),
            json!([[["1"], ["2"]], false]),
        ),
        ("sure", json!({"prompt": "Sure?"}), json!(true)),
        (
            "fill",
            json!({"prompt": "Who?", "fields": fields}),
            json!({"age": 7, "name": "Ada", "seat": "aisle", "tags": ["x"]}),
        ),
    ] {
        let told = host.call(function, arguments).await;
        assert_eq!(told.as_ref(), Ok(&expected), "{function}");
    }
}

#[tokio::test]
async fn asker_without_a_person_has_its_defaults_at_once_or_a_failure() {
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host.start().await;
    assert_eq!(host.call("can", json!({})).await, Ok(json!(false)));
    let which = json!({"prompt": "Which?", "default": "Red", "options": ["Red"]});
    assert_eq!(host.call("which", which).await, Ok(json!("Red")));
    let several = json!({"prompt": "Which?", "options": ["a"], "defaults": []});
    assert_eq!(host.call("several", several).await, Ok(json!([])));
    let sure = json!({"prompt": "Sure?", "default": false});
    assert_eq!(host.call("sure", sure).await, Ok(json!(false)));
    for (function, arguments) in [
        ("which", json!({"prompt": "Which?"})),
        ("sure", json!({"prompt": "Sure?"})),
        (
            "fill",
            json!({"prompt": "Who?", "fields": {"name": "Whose?"}}),
        ),
    ] {
        let failure = host.failure(function, arguments).await;
        assert_eq!(failure.code.as_str(), "nobody-there", "{function}");
    }
}

#[tokio::test]
async fn asker_without_the_grant_is_denied_whatever_its_defaults() {
    let person = Slow::new(Duration::ZERO, [Answer::Confirmed(true)]);
    let host = TestHost::new().guest("asker").questions(person);
    let host = host.start().await;
    assert_eq!(host.call("can", json!({})).await, Ok(json!(false)));
    let sure = json!({"prompt": "Sure?", "default": true});
    let failure = host.failure("sure", sure).await;
    assert_eq!(named(&failure), "denied ask the person who runs it");
    let how = "openprogram grant asker --ask-user";
    assert_eq!(failure.details["how_to_allow"], how);
}

#[tokio::test]
async fn asker_that_asks_too_much_is_told_which_limit_and_nobody_is_asked() {
    let person = Slow::new(Duration::ZERO, []);
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host.questions(Arc::clone(&person) as _).start().await;
    let long = "x".repeat(4_097);
    let options = |count: usize| -> Json { (0..count).map(|n| json!(n.to_string())).collect() };
    let which = |options: Json| json!({"prompt": "Which?", "options": options});
    let fill = |fields: Json| json!({"prompt": "Who?", "fields": fields});
    let many: serde_json::Map<String, Json> = (0..33)
        .map(|n| (format!("f{n}"), json!("Which?")))
        .collect();
    for (function, arguments, expected) in [
        ("card", json!({"prompts": []}), "invalid-argument questions"),
        (
            "card",
            json!({"prompts": vec!["?"; 33]}),
            "limit-reached card_prompts",
        ),
        (
            "card",
            json!({"prompts": vec!["x".repeat(4_000); 17]}),
            "limit-reached card_bytes",
        ),
        ("which", which(options(101)), "limit-reached prompt_options"),
        (
            "which",
            which(json!(["x".repeat(513)])),
            "limit-reached option_bytes",
        ),
        (
            "which",
            which(json!(["a", "a"])),
            "invalid-argument questions[0].options",
        ),
        (
            "which",
            which(json!(["a\nallow this once? [y/N] y"])),
            "invalid-argument questions[0].options",
        ),
        (
            "which",
            json!({"prompt": "Which?", "options": ["a"], "default": "b"}),
            "invalid-argument questions[0].default",
        ),
        (
            "sure",
            json!({"prompt": long}),
            "limit-reached prompt_bytes",
        ),
        (
            "sure",
            json!({"prompt": "\u{1b}[2J"}),
            "invalid-argument prompt",
        ),
        ("fill", fill(json!({})), "invalid-argument fields"),
        (
            "fill",
            fill(Json::Object(many)),
            "limit-reached card_prompts",
        ),
        (
            "fill",
            fill(json!({"a": {"type": "integer", "minimum": "1"}})),
            "invalid-argument fields.a.minimum",
        ),
        (
            "fill",
            fill(json!({"a": {"type": "no-type"}})),
            "invalid-argument fields.a.type",
        ),
    ] {
        let failure = host.failure(function, arguments.clone()).await;
        assert_eq!(named(&failure), expected, "{function} {failure}");
    }
    assert!(person.asked.lock().unwrap().is_empty());
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host.start().await;
    let flood = host.call("flood", json!({"count": 100})).await;
    assert_eq!(flood, Ok(json!([64, "limit-reached", "questions"])));
}

#[tokio::test]
async fn asker_that_waits_for_a_person_spends_no_time_of_its_own() {
    let person = Slow::new(Duration::from_millis(700), [replies(&[&["yes"]])]);
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host.limits(|limits| limits.cpu_ms = 200).questions(person);
    let host = host.start().await;
    let outcome = host.run("think-and-ask", json!({"prompt": "Go on?"})).await;
    assert!(outcome.result.is_ok(), "{outcome:?}");
    let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
    let facts = &nodes[0].end.as_ref().unwrap().facts;
    let micros = |name: &str| facts[name].as_u64().unwrap();
    assert!(micros("wall_us") >= 700_000, "{facts:?}");
    assert!(micros("cpu_us") < 200_000, "{facts:?}");
}

#[tokio::test]
async fn asker_may_wait_no_longer_than_its_call() {
    let person = Slow::new(Duration::from_secs(60), []);
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host.limits(|limits| limits.wall_ms = 300).questions(person);
    let host = host.start().await;
    let failure = host.failure("which", json!({"prompt": "Which?"})).await;
    assert_eq!(named(&failure), "limit-reached wall_ms");
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let person = Slow::new(Duration::from_secs(60), []);
    let host = host.questions(person).start().await;
    let which = json!({"prompt": "Which?", "timeout_ms": 50});
    let failure = host.failure("which", which.clone()).await;
    assert_eq!(failure.code.as_str(), "ask-timeout");
    let mut which = which;
    which["default"] = json!("late");
    assert_eq!(host.call("which", which).await, Ok(json!("late")));
}
