//! Settings of functions and parameters that do not fit.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    use std::collections::BTreeMap;

    use openprogram_guest::Json;

    pub enum Style {
        Plain,
        VeryFancy,
        Numbered(u32),
    }

    pub struct Size {
        width: u32,
        depth: Option<u32>,
    }

    #[function(system = 3, expose = "everything", render_range(callers = -1, below = 2), speed)]
    pub fn functions_settings() {}

    #[function(render_range = 3, system("text"))]
    pub fn wrong_forms() {}

    #[function(name = "say hello", description = " ", category = "two words", toolset = [], unsafe_in = [3])]
    pub fn words() {}

    #[function(defer = 3, timeout = 0, cache_ttl = "1", read_only, destructive, requires_approval = " ")]
    pub fn offering() {}

    #[function(cache = 3, open_world = "yes", idempotent(true), timeout = 1000000)]
    pub fn flags() {}

    #[function(available_if = {"weather": "good"}, requires_approval = {"reason": "why"})]
    pub fn conditions() {}

    #[function(available_if = {"argument": "amount", "equals": 3}, requires_approval = {"when": {"any": [
        {"argument": "amount", "equals": 256},
        {"argument": "sum", "above": 3},
        {"argument": "amount", "like": 3},
        {"export": "is_open"},
        {"export": "nobody"},
        {"not": {"not": {"not": {"env": "A"}}}},
        {"all": []},
        {"model": [3]},
    ]}})]
    pub fn deeper(amount: u8) {}

    pub fn is_open() -> bool {
        true
    }

    pub fn unknown(#[param(hiden)] text: String, #[param(options("a", "b"))] other: String) {}

    pub fn defaults(
        #[param(default = "yes")] flag: bool,
        #[param(default = 256)] small: u8,
        #[param(default = -1)] count: u64,
        #[param(default = 1.5)] whole: i32,
        #[param(default = "ab")] letter: char,
        #[param(default = 3)] text: &str,
        #[param(default = null)] required: String,
        #[param(default = 1e40)] share: f32,
        #[param(default = "fancy")] style: Style,
        #[param(default = "numbered")] payload: Style,
        #[param(default = {"plain": 1})] no_payload: Style,
        #[param(default = {"height": 1})] size: Size,
        #[param(default = [1, "two", 3])] list: Vec<u8>,
        #[param(default = [1])] pair: (u8, u8),
        #[param(default = {"a": "b"})] map: BTreeMap<String, u32>,
        #[param(default = {"maybe": 1})] outcome: Result<u32, String>,
        #[param(default = 5u8)] suffixed: u8,
        #[param(default)] without: u8,
        #[param(default = Style::Plain)] path: Style,
        #[param(default = {"anything": [true]})] any: Json,
    ) {
    }

    pub fn options(
        #[param(options = ["plain", "striped"])] style: Option<Style>,
        #[param(options = [1, 2, 2])] count: u8,
        #[param(options = [])] nothing: String,
        #[param(options = "one")] one: String,
        #[param(options = ["a", "b"], default = "c")] outside: String,
        #[param(options = ["a"], options_from = "functions")] both: String,
    ) {
    }

    pub fn others(
        #[param(multiline)] number: u32,
        #[param(options_from = "functions")] flag: bool,
        #[param(placeholder = 3)] text: String,
        #[param(hidden = "yes")] secret: String,
        #[param(hidden, hidden)] twice: String,
    ) {
    }
}

fn main() {}
