//! What is demanded of a value itself: its type, its bounds, its size, the names of its members.

use std::collections::BTreeSet;

use super::check::Checking;
use super::decimal::Decimal;
use super::rule::{Bound, Rule, Side, canonical};
use crate::{Json, JsonObject};

impl Checking<'_> {
    pub(super) fn of_any(&mut self, rule: &Rule, value: &Json) -> bool {
        let fits = match rule {
            Rule::Types(types) => {
                self.pay_digits(value);
                types.iter().any(|ty| is_of(value, ty))
            }
            Rule::Values(values) => {
                let text = canonical(value);
                self.pay(text.len());
                values.contains(&text)
            }
            _ => true,
        };
        self.told(fits)
    }

    /// A number may have as many digits as the reply has bytes, and each is looked at.
    fn pay_digits(&mut self, value: &Json) {
        if let Json::Number(number) = value {
            self.pay(number.as_str().len() / 4);
        }
    }

    pub(super) fn of_number(&mut self, rule: &Rule, value: &Json) -> bool {
        self.pay_digits(value);
        if self.gave_up {
            return false;
        }
        let Some(number) = Decimal::of(value) else {
            return true;
        };
        let fits = match rule {
            Rule::Bound(Bound::Minimum, bound) => number >= *bound,
            Rule::Bound(Bound::Maximum, bound) => number <= *bound,
            Rule::Bound(Bound::ExclusiveMinimum, bound) => number > *bound,
            Rule::Bound(Bound::ExclusiveMaximum, bound) => number < *bound,
            Rule::MultipleOf(divisor) => number.is_multiple_of(divisor),
            _ => true,
        };
        self.told(fits)
    }

    pub(super) fn of_text(&mut self, rule: &Rule, text: &str) -> bool {
        let fits = match rule {
            Rule::Size(_, side, bound) => {
                self.pay(text.len() / 16);
                has_size(text.chars().count(), *side, *bound)
            }
            Rule::Pattern(pattern) => self.matches(pattern, text),
            _ => true,
        };
        self.told(fits)
    }

    pub(super) fn matches(&mut self, pattern: &regex_lite::Regex, text: &str) -> bool {
        let cost = text.len() as u64 + 1;
        match self.pattern_left.checked_sub(cost) {
            Some(left) => self.pattern_left = left,
            None => self.gave_up = true,
        }
        !self.gave_up && pattern.is_match(text)
    }

    pub(super) fn of_items(&mut self, rule: &Rule, items: &[Json]) -> bool {
        let fits = match rule {
            Rule::Size(_, side, bound) => has_size(items.len(), *side, *bound),
            Rule::UniqueItems => {
                let mut seen = BTreeSet::new();
                items.iter().all(|item| {
                    let text = canonical(item);
                    self.pay(text.len());
                    seen.insert(text)
                })
            }
            _ => true,
        };
        self.told(fits)
    }

    pub(super) fn of_members(&mut self, rule: &Rule, members: &JsonObject) -> bool {
        let has = |name: &String| members.contains_key(name);
        let fits = match rule {
            Rule::Size(_, side, bound) => has_size(members.len(), *side, *bound),
            Rule::Required(names) => {
                self.pay_names(names);
                names.iter().all(has)
            }
            Rule::DependentRequired(by_name) => {
                for (name, names) in by_name {
                    self.pay_names([name]);
                    self.pay_names(names);
                }
                let mut there = by_name.iter().filter(|(name, _)| has(name));
                there.all(|(_, names)| names.iter().all(has))
            }
            _ => true,
        };
        self.told(fits)
    }
}

fn is_of(value: &Json, ty: &str) -> bool {
    match value {
        Json::Null => ty == "null",
        Json::Bool(_) => ty == "boolean",
        Json::String(_) => ty == "string",
        Json::Array(_) => ty == "array",
        Json::Object(_) => ty == "object",
        Json::Number(_) => match ty {
            "number" => true,
            "integer" => Decimal::of(value).is_some_and(|number| number.is_whole()),
            _ => false,
        },
    }
}

fn has_size(size: usize, side: Side, bound: u64) -> bool {
    let size = size as u64;
    match side {
        Side::Least => size >= bound,
        Side::Most => size <= bound,
    }
}
