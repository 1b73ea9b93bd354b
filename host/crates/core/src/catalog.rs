//! The single registry of functions. Tool specs, menus, forms and lists are views of it.
//!
//! Names are looked up by any unambiguous tail; `-` and `_` are equal.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::function::{Function, FunctionRef};
use crate::schema::names_equal;

/// How many near or equal names an error lists.
const LISTED_MAX: usize = 5;
/// A name is near when it is at least so similar (0 to 1, normalised Damerau-Levenshtein).
const NEAR: f64 = 0.5;

/// Why a name gives no function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No function answers to it.
    #[error("there is no function `{name}`{}", hint(nearest))]
    NotFound {
        /// The name asked for.
        name: String,
        /// The most similar full names.
        nearest: Vec<String>,
    },
    /// Several functions answer to it.
    #[error(
        "`{name}` names several functions: {}; write more of the name",
        listed(candidates)
    )]
    Ambiguous {
        /// The name asked for.
        name: String,
        /// The full names that answer to it.
        candidates: Vec<String>,
    },
}

impl ResolveError {
    /// The name asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::NotFound { name, .. } | Self::Ambiguous { name, .. } => name,
        }
    }
}

fn listed(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn hint(nearest: &[String]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!(
            "; did you mean {}?",
            nearest
                .iter()
                .map(|n| format!("`{n}`"))
                .collect::<Vec<_>>()
                .join(" or ")
        )
    }
}

/// Why the functions of a component cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// A component of this name is there already.
    #[error("a component `{0}` is loaded already")]
    ComponentExists(String),
    /// Two functions have one full name.
    #[error("`{name}` is offered by `{first}` and by `{second}`; remove one of the components")]
    Collision {
        /// The full name.
        name: String,
        /// The component that came first.
        first: String,
        /// The component that came second.
        second: String,
    },
    /// Two functions declare one name for models.
    #[error(
        "models would know both `{first}` and `{second}` as `{name}`; remove one of the components"
    )]
    ModelNameCollision {
        /// The name.
        name: String,
        /// The function that came first, with its component.
        first: String,
        /// The function that came second, with its component.
        second: String,
    },
}

/// All known functions, by component.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    components: BTreeMap<String, Vec<FunctionRef>>,
    /// Full names, spelled alike where they count as equal, and the components that offer them.
    owners: HashMap<String, String>,
    /// Names that authors declare for models, spelled alike, and the functions that have them.
    model_names: HashMap<String, String>,
}

impl Catalog {
    /// Adds the functions of one component, those that are not offerable included.
    ///
    /// # Errors
    /// When the component is there already or one of its full names is taken.
    pub fn add(&mut self, component: &str, functions: Vec<Function>) -> Result<(), CatalogError> {
        if self.components.contains_key(component) {
            return Err(CatalogError::ComponentExists(component.to_owned()));
        }
        let mut names = Vec::with_capacity(functions.len());
        for function in &functions {
            // Versions do not keep two components apart: a name that was clear would change its
            // meaning with what else is installed.
            let name = function.name.unversioned();
            let key = name.replace('-', "_");
            if let Some(first) = self.owners.get(&key) {
                return Err(CatalogError::Collision {
                    name,
                    first: first.clone(),
                    second: component.to_owned(),
                });
            }
            names.push(key);
        }
        self.add_model_names(component, &functions)?;
        let owned = names.into_iter().map(|name| (name, component.to_owned()));
        self.owners.extend(owned);
        let functions = functions.into_iter().map(Arc::new).collect();
        self.components.insert(component.to_owned(), functions);
        Ok(())
    }

    /// Keeps the names that the functions declare for models, all or none.
    fn add_model_names(
        &mut self,
        component: &str,
        functions: &[Function],
    ) -> Result<(), CatalogError> {
        let mut declared: HashMap<String, String> = HashMap::new();
        for function in functions {
            let Some(name) = &function.model_name else {
                continue;
            };
            let key = name.replace('-', "_");
            let owner = format!("{} ({component})", function.name);
            if let Some(first) = self.model_names.get(&key).or_else(|| declared.get(&key)) {
                return Err(CatalogError::ModelNameCollision {
                    name: name.clone(),
                    first: first.clone(),
                    second: owner,
                });
            }
            declared.insert(key, owner);
        }
        self.model_names.extend(declared);
        Ok(())
    }

    /// All functions, by component name and declaration order.
    pub fn iter(&self) -> impl Iterator<Item = &FunctionRef> {
        self.components.values().flatten()
    }

    /// The functions of one component in declaration order.
    #[must_use]
    pub fn component(&self, component: &str) -> &[FunctionRef] {
        self.components.get(component).map_or(&[], Vec::as_slice)
    }

    /// Finds the function that a name means.
    ///
    /// The name is the full name, with or without the version of the interface, or any tail of it
    /// that starts at a part: `package/interface.function`, `interface.function`, `function`;
    /// `component.function` works too, and so does the name that its author declares for models.
    /// Functions of the component `own` are preferred, so that a
    /// component finds its own functions whatever else is installed.
    ///
    /// # Errors
    /// When no function or more than one answers to the name.
    pub fn resolve(&self, name: &str, own: Option<&str>) -> Result<FunctionRef, ResolveError> {
        let matching = |functions: &mut dyn Iterator<Item = &FunctionRef>| {
            functions
                .filter(|f| answers_to(f, name))
                .cloned()
                .collect::<Vec<_>>()
        };
        let mut found = own.map_or_else(Vec::new, |own| matching(&mut self.component(own).iter()));
        if found.is_empty() {
            found = matching(&mut self.iter());
        }
        // A whole name means its function, whichever others end in it.
        let is_whole = |f: &FunctionRef| names_equal(&f.name.to_string(), name);
        if found.len() > 1 && found.iter().any(is_whole) {
            found.retain(is_whole);
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(ResolveError::NotFound {
                name: cut(name),
                nearest: self.nearest(name),
            }),
            _ => {
                let candidates = found.iter().take(LISTED_MAX).map(|f| f.name.to_string());
                Err(ResolveError::Ambiguous {
                    name: cut(name),
                    candidates: candidates.collect(),
                })
            }
        }
    }

    /// Those of the names that no function answers to.
    pub fn unknown<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let mut names = names.peekable();
        if names.peek().is_none() {
            return Vec::new();
        }
        let spellings: Vec<_> = self
            .iter()
            .map(|function| Spellings::of(function))
            .collect();
        let is_unknown = |name: &&str| !spellings.iter().any(|own| own.have(name));
        names.filter(is_unknown).collect()
    }

    fn nearest(&self, name: &str) -> Vec<String> {
        let name = cut(name).replace('_', "-");
        let short = name.rsplit(['.', '/']).next().unwrap_or(&name);
        let similarity = |f: &FunctionRef| {
            let function = strsim::normalized_damerau_levenshtein(&f.name.function, short);
            function.max(strsim::normalized_damerau_levenshtein(
                &f.name.to_string(),
                &name,
            ))
        };
        let mut near: Vec<_> = self
            .iter()
            .map(|f| (similarity(f), f.name.to_string()))
            .collect();
        near.retain(|(similarity, _)| *similarity >= NEAR);
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        near.into_iter()
            .take(LISTED_MAX)
            .map(|(_, name)| name)
            .collect()
    }
}

/// A name as an error shows it.
fn cut(name: &str) -> String {
    name.chars().take(128).collect()
}

fn answers_to(function: &Function, name: &str) -> bool {
    Spellings::of(function).have(name)
}

/// Every way to write the name of one function, without what stands before a tail.
pub(crate) struct Spellings([Option<String>; 4]);

impl Spellings {
    pub(crate) fn of(function: &Function) -> Self {
        let own = &function.name;
        let full = own.unversioned();
        let component = format!("{}.{}", own.component, own.function);
        let versioned = own
            .interface
            .as_ref()
            .map(|i| format!("{i}.{}", own.function));
        Self([
            Some(full),
            Some(component),
            versioned,
            function.model_name.clone(),
        ])
    }

    /// Whether the function answers to a name.
    pub(crate) fn have(&self, name: &str) -> bool {
        let mut spellings = self.0.iter().flatten();
        spellings.any(|spelling| is_tail(spelling, name))
    }
}

/// Whether `tail` is all of `full` or begins right after one of its separators.
fn is_tail(full: &str, tail: &str) -> bool {
    let starts = full.match_indices([':', '/', '.']).map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(starts)
        .any(|start| names_equal(&full[start..], tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::FunctionName;

    fn function(component: &str, interface: Option<&str>, name: &str) -> Function {
        let interface = interface.map(str::to_owned);
        Function::new(FunctionName::new(component, interface, name))
    }

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let support = Some("acme:support/desk@1.0.0");
        let functions = vec![
            function("support", support, "route-message"),
            function("support", support, "refund"),
        ];
        catalog.add("support", functions).unwrap();
        let shop = Some("acme:shop/desk@2.1.0");
        catalog
            .add("shop", vec![function("shop", shop, "refund")])
            .unwrap();
        catalog
            .add("plain", vec![function("plain", None, "add")])
            .unwrap();
        catalog
    }

    fn check(name: &str, own: Option<&str>, expected: &str) {
        let outcome = match catalog().resolve(name, own) {
            Ok(function) => format!("{} {}", function.name.component, function.name),
            Err(error) => error.to_string(),
        };
        assert_eq!(outcome, expected, "`{name}` for {own:?}");
    }

    #[test]
    fn a_name_is_any_unambiguous_tail() {
        let route = "support acme:support/desk.route-message";
        for name in [
            "acme:support/desk.route-message",
            "acme:support/desk@1.0.0.route-message",
            "support/desk.route-message",
            "desk.route-message",
            "route-message",
            "route_message",
            "support.route-message",
        ] {
            check(name, None, route);
        }
        check("add", None, "plain plain.add");
        check("plain.add", None, "plain plain.add");
    }

    #[test]
    fn a_whole_name_means_its_function_whichever_others_end_in_it() {
        let mut catalog = Catalog::default();
        let in_world = function("till", None, "sum");
        let in_interface = function("till", Some("acme:shop/desk"), "sum");
        catalog.add("till", vec![in_world, in_interface]).unwrap();
        for name in ["till.sum", "acme:shop/desk.sum"] {
            assert_eq!(catalog.resolve(name, None).unwrap().name.to_string(), name);
        }
        assert!(catalog.resolve("sum", None).is_err());
    }

    #[test]
    fn own_functions_are_preferred() {
        check("refund", Some("shop"), "shop acme:shop/desk.refund");
        check(
            "refund",
            Some("support"),
            "support acme:support/desk.refund",
        );
        check(
            "route-message",
            Some("shop"),
            "support acme:support/desk.route-message",
        );
    }

    #[test]
    fn unclear_names_are_refused_with_what_was_meant() {
        check(
            "refund",
            None,
            "`refund` names several functions: `acme:shop/desk.refund`, \
             `acme:support/desk.refund`; write more of the name",
        );
        check(
            "route-mesage",
            None,
            "there is no function `route-mesage`; did you mean `acme:support/desk.route-message`?",
        );
        check(
            "oute-message",
            None,
            "there is no function `oute-message`; did you mean `acme:support/desk.route-message`?",
        );
        check("zzz", None, "there is no function `zzz`");
        check("", None, "there is no function ``");
    }

    #[test]
    fn of_two_versions_in_one_component_the_name_says_which() {
        let mut catalog = Catalog::default();
        let mut functions = Vec::new();
        for (interface, name, versioned) in [
            ("acme:ledger/book@0.1.0", "total", true),
            ("acme:ledger/book@0.2.0", "total", true),
            ("acme:ledger/book@0.2.0", "close", false),
        ] {
            let mut function = function("ledger", Some(interface), name);
            function.name.versioned = versioned;
            functions.push(function);
        }
        catalog.add("ledger", functions).unwrap();
        let found = |name: &str| match catalog.resolve(name, None) {
            Ok(function) => function.name.to_string(),
            Err(error) => error.to_string(),
        };
        for (name, expected) in [
            (
                "acme:ledger/book@0.1.0.total",
                "acme:ledger/book@0.1.0.total",
            ),
            ("book@0.2.0.total", "acme:ledger/book@0.2.0.total"),
            ("close", "acme:ledger/book.close"),
            ("book@0.2.0.close", "acme:ledger/book.close"),
        ] {
            assert_eq!(found(name), expected, "{name}");
        }
        for name in ["total", "acme:ledger/book.total", "ledger.total"] {
            assert_eq!(
                found(name),
                format!(
                    "`{name}` names several functions: `acme:ledger/book@0.1.0.total`, \
                     `acme:ledger/book@0.2.0.total`; write more of the name"
                )
            );
        }
        let other = function("other", Some("acme:ledger/book@0.3.0"), "total");
        assert!(catalog.add("other", vec![other]).is_err());
    }

    #[test]
    fn a_function_answers_to_its_name_for_models_which_has_one_owner() {
        let mut catalog = catalog();
        let mut named = function("bank", None, "transfer");
        named.model_name = Some("send-money".to_owned());
        catalog.add("bank", vec![named.clone()]).unwrap();
        for name in ["send_money", "send-money", "transfer", "bank.transfer"] {
            let found = catalog.resolve(name, None).unwrap();
            assert_eq!(found.name, named.name, "{name}");
        }
        let mut other = function("post", None, "post-money");
        other.model_name = Some("send_money".to_owned());
        assert_eq!(
            catalog.add("post", vec![other]).unwrap_err().to_string(),
            "models would know both `bank.transfer (bank)` and `post.post-money (post)` as \
             `send_money`; remove one of the components"
        );
        // What was refused left nothing behind.
        assert!(catalog.component("post").is_empty());
        let again = function("post", None, "post-money");
        catalog.add("post", vec![again]).unwrap();
    }

    #[test]
    fn one_full_name_has_one_owner() {
        let mut catalog = catalog();
        let same = Some("acme:shop/desk@9.0.0");
        assert_eq!(
            catalog
                .add("other", vec![function("other", same, "refund")])
                .unwrap_err()
                .to_string(),
            "`acme:shop/desk.refund` is offered by `shop` and by `other`; remove one of the components"
        );
        assert_eq!(
            catalog.add("shop", Vec::new()).unwrap_err().to_string(),
            "a component `shop` is loaded already"
        );
    }
}
