//! One request and its answer, through the HTTP of WASI.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingBody, IncomingResponse, Method as WasiMethod, OutgoingRequest,
    Scheme,
};
use wasip2::io::streams::StreamError;

use crate::fetch::Method;
use crate::url::Url;

/// The most bytes of a body that are read. A long book has fewer.
pub(crate) const BODY_BYTES_MAX: usize = 8 << 20;

/// How much is read at once.
const PIECE_BYTES: u64 = 64 << 10;

/// What a request says of itself. Servers that sort answers by what is accepted give text.
const HEADERS: [(&str, &str); 2] = [
    (
        "user-agent",
        concat!("openprogram-fetch/", env!("CARGO_PKG_VERSION")),
    ),
    (
        "accept",
        "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
    ),
];

/// An answer.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case, in the order of the server.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the body goes on.
    pub(crate) is_cut: bool,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// No grant covers it.
    Denied,
    /// The URL cannot be sent.
    BadUrl,
    /// Anything else, as the end of a sentence.
    Failed(String),
}

/// Sends a request and reads the answer.
///
/// # Errors
/// Where it is refused, or the server does not answer to the end.
pub(crate) fn send(method: Method, url: &Url) -> Result<Response, NoAnswer> {
    let request = request(method, url).ok_or(NoAnswer::BadUrl)?;
    let pending = handle(request, None).map_err(|error| no_answer(&error))?;
    let response = loop {
        match pending.get() {
            None => pending.subscribe().block(),
            Some(Ok(answer)) => break answer.map_err(|error| no_answer(&error))?,
            Some(Err(())) => return Err(NoAnswer::Failed("was taken twice".to_owned())),
        }
    };
    let headers = response.headers().entries().into_iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(&value).into_owned();
        (name.to_ascii_lowercase(), value)
    });
    let headers = headers.collect();
    let status = response.status();
    let (body, is_cut) = match method {
        Method::Head => (Vec::new(), false),
        Method::Get => body(&response)?,
    };
    Ok(Response {
        status,
        headers,
        body,
        is_cut,
    })
}

fn request(method: Method, url: &Url) -> Option<OutgoingRequest> {
    let fields = Fields::new();
    for (name, value) in HEADERS {
        fields.append(name, value.as_bytes()).ok()?;
    }
    let request = OutgoingRequest::new(fields);
    let method = match method {
        Method::Get => WasiMethod::Get,
        Method::Head => WasiMethod::Head,
    };
    let scheme = if url.is_tls {
        Scheme::Https
    } else {
        Scheme::Http
    };
    request.set_method(&method).ok()?;
    request.set_scheme(Some(&scheme)).ok()?;
    request.set_authority(Some(&url.authority)).ok()?;
    request.set_path_with_query(Some(&url.path)).ok()?;
    Some(request)
}

fn body(response: &IncomingResponse) -> Result<(Vec<u8>, bool), NoAnswer> {
    let failed = |why: &str| NoAnswer::Failed(why.to_owned());
    let body: IncomingBody = response.consume().map_err(|()| failed("was read twice"))?;
    let stream = body.stream().map_err(|()| failed("was read twice"))?;
    let mut read = Vec::new();
    loop {
        match stream.blocking_read(PIECE_BYTES) {
            Ok(piece) => read.extend_from_slice(&piece),
            Err(StreamError::Closed) => return Ok((read, false)),
            Err(StreamError::LastOperationFailed(error)) => {
                let why = error.to_debug_string();
                return Err(NoAnswer::Failed(format!("broke off: {}", one_line(&why))));
            }
        }
        if read.len() > BODY_BYTES_MAX {
            read.truncate(BODY_BYTES_MAX);
            return Ok((read, true));
        }
    }
}

/// What an error of the host means, as the end of a sentence about the URL.
fn no_answer(error: &ErrorCode) -> NoAnswer {
    let why = match error {
        ErrorCode::HttpRequestDenied => return NoAnswer::Denied,
        ErrorCode::HttpRequestUriInvalid
        | ErrorCode::HttpRequestUriTooLong
        | ErrorCode::HttpRequestMethodInvalid => return NoAnswer::BadUrl,
        ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
            "has a host that no name server knows".to_owned()
        }
        ErrorCode::DestinationIpProhibited => {
            "leads to a private address, which a grant has to name by itself".to_owned()
        }
        ErrorCode::ConnectionRefused => "has a host that takes no connection there".to_owned(),
        ErrorCode::DnsTimeout
        | ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::HttpResponseTimeout => "did not answer in time".to_owned(),
        ErrorCode::TlsCertificateError
        | ErrorCode::TlsProtocolError
        | ErrorCode::TlsAlertReceived(_) => "shows no certificate that can be trusted".to_owned(),
        ErrorCode::InternalError(Some(message)) => format!("failed: {}", one_line(message)),
        other => format!("failed: {}", one_line(&format!("{other:?}"))),
    };
    NoAnswer::Failed(why)
}

fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_host_become_the_end_of_a_sentence() {
        for (error, expected) in [
            (ErrorCode::HttpRequestDenied, NoAnswer::Denied),
            (ErrorCode::HttpRequestUriInvalid, NoAnswer::BadUrl),
            (
                ErrorCode::ConnectionTimeout,
                NoAnswer::Failed("did not answer in time".to_owned()),
            ),
            (
                ErrorCode::InternalError(Some("a\nb".to_owned())),
                NoAnswer::Failed("failed: a b".to_owned()),
            ),
            (
                ErrorCode::ConnectionTerminated,
                NoAnswer::Failed("failed: ErrorCode::ConnectionTerminated".to_owned()),
            ),
        ] {
            assert_eq!(no_answer(&error), expected);
        }
    }
}
