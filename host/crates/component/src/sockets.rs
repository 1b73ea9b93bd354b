//! Sockets of WASI: there to be imported, and refused to everybody.
//!
//! Toolchains import them for programs that never use them. No socket is ever made: what would make
//! one, and what would look a name up, is refused here before anything of this machine is asked, and
//! noted. All other functions take a socket that nobody has; they are those of wasmtime, whose own
//! permissions refuse everything too.

use openprogram_core::grant::{Access, GrantKind};
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets;
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::ResolveAddressStream;
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddressFamily, Network};
use wasmtime_wasi::p2::{TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};

use crate::state::CallState;

/// The interfaces, in all versions of WASI 0.2.
pub(crate) const SOCKETS: [&str; 7] = [
    "wasi:sockets/network",
    "wasi:sockets/instance-network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
    "wasi:sockets/ip-name-lookup",
];

/// Characters of a name that are noted; no name of the internet is longer.
const NAME_CHARS_MAX: usize = 253;

/// Adds all of them.
pub(crate) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    let options = sockets::network::LinkOptions::default();
    sockets::network::add_to_linker::<_, WasiSockets>(linker, &options, CallState::sockets)?;
    sockets::instance_network::add_to_linker::<_, WasiSockets>(linker, CallState::sockets)?;
    sockets::tcp::add_to_linker::<_, WasiSockets>(linker, CallState::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<_, WasiSockets>(linker, CallState::sockets)?;
    sockets::udp::add_to_linker::<_, WasiSockets>(linker, CallState::sockets)?;
    sockets::udp_create_socket::add_to_linker::<_, WasiSockets>(linker, CallState::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<_, WasiSockets>(linker, CallState::sockets)?;
    refuse_all(linker)
}

/// What an import gives that may fail.
type Answer<T> = (Result<Resource<T>, ErrorCode>,);

/// Puts refusals in the place of everything that would make a socket or ask for an address.
fn refuse_all(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker
        .instance("wasi:sockets/tcp-create-socket@0.2.12")?
        .func_wrap(
            "create-tcp-socket",
            |store, (_family,): (IpAddressFamily,)| -> wasmtime::Result<Answer<TcpSocket>> {
                Ok((Err(refused(store.data(), "a TCP socket")),))
            },
        )?;
    linker
        .instance("wasi:sockets/udp-create-socket@0.2.12")?
        .func_wrap(
            "create-udp-socket",
            |store, (_family,): (IpAddressFamily,)| -> wasmtime::Result<Answer<UdpSocket>> {
                Ok((Err(refused(store.data(), "a UDP socket")),))
            },
        )?;
    linker
        .instance("wasi:sockets/ip-name-lookup@0.2.12")?
        .func_wrap(
            "resolve-addresses",
            |store, (_network, name): (Resource<Network>, String)| {
                let name: String = name.chars().take(NAME_CHARS_MAX).collect();
                let what = format!("the addresses of `{name}`");
                let answer: Answer<ResolveAddressStream> = (Err(refused(store.data(), &what)),);
                Ok(answer)
            },
        )?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Notes a refusal, which no grant would change.
fn refused(state: &CallState, what: &str) -> ErrorCode {
    let message = format!(
        "{what}: there is no grant for sockets; requests over HTTP (`wasi:http`) can be granted"
    );
    if let Some(services) = &state.services {
        services.note(Access::refused(GrantKind::Http, what, message, None));
    }
    ErrorCode::AccessDenied
}
