//! Functions that a chat does not offer: something that no model may give is given by nobody.

use openprogram_core::decision::hidden_values;
use openprogram_core::function::Function;
use openprogram_core::grant::shell_word;

use super::Chat;
use crate::commands::console::Console;
use crate::text::one_line;

/// How many of them are named.
const NAMED_MAX: usize = 10;

impl Chat<'_> {
    /// Why a call of the function can only fail, in words; `None` for most.
    pub(super) fn lacking(&self, function: &Function) -> Option<String> {
        let error = hidden_values(function, &self.context).err()?;
        let given = shell_word(&format!("{}=VALUE", one_line(&error.path, 200)));
        let name = one_line(&function.name.to_string(), 200);
        Some(format!(
            "left out: `{name}`: `{}`: {}; give it with `--context {given}`",
            one_line(&error.path, 200),
            one_line(&error.message, 500),
        ))
    }

    /// The functions of the toolset that the model is not offered, each with the reason.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (String, String)> {
        let catalog = self.prepared.runtime.catalog();
        let sets = &self.app.settings().tool_sets;
        let functions = self.toolset.functions(catalog, sets).into_iter().flatten();
        functions.filter_map(move |function| {
            let why = self.lacking(&function)?;
            Some((function.name.to_string(), why))
        })
    }

    /// Says which they are.
    pub(super) fn say_left_out(&self, console: &mut Console) {
        let left_out: Vec<_> = self.left_out().collect();
        for (_, why) in left_out.iter().take(NAMED_MAX) {
            console.say(why);
        }
        let n_more = left_out.len().saturating_sub(NAMED_MAX);
        if n_more > 0 {
            console.say(&format!("and {n_more} more, which `/tools` lists"));
        }
    }
}
