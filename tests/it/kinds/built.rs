//! One component, called in every way. What is not as it should be is collected, so that one run
//! tells all of it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use openprogram_core::content::ContentBlock;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::Offer;
use openprogram_core::schema::{Type, sorted};
use openprogram_core::{Json, JsonObject};
use openprogram_runtime::TurnRequest;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_tests::fuzz::Random;
use openprogram_tests::host::{RunningHost, TestHost};
use openprogram_tests::kinds::{FAULTS, Group, INTERFACE, Row, engine, rows_of, sources, wrong};
use openprogram_tests::signatures::{AskedCall, ValueMaker, plain_type, plain_value, same};
use openprogram_tests::toolchain::Toolchain;
use serde_json::json;

/// How often each function is called with other good values.
const GOOD: usize = 3;

/// A component that was built, and what came of calling it.
pub(super) struct Built {
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// What the other implementation is asked, and what came of it here with its type, both in the
    /// plain form that it knows.
    pub(super) calls: Vec<(AskedCall, Json, Option<Type>)>,
    pub(super) problems: Vec<String>,
    toolchain: Toolchain,
    group: Group,
    rows: Vec<Row>,
    random: Random,
    host: RunningHost,
    model: Arc<ScriptedProvider>,
    /// The rows whose values came back changed.
    changed: BTreeSet<&'static str>,
}

impl Built {
    /// Builds it; `None` where the tools are not installed.
    pub(super) async fn new(toolchain: Toolchain, group: Group) -> Option<Self> {
        let name = format!("{toolchain:?} {group:?}");
        let rows = rows_of(toolchain, group);
        let sources = sources(toolchain, group, &rows).unwrap();
        let file = toolchain.build(&sources);
        let file = file.unwrap_or_else(|error| panic!("{name}: {error:#}"))?;
        let bytes = std::fs::read(&file).unwrap();
        let mut random = Random::new(name.len() as u64);
        let model = scripted(&rows, &mut random);
        let host = TestHost::new().engine(engine().clone());
        let host = host.provider(model.clone());
        let host = host.component("kinds", bytes).start().await;
        Some(Self {
            name,
            file,
            calls: Vec::new(),
            problems: Vec::new(),
            toolchain,
            group,
            rows,
            random,
            host,
            model,
            changed: BTreeSet::new(),
        })
    }

    /// Calls every function in every way.
    pub(super) async fn call_all(&mut self) {
        self.resources();
        for row in self.rows.clone() {
            self.good_and_extreme(&row).await;
            self.missing(&row).await;
            self.wrong(&row).await;
            self.extra(&row).await;
            if self.is_known(&row) && !self.changed.contains(row.name) {
                let problem = format!("{} leaves `{}` as it is by now", self.name, row.name);
                self.problems.push(problem);
            }
        }
        self.extra_by_a_model().await;
    }

    /// Whether the toolchain is known to change the values of a row.
    fn is_known(&self, row: &Row) -> bool {
        let mut faults = FAULTS.iter();
        faults.any(|(toolchain, name, _)| (*toolchain, *name) == (self.toolchain, row.name))
    }

    async fn call(&self, function: &str, arguments: JsonObject) -> Result<Json, Failure> {
        let function = format!("{INTERFACE}.{function}");
        self.host.call(&function, Json::Object(arguments)).await
    }

    fn shown(&self, function: &str, arguments: &JsonObject) -> String {
        let arguments = Json::Object(arguments.clone());
        let text = format!("{}: {function} {arguments}", self.name);
        text.chars().take(600).collect()
    }

    /// Calls a function whose outcome is known, and notes the call for the other implementation.
    async fn expect(&mut self, row: &Row, function: String, given: Given, value: Json) {
        let what = self.shown(&function, &given.by_name);
        let got = self.call(&function, given.by_name).await;
        let got = match (row.fails, got) {
            (true, Ok(ok)) => json!({"ok": ok}),
            (true, Err(failure)) if failure.code == FailureCode::FunctionFailed => {
                json!({"err": failure.details.get("error")})
            }
            (false, Ok(got)) => got,
            (_, Err(_)) if self.is_known(row) => {
                self.changed.insert(row.name);
                return;
            }
            (_, Err(failure)) => return self.problems.push(format!("{what}: {failure}")),
        };
        let ty = row.gives();
        let plain = ty
            .as_ref()
            .map(|ty| (plain_type(ty), plain_value(ty, &got)));
        if !equal(ty.as_ref(), &value, &got) {
            if !self.is_known(row) {
                let problem = format!("{what}\n expected {value}\n got      {got}");
                self.problems.push(problem);
            }
            self.changed.insert(row.name);
        }
        let call = AskedCall {
            function,
            arguments: given.in_order,
        };
        let (ty, got) = plain.map_or((None, Json::Null), |(ty, got)| (Some(ty), got));
        self.calls.push((call, got, ty));
    }

    async fn good_and_extreme(&mut self, row: &Row) {
        let same = row.same();
        for _ in 0..GOOD {
            let values = good(row, &mut self.random);
            let whole = match values.as_slice() {
                [] => Json::Null,
                [only] => only.clone(),
                several => several.into(),
            };
            let given = Given::of(row, values);
            self.expect(row, same.clone(), given, whole).await;
        }
        for (number, extreme) in row.extremes.iter().enumerate() {
            let given = Given::of(row, vec![extreme.clone()]);
            self.expect(row, same.clone(), given, extreme.clone()).await;
            let mut given = Given {
                by_name: JsonObject::new(),
                in_order: vec![json!(number)],
            };
            given.by_name.insert("number".to_owned(), json!(number));
            self.expect(row, row.made(), given, extreme.clone()).await;
        }
    }

    /// Makes a call that is refused before the guest runs, and gives the words.
    async fn refused(&mut self, row: &Row, arguments: JsonObject, path: &str) -> String {
        let what = self.shown(&row.same(), &arguments);
        let failure = match self.call(&row.same(), arguments).await {
            Ok(value) => {
                self.problems.push(format!("{what}: gave {value}"));
                return String::new();
            }
            Err(failure) => failure,
        };
        let told = failure.details.get("path").and_then(Json::as_str);
        if failure.code != FailureCode::InvalidArgument || told != Some(path) {
            let problem = format!("{what}: not of `{path}`: {failure}");
            self.problems.push(problem);
        }
        failure.message
    }

    async fn missing(&mut self, row: &Row) {
        for field in &row.parameters {
            let mut given = Given::of(row, good(row, &mut self.random)).by_name;
            given.shift_remove(&field.name);
            if matches!(field.ty, Type::Option(_)) {
                let none = self.call(&row.same(), given).await;
                assert_eq!(none, Ok(Json::Null), "{}: {}", self.name, row.name);
                continue;
            }
            let said = self.refused(row, given, &field.name).await;
            let is_told = said.ends_with("a required value is missing");
            assert!(is_told, "{}: {}: {said}", self.name, row.name);
        }
    }

    async fn wrong(&mut self, row: &Row) {
        let values = good(row, &mut self.random);
        for field in &row.parameters {
            for wrong in wrong(&field.ty, &mut self.random) {
                let mut given = Given::of(row, values.clone()).by_name;
                given.insert(field.name.clone(), wrong.value);
                let path = format!("{}{}", field.name, wrong.path);
                self.refused(row, given, &path).await;
            }
        }
    }

    /// A person is told of an argument that does not exist.
    async fn extra(&mut self, row: &Row) {
        let mut given = Given::of(row, good(row, &mut self.random)).by_name;
        given.insert(EXTRA.to_owned(), json!(1));
        let said = self.refused(row, given, EXTRA).await;
        assert!(said.contains(EXTRA), "{}: {}: {said}", self.name, row.name);
    }

    /// One of a model is dropped, and that is recorded.
    async fn extra_by_a_model(&mut self) {
        let outcome = self.host.runtime.exec(TurnRequest::text("x")).await;
        let text = outcome.result.unwrap().text;
        assert_eq!(text, "done", "{}", self.name);
        let nodes = self.host.nodes(&outcome.session.unwrap()).await;
        let of_calls = nodes
            .iter()
            .filter(|n| n.opened.name.starts_with(INTERFACE));
        let dropped = of_calls.filter(|node| {
            let coerced = node.opened.facts.get("coerced").and_then(Json::as_array);
            let told = json!({"path": EXTRA, "what": "unknown name, dropped"});
            coerced.is_some_and(|coerced| coerced.contains(&told))
        });
        assert_eq!(dropped.count(), self.rows.len(), "{}", self.name);
        let requests = self.model.requests();
        let results = requests[1].messages.iter().flat_map(|m| &m.content);
        for block in results {
            if let ContentBlock::ToolResult(result) = block {
                let row = self.rows.iter().find(|row| result.id == tool(row));
                let is_known = row.is_some_and(|row| self.is_known(row));
                assert!(
                    !result.is_error || is_known,
                    "{}: {}",
                    self.name,
                    result.text
                );
            }
        }
    }

    /// What takes a handle that no model can hold is listed with the reason.
    fn resources(&self) {
        let functions = self.host.runtime.catalog().iter();
        let taking = functions.filter(|function| function.name.function == "take-thing");
        let reasons: Vec<_> = taking.map(|function| function.offer.clone()).collect();
        match (self.group, reasons.as_slice()) {
            (Group::Records, [Offer::NotOfferable(reason)]) => {
                assert!(
                    reason.contains("stateful = true"),
                    "{}: {reason}",
                    self.name
                );
            }
            (group, others) => {
                assert!(
                    group != Group::Records && others.is_empty(),
                    "{}: {others:?}",
                    self.name
                );
            }
        }
    }
}

/// The name of an argument that no function has.
const EXTRA: &str = "not_asked";

/// The arguments of one call, as both implementations take them.
struct Given {
    by_name: JsonObject,
    in_order: Vec<Json>,
}

impl Given {
    fn of(row: &Row, values: Vec<Json>) -> Self {
        let names: Vec<_> = row.parameters.iter().map(|f| f.name.clone()).collect();
        let plain = row.parameters.iter().zip(&values);
        let plain = plain.map(|(field, value)| plain_value(&field.ty, value));
        Self {
            in_order: plain.collect(),
            by_name: names.into_iter().zip(values).collect(),
        }
    }
}

/// A good value for each parameter of a row, with which its function succeeds.
fn good(row: &Row, random: &mut Random) -> Vec<Json> {
    let mut maker = ValueMaker::new(random, false);
    let types = row.parameters.iter().map(|field| &field.ty);
    types
        .map(|ty| match ty {
            Type::Result(ok, _) if row.fails => {
                json!({"ok": ok.as_ref().map(|ty| maker.value(ty))})
            }
            _ => maker.value(ty),
        })
        .collect()
}

/// The tool of a row; its call has the same id.
fn tool(row: &Row) -> String {
    row.same().replace('-', "_")
}

/// A model that calls the function of each row once, with one argument too many.
fn scripted(rows: &[Row], random: &mut Random) -> Arc<ScriptedProvider> {
    let calls = rows.iter().map(|row| {
        let name = tool(row);
        let mut given = Given::of(row, good(row, random)).by_name;
        given.insert(EXTRA.to_owned(), json!({"a": 1}));
        (name, Json::Object(given).to_string())
    });
    let calls: Vec<_> = calls.collect();
    let calls = calls.iter();
    let calls = calls.map(|(name, given)| (name.as_str(), name.as_str(), given.as_str()));
    Arc::new(ScriptedProvider::new([
        ScriptedReply::calls("", calls),
        "done".into(),
    ]))
}

/// Whether two results are the same; of nothing, both are null.
pub(super) fn equal(ty: Option<&Type>, a: &Json, b: &Json) -> bool {
    match ty {
        None => a == b,
        // Some languages sort their maps.
        Some(ty @ Type::Map(..)) => same(ty, &sorted(a), &sorted(b)),
        Some(ty) => same(ty, a, b),
    }
}
