//! What is forgiven in a reply, and what a reply can hold that cannot be forgiven.

/// One slip that loses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    Fence,
    TrailingComma,
    SingleQuotes,
    PythonLiterals,
    Comments,
    RawLineBreaks,
}

impl Repair {
    const ALL: [(Self, &str); 6] = [
        (Self::Fence, "read out of a code fence"),
        (Self::TrailingComma, "trailing comma left out"),
        (Self::SingleQuotes, "single quotes read as double quotes"),
        (Self::PythonLiterals, "Python literals read as JSON"),
        (Self::Comments, "comments left out"),
        (
            Self::RawLineBreaks,
            "raw line breaks in a text read as escaped",
        ),
    ];
}

/// A set of repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repairs(u8);

impl Repairs {
    pub(super) fn add(&mut self, repair: Repair) {
        self.0 |= 1 << repair as u8;
    }

    /// The repairs in words, in a fixed order.
    pub(super) fn in_words(self) -> Vec<String> {
        let made = |(repair, _): &&(Repair, &str)| self.0 & (1 << *repair as u8) != 0;
        let words = Repair::ALL.iter().filter(made);
        words.map(|(_, words)| (*words).to_owned()).collect()
    }
}

/// What makes an object unusable although it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// Nested deeper than any argument may be.
    TooDeep,
    /// `NaN` or an infinity, which JSON does not have.
    NotFinite,
    /// An object that has this key twice, so that nobody knows which one is meant.
    Repeated(String),
}
