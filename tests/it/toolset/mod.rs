//! The standard toolset: every function through the host, without its grant, with it, and just
//! outside of a narrower one; and what models see of all of them.

mod breaking;
mod clock;
mod fetch;
mod files;
mod found;
mod query;
mod turn;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::tool::ToolNames;
use openprogram_tests::web::{Called, WebHost};
use openprogram_tests::{guests, host};

/// A folder of a person, with the one that is granted in it.
struct Desk(tempfile::TempDir);

impl Desk {
    /// A desk with these files; their folders are made.
    fn with<T: AsRef<[u8]>>(files: impl IntoIterator<Item = (&'static str, T)>) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::create_dir(desk.path("work")).unwrap();
        for (name, content) in files {
            let path = desk.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        desk
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The component with these folders.
    fn host(&self, component: &'static str, grants: &[&str]) -> WebHost {
        let grant = |host: WebHost, line: &&str| host.dir(line, self.root());
        grants.iter().fold(WebHost::of(component), grant)
    }
}

/// What a call gave: its value, or the code and the message of its failure.
fn told(called: &Called) -> String {
    match &called.result {
        Ok(Json::String(text)) => text.clone(),
        Ok(value) => format!("{value:#}"),
        Err(error) => {
            let json = error.strip_prefix("the function failed: ");
            let failure = json.and_then(|json| serde_json::from_str::<Json>(json).ok());
            let text = |key: &str| Some(failure.as_ref()?[key].as_str()?.to_owned());
            match (text("code"), text("message")) {
                (Some(code), Some(message)) => format!("{code}: {message}"),
                _ => error.clone(),
            }
        }
    }
}

/// What a call gave, and what was noted of it.
fn told_with_notes(called: &Called) -> String {
    format!("{}\n{}", told(called).trim_end(), called.noted())
}

/// What models see of the functions of a component.
async fn specs(component: &str) -> String {
    let loaded = host::load(component, guests::bytes(component))
        .await
        .unwrap();
    let functions = loaded.functions().iter().cloned().map(Arc::new);
    let names = ToolNames::new(functions).unwrap();
    let shown = names.specs().into_iter().map(|spec| {
        let parameters = serde_json::to_string_pretty(&spec.parameters).unwrap();
        format!("{}\n{}\n{parameters}\n", spec.name, spec.description)
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn models_see_the_functions_as_their_sources_tell_them() {
    for component in ["clock", "fetch", "files", "query"] {
        insta::assert_snapshot!(format!("toolset_{component}"), specs(component).await);
    }
}
