//! Which functions the model of a turn may call, and which of them it must.

use super::Request;
use crate::ExportedFunction;
use crate::host::runtime as raw;

impl<End> Request<'_, End> {
    /// Lets the model call a function of this component, named by its path.
    ///
    /// Once a tool is named, the model may call the named ones only. Without any, it may call what
    /// the turn above could, where there is one, else every function that this component may call.
    pub fn tool<F: ExportedFunction>(self) -> Self {
        self.tool_named(F::NAME)
    }

    /// Lets the model call several functions of this component, named by their paths in a tuple.
    pub fn tools<T: ToolSet>(mut self) -> Self {
        let names = T::NAMES.iter().map(|name| (*name).to_owned());
        self.tools.extend(names);
        self.raw.set_tools(&self.tools);
        self
    }

    /// Lets the model call a function by its name, which may be one of another component.
    ///
    /// Such a function needs a grant.
    pub fn tool_named(mut self, function: &str) -> Self {
        self.tools.push(function.to_owned());
        self.raw.set_tools(&self.tools);
        self
    }

    /// Lets the model call nothing, whatever was named before.
    pub fn no_tools(mut self) -> Self {
        self.tools.clear();
        self.raw.set_tools(&self.tools);
        self
    }

    /// Lets the model call the functions of a preset: `none`, `full` (every registered function) or
    /// one that the project names, such as `default`. Of these, the ones that this component may
    /// call, whatever the turn above could.
    ///
    /// A preset and tools that are named take each other's place: what is said last holds.
    pub fn toolset(mut self, name: &str) -> Self {
        self.tools.clear();
        self.raw.set_toolset(name);
        self
    }

    /// Leaves out the functions that are declared unsafe in turns from this source, for example
    /// `telegram`. Turns below this one have the source too.
    pub fn tools_source(self, source: &str) -> Self {
        self.raw.set_tools_source(source);
        self
    }

    /// Leaves out every function that answers to none of these names.
    pub fn tools_allow<N: Into<String>>(self, functions: impl IntoIterator<Item = N>) -> Self {
        let functions: Vec<String> = functions.into_iter().map(Into::into).collect();
        self.raw.set_tools_allow(&functions);
        self
    }

    /// Leaves out every function that answers to one of these names, also where it is allowed.
    pub fn tools_deny<N: Into<String>>(self, functions: impl IntoIterator<Item = N>) -> Self {
        let functions: Vec<String> = functions.into_iter().map(Into::into).collect();
        self.raw.set_tools_deny(&functions);
        self
    }

    /// Sets whether and what the model must call. Default: it decides.
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.raw.set_tool_choice(&match choice {
            ToolChoice::Auto => raw::ToolChoice::Auto,
            ToolChoice::Required => raw::ToolChoice::Required,
            ToolChoice::None => raw::ToolChoice::None,
            ToolChoice::Named(function) => raw::ToolChoice::Named(function),
        });
        self
    }

    /// Sets whether one reply may hold several calls. Default: as the provider does.
    pub fn parallel_tool_calls(self, allowed: bool) -> Self {
        self.raw.set_parallel_tool_calls(allowed);
        self
    }
}

/// Whether and what a model must call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model calls at least one tool.
    Required,
    /// The model calls no tool.
    None,
    /// The model calls this tool.
    Named(String),
}

impl ToolChoice {
    /// The model calls this function of the component, named by its path.
    pub fn function<F: ExportedFunction>() -> Self {
        ToolChoice::Named(F::NAME.to_owned())
    }
}

/// Functions of a component, named by their paths in a tuple of up to 16.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of exported functions",
    label = "expected a tuple, such as `(look_up, search)`; for one function there is `tool`"
)]
pub trait ToolSet {
    /// The full names, in order.
    const NAMES: &'static [&'static str];
}

macro_rules! tool_sets {
    ($first:ident $($rest:ident)*) => {
        impl<$first: ExportedFunction, $($rest: ExportedFunction),*> ToolSet for ($first, $($rest),*) {
            const NAMES: &'static [&'static str] = &[$first::NAME, $($rest::NAME),*];
        }
        tool_sets!($($rest)*);
    };
    () => {};
}
tool_sets!(A B C D E F G H I J K L M N O P);

#[cfg(test)]
mod tests {
    use super::*;

    struct LookUp;
    struct Search;

    impl ExportedFunction for LookUp {
        const NAME: &'static str = "a:b/c.look-up";
    }
    impl ExportedFunction for Search {
        const NAME: &'static str = "a:b/c.search";
    }

    #[test]
    fn tools_are_named_by_their_paths() {
        assert_eq!(<(Search,)>::NAMES, ["a:b/c.search"]);
        assert_eq!(<(LookUp, Search)>::NAMES, ["a:b/c.look-up", "a:b/c.search"]);
        let choice = ToolChoice::function::<LookUp>();
        assert_eq!(choice, ToolChoice::Named("a:b/c.look-up".to_owned()));
    }
}
