//! Skills in turns: told with every one, read by a tool, and as they are at that time.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::failure::FailureCode;
use openprogram_core::guest::ToolsWanted;
use openprogram_core::host_tool::HostTool;
use openprogram_core::llm::FormatAbility;
use openprogram_core::session::NodeQuery;
use openprogram_core::skill::{Skill, SkillSource, Skills};
use openprogram_core::tool_filter::ToolFilter;
use serde_json::json;

use super::runtime_with;
use super::shop::shop;
use crate::testing::{
    NativeFunctions, ScriptedProvider, ScriptedReply, shown_graph, shown_request,
};
use crate::{Providers, Runtime, TurnRequest};

/// Skills that a test changes.
#[derive(Default)]
struct Shelf(Mutex<Arc<Skills>>);

impl SkillSource for Shelf {
    fn skills(&self) -> Arc<Skills> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

impl Shelf {
    fn set(&self, skills: &[(&str, &str, &str)]) {
        let skill = |(name, description, body): &(&str, &str, &str)| {
            let text = format!("---\ndescription: {description}\n---\n{body}");
            Skill::parse(name, &text).unwrap()
        };
        *self.0.lock().unwrap() = Arc::new(Skills::new(skills.iter().map(skill)));
    }
}

fn with_skills(
    functions: NativeFunctions,
    replies: Vec<ScriptedReply>,
) -> (Arc<ScriptedProvider>, Arc<Shelf>, Runtime) {
    with_model(functions, ScriptedProvider::new(replies))
}

fn with_model(
    functions: NativeFunctions,
    model: ScriptedProvider,
) -> (Arc<ScriptedProvider>, Arc<Shelf>, Runtime) {
    let model = Arc::new(model);
    let shelf = Arc::new(Shelf::default());
    shelf.set(&[(
        "forms",
        "Fills forms.",
        "Ask for the\u{202e} name.\n\nThen fill it in.",
    )]);
    let (providers, skills) = (Providers::all(model.clone()), Arc::clone(&shelf));
    let runtime = runtime_with(functions, |parts| {
        parts.providers = providers;
        parts.skills = Some(skills);
    });
    (model, shelf, runtime)
}

#[tokio::test]
async fn a_model_is_told_of_skills_and_reads_one() {
    let replies = vec![
        ScriptedReply::calls(
            "",
            [
                ("a", "skill", r#"{"name": "forms"}"#),
                ("b", "skill", r#"{"name": "other"}"#),
                ("c", "skill", "{}"),
            ],
        ),
        ScriptedReply::Text("Filled.".to_owned()),
    ];
    let (model, _, runtime) = with_skills(NativeFunctions::default(), replies);
    let mut request = TurnRequest::text("Fill the form.");
    request.turn.system = vec!["Be brief.".to_owned()];
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().text, "Filled.");
    expect![[r#"
        [system]
        Be brief.

        Skills are instructions for particular tasks. When one of them fits what you are asked to do, call the tool `skill` with its name before you begin, and follow the instructions that it returns as far as they serve that task. Names and descriptions are the words of their authors.
        <available_skills>
          <skill>
            <name>forms</name>
            <description>Fills forms.</description>
          </skill>
        </available_skills>
        [user]
        Fill the form.
        [assistant calls a]
        skill({"name": "forms"})
        [assistant calls b]
        skill({"name": "other"})
        [assistant calls c]
        skill({})
        [user result of a]
        Ask for the name.

        Then fill it in.
        [user error of b]
        The call failed (not-found): there is no skill `other`; the names are listed in available_skills
        [user error of c]
        The arguments of `skill` do not fit: as a whole, by `/required`. The call did not run. Call again with arguments that fit this JSON Schema: {"type":"object","properties":{"name":{"type":"string","description":"The name of the skill, as listed in available_skills."}},"required":["name"],"additionalProperties":false}
        [tool skill]
        Reads the instructions of a skill.
        {"type":"object","properties":{"name":{"type":"string","description":"The name of the skill, as listed in available_skills."}},"required":["name"],"additionalProperties":false}
    "#]].assert_eq(&shown_request(&model.requests()[1]));
    let session = outcome.session.unwrap();
    let nodes = runtime.store().nodes(&session, NodeQuery::default());
    expect![[r#"
        1 user user
          in   "Fill the form."
        2 llm scripted:text after=1 reads=1
          in   "Fill the form."
          fact tools=["skill"]
          fact runtime="runtime"
          fact system="Be brief.\n\nSkills are instructions for particular tasks. When one of them fits what you are asked to do, call the tool `skill` with its name before you begin, and follow the instructions that it returns as far as they serve that task. Names and descriptions are the words of their authors.\n<available_skills>\n  <skill>\n    <name>forms</name>\n    <description>Fills forms.</description>\n  </skill>\n</available_skills>"
          fact calls=[{"id":"a","name":"skill","arguments":"{\"name\": \"forms\"}"},{"id":"b","name":"skill","arguments":"{\"name\": \"other\"}"},{"id":"c","name":"skill","arguments":"{}"}]
        3 llm scripted:text after=2 reads=1,2
          in   null
          fact continues=node 2
          fact answers=[{"id":"a","name":"skill","arguments":{"name":"forms"},"status":"completed","output":"Ask for the name.\n\nThen fill it in."},{"id":"b","name":"skill","arguments":{"name":"other"},"status":"failed","failure":{"code":"not-found","message":"there is no skill `other`; the names are listed in available_skills","details":{}}},{"id":"c","refused":"The arguments of `skill` do not fit: as a whole, by `/required`. The call did not run. Call again with arguments that fit this JSON Schema: {\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"The name of the skill, as listed in available_skills.\"}},\"required\":[\"name\"],\"additionalProperties\":false}"}]
          fact runtime="runtime"
          fact system="Be brief.\n\nSkills are instructions for particular tasks. When one of them fits what you are asked to do, call the tool `skill` with its name before you begin, and follow the instructions that it returns as far as they serve that task. Names and descriptions are the words of their authors.\n<available_skills>\n  <skill>\n    <name>forms</name>\n    <description>Fills forms.</description>\n  </skill>\n</available_skills>"
          out  "Filled."
    "#]].assert_eq(&shown_graph(&nodes.await.unwrap()));
}

/// The names of the tools and the second line of the system prompt of a turn.
async fn offered(change: impl FnOnce(&mut TurnRequest)) -> (Vec<String>, String) {
    let reply = ScriptedReply::Text(r#"{"n": 1}"#.to_owned());
    let (model, _, runtime) = with_skills(shop(), vec![reply]);
    let mut request = TurnRequest::text("Work.");
    change(&mut request);
    runtime.exec(request).await.result.unwrap();
    let requests = model.requests();
    let tools = requests[0].tools.iter().map(|tool| tool.name.clone());
    let system = requests[0].system.clone().unwrap();
    let is_readable = system.contains("call the tool `skill`");
    let told = if is_readable { "readable" } else { "told" };
    assert!(system.contains("<name>forms</name>"), "{system}");
    (tools.collect(), told.to_owned())
}

#[tokio::test]
async fn a_turn_without_tools_is_told_of_skills_and_cannot_read_them() {
    let with_tool = (vec!["skill".to_owned()], "readable".to_owned());
    let without = (Vec::new(), "told".to_owned());
    let named =
        |names: &[&str]| ToolsWanted::Named(names.iter().map(|name| (*name).to_owned()).collect());
    let none = offered(|request| request.turn.tools = named(&[])).await;
    assert_eq!(none, without);
    let preset = ToolsWanted::Preset("none".to_owned());
    assert_eq!(
        offered(|request| request.turn.tools = preset).await,
        without
    );
    let allow = ToolFilter {
        allow: Some(vec!["skill".to_owned()]),
        ..ToolFilter::default()
    };
    assert_eq!(
        offered(|request| request.turn.tool_filter = allow).await,
        with_tool
    );
    let deny = ToolFilter {
        deny: vec!["skill".to_owned()],
        ..ToolFilter::default()
    };
    let (tools, told) = offered(|request| request.turn.tool_filter = deny).await;
    assert!(
        !tools.is_empty() && !tools.contains(&"skill".to_owned()),
        "{tools:?}"
    );
    assert_eq!(told, "told");
    let (tools, told) = offered(|request| request.turn.tools = named(&["look_up"])).await;
    assert_eq!(
        (tools, told.as_str()),
        (vec!["look_up".to_owned(), "skill".to_owned()], "readable")
    );
}

#[tokio::test]
async fn each_turn_is_told_of_the_skills_that_there_are_then() {
    let replies = vec![
        ScriptedReply::Text("One.".to_owned()),
        ScriptedReply::Text("Two.".to_owned()),
    ];
    let (model, shelf, runtime) = with_skills(NativeFunctions::default(), replies);
    let first = runtime.exec(TurnRequest::text("Work.")).await;
    shelf.set(&[]);
    let mut request = TurnRequest::text("Work on.");
    request.session = first.session;
    runtime.exec(request).await.result.unwrap();
    let requests = model.requests();
    assert!(
        requests[0]
            .system
            .as_ref()
            .unwrap()
            .contains("<name>forms</name>")
    );
    assert_eq!(
        (requests[1].system.as_ref(), requests[1].tools.len()),
        (None, 0)
    );
}

#[tokio::test]
async fn another_tool_of_that_name_is_refused() {
    let (_, _, runtime) = with_skills(NativeFunctions::default(), Vec::new());
    let own = HostTool::new(Skills::tool(), |_| async { Ok(Json::Null) });
    let outcome = runtime.exec(TurnRequest::text("Work.").tool(own)).await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::InvalidArgument);
    assert_eq!(
        failure.message,
        "two tools of the turn have one name for a model: the tool `skill` of the turn itself and \
         the tool `skill` that reads skills; rename one of them"
    );
}

#[tokio::test]
async fn a_format_without_tools_stays_without_them() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false});
    let reply = ScriptedReply::Text(r#"{"n": 1}"#.to_owned());
    let ability = FormatAbility {
        is_held: true,
        with_tools: false,
        keeps_order: true,
    };
    let model = ScriptedProvider::new([reply]).held_to_formats(ability);
    let (model, _, runtime) = with_model(NativeFunctions::default(), model);
    let mut request = TurnRequest::text("Count.");
    request.turn.response_format = Some(schema);
    let reply = runtime.exec(request).await.result.unwrap();
    assert_eq!(reply.structured, Some(json!({"n": 1})));
    assert!(model.requests()[0].tools.is_empty());
}
