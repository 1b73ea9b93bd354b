//! What only the compiler can see: names that stand for other types, and menus over other things.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    use openprogram_guest::decision::Menu;

    pub struct Elsewhere;

    mod other {
        pub type Json = u32;
        pub type Result<T> = std::result::Result<T, String>;
    }
    use other::{Json, Result};

    pub fn takes(value: Json) {}

    pub fn gives() -> Result<u32> {
        Ok(1)
    }

    fn helper() {}

    pub fn menu() {
        let _ = Menu::new().function::<helper>("helper").function::<Elsewhere>("elsewhere");
    }
}

fn main() {}
