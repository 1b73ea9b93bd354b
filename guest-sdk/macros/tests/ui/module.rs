//! The attribute in the wrong place, or with wrong arguments.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod empty {
    fn private() {}
}

#[openprogram_guest::functions]
pub fn function() {}

#[openprogram_guest::functions(package = "tools")]
pub mod no_namespace {
    pub fn run() {}
}

#[openprogram_guest::functions(package = "openprogram:tools")]
pub mod taken_namespace {
    pub fn run() {}
}

#[openprogram_guest::functions(package = "my:fn")]
pub mod keyword {
    pub fn run() {}
}

#[openprogram_guest::functions(name = "my:tools", package = 3)]
pub mod arguments {
    pub fn run() {}
}

fn main() {}
