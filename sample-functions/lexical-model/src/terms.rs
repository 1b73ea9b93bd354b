//! Words as terms: lower case, without endings, without words that say nothing.

use std::collections::BTreeSet;

/// Words that stand in any text, or in any request to choose.
const STOP_WORDS: [&str; 92] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "but", "by", "can", "choose", "could", "did", "do", "does", "fits", "for", "from",
    "get", "got", "had", "has", "have", "he", "her", "here", "his", "i", "if", "in", "into", "is",
    "it", "its", "just", "let", "me", "my", "need", "needed", "needs", "of", "on", "one", "option",
    "options", "or", "our", "out", "pick", "please", "she", "should", "so", "some", "step", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "up", "us",
    "use", "want", "wanted", "wants", "was", "we", "were", "what", "which", "who", "will", "with",
    "would", "you", "your", "yours",
];

/// The fewest characters that an ending may leave.
const SHORTEST_STEM: usize = 3;

/// The distinct terms of a text. `_` and `-` part words, as in the names of options.
pub(crate) fn of(text: &str) -> BTreeSet<String> {
    text.split(|character: char| !(character.is_alphanumeric() || matches!(character, '\'' | '’')))
        .map(|word| word.to_lowercase().replace('’', "'"))
        .map(|word| word.trim_matches('\'').to_owned())
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word))
        .collect()
}

/// Takes common English endings off: `charged`, `charges` and `charging` become `charg`.
fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    if let Some(start) = long_enough(word.strip_suffix("ies")) {
        return format!("{start}y");
    }
    let endings = ["ing", "ed", "es", "s"];
    let doubled_s = word.ends_with("ss");
    let bare = endings
        .iter()
        .filter(|ending| !(doubled_s && **ending == "s"))
        .find_map(|ending| long_enough(word.strip_suffix(ending)));
    let stem = bare.unwrap_or(word);
    // `stopped` leaves `stopp`, while `call` and `press` keep their letters.
    let mut end = stem.chars().rev();
    let (last, before) = (end.next(), end.next());
    let undouble = bare.is_some() && last == before && !matches!(last, Some('l' | 's' | 'z'));
    let stem = match last {
        Some(letter) if undouble => &stem[..stem.len() - letter.len_utf8()],
        _ => stem,
    };
    long_enough(stem.strip_suffix('e'))
        .unwrap_or(stem)
        .to_owned()
}

fn long_enough(stem: Option<&str>) -> Option<&str> {
    stem.filter(|stem| stem.chars().count() >= SHORTEST_STEM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_become_one_term() {
        let cases = [
            ("charge charged charges charging", "charg"),
            ("delivery deliveries", "delivery"),
            ("stop stops stopped stopping", "stop"),
            ("call calls called calling", "call"),
            ("arrive arrived arrives", "arriv"),
            ("customer customer's CUSTOMERS", "customer"),
            ("press", "press"),
            ("bus", "bus"),
            ("ring", "ring"),
            ("ÄRGER", "ärger"),
        ];
        for (text, term) in cases {
            assert_eq!(of(text).into_iter().collect::<Vec<_>>(), [term], "{text}");
        }
    }

    #[test]
    fn words_that_say_nothing_are_left_out() {
        assert_eq!(
            of("Please pick the one that it is, ' and '' — !"),
            BTreeSet::new()
        );
        assert_eq!(
            of("book_repair-now").into_iter().collect::<Vec<_>>(),
            ["book", "now", "repair"]
        );
    }
}
