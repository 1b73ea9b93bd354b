//! Components that the toolchains of other languages make, from the sources in `tests/foreign`.
//!
//! Their authors never heard of OpenProgram: an own interface, nothing of the contract or the SDK.
//! Each is built when it is first asked for.

use std::fs;

use anyhow::Result;

use crate::guests::root;
use crate::toolchain::{Sources, Toolchain};

/// One of them, by what makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// `ruler`, in C, by zig's clang; its functions belong to the world.
    C,
    /// `planner`, in JavaScript, with QuickJS inside.
    QuickJs,
    /// `planner` with StarlingMonkey inside.
    StarlingMonkey,
    /// `planner`, in Python.
    Python,
}

impl Foreign {
    /// The component; `None`, with a printed reason, where its toolchain is not installed.
    ///
    /// # Panics
    /// When it does not build.
    #[must_use]
    pub fn bytes(self) -> Option<Vec<u8>> {
        let built = self.built();
        built.unwrap_or_else(|error| panic!("{self:?}: {error:#}"))
    }

    fn built(self) -> Result<Option<Vec<u8>>> {
        let (name, ending, toolchain) = match self {
            Self::C => ("ruler", ".c", Toolchain::C),
            Self::QuickJs => ("planner", ".js", Toolchain::QuickJs),
            Self::StarlingMonkey => ("planner", ".js", Toolchain::StarlingMonkey),
            Self::Python => ("planner", ".py", Toolchain::Python),
        };
        let folder = root().join("tests/foreign").join(name);
        let mut sources = Sources::new(name);
        let program = format!("{name}{ending}");
        sources.file(&program, fs::read(folder.join(&program))?);
        let wit = format!("{name}.wit");
        sources.file(&format!("wit/{wit}"), fs::read(folder.join(wit))?);
        let built = toolchain.build(&sources)?;
        Ok(built.map(fs::read).transpose()?)
    }
}

/// A component with one more custom section at its end.
#[must_use]
pub fn with_section(component: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut section = Vec::new();
    push_number(&mut section, name.len());
    section.extend(name.as_bytes());
    section.extend(content);
    let mut whole = component.to_vec();
    whole.push(0);
    push_number(&mut whole, section.len());
    whole.extend(section);
    whole
}

/// A number as WebAssembly writes it: seven bits per byte, the lowest first.
fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return;
        }
    }
}
