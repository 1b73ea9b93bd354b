//! The limits that a person may set for one component: their names, and how far each may be raised.

use std::collections::BTreeMap;

use crate::limits::Limits;

/// A limit that cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}`: {message}")]
pub struct LimitError {
    /// The name that was given.
    pub name: String,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

/// A limit by its name, with the most that it may be set to.
struct Entry {
    name: &'static str,
    ceiling: u64,
    field: fn(&mut Limits) -> Field<'_>,
}

enum Field<'a> {
    Wide(&'a mut u64),
    Narrow(&'a mut u32),
}

macro_rules! entries {
    ($($kind:ident $name:ident $ceiling:expr),* $(,)?) => {
        &[$(Entry {
            name: stringify!($name),
            ceiling: $ceiling,
            field: |limits| Field::$kind(&mut limits.$name),
        }),*]
    };
}

const HOUR_MS: u64 = 3_600_000;

/// Every limit but `call_depth`, which belongs to the chain of calls and not to one of them. What
/// the pool of instances or the contract fixes can only be lowered.
const ENTRIES: &[Entry] = entries![
    Wide memory_bytes 256 << 20,
    Narrow memories 8,
    Narrow tables 16,
    Wide table_elements 100_000,
    Narrow core_instances 128,
    Wide cpu_ms HOUR_MS,
    Wide run_cpu_ms 24 * HOUR_MS,
    Wide wall_ms 24 * HOUR_MS,
    Wide log_bytes 64 << 20,
    Wide result_bytes 64 << 20,
    Wide json_depth 64,
    Wide handles 10_000,
    Wide live_handles 5_000,
    Wide idle_ms 24 * HOUR_MS,
    Wide hostcall_bytes 256 << 20,
    Wide random_bytes 1 << 20,
    Wide menu_options 256,
    Wide menu_bytes 4 << 20,
    Wide menus_bytes 64 << 20,
    Wide text_bytes 4 << 20,
    Wide system_bytes 64 << 10,
    Wide image_bytes 32 << 20,
    Wide video_bytes 48 << 20,
    Wide audio_bytes 32 << 20,
    Wide turn_parts 1_000,
    Wide turn_tools 512,
    Wide turn_bytes 64 << 20,
    Wide open_turns 64,
    Wide turn_events 256,
    Wide turn_event_bytes 1 << 20,
    Wide local_tools 64,
    Wide reply_bytes 4 << 20,
    Wide reply_calls 128,
    Wide host_calls 1_000_000_000,
    Wide files_bytes 64 << 30,
    Wide files_count 1_000_000,
    Wide file_size 64 << 30,
    Wide folder_entries 1_000_000,
    Wide http_requests 100_000,
    Wide http_in_flight 256,
    Wide http_per_second 1_000,
    Wide http_fields_bytes 1 << 20,
    Wide http_request_bytes 1 << 30,
    Wide http_head_bytes 1 << 20,
    Wide http_response_bytes 1 << 30,
    Wide http_connect_ms 60_000,
    Wide http_first_byte_ms HOUR_MS,
    Wide http_idle_ms HOUR_MS,
    Wide http_total_ms 24 * HOUR_MS,
];

impl Limits {
    /// The limits of a component for which a person set these, by name; the rest are the usual ones.
    ///
    /// # Errors
    /// As for [`Limits::set`].
    pub fn of_settings(set: &BTreeMap<String, u64>) -> Result<Self, LimitError> {
        let mut limits = Self::default();
        for (name, value) in set {
            limits.set(name, *value)?;
        }
        // Whoever lets a call compute longer has not said that its run may not.
        if !set.contains_key("run_cpu_ms") {
            limits.run_cpu_ms = limits.run_cpu_ms.max(limits.cpu_ms);
        }
        Ok(limits)
    }

    /// Sets the limit of this name, as a person does for one component.
    ///
    /// # Errors
    /// When there is no such limit, or the value is 0 or above its ceiling.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
        let fail = |message: String| LimitError {
            name: name.to_owned(),
            message,
        };
        let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
            let known: Vec<_> = ENTRIES.iter().map(|e| format!("`{}`", e.name)).collect();
            return Err(fail(format!(
                "there is no such limit; there are {}",
                known.join(", ")
            )));
        };
        if value == 0 || value > entry.ceiling {
            let ceiling = entry.ceiling;
            return Err(fail(format!("it must be from 1 to {ceiling}, not {value}")));
        }
        match (entry.field)(self) {
            Field::Wide(field) => *field = value,
            Field::Narrow(field) => *field = u32::try_from(value).unwrap_or(u32::MAX),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_set_by_its_name_up_to_its_ceiling() {
        for entry in ENTRIES {
            let mut limits = Limits::default();
            limits.set(entry.name, entry.ceiling).unwrap();
            let set = match (entry.field)(&mut limits) {
                Field::Wide(field) => *field,
                Field::Narrow(field) => u64::from(*field),
            };
            assert_eq!(set, entry.ceiling, "{}", entry.name);
            let default = match (entry.field)(&mut Limits::default()) {
                Field::Wide(field) => *field,
                Field::Narrow(field) => u64::from(*field),
            };
            assert!(default <= entry.ceiling, "{}", entry.name);
            for wrong in [0, entry.ceiling + 1] {
                assert!(limits.set(entry.name, wrong).is_err(), "{}", entry.name);
            }
        }
        // The debug form names every field; a new limit has to be in the table.
        let text = format!("{:?}", Limits::default());
        assert_eq!(text.matches(": ").count(), ENTRIES.len() + 1, "{text}");
    }

    #[test]
    fn a_call_that_may_compute_longer_may_do_so_in_its_run() {
        let run = |set: &[(&str, u64)]| {
            let set = set.iter().map(|(name, value)| ((*name).to_owned(), *value));
            Limits::of_settings(&set.collect()).unwrap().run_cpu_ms
        };
        assert_eq!(run(&[("cpu_ms", HOUR_MS)]), HOUR_MS);
        assert_eq!(run(&[("cpu_ms", 100)]), Limits::default().run_cpu_ms);
        assert_eq!(run(&[("cpu_ms", HOUR_MS), ("run_cpu_ms", 5)]), 5);
    }

    #[test]
    fn what_cannot_be_set_says_what_can() {
        let mut limits = Limits::default();
        let error = limits.set("memory_bytes", 1 << 40).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`memory_bytes`: it must be from 1 to 268435456, not 1099511627776"
        );
        let error = limits.set("call_depth", 3).unwrap_err().to_string();
        assert!(
            error.starts_with("`call_depth`: there is no such limit; there are `memory_bytes`, ")
        );
        assert_eq!(limits, Limits::default());
    }
}
