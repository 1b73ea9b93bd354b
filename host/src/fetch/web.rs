//! One GET, with its redirects: bounded in bytes and in time, and careful about whom a login is told.
//!
//! TLS is always verified. No proxy and no variable is looked up; redirects are followed here, so
//! that each is checked as the first URL was.

use std::future::Future;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use openprogram_core::secret::Secret;
use openprogram_providers::tls_config;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Client, Response};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::FetchError;
use super::place::{fault, is_same_server};
use crate::text::one_line;

/// How many redirects of one request are followed. Registries need one or two.
const REDIRECTS_MAX: usize = 5;
/// How much of the body of an error is read. Errors are sentences; the rest is markup.
const ERROR_BYTES_MAX: usize = 8 * 1024;
/// How much of what a server says is shown.
const SAID_CHARS_MAX: usize = 300;

/// How long to wait, and whom to trust.
#[derive(Clone, Debug)]
pub struct WebOptions {
    /// The longest time until a connection stands (`fetch_connect_ms`).
    pub connect: Duration,
    /// The longest silence, before an answer and within it (`fetch_idle_ms`).
    pub idle: Duration,
    /// The longest time that one request takes with all its redirects (`fetch_wall_ms`).
    pub wall: Duration,
    /// Certificates trusted besides the bundled ones, in PEM.
    pub extra_roots_pem: Option<Vec<u8>>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            // 64 MiB at two megabits per second.
            wall: Duration::from_secs(300),
            extra_roots_pem: None,
        }
    }
}

/// The client.
#[derive(Debug)]
pub(super) struct Web {
    client: Client,
    idle: Duration,
    wall: Duration,
}

/// One request.
#[derive(Debug)]
pub(super) struct Get<'a> {
    pub(super) url: Url,
    /// What is fetched, for errors.
    pub(super) what: &'static str,
    pub(super) bytes_max: u64,
    pub(super) accept: Option<&'static str>,
    /// A whole `Authorization`, told to the server of `url` alone.
    pub(super) authorization: Option<&'a Secret>,
}

impl Get<'_> {
    pub(super) fn new(url: Url, what: &'static str, bytes_max: u64) -> Self {
        Self {
            url,
            what,
            bytes_max,
            accept: None,
            authorization: None,
        }
    }
}

/// What a server answered at last.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The whole body of a success, the beginning of any other.
    pub(super) body: Vec<u8>,
    /// How a server that wants a login says so.
    pub(super) challenges: Vec<String>,
    url: String,
    trail: Vec<Url>,
}

impl Answer {
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.status, 404 | 410)
    }

    /// The body of a success.
    ///
    /// # Errors
    /// [`FetchError::Status`] when it is none.
    pub(super) fn successful(self) -> Result<Vec<u8>, FetchError> {
        if self.status == 200 {
            return Ok(self.body);
        }
        Err(FetchError::Status {
            said: said(&self.body),
            url: self.url,
            status: self.status,
            trail: self.trail,
        })
    }
}

impl Web {
    pub(super) fn new(options: &WebOptions) -> Result<Self, FetchError> {
        let setup = |error: &dyn std::fmt::Display| FetchError::Setup(error.to_string());
        let here = [
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
        ];
        let tls = tls_config(options.extra_roots_pem.as_deref());
        let tls = tls.map_err(|error| setup(&error))?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("openprogram/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            // Plain http is allowed to this name for what it means, whatever resolves it.
            .resolve_to_addrs("localhost", &here)
            .connect_timeout(options.connect)
            .build()
            .map_err(|error| setup(&error))?;
        Ok(Self {
            client,
            idle: options.idle,
            wall: options.wall,
        })
    }

    /// Sends a request and reads the answer to its end.
    ///
    /// # Errors
    /// When no server answers, a redirect leads where we do not go, or the body of a success is too
    /// large. Any status that is no redirect is an answer.
    pub(super) async fn get(&self, get: Get<'_>) -> Result<Answer, FetchError> {
        let until = Instant::now() + self.wall;
        let mut trail = vec![get.url.clone()];
        let mut response = self.send(&get, &get.url, until).await?;
        while response.status().is_redirection() && response.status().as_u16() != 304 {
            let next = next(&get, &trail, response.headers())?;
            trail.push(next.clone());
            response = self.send(&get, &next, until).await?;
        }
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenges = challenges.filter_map(|value| value.to_str().ok());
        let challenges = challenges.map(str::to_owned).collect();
        Ok(Answer {
            status: response.status().as_u16(),
            body: self.body(&get, response, until).await?,
            challenges,
            url: get.url.to_string(),
            trail,
        })
    }

    async fn send(&self, get: &Get<'_>, url: &Url, until: Instant) -> Result<Response, FetchError> {
        let mut headers = HeaderMap::new();
        if let Some(accept) = get.accept {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        if let Some(authorization) = get.authorization
            && is_same_server(&get.url, url)
        {
            let value = HeaderValue::from_str(authorization.expose());
            let mut value = value.map_err(|_| FetchError::Unreachable {
                url: get.url.to_string(),
                message: "the login or the token cannot stand in a header".to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let sent = self.client.get(url.clone()).headers(headers).send();
        let answered = self.in_time(&get.url, until, sent).await?;
        answered.map_err(|error| unreachable(&get.url, error))
    }

    async fn body(
        &self,
        get: &Get<'_>,
        mut response: Response,
        until: Instant,
    ) -> Result<Vec<u8>, FetchError> {
        let is_success = response.status().as_u16() == 200;
        let too_large = || FetchError::TooLarge {
            url: get.url.to_string(),
            what: get.what,
            max: get.bytes_max,
        };
        if is_success && response.content_length().is_some_and(|n| n > get.bytes_max) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        loop {
            let part = self.in_time(&get.url, until, response.chunk()).await?;
            let part = match part {
                Ok(Some(part)) => part,
                Ok(None) => return Ok(body),
                // The beginning of what an error says is enough.
                Err(_) if !is_success => return Ok(body),
                Err(error) => return Err(unreachable(&get.url, error)),
            };
            if is_success && (body.len() + part.len()) as u64 > get.bytes_max {
                return Err(too_large());
            }
            body.extend_from_slice(&part);
            if !is_success && body.len() >= ERROR_BYTES_MAX {
                body.truncate(ERROR_BYTES_MAX);
                return Ok(body);
            }
        }
    }

    /// Waits no longer than the silence that is borne, and no longer than all of it may take.
    async fn in_time<T>(
        &self,
        url: &Url,
        until: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, FetchError> {
        let silent = Instant::now() + self.idle;
        let (limit, what, which) = if silent < until {
            (self.idle, "was silent", "fetch_idle_ms")
        } else {
            (self.wall, "sent", "fetch_wall_ms")
        };
        let done = timeout_at(silent.min(until), work).await;
        done.map_err(|_| FetchError::TooSlow {
            url: url.to_string(),
            what,
            which,
            limit_ms: limit.as_millis(),
        })
    }
}

/// Where a redirect leads.
fn next(get: &Get<'_>, trail: &[Url], headers: &HeaderMap) -> Result<Url, FetchError> {
    let refused = |message: String, to: Option<Url>| FetchError::Redirect {
        url: get.url.to_string(),
        message,
        trail: trail.iter().cloned().chain(to).collect(),
    };
    if trail.len() > REDIRECTS_MAX {
        let message = format!("more than {REDIRECTS_MAX} redirects (`fetch_redirects`)");
        return Err(refused(message, None));
    }
    let from = trail.last().unwrap_or(&get.url);
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let to = location.and_then(|location| from.join(location).ok());
    let Some(mut to) = to else {
        let message = "the server redirects to what is no URL".to_owned();
        return Err(refused(message, None));
    };
    to.set_fragment(None);
    if let Some(fault) = fault(&to) {
        // Never show what may be a password of someone.
        let _ = to.set_password(None);
        let message = format!("the server redirects to `{to}`, and {fault}");
        return Err(refused(message, None));
    }
    if from.scheme() == "https" && to.scheme() != "https" {
        let message = format!("the server redirects from https to `{to}`");
        return Err(refused(message, None));
    }
    Ok(to)
}

fn unreachable(url: &Url, error: reqwest::Error) -> FetchError {
    // The URL stands in our own sentence, and each cause once.
    let error = error.without_url();
    let mut messages = vec![error.to_string()];
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        let message = error.to_string();
        if messages.last() != Some(&message) {
            messages.push(message);
        }
        cause = error.source();
    }
    FetchError::Unreachable {
        url: url.to_string(),
        message: one_line(&messages.join(": "), SAID_CHARS_MAX),
    }
}

/// What the body of an error says: the messages of a registry, or its first line of text.
fn said(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Errors {
        errors: Vec<Said>,
    }
    #[derive(serde::Deserialize)]
    struct Said {
        code: String,
        #[serde(default)]
        message: String,
    }
    let told = match serde_json::from_slice::<Errors>(body) {
        Ok(Errors { errors }) => {
            let all = errors.iter().map(|e| format!("{} {}", e.code, e.message));
            all.collect::<Vec<_>>().join("; ")
        }
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            // Pages of markup say nothing here.
            let is_markup = text.trim_start().starts_with('<');
            let line = text.lines().next().unwrap_or_default();
            if is_markup {
                String::new()
            } else {
                line.to_owned()
            }
        }
    };
    let told = one_line(&told, SAID_CHARS_MAX);
    if told.is_empty() {
        return told;
    }
    format!(": {told}")
}
