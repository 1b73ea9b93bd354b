//! Functions that a component cannot have, and types that cannot be in a signature.
#![allow(unused, non_snake_case, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    use std::collections::{BTreeMap, HashMap};
    use std::path::PathBuf;

    pub async fn waits() {}

    pub unsafe fn risks() {}

    pub extern "C" fn speaks_c() {}

    pub fn generic<T>(value: T) -> T {
        value
    }

    pub fn takes_apart((left, right): (u32, u32)) -> u32 {
        left + right
    }

    pub fn borrows(bytes: &[u8], text: &mut String) -> &'static str {
        text.push(char::from(bytes[0]));
        ""
    }

    pub fn sizes(count: usize, wide: u128) -> isize {
        count as isize + wide as isize
    }

    pub fn collections(by_name: HashMap<String, u32>, by_number: BTreeMap<u32, String>) {
        drop((by_name, by_number));
    }

    pub fn foreign(path: PathBuf) -> std::time::Duration {
        std::time::Duration::from_secs(path.as_os_str().len() as u64)
    }

    pub fn shapes(list: [u8; 4], boxed: Box<u32>, function: fn(u32) -> u32) -> impl Iterator<Item = u8> {
        drop((boxed, function));
        list.into_iter()
    }

    pub fn nothing(unit: (), list: Vec<()>, of_what: Vec, choice: Option<u8, u8>) {
        drop((unit, list, of_what, choice));
    }

    pub fn any(value: serde_json::Value) {
        drop(value);
    }

    pub fn line_2() {}

    pub fn größe() {}

    pub fn twice(page_no: u32, pageNo: u32) -> u32 {
        page_no + pageNo
    }

    #[cfg(test)]
    pub fn sometimes() {}

    #[function(expose = "full")]
    fn private() {}
}

fn main() {}
