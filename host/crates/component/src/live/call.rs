//! One call into a live instance, which is made when there is none yet.

use std::sync::Arc;
use std::time::Instant;

use openprogram_core::Json;
use openprogram_core::function::Function;
use openprogram_core::guest::{CallError, CallOutcome, FunctionCall};
use tokio::sync::MutexGuard;
use wasmtime::Store;
use wasmtime::component::{ResourceAny, Val};

use super::book::{End, Given, Taken};
use super::room::{check_room, permit, room, too_many};
use super::{Live, LiveInstances, Place};
use crate::convert::{Made, Output};
use crate::engine::{Engine, Lane};
use crate::instance::{Stop, within};
use crate::invoke::{Argument, call_dynamic, lend, outcome, values};
use crate::limits::{LimitReached, Limits};
use crate::prepare::{Prepared, PreparedFunction};
use crate::reach::Reach;
use crate::state::{self, CallState};

/// A call with what it needs to be made.
pub(crate) struct LiveCall<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) limits: &'a Arc<Limits>,
    pub(crate) reach: &'a Reach,
    pub(crate) prepared: &'a Prepared,
    pub(crate) function: &'a PreparedFunction,
    /// The instances of its component.
    pub(crate) own: &'a LiveInstances,
    /// Those of every component, its own among them.
    pub(crate) all: Vec<InstancesOf<'a>>,
}

/// The instances of one component.
pub(crate) struct InstancesOf<'a> {
    pub(crate) name: &'a str,
    pub(crate) instances: &'a LiveInstances,
    pub(crate) limits: &'a Limits,
}

/// Makes the call. Dropping the future stops the guest, and ends the instance.
///
/// # Errors
/// When it cannot begin.
pub(crate) async fn call(
    call: &FunctionCall,
    with: LiveCall<'_>,
) -> Result<CallOutcome, CallError> {
    let component = &call.function.name.component;
    if call.scope.entered.contains(component) {
        return Err(busy(format!(
            "a call above this one is in the instance of `{component}`, which is entered by one call \
             at a time; let that one end first"
        )));
    }
    for of in &with.all {
        of.instances.end_idle(of.limits);
    }
    let built = with
        .engine
        .built()
        .map_err(|error| CallError::Internal(error.to_string()))?;
    let lane = if call.depth == 0 {
        Lane::Top
    } else {
        Lane::Nested
    };
    // The slot comes first: whoever is in an instance has one, and so never waits for whoever waits
    // for the instance.
    let _slot = with.engine.slot(lane).await?;
    let _running = built.running();
    let started = Instant::now();
    let place = with.own.place(&call.scope.session);
    let mut entered = Entered::enter(&place, call, with.limits).await?;
    let (arguments, taken) = arguments(call, &with, &place)?;
    check_room(&with, &place)?;
    entered.begin(call, &with, &built.wasmtime)?;
    let Some(Live {
        store, instance, ..
    }) = entered.live.as_mut()
    else {
        return Err(CallError::Internal("an instance is gone".to_owned()));
    };
    let work = async |store: &mut Store<CallState>| {
        let instance = match instance {
            Some(made) => *made,
            None => *instance.insert(with.prepared.pre.instantiate_async(&mut *store).await?),
        };
        if with.function.index.is_none() {
            return release(store, arguments).await;
        }
        let lent = lend(store, arguments)?;
        let returned = call_dynamic(store, &instance, with.function, &lent.values).await?;
        lent.take_back(store).await?;
        ended(store, &call.function, returned, room(&with, &place)).await
    };
    let (result, report) = within(store, started, with.limits.wall_ms, work).await;
    let result = entered.leave(call, &with, &taken, result);
    Ok(CallOutcome { result, report })
}

fn busy(message: String) -> CallError {
    LimitReached::new("instance_calls", 1, message).into()
}

/// The instance of a place, while a call is in it. When it is dropped before the call has ended, the
/// call was stopped in the middle, and so is the instance.
struct Entered<'a> {
    place: &'a Place,
    live: MutexGuard<'a, Option<Live>>,
    /// Whether the guest may be in the middle of something.
    is_inside: bool,
}

impl<'a> Entered<'a> {
    /// Waits until nobody else is in the instance. Who is in another one does not wait: that one may
    /// be waited for from this one.
    async fn enter(
        place: &'a Place,
        call: &FunctionCall,
        limits: &Limits,
    ) -> Result<Self, CallError> {
        let component = &call.function.name.component;
        let live = if call.scope.entered.is_empty() {
            let wall = std::time::Duration::from_millis(limits.wall_ms);
            let waited = tokio::time::timeout(wall, place.gate.lock()).await;
            waited.map_err(|_| {
                let message = format!(
                    "other calls were in the instance of `{component}` for {} ms",
                    limits.wall_ms
                );
                CallError::from(LimitReached::new("wall_ms", limits.wall_ms, message))
            })?
        } else {
            place.gate.try_lock().map_err(|_| {
                busy(format!(
                    "another call is in the instance of `{component}`, and a call that comes from a \
                     live instance does not wait for it; try again when that one has ended"
                ))
            })?
        };
        Ok(Self {
            place,
            live,
            is_inside: false,
        })
    }

    /// Begins a call in the instance, or in the store of one that the call itself makes.
    fn begin(
        &mut self,
        call: &FunctionCall,
        with: &LiveCall<'_>,
        engine: &wasmtime::Engine,
    ) -> Result<(), CallError> {
        let totals = call.totals.of(&call.function.name.component);
        let services = Arc::clone(&call.services);
        match self.live.as_mut() {
            Some(live) => live.store.data_mut().begin(services, with.reach, totals),
            None => {
                let permit = permit(with, &call.scope.session)?;
                let limits = Arc::clone(with.limits);
                let folders = with.reach.folders.open()?;
                let services = Some(services);
                let store = state::store(engine, limits, services, with.reach, folders, totals);
                *self.live = Some(Live {
                    store,
                    instance: None,
                    _permit: permit,
                });
            }
        }
        let checked = self
            .live
            .as_mut()
            .map(|live| live.store.data_mut().check_cpu());
        if let Some(Err(reached)) = checked {
            // Nothing was begun, and what was there goes on.
            if self
                .live
                .as_ref()
                .is_some_and(|live| live.instance.is_none())
            {
                *self.live = None;
            }
            return Err(reached.into());
        }
        let mut record = self.place.record();
        record.is_alive = true;
        record.run = Arc::downgrade(&call.totals);
        self.is_inside = true;
        Ok(())
    }

    /// Leaves the instance with what the call gave, or ends it with what has broken it.
    fn leave(
        mut self,
        call: &FunctionCall,
        with: &LiveCall<'_>,
        taken: &Taken,
        result: Result<Ended, CallError>,
    ) -> Result<Json, CallError> {
        self.is_inside = false;
        let function = &call.function.name.function;
        let mut record = self.place.record();
        record.used = tokio::time::Instant::now();
        let ended = match result {
            Ok(ended) => ended,
            Err(error) => {
                *self.live = None;
                record.end(&format!("in `{function}`, {error}"));
                return Err(error);
            }
        };
        if let Some(live) = self.live.as_mut() {
            live.store.data_mut().end();
        }
        for text in &taken.for_good {
            let end = match with.function.index {
                None => End::Released,
                Some(_) => End::GivenAway(function.as_str().into()),
            };
            record.book.end(text, end);
        }
        for made in ended.made {
            record.book.add(made);
        }
        ended.result
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.is_inside {
            *self.live = None;
            self.place
                .record()
                .end("a call in it was stopped before its end");
        }
    }
}

/// What a call gave, of an instance that goes on.
struct Ended {
    result: Result<Json, CallError>,
    made: Vec<Made>,
}

/// The arguments, with what their handles stand for.
fn arguments(
    call: &FunctionCall,
    with: &LiveCall<'_>,
    place: &Place,
) -> Result<(Vec<Argument>, Taken), CallError> {
    let (converted, taken) = {
        let record = place.record();
        let given = Given::of(&record.book);
        let (function, arguments) = (&call.function, &call.arguments);
        let converted = values(with.function, function, arguments, with.limits, &given);
        (converted, given.taken())
    };
    let mut error = match converted {
        Ok(arguments) => return Ok((arguments, taken)),
        Err(error) => error,
    };
    // Whose it is says more than that it is not there.
    if let (CallError::InvalidArgument { message, .. }, Some(text)) = (&mut error, &taken.unknown) {
        let mut others = with.all.iter();
        let owner = others.find(|other| other.instances.has(&call.scope.session, text));
        if let Some(owner) = owner {
            *message = format!(
                "it is a handle of the component `{}`, and handles do not leave their component",
                owner.name
            );
        }
    }
    Err(error)
}

/// Gives up the one handle of the arguments; the guest cleans up after it.
async fn release(store: &mut Store<CallState>, arguments: Vec<Argument>) -> Result<Ended, Stop> {
    for argument in arguments {
        if let Argument::Value(Val::Resource(resource)) = argument {
            resource.resource_drop_async(&mut *store).await?;
        }
    }
    Ok(Ended {
        result: Ok(Json::Null),
        made: Vec::new(),
    })
}

/// The outcome of a returned value. Where it cannot be given, none of its handles are kept.
async fn ended(
    store: &mut Store<CallState>,
    function: &Function,
    returned: Option<Val>,
    room: usize,
) -> Result<Ended, Stop> {
    let mut resources = Vec::new();
    if let Some(value) = &returned {
        resources_in(value, &mut resources);
    }
    let mut output = Output::new(&store.data().limits);
    let result = match resources.len() > room {
        true => Err(too_many(store.data().limits.live_handles).into()),
        false => outcome(returned, function, &mut output),
    };
    match result {
        Ok(_) | Err(CallError::Function(_)) => Ok(Ended {
            result,
            made: output.made,
        }),
        Err(error @ CallError::LimitReached { .. }) => {
            for resource in resources {
                resource.resource_drop_async(&mut *store).await?;
            }
            Ok(Ended {
                result: Err(error),
                made: Vec::new(),
            })
        }
        Err(error) => Err(error.into()),
    }
}

fn resources_in(value: &Val, found: &mut Vec<ResourceAny>) {
    match value {
        Val::Resource(resource) => found.push(*resource),
        Val::List(items) | Val::FixedLengthList(items) | Val::Tuple(items) => {
            items.iter().for_each(|item| resources_in(item, found));
        }
        Val::Record(fields) => fields
            .iter()
            .for_each(|(_, field)| resources_in(field, found)),
        Val::Map(entries) => entries
            .iter()
            .for_each(|(_, item)| resources_in(item, found)),
        Val::Variant(_, Some(inner))
        | Val::Option(Some(inner))
        | Val::Result(Ok(Some(inner)) | Err(Some(inner))) => resources_in(inner, found),
        _ => {}
    }
}
