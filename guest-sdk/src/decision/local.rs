//! Closures of the guest as options: the host picks, the guest runs them.

use std::cell::RefCell;
use std::fmt;

use crate::{Failure, Json, Value};

type Run<'a> = dyn FnMut(Value) -> Result<Json, Failure> + 'a;

/// Closures by the names of their options.
#[derive(Default)]
pub(crate) struct Closures<'a>(Vec<(String, RefCell<Box<Run<'a>>>)>);

impl<'a> Closures<'a> {
    pub(crate) fn add(&mut self, name: &str, run: impl FnMut(Value) -> Result<Json, Failure> + 'a) {
        self.0.push((name.to_owned(), RefCell::new(Box::new(run))));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs the closure of an option; `None` when the option is none.
    pub(crate) fn run(
        &self,
        name: &str,
        arguments: impl FnOnce() -> Result<Value, Failure>,
    ) -> Option<Result<Json, Failure>> {
        let (_, run) = self.0.iter().find(|(known, _)| known == name)?;
        Some(
            arguments().and_then(|arguments| match run.try_borrow_mut() {
                Ok(mut run) => run(arguments),
                // Only a menu that is kept in a cell can get here.
                Err(_) => Err(Failure::invalid_argument(
                    name,
                    "the closure of this option is running already",
                )),
            }),
        )
    }
}

impl fmt::Debug for Closures<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_closure_is_run_by_the_name_of_its_option() {
        let mut total = 0;
        let mut closures = Closures::default();
        closures.add("add", |arguments| {
            total += arguments["n"].as_i64().unwrap_or(0);
            Ok(json!(total).into())
        });
        let run = |name: &str, n: i64| closures.run(name, || Ok(json!({ "n": n })));
        assert_eq!(run("add", 2), Some(Ok(json!(2).into())));
        assert_eq!(run("add", 3), Some(Ok(json!(5).into())));
        assert_eq!(run("other", 1), None);
        let failure = Failure::invalid_argument("n", "no");
        let failed = closures.run("add", || Err(failure.clone()));
        assert_eq!(failed, Some(Err(failure)));
        drop(closures);
        assert_eq!(total, 5);
    }
}
