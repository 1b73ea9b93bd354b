//! Floods the host with handles and with what menus may hold.

/// Asks for much.
#[openprogram_guest::functions(package = "hostile:handle-flood")]
pub mod guest {
    use openprogram_guest::decision::{self, Menu};
    use openprogram_guest::{Failure, Json, Runtime};

    /// Makes menus for ever and keeps them.
    pub fn menus() {
        let mut kept = Vec::new();
        loop {
            kept.push(Menu::new());
        }
    }

    /// Makes so many menus, one after the other, and keeps none.
    pub fn in_turn(times: u32) -> u32 {
        (0..times).map(|_| Menu::new()).count() as u32
    }

    /// Puts so many options into one menu and decides over them.
    pub fn options(count: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let mut menu = Menu::new().runtime(runtime);
        for number in 0..count {
            menu = menu.value(&format!("option_{number}"), number);
        }
        decision::make("Pick one.", &menu)
    }

    /// Decides with a prompt of so many bytes.
    pub fn prompt(bytes: u32, runtime: &Runtime) -> Result<Json, Failure> {
        let menu = Menu::new().value("done", true).runtime(runtime);
        decision::make(&"p".repeat(bytes as usize), &menu)
    }
}
