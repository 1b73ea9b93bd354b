//! A help desk: a model works on a ticket with tools, and closes it with a decision.
//!
//! `handle_ticket` is an exported function like the others, so another turn can offer it to a model as
//! a tool: one function, two call paths.
//!
//! This page is what the component exports. What the functions do stands in the modules beside it,
//! as plain Rust over a small table of orders and rules, which `cargo test` runs natively.

mod orders;
mod policy;
mod refunds;

/// Handles tickets of customers.
#[openprogram_guest::functions]
pub mod tickets {
    use openprogram_guest::decision::Menu;
    use openprogram_guest::{Failure, Json, Request, Runtime, json};

    /// Handles a ticket of a customer from start to end: looks up the order and the rules, then
    /// refunds it, hands it to a person, or closes it.
    #[function(
        system = "You handle tickets of a shop. Look up the order and the rules before you decide. \
                  Never promise what the rules do not allow."
    )]
    pub fn handle_ticket(
        /// What the customer wrote.
        #[param(placeholder = "My order A-1001 arrived broken.", multiline)]
        ticket: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        // The model works first and its last reply picks how the ticket ends. Whatever it picks is
        // carried out, and that is the result: there is no branch here.
        let choices = Menu::new()
            .function::<issue_refund>("refund")
            .function::<escalate_to_human>("escalate")
            .value_described(
                "close",
                json!({"status": "closed"}),
                "Close the ticket. Nothing is to be paid back and no person is needed.",
            )
            .context(json!({ "ticket": ticket }));
        let request = Request::new(format!("Handle this ticket:\n\n{ticket}"))
            .tools::<(look_up_order, search_policy)>()
            .max_iterations(8)
            .choices(choices);
        runtime.exec(request)
    }

    /// Look up an order by its number: what was bought, the price, and where it is.
    pub fn look_up_order(
        /// The order number, for example A-1001.
        #[param(placeholder = "A-1001")]
        order_number: &str,
    ) -> Result<Order, String> {
        crate::orders::look_up(order_number)
    }

    /// Search the rules of the shop: refunds, returns, damage, delivery, payment, warranty.
    pub fn search_policy(
        /// What to search for, in a few words, for example "damaged item".
        #[param(placeholder = "damaged item")]
        query: &str,
    ) -> Vec<Rule> {
        crate::policy::search(query)
    }

    /// Refund an order. Pick this when the rules allow it.
    pub fn issue_refund(
        /// The order number, for example A-1001.
        order_number: &str,
        /// Why the customer gets money back.
        reason: RefundReason,
    ) -> Result<Refund, String> {
        crate::refunds::issue(order_number, reason)
    }

    /// Hand the ticket to a person: danger, anger, law, or anything that the rules do not settle.
    pub fn escalate_to_human(
        /// One sentence for the person who takes over.
        summary: String,
        /// What the customer wrote.
        #[param(hidden)]
        ticket: String,
    ) -> Escalation {
        Escalation {
            status: "escalated".to_owned(),
            summary,
            ticket,
        }
    }

    /// An order.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Order {
        /// Its number.
        pub order_number: String,
        /// What was bought.
        pub item: String,
        /// What was paid, for example 24.90 USD.
        pub paid: String,
        /// Where it is.
        pub state: OrderState,
        /// How many days ago it arrived, if it did.
        pub delivered_days_ago: Option<u32>,
    }

    /// Where an order is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OrderState {
        /// Paid and not sent yet.
        Preparing,
        /// On its way.
        Shipped,
        /// At the customer's.
        Delivered,
        /// Lost by the carrier.
        Lost,
        /// Paid back already.
        Refunded,
    }

    /// A rule of the shop.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Rule {
        /// What it is about.
        pub title: String,
        /// What it says.
        pub text: String,
    }

    /// Why somebody gets money back.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RefundReason {
        /// It came damaged or does not work.
        Damaged,
        /// Something else came.
        WrongItem,
        /// Nothing came.
        NotReceived,
        /// The customer sends it back.
        ChangedMind,
    }

    /// A refund, or why there is none.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Refund {
        /// What became of it.
        pub status: RefundStatus,
        /// The order.
        pub order_number: String,
        /// How much goes back, for example 24.90 USD.
        pub amount: String,
        /// The rule that allows it, or why none does.
        pub because: String,
    }

    /// What became of a refund.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RefundStatus {
        /// The money is on its way.
        Issued,
        /// A person has to approve it.
        NeedsApproval,
        /// The rules do not allow it.
        Refused,
    }

    /// A ticket in the hands of a person.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Escalation {
        /// Always `escalated`.
        pub status: String,
        /// What it is about.
        pub summary: String,
        /// What the customer wrote.
        pub ticket: String,
    }
}
