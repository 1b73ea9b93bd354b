//! One hostile guest per promise of the sandbox: it ends in its named failure, the host goes on,
//! and the graph shows what happened.

mod calls;
mod cpu;
mod decider;
mod declared;
mod hostile;
mod loading;
mod memory;
mod metadata;
mod output;
mod soak;
mod together;

use expect_test::expect;
use openprogram_component::Limits;
use openprogram_core::Json;
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

/// A host of this guest, a healthy one beside it, and a function of the guest to call.
struct Hostile {
    host: RunningHost,
}

impl Hostile {
    async fn new(guest: &str, limits: impl FnOnce(&mut Limits)) -> Self {
        let host = TestHost::new().guest(guest).guest("healthy");
        Self {
            host: host.limits(limits).start().await,
        }
    }

    /// Calls a function of the hostile guest, which must fail as named, be recorded with that
    /// failure, and leave the host able to make the next call.
    async fn check(&self, function: &str, arguments: Json, expected: &str) {
        let outcome = self.host.run(function, arguments.clone()).await;
        let failure = match &outcome.result {
            Ok(value) => panic!("`{function}` {arguments} gave {value}"),
            Err(failure) => failure,
        };
        assert_eq!(
            named(failure),
            expected,
            "`{function}` {arguments}: {failure}"
        );
        let nodes = self.host.nodes(outcome.session.as_ref().unwrap()).await;
        let recorded = nodes[0].end.as_ref().and_then(|end| end.failure.as_ref());
        assert_eq!(recorded, Some(failure), "`{function}` {arguments}");
        let next = self.host.call("double", json!({"number": 21})).await;
        assert_eq!(next, Ok(json!(42)), "after `{function}` {arguments}");
    }
}

#[tokio::test]
async fn healthy_guests_are_called() {
    let host = TestHost::new().guest("healthy").start().await;
    let outcome = host.run("double", json!({"number": 4})).await;
    assert_eq!(outcome.result, Ok(json!(8)));
    expect![[r#"
        1 code hostile:healthy/guest.double
          in   {"number":4}
          out  8
    "#]]
    .assert_eq(&host.graph(&outcome).await.to_string());
}
