//! Shows and plays to a model what it is told to, and sets how much models think, with several of
//! them side by side.

/// Shows, plays and thinks.
#[openprogram_guest::functions(package = "test:looker")]
pub mod guest {
    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::{
        CacheTtl, Failure, Json, Request, Runtime, ThinkingLevel, functions, json,
    };

    /// Shows and plays what is given and what stands in files, in this order: `image`, `video` and
    /// `audio` by their bytes, then the files, then what `mark` and `hour` say: hints for the cache.
    pub fn show(
        prompt: String,
        image: Option<Vec<u8>>,
        video: Option<Vec<u8>>,
        audio: Option<Vec<u8>>,
        #[param(default = [])] files: Vec<String>,
        #[param(default = "")] mime_type: String,
        #[param(default = false)] mark: bool,
        #[param(default = false)] hour: bool,
        runtime: &Runtime,
    ) -> Result<String, Failure> {
        let mut request = Request::new(prompt).no_tools();
        if let Some(data) = image {
            request = request.image(&data, &mime_type);
        }
        if let Some(data) = video {
            request = request.video(&data, &mime_type);
        }
        if let Some(data) = audio {
            request = request.audio(&data, &mime_type);
        }
        for path in &files {
            request = request.file(path);
        }
        if mark {
            request = request.mark_cache();
        }
        if hour {
            request = request.mark_cache_for(CacheTtl::Hour);
        }
        Ok(runtime.exec(request)?.text())
    }

    fn cat_or_dog<'a>(
        image: Option<Vec<u8>>,
        video: Option<Vec<u8>>,
        audio: Option<Vec<u8>>,
        files: &[String],
    ) -> Menu<'a> {
        let mut menu = Menu::new().value("cat", "a cat").value("dog", "a dog");
        if let Some(data) = image {
            menu = menu.image(&data, "");
        }
        if let Some(data) = video {
            menu = menu.video(&data, "");
        }
        if let Some(data) = audio {
            menu = menu.audio(&data, "");
        }
        files.iter().fold(menu, |menu, path| menu.file(path))
    }

    /// Decides what all this shows: by the words of a reply when there is one, else by asking.
    pub fn decide(
        prompt: String,
        image: Option<Vec<u8>>,
        video: Option<Vec<u8>>,
        audio: Option<Vec<u8>>,
        #[param(default = [])] files: Vec<String>,
        reply: Option<String>,
        _runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let menu = cat_or_dog(image, video, audio, &files);
        match reply {
            Some(reply) => decision::resolve(&decision::parse(&reply, &menu)?, &menu),
            None => decision::make(&prompt, &menu),
        }
    }

    /// Closes a turn with a menu that shows a file, which is refused.
    pub fn close(path: String, runtime: &Runtime) -> Result<Json, Failure> {
        let menu = cat_or_dog(None, None, None, &[path]);
        runtime.exec(Request::new("Look.").no_tools().choices(menu))
    }

    fn level(word: &str) -> ThinkingLevel {
        match word {
            "low" => ThinkingLevel::Low,
            "medium" => ThinkingLevel::Medium,
            "high" => ThinkingLevel::High,
            "xhigh" => ThinkingLevel::XHigh,
            _ => ThinkingLevel::Off,
        }
    }

    /// Thinks as it is told, has `thinks-below` called, and tells both levels and the tokens of the
    /// last request.
    pub fn think(
        prompt: String,
        levels: Vec<String>,
        #[param(default = "")] below: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let before = runtime.thinking_level();
        let unused = runtime.last_usage().is_none();
        for word in &levels {
            runtime.set_thinking_level(level(word))?;
        }
        let text = runtime.exec(Request::new(&prompt).no_tools())?.text();
        let below = match below.as_str() {
            "" => Json::from(json!(null)),
            _ => functions::call("thinks-below", json!({"prompt": prompt, "level": below}))?,
        };
        let usage = runtime.last_usage();
        Ok(Json::from(json!({
            "before": format!("{before:?}"),
            "after": format!("{:?}", runtime.thinking_level()),
            "below": below,
            "text": text,
            "unused": unused,
            "used": usage.map(|usage| [usage.input_tokens, usage.output_tokens]),
            "max_retries": runtime.max_retries(),
        })))
    }

    /// Tells the level that holds, sets another one and makes a turn.
    pub fn thinks_below(
        prompt: String,
        level: String,
        runtime: &Runtime,
    ) -> Result<String, Failure> {
        let before = runtime.thinking_level();
        runtime.set_thinking_level(self::level(&level))?;
        runtime.exec(Request::new(prompt).no_tools())?;
        Ok(format!("{before:?}"))
    }

    /// Observes with a cheap model, plans with a strong one, and has a third one, which it opens,
    /// look over the plan.
    pub fn observe_and_plan(
        task: String,
        third: String,
        exec_runtime: &Runtime,
        review_runtime: &Runtime,
    ) -> Result<Json, Failure> {
        review_runtime.set_thinking_level(ThinkingLevel::High)?;
        let seen = exec_runtime.exec(Request::new(&task).no_tools())?.text();
        let plan = review_runtime.exec(Request::new(format!("Plan: {seen}")).no_tools())?;
        let other = Runtime::open(&third)?;
        let verdict = other.exec(Request::new(format!("Check: {plan}")).no_tools())?;
        let level = |runtime: &Runtime| format!("{:?}", runtime.thinking_level());
        let levels = [exec_runtime, review_runtime, &other].map(level);
        Ok(Json::from(json!({
            "models": [exec_runtime.model(), review_runtime.model(), other.model()],
            "levels": levels,
            "seen": seen,
            "plan": plan.text(),
            "verdict": verdict.text(),
        })))
    }
}
