//! Instances that live on: what handles stand for, how long, and what ends them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::failure::Failure;
use openprogram_core::function::{Offer, RuntimeRef};
use openprogram_core::guest::{
    CallError, CallOutcome, CallScope, DecisionRequest, FunctionCall, FunctionHost as _,
    HostServices, PickedOption, RunTotals,
};
use openprogram_core::id::SessionId;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::EchoServices;
use crate::{ComponentHost, Engine, EngineOptions, Limits, LoadedComponent, MetadataMode};

const WIT: &str = "
    package acme:things@1.0.0;
    interface api {
        resource counter {
            constructor(start: u32);
            add: func(n: u32) -> u32;
            spoil: func();
            spin: func();
            alive: static func() -> u32;
        }
        resource timer { constructor(); }
        merge: func(a: counter, b: borrow<counter>) -> counter;
        both: func(a: counter, b: counter) -> counter;
        many: func(n: u32) -> list<counter>;
        maybe: func(fail: bool) -> result<counter, u32>;
        wait: func(c: borrow<counter>);
        plain: func() -> u32;
    }
    world things { import openprogram:agentic/functions@0.1.0; export api; }";

/// Counters are numbers in memory; a handle of one stands for its address.
const MODULE: &str = r#"(module
    (import "[export]acme:things/api@1.0.0" "[resource-new]counter" (func $new (param i32) (result i32)))
    (import "[export]acme:things/api@1.0.0" "[resource-rep]counter" (func $rep (param i32) (result i32)))
    (import "[export]acme:things/api@1.0.0" "[resource-drop]counter" (func $drop (param i32)))
    (import "[export]acme:things/api@1.0.0" "[resource-new]timer" (func $timer (param i32) (result i32)))
    (import "openprogram:agentic/functions@0.1.0" "call"
        (func $call (param i32 i32 i32 i32 i32)))
    (memory (export "memory") 4)
    (data (i32.const 16) "wait") (data (i32.const 32) "{}")
    (global $next (mut i32) (i32.const 4096))
    (global $alive (mut i32) (i32.const 0))
    (global $plain (mut i32) (i32.const 0))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
    (func $make (param $start i32) (result i32) (local $at i32)
        (local.set $at (global.get $next))
        (global.set $next (i32.add (local.get $at) (i32.const 4)))
        (global.set $alive (i32.add (global.get $alive) (i32.const 1)))
        (i32.store (local.get $at) (local.get $start))
        (call $new (local.get $at)))
    (func (export "acme:things/api@1.0.0#[constructor]counter") (param i32) (result i32)
        (call $make (local.get 0)))
    (func (export "acme:things/api@1.0.0#[dtor]counter") (param i32)
        (if (i32.eq (i32.load (local.get 0)) (i32.const 666)) (then unreachable))
        (global.set $alive (i32.sub (global.get $alive) (i32.const 1))))
    (func (export "acme:things/api@1.0.0#[method]counter.add") (param i32 i32) (result i32)
        (i32.store (local.get 0) (i32.add (i32.load (local.get 0)) (local.get 1)))
        (i32.load (local.get 0)))
    (func (export "acme:things/api@1.0.0#[method]counter.spoil") (param i32) unreachable)
    (func (export "acme:things/api@1.0.0#[method]counter.spin") (param i32) (loop (br 0)))
    (func (export "acme:things/api@1.0.0#[static]counter.alive") (result i32) (global.get $alive))
    (func (export "acme:things/api@1.0.0#[constructor]timer") (result i32) (call $timer (i32.const 1)))
    (func $merge (export "acme:things/api@1.0.0#merge") (param $a i32) (param $b i32) (result i32)
        (local $sum i32)
        (local.set $sum (i32.add
            (i32.load (call $rep (local.get $a))) (i32.load (local.get $b))))
        (call $drop (local.get $a))
        (call $make (local.get $sum)))
    (func (export "acme:things/api@1.0.0#both") (param $a i32) (param $b i32) (result i32)
        (call $merge (local.get $a) (call $rep (local.get $b))))
    (func (export "acme:things/api@1.0.0#many") (param $n i32) (result i32) (local $i i32)
        (block $end (loop $again
            (br_if $end (i32.eq (local.get $i) (local.get $n)))
            (i32.store (i32.add (i32.const 131072) (i32.mul (local.get $i) (i32.const 4)))
                (call $make (local.get $i)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $again)))
        (i32.store (i32.const 64) (i32.const 131072))
        (i32.store (i32.const 68) (local.get $n))
        (i32.const 64))
    (func (export "acme:things/api@1.0.0#maybe") (param $fail i32) (result i32)
        (i32.store8 (i32.const 64) (local.get $fail))
        (i32.store (i32.const 68) (if (result i32) (local.get $fail)
            (then (i32.const 7)) (else (call $make (i32.const 5)))))
        (i32.const 64))
    (func (export "acme:things/api@1.0.0#wait") (param i32)
        (call $call (i32.const 16) (i32.const 4) (i32.const 32) (i32.const 2) (i32.const 128)))
    (func (export "acme:things/api@1.0.0#plain") (result i32)
        (global.set $plain (i32.add (global.get $plain) (i32.const 1)))
        (global.get $plain)))"#;

/// A component of this world and module.
fn things(wit: &str, module: &str) -> Vec<u8> {
    let mut resolve: Resolve = crate::contract::resolve().clone();
    let package = resolve.push_source("things.wit", wit).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    let mut module = wat::parse_str(module).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let encoder = ComponentEncoder::default().validate(true).module(&module);
    encoder.unwrap().encode().unwrap()
}

async fn loaded(engine: &Engine, name: &str) -> LoadedComponent {
    let bytes = things(WIT, MODULE);
    let loaded = LoadedComponent::load(engine, name, bytes, MetadataMode::Skip).await;
    loaded.unwrap()
}

/// A host with two components that may live on, and one session of it.
struct Sessions {
    host: ComponentHost,
    components: Vec<LoadedComponent>,
}

impl Sessions {
    async fn new(limits: Limits) -> Self {
        let engine = Engine::new(EngineOptions {
            slots: 4,
            memory_bytes_max: 16 << 20,
            ..EngineOptions::default()
        });
        let mut host = ComponentHost::new(engine.clone(), limits);
        let mut components = Vec::new();
        for name in ["things", "others"] {
            let component = loaded(&engine, name).await.with_state();
            host.add(component.clone());
            components.push(component);
        }
        Self { host, components }
    }

    fn call(&self, session: u64, component: &str, function: &str, arguments: &str) -> FunctionCall {
        let mut known = self.components.iter().filter(|c| c.name() == component);
        let mut functions = known.next().unwrap().functions().iter();
        let function = functions.find(|f| f.name.function == function).unwrap();
        assert_eq!(function.offer, Offer::Offered, "{}", function.name);
        FunctionCall {
            function: Arc::new(function.clone()),
            arguments: serde_json::from_str(arguments).unwrap(),
            services: Arc::new(EchoServices),
            depth: 0,
            totals: Arc::default(),
            scope: CallScope::top(SessionId::from_bits(session)),
        }
    }

    async fn made(&self, call: FunctionCall) -> String {
        line(&self.host.call(call).await)
    }

    /// The outcome of a call of the first component in the first session.
    async fn line(&self, function: &str, arguments: &str) -> String {
        self.made(self.call(1, "things", function, arguments)).await
    }

    /// The handle that such a call gives.
    async fn handle(&self, function: &str, arguments: &str) -> String {
        let given = self.line(function, arguments).await;
        assert!(given.starts_with("\"counter:"), "{given}");
        given
    }

    async fn counter(&self, start: u32) -> String {
        self.handle("counter-new", &format!("{{\"start\": {start}}}"))
            .await
    }

    async fn add(&self, counter: &str) -> String {
        let arguments = format!("{{\"self\": {counter}, \"n\": 1}}");
        self.line("counter-add", &arguments).await
    }
}

fn line(outcome: &CallOutcome) -> String {
    match &outcome.result {
        Ok(value) => value.to_string(),
        Err(CallError::Trapped { trap, .. }) => format!("trap {trap}"),
        Err(error) => error.to_string(),
    }
}

/// A line with every handle as its resource.
fn without_digits(line: &str) -> String {
    let mut told = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("counter:") {
        told.push_str(before);
        told.push_str("counter:…");
        rest = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    told + rest
}

#[tokio::test]
async fn without_a_yes_of_a_person_resources_are_listed_with_what_allows_them() {
    let engine = super::engine();
    let component = loaded(&engine, "things").await;
    let offers = |component: &LoadedComponent| {
        let functions = component.functions().iter();
        let offers = functions.map(|f| (f.name.function.clone(), f.is_stateful, f.offer.clone()));
        offers.collect::<Vec<_>>()
    };
    let before = offers(&component);
    let names: Vec<_> = before.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "counter-new",
            "counter-add",
            "counter-spoil",
            "counter-spin",
            "counter-alive",
            "timer-new",
            "merge",
            "both",
            "many",
            "maybe",
            "wait",
            "plain",
            "counter-release",
            "timer-release",
        ]
    );
    let reason = "it works on a resource, which needs an instance that lives on between calls; \
                  allow that with `stateful = true` under `[components.things]` in openprogram.toml";
    for (name, is_stateful, offer) in &before {
        let expected = match name.as_str() {
            "plain" => Offer::Offered,
            _ => Offer::NotOfferable(reason.to_owned()),
        };
        assert_eq!(
            (*is_stateful, offer),
            (name != "plain", &expected),
            "{name}"
        );
    }
    let after = offers(&component.with_state());
    assert!(after.iter().all(|(_, _, offer)| *offer == Offer::Offered));
}

#[tokio::test]
async fn a_name_that_another_function_has_refuses_the_one_function_and_names_both() {
    let wit = "package acme:things; interface api {
        resource counter { constructor(); new: static func(); add: func(); }
        counter-add: func();
        counter-release: func();
    } world things { export api; }";
    let module = r#"(module
        (func (export "acme:things/api#[constructor]counter") (result i32) unreachable)
        (func (export "acme:things/api#[static]counter.new"))
        (func (export "acme:things/api#[method]counter.add") (param i32))
        (func (export "acme:things/api#counter-add"))
        (func (export "acme:things/api#counter-release")))"#;
    let engine = super::engine();
    let bytes = things(wit, module);
    let loaded = LoadedComponent::load(&engine, "things", bytes, MetadataMode::Skip).await;
    let functions = loaded.unwrap().with_state();
    let told = functions.functions().iter().map(|f| match &f.offer {
        Offer::Offered => f.name.function.clone(),
        Offer::NotOfferable(reason) => format!("{}: {reason}", f.name.function),
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "counter-new",
            "[static]counter.new: it would be called `counter-new`, which `[constructor]counter` of \
             the same interface is; rename one of them",
            "[method]counter.add: it would be called `counter-add`, which `counter-add` of the same \
             interface is; rename one of them",
            "counter-add",
            "counter-release",
            "[resource-drop]counter: it would be called `counter-release`, which `counter-release` \
             of the same interface is; rename one of them",
        ]
    );
}

#[tokio::test]
async fn what_is_behind_a_handle_lives_on_until_it_is_released() {
    let host = Sessions::new(Limits::default()).await;
    let first = host.counter(5).await;
    let second = host.counter(10).await;
    assert_ne!(first, second);
    assert_eq!([host.add(&first).await, host.add(&first).await], ["6", "7"]);
    assert_eq!(host.add(&second).await, "11");
    assert_eq!(host.line("counter-alive", "{}").await, "2");
    let release = format!("{{\"self\": {first}}}");
    assert_eq!(host.line("counter-release", &release).await, "null");
    assert_eq!(host.line("counter-alive", "{}").await, "1");
    assert_eq!(
        without_digits(&host.add(&first).await),
        "argument `self`: `counter:…` was released; `counter_new` gives another one"
    );
    assert_eq!(host.add(&second).await, "12");
    // What works on no resource has an instance of its own, as ever.
    assert_eq!(
        [
            host.line("plain", "{}").await,
            host.line("plain", "{}").await
        ],
        ["1", "1"]
    );
}

#[tokio::test]
async fn handles_cross_inside_of_values_and_are_given_away_once() {
    let host = Sessions::new(Limits::default()).await;
    let (a, b) = (host.counter(1).await, host.counter(2).await);
    let pair = |a: &str, b: &str| format!("{{\"a\": {a}, \"b\": {b}}}");
    for function in ["merge", "both"] {
        let twice = host.line(function, &pair(&a, &a)).await;
        assert_eq!(
            without_digits(&twice),
            "argument `b`: the call takes `counter:…` for good, and is given it a second time"
        );
    }
    let merged = host.handle("merge", &pair(&a, &b)).await;
    assert_eq!([host.add(&merged).await, host.add(&b).await], ["4", "3"]);
    assert_eq!(
        without_digits(&host.add(&a).await),
        "argument `self`: `counter:…` was given away to `merge`; `counter_new` gives another one"
    );
    let many: Vec<String> = serde_json::from_str(&host.line("many", "{\"n\": 3}").await).unwrap();
    let last = Json::from(many[2].as_str()).to_string();
    assert_eq!(host.add(&last).await, "3");
    let ok = host.handle("maybe", "{\"fail\": false}").await;
    assert_eq!(host.add(&ok).await, "6");
    assert_eq!(
        host.line("maybe", "{\"fail\": true}").await,
        "the function failed: 7"
    );
    assert_eq!(host.add(&ok).await, "7");
}

#[tokio::test]
async fn handles_that_are_made_up_or_of_others_are_refused_by_their_path() {
    let host = Sessions::new(Limits::default()).await;
    let own = host.counter(1).await;
    let timer = host.line("timer-new", "{}").await;
    let there = host.call(1, "others", "counter-new", "{\"start\": 1}");
    let there = host.made(there).await;
    let of_another_session = host.call(2, "things", "counter-new", "{\"start\": 1}");
    let of_another_session = host.made(of_another_session).await;
    let unknown = "argument `self`: `counter:…` is no handle of a `counter` of this session: it was \
                   never given, or by a program that has ended since; `counter_new` gives another one";
    let guess = "\"counter:00000000000000000000000000000000\"";
    for handle in [guess, &of_another_session] {
        assert_eq!(without_digits(&host.add(handle).await), unknown);
    }
    assert_eq!(
        host.add(&there).await,
        "argument `self`: it is a handle of the component `others`, and handles do not leave their \
         component"
    );
    let of_a_timer = host.add(&timer).await;
    assert!(
        of_a_timer.ends_with(
            "is a handle of a `timer`, and one of a `counter` is needed; `counter_new` gives \
             another one"
        ),
        "{of_a_timer}"
    );
    assert_eq!(host.add("7").await, "argument `self`: expected a string");
    assert_eq!(host.add(&own).await, "2");
}

#[tokio::test]
async fn a_trap_or_limit_ends_the_instance_with_all_of_its_handles_and_says_so() {
    let limits = Limits {
        cpu_ms: 30,
        ..Limits::default()
    };
    let host = Sessions::new(limits).await;
    for (function, outcome, why) in [
        (
            "counter-spoil",
            "trap unreachable",
            "the function trapped: unreachable",
        ),
        (
            "counter-spin",
            "the function computed longer than 30 ms",
            "the function computed longer than 30 ms",
        ),
    ] {
        let (first, second) = (host.counter(1).await, host.counter(2).await);
        let arguments = format!("{{\"self\": {first}}}");
        assert_eq!(host.line(function, &arguments).await, outcome);
        let expected = format!(
            "argument `self`: the instance that held `counter:…` has ended, with everything in it: \
             in `{function}`, {why}; `counter_new` gives another one"
        );
        for handle in [&first, &second] {
            assert_eq!(without_digits(&host.add(handle).await), expected);
        }
    }
    // A guest that traps while it cleans up is no better.
    let cursed = host.counter(666).await;
    let release = format!("{{\"self\": {cursed}}}");
    assert_eq!(
        host.line("counter-release", &release).await,
        "trap unreachable"
    );
    let fresh = host.counter(1).await;
    assert_eq!(host.line("counter-alive", "{}").await, "1");
    assert_eq!(host.add(&fresh).await, "2");
}

#[tokio::test]
async fn no_more_handles_than_the_limit_are_given_and_the_others_stay() {
    let limits = Limits {
        live_handles: 3,
        ..Limits::default()
    };
    let host = Sessions::new(limits).await;
    let first = host.counter(1).await;
    let too_many = "the component holds more than 3 handles; release some first";
    // They are dropped again, which the guest sees.
    assert_eq!(host.line("many", "{\"n\": 3}").await, too_many);
    assert_eq!(host.line("counter-alive", "{}").await, "1");
    host.counter(2).await;
    host.counter(3).await;
    for _ in 0..100 {
        let refused = host.line("counter-new", "{\"start\": 4}").await;
        assert_eq!(refused, too_many);
    }
    assert_eq!(host.line("counter-alive", "{}").await, "3");
    // As many as fit into memory are more handles than a store has.
    let flood = host.line("many", "{\"n\": 30000}").await;
    assert_eq!(flood, too_many);
    let release = format!("{{\"self\": {first}}}");
    host.line("counter-release", &release).await;
    let flood = host.line("many", "{\"n\": 30000}").await;
    assert_eq!(flood, "the function holds more than 1000 handles");
}

/// Services that call back into the host, below the call that they serve.
struct CallsBack {
    host: Arc<Sessions>,
    call: FunctionCall,
    told: std::sync::Mutex<Option<String>>,
}

#[async_trait]
impl HostServices for CallsBack {
    fn model(&self, runtime: RuntimeRef) -> Result<String, Failure> {
        EchoServices.model(runtime)
    }

    fn system(&self, runtime: RuntimeRef) -> Result<Option<String>, Failure> {
        EchoServices.system(runtime)
    }

    fn set_system(&self, runtime: RuntimeRef, text: Option<String>) -> Result<(), Failure> {
        EchoServices.set_system(runtime, text)
    }

    fn session_id(&self) -> String {
        EchoServices.session_id()
    }

    async fn make(&self, request: DecisionRequest) -> Result<Json, Failure> {
        EchoServices.make(request).await
    }

    async fn pick(&self, request: DecisionRequest) -> Result<PickedOption, Failure> {
        EchoServices.pick(request).await
    }

    async fn call(&self, _: &str, _: Json) -> Result<Json, Failure> {
        let outcome = self.host.host.call(self.call.clone()).await;
        *self.told.lock().unwrap() = Some(line(&outcome));
        // The contract has no room in this guest for an answer.
        std::future::pending().await
    }
}

/// Makes `call` from inside of a call of `wait`, and says what came of it.
async fn called_back(host: &Arc<Sessions>, counter: &str, call: FunctionCall) -> String {
    let services = Arc::new(CallsBack {
        host: Arc::clone(host),
        call,
        told: std::sync::Mutex::default(),
    });
    let mut outer = host.call(1, "things", "wait", &format!("{{\"c\": {counter}}}"));
    outer.services = Arc::clone(&services) as Arc<dyn HostServices>;
    let waited = tokio::time::timeout(Duration::from_secs(2), host.host.call(outer)).await;
    assert!(waited.is_err());
    services.told.lock().unwrap().take().unwrap()
}

fn below(mut call: FunctionCall, entered: &[&str]) -> FunctionCall {
    call.depth = 1;
    call.scope.entered = entered.iter().map(|name| (*name).to_owned()).collect();
    call
}

#[tokio::test]
async fn a_call_from_below_a_live_instance_is_refused_and_never_waits_for_it() {
    let host = Arc::new(Sessions::new(Limits::default()).await);
    let counter = host.counter(1).await;
    let again = host.call(1, "things", "counter-alive", "{}");
    assert_eq!(
        called_back(&host, &counter, below(again, &["things"])).await,
        "a call above this one is in the instance of `things`, which is entered by one call at a \
         time; let that one end first"
    );
    // The call that waited was stopped in the middle, and took the instance with it.
    assert_eq!(
        without_digits(&host.add(&counter).await),
        "argument `self`: the instance that held `counter:…` has ended, with everything in it: a \
         call in it was stopped before its end; `counter_new` gives another one"
    );
    // Somebody else in another live instance does not wait for this one either, since this one could
    // wait for that one; an instance of another session is another one.
    let counter = host.counter(1).await;
    let other = host.call(1, "things", "counter-alive", "{}");
    assert_eq!(
        called_back(&host, &counter, below(other, &["others"])).await,
        "another call is in the instance of `things`, and a call that comes from a live instance \
         does not wait for it; try again when that one has ended"
    );
    let counter = host.counter(1).await;
    let elsewhere = host.call(2, "things", "counter-alive", "{}");
    assert_eq!(
        called_back(&host, &counter, below(elsewhere, &[])).await,
        "0"
    );
}

#[tokio::test]
async fn calls_beside_each_other_wait_for_the_instance() {
    let host = Sessions::new(Limits::default()).await;
    let counter = host.counter(0).await;
    let arguments = format!("{{\"self\": {counter}, \"n\": 1}}");
    let calls = (0..20).map(|_| {
        host.host
            .call(host.call(1, "things", "counter-add", &arguments))
    });
    let mut values: Vec<u64> = Vec::new();
    for outcome in join_all(calls.collect()).await {
        values.push(outcome.result.unwrap().as_u64().unwrap());
    }
    values.sort_unstable();
    assert_eq!(values, (1..=20).collect::<Vec<_>>());
}

/// Polls all of these together.
async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut left: Vec<_> = futures.into_iter().map(|f| (Box::pin(f), None)).collect();
    std::future::poll_fn(|cx| {
        let mut is_done = true;
        for (future, output) in &mut left {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    std::task::Poll::Ready(done) => *output = Some(done),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        match is_done {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    left.into_iter().filter_map(|(_, output)| output).collect()
}

#[tokio::test]
async fn an_instance_that_nobody_uses_ends() {
    let limits = Limits {
        idle_ms: 50,
        ..Limits::default()
    };
    let host = Sessions::new(limits).await;
    let counter = host.counter(1).await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert_eq!(
        without_digits(&host.add(&counter).await),
        "argument `self`: the instance that held `counter:…` has ended, with everything in it: it \
         was not used for 50 ms (`idle_ms`); `counter_new` gives another one"
    );
}

#[tokio::test]
async fn instances_of_runs_that_are_over_make_room_and_others_do_not() {
    let host = Sessions::new(Limits::default()).await;
    let run = Arc::<RunTotals>::default();
    let make = |session, totals: &Arc<RunTotals>| {
        let mut call = host.call(session, "things", "counter-new", "{\"start\": 1}");
        call.totals = Arc::clone(totals);
        call
    };
    let mut handles = Vec::new();
    for session in 0..16 {
        handles.push(host.made(make(session, &run)).await);
    }
    assert_eq!(
        host.made(make(16, &run)).await,
        "16 instances live on in all sessions together, and that is the most"
    );
    // The first run ends.
    drop(run);
    assert!(
        host.made(make(16, &Arc::default()))
            .await
            .starts_with("\"counter:")
    );
    let add = |session: u64| {
        let handle = &handles[usize::try_from(session).unwrap()];
        let arguments = format!("{{\"self\": {handle}, \"n\": 1}}");
        host.made(host.call(session, "things", "counter-add", &arguments))
    };
    assert_eq!(
        without_digits(&add(0).await),
        "argument `self`: the instance that held `counter:…` has ended, with everything in it: its \
         run was over, and another session needed its place; `counter_new` gives another one"
    );
    assert_eq!(add(1).await, "2");
}

#[tokio::test]
async fn each_call_of_an_instance_is_counted_for_itself() {
    let host = Sessions::new(Limits::default()).await;
    let totals = Arc::<RunTotals>::default();
    let mut reports = Vec::new();
    let counter = host.counter(1).await;
    for _ in 0..3 {
        let arguments = format!("{{\"self\": {counter}, \"n\": 1}}");
        let mut call = host.call(1, "things", "counter-add", &arguments);
        call.totals = Arc::clone(&totals);
        reports.push(host.host.call(call).await.report);
    }
    assert!(
        reports
            .iter()
            .all(|report| report.memory_bytes == 4 * 65_536)
    );
    assert!(reports.iter().all(|report| report.host_calls == 0));
    // What it holds between the calls counts in the run.
    let held = totals
        .of("things")
        .memory_bytes
        .load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(held, 4 * 65_536);
}
