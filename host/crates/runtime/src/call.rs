//! Runs one function in a child frame, recorded, and finds and admits the function of a call by name.

use std::sync::Arc;

use openprogram_core::catalog::ResolveError;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::guest::CallReport;
use openprogram_core::id::NodeId;
use openprogram_core::schema::Coercion;
use openprogram_core::session::{NewNode, NodeEnd, NodeKind, NodeStatus};
use openprogram_core::{Json, JsonObject};
use tracing::Instrument as _;

use crate::approval::approve_call;
use crate::arguments::{Arguments, complete_arguments, hidden_names};
use crate::body::{BodyEnd, run_body};
use crate::conditions::{model_of, required_approval};
use crate::events::Event;
use crate::frame::{Frame, TurnTools};
use crate::kept::Key;
use crate::ports::Ports;
use crate::recorder::FactsIfCutOff;
use crate::spans;

/// One call that may be made: function found and allowed, arguments complete.
#[derive(Debug)]
pub(crate) struct PlannedCall {
    /// The id that its node will have.
    pub(crate) node: NodeId,
    /// The function.
    pub(crate) function: FunctionRef,
    /// Its arguments.
    pub(crate) arguments: Arguments,
    /// The context of its frame.
    pub(crate) context: JsonObject,
    /// The node before it, for a call at the top.
    pub(crate) predecessor: Option<NodeId>,
    /// The model turn whose decision it is.
    pub(crate) picked_by: Option<NodeId>,
    /// The model turn inside which it runs, as one of its tools.
    pub(crate) inside: Option<CallingTurn>,
}

/// A model turn that calls its tools.
#[derive(Clone, Debug)]
pub(crate) struct CallingTurn {
    /// The node of the request that asked for the call.
    pub(crate) node: NodeId,
    /// The tools of the turn.
    pub(crate) tools: TurnTools,
}

/// What became of a call.
#[derive(Debug)]
pub(crate) struct CallEnd {
    /// The node of the call; `None` when it was refused before it began.
    pub(crate) node: Option<NodeId>,
    /// Its result.
    pub(crate) result: Result<Json, Failure>,
    /// The function's own error, where it returned one and that was recorded.
    pub(crate) own_error: Option<Json>,
}

impl CallEnd {
    /// A call that ended before its function ran.
    pub(crate) fn refused(failure: Failure) -> Self {
        Self {
            node: None,
            result: Err(failure),
            own_error: None,
        }
    }
}

/// Finds the function that `name` means to a component, its own first, and checks that it can be
/// offered and may be called. `None` is the person at the top.
pub(crate) fn find_function(
    ports: &Ports,
    component: Option<&str>,
    name: &str,
) -> Result<FunctionRef, Failure> {
    let function = ports
        .parts
        .catalog
        .resolve(name, component)
        .map_err(|error| not_found(&error))?;
    check_callable(ports, component, &function).map_err(|failure| match function.offer {
        Offer::Offered => failure,
        Offer::NotOfferable(_) => failure.with("path", name),
    })?;
    Ok(function)
}

/// Checks that a function can be offered and may be called by a component.
pub(crate) fn check_callable(
    ports: &Ports,
    component: Option<&str>,
    function: &FunctionRef,
) -> Result<(), Failure> {
    if let Offer::NotOfferable(reason) = &function.offer {
        let message = format!("`{}` cannot be called: {reason}", function.name);
        return Err(Failure::new(FailureCode::InvalidArgument, message)
            .with("function", function.name.to_string()));
    }
    ports.parts.policy.check(component, function)
}

/// Calls a function by name for the function of `frame`. A refusal is kept in the caller's record.
pub(crate) async fn call_by_name(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    name: &str,
    arguments: &Json,
) -> Result<Json, Failure> {
    let planned = plan_by_name(ports, frame, name, arguments);
    match planned {
        Ok(call) => run_call(ports, frame, call).await.result,
        Err(failure) => {
            frame.note_refusal(&failure);
            Err(failure)
        }
    }
}

fn plan_by_name(
    ports: &Ports,
    frame: &Frame,
    name: &str,
    arguments: &Json,
) -> Result<PlannedCall, Failure> {
    let function = find_function(ports, frame.component(), name)?;
    let Json::Object(given) = arguments else {
        let message = format!("the arguments of `{}` are not an object", function.name);
        return Err(Failure::new(FailureCode::InvalidArgument, message)
            .with("function", function.name.to_string())
            .with("path", ""));
    };
    let arguments = complete_arguments(&function, given, &frame.context)?;
    Ok(PlannedCall {
        node: ports.recorder.new_node_id(),
        function,
        arguments,
        context: frame.context.clone(),
        predecessor: None,
        picked_by: None,
        inside: None,
    })
}

/// Runs a planned call below `parent`, within the limits, and records it, in a span of its own.
pub(crate) async fn run_call(
    ports: &Arc<Ports>,
    parent: &Arc<Frame>,
    call: PlannedCall,
) -> CallEnd {
    let is_tool = call.inside.is_some();
    let span = spans::call(&call.function, &call.node, &parent.run.session, is_tool);
    let traces_content = ports.parts.traces_content;
    if traces_content {
        spans::record_arguments(&span, &call.function, &call.arguments.values);
    }
    let recorded = run_recorded(ports, parent, call);
    let end = recorded.instrument(span.clone()).await;
    match &end.result {
        Ok(result) if traces_content => spans::record_result(&span, result),
        Ok(_) => {}
        Err(failure) => spans::record_failure(&span, failure),
    }
    end
}

async fn run_recorded(ports: &Arc<Ports>, parent: &Arc<Frame>, call: PlannedCall) -> CallEnd {
    let function = Arc::clone(&call.function);
    if let Err(failure) = parent.count_call(&function, &ports.parts.limits) {
        parent.note_refusal(&failure);
        return CallEnd::refused(failure);
    }
    let opened = ports.recorder.open(new_node(ports, parent, &call)).await;
    let open = match opened {
        Ok(open) => open,
        Err(failure) => return CallEnd::refused(failure),
    };
    let node = open.id().clone();
    // Whoever runs a function by hand has said so already.
    let is_by_hand = parent.function.is_none() && call.inside.is_none() && call.picked_by.is_none();
    let required = if is_by_hand {
        None
    } else {
        required_approval(ports, parent, &function, &call.arguments.values).await
    };
    let is_tool = call.inside.is_some();
    let mut frame = parent.child(&function, node.clone(), call.context);
    if let Some(turn) = call.inside {
        frame = frame.inside_turn(turn.tools);
    }
    let frame = Arc::new(frame);
    let _over = OverWhenDropped(&frame, open.facts_if_cut_off());
    frame.run.emit(|| Event::CallStarted {
        node: node.clone(),
        caller: parent.node.clone(),
        function: function.name.to_string(),
        depth: parent.n_calls,
    });
    let approved = approve_call(ports, parent, &frame, required.as_ref()).await;
    let (ran, kept_from) = match approved {
        Ok(()) => run_or_find(ports, &frame, &function, call.arguments.values, is_tool).await,
        Err(failure) => (BodyEnd::refused(failure), None),
    };
    let BodyEnd {
        result,
        own_error,
        report,
    } = ran;
    frame.end();
    // A function that was stopped in the middle leaves nodes below it; they are closed before it.
    let settled = ports.recorder.settle().await;
    let end = node_end(ports, &frame, &result, report, kept_from.as_ref());
    let status = end.status;
    let closed = open.close(end).await;
    frame.run.emit(|| Event::CallEnded {
        node: node.clone(),
        function: function.name.to_string(),
        status,
    });
    let recorded = settled.and(closed);
    CallEnd {
        node: Some(node),
        // What could not be recorded is not given out as if it had been.
        own_error: own_error.filter(|_| recorded.is_ok()),
        result: recorded.and(result),
    }
}

/// Runs the body; the call of a model may be answered with what the same call gave before, and that
/// call is named then.
async fn run_or_find(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    function: &FunctionRef,
    arguments: JsonObject,
    is_tool: bool,
) -> (BodyEnd, Option<NodeId>) {
    let timer = &ports.parts.timer;
    let caching = function.gating.cache.filter(|_| is_tool);
    let key = caching.map(|_| Key::of(function, &arguments, model_of(ports, frame)));
    let found = key.and_then(|key| ports.kept.find(&key, timer.elapsed()));
    if let Some((value, node)) = found {
        let kept = BodyEnd {
            result: Ok(value),
            own_error: None,
            report: CallReport::default(),
        };
        return (kept, Some(node));
    }
    let ended = run_body(ports, frame, function, arguments).await;
    if let (Some(caching), Some(key), Some(node), Ok(value)) =
        (caching, key, &frame.node, &ended.result)
    {
        let ends = timer.elapsed().saturating_add(caching.ttl);
        ports.kept.keep(key, value, node, ends);
    }
    (ended, None)
}

/// Marks a call as over also when it is cut off, and keeps for the record what it reached for. It is
/// dropped before the node.
struct OverWhenDropped<'a>(&'a Frame, FactsIfCutOff);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        let Self(frame, kept) = self;
        frame.end();
        let mut facts = JsonObject::new();
        frame.add_refusals_to(&mut facts);
        frame.add_accesses_to(&mut facts);
        kept.put(facts);
    }
}

fn new_node(ports: &Ports, parent: &Frame, call: &PlannedCall) -> NewNode {
    let function = &call.function;
    let mut facts = JsonObject::new();
    facts.insert(
        "component".to_owned(),
        function.name.component.clone().into(),
    );
    facts.insert("digest".to_owned(), function.digest.clone().into());
    if function.is_stateful {
        facts.insert("stateful".to_owned(), true.into());
    }
    let hidden = hidden_names(function, &call.arguments.values);
    if !hidden.is_empty() {
        facts.insert(NewNode::HIDDEN_ARGUMENTS.to_owned(), hidden.into());
    }
    if !call.arguments.coercions.is_empty() {
        let coerced = coercions_to_json(&call.arguments.coercions);
        facts.insert("coerced".to_owned(), coerced);
    }
    if let Some(turn) = &call.picked_by {
        facts.insert("picked_by".to_owned(), turn.as_str().into());
    }
    // The calls of a turn stand below the request that asked for them.
    let turn = call.inside.as_ref().map(|turn| turn.node.clone());
    NewNode {
        id: call.node.clone(),
        session: parent.run.session.clone(),
        kind: NodeKind::Code,
        name: function.name.to_string(),
        caller: turn.or_else(|| parent.node.clone()),
        predecessor: call.predecessor.clone(),
        reads: Vec::new(),
        input: Json::Object(call.arguments.values.clone()),
        expose: function.expose,
        render_range: function.render_range,
        doc: (!function.description.is_empty()).then(|| function.description.clone()),
        facts,
        started_at: ports.recorder.now(),
    }
}

fn node_end(
    ports: &Ports,
    frame: &Frame,
    result: &Result<Json, Failure>,
    report: CallReport,
    kept_from: Option<&NodeId>,
) -> NodeEnd {
    let mut facts = JsonObject::new();
    if let Some(node) = kept_from {
        facts.insert("kept_from".to_owned(), node.as_str().into());
    }
    facts.insert("cpu_us".to_owned(), report.cpu_us.into());
    facts.insert("wall_us".to_owned(), report.wall_us.into());
    facts.insert("memory_bytes".to_owned(), report.memory_bytes.into());
    if report.log_bytes > 0 {
        facts.insert("log".to_owned(), report.log.into());
        facts.insert("log_bytes".to_owned(), report.log_bytes.into());
    }
    let counted = [
        ("host_calls", report.host_calls),
        ("egress_bytes", report.egress_bytes),
        ("ingress_bytes", report.ingress_bytes),
        ("written_bytes", report.written_bytes),
    ];
    for (name, count) in counted.into_iter().filter(|(_, count)| *count > 0) {
        facts.insert(name.to_owned(), count.into());
    }
    frame.add_refusals_to(&mut facts);
    frame.add_accesses_to(&mut facts);
    // A cancelled call never comes here: its future is dropped, and the recorder closes the node.
    let status = match result {
        Ok(_) => NodeStatus::Completed,
        Err(_) => NodeStatus::Failed,
    };
    NodeEnd {
        status,
        output: result.as_ref().ok().cloned(),
        failure: result.as_ref().err().cloned(),
        usage: None,
        attempts: Vec::new(),
        facts,
        finished_at: ports.recorder.now(),
    }
}

/// Repairs as facts hold them.
pub(crate) fn coercions_to_json(coercions: &[Coercion]) -> Json {
    let one = |coercion: &Coercion| {
        let mut object = JsonObject::new();
        object.insert("path".to_owned(), coercion.path.clone().into());
        object.insert("what".to_owned(), coercion.what.clone().into());
        Json::Object(object)
    };
    coercions.iter().map(one).collect()
}

fn not_found(error: &ResolveError) -> Failure {
    let failure = Failure::new(FailureCode::NotFound, error.to_string());
    match error {
        ResolveError::NotFound { name, nearest } => failure
            .with("name", name.clone())
            .with("nearest", nearest.clone()),
        ResolveError::Ambiguous { name, candidates } => failure
            .with("name", name.clone())
            .with("nearest", candidates.clone()),
    }
}
