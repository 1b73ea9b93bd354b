//! Makes turns in every way: with tools, pictures, system text, bounds and choices, and too much of
//! each.

/// Makes turns.
#[openprogram_guest::functions(package = "test:turner")]
pub mod guest {
    use std::time::Duration;

    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::model::StopReason;
    use openprogram_guest::{Failure, Json, Reply, Request, Runtime, ToolChoice, json};

    fn told(reply: &Reply) -> Json {
        let usage = reply.usage();
        let mut told = json!({
            "text": reply.text(),
            "usage": [usage.input_tokens, usage.output_tokens, usage.cache_read, usage.cache_create],
        });
        if reply.stop() != StopReason::End {
            told["stop"] = format!("{:?}", reply.stop()).into();
        }
        Json::from(told)
    }

    /// Says a text and nothing else.
    pub fn ask(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        Ok(told(&runtime.exec(prompt)?))
    }

    /// Lets the model call the functions of these names. `choice` is `auto`, `required`, `none` or
    /// the name of a function.
    pub fn work(
        prompt: String,
        tools: Vec<String>,
        #[param(default = "auto")] choice: String,
        #[param(default = 20)] max_iterations: u32,
        parallel: Option<bool>,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let mut request = Request::new(prompt)
            .max_iterations(max_iterations)
            .no_tools();
        for tool in &tools {
            request = request.tool_named(tool);
        }
        if let Some(allowed) = parallel {
            request = request.parallel_tool_calls(allowed);
        }
        let request = request.tool_choice(match choice.as_str() {
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            "none" => ToolChoice::None,
            _ => ToolChoice::Named(choice),
        });
        Ok(told(&runtime.exec(request)?))
    }

    /// Lets the model call what is left of a preset.
    pub fn equipped(
        prompt: String,
        toolset: String,
        source: Option<String>,
        allow: Option<Vec<String>>,
        deny: Vec<String>,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let mut request = Request::new(prompt).toolset(&toolset).tools_deny(deny);
        if let Some(source) = source {
            request = request.tools_source(&source);
        }
        if let Some(allow) = allow {
            request = request.tools_allow(allow);
        }
        Ok(told(&runtime.exec(request)?))
    }

    /// Ends in a value of a format. `closes` closes the turn with a decision as well.
    pub fn shaped(
        prompt: String,
        format: Json,
        #[param(default = false)] tools: bool,
        #[param(default = false)] closes: bool,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let request = Request::new(prompt).response_format(format);
        let request = if tools {
            request.tool::<add>()
        } else {
            request.no_tools()
        };
        if closes {
            return runtime.exec(request.choices(Menu::new().value("done", "DONE")));
        }
        let reply = runtime.exec(&request)?;
        Ok(reply.structured().unwrap_or(Json::from(json!("nothing"))))
    }

    /// Lets the model call the tools of this component, named by their paths.
    pub fn own_tools(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let request = Request::new(prompt)
            .tools::<(add, fail, trap, spin)>()
            .tool::<delegate>();
        Ok(told(&runtime.exec(request)?))
    }

    /// Shows a picture, between two texts.
    pub fn look(
        prompt: String,
        picture: Vec<u8>,
        #[param(default = "image/png")] mime_type: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let request = Request::new(prompt)
            .image(&picture, &mime_type)
            .text("That was it.");
        Ok(told(&runtime.exec(request.no_tools())?))
    }

    /// Adds texts to the system prompt, beside the one that is set for the call.
    #[function(system = "Of the function.")]
    pub fn instructed(
        prompt: String,
        system: Vec<String>,
        set: Option<String>,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        if set.is_some() {
            runtime.set_system(set.as_deref())?;
        }
        let mut request = Request::new(prompt).no_tools();
        for text in system {
            request = request.system_text(text);
        }
        Ok(told(&runtime.exec(request)?))
    }

    /// Makes a turn within so many milliseconds.
    pub fn timed(prompt: String, timeout_ms: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        Ok(told(&runtime.exec(Request::new(prompt).timeout(timeout))?))
    }

    /// Makes one request twice and gives both texts.
    pub fn twice(prompt: String, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let request = Request::new(prompt).no_tools();
        let texts = [
            runtime.exec(&request)?.text(),
            runtime.exec(&request)?.text(),
        ];
        Ok(texts.into())
    }

    /// Makes turns with all runtimes, in the order of the parameters.
    pub fn with_all(
        prompt: String,
        runtime: &Runtime,
        exec_runtime: &Runtime,
        review_runtime: &Runtime,
    ) -> Result<Vec<String>, Failure> {
        let runtimes = [runtime, exec_runtime, review_runtime];
        runtimes
            .iter()
            .map(|runtime| Ok(runtime.exec(&prompt)?.text()))
            .collect()
    }

    /// Opens a runtime with another model, and says a text with it. `how` is `exec`, `decide`,
    /// `close`, `system` or `closed`; `times` is how often.
    pub fn ask_other(
        model: String,
        prompt: String,
        #[param(default = "exec")] how: String,
        #[param(default = 1)] times: u32,
    ) -> Result<Json, Failure> {
        let other = Runtime::open(&model)?;
        let mut last = Json::from(json!(null));
        for _ in 0..times {
            last = match how.as_str() {
                "decide" => decision::make(&prompt, &choices().runtime(&other))?,
                "close" => other.exec(Request::new(&prompt).no_tools().choices(choices()))?,
                "system" => {
                    other.set_system(Some("Of the other."))?;
                    let reply = other.exec(Request::new(&prompt).no_tools())?;
                    Json::from(
                        json!({"system": other.system(), "model": other.model(), "text": reply.text()}),
                    )
                }
                "closed" => {
                    let text = other.exec(Request::new(&prompt).no_tools())?.text();
                    other.close()?;
                    other.close()?;
                    let model = other.model();
                    let code = |failure: Failure| failure.code().to_owned();
                    let exec = other.exec(&prompt).err().map(code);
                    let decide = decision::make(&prompt, &choices().runtime(&other));
                    let decide = decide.err().map(code);
                    Json::from(json!({"text": text, "model": model, "after": [exec, decide]}))
                }
                _ => told(&other.exec(Request::new(&prompt).no_tools())?),
            };
        }
        Ok(last)
    }

    /// Closes the runtime that it was lent.
    pub fn close_lent(runtime: &Runtime) -> Result<(), Failure> {
        runtime.close()
    }

    /// Lets the model search the web.
    pub fn search(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        Ok(told(&runtime.exec(Request::new(prompt).web_search(true))?))
    }

    /// Opens a runtime so many times, and keeps or drops each.
    pub fn open_many(model: String, count: u32, keep: bool) -> Result<u32, Failure> {
        let mut kept = Vec::new();
        for _ in 0..count {
            let opened = Runtime::open(&model)?;
            if keep {
                kept.push(opened);
            }
        }
        Ok(count)
    }

    fn choices() -> Menu<'static> {
        Menu::new()
            .function::<add>("add")
            .function::<stamp>("stamp")
            .function::<fail>("fail")
            .value_described(
                "close",
                json!({"status": "closed"}),
                "Nothing is left to do.",
            )
            .schema("plan", json!({"steps": [{"action": "string"}]}))
            .context(json!({"secret": "from the menu"}))
    }

    /// Works with a tool and closes with a decision.
    pub fn close(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        runtime.exec(Request::new(prompt).tool::<add>().choices(choices()))
    }

    /// Closes with a menu that names its runtime and its retries: `same` or `other`, and a number.
    pub fn close_strictly(
        prompt: String,
        #[param(options = ["same", "other"])] whose: String,
        max_retries: u32,
        runtime: &Runtime,
        review_runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let named = if whose == "same" {
            runtime
        } else {
            review_runtime
        };
        let menu = choices().runtime(named).max_retries(max_retries);
        runtime.exec(Request::new(prompt).no_tools().choices(menu))
    }

    /// Closes with a menu without options.
    pub fn close_with_nothing(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        runtime.exec(Request::new(prompt).choices(Menu::new()))
    }

    /// Makes a turn that says nothing.
    pub fn say_nothing(runtime: &Runtime) -> Result<Json, Failure> {
        Ok(told(&runtime.exec("")?))
    }

    /// Says so many texts of so many bytes.
    pub fn many_texts(count: u32, bytes: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let text = "t".repeat(bytes as usize);
        let request = (0..count).fold(Request::new("Many."), |request, _| request.text(&text));
        Ok(told(&runtime.exec(request)?))
    }

    /// Shows so many pictures of so many bytes.
    pub fn many_pictures(count: u32, bytes: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let picture = picture(bytes);
        let request = Request::new("Many.");
        let request = (0..count).fold(request, |request, _| request.image(&picture, "image/gif"));
        Ok(told(&runtime.exec(request)?))
    }

    /// Names so many tools.
    pub fn many_tools(count: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let request = Request::new("Many.");
        let request = (0..count).fold(request, |request, _| request.tool::<add>());
        Ok(told(&runtime.exec(request)?))
    }

    /// Prepares so many turns with a picture of so many bytes each, keeps them, and makes the last.
    pub fn many_turns(count: u32, bytes: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let picture = picture(bytes);
        let turn = |_| Request::new("Many.").image(&picture, "image/gif");
        let kept: Vec<_> = (0..count).map(turn).collect();
        let last = kept
            .last()
            .ok_or_else(|| Failure::invalid_argument("count", "no turns"))?;
        Ok(told(&runtime.exec(last)?))
    }

    /// The same, but drops each turn before the next.
    pub fn turns_in_turn(count: u32, bytes: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let picture = picture(bytes);
        for _ in 0..count {
            drop(Request::new("Many.").image(&picture, "image/gif"));
        }
        Ok(told(&runtime.exec("Done.")?))
    }

    fn picture(bytes: u32) -> Vec<u8> {
        let mut picture = b"GIF89a".to_vec();
        picture.resize((bytes as usize).max(6), 0);
        picture
    }

    /// Adds two numbers.
    #[function(read_only)]
    pub fn add(
        /// The first one.
        a: i32,
        /// The second one.
        b: i32,
    ) -> i32 {
        a.saturating_add(b)
    }

    /// Fails with this reason.
    pub fn fail(why: String) -> Result<String, String> {
        Err(why)
    }

    /// Stops abnormally.
    pub fn trap() {
        std::process::abort()
    }

    /// Computes for ever.
    pub fn spin() {
        loop {
            std::hint::black_box(());
        }
    }

    /// Makes a turn of its own, with the tools of the turn above.
    pub fn delegate(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        Ok(told(&runtime.exec(prompt)?))
    }

    /// Gives back what the context held.
    pub fn stamp(#[param(hidden)] secret: String) -> String {
        secret
    }
}
