//! Which URLs may be asked: https, and http on this machine alone.

use url::{Host, Url};

use super::FetchError;

/// Longest URL. Servers refuse longer ones.
const URL_BYTES_MAX: usize = 2_048;

/// Reads and checks a URL.
///
/// # Errors
/// When it is none, or must not be asked.
pub(super) fn checked(text: &str) -> Result<Url, FetchError> {
    let refused = |text: &str, message: &str| FetchError::Url {
        source_text: text.to_owned(),
        message: message.to_owned(),
    };
    let short: String = text.chars().take(100).collect();
    if text.len() > URL_BYTES_MAX {
        let message = format!("the URL is longer than {URL_BYTES_MAX} bytes");
        return Err(refused(&short, &message));
    }
    let url = Url::parse(text).map_err(|error| refused(text, &format!("{error}")))?;
    match fault(&url) {
        None => Ok(url),
        Some(message) => {
            let mut shown = url;
            // It cannot fail where there was one.
            let _ = shown.set_password(None);
            Err(refused(shown.as_str(), message))
        }
    }
}

/// Why a URL must not be asked.
pub(super) fn fault(url: &Url) -> Option<&'static str> {
    if !url.username().is_empty() || url.password().is_some() {
        return Some(
            "a user or password must not stand in a URL, which is kept in the lock file; put the \
             component where it can be read without, or into a registry with a login",
        );
    }
    if url.fragment().is_some() {
        return Some("a `#` has no meaning here; remove it and what follows");
    }
    match url.scheme() {
        "https" if url.host().is_some() => None,
        "http" if is_loopback(url) => None,
        "http" => Some("without TLS anyone on the way can change it; use `https`"),
        _ => Some("only `https` is fetched"),
    }
}

/// Whether a URL names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether two URLs are of one server, so that what is told to one may be told to the other.
pub(super) fn is_same_server(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme()
        && a.host() == b.host()
        && a.port_or_known_default() == b.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_this_machine_are_asked() {
        for (url, allowed) in [
            ("https://example.org/a.wasm", true),
            ("https://127.0.0.1:8/a.wasm", true),
            ("http://127.0.0.1:8/a.wasm", true),
            ("http://127.8.9.1/a.wasm", true),
            ("http://[::1]:8/a.wasm", true),
            ("http://localhost:8/a.wasm", true),
            ("http://LOCALHOST/a.wasm", true),
            // The same address, as the standard reads it.
            ("http://0x7f.1/a.wasm", true),
            ("http://localhost./a.wasm", false),
            ("http://localhost.example.org/a.wasm", false),
            ("http://127.0.0.1.example.org/a.wasm", false),
            ("http://0.0.0.0/a.wasm", false),
            ("http://[::ffff:127.0.0.1]/a.wasm", false),
            ("http://10.0.0.1/a.wasm", false),
            ("http://example.org/a.wasm", false),
            ("ftp://127.0.0.1/a.wasm", false),
            ("file:///a.wasm", false),
            ("https://user@example.org/a.wasm", false),
            ("https://:pass@example.org/a.wasm", false),
            ("https://example.org/a.wasm#x", false),
            ("https:///", false),
        ] {
            assert_eq!(checked(url).is_ok(), allowed, "{url}");
        }
        let error = checked("https://me:hunter2@example.org/a").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(checked(&format!("https://a/{}", "x".repeat(3_000))).is_err());
    }
}
