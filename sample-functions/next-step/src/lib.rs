//! The forms of a decision, each as short as it can be written: a menu as a literal, work before the
//! pick, every kind of option, and types that are menus and schemas.

/// Decides what comes next.
#[openprogram_guest::functions]
pub mod next_step {
    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::{Failure, Json, Request, Runtime, json, menu};

    /// Route a message to the step that fits.
    pub fn route(
        /// The message of a customer.
        message: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let options = menu! {
            analyze: fn analyze_mood,
            fallback: fn reply_politely,
            done: "CONVERSATION_OVER",
        };
        decision::make(&format!("Pick a way: {message}"), &options.runtime(runtime))
    }

    /// Handle a ticket: look things up, then decide how it ends.
    pub fn work_and_close(
        /// The ticket, in the words of the customer.
        ticket: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let choices = menu! {
            refund: fn refund_order,
            escalate: fn call_a_person,
            close: json!({"status": "closed"}),
        };
        runtime.exec(Request::new(format!("Handle this: {ticket}")).choices(choices))
    }

    /// Go on after a step that failed.
    pub fn go_on(
        /// What went wrong.
        problem: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let options = menu! {
            retry: fn try_again,
            skip: "SKIPPED",
            /// Pick when stuck.
            abort: json!({"signal": "abort"}),
            /// Produce a plan.
            emit_plan: schema {
                steps: [{ action: String, target: String }],
                rationale: String,
            },
        };
        decision::make(&format!("What now? {problem}"), &options.runtime(runtime))
    }

    /// Decide about a release. The pick is a value of Rust, so here there is something to match.
    pub fn review_release(
        /// The notes of the release.
        notes: String,
        runtime: &Runtime,
    ) -> Result<String, Failure> {
        let prompt = format!("Review these notes: {notes}");
        let picked = decision::pick(&prompt, &Menu::of::<Verdict>().runtime(runtime))?;
        Ok(match picked.read()? {
            Verdict::Approve => "approved".to_owned(),
            Verdict::Change { findings } => {
                let lines: Vec<_> = findings.iter().map(Finding::told).collect();
                lines.join("\n")
            }
        })
    }

    /// What becomes of a release.
    #[derive(decision::Choice)]
    enum Verdict {
        /// Nothing has to change.
        Approve,
        /// Something has to change first.
        Change {
            /// Every problem, the worst first.
            findings: Vec<Finding>,
        },
    }

    #[derive(decision::Schema)]
    struct Finding {
        severity: Severity,
        line: u32,
        /// What is wrong, in one sentence.
        problem: String,
        /// How to repair it, if you know.
        repair: Option<String>,
    }

    impl Finding {
        fn told(&self) -> String {
            let Finding {
                severity,
                line,
                problem,
                ..
            } = self;
            let repair = self.repair.as_deref().unwrap_or("no repair known");
            format!("{severity:?}, line {line}: {problem} ({repair})")
        }
    }

    #[derive(Debug, decision::Schema)]
    enum Severity {
        Low,
        /// Somebody would be harmed.
        High,
    }

    /// Tell the mood of a message.
    pub fn analyze_mood(
        /// The text to judge.
        text: String,
    ) -> String {
        let glad = text.contains("thank");
        if glad { "glad" } else { "neutral" }.to_owned()
    }

    /// Reply politely to anything else.
    pub fn reply_politely() -> String {
        "Thank you for your message. We will get back to you.".to_owned()
    }

    /// Pay an order back.
    pub fn refund_order(
        /// The number of the order.
        order: String,
    ) -> String {
        format!("refunded {order}")
    }

    /// Hand over to a person.
    pub fn call_a_person(
        /// What the person has to know.
        why: String,
    ) -> String {
        format!("a person was called: {why}")
    }

    /// Try the step again.
    pub fn try_again() -> String {
        "tried again".to_owned()
    }
}
