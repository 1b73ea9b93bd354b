//! What is demanded of parts of a value, and of the same value by several schemas.

use std::collections::BTreeSet;

use super::check::{Checking, Step};
use super::rule::{Node, NodeId, Rule};
use crate::{Json, JsonObject};

impl<'a> Checking<'a> {
    pub(super) fn in_items(&mut self, rule: &'a Rule, items: &'a [Json]) -> bool {
        match rule {
            Rule::PrefixItems(nodes) => {
                let mut fits = true;
                for (index, (item, node)) in items.iter().zip(nodes).enumerate() {
                    let step = Step::Index(index);
                    fits &= self.part(step, *node, Some(step), item);
                }
                fits
            }
            Rule::Items(n_before, node) => {
                let mut fits = true;
                for (index, item) in items.iter().enumerate().skip(*n_before) {
                    fits &= self.part(Step::Index(index), *node, None, item);
                    if self.is_decided(fits) {
                        break;
                    }
                }
                fits
            }
            Rule::Contains { node, min, max } => {
                let n = items.iter().filter(|item| self.fits(*node, item)).count() as u64;
                self.told(n >= *min && max.is_none_or(|max| n <= max))
            }
            _ => true,
        }
    }

    pub(super) fn in_members(&mut self, rule: &'a Rule, members: &'a JsonObject) -> bool {
        let mut fits = true;
        match rule {
            Rule::Properties(by_name) => {
                self.pay_names(by_name.iter().map(|(name, _)| name));
                for (name, node) in by_name {
                    if let Some(member) = members.get(name) {
                        let step = Step::Name(name);
                        fits &= self.part(step, *node, Some(step), member);
                    }
                }
            }
            Rule::PatternProperties(patterns) => {
                for (pattern, regex, node) in patterns {
                    for (name, member) in members {
                        if self.matches(regex, name) {
                            let under = Some(Step::Name(pattern));
                            fits &= self.part(Step::Name(name), *node, under, member);
                        }
                    }
                }
            }
            Rule::AdditionalProperties {
                known,
                patterns,
                node,
            } => {
                let is_closed = matches!(self.nodes[*node], Node::Always(false));
                for (name, member) in members {
                    self.pay_names([name]);
                    if known.contains(name) || patterns.iter().any(|p| self.matches(p, name)) {
                        continue;
                    }
                    // One place for all that is too much: the object itself.
                    fits &= match is_closed {
                        true => self.violated(),
                        false => self.part(Step::Name(name), *node, None, member),
                    };
                }
            }
            _ => {}
        }
        fits
    }

    /// The names of members are no part of the value: they are checked on their own.
    pub(super) fn names(&mut self, node: NodeId, members: &JsonObject) -> bool {
        let mut fits = true;
        for name in members.keys() {
            self.pay_names([name]);
            if self.gave_up {
                return false;
            }
            let name = Json::from(name.as_str());
            let mut alone = Checking {
                nodes: self.nodes,
                steps_left: self.steps_left,
                pattern_left: self.pattern_left,
                gave_up: self.gave_up,
                places_left: self.places_left,
                depth: self.depth,
                quiet: 1,
                path: Vec::new(),
                schema_path: Vec::new(),
                issues: BTreeSet::new(),
            };
            fits &= alone.node(node, &name);
            self.steps_left = alone.steps_left;
            self.pattern_left = alone.pattern_left;
            self.gave_up |= alone.gave_up;
        }
        self.told(fits)
    }

    pub(super) fn dependents(
        &mut self,
        schemas: &'a [(String, NodeId)],
        members: &JsonObject,
        value: &'a Json,
    ) -> bool {
        let mut fits = true;
        self.pay_names(schemas.iter().map(|(name, _)| name));
        for (name, node) in schemas {
            if members.contains_key(name) {
                self.schema_path.push(Step::Name(name));
                fits &= self.node(*node, value);
                self.schema_path.pop();
            }
        }
        fits
    }

    pub(super) fn combined(&mut self, rule: &'a Rule, value: &'a Json) -> bool {
        match rule {
            Rule::AllOf(nodes) => {
                let mut fits = true;
                for (index, node) in nodes.iter().enumerate() {
                    self.schema_path.push(Step::Index(index));
                    fits &= self.node(*node, value);
                    self.schema_path.pop();
                    if self.is_decided(fits) {
                        break;
                    }
                }
                fits
            }
            Rule::AnyOf(nodes) => {
                let fits = nodes.iter().any(|node| self.fits(*node, value));
                self.told(fits)
            }
            Rule::OneOf(nodes) => {
                let mut fitting = nodes.iter().filter(|node| self.fits(**node, value));
                let fits = fitting.next().is_some() && fitting.next().is_none();
                self.told(fits)
            }
            Rule::Not(node) => {
                let fits = !self.fits(*node, value);
                self.told(fits)
            }
            Rule::If {
                condition,
                then,
                otherwise,
            } => {
                let (keyword, branch) = match self.fits(*condition, value) {
                    true => ("then", then),
                    false => ("else", otherwise),
                };
                let Some(node) = branch else {
                    return true;
                };
                self.schema_path.push(Step::Name(keyword));
                let fits = self.node(*node, value);
                self.schema_path.pop();
                fits
            }
            _ => true,
        }
    }
}
