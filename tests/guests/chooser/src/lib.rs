//! Decides over every kind of option, with and without a runtime on its chain.

/// Decides.
#[openprogram_guest::functions(package = "test:chooser")]
pub mod guest {
    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::{ExportedFunction as _, Failure, Json, Runtime, functions, json};

    fn menu() -> Menu<'static> {
        Menu::new()
            .function::<greet>("greet")
            .function::<needy>("needy")
            .function::<stamp>("stamp")
            .context(json!({"secret": "from the menu"}))
            .value_described("done", "DONE", "Nothing is left to do.")
            .schema_described(
                "plan",
                json!({"steps": [{"action": "string"}], "count": {"type": "integer"}}),
                "Make a plan.",
            )
    }

    /// Decides over all options; the decision is made by the runtime of this call.
    pub fn choose(prompt: String, max_retries: u32, runtime: &Runtime) -> Result<Json, Failure> {
        decision::make(&prompt, &menu().max_retries(max_retries).runtime(runtime))
    }

    /// Decides with whatever runtime the chain of calls has.
    pub fn choose_ambient(prompt: String) -> Result<Json, Failure> {
        decision::make(&prompt, &menu())
    }

    /// Declares a runtime and lets another function decide by it.
    pub fn lend(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let _ = runtime;
        functions::call(choose_ambient::NAME, json!({ "prompt": prompt }))
    }

    /// Picks and runs nothing.
    pub fn pick(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let picked = decision::pick(&prompt, &menu().runtime(runtime))?;
        let told =
            json!({"name": picked.name(), "arguments": picked.arguments(), "how": picked.how()});
        Ok(told.into())
    }

    /// Decides over a function of another component.
    pub fn choose_other(function: String, runtime: &Runtime) -> Result<Json, Failure> {
        let menu = Menu::new()
            .function_named("other", &function)
            .context(json!({"secret": "from the menu"}))
            .value("done", "DONE");
        decision::make("good: pick one.", &menu.runtime(runtime))
    }

    /// Greets somebody.
    pub fn greet(
        /// Whom.
        name: String,
        /// How.
        #[param(options = ["short", "long"], default = "short")]
        style: String,
    ) -> String {
        format!("{style}: hello {name}")
    }

    /// Cannot be run without being told a number.
    pub fn needy(number: u8) -> u32 {
        u32::from(number) + 1
    }

    /// Gives back what the context held.
    pub fn stamp(#[param(hidden)] secret: String) -> String {
        secret
    }
}
