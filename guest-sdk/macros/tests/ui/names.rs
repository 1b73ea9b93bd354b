//! Names that two things want.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod in_wit {
    pub struct Page {
        number: u32,
    }

    pub fn page(of: Page) {}

    pub fn get_page() {}

    #[allow(non_snake_case)]
    pub fn getPage() {}

    pub fn json() {}

    pub enum Runtime {
        Here,
    }

    pub fn take(place: Runtime) {}
}

#[openprogram_guest::functions]
pub mod in_rust {
    use std::fs;

    pub fn fs() {}

    pub fn refund() {}

    #[allow(non_camel_case_types)]
    struct refund {}

    pub fn bool() {}
}

fn main() {}
