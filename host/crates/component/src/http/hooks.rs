//! The hooks of `wasi:http` of one store.

use std::future::Future;
use std::sync::Arc;

use http::Request;
use wasmtime::component::ResourceTable;
use wasmtime_wasi_http::{
    RequestOptions, Result, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks,
};

use super::call::HttpCall;
use super::sending::send;

/// Bytes that one write to a request body may hold; larger writes come in pieces.
const CHUNK_BYTES: usize = 64 << 10;

/// What `wasi:http` keeps in a store.
pub(crate) struct HttpState {
    context: WasiHttpCtx,
    hooks: Hooks,
}

struct Hooks(Arc<HttpCall>);

impl HttpState {
    pub(crate) fn new(call: HttpCall) -> Self {
        let mut context = WasiHttpCtx::new();
        let fields = call.limits.http_fields_bytes;
        context.set_field_size_limit(usize::try_from(fields).unwrap_or(usize::MAX));
        Self {
            context,
            hooks: Hooks(Arc::new(call)),
        }
    }

    pub(crate) fn call(&self) -> &HttpCall {
        &self.hooks.0
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView {
            hooks: &mut self.hooks,
            table,
            ctx: &mut self.context,
        }
    }
}

type Sending<T> = Box<dyn Future<Output = Result<T>> + Send>;

impl WasiHttpHooks for Hooks {
    fn set_host_header(&mut self) -> bool {
        // It comes from the normal form of the URL.
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        CHUNK_BYTES
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Sending<()>,
    ) -> Sending<(http::Response<WasiBody>, Sending<()>)> {
        let call = Arc::clone(&self.0);
        Box::new(async move {
            let sent = send(call, request, options.unwrap_or_default());
            let response = sent.await?;
            // The connection is driven by the body of the response.
            let done: Sending<()> = Box::new(async { Ok(()) });
            Ok((response, done))
        })
    }
}
