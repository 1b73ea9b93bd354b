//! Structs and enums that have no WIT form. What no function uses may be anything.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    pub struct Unused<T>(T);

    pub struct Position(i32, i32);

    pub struct Nothing {}

    pub enum Never {}

    pub struct Page<T> {
        content: T,
    }

    pub enum Level {
        Low = 1,
        Moved { from: u32, to: u32 },
        Both(u32, u32),
    }

    pub struct Tree {
        name: String,
        children: Vec<Branch>,
    }

    pub enum Branch {
        Leaf,
        Inner(Tree),
    }

    pub enum Protocol {
        Http,
        HTTP,
        Self_,
    }

    pub struct Twins {
        first_name: String,
        firstName: String,
        #[cfg(test)]
        line_1: String,
        size: usize,
    }

    pub struct Json {
        text: String,
    }

    type Loop = Option<Loop>;

    pub fn use_all(
        position: Position,
        nothing: Nothing,
        never: Never,
        page: Page<u32>,
        level: Level,
        tree: Tree,
        protocol: Protocol,
        twins: Twins,
        json: Json,
        endless: Loop,
    ) {
    }
}

fn main() {}
