//! Essays: a model polishes, titles and reviews them, and Rust does what can be counted.
//!
//! The page that shows what the signature of a function cannot say. Every setting of `#[function]`
//! and `#[param]` stands here once, where a function of this kind wants it; what the functions do by
//! themselves stands in the modules beside it, which `cargo test` runs natively.

mod rubric;
mod stats;
mod tone;

/// Polishes, titles and reviews essays.
#[openprogram_guest::functions]
pub mod essays {
    use openprogram_guest::decision::Menu;
    use openprogram_guest::{Failure, Json, Request, Runtime, functions, json};

    /// Polish a text in one of two styles.
    ///
    /// The paragraph above is what menus and tools tell of the function. The turns of the function
    /// itself see all of this as background; what the model has to do, each turn says by itself.
    pub fn polish(
        /// The text to polish.
        text: &str,
        /// The style to polish it in.
        #[param(options = ["academic", "casual"])]
        style: &str,
        runtime: &Runtime,
    ) -> Result<String, Failure> {
        let prompt = format!(
            "Polish the text below in {style} style. Keep its meaning and its language. Answer with \
             the polished text and nothing else.\n\n{text}"
        );
        let reply = runtime.exec(Request::new(prompt).no_tools())?;
        Ok(reply.text().trim().to_owned())
    }

    /// Review an essay by a rubric: a score, and per part of the rubric what it is for.
    ///
    /// The essay is judged by itself: no earlier part of the session is read, and of the marks that
    /// were given on the way only the last two.
    #[function(
        system = "You mark essays of students. Judge what the essay says and nothing else.",
        expose = "full",
        render_range(callers = 0, subcalls = 2)
    )]
    pub fn review_essay(
        /// The essay.
        #[param(placeholder = "Paste the essay here.", multiline)]
        essay: String,
        /// The rubric to mark with.
        #[param(options = ["ielts_writing", "toefl_writing", "gre_argument"])]
        rubric_id: &str,
        /// The best score that can be had.
        #[param(default = 9)]
        max_score: u32,
        /// Whether the report holds the mark of every part.
        #[param(default = false)]
        show_rubric_internals: bool,
        /// Who asked, as the application knows them; no model fills or sees it.
        #[param(hidden)]
        session_id: String,
        runtime: &Runtime,
    ) -> Result<Report, Failure> {
        let mut marks = Vec::new();
        for (part, question) in crate::rubric::parts(rubric_id) {
            // A menu of one option: the model fills its fields, and the host checks them.
            let mark = Menu::new().schema_described(
                "mark",
                json!({
                    "points": {"type": "integer", "options": crate::rubric::POINTS},
                    "reason": "One sentence that quotes the essay.",
                }),
                "Gives the mark.",
            );
            let prompt = format!("Mark one part of this essay: {part}. {question}\n\n{essay}");
            let picked = runtime.exec(Request::new(prompt).no_tools().choices(mark))?;
            marks.push(Mark {
                part: (*part).to_owned(),
                ..crate::rubric::read(&picked)?
            });
        }
        Ok(Report {
            score: crate::rubric::score(&marks, max_score),
            max_score,
            marks: show_rubric_internals.then_some(marks),
            session_id,
        })
    }

    /// Tell the tone of a text.
    ///
    /// The model is asked for one word, and whatever else it writes is read as well as it goes.
    #[function(expose = "llm")]
    pub fn tell_tone(
        // Without a description of its own, a parameter is told by its placeholder.
        #[param(placeholder = "I love how this essay begins.")] text: &str,
        runtime: &Runtime,
    ) -> Result<Tone, Failure> {
        let prompt = format!(
            "What is the tone of the text below? Answer with one word: positive, negative or \
             neutral.\n\n{text}"
        );
        let reply = runtime.exec(Request::new(prompt).no_tools())?;
        Ok(crate::tone::read(&reply.text()))
    }

    /// Improve an essay until a reviewer lets it pass, or for as many rounds as allowed.
    ///
    /// One model writes and another one judges; without a second model one does both.
    pub fn improve(
        /// The essay.
        #[param(multiline)]
        essay: String,
        /// The most rounds.
        #[param(default = 2, options = [1, 2, 3])]
        rounds: u8,
        exec_runtime: &Runtime,
        review_runtime: Option<&Runtime>,
    ) -> Result<Improved, Failure> {
        let judge = review_runtime.unwrap_or(exec_runtime);
        let mut text = essay;
        for round in 1..=rounds {
            let prompt = format!(
                "Improve this essay. Answer with the whole essay and nothing else.\n\n{text}"
            );
            text = exec_runtime.exec(Request::new(prompt).no_tools())?.text();
            let verdict = Menu::new()
                .value_described("pass", true, "The essay is good as it is.")
                .value_described("again", false, "It can still be improved a lot.");
            let prompt = format!("Judge this essay:\n\n{text}");
            let passed = judge.exec(Request::new(prompt).no_tools().choices(verdict))?;
            if passed.parse()? {
                return Ok(Improved {
                    text,
                    rounds: round,
                    passed: true,
                });
            }
        }
        Ok(Improved {
            text,
            rounds,
            passed: false,
        })
    }

    /// Run a function of the choice of the caller on an essay, and give what it gives.
    #[function(requires_approval = "It runs whatever function the caller names.")]
    pub fn run_check(
        /// The function, which takes a `text`; `count_words` for example.
        #[param(options_from = "functions", multiline = false)]
        check: &str,
        /// The essay.
        essay: &str,
    ) -> Result<Json, Failure> {
        functions::call(check, json!({ "text": essay }))
    }

    /// Count the words and sentences of a text.
    #[function(expose = "hidden")]
    pub fn count_words(
        /// The text.
        text: &str,
        /// Words that do not count.
        #[param(default = [])]
        without: Vec<String>,
    ) -> Count {
        crate::stats::count(text, &without)
    }

    /// What a review gives.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Report {
        /// The score, from 0 to `max_score`.
        pub score: u32,
        /// The best score that could be had.
        pub max_score: u32,
        /// The marks, when they were asked for.
        pub marks: Option<Vec<Mark>>,
        /// Who asked.
        pub session_id: String,
    }

    /// The mark of one part of a rubric.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Mark {
        /// The part.
        pub part: String,
        /// The points, from 0 to 5.
        pub points: u8,
        /// What they are for.
        pub reason: String,
    }

    /// An essay after some rounds.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Improved {
        /// The essay as it is now.
        pub text: String,
        /// The rounds it took.
        pub rounds: u8,
        /// Whether the reviewer let it pass.
        pub passed: bool,
    }

    /// The tone of a text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Tone {
        /// It praises.
        Positive,
        /// It blames.
        Negative,
        /// It does neither.
        Neutral,
        /// The model did not say.
        Unclear,
    }

    /// What can be counted in a text.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Count {
        /// The words.
        pub words: u32,
        /// The sentences, of which a text with a word has one at least.
        pub sentences: u32,
    }
}
