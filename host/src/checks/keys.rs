//! The providers behind HTTP: whether their keys are set, where they are, and the numbers about
//! asking them.

use super::Check;
use crate::settings::{Origin, PROJECT_FILE, ProviderSettings, Settings};

pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    let models = &settings.models;
    let mut checks: Vec<_> = models.providers.iter().map(provider).collect();
    let warnings = models.numbers.iter();
    checks.extend(warnings.filter_map(|number| {
        let mend = format!("correct the variable {}, or unset it", number.name);
        Some(Check::warning("variable", number.warning.clone()?, mend))
    }));
    checks
}

fn provider(provider: &ProviderSettings) -> Check {
    let name = format!("provider {}", provider.name);
    let Some(url) = provider.shown_base_url() else {
        let place = match &provider.origin {
            Origin::Variable(variable) => format!("the variable {variable}"),
            _ => format!("`providers.{}.base_url` in {PROJECT_FILE}", provider.name),
        };
        return Check::failed(
            &name,
            format!("{place} holds no `http` or `https` URL"),
            "write a URL there, for example `http://127.0.0.1:8080/v1`",
        );
    };
    let key = match (&provider.key_variable, &provider.key) {
        (None, _) => "needs no key".to_owned(),
        (Some(variable), Some(_)) => format!("{variable} is set"),
        (Some(variable), None) => format!("{variable} is not set"),
    };
    Check::ok(&name, format!("{url}; {key}"))
}
