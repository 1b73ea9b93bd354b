//! Places in the order of a session as text: runs of them, such as `1-40,52`.

/// Places that follow each other, first and last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first place.
    pub first: u64,
    /// The last place, not before the first.
    pub last: u64,
}

impl Run {
    /// Places as text, in their order. A long context is a few runs, not a list as long as itself.
    #[must_use]
    pub fn text_of(seqs: &[u64]) -> String {
        let mut runs: Vec<Self> = Vec::new();
        for &seq in seqs {
            match runs.last_mut() {
                Some(run) if run.last.checked_add(1) == Some(seq) => run.last = seq,
                _ => runs.push(Self {
                    first: seq,
                    last: seq,
                }),
            }
        }
        let texts = runs.iter().map(|run| {
            if run.first == run.last {
                run.first.to_string()
            } else {
                format!("{}-{}", run.first, run.last)
            }
        });
        texts.collect::<Vec<_>>().join(",")
    }

    /// Reads what [`Run::text_of`] writes; `None` for any other text. A run may be longer than
    /// what there is: whoever walks it bounds it.
    #[must_use]
    pub fn parse_all(text: &str) -> Option<Vec<Self>> {
        if text.is_empty() {
            return Some(Vec::new());
        }
        let runs = text.split(',').map(|run| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then_some(Self { first, last })
        });
        runs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_order_round_trip_as_runs() {
        for (seqs, text) in [
            (&[][..], ""),
            (&[7], "7"),
            (&[1, 2, 3], "1-3"),
            (&[1, 2, 4, 6, 7], "1-2,4,6-7"),
            (&[3, 1, 2, 2], "3,1-2,2"),
            (&[u64::MAX, 0], "18446744073709551615,0"),
        ] {
            assert_eq!(Run::text_of(seqs), text);
            let runs = Run::parse_all(text).unwrap().into_iter();
            let read: Vec<u64> = runs.flat_map(|run| run.first..=run.last).collect();
            assert_eq!(read, seqs);
        }
        for text in ["x", "1-", "-1", "2-1", "1,,2", "1-2-3", " 1"] {
            assert_eq!(Run::parse_all(text), None, "{text}");
        }
    }
}
