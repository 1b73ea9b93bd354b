//! Functions of a bicycle workshop, to be replaced by your own.
//!
//! Every `pub fn` of the module below is a function of the component: the model sees its name, the
//! first paragraph of its documentation, and its parameters with their types and descriptions.

#[cfg(test)]
mod tests;

/// Answers the customers of a bicycle workshop.
#[openprogram_guest::functions]
pub mod workshop {
    use openprogram_guest::decision::Menu;
    use openprogram_guest::{Failure, Json, Request, Runtime, json};

    /// Handle a message of a customer: look up a price where one is needed, then book or reply.
    pub fn handle_message(
        /// What the customer wrote.
        #[param(placeholder = "My front tyre is flat. When can I come?", multiline)]
        message: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        // The model works with the tool first. Its last reply picks an option of the menu, and the
        // result of that option is the result of the function: the pick is the branch.
        let choices = Menu::new()
            .function::<book_repair>("book")
            .schema_described(
                "reply",
                json!({"text": "The answer."}),
                "Answer a question.",
            )
            .value_described("ignore", "IGNORED", "Not meant for a workshop.")
            .context(json!({ "message": message }));
        let request = Request::new(format!("A customer of the workshop wrote:\n\n{message}"))
            .tool::<tell_price>()
            .choices(choices);
        runtime.exec(request)
    }

    /// Tell what a repair costs.
    pub fn tell_price(
        /// What is broken.
        repair: Repair,
        /// Within how many days it is needed, if that was said.
        days: Option<u32>,
    ) -> Price {
        let euros = match repair {
            Repair::Tyre => 15,
            Repair::Brakes => 30,
            Repair::Gears => 45,
        };
        let is_express = days.is_some_and(|days| days < 2);
        let euros = if is_express { euros + 10 } else { euros };
        Price { euros, is_express }
    }

    /// Book a repair. Pick this when the customer wants to come.
    pub fn book_repair(
        /// What is broken.
        repair: Repair,
        /// The message itself, filled by `handle_message` and never by a model.
        #[param(hidden)]
        message: String,
    ) -> Booking {
        Booking { repair, message }
    }

    /// Something that the workshop repairs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Repair {
        /// A flat or worn tyre.
        Tyre,
        /// Brakes that squeal or do not hold.
        Brakes,
        /// Gears that slip.
        Gears,
    }

    /// What a repair costs.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Price {
        /// The price in euros.
        pub euros: u32,
        /// Whether it holds the surcharge for less than two days.
        pub is_express: bool,
    }

    /// A repair in the book of the workshop.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Booking {
        /// What is broken.
        pub repair: Repair,
        /// What the customer wrote.
        pub message: String,
    }
}
