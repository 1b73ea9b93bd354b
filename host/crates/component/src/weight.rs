//! How much memory it takes to compile a function, told before it is compiled.
//!
//! Bytes do not tell it: a compiler makes a value for each local at the head of each loop, and hands
//! locals on at each branch, so that a small function with many of both becomes a large one.

use wasmparser::{
    BlockType, CompositeInnerType, FunctionBody, Operator, Payload, Result, TryTable,
};

use crate::error::LoadError;

/// The heaviest function, in values that are handed on. Interpreters in C++, whose one function is a
/// loop over hundreds of cases, weigh two million.
const WEIGHT_MAX: u64 = 32_000_000;
/// What a value weighs that is made, beside one that is handed on.
const MADE: u64 = 32;
/// Blocks take three bytes at least.
const MADE_IN_A_BYTE: u64 = MADE.div_ceil(3) + 1;

/// The functions of one module, as far as its sections were seen.
#[derive(Default)]
pub(crate) struct Functions {
    /// How many values each type takes and gives; none for one that is no function.
    types: Vec<u64>,
    types_most: u64,
    /// The type of each function that has code.
    of_code: Vec<u32>,
    seen: usize,
}

impl Functions {
    /// Looks at a section of the module.
    ///
    /// # Errors
    /// When the section is damaged, or a function is too heavy.
    pub(crate) fn look(&mut self, section: &Payload<'_>) -> Result<(), LoadError> {
        let weight = self.read(section);
        let weight = weight.map_err(|error| LoadError::Malformed(error.to_string()))?;
        if weight > WEIGHT_MAX {
            let max = WEIGHT_MAX;
            return Err(LoadError::HeavyFunction { weight, max });
        }
        Ok(())
    }

    fn read(&mut self, section: &Payload<'_>) -> Result<u64> {
        match section {
            Payload::TypeSection(groups) => {
                for group in groups.clone() {
                    self.types
                        .extend(group?.types().map(|ty| match &ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => {
                                (ty.params().len() + ty.results().len()) as u64
                            }
                            _ => 0,
                        }));
                }
                self.types_most = self.types.iter().copied().max().unwrap_or(0);
            }
            Payload::FunctionSection(functions) => {
                for ty in functions.clone() {
                    self.of_code.push(ty?);
                }
            }
            Payload::CodeSectionEntry(body) => {
                let ty = self.of_code.get(self.seen).copied();
                self.seen += 1;
                return self.weight(ty, body);
            }
            _ => {}
        }
        Ok(0)
    }

    fn weight(&self, ty: Option<u32>, body: &FunctionBody<'_>) -> Result<u64> {
        // What it gives counts with what it takes, which is a little much.
        let mut locals = ty.map_or(0, |ty| self.size(ty));
        for group in body.get_locals_reader()? {
            locals = locals.saturating_add(u64::from(group?.0));
        }
        // Of a function that cannot come near, the code is not looked at.
        let range = body.range();
        let bytes = range.end.saturating_sub(range.start) as u64;
        let each = locals.saturating_add(self.types_most).saturating_add(1);
        if each.saturating_mul(bytes).saturating_mul(MADE_IN_A_BYTE) <= WEIGHT_MAX {
            return Ok(0);
        }
        let mut weight = 0_u64;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            let more = match reader.read()? {
                Operator::Loop { blockty } => (locals + self.size_of(blockty)) * MADE,
                Operator::If { blockty } => locals + self.size_of(blockty) * MADE,
                Operator::Block { blockty } => self.size_of(blockty) * MADE,
                Operator::TryTable {
                    try_table: TryTable { ty, catches },
                } => self.size_of(ty) * MADE + locals * catches.len() as u64,
                Operator::BrTable { targets } => locals * (u64::from(targets.len()) + 1),
                Operator::Br { .. }
                | Operator::BrIf { .. }
                | Operator::BrOnNull { .. }
                | Operator::BrOnNonNull { .. }
                | Operator::BrOnCast { .. }
                | Operator::BrOnCastFail { .. }
                | Operator::Else => locals,
                _ => 0,
            };
            weight = weight.saturating_add(more);
        }
        Ok(weight)
    }

    fn size_of(&self, block: BlockType) -> u64 {
        match block {
            BlockType::Empty => 0,
            BlockType::Type(_) => 1,
            BlockType::FuncType(ty) => self.size(ty),
        }
    }

    fn size(&self, ty: u32) -> u64 {
        self.types.get(ty as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::Parser;

    /// The heaviest function of a module.
    fn weight(text: &str) -> u64 {
        let bytes = wat::parse_str(text).unwrap();
        let mut functions = Functions::default();
        let sections = Parser::new(0).parse_all(&bytes);
        let weights = sections.map(|section| functions.read(&section.unwrap()).unwrap());
        weights.max().unwrap()
    }

    /// A function with so many locals and as many of these around each other.
    fn function(locals: usize, times: usize, begin: &str, end: &str) -> String {
        format!(
            "(module (type $wide (func (result {}))) (func (local {}) {} {}))",
            "i32 ".repeat(20),
            "i64 ".repeat(locals),
            begin.repeat(times),
            end.repeat(times)
        )
    }

    #[test]
    fn locals_in_loops_and_branches_weigh_and_neither_alone() {
        let loops = |locals, times| weight(&function(locals, times, "loop ", "end "));
        assert_eq!(loops(5_000, 5_000), 5_000 * 5_000 * 32);
        assert!(loops(5_000, 5_000) > WEIGHT_MAX);
        for alone in [loops(40_000, 1), loops(1, 40_000)] {
            assert!(alone < WEIGHT_MAX, "{alone}");
        }
        let branches = weight(&function(9_000, 9_000, "i32.const 0 br_if 0 ", ""));
        assert_eq!(branches, 9_000 * 9_000);
        let table = format!("i32.const 0 br_table {} ", "0 ".repeat(9_000));
        assert_eq!(weight(&function(9_000, 1, &table, "")), 9_000 * 9_000);
        let wide = function(0, 300_000, "block (type $wide) ", "unreachable end ");
        assert_eq!(weight(&wide), 300_000 * 20 * 32);
    }

    #[test]
    fn what_compilers_make_is_far_from_too_heavy() {
        let interpreter = function(500, 15_000, "i32.const 0 br_if 0 ", "");
        assert!(weight(&interpreter) * 4 < WEIGHT_MAX);
    }
}
