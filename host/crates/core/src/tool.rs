//! Functions as provider-native tools: what a model may call and how it is told.
//!
//! Names of tools are made for one set of functions at a time and read back by the same set, so
//! every name leads to exactly one function whatever was cut or replaced in it.

use std::collections::BTreeMap;

use crate::Json;
use crate::function::{Function, FunctionName, FunctionRef, parameters_to_json_schema};
use crate::schema::{names_equal, shown_name};

/// The longest name that every provider takes.
const NAME_CHARS_MAX: usize = 64;
/// The hexadecimal digits that keep cut names apart.
const HASH_DIGITS: usize = 8;
/// How many near names an error for a model lists.
const NEAREST_MAX: usize = 3;
/// A name is near when it is at least so similar (0 to 1, normalised Damerau-Levenshtein).
const NEAR: f64 = 0.5;
/// A longer name of a model is not compared; no tool has one.
const COMPARED_BYTES_MAX: usize = 256;

/// One tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name, `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// When to call it.
    pub description: String,
    /// JSON Schema of the arguments: an object schema.
    pub parameters: Json,
    /// Whether the provider has to hold the arguments to that schema, or refuse the request. Arguments
    /// are checked here in any case.
    pub strict: bool,
}

impl ToolSpec {
    /// A function as the tool `name`: the first paragraph of its doc and its visible parameters.
    #[must_use]
    pub fn of(function: &Function, name: &str) -> Self {
        let summary = function.summary();
        let description = if summary.is_empty() {
            format!("Call {name}.")
        } else {
            summary
        };
        Self {
            name: name.to_owned(),
            description,
            parameters: parameters_to_json_schema(function.visible_parameters()),
            strict: false,
        }
    }
}

/// Whether and what the model must call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model calls at least one tool.
    Required,
    /// The model calls no tool.
    None,
    /// The model calls this tool.
    Named(String),
}

/// Two functions would be the same tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tool name `{name}` would mean both `{first}` and `{second}`; rename one of the functions"
)]
pub struct ToolNameCollision {
    /// The tool name.
    pub name: String,
    /// The function that came first.
    pub first: String,
    /// The function that came second.
    pub second: String,
}

/// A set of functions under tool names, readable in both directions.
#[derive(Clone, Debug, Default)]
pub struct ToolNames {
    by_name: BTreeMap<String, FunctionRef>,
}

impl ToolNames {
    /// Names the functions; one that is given twice is there once.
    ///
    /// A function is called as its author declares, else by its short name in snake_case where no
    /// other function of the set has it and it fits. Otherwise by the last part of its interface and its short name, cut and
    /// with a hash of its full name. The name does not depend on the order of the functions.
    ///
    /// # Errors
    /// When two functions would get one name.
    pub fn new(
        functions: impl IntoIterator<Item = FunctionRef>,
    ) -> Result<Self, ToolNameCollision> {
        let mut set: Vec<FunctionRef> = Vec::new();
        let mut n_by_short_name: BTreeMap<String, usize> = BTreeMap::new();
        let mut seen = std::collections::BTreeSet::new();
        for function in functions {
            if seen.insert(function.name.clone()) {
                *n_by_short_name.entry(wanted_name(&function)).or_default() += 1;
                set.push(function);
            }
        }
        let mut by_name: BTreeMap<String, FunctionRef> = BTreeMap::new();
        for function in set {
            let short = wanted_name(&function);
            let alone = n_by_short_name.get(&short) == Some(&1);
            // Two that declare one name are a mistake, which is told below.
            let name = if let Some(declared) = &function.model_name {
                declared.clone()
            } else if is_tool_name(&short) && alone {
                short
            } else {
                long_name(&function.name)
            };
            if let Some(first) = by_name.get(&name) {
                return Err(ToolNameCollision {
                    first: owner(&first.name),
                    second: owner(&function.name),
                    name,
                });
            }
            by_name.insert(name, function);
        }
        Ok(Self { by_name })
    }

    /// The function that a model means: its tool name, `-` and `_` being equal.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&FunctionRef> {
        self.by_name.get(name).or_else(|| {
            let mut equal = self
                .by_name
                .iter()
                .filter(|(own, _)| names_equal(own, name));
            let (_, function) = equal.next()?;
            equal.next().is_none().then_some(function)
        })
    }

    /// The tool name of a function of the set.
    #[must_use]
    pub fn name_of(&self, function: &FunctionName) -> Option<&str> {
        let mut named = self.by_name.iter();
        let (name, _) = named.find(|(_, known)| known.name == *function)?;
        Some(name)
    }

    /// The functions with their tool names, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FunctionRef)> {
        self.by_name.iter().map(|(name, f)| (name.as_str(), f))
    }

    /// The specs, sorted by name, as requests need them.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.iter()
            .map(|(name, function)| ToolSpec::of(function, name))
            .collect()
    }

    /// The tool names most similar to an unknown one, best first, for the answer to a model.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        nearest_tools(self.by_name.keys().map(String::as_str), name)
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

/// The names most similar to one that is none of them, best first, for the answer to a model.
#[must_use]
pub fn nearest_tools<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> Vec<&'a str> {
    if name.len() > COMPARED_BYTES_MAX {
        return Vec::new();
    }
    let mut near: Vec<_> = names
        .map(|own| (strsim::normalized_damerau_levenshtein(own, name), own))
        .filter(|(similarity, _)| *similarity >= NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.truncate(NEAREST_MAX);
    near.into_iter().map(|(_, own)| own).collect()
}

/// The name that a function has when no other one has it, spelled alike where names count as equal.
fn wanted_name(function: &Function) -> String {
    let declared = function.model_name.as_deref();
    shown_name(declared.unwrap_or(&function.name.function))
}

/// A function with the component it belongs to, as an error names it.
fn owner(name: &FunctionName) -> String {
    format!("{name} ({})", name.component)
}

/// Whether every provider takes a tool of this name: 1 to 64 letters, digits, `_` and `-`.
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    let fits = (1..=NAME_CHARS_MAX).contains(&name.len());
    fits && name.bytes().all(is_tool_byte)
}

/// What names of tools begin with that are the host's own.
const RESERVED: &str = "__openprogram_";

/// Why this cannot be the name of a tool, for its maker.
///
/// # Errors
/// When not every provider takes it ([`is_tool_name`]), or when it begins as the names of the host's
/// own tools do, whatever its case, `-` and `_` being equal.
pub fn check_tool_name(name: &str) -> Result<(), String> {
    let shown = || -> String { name.chars().take(NAME_CHARS_MAX).collect() };
    if !is_tool_name(name) {
        return Err(format!(
            "`{}` cannot be the name of a tool; it has 1 to {NAME_CHARS_MAX} letters, digits, `_` \
             and `-`",
            shown()
        ));
    }
    let beginning = name.get(..RESERVED.len()).unwrap_or_default();
    if beginning.to_ascii_lowercase().replace('-', "_") == RESERVED {
        return Err(format!(
            "`{}` cannot be the name of a tool; names that begin with `{RESERVED}` are the host's own",
            shown()
        ));
    }
    Ok(())
}

fn is_tool_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The last part of the interface with a version that belongs to the name, or the component, and
/// the short name; sanitised, cut, hashed.
fn long_name(name: &FunctionName) -> String {
    let interface = name.interface.as_deref().unwrap_or(&name.component);
    let owner = match interface.split_once('@') {
        Some((unversioned, _)) if !name.versioned => unversioned,
        _ => interface,
    };
    let last = owner.rsplit(['/', ':']).next().unwrap_or(owner);
    let tail = shown_name(&format!("{last}-{}", name.function));
    let plain = |c: char| match u8::try_from(c) {
        Ok(byte) if is_tool_byte(byte) => c,
        _ => '_',
    };
    let kept = NAME_CHARS_MAX - HASH_DIGITS - 1;
    let tail: String = tail.chars().map(plain).take(kept).collect();
    format!("{tail}_{:08x}", hash(name))
}

/// FNV-1a over everything that tells two functions apart, folded to 32 bits. It has to stay the
/// same from run to run, which the standard library does not promise of its own hashes.
fn hash(name: &FunctionName) -> u32 {
    let full = format!(
        "{}\n{}\n{}",
        name.component,
        name.interface.as_deref().unwrap_or_default(),
        name.function
    );
    let hash = full.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = (hash >> 32) ^ (hash & 0xffff_ffff);
    u32::try_from(folded).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::function::{Parameter, ParameterSource, RuntimeRole};
    use crate::schema::{IntegerKind, Type};

    /// Where a case with force of law is another here, on purpose: nowhere.
    ///
    /// What is not law and left out: types without counterpart in WIT (a bare `tuple` or `set`,
    /// annotations in quotes, variadic parameters), allowed values of another type than the
    /// parameter, which are refused when a component is loaded, and parameters that may be
    /// absent, which are never required here. A description is the first paragraph.
    const ONLY_LAW: &str = "law";

    fn function(component: &str, interface: Option<&str>, name: &str) -> Function {
        let interface = interface.map(str::to_owned);
        Function::new(FunctionName::new(component, interface, name))
    }

    /// The type that an annotation of the original stands for.
    fn type_of(python: &str) -> Type {
        let integer = Type::Integer(IntegerKind::S32);
        match python {
            "str" => Type::String,
            "int" => integer,
            "float" => Type::Float64,
            "list[str]" => Type::List(Box::new(Type::String)),
            "list[int]" => Type::List(Box::new(integer)),
            "dict[str,int]" => Type::Map(Box::new(Type::String), Box::new(integer)),
            other => panic!("no type stands for `{other}`"),
        }
    }

    fn parameter_of(declared: &Json, input: &Json) -> Parameter {
        let name = declared["name"].as_str().unwrap();
        if let Some(role) = RuntimeRole::of_parameter(name) {
            let mut parameter = Parameter::new(name, Type::Json);
            parameter.source = ParameterSource::Runtime(role);
            return parameter;
        }
        let ty = type_of(declared["type"].as_str().unwrap());
        let mut parameter = Parameter::new(name, ty);
        match declared.get("default") {
            Some(Json::Null) => {
                parameter.field.ty = Type::Option(Box::new(parameter.field.ty));
            }
            default => parameter.default = default.cloned(),
        }
        let text = |key: &str| input[key].as_str().map(str::to_owned);
        parameter.field.description = text("description");
        parameter.placeholder = text("placeholder");
        parameter.options_from = text("options_from");
        parameter.multiline = input["multiline"].as_bool();
        let options = input["options"].as_array();
        parameter.field.options = options.cloned().unwrap_or_default();
        if input["hidden"] == true {
            parameter.source = ParameterSource::Context;
        }
        parameter
    }

    /// Leaves out what our schemas add to those of the original.
    fn without_additions(schema: &Json) -> Json {
        let mut schema = schema.clone();
        let object = schema.as_object_mut().unwrap();
        for added in ["minimum", "maximum", "additionalProperties"] {
            object.remove(added);
        }
        for (key, value) in object.iter_mut() {
            match key.as_str() {
                "properties" => {
                    for property in value.as_object_mut().unwrap().values_mut() {
                        *property = without_additions(property);
                    }
                }
                "items" => *value = without_additions(value),
                _ => {}
            }
        }
        schema
    }

    #[test]
    fn specs_are_as_in_the_vectors() {
        let file = include_str!("../fixtures/vectors/tool_spec.json");
        let file: Json = serde_json::from_str(file).unwrap();
        let mut n_law = 0;
        for case in file["cases"].as_array().unwrap() {
            if case["status"] != ONLY_LAW {
                continue;
            }
            let declared = &case["function"];
            let mut function = function("c", Some("n:p/i"), declared["name"].as_str().unwrap());
            function.description = declared["doc"].as_str().unwrap_or_default().to_owned();
            let parameters = declared["params"].as_array().unwrap().iter();
            function.parameters = parameters
                .map(|p| parameter_of(p, &case["input"][p["name"].as_str().unwrap()]))
                .collect();
            let names = ToolNames::new([Arc::new(function)]).unwrap();
            let spec = names.specs().remove(0);
            let got = serde_json::json!({
                "name": spec.name,
                "description": spec.description,
                "parameters": without_additions(&spec.parameters),
            });
            assert_eq!(got, case["spec"], "{}", case["id"]);
            n_law += 1;
        }
        assert_eq!(n_law, 16);
    }

    type Named = (&'static str, Option<&'static str>, &'static str);

    /// Names the functions and checks that every name leads back to its function.
    fn check(functions: &[Named], expected: &[&str]) {
        let make =
            |(component, interface, name): &Named| Arc::new(function(component, *interface, name));
        let set: Vec<FunctionRef> = functions.iter().map(make).collect();
        let names = ToolNames::new(set.iter().rev().cloned()).unwrap();
        let of_each: Vec<_> = set
            .iter()
            .map(|f| names.name_of(&f.name).unwrap())
            .collect();
        assert_eq!(of_each, expected);
        for function in &set {
            let name = names.name_of(&function.name).unwrap();
            assert!(is_tool_name(name), "{name}");
            assert_eq!(names.function(name), Some(function));
            assert_eq!(names.function(&name.replace('_', "-")), Some(function));
        }
        let sorted: Vec<_> = names.specs().into_iter().map(|spec| spec.name).collect();
        assert!(sorted.is_sorted(), "{sorted:?}");
    }

    #[test]
    fn a_tool_is_named_like_its_function_when_nothing_else_is() {
        let shop = Some("acme:shop/desk@1.0.0");
        check(
            &[
                ("shop", shop, "issue-refund"),
                ("shop", shop, "HTTP-get"),
                ("tools", None, "sum"),
            ],
            &["issue_refund", "HTTP_get", "sum"],
        );
    }

    #[test]
    fn equal_and_long_names_are_told_apart_by_interface_and_hash() {
        let long = "a-function-whose-author-could-not-stop-writing-words-into-its-name-at-all";
        check(
            &[
                ("shop", Some("acme:shop/desk@1.0.0"), "refund"),
                ("bank", Some("acme:bank/desk@1.0.0"), "refund"),
                ("tools", None, "refund"),
                ("shop", Some("acme:shop/desk@1.0.0"), long),
            ],
            &[
                "desk_refund_09fe1cae",
                "desk_refund_1ed2324b",
                "tools_refund_f927c774",
                "desk_a_function_whose_author_could_not_stop_writing_wor_ec9a8ade",
            ],
        );
    }

    #[test]
    fn a_declared_name_is_kept_and_others_make_way() {
        let mut declared = function("bank", Some("acme:bank/desk"), "transfer");
        declared.model_name = Some("Send-money".to_owned());
        declared.model_description = Some("Sends it.\n\nMore.".to_owned());
        declared.description = "Transfers.".to_owned();
        let natural = function("post", Some("acme:post/desk"), "Send-money");
        let set = [declared, natural].map(Arc::new);
        let names = ToolNames::new(set.clone()).unwrap();
        let shown: Vec<_> = set
            .iter()
            .map(|f| names.name_of(&f.name).unwrap())
            .collect();
        assert_eq!(shown, ["Send-money", "desk_Send_money_53f01110"]);
        for (function, name) in set.iter().zip(shown) {
            assert_eq!(names.function(name).unwrap().name, function.name);
        }
        assert_eq!(names.function("Send_money").unwrap().name, set[0].name);
        assert_eq!(ToolSpec::of(&set[0], "x").description, "Sends it.");
        let mut second = function("post", None, "other");
        second.model_name = Some("Send-money".to_owned());
        let both = [Arc::clone(&set[0]), Arc::new(second)];
        assert_eq!(
            ToolNames::new(both).unwrap_err().to_string(),
            "the tool name `Send-money` would mean both `acme:bank/desk.transfer (bank)` and \
             `post.other (post)`; rename one of the functions"
        );
    }

    #[test]
    fn two_versions_of_one_function_are_two_tools_and_lead_back_to_their_own() {
        let versions = ["acme:ledger/book@0.1.0", "acme:ledger/book@0.2.0"];
        let set = versions.map(|interface| {
            let mut function = function("ledger", Some(interface), "total");
            function.name.versioned = true;
            Arc::new(function)
        });
        let names = ToolNames::new(set.clone()).unwrap();
        for function in &set {
            let name = names.name_of(&function.name).unwrap();
            assert!(is_tool_name(name), "{name}");
            assert_eq!(names.function(name).unwrap().name, function.name);
        }
        let shown: Vec<_> = names.iter().map(|(name, _)| name).collect();
        assert_eq!(
            shown,
            ["book_0_1_0_total_ddacff3c", "book_0_2_0_total_a900c28c"]
        );
    }

    #[test]
    fn a_name_that_would_mean_two_functions_is_refused_with_both_owners() {
        let first = function("a", Some("n:p/desk"), "refund");
        let second = function("b", Some("n:q/desk"), "refund");
        let taken = function("c", None, &long_name(&second.name));
        let error = ToolNames::new([first, second, taken].map(Arc::new)).unwrap_err();
        let name = error.name.clone();
        assert_eq!(
            error.to_string(),
            format!(
                "the tool name `{name}` would mean both `n:q/desk.refund (b)` and \
                 `c.{name} (c)`; rename one of the functions"
            )
        );
    }

    #[test]
    fn a_function_given_twice_is_one_tool_and_unknown_names_have_neighbours() {
        let f = |name| Arc::new(function("a", None, name));
        let names = ToolNames::new([f("refund"), f("refund"), f("escalate")]).unwrap();
        assert_eq!((names.len(), names.is_empty()), (2, false));
        for (asked, found, nearest) in [
            ("refund", true, vec!["refund"]),
            ("refunds", false, vec!["refund"]),
            ("scalate", false, vec!["escalate"]),
            ("", false, vec![]),
            ("zzz", false, vec![]),
        ] {
            let got = (names.function(asked).is_some(), names.nearest(asked));
            assert_eq!(got, (found, nearest), "{asked}");
        }
        assert!(names.nearest(&"refund".repeat(100_000)).is_empty());
    }

    #[test]
    fn a_description_is_the_first_paragraph_on_one_line() {
        let mut f = function("a", None, "f");
        f.description = "Does it\nwell.\n\nThe rest is for people.".to_owned();
        assert_eq!(ToolSpec::of(&f, "f").description, "Does it well.");
    }
}
