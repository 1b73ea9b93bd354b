//! From `provider:model` to a provider.
//!
//! The registry knows names and factories; what stands behind a factory is up to whoever registers
//! it. An unknown name lists the known ones.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::llm::Provider;

/// How much of a wrong name an error shows.
const SHOWN_CHARS_MAX: usize = 64;

/// Makes the providers of one kind.
#[async_trait]
pub trait ProviderFactory: Send + Sync {
    /// Makes the provider that serves `model`, the part after the colon; it is never empty.
    ///
    /// # Errors
    /// When there is no such model or it cannot be loaded. The message names the model.
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Box<dyn Error + Send + Sync>>;
}

#[async_trait]
impl<F> ProviderFactory for F
where
    F: Fn(&str) -> Result<Arc<dyn Provider>, Box<dyn Error + Send + Sync>> + Send + Sync,
{
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Box<dyn Error + Send + Sync>> {
        self(model)
    }
}

/// All known kinds of providers.
#[derive(Default)]
pub struct Registry {
    kinds: BTreeMap<String, Kind>,
}

struct Kind {
    form: String,
    factory: Box<dyn ProviderFactory>,
}

/// Why a name gives no provider.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The name is not of the form `provider:model`.
    #[error("`{name}` is not the name of a model; it looks like {}", known.join(" or "))]
    NotAName {
        /// The name.
        name: String,
        /// The known forms, in backticks.
        known: Vec<String>,
    },
    /// No provider of this kind is known.
    #[error("there is no provider `{provider}`; the known ones are {}", known.join(", "))]
    UnknownProvider {
        /// The part before the colon.
        provider: String,
        /// The known forms, in backticks.
        known: Vec<String>,
    },
    /// The provider is known and could not be made.
    #[error("the model `{name}` cannot be used")]
    Failed {
        /// The full name.
        name: String,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A kind of this name is registered already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a provider `{0}` is registered already")]
pub struct AlreadyRegistered(pub String);

impl Registry {
    /// Adds a kind of providers. `form` is what a person writes, for example `script:FILE`; the
    /// part before its colon is the name of the kind.
    ///
    /// # Errors
    /// When the kind is there already.
    pub fn register(
        &mut self,
        form: &str,
        factory: impl ProviderFactory + 'static,
    ) -> Result<(), AlreadyRegistered> {
        let provider = form.split(':').next().unwrap_or(form);
        if self.kinds.contains_key(provider) {
            return Err(AlreadyRegistered(provider.to_owned()));
        }
        let kind = Kind {
            form: form.to_owned(),
            factory: Box::new(factory),
        };
        self.kinds.insert(provider.to_owned(), kind);
        Ok(())
    }

    /// What a person may write, in alphabetical order.
    #[must_use]
    pub fn forms(&self) -> Vec<&str> {
        self.kinds.values().map(|kind| kind.form.as_str()).collect()
    }

    /// Makes the provider that a full name means.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(&self, name: &str) -> Result<Arc<dyn Provider>, OpenError> {
        let shown = |text: &str| text.chars().take(SHOWN_CHARS_MAX).collect::<String>();
        let known = || {
            let forms = self.forms();
            forms.iter().map(|form| format!("`{form}`")).collect()
        };
        let (provider, model) = match name.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                (provider, model)
            }
            _ => {
                return Err(OpenError::NotAName {
                    name: shown(name),
                    known: known(),
                });
            }
        };
        let Some(kind) = self.kinds.get(provider) else {
            return Err(OpenError::UnknownProvider {
                provider: shown(provider),
                known: known(),
            });
        };
        let opened = kind.factory.open(model).await;
        opened.map_err(|source| OpenError::Failed {
            name: shown(name),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::ScriptProvider;

    fn registry() -> Registry {
        let mut registry = Registry::default();
        registry
            .register("script:FILE", |model: &str| {
                let script = ScriptProvider::from_lines(model, "\"hello\"\n")?;
                Ok(Arc::new(script) as Arc<dyn Provider>)
            })
            .unwrap();
        registry
            .register("component:NAME", |model: &str| {
                Err(format!("there is no component `{model}`").into())
            })
            .unwrap();
        registry
    }

    fn check(name: &str, expected: &str) {
        let outcome = match pollster::block_on(registry().open(name)) {
            Ok(provider) => provider.name().to_owned(),
            Err(error) => match error.source() {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            },
        };
        assert_eq!(outcome, expected, "`{name}`");
    }

    #[test]
    fn a_name_gives_its_provider_or_says_what_is_known() {
        check("script:replies.jsonl", "script:replies.jsonl");
        check("script:C:\\replies.jsonl", "script:C:\\replies.jsonl");
        check(
            "component:gone",
            "the model `component:gone` cannot be used: there is no component `gone`",
        );
        check(
            "antropic:claude",
            "there is no provider `antropic`; the known ones are `component:NAME`, `script:FILE`",
        );
        for name in ["", ":", "script:", ":model", "model"] {
            let expected = format!(
                "`{name}` is not the name of a model; \
                 it looks like `component:NAME` or `script:FILE`"
            );
            check(name, &expected);
        }
    }

    #[test]
    fn a_kind_is_registered_once() {
        let mut registry = registry();
        let again = registry.register("script:OTHER", |_: &str| Err("never".into()));
        assert_eq!(again, Err(AlreadyRegistered("script".to_owned())));
    }
}
