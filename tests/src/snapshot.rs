//! Replaces what differs from run to run in a text, so that the rest can be compared whole.

/// One kind of thing that changes: what it begins with, its alphabet, how long it is, its word.
struct Changing {
    prefix: &'static str,
    letters: fn(char) -> bool,
    least: usize,
    word: &'static str,
}

fn hexadecimal(letter: char) -> bool {
    letter.is_ascii_digit() || ('a'..='f').contains(&letter)
}

fn number(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.'
}

const CHANGING: [Changing; 4] = [
    Changing {
        prefix: "op-",
        letters: hexadecimal,
        least: 16,
        word: "op-<session>",
    },
    Changing {
        prefix: "n-",
        letters: hexadecimal,
        least: 16,
        word: "n-<node>",
    },
    Changing {
        prefix: "counter:",
        letters: hexadecimal,
        least: 32,
        word: "counter:<handle>",
    },
    Changing {
        prefix: "sha256:",
        letters: hexadecimal,
        least: 12,
        word: "sha256:<digest>",
    },
];

/// Units that follow a measured number.
const UNITS: [&str; 7] = [" µs", " ms", " s", " KiB", " MiB", " B", " bytes"];

/// The text with ids, digests, dates and measured times replaced by their names.
#[must_use]
pub fn normalised(text: &str) -> String {
    let mut shown = text.to_owned();
    for changing in &CHANGING {
        shown = without(&shown, changing);
    }
    without_measures(&without_times(&without_dates(&shown)))
}

/// Replaces the number in `"wall_us": 12` and the like.
fn without_measures(text: &str) -> String {
    let shown = text.split_inclusive('\n').map(|line| {
        let measured = ["_ms\": ", "_us\": ", "memory_bytes\": "]
            .into_iter()
            .find_map(|key| {
                let value = line.find(key)? + key.len();
                let rest = line[value..].trim_start_matches(|c: char| c.is_ascii_digit());
                (rest.len() < line.len() - value).then(|| format!("{}<n>{rest}", &line[..value]))
            });
        measured.unwrap_or_else(|| line.to_owned())
    });
    shown.collect()
}

fn without(text: &str, changing: &Changing) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(changing.prefix) {
        let after = &rest[at + changing.prefix.len()..];
        let length = after
            .find(|c| !(changing.letters)(c))
            .unwrap_or(after.len());
        let whole_word = !rest[..at].ends_with(|c: char| c.is_alphanumeric());
        shown.push_str(&rest[..at]);
        if length >= changing.least && whole_word {
            shown.push_str(changing.word);
            rest = &after[length..];
        } else {
            shown.push_str(changing.prefix);
            rest = after;
        }
    }
    shown + rest
}

/// Replaces `2026-01-31 12:34:56` in its usual forms.
fn without_dates(text: &str) -> String {
    let pattern = |from: &str, form: &str| {
        from.len() >= form.len()
            && from
                .bytes()
                .zip(form.bytes())
                .all(|(letter, form)| match form {
                    b'0' => letter.is_ascii_digit(),
                    b'T' => letter == b'T' || letter == b' ',
                    other => letter == other,
                })
    };
    let mut shown = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let forms = [
            "0000-00-00T00:00:00.000Z",
            "0000-00-00T00:00:00Z",
            "0000-00-00T00:00:00",
            "0000-00-00T00:00",
        ];
        if let Some(form) = forms.into_iter().find(|form| pattern(rest, form)) {
            shown.push_str("<time>");
            rest = &rest[form.len()..];
        } else {
            shown.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    shown
}

/// Replaces the number in `1.5 ms` and the like.
fn without_times(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let after = &rest[at..];
        let length = after.find(|c| !number(c)).unwrap_or(after.len());
        let measured = UNITS.iter().any(|unit| {
            let follows = after[length..].strip_prefix(unit);
            follows.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        shown.push_str(&rest[..at]);
        shown.push_str(if measured { "<n>" } else { &after[..length] });
        rest = &after[length..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_replaced() {
        for (text, expected) in [
            ("session op-0123456789abcdef.", "session op-<session>."),
            (
                "op-x op-0123 stop-0123456789abcdef",
                "op-x op-0123 stop-0123456789abcdef",
            ),
            ("n-00000000000000ff→n-1", "n-<node>→n-1"),
            (
                "at 2026-01-31T10:11:12.123Z, 2026-01-31 10:11",
                "at <time>, <time>",
            ),
            (
                "took 1.25 ms of 20 ms, 3 times",
                "took <n> ms of <n> ms, 3 times",
            ),
            ("v1.2.3 6 items 7 s", "v1.2.3 6 items <n> s"),
            (
                "{\"wall_us\": 12,\n\"limit\": 3}",
                "{\"wall_us\": <n>,\n\"limit\": 3}",
            ),
        ] {
            assert_eq!(normalised(text), expected);
        }
    }
}
