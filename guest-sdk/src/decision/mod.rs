//! The next step as a decision: the model picks one option of a menu, and the pick is the branch.
//!
//! [`make`] carries the pick out, [`pick`] only tells it, [`choose`] gives it a type of the author.
//! They need a runtime: some function on the call chain takes a `runtime: &Runtime`, or the menu
//! names one. To let the model work first and decide last, give the menu to
//! [`Request::choices`](crate::Request::choices).

mod literal;
pub(crate) mod local;
mod menu;
mod schema;

use crate::host::decision as raw;
use crate::{Failure, Json, failure, value};

pub use menu::Menu;
pub use openprogram_guest_macros::{Choice, Schema};
pub use schema::{Choice, Fields, Schema};

/// For generated code only.
#[doc(hidden)]
pub mod private {
    pub use super::literal::{described, last_segment, one_of};
    pub use super::schema::{
        Members, case_of, cases, field, members_of, not_a_case, object, parse,
    };
    pub use serde_json::{Map, Value};
}

/// A valid pick that has not been carried out.
#[derive(Debug)]
pub struct Picked(raw::Picked);

impl Picked {
    /// The name of the picked option.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// The arguments as picked, a JSON object. Hidden parameters are not among them.
    pub fn arguments(&self) -> Json {
        value::from_host(self.0.arguments())
    }

    /// The pick as a case of the type whose cases made the menu.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when the menu has other options than the cases of this type.
    pub fn read<C: Choice>(&self) -> Result<C, Failure> {
        C::read(&self.name(), self.arguments().parse()?)
    }

    /// The arguments of a schema option as the type whose fields made it.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when the picked option has other fields.
    pub fn fields<F: Fields>(&self) -> Result<F, Failure> {
        F::read_fields(self.arguments().parse()?, "arguments")
    }

    /// How the pick came about: `single` (one option and nothing to fill in), `decider` (a component
    /// weighed the options), `endpoint` (a provider's endpoint for decisions did), `constrained` (the
    /// model was held to the shape of a pick) or `text` (read from a reply). Later versions may add
    /// ways.
    pub fn how(&self) -> String {
        self.0.how()
    }

    /// How sure the pick is, from 0 to 1, if anybody says so.
    pub fn confidence(&self) -> Option<f64> {
        self.0.confidence()
    }

    /// Who says how sure it is: `decider` (a component that weighs options), `endpoint` (a provider's
    /// endpoint for decisions), `votes` (the share of the asks that picked it) or `only_option`.
    /// Later versions may add some.
    pub fn confidence_source(&self) -> Option<String> {
        self.0.confidence_source()
    }

    /// The name of the option that was picked and not sure enough, when this one took over.
    pub fn handed_off(&self) -> Option<String> {
        self.0.handed_off()
    }
}

/// Lets the model pick one option and resolves the pick into the result of the next step.
///
/// A picked function is run and gives its result, so does a closure; a picked value is given as it
/// is, a picked schema gives `{"decision": name, …fields}`. [`Json::parse`] gives the result a type.
///
/// # Errors
///
/// [`Decision`](crate::FailureKind::Decision) when the model never made a valid pick; the other kinds
/// say why it could not be asked, or how the picked function failed.
pub fn make(prompt: &str, menu: &Menu<'_>) -> Result<Json, Failure> {
    if menu.has_closures() {
        return resolve(&pick(prompt, menu)?, menu);
    }
    raw::make(prompt, menu.checked()?)
        .map(value::from_host)
        .map_err(failure::from_host)
}

/// Lets the model pick one option, checks the pick, and runs nothing.
///
/// # Errors
///
/// As [`make`], but for the failures of a picked function.
pub fn pick(prompt: &str, menu: &Menu<'_>) -> Result<Picked, Failure> {
    raw::pick(prompt, menu.checked()?)
        .map(Picked)
        .map_err(failure::from_host)
}

/// Lets the model pick one case of a type, with the runtime of the call chain.
///
/// The menu is [`Menu::of`] the type; for settings of its own there is [`pick`] with such a menu,
/// and [`Picked::read`].
///
/// ```
/// use openprogram_guest::{Failure, decision};
///
/// /// What becomes of a ticket.
/// #[derive(decision::Choice)]
/// enum Next {
///     /// The customer wants money back.
///     Refund {
///         /// For example A-1001.
///         order: String,
///         /// In euros.
///         amount: Option<f64>,
///     },
///     /// Nothing is left to do.
///     Close,
/// }
///
/// fn handle(ticket: &str) -> Result<String, Failure> {
///     Ok(match decision::choose(&format!("What becomes of this ticket? {ticket}"))? {
///         Next::Refund { order, amount: Some(amount) } => format!("{amount} euros for {order}"),
///         Next::Refund { order, amount: None } => format!("all of {order}"),
///         Next::Close => "closed".to_owned(),
///     })
/// }
/// ```
///
/// # Errors
///
/// As [`pick`].
pub fn choose<C: Choice>(prompt: &str) -> Result<C, Failure> {
    pick(prompt, &Menu::of::<C>())?.read()
}

/// Carries out a pick of this menu: [`make`] is [`pick`], then this.
///
/// # Errors
///
/// How the picked function failed, or that the pick does not fit this menu.
pub fn resolve(picked: &Picked, menu: &Menu<'_>) -> Result<Json, Failure> {
    let raw = menu.checked()?;
    if let Some(result) = menu.run_closure(&picked.name(), || picked.arguments().parse()) {
        return result;
    }
    raw::resolve(&picked.0, raw)
        .map(value::from_host)
        .map_err(failure::from_host)
}

/// The menu as a model reads it, all options at once. No model is asked and no runtime is needed.
///
/// # Errors
///
/// Why the options make no menu.
pub fn render(menu: &Menu<'_>) -> Result<String, Failure> {
    raw::render(menu.checked()?).map_err(failure::from_host)
}

/// Reads the pick out of a reply that came from elsewhere, and checks it.
///
/// After an invalid pick the model is asked again, as often as [`Menu::max_retries`] says: with the
/// runtime of the menu or that of the call chain. Where there is none, or it does not write, or the
/// menu says 0, the invalid pick is the failure. Votes, groups and the minimum of confidence have no
/// effect.
///
/// # Errors
///
/// [`Decision`](crate::FailureKind::Decision) when there is no valid pick.
pub fn parse(reply: &str, menu: &Menu<'_>) -> Result<Picked, Failure> {
    raw::parse(reply, menu.checked()?)
        .map(Picked)
        .map_err(failure::from_host)
}

/// Takes a pick of the host.
pub(crate) fn picked_from_host(picked: raw::Picked) -> Picked {
    Picked(picked)
}
