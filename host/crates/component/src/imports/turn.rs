//! `runtime`: turns are collected here and made by the services of the call.

use openprogram_core::content::MediaKind;
use openprogram_core::failure::Failure;
use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::ExecRequest;
use openprogram_core::tool::ToolChoice;
use wasmtime::component::Resource;

use crate::bindings::openprogram::agentic::runtime as wire;
use crate::handles::{Held, ReplyHandle, RequestHandle, UsageHandle};
use crate::state::CallState;

impl CallState {
    /// A turn that is being prepared, and what all of them may hold.
    fn preparing(
        &mut self,
        request: &Resource<RequestHandle>,
    ) -> wasmtime::Result<(&mut RequestHandle, Held<'_>)> {
        let held = Held {
            limits: &self.limits,
            bytes: &mut self.turn_bytes,
        };
        Ok((self.table.get_mut(request)?, held))
    }

    /// The turn that was prepared, made with this runtime.
    pub(super) fn turn(
        &self,
        runtime: RuntimeRef,
        request: &Resource<RequestHandle>,
    ) -> wasmtime::Result<Result<ExecRequest, Failure>> {
        Ok(self.table.get(request)?.turn(runtime))
    }

    /// Whether what was taken of its replies may be told anew.
    pub(super) fn takes_restarts(
        &self,
        request: &Resource<RequestHandle>,
    ) -> wasmtime::Result<bool> {
        Ok(self.table.get(request)?.takes_restarts)
    }
}

impl wire::HostRequest for CallState {
    async fn new(&mut self) -> wasmtime::Result<Resource<RequestHandle>> {
        Ok(self.table.push(RequestHandle::new())?)
    }

    async fn add_text(
        &mut self,
        request: Resource<RequestHandle>,
        text: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.add_text(text, held);
        Ok(())
    }

    async fn add_image(
        &mut self,
        request: Resource<RequestHandle>,
        data: Vec<u8>,
        mime_type: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.add_media(MediaKind::Image, data, &mime_type, held);
        Ok(())
    }

    async fn add_video(
        &mut self,
        request: Resource<RequestHandle>,
        data: Vec<u8>,
        mime_type: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.add_media(MediaKind::Video, data, &mime_type, held);
        Ok(())
    }

    async fn add_audio(
        &mut self,
        request: Resource<RequestHandle>,
        data: Vec<u8>,
        mime_type: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.add_media(MediaKind::Audio, data, &mime_type, held);
        Ok(())
    }

    async fn add_file(
        &mut self,
        request: Resource<RequestHandle>,
        path: String,
    ) -> wasmtime::Result<()> {
        let (turn, held) = self.preparing(&request)?;
        let Some(limit) = turn.file_bytes_max(&held) else {
            return Ok(());
        };
        let place = turn.next_part();
        let read = self.files().read_whole(&path, &place, limit).await?;
        let (turn, held) = self.preparing(&request)?;
        turn.add_file(&path, read, held);
        Ok(())
    }

    async fn mark_cache(&mut self, request: Resource<RequestHandle>) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.mark_cache(None, held);
        Ok(())
    }

    async fn mark_cache_for(
        &mut self,
        request: Resource<RequestHandle>,
        ttl: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.mark_cache(Some(&ttl), held);
        Ok(())
    }

    async fn add_system_text(
        &mut self,
        request: Resource<RequestHandle>,
        text: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.add_system_text(text, held);
        Ok(())
    }

    async fn set_tools(
        &mut self,
        request: Resource<RequestHandle>,
        functions: Vec<String>,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.set_tools(functions, held);
        Ok(())
    }

    async fn set_toolset(
        &mut self,
        request: Resource<RequestHandle>,
        name: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.set_toolset(name, held);
        Ok(())
    }

    async fn set_tools_source(
        &mut self,
        request: Resource<RequestHandle>,
        source: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.set_tools_source(source, held);
        Ok(())
    }

    async fn set_tools_allow(
        &mut self,
        request: Resource<RequestHandle>,
        functions: Vec<String>,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.set_tools_allow(functions, held);
        Ok(())
    }

    async fn set_tools_deny(
        &mut self,
        request: Resource<RequestHandle>,
        functions: Vec<String>,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.set_tools_deny(functions, held);
        Ok(())
    }

    async fn add_local_tool(
        &mut self,
        request: Resource<RequestHandle>,
        name: String,
        description: String,
        parameters: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.add_local_tool(name, &description, &parameters, held);
        Ok(())
    }

    async fn set_tool_choice(
        &mut self,
        request: Resource<RequestHandle>,
        choice: wire::ToolChoice,
    ) -> wasmtime::Result<()> {
        let choice = match choice {
            wire::ToolChoice::Auto => ToolChoice::Auto,
            wire::ToolChoice::Required => ToolChoice::Required,
            wire::ToolChoice::None => ToolChoice::None,
            wire::ToolChoice::Named(function) => ToolChoice::Named(function),
        };
        self.table.get_mut(&request)?.set_tool_choice(choice);
        Ok(())
    }

    async fn set_parallel_tool_calls(
        &mut self,
        request: Resource<RequestHandle>,
        allowed: bool,
    ) -> wasmtime::Result<()> {
        self.table
            .get_mut(&request)?
            .set_parallel_tool_calls(allowed);
        Ok(())
    }

    async fn set_response_format(
        &mut self,
        request: Resource<RequestHandle>,
        format: String,
    ) -> wasmtime::Result<()> {
        let (request, held) = self.preparing(&request)?;
        request.set_response_format(&format, held);
        Ok(())
    }

    async fn set_web_search(
        &mut self,
        request: Resource<RequestHandle>,
        allowed: bool,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&request)?.set_web_search(allowed);
        Ok(())
    }

    async fn set_restarts(
        &mut self,
        request: Resource<RequestHandle>,
        allowed: bool,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&request)?.takes_restarts = allowed;
        Ok(())
    }

    async fn set_max_iterations(
        &mut self,
        request: Resource<RequestHandle>,
        max_iterations: u32,
    ) -> wasmtime::Result<()> {
        self.table
            .get_mut(&request)?
            .set_max_iterations(max_iterations);
        Ok(())
    }

    async fn set_timeout_ms(
        &mut self,
        request: Resource<RequestHandle>,
        timeout_ms: u64,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&request)?.set_timeout_ms(timeout_ms);
        Ok(())
    }

    async fn drop(&mut self, request: Resource<RequestHandle>) -> wasmtime::Result<()> {
        let request = self.table.delete(request)?;
        self.turn_bytes -= request.held();
        Ok(())
    }
}

impl wire::HostReply for CallState {
    async fn text(&mut self, reply: Resource<ReplyHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&reply)?.0.text.clone())
    }

    async fn structured(
        &mut self,
        reply: Resource<ReplyHandle>,
    ) -> wasmtime::Result<Option<String>> {
        let structured = self.table.get(&reply)?.0.structured.as_ref();
        Ok(structured.map(ToString::to_string))
    }

    async fn usage(
        &mut self,
        reply: Resource<ReplyHandle>,
    ) -> wasmtime::Result<Resource<UsageHandle>> {
        let usage = self.table.get(&reply)?.0.usage;
        Ok(self.table.push(UsageHandle(usage))?)
    }

    async fn stop(&mut self, reply: Resource<ReplyHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&reply)?.0.stop.word().to_owned())
    }

    async fn drop(&mut self, reply: Resource<ReplyHandle>) -> wasmtime::Result<()> {
        self.table.delete(reply)?;
        Ok(())
    }
}

impl wire::HostUsage for CallState {
    async fn input_tokens(&mut self, usage: Resource<UsageHandle>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&usage)?.0.input_tokens)
    }

    async fn output_tokens(&mut self, usage: Resource<UsageHandle>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&usage)?.0.output_tokens)
    }

    async fn cache_read(&mut self, usage: Resource<UsageHandle>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&usage)?.0.cache_read)
    }

    async fn cache_create(&mut self, usage: Resource<UsageHandle>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&usage)?.0.cache_create)
    }

    async fn drop(&mut self, usage: Resource<UsageHandle>) -> wasmtime::Result<()> {
        self.table.delete(usage)?;
        Ok(())
    }
}
