//! Sends HTTP requests as it is told, well-formed or not, and tells what came of them.

/// Requests.
#[openprogram_guest::functions(package = "test:http-client")]
pub mod web {
    use wasip2::http::outgoing_handler::handle;
    use wasip2::http::types::{
        ErrorCode, Fields, FutureIncomingResponse, IncomingResponse, Method, OutgoingBody,
        OutgoingRequest, RequestOptions, Scheme,
    };
    use wasip2::io::streams::StreamError;

    /// Sends a request. Headers are `name: value`.
    ///
    /// Gives the status, the headers and the body as lines, or `error: ` with its code.
    pub fn fetch(
        method: String,
        url: String,
        headers: Vec<String>,
        body: Option<String>,
    ) -> String {
        let sent = request(&method, &url, &headers).and_then(|request| send(request, body, None));
        match sent.and_then(wait) {
            Ok(response) => shown(&response),
            Err(error) => format!("error: {error}"),
        }
    }

    /// Reads an answer to its end and gives its size and how it ended, `idle-ms` at most between
    /// its pieces.
    pub fn size(url: String, idle_ms: Option<u64>) -> String {
        let sent = request("GET", &url, &[]).and_then(|request| send(request, None, idle_ms));
        match sent.and_then(wait) {
            Ok(response) => {
                let mut bytes = 0;
                let end = read(&response, |piece| bytes += piece.len());
                format!("{bytes} bytes, then {end}")
            }
            Err(error) => format!("error: {error}"),
        }
    }

    /// Sends so many requests one after the other and gives how many were answered before one
    /// failed, and how.
    pub fn series(url: String, times: u32) -> String {
        for answered in 0..times {
            let sent = request("GET", &url, &[]).and_then(|request| send(request, None, None));
            if let Err(error) = sent.and_then(wait).map(|response| shown(&response)) {
                return format!("{answered}, then {error}");
            }
        }
        format!("{times}")
    }

    /// Sends so many requests at once and gives how each ended, sorted.
    pub fn parallel(url: String, times: u32) -> Vec<String> {
        let start = || request("GET", &url, &[]).and_then(|request| send(request, None, None));
        let sent: Vec<_> = (0..times).map(|_| start()).collect();
        let end = |sent: Result<_, String>| match sent.and_then(wait) {
            Ok(response) => response.status().to_string(),
            Err(error) => error,
        };
        // All of them are waited for before the first response goes.
        let mut ends: Vec<_> = sent.into_iter().map(end).collect();
        ends.sort();
        ends
    }

    /// Sends a body of so many bytes, with a content length where it is told to announce one.
    pub fn upload(url: String, bytes: u32, announced: Option<u64>) -> String {
        let length = announced.map(|length| format!("content-length: {length}"));
        let headers: Vec<_> = length.into_iter().collect();
        let sent = request("POST", &url, &headers);
        let sent = sent.and_then(|request| send(request, Some("x".repeat(bytes as usize)), None));
        match sent.and_then(wait) {
            Ok(response) => shown(&response),
            Err(error) => format!("error: {error}"),
        }
    }

    /// Sends a request and ends without waiting for the answer.
    pub fn abandon(url: String) -> String {
        let sent = request("GET", &url, &[]).and_then(|request| send(request, None, None));
        match sent {
            Ok(response) => {
                // Until the server has it.
                std::thread::sleep(std::time::Duration::from_millis(50));
                std::mem::forget(response);
                "sent".to_owned()
            }
            Err(error) => error,
        }
    }

    /// Makes headers of so many fields with values of so many bytes.
    pub fn fields(count: u32, bytes: u32) -> String {
        let value = vec![b'v'; bytes as usize];
        let list: Vec<_> = (0..count)
            .map(|n| (format!("x-{n}"), value.clone()))
            .collect();
        match Fields::from_list(&list) {
            Ok(_) => "made".to_owned(),
            Err(error) => format!("error: {error:?}"),
        }
    }

    /// Appends so many fields of one name, one by one.
    pub fn append(count: u32) -> String {
        let fields = Fields::new();
        for n in 0..count {
            if let Err(error) = fields.append("x", b"") {
                return format!("{n}, then {error:?}");
            }
        }
        "made".to_owned()
    }

    /// Writes to the log.
    pub fn say(text: String) {
        println!("{text}");
    }

    fn request(method: &str, url: &str, headers: &[String]) -> Result<OutgoingRequest, String> {
        let fields = Fields::new();
        for header in headers {
            let (name, value) = header.split_once(": ").unwrap_or((header, ""));
            let made = fields.append(name, value.as_bytes());
            made.map_err(|error| format!("header {error:?}"))?;
        }
        let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let request = OutgoingRequest::new(fields);
        let method = match method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            other => Method::Other(other.to_owned()),
        };
        let scheme = match scheme {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => Scheme::Other(other.to_owned()),
        };
        let path = if path.is_empty() { "/" } else { path };
        // A leading `/` before an absolute URL is taken away, so that it is the path as it stands.
        let path = match path.strip_prefix('/') {
            Some(absolute) if absolute.contains("://") => absolute,
            _ => path,
        };
        request
            .set_method(&method)
            .map_err(|()| "method refused".to_owned())?;
        request
            .set_scheme(Some(&scheme))
            .map_err(|()| "scheme refused".to_owned())?;
        request
            .set_authority(Some(authority))
            .map_err(|()| "authority refused".to_owned())?;
        request
            .set_path_with_query(Some(path))
            .map_err(|()| "path refused".to_owned())?;
        Ok(request)
    }

    fn send(
        request: OutgoingRequest,
        body: Option<String>,
        idle_ms: Option<u64>,
    ) -> Result<FutureIncomingResponse, String> {
        let options = RequestOptions::new();
        let idle = idle_ms.map(|ms| ms * 1_000_000);
        options
            .set_between_bytes_timeout(idle)
            .map_err(|()| "option refused".to_owned())?;
        let outgoing = match &body {
            Some(_) => Some(request.body().map_err(|()| "body refused".to_owned())?),
            None => None,
        };
        let response = handle(request, Some(options)).map_err(|error| code(&error))?;
        if let (Some(outgoing), Some(body)) = (outgoing, body) {
            write(&outgoing, body.as_bytes());
            // Where the body was cut, the response says why.
            let _ = OutgoingBody::finish(outgoing, None);
        }
        Ok(response)
    }

    fn write(body: &OutgoingBody, bytes: &[u8]) {
        let Ok(stream) = body.write() else {
            return;
        };
        for piece in bytes.chunks(4096) {
            if stream.blocking_write_and_flush(piece).is_err() {
                return;
            }
        }
    }

    fn wait(response: FutureIncomingResponse) -> Result<IncomingResponse, String> {
        loop {
            match response.get() {
                None => response.subscribe().block(),
                Some(Ok(answer)) => return answer.map_err(|error| code(&error)),
                Some(Err(())) => return Err("taken twice".to_owned()),
            }
        }
    }

    fn code(error: &ErrorCode) -> String {
        match error {
            ErrorCode::InternalError(Some(message)) => message.clone(),
            error => format!("{error:?}"),
        }
    }

    fn shown(response: &IncomingResponse) -> String {
        let mut text = format!("{}\n", response.status());
        let mut headers = response.headers().entries();
        headers.sort();
        for (name, value) in headers {
            text.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(&value)));
        }
        let mut body = Vec::new();
        let end = read(response, |piece| body.extend_from_slice(piece));
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(&body));
        if end != "end" {
            text.push_str(&format!("\nerror: {end}"));
        }
        text
    }

    fn read(response: &IncomingResponse, mut take: impl FnMut(&[u8])) -> String {
        let Ok(body) = response.consume() else {
            return "taken twice".to_owned();
        };
        let Ok(stream) = body.stream() else {
            return "taken twice".to_owned();
        };
        loop {
            match stream.blocking_read(64 << 10) {
                Ok(piece) => take(&piece),
                Err(StreamError::Closed) => return "end".to_owned(),
                Err(StreamError::LastOperationFailed(error)) => {
                    return error.to_debug_string();
                }
            }
        }
    }
}
