//! Turns of a prepared runtime that are read while they go on.

use std::cell::Cell;

use openprogram_guest::decision::Menu;
use openprogram_guest::testing::MockRuntime;
use openprogram_guest::{Failure, Request, TurnEvent, Value, json};

fn short(event: &TurnEvent) -> String {
    match event {
        TurnEvent::Text(text) => text.clone(),
        TurnEvent::Retry(retry) if retry.restarts => format!("anew {}", retry.attempt),
        TurnEvent::Retry(retry) => format!("retry {}", retry.attempt),
        other => format!("{other:?}"),
    }
}

#[test]
fn replies_begin_anew_where_the_request_lets_them() {
    let cut = || Failure::llm("transport", true, "cut");
    for (allowed, expected) in [
        (true, vec!["Hal", "anew 1", "Whole."]),
        (false, vec!["retry 1", "Whole."]),
    ] {
        let mock = MockRuntime::new()
            .retry_after(["Hal"], cut())
            .reply("Whole.");
        let request = Request::new("Go.").restarts(allowed);
        let mut turn = mock.runtime().start(request).unwrap();
        let mut told = Vec::new();
        while let Some(event) = turn.wait() {
            told.push(short(&event));
        }
        assert_eq!(told, expected);
        assert_eq!(turn.finish().unwrap().text(), "Whole.");
        assert_eq!(mock.requests()[0].restarts, allowed);
    }
}

#[test]
fn turns_that_end_in_a_pick_have_local_tools_and_are_started() {
    let mock = MockRuntime::new()
        .local_call("count", json!({}))
        .pick("stop", json!({}))
        .local_call("count", json!({}))
        .pick("add", json!({}));
    let (count, added) = (Cell::new(0), Cell::new(0));
    let request = || {
        let menu = Menu::new().value("stop", 7).closure("add", |(): ()| {
            added.set(added.get() + 1);
            Ok("added")
        });
        let tool = |(): ()| {
            count.set(count.get() + 1);
            Ok(())
        };
        Request::new("Go.")
            .local_tool("count", "Counts.", tool)
            .choices(menu)
    };
    assert_eq!(mock.runtime().exec(request()).unwrap().as_str(), "7");
    let turn = mock.runtime().start(request()).unwrap();
    assert_eq!((count.get(), added.get()), (1, 0));
    assert_eq!(turn.finish().unwrap().as_str(), "\"added\"");
    assert_eq!((count.get(), added.get()), (2, 1));
    assert_eq!(mock.requests()[1].local_calls[0].result, Ok(Value::Null));
}
