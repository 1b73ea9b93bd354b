//! Decides with everything beyond asking once: closures, types, settings, replies of elsewhere.

/// Picks.
#[openprogram_guest::functions(package = "test:picker")]
pub mod guest {
    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::{Failure, Json, Request, Runtime, json, menu};

    /// Make a plan.
    #[derive(decision::Schema)]
    struct Plan {
        steps: Vec<Step>,
        mood: Option<Mood>,
    }

    #[derive(decision::Schema)]
    struct Step {
        /// What to do.
        action: String,
        #[schema(options = [1, 2, 3])]
        effort: u8,
    }

    #[derive(Debug, decision::Schema)]
    enum Mood {
        /// All is well.
        Calm,
        Tense,
    }

    #[derive(decision::Choice)]
    enum Next {
        /// Draw it.
        Draw {
            width: u8,
            note: Option<String>,
        },
        Plan(Plan),
        /// Nothing is left to do.
        Stop,
    }

    fn every(log: &mut Vec<String>) -> Menu<'_> {
        menu! {
            greet: fn greet,
            /// Say nothing.
            "be quiet": json!({"said": ""}),
            /// Give some numbers.
            count: schema { numbers: [u8], "unit": one_of ["cm", "m"] },
            plan: type Plan,
            /// Write it down.
            note: |plan: Plan| {
                log.extend(plan.steps.into_iter().map(|step| step.action));
                Ok(log.len())
            },
            fail: || Err::<(), _>(Failure::new("trapped", "the closure says no")),
        }
    }

    /// Decides over every form of option, a closure among them.
    pub fn choose(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let mut log = vec!["first".to_owned()];
        let made = decision::make(&prompt, &every(&mut log).runtime(runtime));
        Ok(json!({"made": made?, "log": log}).into())
    }

    /// Works first, then decides over the same menu.
    pub fn close(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let mut log = Vec::new();
        let request = Request::new(prompt).no_tools().choices(every(&mut log));
        let made = runtime.exec(request);
        Ok(json!({"made": made?, "log": log}).into())
    }

    fn told(next: Next) -> String {
        match next {
            Next::Draw { width, note } => format!("draw {width} {note:?}"),
            Next::Plan(plan) => {
                let steps = plan
                    .steps
                    .iter()
                    .map(|step| format!("{} {}", step.action, step.effort));
                format!("plan {:?} {:?}", steps.collect::<Vec<_>>(), plan.mood)
            }
            Next::Stop => "stop".to_owned(),
        }
    }

    /// Picks a case of a type.
    pub fn choose_case(prompt: String, runtime: &Runtime) -> Result<String, Failure> {
        let _ = runtime;
        decision::choose(&prompt).map(told)
    }

    /// Works first, then picks a case of a type.
    pub fn close_case(prompt: String, runtime: &Runtime) -> Result<String, Failure> {
        runtime
            .exec(Request::new(prompt).no_tools().choose::<Next>())
            .map(told)
    }

    fn fixed() -> Menu<'static> {
        menu! { fn greet, stop: "STOPPED", "later" }.exit()
    }

    /// The menu as a model would read it.
    pub fn read_menu() -> Result<String, Failure> {
        decision::render(&fixed())
    }

    /// Reads a reply of elsewhere without a runtime, and carries its pick out.
    pub fn read_reply(reply: String) -> Result<Json, Failure> {
        let menu = fixed();
        decision::resolve(&decision::parse(&reply, &menu)?, &menu)
    }

    /// Reads a reply of elsewhere with a runtime that may be asked.
    pub fn read_or_ask(reply: String, retries: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let menu = fixed().max_retries(retries).runtime(runtime);
        let picked = decision::parse(&reply, &menu)?;
        let facts = json!([picked.name(), picked.how(), picked.confidence()]);
        let made = decision::resolve(&picked, &menu)?;
        Ok(json!([facts, made]).into())
    }

    /// Decides with settings that cannot hold.
    pub fn choose_wrongly(what: String, runtime: &Runtime) -> Result<Json, Failure> {
        let menu = fixed().runtime(runtime);
        let menu = match what.as_str() {
            "level" => menu.min_confidence(2.0),
            "hand-off" => menu.min_confidence_or(0.5, "nobody"),
            "votes" => menu.votes(16),
            "group" => menu.group("all", "All of them.", &["greet", "leave"]),
            "exit" => menu.exit_described("stop", "Twice."),
            "no options" => Menu::new().runtime(runtime),
            _ => menu.value("stop", 1),
        };
        decision::make("Pick.", &menu)
    }

    /// Closes a turn with a decision that is put to the vote, which is refused.
    pub fn close_by_votes(runtime: &Runtime) -> Result<Json, Failure> {
        runtime.exec(Request::new("Work.").no_tools().choices(fixed().votes(3)))
    }

    /// Keeps so many menus with so many bytes each.
    pub fn keep_menus(count: u32, bytes: u32) -> Result<String, Failure> {
        let text = "x".repeat(bytes as usize);
        let menu = |_| Menu::new().value("kept", &text);
        let kept: Vec<_> = (0..count).map(menu).collect();
        for menu in &kept {
            decision::render(menu)?;
        }
        drop(kept);
        // What was dropped is not held any more.
        decision::render(&menu(0))
    }

    /// Decides over two groups and an option outside them.
    pub fn choose_grouped(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let menu = menu! { red: 1, blue: 2, round: 3, stop: 0 };
        let menu = menu.group("colour", "A colour.", &["red", "blue"]).group(
            "form",
            "A form.",
            &["round"],
        );
        decision::make(&prompt, &menu.runtime(runtime))
    }

    /// Decides by votes, with a minimum of confidence.
    pub fn choose_by_votes(
        votes: u32,
        level: f64,
        hand_off: Option<String>,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let menu = menu! { red: 1, blue: 2, ask: 3 }
            .votes(votes)
            .runtime(runtime);
        let menu = match &hand_off {
            Some(name) => menu.min_confidence_or(level, name),
            None if level > 0.0 => menu.min_confidence(level),
            None => menu,
        };
        let picked = decision::pick("Which one?", &menu)?;
        let confidence = [
            json!(picked.confidence()),
            json!(picked.confidence_source()),
        ];
        Ok(json!([picked.name(), confidence, picked.handed_off()]).into())
    }

    /// Greets somebody.
    pub fn greet(name: String) -> String {
        format!("hello {name}")
    }
}
