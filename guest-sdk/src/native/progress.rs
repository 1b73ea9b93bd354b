//! Progress, kept for the test. Without a script nobody watches.

use crate::testing::MockProgress;

pub(crate) fn report(message: &str, fraction: Option<f64>) {
    if let Some(runtime) = super::ambient() {
        let told = MockProgress {
            message: message.to_owned(),
            fraction,
        };
        runtime.script.borrow_mut().told.progress.push(told);
    }
}
