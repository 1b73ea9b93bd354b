//! Which component may call functions of which other one. Deny by default: an empty policy lets a
//! component call its own functions and nothing else. The person at the top may call everything.

use std::collections::BTreeMap;

use openprogram_core::catalog::{Catalog, ResolveError};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, FunctionName};
use openprogram_core::grant::{CallGrant, Grant, GrantKind, grant_command};
use openprogram_core::schema::names_equal;

/// The calls granted to each component, as the project file gives them.
#[derive(Clone, Debug, Default)]
pub struct CallPolicy {
    granted: BTreeMap<String, Vec<CallPermit>>,
}

/// One function that a component may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPermit {
    /// The function.
    pub function: FunctionName,
    /// The line of the grant.
    pub line: String,
    /// Whether a person is asked before each call.
    pub asks: bool,
}

/// A grant that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`calls` of the component `{component}`: {source}")]
pub struct GrantError {
    /// The component that has the grant.
    pub component: String,
    /// Why the name in the grant means no single function.
    pub source: ResolveError,
}

impl CallPolicy {
    /// Lets `component` call the function that `name` means, by the rules of [`Catalog::resolve`].
    ///
    /// # Errors
    /// When no function or more than one answers to the name; the policy stays as it was.
    pub fn grant(
        &mut self,
        catalog: &Catalog,
        component: &str,
        name: &str,
    ) -> Result<(), GrantError> {
        let function = name.to_owned();
        let grant = Grant::new(CallGrant { function });
        self.grant_line(catalog, component, &grant)
    }

    /// The same by a grant as a person wrote it, which may ask before each call.
    ///
    /// # Errors
    /// As for [`CallPolicy::grant`].
    pub fn grant_line(
        &mut self,
        catalog: &Catalog,
        component: &str,
        grant: &Grant<CallGrant>,
    ) -> Result<(), GrantError> {
        let found = catalog.resolve(&grant.what.function, None);
        let function = found.map_err(|source| GrantError {
            component: component.to_owned(),
            source,
        })?;
        let permit = CallPermit {
            function: function.name.clone(),
            line: grant.to_string(),
            asks: grant.asks,
        };
        let granted = self.granted.entry(component.to_owned()).or_default();
        if !granted.contains(&permit) {
            granted.push(permit);
        }
        Ok(())
    }

    /// Whether `component` may call `function`; `None` is the person at the top.
    #[must_use]
    pub fn allows(&self, component: Option<&str>, function: &Function) -> bool {
        let Some(component) = component else {
            return true;
        };
        let own = names_equal(component, &function.name.component);
        own || self.permit(component, function).is_some()
    }

    /// What lets `component` call `function` of another component; one that asks nobody comes first.
    #[must_use]
    pub fn permit(&self, component: &str, function: &Function) -> Option<&CallPermit> {
        if names_equal(component, &function.name.component) {
            return None;
        }
        let granted = self.granted.get(component)?;
        let permits = || granted.iter().filter(|p| p.function == function.name);
        let unasked = permits().find(|permit| !permit.asks);
        unasked.or_else(|| permits().next())
    }

    /// Checks that `component` may call `function`; `None` is the person at the top.
    ///
    /// # Errors
    /// `denied`, with what was refused and the command that allows it.
    pub fn check(&self, component: Option<&str>, function: &Function) -> Result<(), Failure> {
        let Some(component) = component.filter(|_| !self.allows(component, function)) else {
            return Ok(());
        };
        let name = function.name.to_string();
        Err(Failure::new(
            FailureCode::Denied,
            format!("`{component}` may not call `{name}`"),
        )
        .with("what", format!("call {name}"))
        .with(
            "how_to_allow",
            grant_command(component, GrantKind::Calls, &name),
        ))
    }
}
