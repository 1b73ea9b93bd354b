//! From a URL to a page of text: redirects, what is shown of an answer, and what to do when there is
//! none.

use openprogram_guest::Failure;

use crate::decode;
use crate::fetch::{Form, Method, Page};
use crate::html;
use crate::http::{BODY_BYTES_MAX, NoAnswer, Response, send};
use crate::url::Url;

/// The most redirects that are followed; browsers follow some more.
const REDIRECTS_MAX: usize = 5;
/// The most characters that are given at once.
const CHARS_MAX: usize = 20_000;
/// The most bytes that they take in an answer to a model, which is cut at 30,000.
const SHOWN_BYTES_MAX: usize = 26_000;
/// The most characters of a header that are shown.
const HEADER_CHARS_MAX: usize = 500;

/// Fetches a URL.
///
/// # Errors
/// Where it is none, is not granted, or does not answer.
pub(crate) fn fetch_url(
    url: &str,
    method: Method,
    form: Form,
    offset: u32,
    limit: u32,
) -> Result<Page, Failure> {
    let first = Url::read(url).map_err(|why| Failure::invalid_argument("url", why))?;
    let mut url = first.clone();
    let mut n_redirects = 0;
    let response = loop {
        let response = send(method, &url).map_err(|why| failed(&why, &first, &url))?;
        let Some(target) = redirect(&response, &url) else {
            break response;
        };
        if n_redirects == REDIRECTS_MAX {
            let message = format!("`{first}` redirects more than {REDIRECTS_MAX} times");
            return Err(Failure::new("function-failed", message));
        }
        n_redirects += 1;
        url = target;
    };
    let window = Window {
        offset: offset as usize,
        limit: (limit as usize).clamp(1, CHARS_MAX),
    };
    page(&response, &url, method, form, &window)
}

/// Where an answer leads, if it does.
fn redirect(response: &Response, url: &Url) -> Option<Url> {
    let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    url.join(response.header("location").filter(|_| is_redirect)?)
}

fn failed(why: &NoAnswer, first: &Url, url: &Url) -> Failure {
    let told = if first == url {
        format!("`{url}`")
    } else {
        format!("`{first}` redirects to `{url}`, which")
    };
    match why {
        NoAnswer::Denied => {
            let message = format!(
                "{told} is not granted; a person can grant it with `openprogram grant {} --http \
                 URL`, where URL covers what is below it",
                env!("CARGO_PKG_NAME")
            );
            Failure::new("denied", message).with("what", format!("http {url}"))
        }
        NoAnswer::BadUrl => {
            let message = format!("{told} is no URL that can be sent");
            Failure::invalid_argument("url", message)
        }
        NoAnswer::Failed(why) => Failure::new("function-failed", format!("{told} {why}")),
    }
}

/// Which part of a text is wanted.
struct Window {
    offset: usize,
    limit: usize,
}

fn page(
    response: &Response,
    url: &Url,
    method: Method,
    form: Form,
    window: &Window,
) -> Result<Page, Failure> {
    let content_type = response.header("content-type");
    let mut notes = Vec::new();
    let mut title = None;
    let is_encoded = response
        .header("content-encoding")
        .filter(|coding| !coding.eq_ignore_ascii_case("identity"));
    let text = if method == Method::Head {
        headers(response)
    } else if let Some(coding) = is_encoded {
        notes.push(format!(
            "the server packed the answer (`{}`), which is not read here",
            cut(coding)
        ));
        String::new()
    } else if !decode::is_text(content_type, &response.body) {
        notes.push(format!(
            "the answer of {} bytes is not text and is not shown",
            response.body.len()
        ));
        String::new()
    } else {
        let (text, unknown) = decode::text(content_type, &response.body);
        if let Some(name) = unknown {
            notes.push(format!(
                "the encoding `{name}` is not known here; it was read as UTF-8"
            ));
        }
        if form == Form::Text && decode::is_page(content_type, &response.body) {
            let rendered = html::render(&text, url);
            title = rendered.title;
            if rendered.is_cut {
                notes.push("the page was read up to here, since its text is too long".to_owned());
            }
            rendered.text
        } else {
            text
        }
    };
    if response.is_cut {
        notes.push(format!(
            "the answer goes on after {BODY_BYTES_MAX} bytes, which were read"
        ));
    }
    let (part, rest) = part(&text, window)?;
    if let Some(rest) = rest {
        notes.insert(0, rest);
    }
    Ok(Page {
        url: url.to_string(),
        status: response.status,
        content_type: content_type.map(cut),
        title,
        text: part,
        more: (!notes.is_empty()).then(|| notes.join("; ")),
    })
}

/// The headers as lines.
fn headers(response: &Response) -> String {
    let line = |(name, value): &(String, String)| format!("{name}: {}\n", cut(value));
    response.headers.iter().map(line).collect()
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(HEADER_CHARS_MAX).collect();
    if text.chars().nth(HEADER_CHARS_MAX).is_some() {
        cut.push('…');
    }
    cut
}

/// A part of a text, and what to do to get the rest.
fn part(text: &str, window: &Window) -> Result<(String, Option<String>), Failure> {
    let n_chars = text.chars().count();
    if window.offset > 0 && window.offset >= n_chars {
        let message = format!("the text has {n_chars} characters, and `offset` begins at 0");
        return Err(Failure::invalid_argument("offset", message));
    }
    let mut n_bytes = 0;
    let part: String = text
        .chars()
        .skip(window.offset)
        .take(window.limit)
        .take_while(|c| {
            n_bytes += in_json(*c);
            n_bytes <= SHOWN_BYTES_MAX
        })
        .collect();
    let end = window.offset + part.chars().count();
    let rest = (end < n_chars).then(|| {
        format!(
            "{} of {n_chars} characters are shown: go on with offset {end}",
            end - window.offset
        )
    });
    Ok((part, rest))
}

/// How many bytes a character takes in JSON.
fn in_json(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c.is_control() => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Response {
            status,
            headers: headers.iter().map(owned).collect(),
            body: body.to_vec(),
            is_cut: false,
        }
    }

    fn shown(response: &Response, form: Form, offset: usize, limit: usize) -> Page {
        let url = Url::read("https://a.b/").unwrap();
        page(response, &url, Method::Get, form, &Window { offset, limit }).unwrap()
    }

    #[test]
    fn pages_become_text_and_other_texts_stay() {
        let html = [("content-type", "text/html")];
        let page = response(200, &html, b"<title>T</title><p>one<p>two");
        let text = shown(&page, Form::Text, 0, 100);
        assert_eq!(
            (text.text.as_str(), text.title.as_deref()),
            ("one\n\ntwo", Some("T"))
        );
        let source = shown(&page, Form::Source, 0, 100);
        assert_eq!(
            (source.text.as_str(), source.title),
            ("<title>T</title><p>one<p>two", None)
        );
        let json = response(404, &[("content-type", "application/json")], b"{\"a\": 1}");
        let json = shown(&json, Form::Text, 0, 100);
        assert_eq!(
            (json.status, json.text.as_str(), json.more),
            (404, "{\"a\": 1}", None)
        );
    }

    #[test]
    fn what_is_not_shown_is_told() {
        for (headers, body, words) in [
            (
                &[("content-type", "image/png")][..],
                &b"\x89PNG"[..],
                "4 bytes is not text",
            ),
            (
                &[("content-encoding", "gzip")],
                b"\x1f\x8b",
                "packed the answer (`gzip`)",
            ),
            (
                &[("content-type", "text/plain; charset=koi8-r")],
                b"\xc1",
                "the encoding `koi8-r` is not known",
            ),
        ] {
            let more = shown(&response(200, headers, body), Form::Text, 0, 10)
                .more
                .unwrap();
            assert!(more.contains(words), "{more}");
        }
        let mut long = response(200, &[], b"abc");
        long.is_cut = true;
        assert!(
            shown(&long, Form::Text, 0, 10)
                .more
                .unwrap()
                .contains("goes on after 8388608 bytes")
        );
    }

    #[test]
    fn a_text_is_given_part_by_part() {
        let response = response(200, &[], "äbcdefg".as_bytes());
        for (offset, limit, text, more) in [
            (0, 100, "äbcdefg", None),
            (
                0,
                3,
                "äbc",
                Some("3 of 7 characters are shown: go on with offset 3"),
            ),
            (
                3,
                3,
                "def",
                Some("3 of 7 characters are shown: go on with offset 6"),
            ),
            (6, 3, "g", None),
        ] {
            let page = shown(&response, Form::Text, offset, limit);
            assert_eq!((page.text.as_str(), page.more.as_deref()), (text, more));
        }
        let window = Window {
            offset: 7,
            limit: 1,
        };
        let failure = part("äbcdefg", &window).unwrap_err();
        assert_eq!(
            failure.message(),
            "the text has 7 characters, and `offset` begins at 0"
        );
        let window = Window {
            offset: 0,
            limit: CHARS_MAX,
        };
        let (lines, rest) = part(&"\n".repeat(50_000), &window).unwrap();
        assert_eq!(lines.len(), SHOWN_BYTES_MAX / 2);
        assert!(rest.unwrap().ends_with("go on with offset 13000"));
    }

    #[test]
    fn redirects_lead_on_and_other_answers_do_not() {
        let url = Url::read("https://a.b/c/d").unwrap();
        for (status, location, expected) in [
            (302, Some("e"), Some("https://a.b/c/e")),
            (308, Some("http://f/"), Some("http://f/")),
            (302, None, None),
            (302, Some("ftp://x/"), None),
            (200, Some("e"), None),
            (304, Some("e"), None),
        ] {
            let headers: Vec<_> = location.map(|at| ("location", at)).into_iter().collect();
            let target = redirect(&response(status, &headers, b""), &url);
            assert_eq!(target.map(|url| url.to_string()).as_deref(), expected);
        }
    }
}
