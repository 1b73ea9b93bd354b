//! The hostile guests: what each does, how the call of it ends, and hosts to try them on.
//!
//! The list is `tests/guests/attacks.txt`. Ordinary tests make each call once and compare its end
//! to the letter; `soak` makes them over and over, many at once.

use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result, bail, ensure};
use openprogram_component::{InUse, Limits};
use openprogram_core::Json;
use openprogram_core::session::{MemoryStore, SessionStore};
use serde_json::json;

use crate::guests;
use crate::host::{RunningHost, TestHost, engine, load, named};

/// One call of a hostile guest.
#[derive(Clone, Debug)]
pub struct Attack {
    /// The guest.
    pub guest: &'static str,
    /// Its function, as it is called.
    pub function: &'static str,
    /// The arguments.
    pub arguments: Json,
    /// What ends it.
    pub held_by: Held,
    /// How it ends.
    pub end: End,
}

/// Every attack of the list.
///
/// # Panics
/// When a line of the list is wrong.
#[must_use]
pub fn attacks() -> &'static [Attack] {
    static ATTACKS: LazyLock<Vec<Attack>> = LazyLock::new(|| {
        let lines = include_str!("../guests/attacks.txt").lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = |line| read(line).unwrap_or_else(|error| panic!("`{line}`: {error:#}"));
        lines.map(read).collect()
    });
    &ATTACKS
}

fn read(line: &'static str) -> Result<Attack> {
    let parts: Vec<&str> = line.splitn(4, " | ").map(str::trim).collect();
    let &[function, arguments, limits, end] = parts.as_slice() else {
        bail!("not of the form `GUEST.FUNCTION | arguments | limits | end`");
    };
    let (guest, _) = function.split_once('.').context("no guest")?;
    let held_by = match limits {
        "-" => Held::Default,
        "cpu" => Held::Cpu,
        "wall" => Held::Wall,
        "room" => Held::Room,
        other => bail!("unknown limits `{other}`"),
    };
    let end = match end.split_once(' ') {
        Some(("fails", named)) => End::Fails(named),
        Some(("gives", value)) => End::Gives(value),
        Some(("refused", error)) => End::Refused(error),
        _ => bail!("unknown end"),
    };
    Ok(Attack {
        guest,
        function,
        arguments: serde_json::from_str(arguments).context("the arguments")?,
        held_by,
        end,
    })
}

/// Which limits a call is made with. All others are those of every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// None but those of every call.
    Default,
    /// Little time to compute.
    Cpu,
    /// Little time to wait.
    Wall,
    /// Little room: memory, tables, instances, handles.
    Room,
}

/// How a call of a hostile guest ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the failure that [`named`] tells so.
    Fails(&'static str),
    /// With this value, as JSON: the guest finds nothing to take.
    Gives(&'static str),
    /// The component is not loaded, and the error begins so.
    Refused(&'static str),
}

impl Held {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Default, Self::Cpu, Self::Wall, Self::Room];

    fn change(self, limits: &mut Limits) {
        match self {
            Self::Default => {}
            Self::Cpu => limits.cpu_ms = 20,
            Self::Wall => limits.wall_ms = 40,
            Self::Room => {
                limits.memory_bytes = 8 << 20;
                limits.memories = 3;
                limits.tables = 4;
                limits.table_elements = 10_000;
                limits.core_instances = 8;
                limits.handles = 100;
            }
        }
    }
}

/// The hosts on which attacks are tried: one for each set of limits, and a healthy one.
pub struct Hosts {
    hosts: Vec<RunningHost>,
    healthy: RunningHost,
}

impl Hosts {
    /// Loads all guests, each under the limits that its attacks need. `store` says where the
    /// sessions of a host are kept.
    ///
    /// # Errors
    /// When a guest is refused that must not be.
    pub async fn start(store: impl Fn(usize) -> Arc<dyn SessionStore>) -> Result<Self> {
        let mut hosts = Vec::new();
        for (place, held) in Held::ALL.into_iter().enumerate() {
            let mut host = TestHost::new().decider("bad-decider");
            let loaded = |attack: &&Attack| !matches!(attack.end, End::Refused(_));
            let attacks = attacks().iter().filter(loaded);
            let guests = attacks.filter(|attack| attack.held_by == held);
            let mut guests: Vec<_> = guests.map(|attack| attack.guest).collect();
            guests.sort_unstable();
            guests.dedup();
            for guest in guests {
                // A decider answers what another guest asks.
                host = host.guest(if guest == "bad-decider" {
                    "chooser"
                } else {
                    guest
                });
            }
            let host = host.limits(|limits| held.change(limits));
            hosts.push(host.store(store(place)).start().await);
        }
        let healthy = TestHost::new().guest("healthy");
        let healthy = healthy.store(store(Held::ALL.len())).start().await;
        Ok(Self { hosts, healthy })
    }

    /// Hosts that keep their sessions in memory.
    ///
    /// # Errors
    /// As [`Hosts::start`].
    pub async fn in_memory() -> Result<Self> {
        Self::start(|_| Arc::new(MemoryStore::default())).await
    }

    /// Makes the call, tells how it ended, and has a healthy call made after it.
    ///
    /// # Errors
    /// When the call left something of itself in the graph that is not ended, or the healthy call
    /// is not answered.
    pub async fn attempt(&self, attack: &Attack) -> Result<String> {
        let end = match attack.end {
            End::Refused(_) => match load(attack.guest, guests::bytes(attack.guest)).await {
                Ok(_) => "loaded".to_owned(),
                Err(error) => error.to_string(),
            },
            End::Fails(_) | End::Gives(_) => self.call(attack).await?,
        };
        let next = self.healthy.call("double", json!({"number": 21})).await?;
        ensure!(next == json!(42), "the next call gave {next}");
        Ok(end)
    }

    /// Makes the call, and fails unless it ends as the table says.
    ///
    /// # Errors
    /// As [`Hosts::attempt`], and when it ended in another way.
    pub async fn check(&self, attack: &Attack) -> Result<()> {
        let Attack {
            function, guest, ..
        } = attack;
        let told = self.attempt(attack).await;
        let told = told.with_context(|| format!("`{function}` of `{guest}`"))?;
        ensure!(
            attack.end.is(&told),
            "`{function}` of `{guest}` ended as `{told}`, not as {:?}",
            attack.end
        );
        Ok(())
    }

    async fn call(&self, attack: &Attack) -> Result<String> {
        let place = Held::ALL.iter().position(|held| *held == attack.held_by);
        let host = &self.hosts[place.context("limits that have no host")?];
        let outcome = host.run(attack.function, attack.arguments.clone()).await;
        let session = outcome.session.as_ref().context("no session")?;
        let nodes = host.nodes(session).await;
        ensure!(!nodes.is_empty(), "nothing was recorded");
        let open = nodes.iter().filter(|node| node.end.is_none()).count();
        ensure!(open == 0, "{open} nodes were left open");
        Ok(match &outcome.result {
            Ok(value) => format!("gave {value}"),
            Err(failure) => named(failure),
        })
    }
}

impl End {
    /// Whether what was told is this end.
    #[must_use]
    pub fn is(&self, told: &str) -> bool {
        match self {
            Self::Fails(expected) => told == *expected,
            Self::Gives(expected) => told.strip_prefix("gave ") == Some(expected),
            Self::Refused(expected) => told.starts_with(expected),
        }
    }
}

/// Whether every slot of the engine of all tests is free.
#[must_use]
pub fn nothing_runs() -> bool {
    engine().in_use() == InUse::default()
}
