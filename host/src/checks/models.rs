//! The models that the project names: whether there is something behind each name.

use std::path::Path;

use super::Check;
use crate::install::Lock;
use crate::settings::{ModelNames, PROJECT_FILE, Settings};

pub(super) fn checks(settings: &Settings, lock: &Lock) -> Vec<Check> {
    let ModelNames { main, exec, review } = &settings.models.names;
    let named = [
        ("model", main),
        ("runtimes.exec", exec),
        ("runtimes.review", review),
    ];
    let named = named.into_iter();
    let named = named.filter_map(|(key, name)| Some(check(settings, lock, key, name.as_deref()?)));
    let mut checks: Vec<_> = named.collect();
    if main.is_none() {
        let none = Check::warning(
            "model",
            "none is named, so functions that ask a model fail",
            format!("write `model = \"provider:model\"` into {PROJECT_FILE}, or give `--model`"),
        );
        checks.insert(0, none);
    }
    checks
}

fn check(settings: &Settings, lock: &Lock, key: &str, model: &str) -> Check {
    // The form was checked when the settings were read.
    let (provider, name) = model.split_once(':').unwrap_or((model, ""));
    let is_there = match provider {
        "component" => component(settings, lock, name),
        "script" => script(settings, name),
        _ => server(settings, provider),
    };
    match is_there {
        Ok(()) => Check::ok(key, format!("`{model}`")),
        Err((missing, mend)) => Check::failed(key, format!("`{model}`: {missing}"), mend),
    }
}

/// Nothing, or what is missing and how to mend it.
type IsThere = Result<(), (String, String)>;

fn component(settings: &Settings, lock: &Lock, name: &str) -> IsThere {
    let is_there = settings.component(name).is_some() || lock.components.contains_key(name);
    is_there.then_some(()).ok_or_else(|| {
        (
            format!("the project has no component `{name}`"),
            "install it with `openprogram add`, or choose another model".to_owned(),
        )
    })
}

fn script(settings: &Settings, file: &str) -> IsThere {
    let project_folder = settings.project_file.as_deref().and_then(Path::parent);
    let path = project_folder
        .unwrap_or(&settings.current_folder)
        .join(file);
    if path.is_file() {
        return Ok(());
    }
    let missing = format!("there is no file `{}`", path.display());
    Err((missing, "write it, or choose another model".to_owned()))
}

fn server(settings: &Settings, provider: &str) -> IsThere {
    let mut known = settings.models.providers.iter();
    let Some(provider) = known.find(|known| known.name == provider) else {
        return Err((
            format!("there is no provider `{provider}`"),
            format!(
                "name it under `[providers.{provider}]` in {PROJECT_FILE}; `openprogram providers` \
                 lists the known ones"
            ),
        ));
    };
    match &provider.key_variable {
        Some(variable) if !provider.has_what_it_needs() => Err((
            "its key is not set".to_owned(),
            format!("put the key into the variable {variable}, or choose another model"),
        )),
        _ => Ok(()),
    }
}
