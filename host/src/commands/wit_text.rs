//! Functions as WIT, as far as a model sees them: visible parameters, with the words that are said of
//! them. It is well formed, and a component with these types has the same schemas.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use openprogram_core::Json;
use openprogram_core::function::{Function, FunctionRef, Parameter};
use openprogram_core::schema::{CasesType, HandlePassing, HandleType, IntegerKind, Type};

use crate::source::WIT_KEYWORDS;

/// The functions as WIT, one package after the other; functions that belong to no package stand in
/// the world `root`.
pub(super) fn wit_text(functions: &[FunctionRef]) -> String {
    let mut interfaces: BTreeMap<Option<&str>, Vec<&Function>> = BTreeMap::new();
    for function in functions {
        let interface = function.name.interface.as_deref();
        interfaces.entry(interface).or_default().push(function);
    }
    let mut text = String::new();
    let mut root = String::new();
    for (interface, functions) in interfaces {
        let packaged = interface.and_then(|name| name.split_once('/'));
        let Some((package, name)) = packaged else {
            let block = Block::of(&functions, interface.is_none());
            match interface {
                None => root.push_str(&block.indented(1)),
                Some(name) => {
                    let _ = writeln!(
                        root,
                        "    export {}: interface {{\n{}    }}",
                        word(name),
                        block.indented(2)
                    );
                }
            }
            continue;
        };
        let (name, version) = match name.split_once('@') {
            Some((name, version)) => (name, format!("@{version}")),
            None => (name, String::new()),
        };
        // Writing to a string cannot fail; the same holds below.
        let _ = writeln!(
            text,
            "package {package}{version} {{\n    interface {} {{\n{}    }}\n}}",
            word(name),
            Block::of(&functions, false).indented(2)
        );
    }
    if !root.is_empty() {
        let _ = writeln!(text, "package root:component {{\n    world root {{");
        for line in root.lines() {
            let _ = writeln!(text, "    {line}");
        }
        text.push_str("    }\n}\n");
    }
    text
}

/// A name of WIT.
fn word(shown: &str) -> String {
    let name = shown.replace('_', "-");
    match WIT_KEYWORDS.contains(&name.as_str()) {
        true => format!("%{name}"),
        false => name,
    }
}

/// The inside of one interface.
#[derive(Default)]
struct Block {
    types: String,
    functions: String,
    /// The declarations by their names.
    declared: BTreeMap<String, String>,
    uses_json: bool,
}

impl Block {
    fn of(functions: &[&Function], in_world: bool) -> Self {
        let mut block = Self::default();
        for function in functions {
            block.function(function, in_world);
        }
        block
    }

    /// The lines, so many levels to the right.
    fn indented(&self, levels: usize) -> String {
        let mut text = String::new();
        let json = "use openprogram:agentic/types@0.1.0.{json};\n";
        let json = if self.uses_json { json } else { "" };
        let parts = [json, &self.types, &self.functions];
        for line in parts.iter().flat_map(|part| part.lines()) {
            let _ = writeln!(text, "{}{line}", "    ".repeat(levels));
        }
        text
    }

    fn function(&mut self, function: &Function, in_world: bool) {
        let mut docs = function.summary();
        for parameter in function.visible_parameters() {
            if let Some(line) = said_of(parameter) {
                let _ = write!(docs, "\n- {}: {line}", parameter.field.name);
            }
        }
        let parameters = function.visible_parameters().map(|parameter| {
            let ty = self.ty(&parameter.field.ty);
            format!("{}: {ty}", word(&parameter.field.name))
        });
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let result = match (&function.returns, &function.fails_with) {
            (None, None) => String::new(),
            (Some(ty), None) => format!(" -> {}", self.ty(ty)),
            (ok, Some(err)) => {
                let ok = ok.as_ref().map_or_else(|| "_".to_owned(), |ty| self.ty(ty));
                format!(" -> result<{ok}, {}>", self.ty(err))
            }
        };
        let export = if in_world { "export " } else { "" };
        push_docs(&mut self.functions, "", &docs);
        let name = word(&function.name.function);
        let _ = writeln!(
            self.functions,
            "{export}{name}: func({parameters}){result};"
        );
    }

    fn ty(&mut self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Integer(IntegerKind::Any) => "s64".to_owned(),
            Type::Integer(kind) => format!("{kind:?}").to_lowercase(),
            Type::Float32 => "f32".to_owned(),
            Type::Float64 => "f64".to_owned(),
            Type::Char => "char".to_owned(),
            Type::String => "string".to_owned(),
            Type::Bytes => "list<u8>".to_owned(),
            // Components have no other open types.
            Type::Json | Type::AnyArray | Type::AnyObject => {
                self.uses_json = true;
                "json".to_owned()
            }
            Type::List(item) => format!("list<{}>", self.ty(item)),
            Type::FixedList(item, length) => format!("list<{}, {length}>", self.ty(item)),
            Type::Map(key, value) => format!("map<{}, {}>", self.ty(key), self.ty(value)),
            Type::Option(inner) => format!("option<{}>", self.ty(inner)),
            Type::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|item| self.ty(item)).collect();
                format!("tuple<{}>", items.join(", "))
            }
            Type::Result(ok, err) => {
                let ok = ok.as_ref().map(|ty| self.ty(ty));
                match (ok, err) {
                    (None, None) => "result".to_owned(),
                    (Some(ok), None) => format!("result<{ok}>"),
                    (ok, Some(err)) => {
                        format!("result<{}, {}>", ok.as_deref().unwrap_or("_"), self.ty(err))
                    }
                }
            }
            Type::Record(record) => {
                let mut body = String::new();
                for field in &record.fields {
                    push_docs(
                        &mut body,
                        "    ",
                        field.description.as_deref().unwrap_or_default(),
                    );
                    let ty = self.ty(&field.ty);
                    let _ = writeln!(body, "    {}: {ty},", word(&field.name));
                }
                let docs = record.description.as_deref();
                self.declare("record", record.name.as_deref(), docs, &body)
            }
            Type::Enum(cases) => self.cases("enum", cases),
            Type::Flags(cases) => self.cases("flags", cases),
            Type::Variant(cases) => self.cases("variant", cases),
            Type::Handle(handle) => {
                let name = self.resource(handle);
                match handle.passing {
                    HandlePassing::Lent => format!("borrow<{name}>"),
                    HandlePassing::GivenAway | HandlePassing::Given => format!("own<{name}>"),
                }
            }
        }
    }

    fn cases(&mut self, kind: &str, cases: &CasesType) -> String {
        let mut body = String::new();
        for case in &cases.cases {
            push_docs(
                &mut body,
                "    ",
                case.description.as_deref().unwrap_or_default(),
            );
            let payload = case.payload.as_ref().map(|ty| format!("({})", self.ty(ty)));
            let payload = payload.unwrap_or_default();
            let _ = writeln!(body, "    {}{payload},", word(&case.name));
        }
        let docs = cases.description.as_deref();
        self.declare(kind, cases.name.as_deref(), docs, &body)
    }

    /// Declares a type once. Another one of the same name, which comes from another interface, gets a
    /// name with a number.
    fn declare(
        &mut self,
        kind: &str,
        name: Option<&str>,
        docs: Option<&str>,
        body: &str,
    ) -> String {
        let (name, is_new) = self.free_name(name.unwrap_or("value"), body);
        if is_new {
            push_docs(&mut self.types, "", docs.unwrap_or_default());
            let _ = writeln!(self.types, "{kind} {name} {{\n{body}}}");
        }
        name
    }

    /// Declares a resource once, without what belongs to it: those are functions.
    fn resource(&mut self, handle: &HandleType) -> String {
        let (name, is_new) = self.free_name(&handle.resource, &handle.interface);
        if is_new {
            let _ = writeln!(self.types, "resource {name};");
        }
        name
    }

    /// The name under which something with this body is declared, and whether it was not yet.
    fn free_name(&mut self, wanted: &str, body: &str) -> (String, bool) {
        let own = word(wanted);
        let mut name = own.clone();
        let mut others = 1;
        loop {
            match self.declared.get(&name) {
                Some(known) if known == body => return (name, false),
                Some(_) => others += 1,
                None => break,
            }
            name = format!("{}-v{others}", own.trim_start_matches('%'));
        }
        self.declared.insert(name.clone(), body.to_owned());
        (name, true)
    }
}

fn push_docs(text: &mut String, indent: &str, docs: &str) {
    for line in docs.lines() {
        let _ = writeln!(text, "{}", format!("{indent}/// {line}").trim_end());
    }
}

/// What is said of a parameter beside its type.
fn said_of(parameter: &Parameter) -> Option<String> {
    let mut facts = Vec::new();
    let description = parameter.field.description.iter();
    let placeholder = parameter.placeholder.as_ref();
    let mut description = description.filter(|text| !text.is_empty());
    match description.next() {
        Some(text) => facts.push(text.lines().collect::<Vec<_>>().join(" ")),
        None => facts.extend(placeholder.map(|text| format!("e.g. {text}"))),
    }
    if !parameter.field.options.is_empty() {
        let options = Json::from(parameter.field.options.clone());
        facts.push(format!("one of {options}"));
    }
    facts.extend(
        parameter
            .default
            .iter()
            .map(|value| format!("default {value}")),
    );
    // A description is a sentence, and its full stop gives way to what follows.
    if facts.len() > 1 {
        let length = facts[0].strip_suffix('.').map_or(facts[0].len(), str::len);
        facts[0].truncate(length);
    }
    (!facts.is_empty()).then(|| facts.join("; "))
}
