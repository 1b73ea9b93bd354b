//! What became of the calls that a model asked for, as the request that goes on with them holds it.

use serde_json::json;

use crate::failure::Failure;
use crate::id::NodeId;
use crate::{Json, JsonObject};

/// The answer to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallAnswer {
    /// The id of the call.
    pub id: String,
    /// What was run for it.
    pub ran: AnsweredBy,
}

/// What was run for a call.
#[derive(Clone, Debug, PartialEq)]
pub enum AnsweredBy {
    /// A function, whose node tells the rest.
    Function(NodeId),
    /// A tool that is no function. It has no node, and this is its whole record.
    Own(OwnCall),
    /// Nothing; the model was told this.
    Nothing(String),
}

/// One call of a tool that is no function.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
    /// What it gave.
    pub result: Result<Json, Failure>,
    /// Who reads of it later.
    pub readers: OwnReaders,
}

/// Which later turns read of a call that has no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnReaders {
    /// Those that read of the request.
    Callers,
    /// Those of the function that made the request, and of functions that it called.
    Function,
    /// None: it means nothing after its turn.
    Nobody,
}

impl CallAnswer {
    /// The fact of a request that holds the answers it goes on with, an array in their order.
    pub const FACT: &'static str = "answers";

    /// As one JSON object, an item of the fact.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut answer = match &self.ran {
            AnsweredBy::Function(node) => json!({"id": self.id, "node": node.as_str()}),
            AnsweredBy::Nothing(text) => json!({"id": self.id, "refused": text}),
            AnsweredBy::Own(call) => {
                let mut answer = json!({
                    "id": self.id,
                    "name": call.name,
                    "arguments": call.arguments,
                });
                match &call.result {
                    Ok(value) => {
                        answer["status"] = "completed".into();
                        answer["output"] = value.clone();
                    }
                    Err(failure) => {
                        answer["status"] = "failed".into();
                        answer["failure"] = failure.to_json();
                    }
                }
                answer
            }
        };
        let readers = match &self.ran {
            AnsweredBy::Own(call) => call.readers,
            _ => OwnReaders::Callers,
        };
        match readers {
            OwnReaders::Callers => {}
            OwnReaders::Function => answer["read_by"] = "function".into(),
            OwnReaders::Nobody => answer["read_by"] = "nobody".into(),
        }
        answer
    }

    /// Reads what [`CallAnswer::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(json: &Json) -> Option<Self> {
        let text = |key: &str| json.get(key).and_then(Json::as_str);
        let ran = if let Some(node) = text("node") {
            AnsweredBy::Function(NodeId::from_stored(node.to_owned()))
        } else if let Some(refused) = text("refused") {
            AnsweredBy::Nothing(refused.to_owned())
        } else {
            let result = match json.get("failure") {
                None => Ok(json.get("output")?.clone()),
                Some(failure) => Err(Failure::from_json(failure)?),
            };
            AnsweredBy::Own(OwnCall {
                name: text("name")?.to_owned(),
                arguments: json.get("arguments")?.as_object()?.clone(),
                result,
                readers: match text("read_by") {
                    None => OwnReaders::Callers,
                    Some("function") => OwnReaders::Function,
                    // What a later version may add is for those who know it.
                    Some(_) => OwnReaders::Nobody,
                },
            })
        };
        let id = text("id")?.to_owned();
        Some(Self { id, ran })
    }

    /// The answers among the facts of a request.
    pub fn of_facts(facts: &JsonObject) -> impl Iterator<Item = Self> {
        let answers = facts.get(Self::FACT).and_then(Json::as_array);
        answers.into_iter().flatten().filter_map(Self::from_json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureCode;

    fn check(ran: AnsweredBy, expected: &str) {
        let id = "a".to_owned();
        let answer = CallAnswer { id, ran };
        assert_eq!(answer.to_json().to_string(), expected);
        let mut facts = JsonObject::new();
        let items = vec![7.into(), answer.to_json(), json!({"id": "b"})];
        facts.insert(CallAnswer::FACT.to_owned(), items.into());
        // What is no answer is passed over.
        let read: Vec<_> = CallAnswer::of_facts(&facts).collect();
        assert_eq!(read, [answer]);
    }

    #[test]
    fn an_answer_is_written_and_read() {
        check(
            AnsweredBy::Function(NodeId::from_bits(3)),
            r#"{"id":"a","node":"n-0000000000000003"}"#,
        );
        check(
            AnsweredBy::Nothing("no".to_owned()),
            r#"{"id":"a","refused":"no"}"#,
        );
        let own = |result, readers| {
            AnsweredBy::Own(OwnCall {
                name: "add".to_owned(),
                arguments: JsonObject::from_iter([("n".to_owned(), 1.into())]),
                result,
                readers,
            })
        };
        check(
            own(Ok(2.into()), OwnReaders::Callers),
            r#"{"id":"a","name":"add","arguments":{"n":1},"status":"completed","output":2}"#,
        );
        check(
            own(Ok(Json::Null), OwnReaders::Function),
            r#"{"id":"a","name":"add","arguments":{"n":1},"status":"completed","output":null,"read_by":"function"}"#,
        );
        let failure = Failure::new(FailureCode::FunctionFailed, "too large");
        check(
            own(Err(failure), OwnReaders::Nobody),
            r#"{"id":"a","name":"add","arguments":{"n":1},"status":"failed","failure":{"code":"function-failed","message":"too large","details":{}},"read_by":"nobody"}"#,
        );
    }
}
