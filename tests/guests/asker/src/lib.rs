//! Puts questions of every kind to the person who runs it, and too much of each.

/// Asks.
#[openprogram_guest::functions(package = "test:asker")]
pub mod guest {
    use std::time::Duration;

    use openprogram_guest::ask::{self, Card, Field, Form, Question};
    use openprogram_guest::{Failure, Json, Value, json};

    /// Says whether a question would reach anybody.
    pub fn can() -> bool {
        ask::can_ask()
    }

    /// Asks one question and gives the answer.
    pub fn which(
        prompt: String,
        #[param(default = [])] options: Vec<String>,
        default: Option<String>,
        #[param(default = false)] free_text: bool,
        timeout_ms: Option<u64>,
    ) -> Result<String, Failure> {
        let mut question = Question::new(prompt).options(options);
        if let Some(default) = default {
            question = question.default(default);
        }
        if free_text {
            question = question.free_text();
        }
        if let Some(time) = timeout_ms {
            question = question.timeout(Duration::from_millis(time));
        }
        ask::ask(question)
    }

    /// Asks which of several options hold.
    pub fn several(
        prompt: String,
        options: Vec<String>,
        defaults: Option<Vec<String>>,
    ) -> Result<Vec<String>, Failure> {
        let question = Question::new(prompt).options(options).multiple();
        match defaults {
            Some(defaults) => ask::ask(question.defaults(defaults)),
            None => ask::ask(question),
        }
    }

    /// Asks these texts on one card.
    pub fn card(prompts: Vec<String>, #[param(default = 0)] options: u32) -> Result<Json, Failure> {
        let mut card = Card::new().timeout(Duration::from_secs(60));
        for prompt in prompts {
            let options = (0..options).map(|number| format!("option {number}"));
            card = card.question(Question::new(prompt).options(options));
        }
        let answers = ask::ask(card)?;
        Ok(Json::from(json!([answers.replies, answers.are_default])))
    }

    /// Asks for a yes or a no.
    pub fn sure(
        prompt: String,
        default: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> Result<bool, Failure> {
        match timeout_ms {
            Some(time) => ask::confirm_within(&prompt, default, Duration::from_millis(time)),
            None => ask::confirm(&prompt, default),
        }
    }

    /// Has a form of these fields filled in.
    pub fn fill(prompt: String, fields: Json) -> Result<Json, Failure> {
        let fields: std::collections::BTreeMap<String, Value> = fields.parse()?;
        let mut form = Form::new(prompt);
        for (name, schema) in fields {
            form = form.field(Field::of_schema(&name, schema));
        }
        form.fill()
    }

    /// Asks so often, and gives how often there was an answer and why there was none then.
    pub fn flood(count: u32) -> Json {
        for number in 0..count {
            if let Err(failure) = ask::confirm("Again?", true) {
                return Json::from(json!([number, failure.code(), failure.detail("which")]));
            }
        }
        Json::from(json!([count, null, null]))
    }

    /// Computes a little, waits for an answer, and computes again.
    pub fn think_and_ask(prompt: String) -> Result<u64, Failure> {
        let sum = |from: u64| (from..from + 1_000).fold(0, u64::wrapping_add);
        let before = sum(1);
        ask::ask(prompt)?;
        Ok(before.wrapping_add(sum(2)))
    }
}
