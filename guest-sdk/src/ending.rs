//! How turns end: in an answer, or in a pick.

use crate::decision::{Choice, Menu, Picked, picked_from_host, resolve};
use crate::host::{decision, runtime as raw};
use crate::{Answer, Chosen, Failure, Json, Reply, failure};

/// How a turn ends: in an answer, or in a pick.
pub trait Ending: sealed::Sealed {
    /// What the turn gives.
    type Output;

    #[doc(hidden)]
    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn start(&self, runtime: &raw::Runtime, request: &raw::Request) -> Result<raw::Turn, Failure>;

    #[doc(hidden)]
    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn outcome(&self, turn: &raw::Turn) -> Result<Self::Output, Failure>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::Answer {}
    impl Sealed for crate::decision::Menu<'_> {}
    impl<C> Sealed for crate::Chosen<C> {}
}

impl Ending for Answer {
    type Output = Reply;

    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn start(&self, runtime: &raw::Runtime, request: &raw::Request) -> Result<raw::Turn, Failure> {
        runtime.start(request).map_err(failure::from_host)
    }

    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn outcome(&self, turn: &raw::Turn) -> Result<Reply, Failure> {
        match turn.outcome() {
            Some(Ok(reply)) => Ok(Reply(reply)),
            Some(Err(failed)) => Err(failure::from_host(failed)),
            None => Err(not_over()),
        }
    }
}

/// Gives the result of the picked option, which is run when the turn is over.
impl Ending for Menu<'_> {
    type Output = Json;

    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn start(&self, runtime: &raw::Runtime, request: &raw::Request) -> Result<raw::Turn, Failure> {
        let turn = decision::start_with(runtime, request, self.checked()?);
        turn.map_err(failure::from_host)
    }

    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn outcome(&self, turn: &raw::Turn) -> Result<Json, Failure> {
        resolve(&picked(turn)?, self)
    }
}

/// Gives the picked case; nothing runs.
impl<C: Choice> Ending for Chosen<C> {
    type Output = C;

    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn start(&self, runtime: &raw::Runtime, request: &raw::Request) -> Result<raw::Turn, Failure> {
        self.menu.start(runtime, request)
    }

    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn outcome(&self, turn: &raw::Turn) -> Result<C, Failure> {
        picked(turn)?.read()
    }
}

fn picked(turn: &raw::Turn) -> Result<Picked, Failure> {
    match decision::pick_of(turn) {
        Some(Ok(picked)) => Ok(picked_from_host(picked)),
        Some(Err(failed)) => Err(failure::from_host(failed)),
        None => Err(not_over()),
    }
}

/// A host that says `done` has an outcome.
fn not_over() -> Failure {
    Failure::invalid_argument("turn", "the turn is not over")
}
