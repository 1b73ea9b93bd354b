//! `completion`: what a model component is asked, and where its reply goes.

use openprogram_core::content::ToolCall;
use wasmtime::component::Resource;

use crate::bindings::openprogram::agentic::completion as wire;
use crate::handles::{Piece, PromptHandle, SinkHandle};
use crate::state::CallState;

impl wire::Host for CallState {}

impl wire::HostPrompt for CallState {
    async fn system(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&prompt)?.system.clone())
    }

    async fn messages(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&prompt)?.messages.clone())
    }

    async fn tools(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&prompt)?.tools.clone())
    }

    async fn tool_choice(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&prompt)?.tool_choice.clone())
    }

    async fn parallel_tool_calls(
        &mut self,
        prompt: Resource<PromptHandle>,
    ) -> wasmtime::Result<Option<bool>> {
        Ok(self.table.get(&prompt)?.parallel_tool_calls)
    }

    async fn thinking_level(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&prompt)?.thinking_level.to_owned())
    }

    async fn max_output_tokens(
        &mut self,
        prompt: Resource<PromptHandle>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(self.table.get(&prompt)?.max_output_tokens)
    }

    async fn session_id(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&prompt)?.session_id.clone())
    }

    async fn drop(&mut self, prompt: Resource<PromptHandle>) -> wasmtime::Result<()> {
        self.table.delete(prompt)?;
        Ok(())
    }
}

impl CallState {
    /// Takes a piece and waits until it was handed over. A reply beyond its limit ends the call: a
    /// sink has no way to refuse.
    async fn take<E: Into<wasmtime::Error>>(
        &mut self,
        sink: &Resource<SinkHandle>,
        take: impl FnOnce(&mut SinkHandle) -> Result<Piece, E>,
    ) -> wasmtime::Result<()> {
        let sink = self.table.get_mut(sink)?;
        if let Some(event) = take(sink).map_err(Into::into)? {
            let mailbox = sink.mailbox();
            mailbox.put(event).await;
        }
        Ok(())
    }
}

impl wire::HostSink for CallState {
    async fn text(&mut self, sink: Resource<SinkHandle>, text: String) -> wasmtime::Result<()> {
        self.take(&sink, |sink| sink.text(text)).await
    }

    async fn thinking(&mut self, sink: Resource<SinkHandle>, text: String) -> wasmtime::Result<()> {
        self.take(&sink, |sink| sink.thinking(text)).await
    }

    async fn tool_call(
        &mut self,
        sink: Resource<SinkHandle>,
        id: String,
        name: String,
        arguments: String,
    ) -> wasmtime::Result<()> {
        let call = ToolCall {
            id,
            name,
            arguments,
        };
        self.take(&sink, |sink| sink.tool_call(call)).await
    }

    async fn usage(
        &mut self,
        sink: Resource<SinkHandle>,
        input_tokens: u64,
        output_tokens: u64,
    ) -> wasmtime::Result<()> {
        self.table
            .get_mut(&sink)?
            .usage(input_tokens, output_tokens);
        Ok(())
    }

    async fn cached_input(
        &mut self,
        sink: Resource<SinkHandle>,
        read: u64,
        create: u64,
    ) -> wasmtime::Result<()> {
        self.table.get_mut(&sink)?.cached_input(read, create);
        Ok(())
    }

    async fn stop(&mut self, sink: Resource<SinkHandle>, reason: String) -> wasmtime::Result<()> {
        self.table.get_mut(&sink)?.stop(&reason);
        Ok(())
    }

    async fn drop(&mut self, sink: Resource<SinkHandle>) -> wasmtime::Result<()> {
        self.table.delete(sink)?;
        Ok(())
    }
}
