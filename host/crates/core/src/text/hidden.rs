//! Which characters nobody sees, or which change the order of what is seen.
//!
//! A model reads them all the same, so whole sentences can be hidden in them. Some belong to
//! writing: joiners in Persian and the scripts of India, selectors behind an emoji. These stay
//! directly behind a character that can use them, one at a time, where they can hide nothing long.

/// What becomes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    Shown,
    /// It begins a new line under another name.
    LineBreak,
    Hidden,
}

/// The flags that are written as a black flag and hidden letters: England, Scotland, Wales.
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];
const BLACK_FLAG: char = '\u{1f3f4}';

/// What becomes of a character behind the last one that was shown and before the rest of the text.
pub(super) fn sight(before: Option<char>, c: char, after: &str) -> Sight {
    let is_behind = |fits: fn(char) -> bool| before.is_some_and(fits);
    let is_before = |fits: fn(char) -> bool| after.chars().next().is_some_and(fits);
    let is_shown = match c {
        '\n' | '\t' => true,
        // The `\r` of a line break of other systems goes too.
        c if c.is_control() => false,
        '\u{2028}' | '\u{2029}' => return Sight::LineBreak,
        // Fillers of old Hangul, between whose letters alone they mean something.
        '\u{115f}' | '\u{1160}' => is_behind(is_jamo) || is_before(is_jamo),
        // The blank of Braille, which looks like a space and is none.
        '\u{2800}' => is_behind(is_braille),
        // Variants of Mongolian letters, and the separator of its vowels.
        '\u{180b}'..='\u{180f}' => is_behind(is_mongolian),
        // A place where a line may break, in scripts that write no spaces.
        '\u{200b}' => is_behind(is_unspaced) && is_before(is_unspaced),
        '\u{200c}' => is_behind(joins),
        '\u{200d}' => {
            is_behind(joins)
                || (is_behind(|c| is_emoji(c) || c == '\u{fe0f}') && is_before(is_emoji))
        }
        '\u{fe00}'..='\u{fe0d}' => is_behind(has_variants),
        '\u{fe0e}' | '\u{fe0f}' => {
            is_behind(|c| is_emoji(c) || has_variants(c) || matches!(c, '0'..='9' | '#' | '*'))
        }
        '\u{e0100}'..='\u{e01ef}' => is_behind(is_ideograph),
        c => !is_never_seen(c),
    };
    if is_shown {
        Sight::Shown
    } else {
        Sight::Hidden
    }
}

/// Whether what becomes of a character cannot be said before more of the text is there.
pub(super) fn waits_for_more(before: Option<char>, c: char, after: &str) -> bool {
    match c {
        '\u{115f}' | '\u{1160}' | '\u{200b}' | '\u{200d}' => after.is_empty(),
        '\u{e0067}' => {
            let is_begun = |flag: &str| {
                let rest = &flag[c.len_utf8()..];
                rest.len() > after.len() && rest.starts_with(after)
            };
            before == Some(BLACK_FLAG) && FLAGS.into_iter().any(is_begun)
        }
        _ => false,
    }
}

/// The hidden letters of a flag with which the text goes on behind the last character shown.
pub(super) fn flag(before: Option<char>, text: &str) -> Option<&'static str> {
    if before != Some(BLACK_FLAG) {
        return None;
    }
    FLAGS.into_iter().find(|flag| text.starts_with(flag))
}

/// What is invisible or reorders wherever it stands: Default_Ignorable_Code_Point of Unicode and
/// the directional marks, without what is told apart above.
fn is_never_seen(c: char) -> bool {
    let is_noncharacter = u32::from(c) & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    is_noncharacter
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters and marks of scripts whose shapes depend on their neighbours.
fn joins(c: char) -> bool {
    let is_of_script = matches!(c,
        '\u{600}'..='\u{77f}' | '\u{7c0}'..='\u{8ff}' | '\u{900}'..='\u{dff}'
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1807}'..='\u{18aa}'
        | '\u{1a20}'..='\u{1aad}' | '\u{1b00}'..='\u{1bff}' | '\u{1cd0}'..='\u{1cff}'
        | '\u{a800}'..='\u{a8ff}' | '\u{a980}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{aae0}'..='\u{aaff}' | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdcf}'
        | '\u{fdf0}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{10aff}'
        | '\u{10d00}'..='\u{10d3f}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}');
    is_of_script && !c.is_numeric() && sight(None, c, "") == Sight::Shown
}

/// Letters of Thai, Lao, Tibetan, Myanmar, Khmer and their neighbours.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}'
        | '\u{17b6}'..='\u{17ff}' | '\u{1950}'..='\u{19ff}' | '\u{1a20}'..='\u{1aad}'
        | '\u{1b00}'..='\u{1b7f}' | '\u{a980}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}')
}

fn is_jamo(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115e}' | '\u{1161}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}'
        | '\u{d7b0}'..='\u{d7fb}')
}

fn is_braille(c: char) -> bool {
    matches!(c, '\u{2801}'..='\u{28ff}')
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18aa}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2fffd}' | '\u{30000}'..='\u{3fffd}')
}

/// What is drawn in several ways that Unicode names: ideographs, signs of mathematics, Myanmar.
fn has_variants(c: char) -> bool {
    is_ideograph(c)
        || matches!(c,
            '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}'
            | '\u{3001}' | '\u{3002}' | '\u{a840}'..='\u{a877}' | '\u{aa60}'..='\u{aa7f}'
            | '\u{ff01}'..='\u{ff60}' | '\u{10ac0}'..='\u{10aff}' | '\u{13000}'..='\u{1342f}')
}

/// Pictures, their skin tones included, and the signs that can be drawn as pictures.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
