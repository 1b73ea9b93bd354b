//! URLs, as far as it takes to send a request and to follow a link. What one may reach, the host
//! decides by a parser of its own.

/// The most bytes of a URL. The host takes no more either.
const URL_BYTES_MAX: usize = 16 << 10;

/// A URL of the web without its fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) is_tls: bool,
    /// The host, and the port where one is written.
    pub(crate) authority: String,
    /// The path with the query; it begins with `/`.
    pub(crate) path: String,
}

impl Url {
    /// Reads a URL as people write it.
    ///
    /// # Errors
    /// What is wrong and what would be right, as a sentence.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > URL_BYTES_MAX {
            return Err(format!("a URL has at most {URL_BYTES_MAX} bytes"));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(format!(
                "`{}` has no scheme; write for example `https://example.com/`",
                shown(text)
            ));
        };
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => {
                return Err(format!(
                    "`{}` is no URL of the web; `https` is fetched, and `http`",
                    shown(text)
                ));
            }
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if authority.contains('@') {
            return Err("a URL with a user or a password in it is not fetched".to_owned());
        }
        if authority.is_empty() || !authority.chars().all(is_host) {
            return Err(format!(
                "`{}` names no host; a name with other letters is written in its `xn--` form",
                shown(text)
            ));
        }
        Ok(Self {
            is_tls,
            authority: authority.to_owned(),
            path: normal_path(path),
        })
    }

    /// What a link on the page of this URL leads to; `None` when it is none to follow.
    pub(crate) fn join(&self, link: &str) -> Option<Self> {
        let link = link.trim();
        let link = link.split('#').next().unwrap_or_default();
        let has_scheme = link
            .split_once(':')
            .is_some_and(|(scheme, _)| is_scheme(scheme));
        if has_scheme {
            return Self::read(link).ok();
        }
        if let Some(rest) = link.strip_prefix("//") {
            let scheme = if self.is_tls { "https" } else { "http" };
            return Self::read(&format!("{scheme}://{rest}")).ok();
        }
        let path = self.path.split('?').next().unwrap_or_default();
        let path = match link.chars().next() {
            None => self.path.clone(),
            Some('/') => link.to_owned(),
            Some('?') => format!("{path}{link}"),
            Some(_) => {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{folder}/{link}")
            }
        };
        (path.len() <= URL_BYTES_MAX).then(|| Self {
            path: normal_path(&path),
            ..self.clone()
        })
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

fn is_scheme(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(rest)
}

/// A path with its query as it is sent: steps upwards are taken, and what may not stand in a URL is
/// encoded.
fn normal_path(path: &str) -> String {
    let path = path.split('#').next().unwrap_or_default();
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let mut parts: Vec<&str> = Vec::new();
    let mut is_folder = true;
    for part in path.split('/').skip(usize::from(path.starts_with('/'))) {
        is_folder = matches!(part, "" | "." | "..");
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if is_folder && parts.last().is_some_and(|last| !last.is_empty()) {
        parts.push("");
    }
    let mut normal = String::new();
    for part in parts {
        normal.push('/');
        encode(part, &mut normal);
    }
    if normal.is_empty() {
        normal.push('/');
    }
    if let Some(query) = query {
        normal.push('?');
        encode(query, &mut normal);
    }
    normal
}

fn encode(text: &str, encoded: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// A URL in a message.
fn shown(text: &str) -> String {
    let clean = |c: char| if c.is_control() || c == '`' { '?' } else { c };
    let mut shown: String = text.chars().take(200).map(clean).collect();
    if text.chars().nth(200).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_as_people_write_them() {
        for (text, expected) in [
            ("https://example.com", "https://example.com/"),
            (
                " HTTP://127.0.0.1:8080/a/b?c=d#e ",
                "http://127.0.0.1:8080/a/b?c=d",
            ),
            ("https://example.com?q=a b", "https://example.com/?q=a%20b"),
            (
                "https://[::1]:8/größe/{x}",
                "https://[::1]:8/gr%C3%B6%C3%9Fe/%7Bx%7D",
            ),
            ("https://a.b/x/../y/./z/", "https://a.b/y/z/"),
            ("https://a.b/../..", "https://a.b/"),
            ("https://a.b/%2e%2e/c", "https://a.b/%2e%2e/c"),
        ] {
            assert_eq!(Url::read(text).unwrap().to_string(), expected);
        }
        for (text, words) in [
            ("example.com", "has no scheme"),
            ("", "has no scheme"),
            ("file:///etc/passwd", "is no URL of the web"),
            ("https://", "names no host"),
            ("https://bücher.example/", "xn--"),
            ("https://user:word@a.b/", "a user or a password"),
            ("https://a b/", "names no host"),
        ] {
            let error = Url::read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let long = format!("https://a.b/{}", "x".repeat(URL_BYTES_MAX));
        assert!(Url::read(&long).is_err());
    }

    #[test]
    fn links_are_joined_to_the_page_that_has_them() {
        let base = Url::read("https://a.b/one/two?three#four").unwrap();
        for (link, expected) in [
            ("five", Some("https://a.b/one/five")),
            ("../five", Some("https://a.b/five")),
            ("./", Some("https://a.b/one/")),
            ("/five?six", Some("https://a.b/five?six")),
            ("?six", Some("https://a.b/one/two?six")),
            ("#seven", Some("https://a.b/one/two?three")),
            ("", Some("https://a.b/one/two?three")),
            ("//c.d/e", Some("https://c.d/e")),
            ("http://c.d", Some("http://c.d/")),
            ("a/b:c", Some("https://a.b/one/a/b:c")),
            ("javascript:alert(1)", None),
            ("mailto:a@b.c", None),
            ("data:text/html,x", None),
        ] {
            let joined = base.join(link).map(|url| url.to_string());
            assert_eq!(joined.as_deref(), expected, "{link}");
        }
    }
}
