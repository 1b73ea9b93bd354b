//! The sets of tools that the project names: whether there are such functions.

use super::Check;
use crate::app::App;
use crate::settings::PROJECT_FILE;

const TOOL_SETS: &str = "tool sets";

pub(super) async fn checks(app: &App) -> Vec<Check> {
    let sets = &app.settings().tool_sets;
    if sets.presets.is_empty() && sets.unsafe_in.is_empty() {
        return Vec::new();
    }
    // What keeps components from being looked at at all is told by other checks.
    let Ok(listing) = app.listing(false, &mut std::io::sink()).await else {
        return Vec::new();
    };
    let unknown = app.unknown_tools(&listing).unwrap_or_default();
    if unknown.is_empty() {
        let message = match listing.unknown.is_empty() {
            true => "every function that they name is there",
            false => "not every component is known yet that may have their functions",
        };
        return vec![Check::ok(TOOL_SETS, message)];
    }
    let checks = unknown.into_iter().map(|tool| {
        let mend = format!("correct the name under `{}` in {PROJECT_FILE}", tool.key);
        Check::failed(&format!("tool set {}", tool.key), tool.message, mend)
    });
    checks.collect()
}
