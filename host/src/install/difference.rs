//! What another version of a component changes in its functions.

use openprogram_core::function::{Function, FunctionName, Offer};

/// The changes between two versions, each by full name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Functions that are new.
    pub added: Vec<String>,
    /// Functions that are gone.
    pub removed: Vec<String>,
    /// Functions that are both, and what is different: `types`, `description`, `offer`, and
    /// `settings` for everything else, allowed values among it.
    pub changed: Vec<(String, Vec<&'static str>)>,
}

/// Compares the functions of two versions of a component.
#[must_use]
pub fn difference(old: &[Function], new: &[Function]) -> Difference {
    let mut difference = Difference::default();
    for function in new {
        let name = function.name.to_string();
        match find(old, &function.name) {
            None => difference.added.push(name),
            Some(before) => {
                let what = changes(before, function);
                if !what.is_empty() {
                    difference.changed.push((name, what));
                }
            }
        }
    }
    let gone = old.iter().filter(|old| find(new, &old.name).is_none());
    difference.removed = gone.map(|function| function.name.to_string()).collect();
    difference
}

fn find<'a>(functions: &'a [Function], name: &FunctionName) -> Option<&'a Function> {
    functions.iter().find(|function| function.name == *name)
}

fn changes(old: &Function, new: &Function) -> Vec<&'static str> {
    let types = |f: &Function| {
        let parameters = f.parameters.iter().map(|p| {
            let field = (p.field.name.clone(), p.field.ty.clone());
            (field, p.source.clone(), p.default.clone())
        });
        let parameters: Vec<_> = parameters.collect();
        (parameters, f.returns.clone(), f.fails_with.clone())
    };
    let words = |f: &Function| {
        let parameters = f.parameters.iter().map(|p| p.field.description.clone());
        (f.description.clone(), parameters.collect::<Vec<_>>())
    };
    let mut changes = Vec::new();
    if types(old) != types(new) {
        changes.push("types");
    }
    if words(old) != words(new) {
        changes.push("description");
    }
    if old.offer != new.offer {
        changes.push("offer");
    }
    // Everything else that metadata says; the digest is another one in any case.
    let rest = |f: &Function| {
        let parameters = f.parameters.iter().map(|p| {
            let shown = (p.placeholder.clone(), p.multiline, p.options_from.clone());
            (p.field.options.clone(), shown)
        });
        let parameters: Vec<_> = parameters.collect();
        let function = Function {
            digest: String::new(),
            description: String::new(),
            parameters: Vec::new(),
            returns: None,
            fails_with: None,
            offer: Offer::Offered,
            ..f.clone()
        };
        (parameters, function)
    };
    if rest(old) != rest(new) {
        changes.push("settings");
    }
    changes
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::{Expose, Parameter};
    use openprogram_core::schema::Type;

    use super::*;

    fn function(name: &str, digest: &str) -> Function {
        Function {
            digest: digest.to_owned(),
            description: "Does it.".to_owned(),
            parameters: vec![Parameter::new("x", Type::Bool)],
            ..Function::new(FunctionName::new("a", None, name))
        }
    }

    #[test]
    fn functions_that_came_went_and_changed_are_told_apart() {
        let names = ["gone", "same", "typed", "told", "refused", "set"];
        let old = names.map(|name| function(name, "1"));
        let mut new = ["same", "typed", "told", "refused", "set", "come"].map(|n| function(n, "2"));
        new[1].returns = Some(Type::Bool);
        new[2].parameters[0].field.description = Some("It.".to_owned());
        new[3].offer = Offer::NotOfferable("why".to_owned());
        new[4].expose = Expose::Hidden;
        new[2].parameters[0].field.options = vec![true.into()];
        let changed = |name: &str, what| (format!("a.{name}"), vec![what]);
        let expected = Difference {
            added: vec!["a.come".to_owned()],
            removed: vec!["a.gone".to_owned()],
            changed: vec![
                changed("typed", "types"),
                ("a.told".to_owned(), vec!["description", "settings"]),
                changed("refused", "offer"),
                changed("set", "settings"),
            ],
        };
        assert_eq!(difference(&old, &new), expected);
        assert_eq!(difference(&old, &old), Difference::default());
    }
}
