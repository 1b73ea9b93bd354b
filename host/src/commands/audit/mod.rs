//! `openprogram audit`: what the functions of a session reached for, what they got, and what not.

use std::fmt::Write as _;

use openprogram_core::Json;
use openprogram_core::session::{NodeQuery, Session};
use serde_json::json;

use self::record::{AuditedCall, Entry, Outcome};
use super::chosen_session;
use super::console::Console;
use super::time::moment;
use crate::app::App;
use crate::text::one_line;

mod record;

/// Characters of one text of the record on a line; `--json` shows the whole.
const TEXT_CHARS_MAX: usize = 300;

/// Lists every grant that was used in a session, every refusal, and every approval
///
/// They stand by the call that they belong to, equal ones once with their number. Below a refusal
/// stands the command that would allow it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session, `op-` and 16 hexadecimal digits; the newest one when there is none
    session: Option<String>,
    /// Print {"session", "title", "calls": [{"seq", "node", "name", "component", "entries": [{"kind",
    /// "what", "outcome": "used" or "refused", "grant", "message", "n", "command"}], "left_out",
    /// "approvals"}], "used", "refused", "commands"}
    #[arg(long)]
    pub(super) json: bool,
}

/// What is known of a session.
struct Audit {
    session: Session,
    /// The calls that reached for something, in order.
    calls: Vec<AuditedCall>,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (store, session) = chosen_session::session(args.session.as_deref(), app, console).await?;
    let nodes = store.nodes(&session.id, NodeQuery::default()).await?;
    let calls = nodes.iter().map(AuditedCall::of);
    let audit = Audit {
        session,
        calls: calls.filter(|call| !call.is_empty()).collect(),
    };
    if args.json {
        console.json(&audit.to_json())?;
        return Ok(());
    }
    if audit.calls.is_empty() {
        // Said once, in place of two zeros.
        console.say("no grant was used in this session, and nothing was refused");
        return Ok(());
    }
    console.text(&audit.to_text())?;
    Ok(())
}

impl Audit {
    fn count(&self, outcome: &Outcome) -> u64 {
        let entries = self.calls.iter().flat_map(|call| &call.entries);
        entries
            .filter(|entry| entry.outcome == *outcome)
            .fold(0, |sum, entry| sum.saturating_add(entry.n))
    }

    /// The commands that would allow what was refused, each once.
    fn commands(&self) -> Vec<&str> {
        let mut commands = Vec::new();
        for entry in self.calls.iter().flat_map(|call| &call.entries) {
            if let Some(command) = entry.command.as_deref()
                && !commands.contains(&command)
            {
                commands.push(command);
            }
        }
        commands
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        let session = &self.session;
        // Writing to a string cannot fail; the same holds below.
        let _ = writeln!(text, "{} {}", session.id, one_line(&session.title, 80));
        let _ = writeln!(
            text,
            "{}, {}, {}",
            moment(session.created_at),
            counted(
                self.count(&Outcome::Used),
                "use of grants",
                "uses of grants"
            ),
            counted(self.count(&Outcome::Refused), "refusal", "refusals"),
        );
        for call in &self.calls {
            write_call(&mut text, call);
        }
        text
    }

    fn to_json(&self) -> Json {
        let calls: Vec<_> = self.calls.iter().map(AuditedCall::to_json).collect();
        json!({
            "session": self.session.id.as_str(),
            "title": self.session.title,
            "calls": calls,
            "used": self.count(&Outcome::Used),
            "refused": self.count(&Outcome::Refused),
            "commands": self.commands(),
        })
    }
}

/// A number with its noun.
fn counted(n: u64, one: &str, many: &str) -> String {
    let noun = if n == 1 { one } else { many };
    format!("{n} {noun}")
}

fn write_call(text: &mut String, call: &AuditedCall) {
    let line = |text: &str| one_line(text, TEXT_CHARS_MAX);
    let of = match &call.component {
        Some(component) => format!(" of {}", line(component)),
        None => String::new(),
    };
    let _ = writeln!(text, "\n{} {}{of}", call.seq, line(&call.name));
    for entry in &call.entries {
        let Entry {
            what,
            message,
            grant,
            command,
            n,
            outcome,
            ..
        } = entry;
        let times = if *n == 1 {
            String::new()
        } else {
            format!("  {n} times")
        };
        let why = message.as_ref().map(|m| format!(": {}", line(m)));
        let by = grant.as_ref().map(|g| format!("  by `{}`", line(g)));
        let more = why.or(by).unwrap_or_default();
        let _ = writeln!(
            text,
            "    {:<8} {}{more}{times}",
            outcome.as_str(),
            line(what)
        );
        if let Some(command) = command {
            let _ = writeln!(text, "        to allow it: {command}");
        }
    }
    if call.left_out > 0 {
        let _ = writeln!(text, "    and {} more that are not recorded", call.left_out);
    }
    for approval in &call.approvals {
        let part = |key: &str| approval.get(key).and_then(Json::as_str).unwrap_or("?");
        let (answer, what, by) = (part("answer"), part("what"), part("by"));
        let _ = writeln!(
            text,
            "    {:<8} {}  by {}",
            line(answer),
            line(what),
            line(by)
        );
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use openprogram_core::failure::{Failure, FailureCode};
    use openprogram_core::function::{Expose, RenderRange};
    use openprogram_core::grant::{Access, GrantKind};
    use openprogram_core::id::{NodeId, SessionId, Timestamp};
    use openprogram_core::session::{NewNode, Node, NodeEnd, NodeKind, NodeStatus};

    use super::*;

    fn node(seq: u64, component: Option<&str>, facts: Json) -> Node {
        let object = |json: Json| json.as_object().cloned().unwrap_or_default();
        Node {
            seq,
            opened: NewNode {
                id: NodeId::from_bits(seq),
                session: SessionId::from_bits(1),
                kind: NodeKind::Code,
                name: "acme:shop/desk.sell".to_owned(),
                caller: None,
                predecessor: None,
                reads: Vec::new(),
                input: Json::Null,
                expose: Expose::default(),
                render_range: RenderRange::default(),
                doc: None,
                facts: object(json!({"component": component})),
                started_at: Timestamp(0),
            },
            end: Some(NodeEnd {
                status: NodeStatus::Completed,
                output: None,
                failure: None,
                usage: None,
                attempts: Vec::new(),
                facts: object(facts),
                finished_at: Timestamp(1),
            }),
        }
    }

    fn audit(nodes: &[Node]) -> Audit {
        let calls = nodes.iter().map(AuditedCall::of);
        Audit {
            session: Session {
                id: SessionId::from_bits(1),
                created_at: Timestamp(0),
                title: "\u{1b}[2Jsell".to_owned(),
                base: None,
            },
            calls: calls.filter(|call| !call.is_empty()).collect(),
        }
    }

    fn times(access: &Access, n: u64) -> Json {
        let mut json = access.to_json();
        json["n"] = n.into();
        json
    }

    #[test]
    fn everything_stands_by_its_call_with_the_command_that_allows_it() {
        let used = Access::granted(GrantKind::Http, "GET https://a.b/x", "https://a.b/");
        let line = Some("POST https://a.b/x".to_owned());
        let refused = Access::refused(GrantKind::Http, "POST https://a.b/x", "not\n granted", line);
        // Without what cannot be seen it would be another command.
        let line = Some("http://[::1]/\u{1b}[2Jx".to_owned());
        let never = Access::refused(GrantKind::Http, "GET http://[::1]/", "never", line);
        let denied = Failure::new(FailureCode::Denied, "may not call `c`")
            .with("what", "call c")
            .with("how_to_allow", "openprogram grant shop --call c");
        let unknown = Failure::new(FailureCode::NotFound, "there is no `d`").with("name", "d");
        let call = Access::refused(GrantKind::Calls, "call c", "may not", Some("c".to_owned()));
        let nodes = [
            node(1, None, json!({})),
            node(
                2,
                Some("shop"),
                json!({
                    "access": [times(&used, 3), times(&refused, 2), times(&never, 1), 7],
                    "access_left_out": 5,
                    "approvals": [{"answer": "approved", "what": "call c", "by": "terminal"}],
                }),
            ),
            node(
                3,
                Some("desk"),
                json!({
                    "n_refused": 5,
                    "refused": [denied.to_json(), denied.to_json(), unknown.to_json()],
                }),
            ),
            // What stands in both lists counts once.
            node(
                4,
                Some("desk"),
                json!({"access": [times(&call, 1)], "n_refused": 1, "refused": [denied.to_json()]}),
            ),
        ];
        let audit = audit(&nodes);
        expect![[r#"
            op-0000000000000001 sell
            1970-01-01 00:00:00Z, 3 uses of grants, 7 refusals

            2 acme:shop/desk.sell of shop
                used     GET https://a.b/x  by `https://a.b/`  3 times
                refused  POST https://a.b/x: not granted  2 times
                    to allow it: openprogram grant shop --http 'POST https://a.b/x'
                refused  GET http://[::1]/: never
                and 5 more that are not recorded
                approved call c  by terminal

            3 acme:shop/desk.sell of desk
                refused  call c: may not call `c`  2 times
                    to allow it: openprogram grant shop --call c
                refused  d: there is no `d`
                and 2 more that are not recorded

            4 acme:shop/desk.sell of desk
                refused  call c: may not
                    to allow it: openprogram grant desk --call c
        "#]]
        .assert_eq(&audit.to_text());
        let told = audit.to_json();
        assert_eq!((&told["used"], &told["refused"]), (&json!(3), &json!(7)));
        assert_eq!(told["calls"][0]["entries"][0]["grant"], "https://a.b/");
        assert_eq!(told["calls"][1]["left_out"], 2);
        let commands = told["commands"].as_array().unwrap();
        assert_eq!(commands.len(), 3, "{commands:?}");
    }
}
