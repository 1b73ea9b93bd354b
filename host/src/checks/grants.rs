//! What components are granted: whether it was confirmed, and whether it is there on this machine.

use openprogram_core::grant::Grants;

use super::Check;
use crate::app::{App, Granted, Standing};
use crate::settings::Settings;

pub(super) fn checks(app: &App) -> Vec<Check> {
    // What keeps components from being looked at at all is told by other checks.
    let granted = app.granted(None).unwrap_or_default();
    let granted = granted.iter().filter(|granted| !granted.grants.is_empty());
    granted
        .map(|granted| check(granted, app.settings()))
        .collect()
}

fn check(granted: &Granted, settings: &Settings) -> Check {
    let Granted { name, grants, .. } = granted;
    let title = format!("grants {name}");
    if let Standing::Unbound(why) = &granted.standing {
        return Check::failed(
            &title,
            format!("they are not confirmed, so it does not run ({why})"),
            format!("run `openprogram grant {name}`, which shows them and asks"),
        );
    }
    let missing = missing(grants, settings);
    if missing.is_empty() {
        let count = grants.canonical_lines().len();
        return Check::ok(&title, format!("{count}, confirmed"));
    }
    Check::warning(
        &title,
        missing.join(", "),
        format!(
            "set or make what is missing, or take the grants away with `openprogram revoke {name}`"
        ),
    )
}

/// Variables that are not set, and folders that are not there or behind links.
fn missing(grants: &Grants, settings: &Settings) -> Vec<String> {
    let seen = grants.env.iter().map(|grant| &grant.what.name);
    let secret = grants.secrets.iter().map(|grant| &grant.what.variable);
    let unset = seen
        .chain(secret)
        .filter(|name| !settings.granted_values.contains_key(*name))
        .map(|name| format!("the variable {name} is not set"));
    let folders = grants.dirs.iter();
    let problems = folders.filter_map(|grant| settings.folder_problem(&grant.what));
    unset.chain(problems).collect()
}
