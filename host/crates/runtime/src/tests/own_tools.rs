//! Tools that whoever makes the turn runs, and tools that run at the same time.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::Function;
use openprogram_core::gating::RequiredApproval;
use openprogram_core::guest::{CallError, ExecRequest, ToolsWanted};
use openprogram_core::host_tool::{HostTool, HostToolCall};
use openprogram_core::session::{NodeQuery, NodeStatus};
use openprogram_core::tool::{ToolChoice, ToolSpec};
use openprogram_core::tool_filter::ToolFilter;
use serde_json::json;
use tokio::time::Instant;

use super::shop::{call, results, run_work, shop, turn, working};
use super::{graph, nodes, runtime_with, told};
use crate::testing::{
    NativeFunctions, ScriptedProvider, ScriptedReply, function, shown_graph, shown_request,
};
use crate::{Providers, Runtime, TurnRequest};

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Adds two numbers.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": false,
        }),
        strict: false,
    }
}

async fn add(call: HostToolCall) -> Result<Json, Failure> {
    let number = |name: &str| call.arguments[name].as_i64().unwrap_or_default();
    match number("a").checked_add(number("b")) {
        Some(sum) => Ok(sum.into()),
        None => Err(Failure::new(FailureCode::FunctionFailed, "too large")),
    }
}

fn at_top(replies: Vec<ScriptedReply>) -> (Arc<ScriptedProvider>, Runtime) {
    let model = Arc::new(ScriptedProvider::new(replies));
    let providers = Providers::all(model.clone());
    (
        model,
        runtime_with(shop(), |parts| parts.providers = providers),
    )
}

#[tokio::test]
async fn a_call_with_an_argument_twice_is_not_made_and_goes_back_with_the_schema() {
    let calls = ScriptedReply::calls("", [("a", "add", "{\"a\": 2, \"b\": 3, \"a\": 200}")]);
    let (model, runtime) = at_top(vec![calls, "?".into()]);
    let request = TurnRequest::text("Add.").tool(HostTool::new(spec("add"), add));
    assert_eq!(runtime.exec(request).await.result.unwrap().text, "?");
    let shown = shown_request(&model.requests()[1]);
    let told = "the key `a` stands twice in one object; give it once";
    assert!(
        shown.contains(told) && shown.contains("\"required\""),
        "{shown}"
    );
    assert!(
        !shown.contains("203") && !shown.contains("\n5\n"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_closure_is_a_tool_and_stands_in_the_requests_alone() {
    let calls = ScriptedReply::calls(
        "",
        [
            ("a", "add", "{\"a\": 2, \"b\": 3}"),
            ("b", "add", "{\"a\": \"2\"}"),
            ("c", "add", "{\"a\": 9223372036854775807, \"b\": 1}"),
            ("d", "add", "{\"a\": "),
            ("e", "ad", "{}"),
        ],
    );
    let (model, runtime) = at_top(vec![calls, "5".into()]);
    let request = TurnRequest::text("Add.").tool(HostTool::new(spec("add"), add));
    let outcome = runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().text, "5");
    expect![[r#"
        [user]
        Add.
        [assistant calls a]
        add({"a": 2, "b": 3})
        [assistant calls b]
        add({"a": "2"})
        [assistant calls c]
        add({"a": 9223372036854775807, "b": 1})
        [assistant calls d]
        add({"a": )
        [assistant calls e]
        ad({})
        [user result of a]
        5
        [user error of b]
        The arguments of `add` do not fit: as a whole, by `/required`; at `/a`, by `/properties/a/type`. The call did not run. Call again with arguments that fit this JSON Schema: {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}
        [user error of c]
        The call failed (function-failed): too large
        [user error of d]
        The arguments of `add` cannot be read: the text ends inside the JSON object. The call did not run. Call again with arguments that fit this JSON Schema: {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}
        [user error of e]
        There is no tool `ad`. Did you mean `add`?
        [tool add]
        Adds two numbers.
        {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}
    "#]]
    .assert_eq(&shown_request(&model.requests()[1]));
    let session = outcome.session.unwrap();
    let all = runtime.store().nodes(&session, NodeQuery::default()).await;
    expect![[r#"
        1 user user
          in   "Add."
        2 llm scripted:text after=1 reads=1
          in   "Add."
          fact tools=["add"]
          fact runtime="runtime"
          fact calls=[{"id":"a","name":"add","arguments":"{\"a\": 2, \"b\": 3}"},{"id":"b","name":"add","arguments":"{\"a\": \"2\"}"},{"id":"c","name":"add","arguments":"{\"a\": 9223372036854775807, \"b\": 1}"},{"id":"d","name":"add","arguments":"{\"a\": "},{"id":"e","name":"ad","arguments":"{}"}]
        3 llm scripted:text after=2 reads=1,2
          in   null
          fact continues=node 2
          fact answers=[{"id":"a","name":"add","arguments":{"a":2,"b":3},"status":"completed","output":5},{"id":"b","refused":"The arguments of `add` do not fit: as a whole, by `/required`; at `/a`, by `/properties/a/type`. The call did not run. Call again with arguments that fit this JSON Schema: {\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"],\"additionalProperties\":false}"},{"id":"c","name":"add","arguments":{"a":9223372036854775807,"b":1},"status":"failed","failure":{"code":"function-failed","message":"too large","details":{}}},{"id":"d","refused":"The arguments of `add` cannot be read: the text ends inside the JSON object. The call did not run. Call again with arguments that fit this JSON Schema: {\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"],\"additionalProperties\":false}"},{"id":"e","refused":"There is no tool `ad`. Did you mean `add`?"}]
          fact runtime="runtime"
          out  "5"
    "#]]
    .assert_eq(&shown_graph(&all.unwrap()));
}

#[tokio::test]
async fn closures_stand_beside_the_functions_that_a_turn_names() {
    let tools = |request: TurnRequest| async {
        let (model, runtime) = at_top(vec!["done".into()]);
        runtime.exec(request).await.result?;
        let tools = model.requests().remove(0).tools;
        Ok::<_, Failure>(tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>())
    };
    let request = || TurnRequest::text("Add.").tool(HostTool::new(spec("add"), add));
    assert_eq!(tools(request()).await.unwrap(), ["add"]);
    let mut named = request();
    named.turn.tools = ToolsWanted::Named(vec!["count".to_owned(), "nothing".to_owned()]);
    named.turn.tool_choice = ToolChoice::Named("add".to_owned());
    assert_eq!(tools(named).await.unwrap(), ["add", "count", "nothing"]);
    let mut none = request();
    none.turn.tools = ToolsWanted::Preset("none".to_owned());
    assert_eq!(tools(none).await.unwrap(), ["add"]);
    let mut denied = request();
    denied.turn.tool_filter.deny = vec!["add".to_owned()];
    assert_eq!(tools(denied).await.unwrap(), [""; 0]);

    let mut odd = spec("odd");
    odd.parameters = json!({"type": "object", "unevaluatedItems": false});
    for (tool, expected) in [
        (
            spec("count"),
            "two tools of the turn have one name for a model: the function `test:shop/api.count` \
             and the tool `count` of the turn itself; rename one of them",
        ),
        (
            spec("a b"),
            "`a b` cannot be the name of a tool; it has 1 to 64 letters, digits, `_` and `-`",
        ),
        (
            spec("__OpenProgram-submit"),
            "`__OpenProgram-submit` cannot be the name of a tool; names that begin with \
             `__openprogram_` are the host's own",
        ),
        (
            ToolSpec {
                parameters: json!({"type": "string"}),
                ..spec("text")
            },
            "the schema of the tool `text` is not one of an object; give it `\"type\": \
             \"object\"` and `properties`",
        ),
    ] {
        let mut request = TurnRequest::text("Add.").tool(HostTool::new(tool, add));
        request.turn.tools = ToolsWanted::Named(vec!["count".to_owned()]);
        assert_eq!(tools(request).await.unwrap_err().message, expected);
    }
    let request = TurnRequest::text("Add.").tool(HostTool::new(odd, add));
    let failure = tools(request).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::InvalidArgument);
    assert!(
        failure
            .message
            .starts_with("the schema of the tool `odd` cannot be used")
    );
}

/// How many run now, and how many ran at most.
#[derive(Clone, Default)]
struct Busy(Arc<(AtomicUsize, AtomicUsize)>);

impl Busy {
    async fn work(self) -> Result<Json, CallError> {
        let (now, most) = &*self.0;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        now.fetch_sub(1, Ordering::SeqCst);
        Ok(Json::Null)
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

fn reading(name: &str) -> Function {
    let mut reading = function("shop", name, "", [super::text("x")]);
    reading.effects.read_only = true;
    reading
}

/// The functions `read` and `look`, which only read, and `write`, which does not; each takes a second.
fn slow(busy: &Busy, request: ExecRequest) -> NativeFunctions {
    let body = |busy: &Busy| {
        let busy = busy.clone();
        move |_| busy.clone().work()
    };
    let mut asked = reading("asked");
    asked.gating.requires_approval = Some(RequiredApproval::default());
    working(request)
        .with(reading("read"), body(busy))
        .with(reading("look"), body(busy))
        .with(asked, body(busy))
        .with(
            function("shop", "write", "", [super::text("x")]),
            body(busy),
        )
}

fn calls(names: &[&str]) -> ScriptedReply {
    let ids: Vec<_> = (0..names.len()).map(|n| format!("c{n}")).collect();
    let arguments: Vec<_> = (0..names.len())
        .map(|n| format!("{{\"x\": \"{n}\"}}"))
        .collect();
    let calls = ids.iter().zip(names).zip(&arguments);
    ScriptedReply::calls("", calls.map(|((id, name), text)| (&**id, *name, &**text)))
}

/// How long the calls of one reply take in seconds, and how many run at the same time at most.
async fn check(parallel: Option<bool>, names: &[&str], expected: (u64, usize)) {
    let busy = Busy::default();
    let mut request = turn(&["read", "look", "write", "nothing"]);
    request.parallel_tool_calls = parallel;
    let model = Arc::new(ScriptedProvider::new(vec![calls(names), "done".into()]));
    let started = Instant::now();
    let (runtime, outcome) = run_work(slow(&busy, request), model.clone(), |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
    let took = started.elapsed().as_secs();
    assert_eq!((took, busy.most()), expected, "{names:?}");
    // Results and nodes are in the order of the calls.
    let ids: Vec<_> = results(&model.requests()[1])
        .into_iter()
        .map(|r| r.id)
        .collect();
    let wanted: Vec<_> = (0..names.len()).map(|n| format!("c{n}")).collect();
    assert_eq!(ids, wanted);
    let nodes = nodes(&runtime, &outcome).await;
    let calls = nodes
        .iter()
        .filter(|n| n.opened.caller == Some(nodes[1].opened.id.clone()));
    let inputs: Vec<_> = calls.map(|n| n.opened.input["x"].clone()).collect();
    let wanted: Vec<_> = (0..names.len()).map(|n| json!(n.to_string())).collect();
    assert_eq!(inputs, wanted);
}

#[tokio::test(start_paused = true)]
async fn calls_that_only_read_run_at_the_same_time_and_the_others_alone() {
    check(None, &["read", "look", "read"], (1, 3)).await;
    check(Some(true), &["read", "look"], (1, 2)).await;
    check(Some(false), &["read", "look"], (2, 1)).await;
    check(None, &["write", "write"], (2, 1)).await;
    // What writes waits for all before it, and all after it wait for it.
    check(None, &["read", "read", "write", "look", "look"], (3, 2)).await;
    check(None, &["read"; 9], (2, 8)).await;
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_all_calls_that_run() {
    let endless = |_| pending::<Result<Json, CallError>>();
    let mut request = turn(&["forever", "read"]);
    request.timeout_ms = Some(5_000);
    let functions = slow(&Busy::default(), request).with(reading("forever"), endless);
    let model = Arc::new(ScriptedProvider::new(vec![calls(&[
        "forever", "read", "forever",
    ])]));
    let started = Instant::now();
    let (runtime, outcome) = run_work(functions, model, |_| ()).await;
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(
        failure.message,
        "the time budget of 5.0s ended while the tool `forever` and 2 more ran"
    );
    let statuses: Vec<_> = nodes(&runtime, &outcome)
        .await
        .iter()
        .map(|n| n.status())
        .collect();
    use NodeStatus::{Cancelled, Completed, Failed};
    assert_eq!(
        statuses,
        [Failed, Completed, Cancelled, Completed, Cancelled]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_are_recorded_as_those_in_turn() {
    let request = turn(&["read", "look"]);
    let model = Arc::new(ScriptedProvider::new(vec![
        calls(&["read", "look"]),
        "done".into(),
    ]));
    let functions = slow(&Busy::default(), request);
    let (runtime, outcome) = run_work(functions, model, |_| ()).await;
    expect![[r#"
        1 code test:shop/api.work
          in   {}
          out  "done"
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["look","read"]
          fact runtime="runtime"
          fact system="Be brief."
          fact calls=[{"id":"c0","name":"read","arguments":"{\"x\": \"0\"}"},{"id":"c1","name":"look","arguments":"{\"x\": \"1\"}"}]
        3 code test:shop/api.read caller=2
          in   {"x":"0"}
          out  null
        4 code test:shop/api.look caller=2
          in   {"x":"1"}
          out  null
        5 llm scripted:text caller=1 reads=2,3,4
          in   null
          fact continues=node 2
          fact answers=[{"id":"c0","node":"n-0000000000000004"},{"id":"c1","node":"n-0000000000000005"}]
          fact runtime="runtime"
          fact system="Be brief."
          out  "done"
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test(start_paused = true)]
async fn calls_about_which_a_person_is_asked_never_run_beside_others() {
    let busy = Busy::default();
    let request = turn(&["asked", "read"]);
    let functions = slow(&busy, request);
    // Nobody is there, so that both are refused at once; what matters is that neither ran beside.
    let model = Arc::new(ScriptedProvider::new(vec![
        calls(&["asked", "read", "asked"]),
        "done".into(),
    ]));
    let (_, outcome) = run_work(functions, model.clone(), |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
    let errors: Vec<_> = results(&model.requests()[1])
        .iter()
        .map(|r| r.is_error)
        .collect();
    assert_eq!((errors, busy.most()), (vec![true, false, true], 1));
}

#[tokio::test(start_paused = true)]
async fn closures_that_only_read_run_at_the_same_time() {
    let busy = Busy::default();
    let tool = |name: &str| {
        let busy = busy.clone();
        HostTool::new(spec(name), move |_| {
            let work = busy.clone().work();
            async move { work.await.map_err(|_| unreachable!()) }
        })
    };
    let arguments = "{\"a\": 1, \"b\": 2}";
    let replies = || {
        let calls = [("a", "x", arguments), ("b", "y", arguments)];
        vec![ScriptedReply::calls("", calls), "done".into()]
    };
    for (first, second, most) in [
        (tool("x").read_only(), tool("y").read_only(), 2),
        (tool("x").read_only(), tool("y"), 1),
    ] {
        busy.0.1.store(0, Ordering::SeqCst);
        let (_, runtime) = at_top(replies());
        let request = TurnRequest::text("Go.").tool(first).tool(second);
        runtime.exec(request).await.result.unwrap();
        assert_eq!(busy.most(), most);
    }
}

#[tokio::test]
async fn the_same_call_is_noticed_refused_and_then_ends_the_turn() {
    for (name, arguments) in [
        ("nothing", ["{}", ""]),
        ("count", ["{\"n\": 300}", "{ \"n\": 300 }"]),
    ] {
        let replies = (0..9).map(|n| ScriptedReply::calls("Hm.", [("", name, arguments[n % 2])]));
        let model = Arc::new(ScriptedProvider::new(replies));
        let request = turn(&["nothing", "count"]);
        let (runtime, outcome) = run_work(working(request), model.clone(), |_| ()).await;
        let failure = outcome.result.clone().unwrap_err();
        let details = &failure.details;
        assert_eq!(failure.code, FailureCode::LimitReached);
        assert_eq!(
            (&details["which"], &details["limit"], &details["partial"]),
            (&json!("repeated_calls"), &json!(5), &json!("Hm."))
        );
        assert_eq!(model.requests().len(), 6);
        let told: Vec<_> = model.requests()[1..]
            .iter()
            .map(|request| results(request).remove(0).text)
            .collect();
        let first = &told[0];
        let warned = |count: u32| {
            format!(
                "{first}\n(This is call {count} of this kind with the same arguments. Do something \
                 else, or answer with what you have.)"
            )
        };
        let refused = "Not run: the same call was asked for 4 times before. Do something else, or \
                       answer with what you have."
            .to_owned();
        assert_eq!(
            told,
            [first.clone(), first.clone(), warned(3), warned(4), refused]
        );
        // The last of them, which ends the turn, is answered as well.
        let n_ran = if name == "nothing" { 4 } else { 0 };
        assert_eq!(nodes(&runtime, &outcome).await.len(), 1 + 6 + n_ran);
    }
}

#[tokio::test]
async fn other_arguments_are_another_call() {
    let mut replies: Vec<_> = (0..4).map(|_| call("", "refuse", "{}")).collect();
    replies.extend((1..9).map(|n| call("", "count", &format!("{{\"n\": {n}}}"))));
    replies.push("done".into());
    let request = turn(&["count", "refuse"]);
    let model = Arc::new(ScriptedProvider::new(replies));
    let (_, outcome) = run_work(working(request), model, |_| ()).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
    // Equal calls in one reply are counted one after the other.
    let same = ["c0", "c1", "c2", "c3", "c4", "c5"].map(|id| (id, "nothing", ""));
    let model = Arc::new(ScriptedProvider::new(vec![ScriptedReply::calls("", same)]));
    let (_, outcome) = run_work(working(turn(&["nothing"])), model, |_| ()).await;
    assert_eq!(told(&outcome)["details"]["which"], "repeated_calls");
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The tools of a turn with what its node says of them, or its failure.
async fn tools(wanted: ToolsWanted, tool_filter: ToolFilter) -> String {
    let model = Arc::new(ScriptedProvider::new(["done"]));
    let mut request = turn(&[]);
    request.tools = wanted;
    request.tool_filter = tool_filter;
    let (runtime, outcome) = run_work(working(request), model.clone(), |parts| {
        let sets = &mut parts.tool_sets;
        sets.presets
            .insert("small".to_owned(), names(&["count", "bank/api.pay"]));
        sets.presets
            .insert("gone".to_owned(), names(&["files.read"]));
        sets.unsafe_in
            .insert("telegram".to_owned(), names(&["shop/api.count"]));
    })
    .await;
    let facts = nodes(&runtime, &outcome).await;
    let facts = facts
        .iter()
        .find(|n| n.opened.facts.contains_key("runtime"));
    let facts = facts.map_or(json!({}), |n| {
        let fact = |key: &str| n.opened.facts.get(key).cloned();
        json!([fact("toolset"), fact("tools_source"), fact("tools_unknown")])
    });
    match outcome.result {
        Ok(_) => {
            let tools = model.requests().remove(0).tools;
            let names: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
            format!("{} {facts}", names.join(" "))
        }
        Err(failure) => format!("{}: {}", failure.code.as_str(), failure.message),
    }
}

#[tokio::test]
async fn filters_hold_for_named_tools_and_for_presets() {
    let none = ToolFilter::default;
    let preset = |name: &str| ToolsWanted::Preset(name.to_owned());
    let all = "count empty explode forge forge_error forge_value long look_up meddle nothing \
               refuse starve work";
    assert_eq!(
        tools(preset("full"), none()).await,
        format!("{all} [\"full\",null,null]")
    );
    assert_eq!(tools(preset("none"), none()).await, " [\"none\",null,null]");
    // `pay` is of another component, and not granted.
    assert_eq!(
        tools(preset("small"), none()).await,
        "count [\"small\",null,null]"
    );
    assert_eq!(
        tools(preset("big"), none()).await,
        "invalid-argument: there is no toolset `big`; there are `full`, `none`, `gone`, `small`. A \
         project names its own under `[toolsets]` in openprogram.toml"
    );
    assert_eq!(
        tools(preset("gone"), none()).await,
        "not-found: the toolset `gone` of the project: there is no function `files.read`"
    );
    let from = |source: &str| ToolFilter {
        sources: vec![source.to_owned()],
        ..none()
    };
    let named = || ToolsWanted::Named(names(&["count", "nothing"]));
    assert_eq!(
        tools(named(), from("telegram")).await,
        "nothing [null,[\"telegram\"],null]"
    );
    assert_eq!(
        tools(named(), from("matrix")).await,
        "count nothing [null,[\"matrix\"],null]"
    );
    let lists = ToolFilter {
        allow: Some(names(&["count", "nothing", "cuont"])),
        deny: names(&["look-up", "count"]),
        ..none()
    };
    assert_eq!(
        tools(ToolsWanted::Default, lists).await,
        "nothing [null,null,[\"cuont\"]]"
    );
}
