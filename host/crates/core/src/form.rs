//! The form in which a person fills the parameters of a function, as data: one row for each visible
//! parameter, and what was typed into the rows as arguments.
//!
//! A page or a terminal draws the rows; nothing else decides what they are. Arguments from here are
//! checked like any others.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::decision::signature_type;
use crate::function::{Function, Offer, Parameter};
use crate::schema::Type;
use crate::{Json, JsonObject};

/// The source of allowed values that is known here: the functions that are installed.
pub const FUNCTIONS_SOURCE: &str = "functions";

/// The categories whose functions are for this program and not for a choice among functions.
const OWN_CATEGORIES: [&str; 2] = ["meta", "builtin"];
/// What stands in the free field beside preset values when nothing better is known.
const FREE_TEXT: &str = "...";

/// How a parameter is filled.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Two buttons, yes and no.
    YesNo,
    /// A list to choose from that is known when the form is shown, beginning with an empty entry.
    Select {
        /// Where the entries come from, for example [`FUNCTIONS_SOURCE`].
        source: String,
    },
    /// Values to click on.
    Chips {
        /// The values.
        options: Vec<Json>,
        /// Whether something else may be typed.
        free_text: bool,
    },
    /// A field of several lines.
    Textarea,
    /// A field of one line.
    Input,
}

impl Control {
    /// The word for it: `yes_no_buttons`, `select`, `chips_plus_text`, `chips`, `textarea`, `input`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::YesNo => "yes_no_buttons",
            Self::Select { .. } => "select",
            Self::Chips { free_text, .. } => match free_text {
                true => "chips_plus_text",
                false => "chips",
            },
            Self::Textarea => "textarea",
            Self::Input => "input",
        }
    }
}

/// One row of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormRow {
    /// The name of the parameter.
    pub name: String,
    /// Its type in a short word, `option` left out.
    pub type_name: &'static str,
    /// How it is filled.
    pub control: Control,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it may be left empty.
    pub optional: bool,
    /// The ghost text of an empty field; `None` where the control has none.
    pub placeholder: Option<String>,
    /// What is chosen or typed at the start: `true` or `false` for the buttons, one of the values
    /// for chips, else nothing.
    pub initial: Option<Json>,
    /// The value when it is left empty; a key may put it into the empty field.
    pub default: Option<Json>,
}

impl FormRow {
    /// The label: name, type, whether it is optional, and the description.
    #[must_use]
    pub fn label(&self) -> String {
        let optional = if self.optional { ", optional" } else { "" };
        let mut label = format!("{} ({}{optional})", self.name, self.type_name);
        if let Some(description) = &self.description {
            label.push_str(&format!(" – {description}"));
        }
        label
    }

    /// The row as one object: `name`, `type`, `control`, `label`, `description`, `optional`,
    /// `placeholder`, `initial`, `default`, and `options`, `free_text` or `source` by the control.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut row = JsonObject::new();
        let mut put = |key: &str, value: Json| {
            row.insert(key.to_owned(), value);
        };
        put("name", self.name.clone().into());
        put("type", self.type_name.into());
        put("control", self.control.as_str().into());
        match &self.control {
            Control::Select { source } => put("source", source.clone().into()),
            Control::Chips { options, free_text } => {
                put("options", options.clone().into());
                put("free_text", (*free_text).into());
            }
            _ => {}
        }
        put("label", self.label().into());
        put("description", self.description.clone().into());
        put("optional", self.optional.into());
        put("placeholder", self.placeholder.clone().into());
        put("initial", self.initial.clone().unwrap_or_default());
        put("default", self.default.clone().unwrap_or_default());
        Json::Object(row)
    }
}

/// The rows of the visible parameters, in their order.
#[must_use]
pub fn form_rows(function: &Function) -> Vec<FormRow> {
    function.visible_parameters().map(row).collect()
}

/// The functions that a parameter is chosen from whose source is [`FUNCTIONS_SOURCE`]: those that
/// are offered, without those for this program itself, by their full names.
pub fn choosable_functions(catalog: &Catalog) -> impl Iterator<Item = String> {
    let is_own = |function: &Function| {
        let category = function.category.as_deref();
        category.is_some_and(|category| OWN_CATEGORIES.contains(&category))
    };
    let offered = catalog.iter().filter(|f| f.offer == Offer::Offered);
    offered
        .filter(move |function| !is_own(function))
        .map(|function| function.name.to_string())
}

fn row(parameter: &Parameter) -> FormRow {
    let ty = required(&parameter.field.ty);
    let control = control(parameter, ty);
    let default = parameter.default.clone();
    let initial = match (&control, &default) {
        (Control::YesNo, default) => Some((*default == Some(Json::Bool(true))).into()),
        (Control::Chips { options, .. }, Some(default)) if options.contains(default) => {
            Some(default.clone())
        }
        _ => None,
    };
    FormRow {
        name: parameter.field.name.clone(),
        type_name: signature_type(ty),
        description: parameter
            .field
            .description
            .clone()
            .filter(|d| !d.is_empty()),
        optional: !parameter.is_required(),
        placeholder: placeholder(parameter, &control),
        control,
        initial,
        default,
    }
}

fn required(ty: &Type) -> &Type {
    match ty {
        Type::Option(inner) => required(inner),
        ty => ty,
    }
}

/// The kind of control, in this order: yes and no, a list, chips, as declared, by the type.
fn control(parameter: &Parameter, ty: &Type) -> Control {
    if *ty == Type::Bool {
        return Control::YesNo;
    }
    if let Some(source) = &parameter.options_from {
        let source = source.clone();
        return Control::Select { source };
    }
    if !parameter.field.options.is_empty() {
        return Control::Chips {
            options: parameter.field.options.clone(),
            free_text: true,
        };
    }
    if let Type::Enum(cases) = ty {
        // No other value is one of the type.
        let names = cases.cases.iter().map(|case| case.name.as_str().into());
        return Control::Chips {
            options: names.collect(),
            free_text: false,
        };
    }
    match parameter.multiline {
        Some(true) => Control::Textarea,
        None if *ty == Type::String => Control::Textarea,
        _ => Control::Input,
    }
}

fn placeholder(parameter: &Parameter, control: &Control) -> Option<String> {
    if matches!(control, Control::YesNo | Control::Select { .. }) {
        return None;
    }
    let declared = parameter
        .placeholder
        .clone()
        .filter(|text| !text.is_empty());
    let default = || match &parameter.default {
        None | Some(Json::Null) => None,
        Some(Json::String(text)) if text.is_empty() || text.starts_with('_') => None,
        Some(Json::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let free = match control {
        Control::Chips {
            free_text: true, ..
        } => FREE_TEXT,
        _ => "",
    };
    Some(declared.or_else(default).unwrap_or_else(|| free.to_owned()))
}

/// A parameter without a value that needs one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` needs a value")]
pub struct EmptyField(
    /// The name of the parameter.
    pub String,
);

/// What was typed or chosen as arguments, not yet checked: trimmed, empty optional ones left out.
///
/// Numbers and values of other types are read as JSON, and what is none stays a text, so that the
/// check names it.
///
/// # Errors
/// For the first row that is empty and must not be.
pub fn read_form(
    function: &Function,
    typed: &BTreeMap<String, String>,
) -> Result<JsonObject, EmptyField> {
    let mut arguments = JsonObject::new();
    for parameter in function.visible_parameters() {
        let name = &parameter.field.name;
        let text = typed.get(name).map_or("", |text| text.trim());
        let ty = required(&parameter.field.ty);
        let value = match (text, ty) {
            ("", _) if !parameter.is_required() => continue,
            // Whoever presses neither button says no.
            ("", Type::Bool) => Json::Bool(false),
            ("", _) => return Err(EmptyField(name.clone())),
            (text, Type::Bool) => match text.to_ascii_lowercase().as_str() {
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                _ => text.into(),
            },
            (text, Type::String | Type::Char | Type::Bytes | Type::Enum(_) | Type::Handle(_)) => {
                text.into()
            }
            (text, _) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        };
        arguments.insert(name.clone(), value);
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::function::{FunctionName, ParameterSource, RuntimeRole};
    use crate::schema::IntegerKind;

    /// Where a case with force of law is another here, on purpose: nowhere. What is not law and left
    /// out: types without counterpart in WIT, defaults as texts, and what the original posts of numbers
    /// that are none.
    const VECTORS: &str = include_str!("../fixtures/vectors/webui_form.json");

    /// A parameter as the original declares it. Defaults are Python's words.
    fn parameter(declared: &Json) -> Parameter {
        let ty = match declared["type"].as_str().unwrap() {
            "bool" => Type::Bool,
            "int" => Type::Integer(IntegerKind::S32),
            "float" => Type::Float64,
            _ => Type::String,
        };
        let mut parameter = Parameter::new(declared["name"].as_str().unwrap(), ty);
        parameter.default = match declared["default"].as_str() {
            None => None,
            Some("True") => Some(json!(true)),
            Some("None") => {
                parameter.field.ty = Type::Option(Box::new(parameter.field.ty));
                None
            }
            Some(word) if word.starts_with('_') => Some(word.into()),
            Some(word) => Some(serde_json::from_str(word).unwrap()),
        };
        if declared["required"] == false && parameter.is_required() {
            parameter.field.ty = Type::Option(Box::new(parameter.field.ty));
        }
        let text = |key: &str| declared[key].as_str().map(str::to_owned);
        parameter.field.description = text("description");
        parameter.placeholder = text("placeholder");
        parameter.options_from = text("options_from");
        parameter.multiline = declared["multiline"].as_bool();
        let options = declared["options"].as_array();
        parameter.field.options = options.cloned().unwrap_or_default();
        parameter
    }

    fn function(parameters: Vec<Parameter>) -> Function {
        let name = FunctionName::new("a", None, "f");
        Function {
            parameters,
            ..Function::new(name)
        }
    }

    fn check_control(case: &Json) {
        let row = form_rows(&function(vec![parameter(&case["param"])])).remove(0);
        let id = &case["id"];
        if let Some(control) = case.get("control") {
            assert_eq!(row.control.as_str(), control, "{id}");
            assert_eq!(row.label(), case["label_title"], "{id}");
            assert_eq!(
                Json::from(row.placeholder.clone()),
                case["placeholder"],
                "{id}"
            );
        }
        // What is typed or chosen later belongs to whoever draws the form.
        let Some(initial) = case.get("initial_value") else {
            return;
        };
        let initial = match initial.as_str().unwrap() {
            "" => None,
            "True" => Some(json!(true)),
            "False" => Some(json!(false)),
            text => Some(text.into()),
        };
        assert_eq!(row.initial, initial, "{id}");
    }

    fn check_submit(case: &Json) {
        let parameters = case["params"].as_array().unwrap().iter();
        let function = function(parameters.map(parameter).collect());
        let typed = case["values"].as_object().unwrap().iter();
        let typed = typed.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned()));
        let read = Json::Object(read_form(&function, &typed.collect()).unwrap());
        let posted = &case["posted"]["kwargs"];
        // A number is a number, however it is written.
        let same = read == *posted || read["x"].as_f64() == posted["x"].as_f64();
        assert!(same, "{}: {read}", case["id"]);
    }

    #[test]
    fn forms_are_as_in_the_vectors() {
        let file: Json = serde_json::from_str(VECTORS).unwrap();
        let mut n_law = 0;
        for case in file["cases"].as_array().unwrap() {
            if case["status"] != "law" {
                continue;
            }
            n_law += 1;
            match case.get("param") {
                Some(_) => check_control(case),
                None => check_submit(case),
            }
        }
        assert_eq!(n_law, 28);
    }

    #[test]
    fn hidden_and_injected_parameters_have_no_row_and_enums_have_chips() {
        let mut hidden = Parameter::new("user", Type::String);
        hidden.source = ParameterSource::Context;
        let mut runtime = Parameter::new("runtime", Type::Json);
        runtime.source = ParameterSource::Runtime(RuntimeRole::Main);
        let case = |name: &str| crate::schema::Case {
            name: name.to_owned(),
            description: None,
            payload: None,
        };
        let cases = crate::schema::CasesType {
            name: None,
            description: None,
            cases: vec![case("plain"), case("fancy")],
        };
        let mut style = Parameter::new("style", Type::Enum(cases.into()));
        style.default = Some(json!("fancy"));
        let rows = form_rows(&function(vec![hidden, runtime, style]));
        let shown: Vec<_> = rows.iter().map(|row| row.to_json().to_string()).collect();
        expect_test::expect![[r#"{"name":"style","type":"str","control":"chips","options":["plain","fancy"],"free_text":false,"label":"style (str, optional)","description":null,"optional":true,"placeholder":"fancy","initial":"fancy","default":"fancy"}"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn what_was_typed_becomes_arguments_and_the_first_empty_field_is_named() {
        let list = Type::List(Box::new(Type::Integer(IntegerKind::U8)));
        let optional = Type::Option(Box::new(Type::String));
        let function = function(vec![
            Parameter::new("text", Type::String),
            Parameter::new("numbers", list),
            Parameter::new("note", optional),
            Parameter::new("sure", Type::Bool),
        ]);
        let read = |typed: &[(&str, &str)]| {
            let typed = typed
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            let read = read_form(&function, &typed.collect());
            read.map(|arguments| Json::Object(arguments).to_string())
        };
        assert_eq!(
            read(&[
                ("text", " 42 "),
                ("numbers", "[1, 2]"),
                ("note", "  "),
                ("sure", "True")
            ]),
            Ok(r#"{"text":"42","numbers":[1,2],"sure":true}"#.to_owned())
        );
        assert_eq!(
            read(&[("text", "a"), ("numbers", "one"), ("note", "b")]),
            Ok(r#"{"text":"a","numbers":"one","note":"b","sure":false}"#.to_owned())
        );
        assert_eq!(
            read(&[("sure", "true")]),
            Err(EmptyField("text".to_owned()))
        );
        let error = read(&[("text", "a")]).unwrap_err().to_string();
        assert_eq!(error, "`numbers` needs a value");
    }

    #[test]
    fn functions_are_chosen_among_those_of_the_people_who_installed_them() {
        let categories = [
            ("plain", None),
            ("app", Some("app")),
            ("meta", Some("meta")),
        ];
        let functions = categories.map(|(name, category)| {
            let mut function = Function::new(FunctionName::new("a", None, name));
            function.category = category.map(str::to_owned);
            function
        });
        let mut refused = Function::new(FunctionName::new("a", None, "refused"));
        refused.offer = Offer::NotOfferable("it has a resource".to_owned());
        let mut catalog = Catalog::default();
        let functions = functions.into_iter().chain([refused]);
        catalog.add("a", functions.collect()).unwrap();
        let chosen: Vec<_> = choosable_functions(&catalog).collect();
        assert_eq!(chosen, ["a.plain", "a.app"]);
    }
}
