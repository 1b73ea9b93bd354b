//! Reads the tone out of whatever a model wrote when it was asked for one word.

use crate::essays::Tone;

/// The tone that is named, if exactly one is.
pub(crate) fn read(reply: &str) -> Tone {
    let reply = reply.to_lowercase();
    let words: Vec<&str> = reply.split(|c: char| !c.is_alphabetic()).collect();
    let named = [
        ("positive", Tone::Positive),
        ("negative", Tone::Negative),
        ("neutral", Tone::Neutral),
    ];
    let mut found = named.iter().filter(|(word, _)| words.contains(word));
    match (found.next(), found.next()) {
        (Some((_, tone)), None) => *tone,
        _ => Tone::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_tone_that_is_named_is_taken() {
        for (reply, tone) in [
            ("positive", Tone::Positive),
            (" **Negative**.\n", Tone::Negative),
            ("The tone is neutral.", Tone::Neutral),
            ("positive or negative", Tone::Unclear),
            ("positively", Tone::Unclear),
            ("", Tone::Unclear),
        ] {
            assert_eq!(read(reply), tone, "{reply}");
        }
    }
}
