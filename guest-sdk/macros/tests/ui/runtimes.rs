//! Runtimes are lent by name, and only as parameters.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    use openprogram_guest::Runtime;

    pub fn other_name(model: &Runtime) {}

    pub fn other_type(runtime: String, exec_runtime: u32) {}

    pub fn by_value(runtime: Runtime) {}

    pub fn mutable(runtime: &mut Runtime) {}

    pub fn with_settings(#[param(hidden)] review_runtime: Option<&Runtime>) {}

    pub fn in_a_list(runtimes: Vec<&Runtime>) {}

    pub fn given_back(runtime: &Runtime) -> &Runtime {
        runtime
    }
}

fn main() {}
