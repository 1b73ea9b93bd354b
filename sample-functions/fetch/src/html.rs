//! A page as a reader sees it, in the notation of Markdown: headings, lists, links, tables.
//!
//! One pass over the tokens of the page, with a state that does not grow with its depth: no page
//! takes longer or more memory than its length allows.

use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};

use crate::url::Url;

/// The most bytes of the text of a page; links may make it longer than the page.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// The most bytes of the target of a link that is shown.
const LINK_BYTES_MAX: usize = 300;
/// The most characters of a title.
const TITLE_CHARS_MAX: usize = 300;
/// The most levels of lists that are told apart.
const LISTS_MAX: usize = 20;

/// A page as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// Whether the page goes on.
    pub(crate) is_cut: bool,
}

/// Renders a page of this URL.
pub(crate) fn render(html: &str, url: &Url) -> Rendered {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let tokenizer = Tokenizer::new_with_emitter(html, emitter);
    let mut page = Page::new(url);
    for token in tokenizer {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => page.start(&tag),
            Token::EndTag(tag) => page.end(&tag.name),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
        if page.out.len() > TEXT_BYTES_MAX {
            page.is_cut = true;
            break;
        }
    }
    page.finish()
}

/// What a tag does to the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Its content is not for readers.
    Hidden,
    Heading(usize),
    /// A block with so many line breaks before and after.
    Block(usize),
    List,
    Item,
    Cell,
    Break,
    Rule,
    Pre,
    Link,
    Picture,
    Title,
    None,
}

fn effect(name: &[u8]) -> Effect {
    match name {
        b"script" | b"style" | b"noscript" | b"iframe" | b"template" | b"noembed" | b"noframe" => {
            Effect::Hidden
        }
        b"h1" => Effect::Heading(1),
        b"h2" => Effect::Heading(2),
        b"h3" => Effect::Heading(3),
        b"h4" => Effect::Heading(4),
        b"h5" => Effect::Heading(5),
        b"h6" => Effect::Heading(6),
        b"p" | b"blockquote" | b"table" | b"dl" | b"figure" | b"article" | b"section" => {
            Effect::Block(2)
        }
        b"div" | b"tr" | b"dt" | b"dd" | b"header" | b"footer" | b"main" | b"nav" | b"aside"
        | b"form" | b"fieldset" | b"address" | b"details" | b"summary" | b"figcaption"
        | b"caption" | b"option" | b"body" => Effect::Block(1),
        b"ul" | b"ol" | b"menu" => Effect::List,
        b"li" => Effect::Item,
        b"td" | b"th" => Effect::Cell,
        b"br" => Effect::Break,
        b"hr" => Effect::Rule,
        b"pre" => Effect::Pre,
        b"a" => Effect::Link,
        b"img" => Effect::Picture,
        b"title" => Effect::Title,
        _ => Effect::None,
    }
}

/// A page on its way to text.
struct Page<'a> {
    url: &'a Url,
    out: String,
    title: Option<String>,
    /// Line breaks that come before the next text.
    breaks: usize,
    /// Whether a space comes before the next text.
    has_space: bool,
    /// The name of the element whose content is left out, and how deep it is nested in itself.
    hidden: Option<(Vec<u8>, usize)>,
    is_title: bool,
    n_pre: usize,
    /// The lists around: the number of the next item, where items are numbered.
    lists: Vec<Option<u32>>,
    /// Lists that are too deep to be told apart.
    n_deeper: usize,
    /// Whether a cell stands in this line already.
    has_cell: bool,
    /// Where the text of the open link begins, and what it leads to.
    link: Option<(usize, String)>,
    is_cut: bool,
}

impl<'a> Page<'a> {
    fn new(url: &'a Url) -> Self {
        Self {
            url,
            out: String::new(),
            title: None,
            breaks: 0,
            has_space: false,
            hidden: None,
            is_title: false,
            n_pre: 0,
            lists: Vec::new(),
            n_deeper: 0,
            has_cell: false,
            link: None,
            is_cut: false,
        }
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(hidden == name);
            return;
        }
        match effect(name) {
            Effect::Hidden => self.hidden = Some((name.to_vec(), 1)),
            Effect::Heading(level) => {
                self.block(2);
                self.push(&"#".repeat(level));
                self.has_space = true;
            }
            Effect::Block(breaks) => {
                self.block(breaks);
                self.has_cell &= name != b"tr";
            }
            Effect::List => {
                self.block(if self.lists.is_empty() { 2 } else { 1 });
                if self.lists.len() < LISTS_MAX {
                    self.lists.push((name == b"ol").then_some(1));
                } else {
                    self.n_deeper += 1;
                }
            }
            Effect::Item => self.item(),
            Effect::Cell => {
                if self.has_cell {
                    self.has_space = false;
                    self.push(" |");
                }
                self.has_cell = true;
                self.has_space = true;
            }
            Effect::Break => self.break_line(),
            Effect::Rule => {
                self.block(2);
                self.push("---");
                self.block(2);
            }
            Effect::Pre => {
                self.block(2);
                self.n_pre += 1;
            }
            Effect::Link => {
                self.end_link();
                self.link = self.target(tag).map(|target| (usize::MAX, target));
            }
            Effect::Picture => {
                let alt = attribute(tag, b"alt");
                if let Some(alt) = alt.filter(|alt| !alt.trim().is_empty()) {
                    self.words(&format!("[picture: {}]", alt.trim()));
                }
            }
            Effect::Title => self.is_title = true,
            Effect::None => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden == name {
                *depth -= 1;
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        match effect(name) {
            Effect::Heading(_) => self.block(2),
            Effect::Block(breaks) => self.block(breaks),
            Effect::List => {
                if self.n_deeper > 0 {
                    self.n_deeper -= 1;
                } else {
                    self.lists.pop();
                }
                self.block(if self.lists.is_empty() { 2 } else { 1 });
            }
            Effect::Item => self.block(1),
            Effect::Pre => {
                self.n_pre = self.n_pre.saturating_sub(1);
                self.block(2);
            }
            Effect::Link => self.end_link(),
            Effect::Title => self.is_title = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if self.is_title {
            let known = self.title.get_or_insert_default();
            let room = TITLE_CHARS_MAX.saturating_sub(known.chars().count());
            known.extend(text.chars().take(room));
        } else if self.n_pre > 0 {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    self.break_line();
                }
                if !line.is_empty() {
                    self.push(line.trim_end_matches('\r'));
                }
            }
        } else {
            self.words(text);
        }
    }

    /// Adds words, with one space where the text has any white space.
    fn words(&mut self, text: &str) {
        self.has_space |= text.starts_with(is_space);
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            self.push(word);
            self.has_space = true;
        }
        self.has_space = text.ends_with(is_space) || (self.has_space && text.trim().is_empty());
    }

    fn item(&mut self) {
        self.block(1);
        let depth = self.lists.len().max(1);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}.");
                *number = number.saturating_add(1);
                mark
            }
            _ => "-".to_owned(),
        };
        self.push(&format!("{}{mark}", "  ".repeat(depth - 1)));
        self.has_space = true;
    }

    /// Adds a text that is not parted any more.
    fn push(&mut self, text: &str) {
        if self.breaks > 0 {
            if !self.out.is_empty() {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                self.out
                    .extend(std::iter::repeat_n('\n', self.breaks.min(2)));
            }
            self.breaks = 0;
        } else if self.has_space && !self.out.ends_with([' ', '\n']) && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.has_space = false;
        if let Some((start, _)) = &mut self.link
            && *start == usize::MAX
        {
            *start = self.out.len();
            self.out.push('[');
        }
        self.out.push_str(text);
    }

    /// What follows stands after so many line breaks.
    fn block(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
        self.has_space = false;
    }

    /// A line ends here, even where it is empty.
    fn break_line(&mut self) {
        if self.breaks > 0 && self.n_pre > 0 {
            self.breaks = (self.breaks + 1).min(2);
        } else {
            self.block(1);
        }
    }

    fn target(&self, tag: &StartTag<()>) -> Option<String> {
        let href = attribute(tag, b"href")?;
        if href.trim().is_empty() || href.trim().starts_with('#') {
            return None;
        }
        let target = self.url.join(&href)?.to_string();
        (target.len() <= LINK_BYTES_MAX).then_some(target)
    }

    fn end_link(&mut self) {
        match self.link.take() {
            Some((start, target)) if start != usize::MAX => {
                self.out.push_str("](");
                self.out.push_str(&target);
                self.out.push(')');
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Rendered {
        self.end_link();
        let title = self.title.map(|title| {
            let words: Vec<_> = title.split_whitespace().collect();
            words.join(" ")
        });
        let end = self.out.trim_end().len();
        self.out.truncate(end);
        Rendered {
            title: title.filter(|title| !title.is_empty()),
            text: self.out,
            is_cut: self.is_cut,
        }
    }
}

fn is_space(c: char) -> bool {
    // A space that keeps lines together is a space all the same.
    c.is_ascii_whitespace() || c == '\u{a0}'
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    let value = tag.attributes.get(name)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(html: &str) -> Rendered {
        render(html, &Url::read("https://a.b/c/").unwrap())
    }

    fn text(html: &str) -> String {
        rendered(html).text
    }

    #[test]
    fn pages_are_read_as_readers_see_them() {
        for (html, expected) in [
            ("<p>one</p><p>two\n  three</p>", "one\n\ntwo three"),
            ("<h1>A</h1>text<h3>B</h3>", "# A\n\ntext\n\n### B"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<b>bo</b>ld <i>and</i> more", "bold and more"),
            ("a&amp;b &lt;c&gt; &eacute;&nbsp;d", "a&b <c> é d"),
            ("<ul><li>a<li>b<ul><li>c</ul></ul>d", "- a\n- b\n  - c\n\nd"),
            ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
            (
                "<table><tr><th>a<th>b</tr><tr><td>c</td><td>d</td></tr></table>",
                "a | b\nc | d",
            ),
            ("<pre>  a\n    b\n\nc</pre>d", "  a\n    b\n\nc\n\nd"),
            ("a<hr>b", "a\n\n---\n\nb"),
            ("<img alt='a cat' src=x> <img src=y>", "[picture: a cat]"),
            (
                "a<script>b</script><style>c</style><noscript>d</noscript>e",
                "ae",
            ),
            ("<template><p>x<template>y</template>z</template>a", "a"),
            ("a<!-- b -->c", "ac"),
            ("</p></ul></a></td>a", "a"),
            ("", ""),
            ("no tags at all", "no tags at all"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }

    #[test]
    fn links_lead_to_whole_urls() {
        for (html, expected) in [
            ("see <a href='d'>this</a>.", "see [this](https://a.b/c/d)."),
            ("<a href='/x?y'>a <b>b</b></a>", "[a b](https://a.b/x?y)"),
            ("<a href='#top'>up</a>", "up"),
            ("<a href='javascript:x()'>run</a>", "run"),
            ("<a href='x'></a>a", "a"),
            (
                "<a href='x'>a<a href='y'>b",
                "[a](https://a.b/c/x)[b](https://a.b/c/y)",
            ),
            ("<li><a href='x'>a</a></li>", "- [a](https://a.b/c/x)"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
        let long = format!("<a href='{}'>a</a>", "x".repeat(400));
        assert_eq!(text(&long), "a");
    }

    #[test]
    fn the_title_is_apart() {
        let page = rendered("<head><title>A &amp;\n b</title></head><body>c<title>d</title>");
        assert_eq!(page.title.as_deref(), Some("A & bd"));
        assert_eq!(page.text, "c");
        let long = rendered(&format!("<title>{}</title>", "x".repeat(1000)));
        assert_eq!(long.title.unwrap().len(), TITLE_CHARS_MAX);
        assert_eq!(rendered("<title> </title>").title, None);
    }

    #[test]
    fn no_page_is_too_deep_too_long_or_too_broken() {
        for part in [
            "<div>",
            "<ul><li>",
            "<a href=x>a",
            "<table><tr><td>",
            "<pre>\n",
            "<b",
            "<!--",
            "&#x",
            "<h1>",
            "<a b=\"",
            "</p>",
            "<template>",
            "<p a a a a>",
            "<title>",
            "\u{0}",
            "<br>",
        ] {
            let html = part.repeat(100_000 / part.len());
            let page = rendered(&html);
            assert!(
                page.text.len() <= TEXT_BYTES_MAX + 1_000,
                "{part}: {}",
                page.text.len()
            );
        }
        let short_links = "<a href=x>a</a>".repeat(250_000);
        let page = rendered(&short_links);
        assert!(page.is_cut);
        assert!(page.text.len() <= TEXT_BYTES_MAX + LINK_BYTES_MAX);
    }
}
