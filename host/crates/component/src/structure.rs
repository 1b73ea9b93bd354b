//! Looks through a component before anything else does: that every part is there in full, how many
//! instances it makes of itself, how heavy its functions are, and whether it has parts that the
//! engine lacks.
//!
//! Decoders set memory aside for what a part claims to be, and compilers work through every
//! instance and every function; all are bounded here first, in time linear in the bytes.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ComponentTypeRef, Instance, Parser, Payload,
};

use crate::async_parts;
use crate::error::LoadError;
use crate::weight::Functions;

/// What was seen of the outer form of a component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structure {
    /// The first part that only async functions use.
    pub(crate) async_part: Option<&'static str>,
}

/// Instances that one component makes, those inside its inner components counted each time.
/// Components of several languages make some dozens.
const INSTANCES_MAX: u64 = 2_000;

/// Components inside each other. Tools that put components together nest a few of them, and
/// decoders take the square of the depth.
const LEVELS_MAX: usize = 100;

/// One component that is being read.
#[derive(Default)]
struct Level {
    /// The instances that each known component makes, itself included.
    components: Vec<u64>,
    /// The instances made so far.
    made: u64,
}

/// Checks the outer form of a component.
///
/// # Errors
/// When a part is cut off, when it makes too many instances, when it is nested too deep, or when a
/// function is too heavy to be compiled.
pub(crate) fn check(bytes: &[u8]) -> Result<Structure, LoadError> {
    let mut async_part = None;
    let mut levels: Vec<Level> = Vec::new();
    // What a component is taken for that comes out of an instance or as an argument.
    let mut most = 1;
    // Modules inside have no components; there is one at a time.
    let mut kinds = Vec::new();
    let mut functions = Functions::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(malformed)?;
        if async_part.is_none() {
            async_part = async_parts::find(&payload).map_err(malformed)?;
        }
        match payload {
            Payload::Version { encoding, .. } => {
                let is_component = encoding == wasmparser::Encoding::Component;
                kinds.push(is_component);
                if is_component {
                    levels.push(Level::default());
                } else {
                    functions = Functions::default();
                }
                if levels.len() > LEVELS_MAX {
                    let max = LEVELS_MAX;
                    return Err(LoadError::TooDeep { max });
                }
            }
            Payload::End(_) => {
                if kinds.pop() == Some(true)
                    && let Some(ended) = levels.pop()
                {
                    let made = ended.made.saturating_add(1);
                    most = most.max(made);
                    if made > INSTANCES_MAX {
                        let max = INSTANCES_MAX;
                        return Err(LoadError::TooManyInstances { max });
                    }
                    if let Some(outer) = levels.last_mut() {
                        outer.components.push(made);
                    }
                }
            }
            part if kinds.last() == Some(&false) => functions.look(&part)?,
            part => read_part(part, &mut levels, most)?,
        }
    }
    Ok(Structure { async_part })
}

fn read_part(part: Payload<'_>, levels: &mut [Level], most: u64) -> Result<(), LoadError> {
    let Some((level, outer)) = levels.split_last_mut() else {
        return Ok(());
    };
    match part {
        Payload::InstanceSection(instances) => {
            for instance in instances {
                if let Instance::Instantiate { .. } = instance.map_err(malformed)? {
                    level.made = level.made.saturating_add(1);
                }
            }
        }
        Payload::ComponentInstanceSection(instances) => {
            for instance in instances {
                let instance = instance.map_err(malformed)?;
                if let ComponentInstance::Instantiate {
                    component_index, ..
                } = instance
                {
                    let made = known(level, component_index).unwrap_or(most);
                    level.made = level.made.saturating_add(made);
                }
            }
        }
        Payload::ComponentAliasSection(aliases) => {
            for alias in aliases {
                match alias.map_err(malformed)? {
                    ComponentAlias::InstanceExport {
                        kind: ComponentExternalKind::Component,
                        ..
                    } => level.components.push(most),
                    ComponentAlias::Outer {
                        kind: ComponentOuterAliasKind::Component,
                        count,
                        index,
                    } => {
                        let found = match count {
                            0 => known(level, index),
                            _ => (outer.len().checked_sub(count as usize))
                                .and_then(|at| known(&outer[at], index)),
                        };
                        level.components.push(found.unwrap_or(most));
                    }
                    _ => {}
                }
            }
        }
        Payload::ComponentImportSection(imports) => {
            for import in imports {
                if let ComponentTypeRef::Component(_) = import.map_err(malformed)?.ty {
                    level.components.push(most);
                }
            }
        }
        Payload::ComponentExportSection(exports) => {
            for export in exports {
                let export = export.map_err(malformed)?;
                if export.kind == ComponentExternalKind::Component {
                    let made = known(level, export.index).unwrap_or(most);
                    level.components.push(made);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn known(level: &Level, index: u32) -> Option<u64> {
    level.components.get(index as usize).copied()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the form that `map_err` takes"
)]
fn malformed(error: wasmparser::BinaryReaderError) -> LoadError {
    LoadError::Malformed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(bytes: &[u8]) -> String {
        check(bytes).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
    }

    /// So many levels of components, each of which makes ten of the one below.
    fn bomb(levels: usize) -> Vec<u8> {
        let mut text = "(component $c0)".to_owned();
        for level in 1..=levels {
            let below = level - 1;
            let made = format!("(instance (instantiate $c{below}))").repeat(10);
            text = format!("(component $c{level} {text} {made})");
        }
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn a_part_that_claims_more_than_is_there_is_refused_at_once() {
        let claims = b"\0asm\x0d\0\x01\0\x05\xff\xff\xff\xff\x0f";
        assert_eq!(
            outcome(claims),
            "the component is damaged: unexpected end-of-file (at offset 0xe)"
        );
    }

    #[test]
    fn components_inside_of_each_other_are_counted() {
        // Innermost first; what a section holds is said in as few bytes as decoders take.
        let nested = |levels: usize| {
            let header = b"\0asm\x0d\0\x01\0";
            let mut all = header.to_vec();
            for _ in 1..levels {
                let length = u32::try_from(all.len()).unwrap();
                let bytes = [length & 0x7f, length >> 7 & 0x7f, length >> 14].map(|b| b as u8);
                let section = [&[4, bytes[0] | 0x80, bytes[1] | 0x80, bytes[2]], &all[..]].concat();
                all = [&header[..], &section].concat();
            }
            all
        };
        assert_eq!(outcome(&nested(LEVELS_MAX)), "fine");
        for levels in [LEVELS_MAX + 1, 20_000] {
            assert_eq!(
                outcome(&nested(levels)),
                "the component holds components more than 100 levels deep; put them beside each other"
            );
        }
    }

    #[test]
    fn a_function_that_is_too_heavy_is_refused_before_it_is_compiled() {
        let module = |loops: usize| {
            let locals = "i32 ".repeat(5_000);
            let (begin, end) = ("loop ".repeat(loops), "end ".repeat(loops));
            format!("(core module (func) (func (local {locals}) {begin} {end}))")
        };
        for (text, expected) in [
            (format!("(component {0} {0})", module(200)), "fine"),
            (
                format!("(component (core module) (component {}))", module(201)),
                "a function of the component has so many locals, loops and branches (32160000 of \
                 32000000) that compiling it would take all memory; split it up, or build it with \
                 optimisations",
            ),
        ] {
            assert_eq!(outcome(&wat::parse_str(text).unwrap()), expected);
        }
    }

    #[test]
    fn instances_are_counted_through_all_levels() {
        let refused = "the component makes more than 2000 instances of what is in it; split it up";
        for (levels, expected) in [
            (1, "fine"),
            (2, "fine"),
            (3, "fine"),
            (4, refused),
            (15, refused),
        ] {
            assert_eq!(outcome(&bomb(levels)), expected, "{levels} levels");
        }
        // Each time two instances, through an alias of a component further out.
        for (times, expected) in [(900, "fine"), (1_100, refused)] {
            let text = format!(
                "(component (component $big (component $inner) (instance (instantiate $inner)))
                   (component (alias outer 1 0 (component $x)) {}))",
                "(instance (instantiate $x))".repeat(times)
            );
            assert_eq!(
                outcome(&wat::parse_str(text).unwrap()),
                expected,
                "{times} times"
            );
        }
    }
}
