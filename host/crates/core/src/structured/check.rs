//! Checks a value against a schema that was made ready, within a bounded number of steps.

use std::collections::BTreeSet;

use super::error::{Issue, IssueCode, StructuredCode, StructuredError};
use super::limits::{CHECK_DEPTH_MAX, CHECK_STEPS_MAX, ISSUES_MAX, PATTERN_CHARS_MAX, PLACES_MAX};
use super::rule::{Node, NodeId, Rule, Sized};
use super::shape::{cut, push_step};
use super::unrepeated::Unrepeated;
use crate::Json;

/// Checks replies against one schema.
#[derive(Debug)]
pub struct Validator {
    /// The root is the first.
    nodes: Vec<Node>,
}

impl Validator {
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    /// Reads a reply: exactly one JSON value, with nothing around it, that fits the schema.
    ///
    /// # Errors
    /// `invalid_json` and `validation_failed`.
    pub fn parse(&self, reply: &str) -> Result<Json, StructuredError> {
        let invalid = |what: &str, error: &serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            let message = format!("the reply {what}: line {line}, column {column}");
            StructuredError::new(StructuredCode::InvalidJson, message)
        };
        let value = serde_json::from_str(reply)
            .map_err(|error| invalid("is not exactly one JSON value", &error))?;
        // The one who reads it next may take the other one.
        serde_json::from_str::<Unrepeated>(reply)
            .map_err(|error| invalid("has a key twice in one object", &error))?;
        self.check(&value)?;
        Ok(value)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// `validation_failed`, with the places; with one issue of the code `check_limit` when the check
    /// takes more work than one reply is worth.
    pub fn check(&self, value: &Json) -> Result<(), StructuredError> {
        let mut checking = Checking {
            nodes: &self.nodes,
            steps_left: CHECK_STEPS_MAX,
            pattern_left: PATTERN_CHARS_MAX,
            gave_up: false,
            places_left: PLACES_MAX,
            depth: 0,
            quiet: 0,
            path: Vec::new(),
            schema_path: Vec::new(),
            issues: BTreeSet::new(),
        };
        let fits = checking.node(0, value);
        if checking.gave_up {
            let message = "checking the reply against the schema takes too much work; use a \
                           simpler schema or ask for less";
            let issue = Issue::of_schema(IssueCode::CheckLimit, String::new());
            let error = StructuredError::new(StructuredCode::ValidationFailed, message);
            return Err(error.with_issues([issue]));
        }
        if fits {
            return Ok(());
        }
        let first = checking.issues.first();
        let (path, rule) = first.map_or(("", ""), |issue| (&issue.path, &issue.schema_path));
        let place = match path {
            "" => "as a whole".to_owned(),
            path => format!("at `{path}`"),
        };
        let message = format!("the reply does not fit the schema {place}, by `{rule}`");
        let error = StructuredError::new(StructuredCode::ValidationFailed, message);
        Err(error.with_issues(checking.issues))
    }
}

/// One step of a path.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

/// The steps as a JSON pointer, as far as it is told: its work does not grow with the names.
fn pointer(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Name(name) => push_step(&mut path, name),
            Step::Index(index) => push_step(&mut path, &index.to_string()),
        }
        if path.len() > super::limits::PATH_BYTES_MAX {
            break;
        }
    }
    cut(&path)
}

/// One check under way.
pub(super) struct Checking<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) steps_left: u64,
    pub(super) pattern_left: u64,
    /// The limits are reached: nothing more is looked at, and the result means nothing.
    pub(super) gave_up: bool,
    /// How many places may still be noted. At 0 the value does not fit and the check ends.
    pub(super) places_left: usize,
    pub(super) depth: usize,
    /// Above 0 only the answer is wanted, not the places.
    pub(super) quiet: usize,
    pub(super) path: Vec<Step<'a>>,
    pub(super) schema_path: Vec<Step<'a>>,
    /// The first places in order.
    pub(super) issues: BTreeSet<Issue>,
}

impl<'a> Checking<'a> {
    pub(super) fn pay(&mut self, steps: usize) {
        match self.steps_left.checked_sub(steps as u64) {
            Some(left) => self.steps_left = left,
            None => self.gave_up = true,
        }
    }

    /// Pays for names that are looked up: each byte of one is read.
    pub(super) fn pay_names<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        let steps = names.into_iter().map(|name| 1 + name.len() / 16).sum();
        self.pay(steps);
    }

    pub(super) fn node(&mut self, id: NodeId, value: &'a Json) -> bool {
        self.pay(1);
        if self.depth == CHECK_DEPTH_MAX {
            self.gave_up = true;
        }
        if self.gave_up || self.places_left == 0 {
            return false;
        }
        let rules = match &self.nodes[id] {
            Node::Always(true) => return true,
            Node::Always(false) => return self.violated(),
            Node::Rules(rules) => rules,
        };
        self.depth += 1;
        let mut fits = true;
        for (keyword, rule) in rules {
            let is_told = !matches!(rule, Rule::Ref(_) | Rule::If { .. });
            if is_told {
                self.schema_path.push(Step::Name(keyword));
            }
            fits &= self.rule(rule, value);
            if is_told {
                self.schema_path.pop();
            }
            if self.is_decided(fits) {
                fits = false;
                break;
            }
        }
        self.depth -= 1;
        fits
    }

    /// Whether nothing more can be learned: given up, or a place that does not fit is enough, or
    /// enough places are known.
    pub(super) fn is_decided(&self, fits: bool) -> bool {
        self.gave_up || self.places_left == 0 || !fits && self.quiet > 0
    }

    /// Whether a value fits, without telling where it does not.
    pub(super) fn fits(&mut self, id: NodeId, value: &'a Json) -> bool {
        self.quiet += 1;
        let fits = self.node(id, value);
        self.quiet -= 1;
        fits
    }

    fn rule(&mut self, rule: &'a Rule, value: &'a Json) -> bool {
        match (rule, value) {
            (Rule::Types(_) | Rule::Values(_), _) => self.of_any(rule, value),
            (Rule::Bound(..) | Rule::MultipleOf(_), Json::Number(_)) => self.of_number(rule, value),
            (Rule::Size(Sized::Characters, ..) | Rule::Pattern(_), Json::String(text)) => {
                self.of_text(rule, text)
            }
            (Rule::Size(Sized::Items, ..) | Rule::UniqueItems, Json::Array(items)) => {
                self.of_items(rule, items)
            }
            (
                Rule::PrefixItems(_) | Rule::Items(..) | Rule::Contains { .. },
                Json::Array(items),
            ) => self.in_items(rule, items),
            (
                Rule::Size(Sized::Members, ..) | Rule::Required(_) | Rule::DependentRequired(_),
                Json::Object(members),
            ) => self.of_members(rule, members),
            (
                Rule::Properties(_)
                | Rule::PatternProperties(_)
                | Rule::AdditionalProperties { .. },
                Json::Object(members),
            ) => self.in_members(rule, members),
            (Rule::PropertyNames(node), Json::Object(members)) => self.names(*node, members),
            (Rule::DependentSchemas(schemas), Json::Object(members)) => {
                self.dependents(schemas, members, value)
            }
            (Rule::Ref(node), _) => self.node(*node, value),
            (
                Rule::AllOf(_) | Rule::AnyOf(_) | Rule::OneOf(_) | Rule::Not(_) | Rule::If { .. },
                _,
            ) => self.combined(rule, value),
            // Rules for one type let values of the others pass.
            _ => true,
        }
    }

    /// Notes that the keyword at hand is not fulfilled.
    pub(super) fn violated(&mut self) -> bool {
        if self.quiet == 0 && self.places_left > 0 {
            // Writing two paths is more work than most checks.
            self.pay(16 + self.path.len() + self.schema_path.len());
            self.places_left -= 1;
            self.issues.insert(Issue {
                path: pointer(&self.path),
                schema_path: pointer(&self.schema_path),
                code: IssueCode::SchemaViolation,
            });
            if self.issues.len() > ISSUES_MAX {
                self.issues.pop_last();
            }
        }
        false
    }

    pub(super) fn told(&mut self, fits: bool) -> bool {
        fits || self.violated()
    }

    /// Checks a part of the value by a schema that the keyword at hand holds, perhaps under a name.
    pub(super) fn part(
        &mut self,
        step: Step<'a>,
        id: NodeId,
        under: Option<Step<'a>>,
        part: &'a Json,
    ) -> bool {
        self.path.push(step);
        self.schema_path.extend(under);
        let fits = self.node(id, part);
        if under.is_some() {
            self.schema_path.pop();
        }
        self.path.pop();
        fits
    }
}
