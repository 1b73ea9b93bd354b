//! A place of the network: `[METHOD[,METHOD…] ]URL`, that is scheme, host, port and path prefix.
//!
//! Grants and requests go through the same parser (WHATWG URL), so that case, IDN, odd forms of
//! addresses, default ports and dots in paths cannot make a difference between the two.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

use super::GrantTextError;
use super::path::hides_something;

/// The methods of a grant that names none: those that change nothing.
const METHODS_DEFAULT: [&str; 2] = ["GET", "HEAD"];
/// Longest method that is taken.
const METHOD_BYTES_MAX: usize = 32;

/// Why a URL is no target for a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

/// A normal form of where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTarget {
    scheme: String,
    host: String,
    address: Option<IpAddr>,
    port: u16,
    path: String,
}

impl HttpTarget {
    /// Brings a URL into its normal form. Query and fragment do not count.
    ///
    /// # Errors
    /// When it is no URL with a host, its scheme is not http or https, or it holds a user or a
    /// password, port 0, or a path that hides a separator or a step upwards in an encoded form.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let fail = |message: String| Err(TargetError(message));
        let parsed = match Url::parse(url) {
            Ok(parsed) => parsed,
            Err(error) => return fail(format!("`{}` is not a URL: {error}", told(url))),
        };
        if !matches!(parsed.scheme(), "http" | "https") {
            let message = format!("`{}` has a scheme other than http and https", told(url));
            return fail(message);
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return fail("a URL holds a user or a password; nothing is sent with one".to_owned());
        }
        let (host, address) = match parsed.host() {
            Some(Host::Domain(name)) => (name.trim_end_matches('.').to_owned(), None),
            Some(Host::Ipv4(address)) => (address.to_string(), Some(IpAddr::V4(address))),
            Some(Host::Ipv6(address)) => (format!("[{address}]"), Some(IpAddr::V6(address))),
            None => (String::new(), None),
        };
        if host.is_empty() {
            return fail(format!("`{}` names no host", told(url)));
        }
        let port = parsed.port_or_known_default().unwrap_or(0);
        if port == 0 {
            return fail(format!("`{}` has port 0, which no server has", told(url)));
        }
        // A star has no meaning in the line of a grant, so that nobody takes it for a pattern.
        let path = parsed.path().replace('*', "%2A");
        if hides_something(&path) {
            let message = format!(
                "the path of `{}` hides a separator, a zero byte or a step upwards in an encoded \
                 form or before `;`",
                told(url)
            );
            return fail(message);
        }
        Ok(Self {
            scheme: parsed.scheme().to_owned(),
            host,
            address,
            port,
            path,
        })
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host in lower case and ASCII, without a trailing dot; an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The address, where the host is one.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path, at least `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Scheme, host, and the port where it is not the usual one of the scheme.
    #[must_use]
    pub fn origin(&self) -> String {
        let usual = if self.scheme == "https" { 443 } else { 80 };
        if self.port == usual {
            return format!("{}://{}", self.scheme, self.host);
        }
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }

    /// Host, and the port where it is not the usual one of the scheme.
    #[must_use]
    pub fn authority(&self) -> String {
        let origin = self.origin();
        let start = self.scheme.len() + "://".len();
        origin.get(start..).unwrap_or_default().to_owned()
    }

    /// The same place under an address instead of its name.
    #[must_use]
    pub fn at_address(&self, address: IpAddr) -> Self {
        let host = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        Self {
            host,
            address: Some(address),
            ..self.clone()
        }
    }

    /// The same place at another path, as after a redirect within it.
    #[must_use]
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.origin() == other.origin()
    }
}

impl fmt::Display for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)
    }
}

/// A URL as an error repeats it: without a query, and without a user and a password.
fn told(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

/// Where requests may go, and with which methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// The methods, upper case and sorted; `None` for every method.
    methods: Option<Vec<String>>,
    target: HttpTarget,
}

impl HttpGrant {
    /// Whether it covers a request with this method to this target.
    #[must_use]
    pub fn covers(&self, method: &str, target: &HttpTarget) -> bool {
        let is_method = |methods: &Vec<String>| methods.iter().any(|m| m == method);
        self.methods.as_ref().is_none_or(is_method) && self.covers_place(target)
    }

    /// Whether it covers this target, whatever the method.
    #[must_use]
    pub fn covers_place(&self, target: &HttpTarget) -> bool {
        self.target.is_same_origin(target) && is_below(&target.path, &self.target.path)
    }

    /// The place.
    #[must_use]
    pub fn target(&self) -> &HttpTarget {
        &self.target
    }

    /// The narrowest grant for this one request.
    #[must_use]
    pub fn for_request(method: &str, target: &HttpTarget) -> Self {
        let default = METHODS_DEFAULT.contains(&method);
        let default_methods = || METHODS_DEFAULT.map(str::to_owned).to_vec();
        Self {
            methods: Some(if default {
                default_methods()
            } else {
                vec![method.to_owned()]
            }),
            target: target.clone(),
        }
    }
}

/// Whether a path is the prefix or stands below it: `/v1` covers `/v1` and `/v1/x`, not `/v10`.
fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'))
}

impl FromStr for HttpGrant {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        let (methods, url) = match text.split_once(' ') {
            Some((methods, url)) => (Some(methods), url.trim_start()),
            None => (None, text),
        };
        let methods = match methods {
            Some("*") => None,
            Some(methods) => Some(parse_methods(methods)?),
            None => Some(METHODS_DEFAULT.map(str::to_owned).to_vec()),
        };
        if url.contains(['?', '#', '*']) || url.contains(char::is_whitespace) {
            let message = format!(
                "`{url}` holds `?`, `#`, `*` or a space; a grant is `[METHOD[,METHOD] ]URL` with \
                 the beginning of a path"
            );
            return Err(GrantTextError(message));
        }
        if !url.contains("://") {
            let message = format!("`{url}` has no scheme; write `https://` or `http://` before it");
            return Err(GrantTextError(message));
        }
        let target = HttpTarget::parse(url).map_err(|error| GrantTextError(error.0))?;
        Ok(Self { methods, target })
    }
}

fn parse_methods(text: &str) -> Result<Vec<String>, GrantTextError> {
    let mut methods = Vec::new();
    for method in text.split(',') {
        let is_letters = method.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
        if method.is_empty() || method.len() > METHOD_BYTES_MAX || !is_letters {
            let message = format!(
                "`{method}` is not an HTTP method; write for example `GET,POST`, or `*` for all"
            );
            return Err(GrantTextError(message));
        }
        methods.push(method.to_ascii_uppercase());
    }
    methods.sort();
    methods.dedup();
    Ok(methods)
}

impl fmt::Display for HttpGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.methods {
            None => f.write_str("* ")?,
            Some(methods) if methods != &METHODS_DEFAULT => write!(f, "{} ", methods.join(","))?,
            Some(_) => {}
        }
        self.target.fmt(f)
    }
}
