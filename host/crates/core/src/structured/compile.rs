//! From a schema to nodes that can be checked. Keywords that are not checked here are refused, so
//! that no reply passes for a reason that was never looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex_lite::{Regex, RegexBuilder};

use super::check::Validator;
use super::decimal::Decimal;
use super::error::{StructuredCode, StructuredError};
use super::keyword::{DRAFT, TYPES, UNCHECKED};
use super::limits::PATTERN_SIZE_MAX;
use super::rule::{Bound, Node, NodeId, Rule, Side, Sized, canonical};
use super::shape::{cut, joined};
use crate::{Json, JsonObject};

/// Makes a schema ready. It has the shape of a schema.
///
/// # Errors
/// `unsupported` for what is not checked here, `invalid_schema` for a reference that leads nowhere
/// or to itself.
pub(super) fn compile(schema: &Json) -> Result<Validator, StructuredError> {
    let mut compiling = Compiling::default();
    compiling.node(schema, "")?;
    compiling.resolve()?;
    compiling.refuse_loops()?;
    Ok(Validator::new(compiling.nodes))
}

#[derive(Default)]
struct Compiling {
    nodes: Vec<Node>,
    /// Where each node is in the schema.
    paths: Vec<String>,
    by_path: BTreeMap<String, NodeId>,
    /// References: the node they are in, and the path they lead to.
    references: Vec<(NodeId, String)>,
}

fn unsupported(path: &str, what: &str) -> StructuredError {
    let path = cut(path);
    let message = format!("the schema cannot be checked at `{path}`: {what}");
    StructuredError::at(StructuredCode::Unsupported, path, message)
}

fn invalid(path: &str, what: &str) -> StructuredError {
    let path = cut(path);
    let message = format!("the schema is not valid at `{path}`: {what}");
    StructuredError::at(StructuredCode::InvalidSchema, path, message)
}

impl Compiling {
    fn node(&mut self, schema: &Json, path: &str) -> Result<NodeId, StructuredError> {
        let id = self.nodes.len();
        self.nodes.push(Node::Always(true));
        self.paths.push(path.to_owned());
        self.by_path.insert(path.to_owned(), id);
        let Json::Object(object) = schema else {
            self.nodes[id] = Node::Always(schema != &Json::Bool(false));
            return Ok(id);
        };
        let mut rules = Vec::new();
        for (keyword, value) in object {
            let path = joined(path, keyword);
            if UNCHECKED.contains(&keyword.as_str()) {
                return Err(unsupported(
                    &path,
                    "this keyword is not checked; leave it out",
                ));
            }
            if keyword == "$schema" && !is_draft(value) {
                let what = format!("only the draft `{DRAFT}` is read");
                return Err(unsupported(&path, &what));
            }
            if let Some(rule) = plain_rule(keyword, value, &path)? {
                rules.push(rule);
            } else {
                self.applicator(id, object, (keyword, value), &path, &mut rules)?;
            }
        }
        self.nodes[id] = Node::Rules(rules);
        Ok(id)
    }

    /// Rules that hold schemas.
    fn applicator(
        &mut self,
        id: NodeId,
        schema: &JsonObject,
        (keyword, value): (&str, &Json),
        path: &str,
        rules: &mut Vec<(&'static str, Rule)>,
    ) -> Result<(), StructuredError> {
        let rule = match keyword {
            "$ref" => {
                let path = target(value.as_str().unwrap_or_default(), path)?;
                self.references.push((id, path));
                return Ok(());
            }
            "$defs" | "definitions" => {
                self.by_name(value, path)?;
                return Ok(());
            }
            // Read with `if`; without one they mean nothing, and may still be referred to.
            "then" | "else" => {
                if !schema.contains_key("if") {
                    self.node(value, path)?;
                }
                return Ok(());
            }
            "if" => ("if", self.conditional(id, schema, value, path)?),
            "allOf" => ("allOf", Rule::AllOf(self.list(value, path)?)),
            "anyOf" => ("anyOf", Rule::AnyOf(self.list(value, path)?)),
            "oneOf" => ("oneOf", Rule::OneOf(self.list(value, path)?)),
            "prefixItems" => ("prefixItems", Rule::PrefixItems(self.list(value, path)?)),
            "not" => ("not", Rule::Not(self.node(value, path)?)),
            "items" => {
                let prefix = schema.get("prefixItems").and_then(Json::as_array);
                let n_before = prefix.map_or(0, Vec::len);
                ("items", Rule::Items(n_before, self.node(value, path)?))
            }
            "contains" => {
                let node = self.node(value, path)?;
                let count = |key| schema.get(key).and_then(count);
                let (min, max) = (count("minContains").unwrap_or(1), count("maxContains"));
                ("contains", Rule::Contains { node, min, max })
            }
            "properties" => ("properties", Rule::Properties(self.by_name(value, path)?)),
            "dependentSchemas" => {
                let schemas = self.by_name(value, path)?;
                ("dependentSchemas", Rule::DependentSchemas(schemas))
            }
            "propertyNames" => (
                "propertyNames",
                Rule::PropertyNames(self.node(value, path)?),
            ),
            "patternProperties" => {
                let rule = Rule::PatternProperties(self.by_pattern(value, path)?);
                ("patternProperties", rule)
            }
            "additionalProperties" => {
                let rule = self.additional_properties(schema, value, path)?;
                ("additionalProperties", rule)
            }
            _ => return Ok(()),
        };
        rules.push(rule);
        Ok(())
    }

    /// `if` with the branches that stand beside it.
    fn conditional(
        &mut self,
        id: NodeId,
        schema: &JsonObject,
        condition: &Json,
        path: &str,
    ) -> Result<Rule, StructuredError> {
        let condition = self.node(condition, path)?;
        let base = self.paths[id].clone();
        let mut branch = |key: &str| {
            let branch = schema.get(key);
            let node = branch.map(|schema| self.node(schema, &joined(&base, key)));
            node.transpose()
        };
        Ok(Rule::If {
            condition,
            then: branch("then")?,
            otherwise: branch("else")?,
        })
    }

    fn by_pattern(
        &mut self,
        schemas: &Json,
        path: &str,
    ) -> Result<Vec<(String, Arc<Regex>, NodeId)>, StructuredError> {
        let mut compiled = Vec::new();
        for (pattern, node) in self.by_name(schemas, path)? {
            let regex = regex(&pattern, &joined(path, &pattern))?;
            compiled.push((pattern, regex, node));
        }
        Ok(compiled)
    }

    /// The schema of what no name and no pattern beside it claims.
    fn additional_properties(
        &mut self,
        schema: &JsonObject,
        value: &Json,
        path: &str,
    ) -> Result<Rule, StructuredError> {
        let node = self.node(value, path)?;
        let keys_of = |key| {
            let object = schema.get(key).and_then(Json::as_object);
            object.into_iter().flat_map(JsonObject::keys)
        };
        let patterns = keys_of("patternProperties").map(|pattern| regex(pattern, path));
        Ok(Rule::AdditionalProperties {
            known: keys_of("properties").cloned().collect(),
            patterns: patterns.collect::<Result<_, _>>()?,
            node,
        })
    }

    fn list(&mut self, schemas: &Json, path: &str) -> Result<Vec<NodeId>, StructuredError> {
        let schemas = schemas.as_array().into_iter().flatten().enumerate();
        schemas
            .map(|(index, schema)| self.node(schema, &joined(path, &index.to_string())))
            .collect()
    }

    fn by_name(
        &mut self,
        schemas: &Json,
        path: &str,
    ) -> Result<Vec<(String, NodeId)>, StructuredError> {
        let schemas = schemas.as_object().into_iter().flatten();
        schemas
            .map(|(name, schema)| Ok((name.clone(), self.node(schema, &joined(path, name))?)))
            .collect()
    }

    fn resolve(&mut self) -> Result<(), StructuredError> {
        for (id, target) in std::mem::take(&mut self.references) {
            let Some(found) = self.by_path.get(&target) else {
                let path = joined(&self.paths[id], "$ref");
                let what = format!("no schema is at `{}`", cut(&target));
                return Err(invalid(&path, &what));
            };
            if let Node::Rules(rules) = &mut self.nodes[id] {
                rules.push(("$ref", Rule::Ref(*found)));
            }
        }
        Ok(())
    }

    /// Refuses schemas that would look at one value for ever.
    fn refuse_loops(&self) -> Result<(), StructuredError> {
        let in_place = |node: &Node| match node {
            Node::Always(_) => Vec::new(),
            Node::Rules(rules) => rules.iter().flat_map(|(_, rule)| rule.in_place()).collect(),
        };
        let edges: Vec<Vec<NodeId>> = self.nodes.iter().map(in_place).collect();
        let mut n_into = vec![0_usize; edges.len()];
        for target in edges.iter().flatten() {
            n_into[*target] += 1;
        }
        let free = |n_into: &[usize]| (0..edges.len()).filter(|id| n_into[*id] == 0).collect();
        let mut free: Vec<NodeId> = free(&n_into);
        while let Some(id) = free.pop() {
            for target in &edges[id] {
                n_into[*target] -= 1;
                if n_into[*target] == 0 {
                    free.push(*target);
                }
            }
        }
        match n_into.iter().position(|n| *n > 0) {
            None => Ok(()),
            Some(id) => Err(invalid(&self.paths[id], "it refers to itself without end")),
        }
    }
}

/// Rules that hold no schema.
fn plain_rule(
    keyword: &str,
    value: &Json,
    path: &str,
) -> Result<Option<(&'static str, Rule)>, StructuredError> {
    let bound = |name, bound| Decimal::of(value).map(|at| (name, Rule::Bound(bound, at)));
    let size = |name, sized, side| count(value).map(|n| (name, Rule::Size(sized, side, n)));
    Ok(match keyword {
        "type" => Some(("type", Rule::Types(types(value)))),
        "enum" => {
            let values = value.as_array().into_iter().flatten();
            Some(("enum", Rule::Values(values.map(canonical).collect())))
        }
        "const" => Some(("const", Rule::Values(BTreeSet::from([canonical(value)])))),
        "minimum" => bound("minimum", Bound::Minimum),
        "maximum" => bound("maximum", Bound::Maximum),
        "exclusiveMinimum" => bound("exclusiveMinimum", Bound::ExclusiveMinimum),
        "exclusiveMaximum" => bound("exclusiveMaximum", Bound::ExclusiveMaximum),
        "multipleOf" => {
            let divisor = Decimal::of(value).filter(Decimal::can_divide);
            let divisor = divisor.ok_or_else(|| {
                unsupported(path, "the number has more than 18 significant digits")
            })?;
            Some(("multipleOf", Rule::MultipleOf(divisor)))
        }
        "minLength" => size("minLength", Sized::Characters, Side::Least),
        "maxLength" => size("maxLength", Sized::Characters, Side::Most),
        "minItems" => size("minItems", Sized::Items, Side::Least),
        "maxItems" => size("maxItems", Sized::Items, Side::Most),
        "minProperties" => size("minProperties", Sized::Members, Side::Least),
        "maxProperties" => size("maxProperties", Sized::Members, Side::Most),
        "pattern" => {
            let pattern = value.as_str().unwrap_or_default();
            Some(("pattern", Rule::Pattern(regex(pattern, path)?)))
        }
        "uniqueItems" if value == &Json::Bool(true) => Some(("uniqueItems", Rule::UniqueItems)),
        "required" => Some(("required", Rule::Required(names(value)))),
        "dependentRequired" => {
            let by_name = value.as_object().into_iter().flatten();
            let by_name = by_name.map(|(name, needed)| (name.clone(), names(needed)));
            Some((
                "dependentRequired",
                Rule::DependentRequired(by_name.collect()),
            ))
        }
        _ => None,
    })
}

fn is_draft(value: &Json) -> bool {
    let name = value.as_str().unwrap_or_default();
    name.strip_suffix('#').unwrap_or(name) == DRAFT
}

fn types(value: &Json) -> Vec<&'static str> {
    let words: Vec<_> = match value {
        Json::Array(words) => words.iter().filter_map(Json::as_str).collect(),
        word => word.as_str().into_iter().collect(),
    };
    TYPES
        .into_iter()
        .filter(|word| words.contains(word))
        .collect()
}

fn names(value: &Json) -> Vec<String> {
    let names = value.as_array().into_iter().flatten();
    names.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// A whole number from 0; one that is too large for any value is as good as the largest.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the shape is checked: it is whole and not below 0, and casting saturates"
)]
fn count(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().map(|n| n as u64))
}

/// Patterns match in linear time; what cannot be is refused.
fn regex(pattern: &str, path: &str) -> Result<Arc<Regex>, StructuredError> {
    let built = RegexBuilder::new(pattern)
        .size_limit(PATTERN_SIZE_MAX)
        .build();
    let what = "the pattern is not read; write it without look-around, back-references and \
                classes by name, and not larger than it has to be";
    built.map(Arc::new).map_err(|_| unsupported(path, what))
}

/// The path that a reference leads to.
fn target(reference: &str, path: &str) -> Result<String, StructuredError> {
    let Some(fragment) = reference.strip_prefix('#') else {
        let what = "only references inside the schema are followed; move it into `$defs`";
        return Err(unsupported(path, what));
    };
    let decoded = percent_decoded(fragment);
    match decoded {
        Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(pointer),
        _ => Err(unsupported(path, "a reference is written `#/$defs/NAME`")),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = after.get(..2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
