//! Turns are texts and requests, and their tools are exported functions.
#![allow(unused, reason = "only the mistakes of the subject are shown")]

#[openprogram_guest::functions]
pub mod tools {
    use openprogram_guest::decision::Menu;
    use openprogram_guest::{Failure, Reply, Request, Runtime, ToolChoice};

    pub fn look_up(order: String) -> String {
        private(order)
    }

    pub fn work(runtime: &Runtime) -> Result<String, Failure> {
        runtime.exec(7)?;
        let request = Request::new("Work.").tool::<NotAFunction>().tools::<look_up>();
        let request = request.tool_choice(ToolChoice::function::<NotAFunction>());
        let reply: Reply = runtime.exec(request.choices(Menu::new()))?;
        Ok(reply.text())
    }

    struct NotAFunction;

    fn private(order: String) -> String {
        order
    }
}

fn main() {}
