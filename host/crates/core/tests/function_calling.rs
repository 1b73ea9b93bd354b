//! Public function definitions and their right calls, through menus and replies and back.
//!
//! The data (the Berkeley function-calling data of the package `bfcl-eval`) is not part of the
//! repository. `OPENPROGRAM_BFCL` names the folder that `.ci/long` fetched it into; without it the
//! test says so and does nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test over data that is handed over as a folder"
)]

use std::collections::BTreeMap;
use std::path::Path;

use openprogram_core::decision::{Menu, MenuOption, PickErrorKind, parse_option_file, parse_reply};
use openprogram_core::schema::CheckMode;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

/// Fewer definitions or calls than this mean that the data was not read.
const DEFINITIONS_MIN: usize = 2_000;

/// Definitions that cannot be an option with fields, and why.
const NO_OPTION: [(&str, &str); 1] = [(
    "live_irrelevance_773-282-0",
    "a parameter is called `decision`, which is where the result tells the picked option",
)];

#[derive(Default)]
struct Counts {
    definitions: usize,
    menus: usize,
    calls: usize,
    /// Calls that their own definition does not allow.
    not_allowed: usize,
    replies: usize,
    failures: Vec<String>,
}

#[test]
fn public_function_calls_come_back_from_every_shape_of_reply() {
    let Some(folder) = std::env::var_os("OPENPROGRAM_BFCL") else {
        println!("OPENPROGRAM_BFCL names no folder; nothing was tested");
        return;
    };
    let folder = Path::new(&folder);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of the data")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .filter(|name| name.starts_with("BFCL_v4_"))
        .collect();
    files.sort();
    let mut all = Counts::default();
    for name in files {
        let mut counts = Counts::default();
        let answers = answers(&folder.join("possible_answer").join(&name));
        for case in lines(&folder.join(&name)) {
            check_case(&case, &answers, &mut counts);
        }
        println!(
            "{name}: {} definitions in {} menus, {} calls, {} more not as declared, {} replies, \
             {} failures",
            counts.definitions,
            counts.menus,
            counts.calls,
            counts.not_allowed,
            counts.replies,
            counts.failures.len()
        );
        all.failures.extend(counts.failures);
        all.not_allowed += counts.not_allowed;
        all.definitions += counts.definitions;
        all.menus += counts.menus;
        all.calls += counts.calls;
        all.replies += counts.replies;
    }
    println!(
        "all: {} definitions, {} menus, {} calls, {} more not as declared, {} replies",
        all.definitions, all.menus, all.calls, all.not_allowed, all.replies
    );
    for failure in &all.failures {
        println!("{failure}");
    }
    assert!(all.definitions >= DEFINITIONS_MIN && all.calls >= DEFINITIONS_MIN);
    assert!(all.failures.is_empty(), "{} failures", all.failures.len());
}

/// The objects of a file, one a line; a line that is none is passed over.
fn lines(path: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn answers(path: &Path) -> BTreeMap<String, Vec<Json>> {
    let answer = |case: Json| {
        let calls = case["ground_truth"].as_array()?.clone();
        Some((case["id"].as_str()?.to_owned(), calls))
    };
    lines(path).into_iter().filter_map(answer).collect()
}

fn check_case(case: &Json, answers: &BTreeMap<String, Vec<Json>>, counts: &mut Counts) {
    let id = case["id"].as_str().unwrap_or_default();
    let definitions = case["function"].as_array().map_or(&[][..], Vec::as_slice);
    if definitions.is_empty() {
        return;
    }
    counts.definitions += definitions.len();
    let menu = match menu(definitions) {
        Ok(menu) => menu,
        Err(_) if NO_OPTION.iter().any(|row| row.0 == id) => return,
        Err(error) => return counts.failures.push(format!("{id}: no menu: {error}")),
    };
    counts.menus += 1;
    let shown = menu.text().matches("    Call: {\"call\": ").count();
    if shown != menu.options().len() {
        counts
            .failures
            .push(format!("{id}: {shown} options are shown"));
    }
    for call in answers.get(id).map_or(&[][..], Vec::as_slice) {
        let Some((name, values)) = call.as_object().and_then(|call| call.iter().next()) else {
            continue;
        };
        let Some(definition) = definitions.iter().find(|d| d["name"] == **name) else {
            continue;
        };
        let arguments = first_of_each(values, &definition["parameters"]);
        let expected = as_declared(&definition["parameters"], &arguments);
        let is_allowed = fits(&definition["parameters"], &arguments);
        if is_allowed {
            counts.calls += 1;
        } else {
            counts.not_allowed += 1;
        }
        for (shape, reply) in replies(&menu, name, &arguments) {
            counts.replies += 1;
            let read = parse_reply(&menu, &reply, CheckMode::Strict)
                .map(|pick| (pick.name, Json::Object(pick.arguments)));
            let is_right = match &read {
                Ok(read) => is_allowed && *read == (name.clone(), expected.clone()),
                Err(error) => !is_allowed && CHECKED.contains(&error.kind),
            };
            if !is_right {
                let problem = format!("{id} {shape}: {name} {arguments} came back as {read:?}");
                counts.failures.push(problem);
            }
        }
    }
}

/// How a call fails that its definition does not allow.
const CHECKED: [PickErrorKind; 3] = [
    PickErrorKind::MissingRequired,
    PickErrorKind::TypeMismatch,
    PickErrorKind::EnumViolation,
];

/// Whether a value is what the data declares, told without the code under test.
fn fits(schema: &Json, value: &Json) -> bool {
    let of_type = match schema["type"].as_str().unwrap_or_default() {
        "string" | "String" => value.is_string(),
        "integer" | "long" => value.is_i64(),
        "float" | "double" | "number" => value.is_number(),
        "boolean" | "Boolean" => value.is_boolean(),
        "array" | "tuple" => value.is_array(),
        "dict" => value.is_object(),
        _ => true,
    };
    let allowed = schema.get("enum").and_then(Json::as_array);
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    let is_allowed = allowed.is_none_or(|allowed| match value {
        Json::Array(_) => items.iter().all(|item| allowed.contains(item)),
        value => allowed.contains(value),
    });
    let properties = schema["properties"].as_object();
    let members_fit = properties.into_iter().flatten().all(|(name, property)| {
        let required = schema["required"].as_array();
        let required = required.is_some_and(|required| required.contains(&json!(name)));
        match value
            .get(name)
            .filter(|member| required || !member.is_null())
        {
            Some(member) => fits(property, member),
            None => !required,
        }
    });
    let item_schema = schema.get("items");
    let items_fit = item_schema.is_none_or(|schema| items.iter().all(|item| fits(schema, item)));
    // Allowed values of another type than the declared one are what counts.
    (of_type || allowed.is_some_and(|allowed| allowed.contains(value)))
        && is_allowed
        && (!value.is_object() || members_fit)
        && items_fit
}

/// The menu of some definitions; of two with one name the first counts.
fn menu(definitions: &[Json]) -> Result<Menu, String> {
    let mut names = Vec::new();
    let mut entries = Vec::new();
    for definition in definitions {
        let name = definition["name"].as_str().unwrap_or_default();
        if names.contains(&name) {
            continue;
        }
        names.push(name);
        let description = definition["description"].as_str().unwrap_or_default();
        entries.push(json!({"key": name, "handler": {
            "kind": "schema", "desc": description, "schema": fields(&definition["parameters"]),
        }}));
    }
    let file = json!({"form": "dict", "entries": entries});
    let options = parse_option_file(&file).map_err(|error| error.to_string())?;
    let look_up = |name: &str| Err(format!("no function `{name}`"));
    let options: Result<Vec<MenuOption>, String> = options
        .into_iter()
        .map(|option| option.resolve(look_up))
        .collect();
    Menu::new(options?).map_err(|error| error.to_string())
}

/// An object schema of the data as fields of an option.
fn fields(schema: &Json) -> Json {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let mut fields = JsonObject::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let mut field = field(property);
        if !required.contains(&json!(name)) {
            field = json!({"$t": "option", "of": field});
        }
        fields.insert(name.clone(), field);
    }
    Json::Object(fields)
}

fn field(property: &Json) -> Json {
    let mut field = match property["type"].as_str().unwrap_or_default() {
        "string" | "String" => json!({"type": "str"}),
        "integer" | "long" => json!({"type": "int"}),
        "float" | "double" | "number" => json!({"type": "float"}),
        "boolean" | "Boolean" => json!({"type": "bool"}),
        "array" | "tuple" if property.get("items").is_some() => {
            json!({"items": field_of_items(property)})
        }
        "array" | "tuple" => json!({"type": "list"}),
        "dict"
            if property["properties"]
                .as_object()
                .is_some_and(|p| !p.is_empty()) =>
        {
            json!({"fields": fields(property)})
        }
        "dict" => json!({"type": "dict"}),
        // What is written in another language is kept as it is.
        _ => json!({"type": "json"}),
    };
    if let Some(Json::Array(values)) = property.get("enum")
        && property.get("items").is_none()
    {
        // Some allow values of another type than they declare.
        if !values.iter().all(|value| is_of(&field["type"], value)) {
            field = json!({"type": "json"});
        }
        field["options"] = values.clone().into();
    }
    if let Some(description) = property.get("description") {
        field["description"] = description.clone();
    }
    field
}

fn is_of(name: &Json, value: &Json) -> bool {
    match name.as_str().unwrap_or_default() {
        "str" => value.is_string(),
        "int" => value.is_i64(),
        "float" => value.is_number(),
        "bool" => value.is_boolean(),
        _ => true,
    }
}

/// Allowed values of an array are those of its items.
fn field_of_items(property: &Json) -> Json {
    let mut items = property["items"].clone();
    if let (Some(values), Some(items)) = (property.get("enum"), items.as_object_mut()) {
        items.insert("enum".to_owned(), values.clone());
    }
    field(&items)
}

/// The data lists several right values for each argument; an empty text means that it may be left
/// out. The first real value is taken, inside objects as well.
fn first_of_each(values: &Json, schema: &Json) -> Json {
    let mut arguments = JsonObject::new();
    for (name, allowed) in values.as_object().into_iter().flatten() {
        let property = &schema["properties"][name];
        let Json::Array(allowed) = allowed else {
            arguments.insert(name.clone(), allowed.clone());
            continue;
        };
        let required = schema["required"].as_array();
        let required = required.is_some_and(|required| required.contains(&json!(name)));
        match allowed.iter().find(|value| *value != "") {
            Some(value) => arguments.insert(name.clone(), plain(value, property)),
            None if required => arguments.insert(name.clone(), json!("")),
            None => None,
        };
    }
    Json::Object(arguments)
}

/// Objects list the right values of each of their members, also inside arrays.
fn plain(value: &Json, schema: &Json) -> Json {
    match value {
        Json::Object(members) if members.values().all(Json::is_array) => {
            first_of_each(value, schema)
        }
        Json::Array(items) => items
            .iter()
            .map(|item| plain(item, &schema["items"]))
            .collect(),
        other => other.clone(),
    }
}

/// What comes back: null for what may be absent counts as absent, and what the definition does not
/// declare is dropped.
fn as_declared(schema: &Json, value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let properties = schema["properties"].as_object().filter(|p| !p.is_empty());
            let members = members.iter().filter(|(name, value)| {
                properties
                    .is_none_or(|properties| properties.contains_key(*name) && !value.is_null())
            });
            let members = members.map(|(name, value)| {
                let property = &schema["properties"][name];
                (name.clone(), as_declared(property, value))
            });
            Json::Object(members.collect())
        }
        Json::Array(items) => {
            let items = items.iter().map(|item| as_declared(&schema["items"], item));
            items.collect()
        }
        other => other.clone(),
    }
}

/// How many shapes of reply each call is written in.
const SHAPES: usize = 6;

fn replies(menu: &Menu, name: &str, arguments: &Json) -> [(&'static str, String); SHAPES] {
    let plain = json!({"call": name, "args": arguments});
    let with_extra = {
        let mut arguments = arguments.clone();
        arguments["zz_not_a_parameter"] = json!({"call": "nothing"});
        json!({"call": name, "args": arguments, "reason": "it fits"})
    };
    let alias = json!({"reason": "it fits", "function": name, "arguments": arguments});
    let example = menu
        .text()
        .lines()
        .find_map(|line| line.trim().strip_prefix("Call: "));
    [
        ("plain", plain.to_string()),
        ("fenced", format!("Sure:\n\n```json\n{plain:#}\n```\n")),
        (
            "in prose",
            format!("I don't need {{more}} than one call, so it's {plain} and that's all."),
        ),
        ("alias key", alias.to_string()),
        ("extra field", with_extra.to_string()),
        (
            "after an example",
            format!(
                "The menu wants something like `{}`. Mine is:\n{plain}",
                example.unwrap_or_default()
            ),
        ),
    ]
}
