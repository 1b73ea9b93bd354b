//! Counts words and sentences.

use crate::essays::Count;

/// Counts the words of a text, but for some, and its sentences.
pub(crate) fn count(text: &str, without: &[String]) -> Count {
    let is_end = |c: char| matches!(c, '.' | '!' | '?');
    let has_word = |part: &&str| part.contains(char::is_alphanumeric);
    let counts = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        !without.iter().any(|other| other.eq_ignore_ascii_case(word))
    };
    let words = text.split_whitespace().filter(has_word).filter(counts);
    let sentences = text.split(is_end).filter(has_word);
    Count {
        words: length(words.count()),
        sentences: length(sentences.count()),
    }
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sentences_are_counted() {
        for (text, without, words, sentences) in [
            ("One two. Three!", &[][..], 3, 2),
            ("No end", &[], 2, 1),
            ("The cat - the dog...", &["the".to_owned()], 2, 1),
            (" … ", &[], 0, 0),
        ] {
            assert_eq!(count(text, without), Count { words, sentences }, "{text}");
        }
    }
}
