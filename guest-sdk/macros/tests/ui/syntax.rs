//! One slip that is no Rust: it is told at its place, and nothing else is taken for a mistake.
#![allow(unused, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    use openprogram_guest::decision::Menu;

    /// Adds.
    #[function(idempotent)]
    pub fn add(
        /// The first.
        #[param(placeholder = "1")]
        left: u32,
        /// The second.
        right: u32,
    ) -> u32 {
        let sum = ;
        left + right
    }

    /// Picks.
    pub fn pick(
        /// What to pick.
        text: String,
    ) -> u32 {
        let menu = Menu::new().function::<add>("add");
        1
    }
}

fn main() {}
