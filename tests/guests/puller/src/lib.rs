//! Makes turns that go on beside it: reads them while they arrive, several at once, lets the model
//! call its closures, and misbehaves in every way that the contract leaves.

/// Makes turns that go on beside it.
#[openprogram_guest::functions(package = "test:puller")]
pub mod guest {
    use std::cell::RefCell;

    use openprogram_guest::__private::{
        decision, failure_from_host, poll, runtime as raw, runtime_to_host, types,
    };
    use openprogram_guest::decision::{Menu, Schema};
    use openprogram_guest::{
        Failure, Json, Request, Runtime, TurnEvent, join_all, json, next_of, progress,
    };

    /// Two numbers.
    #[derive(Schema)]
    struct Sum {
        a: i64,
        b: i64,
    }

    fn line(event: &TurnEvent) -> String {
        match event {
            TurnEvent::Text(text) => format!("text {text}"),
            TurnEvent::Thinking(text) => format!("thinking {text}"),
            TurnEvent::ToolUse {
                name, arguments, ..
            } => format!("use {name} {arguments}"),
            TurnEvent::ToolResult { name, text, .. } => format!("result {name}: {text}"),
            TurnEvent::Retry(retry) if retry.restarts => format!("anew {}", retry.attempt),
            TurnEvent::Retry(retry) => format!("retry {} {}", retry.attempt, retry.reason),
            TurnEvent::Usage(usage) => format!("usage {}", usage.output_tokens),
            TurnEvent::Missed(count) => format!("missed {count}"),
            other => format!("{other:?}"),
        }
    }

    fn adding<'a>(prompt: String) -> Request<'a> {
        Request::new(prompt).tool::<double>().local_tool(
            "add_up",
            "Adds up.",
            |Sum { a, b }: Sum| match a {
                0 => Err(Failure::new("nothing", "there is nothing to add")),
                _ => Ok(a + b),
            },
        )
    }

    /// Doubles a number.
    pub fn double(n: i32) -> i32 {
        n * 2
    }

    /// Tells what a turn tells, and its text.
    pub fn stream(prompt: String, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let mut turn = runtime.start(adding(prompt))?;
        let mut lines = Vec::new();
        while let Some(event) = turn.wait() {
            lines.push(line(&event));
        }
        lines.push(format!("over {} {:?}", turn.is_over(), turn.poll()));
        lines.push(turn.finish()?.text());
        Ok(lines)
    }

    /// Reads a reply piece by piece, which may begin anew or not, and tells what it has kept.
    pub fn restart(
        prompt: String,
        allowed: bool,
        runtime: &Runtime,
    ) -> Result<Vec<String>, Failure> {
        let request = Request::new(prompt).no_tools().restarts(allowed);
        let mut turn = runtime.start(request)?;
        let (mut lines, mut kept) = (Vec::new(), String::new());
        while let Some(event) = turn.wait() {
            lines.push(line(&event));
            match event {
                TurnEvent::Text(text) => kept.push_str(&text),
                TurnEvent::Retry(retry) if retry.restarts => kept.clear(),
                _ => {}
            }
        }
        lines.push(turn.finish()?.text());
        lines.push(kept);
        Ok(lines)
    }

    /// Makes a turn that closes with a decision, beside it or waiting for it, and tells the result.
    pub fn choose(prompt: String, starts: bool, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let lines = RefCell::new(Vec::new());
        let menu = Menu::new()
            .function::<double>("double")
            .value("stop", "STOPPED");
        let request = adding(prompt).choices(menu);
        let result = match starts {
            true => {
                let mut turn = runtime.start(request)?;
                while let Some(event) = turn.wait() {
                    lines.borrow_mut().push(line(&event));
                }
                turn.finish()?
            }
            false => {
                let tell = |event: &TurnEvent| lines.borrow_mut().push(line(event));
                runtime.exec(request.on_stream(tell))?
            }
        };
        let mut lines = lines.into_inner();
        lines.push(result.to_string());
        Ok(lines)
    }

    /// Makes a turn with callbacks and a closure, by `exec`.
    pub fn watch(prompt: String, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let lines = RefCell::new(Vec::new());
        let request = adding(prompt)
            .on_stream(|event| lines.borrow_mut().push(line(event)))
            .on_retry(|retry| lines.borrow_mut().push(format!("again {}", retry.attempt)));
        let reply = runtime.exec(&request)?.text();
        drop(request);
        let mut lines = lines.into_inner();
        lines.push(reply);
        Ok(lines)
    }

    /// Lets the model call a closure so often as it likes, and tells the sum and how often.
    pub fn count(prompt: String, runtime: &Runtime) -> Result<Json, Failure> {
        let (mut sum, mut count) = (0, 0);
        let request = Request::new(prompt)
            .no_tools()
            .local_tool("add_up", "", |pair: Sum| {
                sum += pair.a + pair.b;
                count += 1;
                Ok(sum)
            });
        let text = runtime.exec(request)?.text();
        Ok(json!({"text": text, "sum": sum, "count": count}).into())
    }

    /// Makes one turn for each prompt, all at once, and tells the order in which they told.
    pub fn at_once(prompts: Vec<String>, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let start = |prompt: &String| runtime.start(Request::new(prompt).no_tools());
        let mut turns = prompts.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let mut lines = Vec::new();
        while let Some((place, event)) = next_of(&mut turns) {
            lines.push(format!("{place} {}", line(&event)));
        }
        Ok(lines)
    }

    /// Makes one turn for each prompt, all at once, and gives the texts or codes in order.
    pub fn join(prompts: Vec<String>, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let start = |prompt: &String| runtime.start(Request::new(prompt).no_tools());
        let turns = prompts.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let told = |reply: Result<openprogram_guest::Reply, Failure>| match reply {
            Ok(reply) => reply.text(),
            Err(failure) => failure.code().to_owned(),
        };
        Ok(join_all(turns).into_iter().map(told).collect())
    }

    /// Starts a turn, makes another one meanwhile, and only then looks.
    pub fn unread(prompt: String, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let mut turn = runtime.start(Request::new(prompt).no_tools())?;
        runtime.exec(Request::new("wait").no_tools())?;
        let mut lines = Vec::new();
        while let Some(event) = turn.wait() {
            lines.push(match event {
                TurnEvent::Text(text) => format!("text of {} bytes", text.len()),
                other => line(&other),
            });
        }
        lines.push(format!("{} bytes", turn.finish()?.text().len()));
        Ok(lines)
    }

    /// Starts a turn, reads the first that it tells, and drops it; or leaves it to the end of the
    /// call.
    pub fn give_up(prompt: String, drops: bool, runtime: &Runtime) -> Result<String, Failure> {
        let mut turn = runtime.start(Request::new(prompt).no_tools())?;
        let first = turn.wait().map(|event| line(&event));
        match drops {
            true => drop(turn),
            false => std::mem::forget(turn),
        }
        Ok(first.unwrap_or_default())
    }

    /// Starts so many turns and keeps them.
    pub fn hoard(prompt: String, count: u32, runtime: &Runtime) -> Result<u32, Failure> {
        let start = |_| runtime.start(Request::new(&prompt).no_tools());
        let turns = (0..count).map(start).collect::<Result<Vec<_>, _>>()?;
        Ok(turns.len() as u32)
    }

    /// Makes a turn with a local tool of this name and these parameters beside its functions.
    pub fn named(name: String, parameters: Json, runtime: &Runtime) -> Result<Json, Failure> {
        let request = raw::Request::new();
        request.add_text("x");
        request.add_local_tool(&name, "", parameters.as_str());
        let started = runtime_to_host(runtime).start(&request);
        started.map_err(failure_from_host)?;
        Ok(json!(null).into())
    }

    /// Makes a turn in a way that cannot be, and reads one for what it does not give.
    pub fn wrongly(how: String, runtime: &Runtime) -> Result<Json, Failure> {
        let request = raw::Request::new();
        request.add_text("x");
        let host = runtime_to_host(runtime);
        let wait = |turn: &raw::Turn| {
            let ready = turn.subscribe();
            while turn.next().is_none_or(|event| event.kind != "done") {
                ready.block();
            }
        };
        match how.as_str() {
            "local-tool" => {
                request.add_local_tool("add_up", "", "{}");
                host.exec(&request).map_err(failure_from_host)?;
            }
            "pick-of" => {
                let turn = host.start(&request).map_err(failure_from_host)?;
                wait(&turn);
                let picked = decision::pick_of(&turn).transpose();
                picked.map_err(failure_from_host)?;
            }
            _ => {
                let menu = decision::Menu::new();
                menu.add_value("stop", "1", None);
                menu.add_value("go", "2", None);
                let turn = decision::start_with(host, &request, &menu);
                let turn = turn.map_err(failure_from_host)?;
                wait(&turn);
                turn.outcome().transpose().map_err(failure_from_host)?;
            }
        }
        Ok(json!(null).into())
    }

    /// Answers the calls of a turn as `how` says, and tells what the host says to that.
    pub fn answer(how: String, timeout_ms: u32, runtime: &Runtime) -> Result<Vec<String>, Failure> {
        let request = raw::Request::new();
        request.add_text("!call add_up {\"a\": 1, \"b\": 2}");
        request.add_local_tool(
            "add_up",
            "",
            "{\"a\": {\"type\": \"int\"}, \"b\": {\"type\": \"int\"}}",
        );
        request.set_tools(&[]);
        request.set_timeout_ms(timeout_ms.into());
        let turn = runtime_to_host(runtime).start(&request);
        let turn = turn.map_err(failure_from_host)?;
        let mut lines = Vec::new();
        let mut tell = |id: &str, answer: Result<&str, &types::Failure>| {
            let answered = turn.answer(id, answer);
            lines.push(match answered {
                Ok(()) => format!("{id} taken"),
                Err(failure) => format!("{id} {}", failure.code),
            });
        };
        let ready = turn.subscribe();
        loop {
            let Some(event) = turn.next() else {
                poll::poll(&[&ready]);
                continue;
            };
            match event.kind.as_str() {
                "local-call" => {
                    let details = Json::from_text(event.details)?;
                    let details: openprogram_guest::Value = details.parse()?;
                    let id = details["id"].as_str().unwrap_or_default();
                    match how.as_str() {
                        "twice" => {
                            tell(id, Ok("3"));
                            tell(id, Ok("4"));
                        }
                        "unknown" => {
                            tell("nobody", Ok("3"));
                            tell(id, Ok("3"));
                        }
                        "broken" => {
                            tell(id, Ok("{"));
                            tell(id, Ok(&format!("{:?}", "x".repeat(2 << 20))));
                            tell(id, Ok("\"mended\""));
                        }
                        _ => {}
                    }
                }
                "done" => break,
                _ => {}
            }
        }
        // What is over stays over, and is ready for ever.
        poll::poll(&[&ready, &ready]);
        lines.push(match turn.outcome() {
            None => "no outcome".to_owned(),
            Some(Ok(reply)) => reply.text(),
            Some(Err(failure)) => failure.code,
        });
        drop(turn);
        lines.push(format!("ready {}", ready.ready()));
        Ok(lines)
    }

    /// Reports its progress so often as it can.
    pub fn report(count: u32) {
        for n in 0..count {
            progress::report_part(format!("Step\n{n}"), f64::from(n) / f64::from(count));
        }
        progress::report("Done");
    }
}
