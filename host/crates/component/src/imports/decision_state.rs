//! `decision-state`: what a decider is asked.

use wasmtime::component::Resource;

use crate::bindings::openprogram::agentic::decision_state as wire;
use crate::handles::StateHandle;
use crate::state::CallState;

impl wire::Host for CallState {}

impl wire::HostState for CallState {
    async fn prompt(&mut self, state: Resource<StateHandle>) -> wasmtime::Result<String> {
        Ok(self.table.get(&state)?.0.prompt.clone())
    }

    async fn system(&mut self, state: Resource<StateHandle>) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&state)?.0.system.clone())
    }

    async fn choices(
        &mut self,
        state: Resource<StateHandle>,
    ) -> wasmtime::Result<Vec<wire::Choice>> {
        let choices = self.table.get(&state)?.0.choices.iter();
        let choices = choices.map(|choice| wire::Choice {
            name: choice.name.clone(),
            description: choice.description.clone(),
            parameters: choice.parameters.to_string(),
        });
        Ok(choices.collect())
    }

    async fn drop(&mut self, state: Resource<StateHandle>) -> wasmtime::Result<()> {
        self.table.delete(state)?;
        Ok(())
    }
}
