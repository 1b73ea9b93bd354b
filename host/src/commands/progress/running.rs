//! What a run is doing and for how long, from its events and a clock that is passed in.

use std::time::{Duration, Instant};

use openprogram_core::id::NodeId;
use openprogram_runtime::Event;

use super::lines::name;
use crate::commands::time::whole_seconds;

/// What goes on now, innermost last.
#[derive(Debug, Default)]
pub(super) struct Running(Vec<Activity>);

/// A call or a model request that has begun and not ended.
#[derive(Debug)]
struct Activity {
    node: NodeId,
    kind: Kind,
    name: String,
    since: Instant,
}

#[derive(Debug)]
enum Kind {
    Call,
    /// A request, and the sleep before its next try.
    Request(Option<Sleep>),
}

#[derive(Debug)]
struct Sleep {
    until: Instant,
    next_try: u32,
    tries_max: u32,
}

impl Running {
    /// Takes one event in. Gives the time that something took when the event ends it.
    pub(super) fn note(&mut self, event: &Event, now: Instant) -> Option<Duration> {
        match event {
            Event::CallStarted { node, function, .. } => {
                self.begin(node, Kind::Call, function, now);
                None
            }
            Event::ModelRequestStarted { node, model } => {
                self.begin(node, Kind::Request(None), model, now);
                None
            }
            Event::ModelRetried { node, retry } => {
                let known = self.0.iter_mut().find(|known| known.node == *node);
                if let Some(activity) = known {
                    // A sleep that long has no end that a clock could tell.
                    let until = now.checked_add(retry.sleep);
                    activity.kind = Kind::Request(until.map(|until| Sleep {
                        until,
                        next_try: retry.attempt.saturating_add(1),
                        tries_max: retry.attempts_max,
                    }));
                }
                None
            }
            Event::CallEnded { node, .. } | Event::ModelRequestEnded { node, .. } => {
                let at = self.0.iter().rposition(|known| known.node == *node)?;
                let ended = self.0.remove(at);
                // The time of the whole run is told by whoever started it.
                let is_whole = self.0.is_empty() && matches!(ended.kind, Kind::Call);
                (!is_whole).then(|| now.saturating_duration_since(ended.since))
            }
            _ => None,
        }
    }

    fn begin(&mut self, node: &NodeId, kind: Kind, called: &str, now: Instant) {
        self.0.push(Activity {
            node: node.clone(),
            kind,
            name: name(called),
            since: now,
        });
    }

    /// What goes on innermost, and in which function, each with its time.
    pub(super) fn status(&self, now: Instant) -> Option<String> {
        let inner = self.0.last()?;
        let mut status = inner.status(now);
        let is_call = |known: &&Activity| matches!(known.kind, Kind::Call);
        let outer = self.0.iter().rev().skip(1).find(is_call);
        if let Some(outer) = outer.filter(|_| !matches!(inner.kind, Kind::Call)) {
            status.push_str(&format!(" (in {})", outer.status(now)));
        }
        Some(status)
    }
}

impl Activity {
    fn status(&self, now: Instant) -> String {
        let name = &self.name;
        let time = whole_seconds(now.saturating_duration_since(self.since));
        match &self.kind {
            Kind::Call => format!("{name}, {time}"),
            Kind::Request(Some(sleep)) if now < sleep.until => {
                let Sleep {
                    until,
                    next_try,
                    tries_max,
                } = sleep;
                // The last part of a second is a second still.
                let left = *until - now + Duration::from_millis(999);
                let left = whole_seconds(left);
                format!("{name} again in {left}, try {next_try} of {tries_max}")
            }
            Kind::Request(Some(sleep)) => {
                let Sleep {
                    next_try,
                    tries_max,
                    ..
                } = sleep;
                format!("asking {name}, try {next_try} of {tries_max}, {time}")
            }
            Kind::Request(None) => format!("asking {name}, {time}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::llm::{Asked, LlmReason, RetryInfo};
    use openprogram_core::session::NodeStatus;

    use super::*;

    fn call(number: u64, depth: u32) -> Event {
        Event::CallStarted {
            node: NodeId::from_bits(number),
            caller: None,
            function: format!("a:b/c.f{number}"),
            depth,
        }
    }

    fn ended(number: u64) -> Event {
        Event::CallEnded {
            node: NodeId::from_bits(number),
            function: String::new(),
            status: NodeStatus::Completed,
        }
    }

    fn request(number: u64) -> Event {
        Event::ModelRequestStarted {
            node: NodeId::from_bits(number),
            model: "home:\u{1b}[31mm".to_owned(),
        }
    }

    fn retried(number: u64, sleep: Duration) -> Event {
        Event::ModelRetried {
            node: NodeId::from_bits(number),
            retry: Box::new(RetryInfo {
                attempt: 1,
                attempts_max: 6,
                sleep,
                reason: LlmReason::Transport,
                http_status: None,
                retry_after: None,
                elapsed: Duration::ZERO,
                error_name: String::new(),
                error: String::new(),
                asked: Asked::default(),
            }),
        }
    }

    #[test]
    fn the_innermost_activity_is_told_with_its_time_and_its_function() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut running = Running::default();
        assert_eq!(running.status(at(0)), None);
        for (second, event, status) in [
            (0, call(1, 0), "a:b/c.f1, 0 s"),
            (2, request(2), "asking home:m, 0 s (in a:b/c.f1, 2 s)"),
            (
                3,
                retried(2, Duration::from_millis(1_500)),
                "home:m again in 2 s, try 2 of 6 (in a:b/c.f1, 3 s)",
            ),
            (70, call(3, 1), "a:b/c.f3, 0 s"),
        ] {
            running.note(&event, at(second));
            assert_eq!(running.status(at(second)).unwrap(), status);
        }
        assert_eq!(
            running.note(&ended(3), at(75)),
            Some(Duration::from_secs(5))
        );
        let status = "asking home:m, try 2 of 6, 1 min 13 s (in a:b/c.f1, 1 min 15 s)";
        assert_eq!(running.status(at(75)).unwrap(), status);
    }

    #[test]
    fn an_end_without_a_begin_and_a_sleep_without_an_end_are_no_trouble() {
        let now = Instant::now();
        let mut running = Running::default();
        assert_eq!(running.note(&ended(9), now), None);
        running.note(&retried(9, Duration::MAX), now);
        running.note(&request(1), now);
        running.note(&retried(1, Duration::MAX), now);
        assert_eq!(running.status(now).unwrap(), "asking home:m, 0 s");
    }

    #[test]
    fn the_time_of_the_whole_run_is_not_told_twice() {
        let now = Instant::now();
        let mut running = Running::default();
        running.note(&call(1, 0), now);
        assert_eq!(running.note(&ended(1), now + Duration::from_secs(9)), None);
    }
}
