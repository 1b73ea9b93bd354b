//! Words of a message, for the modules beside this one.

/// The words in lower case. Apostrophes stay (`don't`), other punctuation goes.
pub(crate) fn words(message: &str) -> Vec<String> {
    message
        .split(|character: char| !(character.is_alphanumeric() || is_apostrophe(character)))
        .map(|word| {
            word.trim_matches(is_apostrophe)
                .replace('’', "'")
                .to_lowercase()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '’')
}

/// Whether the words hold this phrase, word by word.
pub(crate) fn contains_phrase(words: &[String], phrase: &str) -> bool {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words
        .windows(phrase.len())
        .any(|window| window.iter().zip(&phrase).all(|(a, b)| a == b))
}

/// The start of a text, at most `most` characters, cut between words where possible.
pub(crate) fn head(text: &str, most: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= most {
        return one_line;
    }
    let cut: String = one_line.chars().take(most.saturating_sub(1)).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_without_punctuation() {
        assert_eq!(
            words("I DON’T like 'it', at all!"),
            ["i", "don't", "like", "it", "at", "all"]
        );
        assert_eq!(words("… — !"), [""; 0]);
    }

    #[test]
    fn phrases_are_found_word_by_word() {
        let words = words("I want my money back now");
        for (phrase, found) in [("money back", true), ("my back", false), ("now", true)] {
            assert_eq!(contains_phrase(&words, phrase), found, "{phrase}");
        }
    }

    #[test]
    fn a_head_ends_between_words_and_never_inside_a_character() {
        for (text, most, expected) in [
            ("short", 10, "short"),
            ("two  words\nhere", 40, "two words here"),
            ("two words here", 10, "two…"),
            ("ääääääääää", 4, "äää…"),
            ("ab", 0, "…"),
        ] {
            assert_eq!(head(text, most), expected, "{text} {most}");
        }
    }
}
