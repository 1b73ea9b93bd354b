//! Functions of guests with more declared of them than their component tells.

use openprogram_component::LoadedComponent;
use openprogram_core::function::Function;

use crate::host::TestHost;

/// Changes what is declared of a function.
type Change = Box<dyn Fn(&mut Function) + Send + Sync>;

/// What is declared of functions besides.
#[derive(Default)]
pub(crate) struct Declared(Vec<Change>);

impl Declared {
    /// The functions of a component, changed.
    pub(crate) fn of(&self, component: &LoadedComponent) -> Vec<Function> {
        let mut functions = component.functions().to_vec();
        for function in &mut functions {
            self.0.iter().for_each(|declare| declare(function));
        }
        functions
    }
}

impl TestHost {
    /// Changes what is declared of the function of this name, in whatever guest.
    #[must_use]
    pub fn declare(
        mut self,
        name: &'static str,
        change: impl Fn(&mut Function) + Send + Sync + 'static,
    ) -> Self {
        self.declared.0.push(Box::new(move |function| {
            if function.name.function == name {
                change(function);
            }
        }));
        self
    }
}
