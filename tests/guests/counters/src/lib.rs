//! Counters behind handles: what they hold lives on between calls.

#![allow(
    clippy::allow_attributes_without_reason,
    clippy::same_length_and_capacity,
    reason = "the generated bindings"
)]

use std::cell::Cell;

use openprogram_guest::{functions, json};

wit_bindgen::generate!({
    inline: "
        package acme:counting@1.0.0;

        interface desk {
            resource counter {
                constructor(start: u32);
                add: func(n: u32) -> result<u32, string>;
                break-down: func();
                call: func(name: string) -> string;
                made: static func() -> u32;
            }
            record pair { left: counter, right: option<counter> }
            join: func(a: counter, b: borrow<counter>) -> counter;
            split: func(c: borrow<counter>) -> pair;
            describe: func() -> string;
        }

        world counters { export desk; }
    ",
});

use exports::acme::counting::desk;

struct Desk;

/// A number that starts somewhere.
struct Counter(Cell<u32>);

thread_local! {
    static MADE: Cell<u32> = const { Cell::new(0) };
}

fn counter(start: u32) -> desk::Counter {
    desk::Counter::new(<Counter as desk::GuestCounter>::new(start))
}

impl desk::Guest for Desk {
    type Counter = Counter;

    fn join(a: desk::Counter, b: desk::CounterBorrow<'_>) -> desk::Counter {
        counter(a.get::<Counter>().0.get() + b.get::<Counter>().0.get())
    }

    fn split(c: desk::CounterBorrow<'_>) -> desk::Pair {
        let whole = c.get::<Counter>().0.get();
        desk::Pair {
            left: counter(whole / 2),
            right: (whole > 1).then(|| counter(whole - whole / 2)),
        }
    }

    fn describe() -> String {
        format!("{} counters were made here", MADE.get())
    }
}

impl desk::GuestCounter for Counter {
    fn new(start: u32) -> Self {
        MADE.set(MADE.get() + 1);
        Self(Cell::new(start))
    }

    fn add(&self, n: u32) -> Result<u32, String> {
        println!("adding {n}");
        let sum = self.0.get().checked_add(n).ok_or("it is full")?;
        self.0.set(sum);
        Ok(sum)
    }

    fn break_down(&self) {
        panic!("the counter broke down at {}", self.0.get());
    }

    fn call(&self, name: String) -> String {
        match functions::call(&name, json!({})) {
            Ok(value) => value.to_string(),
            Err(failure) => failure.to_string(),
        }
    }

    fn made() -> u32 {
        MADE.get()
    }
}

export!(Desk);
