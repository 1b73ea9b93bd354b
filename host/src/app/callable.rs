//! Which functions a run knows, and which component may call which of them.

use openprogram_component::LoadedComponent;
use openprogram_core::catalog::Catalog;
use openprogram_runtime::CallPolicy;

use super::AppError;
use super::components::Available;

/// All functions of these components.
///
/// # Errors
/// When a component cannot stand beside the others.
pub(super) fn catalog(components: &[LoadedComponent]) -> Result<Catalog, AppError> {
    let mut catalog = Catalog::default();
    for component in components {
        let added = catalog.add(component.name(), component.functions().to_vec());
        added.map_err(|source| AppError::Add {
            name: component.name().to_owned(),
            source,
        })?;
    }
    Ok(catalog)
}

/// What the grants of these components let them call.
///
/// Where other components are left out, only a grant of a whole name holds: a shorter one may mean a
/// function of theirs, and must not come to mean another one because they are away.
///
/// # Errors
/// When a grant means no single function, and no component is left out.
pub(super) fn call_policy(
    catalog: &Catalog,
    components: &[Available],
    some_left_out: bool,
) -> Result<CallPolicy, AppError> {
    let mut policy = CallPolicy::default();
    for component in components {
        for call in &component.grants.calls {
            let name = &call.what.function;
            let is_whole = |function: &str| function == name;
            let holds = !some_left_out
                || catalog
                    .iter()
                    .any(|function| is_whole(&function.name.to_string()));
            if holds {
                let granted = policy.grant_line(catalog, &component.name, call);
                granted.map_err(AppError::Grant)?;
            }
        }
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use openprogram_core::function::{Function, FunctionName};
    use openprogram_core::grant::{CallGrant, Grant};

    use super::*;

    fn shop_that_may_call(names: &[&str]) -> Available {
        let grant = |name: &&str| {
            let function = (*name).to_owned();
            Grant::new(CallGrant { function })
        };
        let mut shop = Available::unnamed("shop.wasm".into());
        shop.grants.calls = names.iter().map(grant).collect();
        shop
    }

    #[test]
    fn part_of_a_name_grants_nothing_while_components_are_left_out() {
        let name = FunctionName::new("post", Some("post:office/mail".to_owned()), "send");
        let send = Function::new(name);
        let mut catalog = Catalog::default();
        catalog.add("post", vec![send.clone()]).unwrap();
        let allows = |names: &[&str], some_left_out| {
            let shop = [shop_that_may_call(names)];
            let policy = call_policy(&catalog, &shop, some_left_out).unwrap();
            policy.allows(Some("shop"), &send)
        };
        let whole = "post:office/mail.send";
        assert!(allows(&["send"], false) && allows(&[whole], false));
        assert!(allows(&[whole], true));
        assert!(!allows(&["send"], true));
        // A function that nobody has is an error only when everybody is there.
        assert!(!allows(&["receive"], true));
        let shop = [shop_that_may_call(&["receive"])];
        assert!(call_policy(&catalog, &shop, false).is_err());
    }
}
