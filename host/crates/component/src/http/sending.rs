//! One request from the gate to the head of its answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use openprogram_core::grant::GrantKind;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::asked::hold;
use super::body::{Driver, Received, State, settled, sleep, take, too_much_sent};
use super::call::HttpCall;
use super::dial::Connection;
use super::gate::{Wanted, wanted};
use super::redact::Stream;
use super::secrets;
use super::stop::{Limit, Stop};
use crate::limits::Limits;

/// Headers of one response. Browsers take some hundred.
const HEADERS_MAX: usize = 512;
/// The least that the HTTP library reads at once.
const BUFFER_BYTES_MIN: u64 = 8 << 10;

/// How long something may take: the limit, or what the guest said where that is shorter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) span: Duration,
    limit: Option<&'static str>,
}

impl Time {
    fn new(limit: &'static str, limit_ms: u64, wished: Option<Duration>) -> Self {
        let span = Duration::from_millis(limit_ms);
        match wished {
            Some(wished) if wished < span => Self {
                span: wished,
                limit: None,
            },
            _ => Self {
                span,
                limit: Some(limit),
            },
        }
    }

    /// The sentence for what did not come in time; `None` when the guest itself set the time.
    pub(super) fn reached(self, what: &str) -> Option<Limit> {
        let limit = self.limit?;
        let ms = self.span.as_millis();
        let message = format!("{what} did not come within {ms} ms (`{limit}`)");
        Some(Limit(message))
    }

    pub(super) fn stop(self, wanted: &Wanted, what: &str, error: Error) -> Stop {
        match self.reached(what) {
            Some(limit) => Stop::limit(error, &wanted.what, limit.0),
            None => error.into(),
        }
    }
}

/// The times of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    connect: Time,
    first_byte: Time,
    pub(super) idle: Time,
    pub(super) total: Time,
}

impl Times {
    fn new(limits: &Limits, options: RequestOptions) -> Self {
        let RequestOptions {
            connect_timeout,
            first_byte_timeout,
            between_bytes_timeout,
        } = options;
        Self {
            connect: Time::new("http_connect_ms", limits.http_connect_ms, connect_timeout),
            first_byte: Time::new(
                "http_first_byte_ms",
                limits.http_first_byte_ms,
                first_byte_timeout,
            ),
            idle: Time::new("http_idle_ms", limits.http_idle_ms, between_bytes_timeout),
            total: Time::new("http_total_ms", limits.http_total_ms, None),
        }
    }
}

/// Sends a request and gives the head of its answer. Refusals are noted.
pub(super) async fn send(
    call: Arc<HttpCall>,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<Response<WasiBody>, Error> {
    let sent = pass(&call, request, options).await;
    sent.map_err(|stop| {
        if let Some(access) = stop.access {
            call.note(*access);
        }
        stop.error
    })
}

async fn pass(
    call: &Arc<HttpCall>,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<Response<WasiBody>, Stop> {
    let (parts, mut body) = request.into_parts();
    let mut wanted = wanted(&parts)?;
    let permit = call.admit(&wanted.what)?;
    let grant = call.grant(&wanted)?;
    check_length(call, &wanted, &parts.headers)?;
    let times = Times::new(&call.limits, options);
    if call.may_ask(&wanted, grant) {
        body = hold(&mut wanted, &parts, body, times.total).await?;
    }
    call.use_grant(GrantKind::Http, &wanted.what, grant, &wanted)
        .await?;
    // The time of a person is not the time of the request.
    let deadline = Instant::now() + times.total.span;
    let exchange = exchange(call, &wanted, (parts, body), times, deadline);
    let Ok(answer) = timeout_at(deadline, exchange).await else {
        let late = Error::HttpResponseTimeout;
        return Err(times.total.stop(&wanted, "the response", late));
    };
    let answer = answer?;
    received(call, wanted, answer, times, (deadline, permit))
}

/// The length that a guest announces, before anything is sent.
fn check_length(call: &HttpCall, wanted: &Wanted, headers: &HeaderMap) -> Result<(), Stop> {
    let max = call.limits.http_request_bytes;
    let length = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok());
    if length.and_then(|v| v.parse::<u64>().ok()) <= Some(max) {
        return Ok(());
    }
    let error = Error::HttpRequestBodySize(Some(max));
    Err(Stop::limit(error, &wanted.what, too_much_sent(max).0))
}

/// The head of an answer with the connection that its body comes from.
struct Answer {
    response: Response<Incoming>,
    driver: Driver,
}

async fn exchange(
    call: &Arc<HttpCall>,
    wanted: &Wanted,
    (parts, body): (Parts, WasiBody),
    times: Times,
    deadline: Instant,
) -> Result<Answer, Stop> {
    call.pace(&wanted.what, deadline).await?;
    let connect = async {
        let addresses = call.addresses(wanted).await?;
        let added = call.secrets(wanted, &addresses).await?;
        let span = times.connect.span;
        let connection = call.connect(wanted, &addresses, span).await?;
        Ok::<_, Stop>((connection, added))
    };
    let Ok(connected) = timeout(times.connect.span, connect).await else {
        let late = Error::ConnectionTimeout;
        return Err(times.connect.stop(wanted, "the connection", late));
    };
    let (connection, added) = connected?;
    // Any place on a server that gets a secret may tell it, also where it is not sent.
    let may_tell_secrets = call.patterns.of_server(&wanted.target).is_some();
    let mut headers = HeaderMap::with_capacity(parts.headers.len() + 2);
    let host = HeaderValue::try_from(wanted.target.authority());
    headers.insert(HOST, host.map_err(|_| Error::HttpRequestUriInvalid)?);
    headers.extend(parts.headers.into_iter().filter(is_not_host));
    if may_tell_secrets {
        secrets::ask_readable(&mut headers);
    }
    secrets::add(&mut headers, added);
    let answer = ask(call, wanted, connection, (headers, body));
    let Ok(answer) = timeout(times.first_byte.span, answer).await else {
        let late = Error::ConnectionReadTimeout;
        return Err(times.first_byte.stop(wanted, "the response", late));
    };
    let answer = answer?;
    check_head(call, wanted, &answer.response)?;
    if may_tell_secrets {
        secrets::check_readable(answer.response.headers())?;
    }
    Ok(answer)
}

fn is_not_host(header: &(Option<http::HeaderName>, HeaderValue)) -> bool {
    header.0 != Some(HOST)
}

async fn ask(
    call: &Arc<HttpCall>,
    wanted: &Wanted,
    connection: Box<dyn Connection>,
    (headers, body): (HeaderMap, WasiBody),
) -> Result<Answer, Stop> {
    let buffer = call.limits.http_head_bytes.max(BUFFER_BYTES_MIN);
    let mut builder = http1::Builder::new();
    builder.max_headers(HEADERS_MAX);
    builder.max_buf_size(usize::try_from(buffer).unwrap_or(usize::MAX));
    let shaken = builder.handshake(TokioIo::new(connection)).await;
    let (mut sender, connection) = shaken.map_err(|error| from_hyper(&error))?;
    let driver = Driver(tokio::spawn(async move {
        // What goes wrong is told by the request or by the body.
        let _ = connection.await;
    }));
    let (body, cause) = settled(body, call, &wanted.what).await?;
    let request = Request::builder()
        .method(wanted.method.clone())
        .uri(wanted.path_and_query.as_str());
    let body = match body {
        Some(body) => body.boxed_unsync(),
        None => Empty::<Bytes>::new().map_err(Into::into).boxed_unsync(),
    };
    let is_empty = hyper::body::Body::is_end_stream(&body);
    let mut request = request
        .body(body)
        .map_err(|_| Error::HttpRequestUriInvalid)?;
    *request.headers_mut() = headers;
    if is_empty {
        announce_nothing(&wanted.method, request.headers_mut())?;
    }
    let response = sender.send_request(request).await.map_err(|error| {
        if let Some(cause) = take(&cause) {
            return cause.into();
        }
        head_failed(call, wanted, &error)
    })?;
    Ok(Answer { response, driver })
}

/// A request without a body, where servers expect one, says that there is none.
fn announce_nothing(method: &Method, headers: &mut HeaderMap) -> Result<(), Error> {
    let zero = HeaderValue::from_static("0");
    if headers
        .get(CONTENT_LENGTH)
        .is_some_and(|length| *length != zero)
    {
        return Err(Error::HttpRequestBodySize(Some(0)));
    }
    if ![Method::GET, Method::HEAD, Method::DELETE, Method::OPTIONS].contains(method) {
        headers.insert(CONTENT_LENGTH, zero);
    }
    Ok(())
}

fn head_failed(call: &HttpCall, wanted: &Wanted, error: &hyper::Error) -> Stop {
    if error.is_parse_too_large() {
        return head_too_large(call, wanted);
    }
    from_hyper(error).into()
}

fn head_too_large(call: &HttpCall, wanted: &Wanted) -> Stop {
    let max = call.limits.http_head_bytes;
    let message = format!(
        "the head of the response is larger than {max} bytes (`http_head_bytes`) or has more than \
         {HEADERS_MAX} headers"
    );
    let error = Error::HttpResponseHeaderSectionSize(u32::try_from(max).ok());
    Stop::limit(error, &wanted.what, message)
}

fn check_head(call: &HttpCall, wanted: &Wanted, response: &Response<Incoming>) -> Result<(), Stop> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Error::HttpUpgradeFailed.into());
    }
    let headers = response.headers().iter();
    let sizes = headers.map(|(name, value)| name.as_str().len() + value.len() + 4);
    if sizes.sum::<usize>() as u64 > call.limits.http_head_bytes {
        return Err(head_too_large(call, wanted));
    }
    Ok(())
}

fn received(
    call: &Arc<HttpCall>,
    wanted: Wanted,
    answer: Answer,
    times: Times,
    (deadline, permit): (Instant, OwnedSemaphorePermit),
) -> Result<Response<WasiBody>, Stop> {
    let (mut parts, incoming) = answer.response.into_parts();
    let forms = call.patterns.of_server(&wanted.target).cloned();
    if let Some(forms) = &forms {
        parts.headers = forms.clean_headers(parts.headers);
    }
    let body = Received {
        incoming,
        stream: Stream::new(forms.clone()),
        forms,
        call: Arc::clone(call),
        what: wanted.what,
        times,
        end: Box::pin(tokio::time::sleep_until(deadline)),
        idle: sleep(times.idle.span),
        state: State::Resting,
        bytes: 0,
        _driver: answer.driver,
        _permit: permit,
    };
    Ok(Response::from_parts(parts, body.boxed_unsync()))
}

/// What an error of the HTTP library means.
pub(super) fn from_hyper(error: &hyper::Error) -> Error {
    if error.is_incomplete_message() {
        return Error::HttpResponseIncomplete;
    }
    if error.is_timeout() {
        return Error::HttpResponseTimeout;
    }
    if error.is_canceled() || error.is_closed() {
        return Error::ConnectionTerminated;
    }
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if inner.is::<std::io::Error>() {
            return Error::ConnectionTerminated;
        }
        cause = inner.source();
    }
    Error::HttpProtocolError
}
