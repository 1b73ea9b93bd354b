//! The functions of a component exactly as a model reads them: tools of a request, the menu of a
//! decision, or WIT. Views of what the catalog holds, and of nothing else.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::decision::{Menu, MenuOption, Payload, render_menu};
use openprogram_core::function::{Function, FunctionRef, Offer};
use openprogram_core::tool::{ToolNames, ToolSpec};
use openprogram_providers::{Profile, Protocol, TextProtocol, tools_as_sent};
use serde_json::json;

use super::console::Console;
use super::exit::Usage;
use super::wit_text::wit_text;
use crate::app::App;
use crate::text::one_line;

/// In which form functions are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// The `tools` of a request
    Tools,
    /// The menu of a decision
    Menu,
    /// Types and words as WIT
    Wit,
}

/// Whose tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Dialect {
    /// OpenAI Chat Completions
    Openai,
    /// Anthropic Messages
    Anthropic,
    /// The list of tools of an MCP server
    Mcp,
}

/// What a person wants to see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) form: Form,
    pub(super) dialect: Option<Dialect>,
    pub(super) model: Option<&'a str>,
    pub(super) json: bool,
}

/// Prints the offered functions among these.
pub(super) fn print_offered(
    functions: &[Function],
    wanted: Wanted<'_>,
    app: &App,
    console: &mut Console,
) -> anyhow::Result<()> {
    if wanted.form != Form::Tools && (wanted.dialect.is_some() || wanted.model.is_some()) {
        let message = "`--dialect` and `--model` choose the form of `--as tools`; leave them out";
        return Err(Usage(message.to_owned()).into());
    }
    let mut offered: Vec<FunctionRef> = Vec::new();
    for function in functions {
        match &function.offer {
            Offer::Offered => offered.push(Arc::new(function.clone())),
            Offer::NotOfferable(reason) => console.say(&format!(
                "note: `{}` is not offered: {}",
                one_line(&function.name.to_string(), 200),
                one_line(reason, 300)
            )),
        }
    }
    let names = ToolNames::new(offered.iter().cloned());
    let names = names.map_err(|error| Usage(error.to_string()))?;
    let (key, shown) = match wanted.form {
        Form::Tools => {
            let tools = tools(&names.specs(), wanted, app)?;
            ("tools", tools)
        }
        Form::Menu => {
            let option = |(name, function): (&str, &FunctionRef)| {
                let payload = Payload::Function(Arc::clone(function));
                MenuOption::new(name.to_owned(), None, payload)
            };
            let menu = Menu::new(names.iter().map(option).collect());
            let menu = menu.map_err(|error| Usage(error.to_string()))?;
            ("menu", render_menu(&menu).into())
        }
        Form::Wit => ("wit", wit_text(&offered).into()),
    };
    match (wanted.json, shown) {
        (true, shown) => console.json(&json!({ key: shown }))?,
        (false, Json::String(text)) => console.text(&text)?,
        (false, shown) => console.json(&shown)?,
    }
    Ok(())
}

fn tools(specs: &[ToolSpec], wanted: Wanted<'_>, app: &App) -> anyhow::Result<Json> {
    let conservative = |protocol, wire| Some((protocol, Profile::conservative(wire)));
    let sent = match (wanted.dialect, wanted.model) {
        (Some(Dialect::Openai), _) => conservative(TextProtocol::OpenAi, Protocol::OpenAi),
        (Some(Dialect::Anthropic), _) => conservative(TextProtocol::Anthropic, Protocol::Anthropic),
        (Some(Dialect::Mcp), _) => None,
        (None, Some(model)) => Some(app.tool_form(model)?.ok_or_else(|| {
            Usage(format!(
                "`{model}` is sent no tools in a form of its own; choose one with `--dialect`"
            ))
        })?),
        (None, None) => {
            let model = app.settings().models.names.main.as_deref();
            model
                .map(|model| app.tool_form(model))
                .transpose()?
                .flatten()
        }
    };
    Ok(match sent {
        Some((protocol, profile)) => {
            let tools = tools_as_sent(protocol, &profile, specs);
            tools.map_err(|failure| Usage(failure.message.clone()))?
        }
        None => specs.iter().map(mcp_tool).collect(),
    })
}

fn mcp_tool(spec: &ToolSpec) -> Json {
    json!({
        "name": spec.name,
        "description": spec.description,
        "inputSchema": spec.parameters,
    })
}
