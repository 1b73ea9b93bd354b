//! Calls and reads whatever it is told to, whether or not it may.

/// Calls.
#[openprogram_guest::functions(package = "hostile:caller")]
pub mod guest {
    use openprogram_guest::{ExportedFunction as _, Failure, Json, functions, json};

    /// Calls a function with these arguments and gives back what came of it.
    pub fn call(name: String, arguments: Json) -> Result<Json, Failure> {
        functions::call(&name, arguments)
    }

    /// Calls a function and gives the code of its failure, or `ok`.
    pub fn probe(name: String, arguments: Json) -> String {
        match functions::call(&name, arguments) {
            Ok(_) => "ok".to_owned(),
            Err(failure) => failure.code().to_owned(),
        }
    }

    /// Pays an amount, once a person has approved it.
    #[function(requires_approval = "It spends money.")]
    pub fn pay(amount: u32) -> u32 {
        amount
    }

    /// Calls itself through the host until that fails, and gives that failure.
    pub fn down() -> Result<Json, Failure> {
        functions::call(down::NAME, json!({}))
    }

    /// Calls itself by turns with `pong`, which no check of one name alone would notice.
    pub fn ping() -> Result<Json, Failure> {
        functions::call(pong::NAME, json!({}))
    }

    /// The other half of `ping`.
    pub fn pong() -> Result<Json, Failure> {
        functions::call(ping::NAME, json!({}))
    }

    /// Calls a small function so many times and gives how often that went well.
    pub fn wide(times: u32) -> u32 {
        let went_well = |_: &u32| functions::call(leaf::NAME, json!({})).is_ok();
        u32::try_from((0..times).filter(went_well).count()).unwrap_or(u32::MAX)
    }

    /// Gives a variable of the environment, when it is there.
    pub fn variable(name: String) -> Option<String> {
        std::env::var(name).ok()
    }

    /// Does nothing.
    pub fn leaf() {}
}
