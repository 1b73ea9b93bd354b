//! What a person approves, to what the answer is bound, and what is left of it in the graph.

use crate::failure::Failure;
use crate::grant::{Access, GrantKind};
use crate::id::Timestamp;
use crate::schema::sorted;
use crate::{Json, JsonObject};

/// Something that happens only when a person says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// The full name of the function whose call it is part of.
    pub function: String,
    /// The component of that function.
    pub component: String,
    /// The digest of that component.
    pub digest: String,
    /// All arguments of the call.
    pub arguments: JsonObject,
    /// The names of those that no model sees.
    pub hidden: Vec<String>,
    /// What is wanted: `run NAME`, `call NAME`, or `POST https://…`.
    pub what: String,
    /// What leaves, where a request is sent.
    pub sends: Option<Sending>,
    /// Which kind of grant asks, and its line with the component that has it; `None` where the
    /// function itself wants to be approved.
    pub grant: Option<AskingGrant>,
    /// Why the author of the function wants it approved, in the author's words.
    pub reason: Option<String>,
}

/// What a request would send, as a person is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The whole URL, its query included.
    pub url: String,
    /// The names of the headers that the function set, each once.
    pub headers: Vec<String>,
    /// Bytes of these names and their values.
    pub header_bytes: u64,
    /// The body; `None` where it is empty.
    pub body: Option<SentBody>,
    /// The SHA-256 of headers and body, `sha256:` and 64 hexadecimal digits.
    pub digest: String,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentBody {
    /// How long it is.
    pub bytes: u64,
    /// What the function says that it is.
    pub mime_type: Option<String>,
    /// How it begins, at most [`SentBody::HEAD_CHARS_MAX`] characters; `None` where it is no text.
    pub head: Option<String>,
}

impl SentBody {
    /// The most characters of a body that a person is shown.
    pub const HEAD_CHARS_MAX: usize = 500;
}

/// The grant that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskingGrant {
    /// Its kind.
    pub kind: GrantKind,
    /// Its line, with `ask` before it.
    pub line: String,
    /// The component that has it.
    pub component: String,
    /// The digest of that component.
    pub digest: String,
}

impl Approval {
    /// Everything that the answer holds for in one text, the same for the same call and another for
    /// any other: function, component, digest, arguments, what is wanted, by which grant of which
    /// component and digest, and what leaves.
    ///
    /// Its hash stands in the receipt. Members of objects are sorted, so that the order in which
    /// arguments were written makes no difference.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let grant = self.grant.as_ref().map(|grant| {
            Json::from(vec![
                grant.kind.key().to_owned(),
                grant.line.clone(),
                grant.component.clone(),
                grant.digest.clone(),
            ])
        });
        let mut parts = vec![
            self.function.clone().into(),
            self.component.clone().into(),
            self.digest.clone().into(),
            sorted(&Json::Object(self.arguments.clone())),
            self.what.clone().into(),
            grant.unwrap_or_default(),
        ];
        if let Some(sends) = &self.sends {
            parts.push(vec![sends.url.clone(), sends.digest.clone()].into());
        }
        Json::Array(parts).to_string()
    }

    /// The component that may do more by a yes: the one with the grant that asks, or else that of the
    /// function.
    #[must_use]
    pub fn profits(&self) -> &str {
        let grant = self.grant.as_ref();
        grant.map_or(&self.component, |grant| &grant.component)
    }
}

/// A use of a grant that asks which was not approved, for the record. Where nobody said no, the same
/// grant without the question would allow it.
#[must_use]
pub fn unapproved(kind: GrantKind, what: &str, line: &str, failure: &Failure) -> Access {
    let reason = failure.details.get("reason").and_then(Json::as_str);
    let is_no = reason.is_none_or(|reason| reason == ReceiptAnswer::Declined.as_str());
    let unasked = line.strip_prefix("ask ").map(str::trim_start);
    let needed = unasked.filter(|_| !is_no).map(str::to_owned);
    Access::refused(kind, what, failure.message.clone(), needed)
}

/// How a question for an approval ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiptAnswer {
    /// A person said yes.
    Approved,
    /// A person said no.
    Declined,
    /// Nobody answered in time.
    TimedOut,
    /// Nobody could be asked.
    NobodyThere,
}

impl ReceiptAnswer {
    const ALL: [Self; 4] = [
        Self::Approved,
        Self::Declined,
        Self::TimedOut,
        Self::NobodyThere,
    ];

    /// The word in the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::TimedOut => "timeout",
            Self::NobodyThere => "nobody-there",
        }
    }
}

/// What the graph keeps of one question for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The hash of [`Approval::canonical_text`], `sha256:` and 64 hexadecimal digits.
    pub question: String,
    /// What was wanted.
    pub what: String,
    /// The line of the grant that asked; `None` where the function itself wants to be approved.
    pub grant: Option<String>,
    /// How it ended.
    pub answer: ReceiptAnswer,
    /// Whether the answer is kept for each time that the same is asked, or was.
    pub remembered: bool,
    /// Who answered, for example `terminal`; [`Receipt::BY_MEMORY`] for an answer that was kept.
    pub by: String,
    /// When it ended.
    pub at: Timestamp,
}

impl Receipt {
    /// The fact of a node that holds the receipts of its call, an array of objects.
    pub const FACT: &'static str = "approvals";
    /// Who answered where nobody was asked, because a person had answered the same for good.
    pub const BY_MEMORY: &'static str = "memory";

    /// As one JSON object: `question`, `what`, `grant` where there is one, `answer` (`approved`,
    /// `declined`, `timeout`, `nobody-there`), `remembered` where it is true, `by`, `at`
    /// (milliseconds since 1970).
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut object = JsonObject::new();
        object.insert("question".to_owned(), self.question.clone().into());
        object.insert("what".to_owned(), self.what.clone().into());
        if let Some(grant) = &self.grant {
            object.insert("grant".to_owned(), grant.clone().into());
        }
        object.insert("answer".to_owned(), self.answer.as_str().into());
        if self.remembered {
            object.insert("remembered".to_owned(), true.into());
        }
        object.insert("by".to_owned(), self.by.clone().into());
        object.insert("at".to_owned(), self.at.0.into());
        Json::Object(object)
    }

    /// Reads what [`Receipt::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(value: &Json) -> Option<Self> {
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let answer = text("answer")?;
        let known = |known: &ReceiptAnswer| known.as_str() == answer;
        Some(Self {
            question: text("question")?,
            what: text("what")?,
            grant: text("grant"),
            answer: ReceiptAnswer::ALL.into_iter().find(known)?,
            remembered: value.get("remembered") == Some(&Json::Bool(true)),
            by: text("by")?,
            at: Timestamp(value.get("at")?.as_i64()?),
        })
    }
}
