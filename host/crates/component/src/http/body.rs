//! Bodies on their way: what the guest sends, counted, and what it receives, counted, timed and
//! without secrets.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep};
use wasmtime_wasi_http::{Error, WasiBody};

use super::call::HttpCall;
use super::redact::{Forms, Stream};
use super::sending::{Times, from_hyper};
use super::stop::Limit;

/// Why a body that was being sent came to an end before its own.
pub(super) type Cause = Arc<Mutex<Option<Error>>>;

pub(super) fn take(cause: &Cause) -> Option<Error> {
    cause.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The body of a request.
pub(super) struct Sent {
    first: Option<Frame<Bytes>>,
    rest: WasiBody,
    bytes: u64,
    call: Arc<HttpCall>,
    what: String,
    cause: Cause,
}

/// A body of which it is known whether there is anything in it: waits for its first piece, so that
/// an empty one can be sent as such.
///
/// # Errors
/// When the guest gave the body up.
pub(super) async fn settled(
    mut body: WasiBody,
    call: &Arc<HttpCall>,
    what: &str,
) -> Result<(Option<Sent>, Cause), Error> {
    let cause = Cause::default();
    if body.is_end_stream() {
        return Ok((None, cause));
    }
    let first = match body.frame().await {
        None => return Ok((None, cause)),
        Some(frame) => frame?,
    };
    let sent = Sent {
        first: Some(first),
        rest: body,
        bytes: 0,
        call: Arc::clone(call),
        what: what.to_owned(),
        cause: Arc::clone(&cause),
    };
    Ok((Some(sent), cause))
}

impl Sent {
    fn fail(&self, error: Error) -> Error {
        let told = error.to_string();
        let mut cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        *cause = Some(error);
        // The connection only needs to know that there is no more; the guest is told the cause.
        Error::InternalError(Some(told))
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = match self.first.take() {
            Some(frame) => Some(Ok(frame)),
            None => ready!(Pin::new(&mut self.rest).poll_frame(cx)),
        };
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                let max = self.call.limits.http_request_bytes;
                if self.bytes > max {
                    self.call.note_limit(&self.what, too_much_sent(max));
                    Some(Err(self.fail(Error::HttpRequestBodySize(Some(max)))))
                } else {
                    Some(Ok(frame))
                }
            }
            Some(Err(error)) => Some(Err(self.fail(error))),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.is_end_stream()
    }
}

/// The sentence of a request body that is too large.
pub(super) fn too_much_sent(max: u64) -> Limit {
    Limit(format!(
        "the body of the request is larger than {max} bytes (`http_request_bytes`)"
    ))
}

/// Stops what drives a connection when nobody needs it any more.
pub(super) struct Driver(pub(super) JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of a response.
pub(super) struct Received {
    pub(super) incoming: Incoming,
    pub(super) stream: Stream,
    /// What trailers are searched for.
    pub(super) forms: Option<Arc<Forms>>,
    pub(super) call: Arc<HttpCall>,
    pub(super) what: String,
    pub(super) times: Times,
    /// When all of it has to be here.
    pub(super) end: Pin<Box<Sleep>>,
    /// When the next piece has to be here.
    pub(super) idle: Pin<Box<Sleep>>,
    pub(super) state: State,
    pub(super) bytes: u64,
    pub(super) _driver: Driver,
    pub(super) _permit: OwnedSemaphorePermit,
}

/// How far a response body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The guest does not wait for a piece.
    Resting,
    /// It waits for one.
    Waiting,
    /// All has come, or nothing will any more.
    Ended,
}

impl Received {
    fn frame(&mut self, frame: Frame<Bytes>) -> Result<Option<Frame<Bytes>>, Error> {
        let data = match frame.into_data() {
            Ok(data) => data,
            Err(frame) => {
                let trailers = frame.into_trailers().unwrap_or_default();
                let trailers = match &self.forms {
                    Some(forms) => forms.clean_headers(trailers),
                    None => trailers,
                };
                return Ok(Some(Frame::trailers(trailers)));
            }
        };
        self.bytes += data.len() as u64;
        let max = self.call.limits.http_response_bytes;
        if self.bytes > max {
            let message = format!(
                "the body of the response is larger than {max} bytes (`http_response_bytes`)"
            );
            self.call.note_limit(&self.what, Limit(message));
            return Err(Error::HttpResponseBodySize(Some(max)));
        }
        let data = self.stream.push(data);
        Ok((!data.is_empty()).then(|| Frame::data(data)))
    }

    /// Whether it takes too long, looked at whenever nothing is there.
    fn late(&mut self, cx: &mut Context<'_>) -> Option<Error> {
        if self.state == State::Resting {
            self.state = State::Waiting;
            // The time in which the guest did not ask does not count.
            let next = Instant::now() + self.times.idle.span;
            self.idle.as_mut().reset(next);
        }
        let (time, what, error) = if self.end.as_mut().poll(cx).is_ready() {
            (self.times.total, "the end", Error::HttpResponseTimeout)
        } else if self.idle.as_mut().poll(cx).is_ready() {
            let error = Error::ConnectionReadTimeout;
            (self.times.idle, "the next piece", error)
        } else {
            return None;
        };
        if let Some(limit) = time.reached(&format!("{what} of the response")) {
            self.call.note_limit(&self.what, limit);
        }
        Some(error)
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        loop {
            if this.state == State::Ended {
                return Poll::Ready(None);
            }
            let polled = Pin::new(&mut this.incoming).poll_frame(cx);
            let result = match polled {
                Poll::Pending => match this.late(cx) {
                    None => return Poll::Pending,
                    Some(error) => Err(error),
                },
                Poll::Ready(None) => {
                    this.state = State::Ended;
                    let rest = this.stream.finish();
                    let rest = (!rest.is_empty()).then(|| Ok(Frame::data(rest)));
                    return Poll::Ready(rest);
                }
                Poll::Ready(Some(Ok(frame))) => {
                    this.state = State::Resting;
                    this.frame(frame)
                }
                Poll::Ready(Some(Err(error))) => Err(from_hyper(&error)),
            };
            match result {
                Ok(None) => {}
                Ok(Some(frame)) => return Poll::Ready(Some(Ok(frame))),
                Err(error) => {
                    this.state = State::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.state == State::Ended
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// A moment so far from now.
pub(super) fn sleep(span: Duration) -> Pin<Box<Sleep>> {
    Box::pin(tokio::time::sleep(span))
}
