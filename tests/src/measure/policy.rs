//! The whole policy stack of a call against the same call without it: limits, accounting, grants of
//! every kind, and what of the host a guest asks for through the gate.
//!
//! The same component runs in bare wasmtime with wasmtime-wasi as it is, in a host without grants,
//! and in a host with grants of every kind. It asks for many things in one call, so that the cost
//! of one of them is seen above the cost of the call.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use openprogram_component::{ComponentHost, Limits, Permissions};
use openprogram_core::function::FunctionRef;
use openprogram_core::grant::{
    FolderGrant, Grant, GrantTextError, Grants, HttpGrant, SecretGrant, VariableGrant,
};
use openprogram_core::guest::{CallScope, FunctionCall, FunctionHost as _, HostServices};
use openprogram_core::id::SessionId;
use openprogram_core::secret::Secret;
use openprogram_core::{Json, JsonObject};
use openprogram_tests::guests::assemble;
use openprogram_tests::host::{engine, load};
use serde_json::json;
use wasmtime::component::Val;
use wasmtime_wasi::{FsPerms, WasiCtx};

use crate::bare::Bare;
use crate::calls::NoServices;
use crate::table::{Timing, heading, line, time_async, wanted};

const WORLD: &str = include_str!("policy.wit");
const MODULE: &str = include_str!("policy.wat");
const INTERFACE: &str = "measure:policy/guest";
/// Where the guest finds the granted folder.
const FOLDER: &str = "/data";
/// Calls that are timed in each line; each of them asks for [`ASKED`] things.
const RUNS: usize = 1_000;
/// Things of the host that one call asks for: readings of the clock, or files opened and closed.
const ASKED: u32 = 100;

/// How much of the policy stands around a call.
#[derive(Clone, Copy)]
enum Policy {
    /// Limits and accounting, and nothing granted.
    NoGrants,
    /// The same with grants of every kind.
    Grants,
}

fn unread(error: GrantTextError) -> anyhow::Error {
    anyhow!("a grant of this measurement cannot be read: {error}")
}

/// Every kind of grant. What of it the guest does not use costs all the same.
fn permissions(folder: &Path) -> Result<Permissions> {
    let dir: Grant<FolderGrant> = "rw:data=/data".parse().map_err(unread)?;
    let variable: Grant<VariableGrant> = "MEASURED".parse().map_err(unread)?;
    let http: Grant<HttpGrant> = "GET https://api.example.com/v1".parse().map_err(unread)?;
    let secret: Grant<SecretGrant> = "MEASURED_KEY=https://api.example.com"
        .parse()
        .map_err(unread)?;
    Ok(Permissions {
        component: "policy".to_owned(),
        folders: vec![(dir.clone(), folder.to_owned())],
        variables: vec![("MEASURED".to_owned(), "1".to_owned())],
        secrets: vec![("MEASURED_KEY".to_owned(), Secret::new("k"))],
        grants: Arc::new(Grants {
            dirs: vec![dir],
            env: vec![variable],
            http: vec![http],
            secrets: vec![secret],
            ask_user: true,
            ..Grants::default()
        }),
        ..Permissions::default()
    })
}

/// The call in bare wasmtime, with the folder or without.
async fn time_bare(bytes: &[u8], function: &str, folder: Option<&Path>) -> Result<Timing> {
    let bare = Bare::new(bytes, INTERFACE, function)?;
    let bare = &bare;
    // What it gives is checked once.
    let wasi = || -> WasiCtx {
        let mut wasi = WasiCtx::builder();
        if let Some(folder) = folder {
            wasi.preopened_dir(folder, FOLDER, FsPerms::ReadWrite)
                .expect("the folder is there");
        }
        wasi.build()
    };
    let given = bare.call(wasi(), &[Val::U32(ASKED)]).await?;
    anyhow::ensure!(given == Val::U32(ASKED), "bare wasmtime gave {given:?}");
    Ok(time_async(RUNS, || async move {
        let given = bare.call(wasi(), &[Val::U32(ASKED)]).await;
        std::hint::black_box(given.expect("a result"));
    })
    .await)
}

/// The call in the host.
async fn time_ours(bytes: &[u8], function: &str, policy: Policy, folder: &Path) -> Result<Timing> {
    let component = load("policy", bytes.to_vec()).await?;
    let mut functions = component.functions().iter();
    let function = functions.find(|known| known.name.function == function);
    let function: FunctionRef = function.cloned().map(Arc::new).context("the function")?;
    let mut host = ComponentHost::new(engine().clone(), Limits::default());
    match policy {
        Policy::NoGrants => host.add(component),
        Policy::Grants => host.add_with(component, permissions(folder)?),
    }
    let services: Arc<dyn HostServices> = Arc::new(NoServices);
    let arguments = JsonObject::from_iter([("times".to_owned(), ASKED.into())]);
    let call = || {
        host.call(FunctionCall {
            function: Arc::clone(&function),
            arguments: arguments.clone(),
            services: Arc::clone(&services),
            depth: 0,
            totals: Arc::default(),
            scope: CallScope::top(SessionId::from_bits(0)),
        })
    };
    let given = call().await.result.map_err(|error| anyhow!("{error:?}"))?;
    anyhow::ensure!(given == json!(ASKED), "the host gave {given}");
    let call = &call;
    Ok(time_async(RUNS, || async move {
        let given: Json = call().await.result.expect("a result");
        std::hint::black_box(given);
    })
    .await)
}

pub(super) async fn measure() -> Result<()> {
    let bytes = assemble(WORLD, MODULE)?;
    let folder = std::env::temp_dir().join(format!("openprogram-policy-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("file"), b"x")?;
    let measured = in_folder(&bytes, &folder).await;
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn in_folder(bytes: &[u8], folder: &Path) -> Result<()> {
    for (title, function) in [
        ("A call that asks for nothing", "nothing"),
        ("A call that reads the clock 100 times", "clock"),
    ] {
        heading(title);
        let base = time_bare(bytes, function, None).await?;
        line("bare wasmtime with wasmtime-wasi", base, None);
        let limits = time_ours(bytes, function, Policy::NoGrants, folder).await?;
        line("limits and accounting, no grants", limits, Some(base));
        let grants = time_ours(bytes, function, Policy::Grants, folder).await?;
        line("the same with grants of every kind", grants, Some(base));
    }
    heading("A call that opens and closes a file 100 times");
    let base = time_bare(bytes, "open", Some(folder)).await?;
    line("bare wasmtime with wasmtime-wasi", base, None);
    let gate = time_ours(bytes, "open", Policy::Grants, folder).await?;
    line(
        "through the gate, with grants of every kind",
        gate,
        Some(base),
    );
    wanted("a call that asks for nothing at most 2 times bare wasmtime");
    Ok(())
}
