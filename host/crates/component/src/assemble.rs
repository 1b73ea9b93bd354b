//! Facts of a component become functions of the catalog.
//!
//! What the component says about itself is checked here: every name it mentions must exist, every
//! attribute must be known and of its type, every default must fit. A mistake refuses the
//! component, because silence would change what a model is offered.

use std::collections::HashSet;

use openprogram_core::Json;
use openprogram_core::function::{
    Expose, Function, FunctionName, Offer, Parameter, ParameterSource, RenderRange,
    RequiredApproval, RuntimeRole,
};
use openprogram_core::schema::{CheckMode, Type, check_value, shown_name};
use openprogram_core::text::{escape_json, is_clean};

use crate::error::MetadataError;
use crate::facts::{
    Facts, FunctionFact, FunctionMetadata, Metadata, ParameterFact, ParameterKind,
    ParameterMetadata, TypeFact, WORDS_BYTES_MAX, short_name,
};
use crate::types::{Said, type_of};

/// The most bytes of the allowed values of one parameter, as JSON: every request repeats them.
pub(crate) const ALLOWED_VALUES_BYTES_MAX: usize = 16 << 10;
/// The longest system prompt, as for `set-system`.
const SYSTEM_BYTES_MAX: usize = 64 << 10;
/// The longest reason for an approval: a person reads it before answering.
const REASON_BYTES_MAX: usize = 1_000;

/// Makes the functions of a component that is installed under a name.
///
/// # Errors
/// When the metadata does not fit the signatures.
pub(crate) fn functions(
    facts: &Facts,
    component: &str,
    digest: &str,
) -> Result<Vec<Function>, MetadataError> {
    let empty = Metadata::default();
    let metadata = facts.metadata.as_ref().unwrap_or(&empty);
    check_names(metadata, &facts.signature.functions)?;
    let said = Said::new(&metadata.types);
    let functions = facts.signature.functions.iter().map(|fact| {
        let described = metadata.functions.iter().find(|m| describes(m, fact));
        let name = FunctionName {
            component: component.to_owned(),
            interface: fact.interface.clone(),
            function: fact.name.clone(),
            versioned: has_other_version(fact, &facts.signature.functions),
        };
        function(fact, described, &said, name, digest)
    });
    let functions = functions.collect::<Result<_, _>>()?;
    if said.is_too_long() {
        return Err(MetadataError::TooLong {
            max: WORDS_BYTES_MAX,
        });
    }
    Ok(functions)
}

fn unversioned(interface: &str) -> &str {
    interface.split('@').next().unwrap_or(interface)
}

/// Whether the component exports this function in another version of its interface as well.
fn has_other_version(fact: &FunctionFact, facts: &[FunctionFact]) -> bool {
    let interface = fact.interface.as_deref().map(unversioned);
    let mut same = facts.iter().filter(|other| {
        other.name == fact.name && other.interface.as_deref().map(unversioned) == interface
    });
    same.any(|other| other.interface != fact.interface)
}

fn describes(metadata: &FunctionMetadata, fact: &FunctionFact) -> bool {
    let interface = fact.interface.as_deref().map_or("", short_name);
    metadata.interface == interface && metadata.name == fact.name
}

fn check_names(metadata: &Metadata, facts: &[FunctionFact]) -> Result<(), MetadataError> {
    let mut seen = HashSet::new();
    for described in &metadata.functions {
        if !facts.iter().any(|fact| describes(described, fact)) {
            return Err(MetadataError::UnknownFunction {
                interface: cut(&described.interface),
                name: cut(&described.name),
            });
        }
        if !seen.insert((&described.interface, &described.name)) {
            return Err(MetadataError::DescribedTwice {
                function: cut(&described.name),
            });
        }
    }
    Ok(())
}

fn function(
    fact: &FunctionFact,
    described: Option<&FunctionMetadata>,
    said: &Said<'_>,
    name: FunctionName,
    digest: &str,
) -> Result<Function, MetadataError> {
    let mut parameters: Vec<_> = fact.parameters.iter().map(|p| parameter(p, said)).collect();
    let (returns, fails_with) = match &fact.result {
        Some(TypeFact::Result(ok, err)) => (
            ok.as_ref().map(|ty| type_of(ty, said)),
            err.as_ref().map(|ty| type_of(ty, said)),
        ),
        other => (other.as_ref().map(|ty| type_of(ty, said)), None),
    };
    let mut function = Function {
        digest: digest.to_owned(),
        description: fact.docs.clone(),
        returns,
        fails_with,
        offer: match &fact.refused {
            None => Offer::Offered,
            Some(reason) => Offer::NotOfferable(reason.clone()),
        },
        ..Function::new(name)
    };
    if let Some(described) = described {
        if !described.description.is_empty() {
            function.description.clone_from(&described.description);
        }
        set_function_attributes(&mut function, &described.attributes)?;
        // A function that is not offerable may lack parameters that could not be read.
        if fact.refused.is_none() {
            set_parameters(&mut parameters, &described.parameters, &fact.name)?;
        }
    }
    function.parameters = parameters;
    Ok(function)
}

fn set_function_attributes(
    function: &mut Function,
    attributes: &[(String, String)],
) -> Result<(), MetadataError> {
    let owner = function.name.function.clone();
    for attribute in Attribute::read_all(&owner, attributes)? {
        match attribute.key {
            "system" => {
                let text = attribute.string()?;
                if text.len() > SYSTEM_BYTES_MAX {
                    let problem = format!("it is longer than {SYSTEM_BYTES_MAX} bytes");
                    return Err(attribute.bad(problem));
                }
                function.system = Some(text);
            }
            "expose" => {
                let word = attribute.string()?;
                let expose = Expose::parse(&word).ok_or_else(|| {
                    attribute.bad("it must be `io`, `llm`, `full` or `hidden`".to_owned())
                })?;
                function.expose = expose;
            }
            "requires_approval" => function.requires_approval = required_approval(&attribute)?,
            "read_only" => {
                let word = attribute.value.as_bool();
                function.read_only =
                    word.ok_or_else(|| attribute.bad("it must be true or false".to_owned()))?;
            }
            "render_range" => function.render_range = render_range(&attribute)?,
            _ => return Err(attribute.unknown()),
        }
    }
    Ok(())
}

fn required_approval(attribute: &Attribute<'_>) -> Result<Option<RequiredApproval>, MetadataError> {
    match &attribute.value {
        Json::Bool(required) => Ok(required.then(RequiredApproval::default)),
        Json::String(reason) if reason.len() > REASON_BYTES_MAX => {
            Err(attribute.bad(format!("it is longer than {REASON_BYTES_MAX} bytes")))
        }
        Json::String(reason) if !reason.trim().is_empty() => Ok(Some(RequiredApproval {
            reason: Some(reason.clone()),
        })),
        _ => Err(attribute.bad("it must be true, false or a text that says why".to_owned())),
    }
}

fn render_range(attribute: &Attribute<'_>) -> Result<RenderRange, MetadataError> {
    let bad = || {
        attribute.bad(
            "it must be `{\"callers\": n or null, \"subcalls\": n}`, with -1 for all subcalls"
                .to_owned(),
        )
    };
    let mut range = RenderRange::default();
    for (key, value) in attribute.value.as_object().ok_or_else(bad)? {
        let count = match value.as_i64() {
            Some(-1) if key == "subcalls" => None,
            Some(count) => Some(u64::try_from(count).map_err(|_| bad())?),
            None if value.is_null() => None,
            None => return Err(bad()),
        };
        match key.as_str() {
            "callers" => range.callers = count,
            "subcalls" => range.subcalls = count,
            _ => return Err(bad()),
        }
    }
    Ok(range)
}

fn set_parameters(
    parameters: &mut [Parameter],
    described: &[ParameterMetadata],
    function: &str,
) -> Result<(), MetadataError> {
    let mut seen = HashSet::new();
    for metadata in described {
        let shown = shown_name(&metadata.name);
        let found = parameters.iter_mut().find(|p| p.field.name == shown);
        let Some(parameter) = found.filter(|_| seen.insert(shown.clone())) else {
            return Err(MetadataError::UnknownParameter {
                function: function.to_owned(),
                parameter: cut(&metadata.name),
            });
        };
        let owner = format!("{function}({})", metadata.name);
        let attributes = Attribute::read_all(&owner, &metadata.attributes)?;
        for attribute in &attributes {
            set_parameter_attribute(parameter, attribute)?;
        }
        check_values(parameter, &attributes)?;
    }
    Ok(())
}

fn set_parameter_attribute(
    parameter: &mut Parameter,
    attribute: &Attribute<'_>,
) -> Result<(), MetadataError> {
    let injected = matches!(parameter.source, ParameterSource::Runtime(_));
    if injected && attribute.key != "description" {
        return Err(attribute.bad("the host injects this parameter".to_owned()));
    }
    match attribute.key {
        "description" => parameter.field.description = Some(attribute.string()?),
        "hidden" => {
            if attribute.boolean()? {
                parameter.source = ParameterSource::Context;
            }
        }
        "placeholder" => parameter.placeholder = Some(attribute.string()?),
        "multiline" => parameter.multiline = Some(attribute.boolean()?),
        "options_from" => parameter.options_from = Some(attribute.string()?),
        // Both are checked when all attributes are known.
        "options" | "default" => {}
        _ => return Err(attribute.unknown()),
    }
    Ok(())
}

/// Sets the allowed values and the default, which must be of the parameter's type, the default
/// also one of the allowed values.
fn check_values(
    parameter: &mut Parameter,
    attributes: &[Attribute<'_>],
) -> Result<(), MetadataError> {
    let find = |key: &str| attributes.iter().find(|attribute| attribute.key == key);
    if let Some(options) = find("options") {
        let values = options.value.as_array();
        let values = values.filter(|values| !values.is_empty()).ok_or_else(|| {
            options.bad("it must be an array of allowed values, not empty".to_owned())
        })?;
        let bytes = options.value.to_string().len();
        if bytes > ALLOWED_VALUES_BYTES_MAX {
            let max = ALLOWED_VALUES_BYTES_MAX;
            return Err(options.bad(format!("the values take {bytes} bytes; at most {max} fit")));
        }
        let mut texts = values.iter().filter_map(Json::as_str);
        if let Some(text) = texts.find(|text| !is_clean(text)) {
            // A value is compared with what a model gives, so it cannot be cleaned like words.
            let text = escape_json(&Json::from(cut(text)).to_string()).into_owned();
            return Err(options.bad(format!(
                "the value {text} holds control or invisible characters; leave them out"
            )));
        }
        let checked = values.iter().map(|value| {
            check_value(value, &parameter.field, CheckMode::Strict)
                .map(|checked| checked.value)
                .map_err(|error| options.bad(error.to_string()))
        });
        parameter.field.options = checked.collect::<Result<_, _>>()?;
    }
    if let Some(default) = find("default") {
        let checked = check_value(&default.value, &parameter.field, CheckMode::Strict)
            .map_err(|error| default.bad(error.to_string()))?;
        parameter.default = Some(checked.value);
    }
    Ok(())
}

/// One attribute, its value read.
struct Attribute<'a> {
    owner: &'a str,
    key: &'a str,
    value: Json,
}

impl<'a> Attribute<'a> {
    fn read_all(
        owner: &'a str,
        attributes: &'a [(String, String)],
    ) -> Result<Vec<Self>, MetadataError> {
        let mut seen = HashSet::new();
        let read = attributes.iter().map(|(key, text)| {
            let mut attribute = Self {
                owner,
                key,
                value: Json::Null,
            };
            if !seen.insert(key) {
                return Err(attribute.bad("it is given twice".to_owned()));
            }
            attribute.value = serde_json::from_str(text)
                .map_err(|error| attribute.bad(format!("it is not JSON: {error}")))?;
            Ok(attribute)
        });
        read.collect()
    }

    fn string(&self) -> Result<String, MetadataError> {
        let text = self.value.as_str().map(ToOwned::to_owned);
        text.ok_or_else(|| self.bad("it must be a string".to_owned()))
    }

    fn boolean(&self) -> Result<bool, MetadataError> {
        let value = self.value.as_bool();
        value.ok_or_else(|| self.bad("it must be true or false".to_owned()))
    }

    fn bad(&self, problem: String) -> MetadataError {
        MetadataError::BadAttribute {
            owner: self.owner.to_owned(),
            key: cut(self.key),
            problem,
        }
    }

    fn unknown(&self) -> MetadataError {
        MetadataError::UnknownAttribute {
            owner: self.owner.to_owned(),
            key: cut(self.key),
        }
    }
}

/// A name as an error shows it; it comes from the guest.
fn cut(name: &str) -> String {
    name.chars().take(128).collect()
}

fn parameter(fact: &ParameterFact, said: &Said<'_>) -> Parameter {
    let shown = shown_name(&fact.name);
    match &fact.kind {
        ParameterKind::Value(ty) => Parameter::new(shown, type_of(ty, said)),
        ParameterKind::Runtime | ParameterKind::OptionalRuntime => {
            // The decoder gives these kinds to reserved names only.
            let role = RuntimeRole::of_parameter(&shown).unwrap_or(RuntimeRole::Main);
            let mut parameter = Parameter::new(shown, Type::Json);
            parameter.source = ParameterSource::Runtime(role);
            parameter
        }
    }
}
