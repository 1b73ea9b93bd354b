//! Components of every type in every language, made from one table.
//!
//! A group of rows becomes an interface: for each row a function that gives back what it gets, and
//! one that gives values which are built into it. The sources are written here for each language and
//! built by its own tools, so that both ways of a value pass through what others wrote.

mod c;
mod javascript;
mod literal;
mod python;
mod rows;
mod rows_of_names;
mod rust;
mod wrong;

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Result;
use openprogram_component::{Engine, EngineOptions};
use openprogram_core::Json;
use openprogram_core::schema::{Field, Type};

use crate::guests::root;
use crate::signatures::Declarations;
use crate::toolchain::{Sources, Toolchain};

pub use rows::rows;
pub use wrong::{Wrong, wrong};

/// The interface of the functions.
pub const INTERFACE: &str = "test:kinds/guest";
/// The world of each component, and the name of its sources.
const WORLD: &str = "kinds";

/// Types that are tried in one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Truth values and whole numbers.
    Numbers,
    /// Floats, characters and text.
    Texts,
    /// Lists and bytes.
    Lists,
    /// Options, and options of options.
    Options,
    /// Records and tuples, and a resource.
    Records,
    /// Enums and flags.
    Names,
    /// Variants and results.
    Variants,
    /// Any JSON, deep types, many parameters and none.
    Wide,
    /// Maps and lists of fixed length, which not every toolchain has.
    Newer,
}

impl Group {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Numbers,
        Self::Texts,
        Self::Lists,
        Self::Options,
        Self::Records,
        Self::Names,
        Self::Variants,
        Self::Wide,
        Self::Newer,
    ];
}

/// A row of the table: the types of a function that gives back what it gets.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name, in the names of its functions.
    pub name: &'static str,
    /// What the function takes.
    pub parameters: Vec<Field>,
    /// Values that are built into a function without other arguments; for one parameter only.
    pub extremes: Vec<Json>,
    /// Whether the type is that of a function that may fail.
    pub fails: bool,
}

impl Row {
    /// The name of the function that gives back what it gets.
    #[must_use]
    pub fn same(&self) -> String {
        format!("same-{}", self.name)
    }

    /// The name of the function that gives a value by its number.
    #[must_use]
    pub fn made(&self) -> String {
        format!("made-{}", self.name)
    }

    /// The type of the only parameter.
    #[must_use]
    pub fn only(&self) -> Option<&Type> {
        match self.parameters.as_slice() {
            [only] => Some(&only.ty),
            _ => None,
        }
    }

    /// What the function gives; `None` for nothing.
    #[must_use]
    pub fn gives(&self) -> Option<Type> {
        match self.parameters.as_slice() {
            [] => None,
            [only] => Some(only.ty.clone()),
            several => Some(Type::Tuple(several.iter().map(|f| f.ty.clone()).collect())),
        }
    }
}

/// An engine that has the time to compile whole interpreters, also where nothing is optimised. What it
/// compiled is kept beside the components.
#[must_use]
pub fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        Engine::new(EngineOptions {
            cache_folder: Some(root().join("target/foreign/compiled")),
            compile_time: Duration::from_secs(1_200),
            ..EngineOptions::default()
        })
    });
    &ENGINE
}

/// The rows that a toolchain does not have, and a word of what it says of them.
pub const NOT_SUPPORTED: [(Toolchain, &str, &str); 12] = [
    (Toolchain::C, "fixed", "not yet implemented"),
    (Toolchain::C, "fixed-records", "not yet implemented"),
    (Toolchain::QuickJs, "fixed", "fixed-length-list"),
    (Toolchain::QuickJs, "fixed-records", "fixed-length-list"),
    (Toolchain::StarlingMonkey, "map", "panic"),
    (Toolchain::StarlingMonkey, "map-by-number", "panic"),
    (Toolchain::StarlingMonkey, "fixed", "panic"),
    (Toolchain::StarlingMonkey, "fixed-records", "panic"),
    (Toolchain::Python, "map", "not yet implemented"),
    (Toolchain::Python, "map-by-number", "not yet implemented"),
    (Toolchain::Python, "fixed", "not yet implemented"),
    (Toolchain::Python, "fixed-records", "not yet implemented"),
];

/// Rows whose values a toolchain changes by itself, or traps on, and how.
pub const FAULTS: [(Toolchain, &str, &str); 8] = [
    (Toolchain::QuickJs, "u32", LARGE),
    (Toolchain::QuickJs, "s64", PRECISE),
    (Toolchain::QuickJs, "u64", PRECISE),
    (Toolchain::QuickJs, "u64-list", PRECISE),
    (Toolchain::QuickJs, "option", LARGE),
    (Toolchain::QuickJs, "several", PRECISE),
    (Toolchain::QuickJs, "map", LARGE),
    (Toolchain::QuickJs, "map-by-number", PRECISE),
];
const LARGE: &str = "a number of JavaScript above 2^31 becomes the largest s32";
const PRECISE: &str = "what is beyond 53 bits is lost, and the largest number traps";

/// The rows of a group that a toolchain has.
#[must_use]
pub fn rows_of(toolchain: Toolchain, group: Group) -> Vec<Row> {
    let lacks = |row: &Row| {
        let mut known = NOT_SUPPORTED.iter();
        known.any(|(lacking, name, _)| (*lacking, *name) == (toolchain, row.name))
    };
    rows(group).into_iter().filter(|row| !lacks(row)).collect()
}

/// The sources of a component in one language.
///
/// # Errors
/// When the types make no interface.
pub fn sources(toolchain: Toolchain, group: Group, rows: &[Row]) -> Result<Sources> {
    let resource = group == Group::Records;
    let wit = wit(rows, resource);
    let types = std::fs::read_to_string(root().join("wit/types.wit"))?;
    let mut sources = Sources::new(WORLD);
    sources.file("wit/kinds.wit", wit);
    sources.file("wit/deps/agentic/types.wit", types);
    let (file, text) = match toolchain {
        Toolchain::C => ("kinds.c", c::source(&sources, rows, resource)?),
        Toolchain::QuickJs | Toolchain::StarlingMonkey => {
            ("kinds.js", javascript::source(rows, resource))
        }
        Toolchain::Python => ("kinds.py", python::source(rows, resource)),
        Toolchain::Rust => ("kinds.rs", rust::source(rows, resource)),
    };
    sources.file(file, text);
    Ok(sources)
}

/// The interface of some rows.
fn wit(rows: &[Row], resource: bool) -> String {
    let mut declarations = Declarations::default();
    let mut functions = String::new();
    for row in rows {
        let mut parameters = Vec::new();
        for field in &row.parameters {
            let name = field.name.replace('_', "-");
            parameters.push(format!("%{name}: {}", declarations.name_of(&field.ty)));
        }
        let result = row.gives().map(|ty| declarations.name_of(&ty));
        let result = result.map_or_else(String::new, |ty| format!(" -> {ty}"));
        // Writing to a string cannot fail; the same holds in the sources.
        let _ = writeln!(
            functions,
            "    {}: func({}){result};",
            row.same(),
            parameters.join(", ")
        );
        if !row.extremes.is_empty() {
            let _ = writeln!(functions, "    {}: func(number: u32){result};", row.made());
        }
    }
    if resource {
        functions.push_str(
            "    resource thing {\n        constructor(number: u32);\n        \
             number: func() -> u32;\n    }\n    \
             take-thing: func(thing: borrow<thing>) -> u32;\n",
        );
    }
    format!(
        "package test:kinds;\n\ninterface guest {{\n    \
         use openprogram:agentic/types@0.1.0.{{json}};\n{}{functions}}}\n\n\
         world {WORLD} {{\n    export guest;\n}}\n",
        declarations.text()
    )
}
