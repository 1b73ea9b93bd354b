//! What cannot be filled in or picked.

use openprogram_guest::decision::{Choice, Schema};
use openprogram_guest::schema;

#[derive(Schema)]
struct Pair(String, String);

#[derive(Schema)]
struct Wrapped<T> {
    value: T,
}

#[derive(Schema)]
struct Wrong {
    when: std::time::Duration,
}

#[derive(Schema)]
struct Allowed {
    #[schema(optinos = ["a"])]
    by: String,
}

#[derive(Schema)]
union Both {
    a: u32,
    b: f32,
}

#[derive(Choice)]
struct Single {
    field: String,
}

#[derive(Choice)]
enum Empty {}

#[derive(Choice)]
enum Next {
    Two(String, String),
}

#[derive(Choice)]
enum Bare {
    Text(String),
}

fn literals() {
    let _ = schema! { names: [String, String] };
    let _ = schema! { names: [] };
}

fn main() {}
