//! Customer support: a model picks which function handles a message, and the pick is the branch.
//!
//! This page is what the component exports. What the functions do stands in the modules beside it,
//! as plain Rust that `cargo test` runs natively.

mod answers;
mod refunds;
mod sentiment;
mod text;
mod urgency;

/// Handles messages of customers.
#[openprogram_guest::functions]
pub mod support {
    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::{Failure, Json, Runtime, json};

    /// Routes a message of a customer to the step that fits, and gives the result of that step.
    ///
    /// The message itself reaches the picked function through the context of the menu: the model
    /// picks a step and never copies the message.
    #[function(system = "You route messages of customers. Pick exactly one option.")]
    pub fn route_message(
        /// What the customer wrote.
        #[param(placeholder = "Where is my parcel?", multiline)]
        message: String,
        runtime: &Runtime,
    ) -> Result<Json, Failure> {
        let menu = Menu::new()
            .function::<analyze_sentiment>("analyze")
            .function::<fallback_reply>("fallback")
            .function::<refund>("refund")
            .function::<escalate>("escalate")
            .value_described(
                "conversation_over",
                "CONVERSATION_OVER",
                "Ends it: thanks and goodbye, bye, all solved, problem fixed, no further help needed.",
            )
            .context(json!({ "message": message }))
            .runtime(runtime);
        decision::make(&format!("Pick the step that fits.\n\n{message}"), &menu)
    }

    /// Measures the mood of feedback: praise or dislike, love or hate, happy or unhappy, great or
    /// bad experience, opinion of the product, service or staff.
    pub fn analyze_sentiment(
        /// What the customer wrote.
        #[param(hidden)]
        message: &str,
    ) -> Sentiment {
        crate::sentiment::analyze(message)
    }

    /// Replies to a question of how, when or where: what we deliver, shipping and delivery of a
    /// parcel, opening hours, account and password, invoice. Also for anything unclear.
    pub fn fallback_reply(
        /// What the customer wrote.
        #[param(hidden)]
        message: &str,
    ) -> Reply {
        crate::answers::reply(message)
    }

    /// Starts a refund: the customer wants money back, a return, or was charged twice, for an order
    /// that arrived broken, damaged, wrong or never.
    pub fn refund(
        /// What the customer wrote.
        #[param(hidden)]
        message: &str,
    ) -> RefundRequest {
        crate::refunds::request(message)
    }

    /// Hands over to a person of the team: a complaint to a manager or supervisor, a lawyer or legal
    /// threat, fraud, fire, somebody hurt, something dangerous, or a customer who asked again and
    /// again, was ignored and says that nobody answers.
    pub fn escalate(
        /// What the customer wrote.
        #[param(hidden)]
        message: &str,
    ) -> Ticket {
        crate::urgency::ticket(message)
    }

    /// The mood of a message.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Sentiment {
        /// The mood as a word.
        pub mood: Mood,
        /// From -1 (very bad) to 1 (very good).
        pub score: f64,
        /// The words that counted, in the order of the message.
        pub because_of: Vec<String>,
    }

    /// A mood.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Mood {
        /// Pleased.
        Positive,
        /// Neither, or both alike.
        Neutral,
        /// Displeased.
        Negative,
    }

    /// An answer to the customer.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Reply {
        /// What the question is about, if that is clear.
        pub topic: Option<Topic>,
        /// The text to send.
        pub text: String,
    }

    /// A topic with a prepared answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Topic {
        /// Where a parcel is and when it comes.
        Delivery,
        /// Signing in, passwords, personal data.
        Account,
        /// Invoices and receipts.
        Invoice,
        /// When somebody is there.
        OpeningHours,
    }

    /// A refund that can be checked by a person or a shop system.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RefundRequest {
        /// The number of the order, if the message names one.
        pub order: Option<String>,
        /// The amount, if the message names one.
        pub amount: Option<Money>,
        /// What is wrong with the order.
        pub reason: RefundReason,
        /// What the customer has to be asked; empty when the request is complete.
        pub questions: Vec<String>,
    }

    /// An amount of money.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Money {
        /// In hundredths of the currency.
        pub cents: u64,
        /// The currency.
        pub currency: Currency,
    }

    /// A currency that the shop takes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Currency {
        /// US dollar.
        Usd,
        /// Euro.
        Eur,
        /// Pound sterling.
        Gbp,
    }

    /// Why somebody wants money back.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RefundReason {
        /// The goods came damaged or do not work.
        Damaged,
        /// Something else came.
        WrongItem,
        /// Nothing came.
        NotReceived,
        /// Paid more than once.
        ChargedTwice,
        /// No reason that the message makes clear.
        Other,
    }

    /// Work for a person.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Ticket {
        /// How soon somebody has to look at it.
        pub urgency: Urgency,
        /// What makes it urgent.
        pub signals: Vec<String>,
        /// The start of the message.
        pub summary: String,
    }

    /// How soon somebody has to look at a ticket.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Urgency {
        /// In turn.
        Normal,
        /// Today.
        High,
        /// Now: somebody may be harmed, or the law is involved.
        Immediate,
    }
}
