//! Writes the export `metadata`: what the author said that a signature cannot hold.
//!
//! The facts are a constant table; one loop turns it into the generated types.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Attribute, Function, Model, NamedType, ParameterKind};

/// The implementation of the generated trait for `Component`.
pub(crate) fn implementation(model: &Model) -> TokenStream {
    let interface = &model.interface;
    let functions = model.functions.iter().map(function);
    let types = model.types.iter().filter_map(named_type);
    quote! {
        use bindings::exports::openprogram::agentic::metadata;

        type Pair = (&'static str, &'static str);
        type Parameter = (&'static str, &'static [Pair]);
        type Function = (&'static str, &'static str, &'static [Parameter], &'static [Pair]);
        type NamedType = (&'static str, &'static str, &'static [Pair]);

        const FUNCTIONS: &[Function] = &[#(#functions),*];
        const TYPES: &[NamedType] = &[#(#types),*];

        fn attributes(pairs: &[Pair]) -> ::std::vec::Vec<metadata::Attribute> {
            let attribute = |&(key, value): &Pair| metadata::Attribute {
                key: ::std::string::String::from(key),
                value: ::std::string::String::from(value),
            };
            pairs.iter().map(attribute).collect()
        }

        impl metadata::Guest for Component {
            fn describe() -> metadata::ComponentMetadata {
                ::openprogram_guest::__private::link_contract();
                let parameter = |&(name, pairs): &Parameter| metadata::Parameter {
                    name: ::std::string::String::from(name),
                    attributes: attributes(pairs),
                };
                let function = |&(name, description, parameters, pairs): &Function| metadata::Function {
                    interface: ::std::string::String::from(#interface),
                    name: ::std::string::String::from(name),
                    description: ::std::string::String::from(description),
                    parameters: parameters.iter().map(parameter).collect(),
                    attributes: attributes(pairs),
                };
                let member = |&(name, description): &Pair| metadata::Member {
                    name: ::std::string::String::from(name),
                    description: ::std::string::String::from(description),
                };
                let named_type = |&(name, description, members): &NamedType| metadata::NamedType {
                    interface: ::std::string::String::from(#interface),
                    name: ::std::string::String::from(name),
                    description: ::std::string::String::from(description),
                    members: members.iter().map(member).collect(),
                };
                metadata::ComponentMetadata {
                    functions: FUNCTIONS.iter().map(function).collect(),
                    types: TYPES.iter().map(named_type).collect(),
                }
            }
        }
    }
}

fn function(function: &Function) -> TokenStream {
    let (name, docs) = (&function.name, &function.docs);
    let attributes = pairs(&function.attributes);
    let parameters = function.parameters.iter().filter_map(|parameter| {
        let name = &parameter.name;
        let attributes = pairs(&parameter.attributes);
        // Nobody fills a runtime but the host, so there is nothing to tell about it.
        let told = !matches!(parameter.kind, ParameterKind::Runtime { .. });
        told.then(|| quote!((#name, #attributes)))
    });
    quote!((#name, #docs, &[#(#parameters),*], #attributes))
}

/// A type with something said about it.
fn named_type(named: &NamedType) -> Option<TokenStream> {
    let (name, docs) = (&named.name, &named.docs);
    let members = named
        .shape
        .members()
        .iter()
        .filter(|member| !member.docs.is_empty());
    let members: Vec<TokenStream> = members
        .map(|member| (&member.name, &member.docs))
        .map(|(n, d)| quote!((#n, #d)))
        .collect();
    let told = !docs.is_empty() || !members.is_empty();
    told.then(|| quote!((#name, #docs, &[#(#members),*])))
}

fn pairs(attributes: &[Attribute]) -> TokenStream {
    let pairs = attributes
        .iter()
        .map(|Attribute { key, value }| quote!((#key, #value)));
    quote!(&[#(#pairs),*])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::read;

    #[test]
    fn docs_and_settings_are_told_in_the_order_of_the_module() {
        let source = "mod tools {
            /// First line.
            /// Second line.
            ///
            ///     indented
            ///
            #[function(expose = \"llm\", render_range(subcalls = 2), requires_approval = {\"when\": {\"any\": [{\"argument\": \"times\", \"above\": 2}, {export: \"runs_late\"}]}, \"reason\": \"It pays.\"}, available_if = {\"model\": [\"a\", \"b:c\"]}, name = \"run-it\", description = \"Runs.\", category = \"x\", toolset = \"a\", unsafe_in = [\"b\", \"c\"], defer = \"go\", cache, cache_ttl = 1.5, timeout = 30, idempotent, destructive = false, open_world, system = \"Be \\\"brief\\\".\")]
            pub fn run(
                /// What to say.
                #[param(placeholder = \"hello\", multiline = false)]
                text: String,
                #[doc = \" One\\n two\"] #[param(hidden)] #[param(default = 3)] times: u8,
                runtime: &Runtime,
                plain: Size,
            ) {}
            pub fn runs_late() -> bool { true }
            /// A size.
            struct Size {
                /// How wide.
                wide: u8,
                high: u8,
                kind: Kind,
            }
            enum Kind { Quiet, Silent }
        }";
        let (module, model, errors) = read::from_source(source);
        assert_eq!(errors.messages(), [""; 0]);
        let lines: Vec<String> = (model.functions.iter().map(function))
            .chain(model.types.iter().filter_map(named_type))
            .map(|tokens| tokens.to_string().replace("& [", "&["))
            .collect();
        expect![[r#"
            ("run" , "First line.\nSecond line.\n\n    indented" , &[("text" , &[("description" , "\"What to say.\"") , ("placeholder" , "\"hello\"") , ("multiline" , "false")]) , ("times" , &[("description" , "\"One\\ntwo\"") , ("hidden" , "true") , ("default" , "3")]) , ("plain" , &[])] , &[("expose" , "\"llm\"") , ("render_range" , "{\"callers\":null,\"subcalls\":2}") , ("requires_approval" , "{\"when\":{\"any\":[{\"argument\":\"times\",\"above\":2},{\"export\":\"runs-late\"}]},\"reason\":\"It pays.\"}") , ("available_if" , "{\"model\":[\"a\",\"b:c\"]}") , ("name" , "\"run-it\"") , ("description" , "\"Runs.\"") , ("category" , "\"x\"") , ("toolset" , "[\"a\"]") , ("unsafe_in" , "[\"b\",\"c\"]") , ("defer" , "\"go\"") , ("cache" , "true") , ("cache_ttl" , "1.5") , ("timeout" , "30") , ("idempotent" , "true") , ("destructive" , "false") , ("open_world" , "true") , ("system" , "\"Be \\\"brief\\\".\"")])
            ("runs-late" , "" , &[] , &[])
            ("size" , "A size." , &[("wide" , "How wide.")])"#]].assert_eq(&lines.join("\n"));
        // What is left for the compiler is plain Rust.
        let left = quote!(#module).to_string();
        assert!(
            !left.contains("param") && !left.contains("function ("),
            "{left}"
        );
    }
}
