//! A schema made ready for checking: nodes that refer to each other by number.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex_lite::Regex;

use super::decimal::Decimal;
use crate::Json;

/// The number of a schema inside a schema; the root is 0.
pub(super) type NodeId = usize;

/// One schema.
#[derive(Debug)]
pub(super) enum Node {
    /// Takes every value, or none.
    Always(bool),
    /// Takes what keeps all these rules, each with its keyword.
    Rules(Vec<(&'static str, Rule)>),
}

/// What one keyword demands. A rule for one type lets values of the others pass.
#[derive(Debug)]
pub(super) enum Rule {
    /// One of these types.
    Types(Vec<&'static str>),
    /// One of these values, each in its canonical text.
    Values(BTreeSet<String>),
    /// Not below, or above, or at a bound.
    Bound(Bound, Decimal),
    /// A multiple.
    MultipleOf(Decimal),
    /// From so many to so many characters, items or members.
    Size(Sized, Side, u64),
    /// A text in which a pattern is found.
    Pattern(Arc<Regex>),
    /// No item twice.
    UniqueItems,
    /// The first items, each by its own schema.
    PrefixItems(Vec<NodeId>),
    /// The items after so many.
    Items(usize, NodeId),
    /// So many items of a kind.
    Contains {
        node: NodeId,
        min: u64,
        max: Option<u64>,
    },
    /// Members that have to be there.
    Required(Vec<String>),
    /// Members that have to be there when another one is.
    DependentRequired(Vec<(String, Vec<String>)>),
    /// Members by name.
    Properties(Vec<(String, NodeId)>),
    /// Members whose names have a pattern.
    PatternProperties(Vec<(String, Arc<Regex>, NodeId)>),
    /// Members that the two rules above are not about.
    AdditionalProperties {
        known: BTreeSet<String>,
        patterns: Vec<Arc<Regex>>,
        node: NodeId,
    },
    /// The names of all members.
    PropertyNames(NodeId),
    /// A schema for the whole object when a member is there.
    DependentSchemas(Vec<(String, NodeId)>),
    /// All of them, any of them, exactly one of them.
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    /// The schema that a reference leads to.
    Ref(NodeId),
}

/// A bound of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sized {
    Characters,
    Items,
    Members,
}

/// Whether a count is the least or the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Least,
    Most,
}

impl Rule {
    /// The schemas that look at the same value as this one does.
    pub(super) fn in_place(&self) -> Vec<NodeId> {
        match self {
            Self::AllOf(nodes) | Self::AnyOf(nodes) | Self::OneOf(nodes) => nodes.clone(),
            Self::Not(node) | Self::Ref(node) => vec![*node],
            Self::If {
                condition,
                then,
                otherwise,
            } => [Some(*condition), *then, *otherwise]
                .into_iter()
                .flatten()
                .collect(),
            Self::DependentSchemas(schemas) => schemas.iter().map(|(_, node)| *node).collect(),
            _ => Vec::new(),
        }
    }
}

/// The same text for equal values: members in order of their names, numbers by value.
pub(super) fn canonical(value: &Json) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Json, text: &mut String) {
    match value {
        Json::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in members {
                text.push_str(&Json::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        other => match Decimal::of(other) {
            Some(number) => text.push_str(&number.canonical()),
            None => text.push_str(&other.to_string()),
        },
    }
}
