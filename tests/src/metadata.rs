//! Components whose metadata says anything, true or not.
//!
//! Their one interface is fixed (`lying:metadata/guest`, function `greet`); what `describe` answers
//! is laid out in memory by hand, so that no tool can correct it.

use std::fmt::Write as _;

use anyhow::Result;

use crate::guests::assemble;

const WORLD: &str = "
package lying:metadata;

interface guest {
    record person { name: string, age: option<u8> }
    greet: func(person: person, times: u8) -> string;
}

world component {
    export guest;
    export openprogram:agentic/metadata@0.1.0;
}
";

/// Where the answer of `describe` lies in memory.
const BASE: u32 = 1024;

/// Named properties with their JSON texts.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

/// What `describe` says of one function.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// The interface; the true one is `guest`.
    pub interface: &'a str,
    /// The function; the true one is `greet`.
    pub name: &'a str,
    /// The doc.
    pub description: &'a str,
    /// The parameters with their attributes; the true ones are `person` and `times`.
    pub parameters: &'a [(&'a str, Attributes<'a>)],
    /// The attributes of the function.
    pub attributes: Attributes<'a>,
}

impl Default for Described<'_> {
    fn default() -> Self {
        Self {
            interface: "guest",
            name: "greet",
            description: "Greets.",
            parameters: &[],
            attributes: &[],
        }
    }
}

/// A component whose `describe` gives exactly this.
///
/// # Errors
/// Never, unless this module is wrong.
pub fn telling(functions: &[Described<'_>]) -> Result<Vec<u8>> {
    let mut memory = Memory::default();
    let mut records = Vec::new();
    for function in functions {
        let mut record = Vec::new();
        for text in [function.interface, function.name, function.description] {
            record.extend(memory.text(text));
        }
        let parameters: Vec<[u8; 16]> = function
            .parameters
            .iter()
            .map(|(name, attributes)| pair(memory.text(name), memory.attributes(attributes)))
            .collect();
        record.extend(memory.list(&parameters.concat(), parameters.len()));
        record.extend(memory.attributes(function.attributes));
        records.extend(record);
    }
    let functions = memory.list(&records, functions.len());
    let types = memory.list(&[], 0);
    let answer = memory.put(&pair(functions, types));
    describing(&format!("(i32.const {answer})"), &memory.bytes)
}

/// A component whose `describe` has this body and finds these bytes at address 1024.
///
/// # Errors
/// When the body is not WebAssembly text.
pub fn describing(body: &str, data: &[u8]) -> Result<Vec<u8>> {
    let mut escaped = String::new();
    for byte in data {
        write!(escaped, "\\{byte:02x}")?;
    }
    let module = format!(
        "(module
          (memory (export \"memory\") 16)
          (data (i32.const {BASE}) \"{escaped}\")
          (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
          (func (export \"lying:metadata/guest#greet\")
            (param i32 i32 i32 i32 i32) (result i32) (i32.const 0))
          (func (export \"openprogram:agentic/metadata@0.1.0#describe\") (result i32) {body}))"
    );
    assemble(WORLD, &module)
}

/// Memory that is filled from [`BASE`] upwards, every value at a multiple of eight.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    fn put(&mut self, bytes: &[u8]) -> u32 {
        let filled = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(filled, 0);
        self.bytes.extend(bytes);
        BASE + u32::try_from(filled).expect("test data is small")
    }

    /// A list: its place and its number of items.
    fn list(&mut self, items: &[u8], count: usize) -> [u8; 8] {
        let place = self.put(items).to_le_bytes();
        let count = u32::try_from(count)
            .expect("test data is small")
            .to_le_bytes();
        let mut list = [0; 8];
        list[..4].copy_from_slice(&place);
        list[4..].copy_from_slice(&count);
        list
    }

    fn text(&mut self, text: &str) -> [u8; 8] {
        self.list(text.as_bytes(), text.len())
    }

    fn attributes(&mut self, attributes: Attributes<'_>) -> [u8; 8] {
        let items: Vec<[u8; 16]> = attributes
            .iter()
            .map(|(key, value)| pair(self.text(key), self.text(value)))
            .collect();
        self.list(&items.concat(), items.len())
    }
}

fn pair(first: [u8; 8], second: [u8; 8]) -> [u8; 16] {
    let mut both = [0; 16];
    both[..8].copy_from_slice(&first);
    both[8..].copy_from_slice(&second);
    both
}
