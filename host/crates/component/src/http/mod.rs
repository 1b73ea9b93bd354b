//! The gate through which guests reach the network: HTTP requests, each held against the grants of
//! its component.
//!
//! `wasi:http` is there for every component, and a request without a grant is refused when it is
//! made. A name is resolved once and the connection goes to an address of that answer. Redirects
//! are answers like others: the guest follows them with a request of its own. Proxies and their
//! variables are not known here.

mod call;
mod stop;

mod gate;
mod redact;
mod secrets;

mod asked;
mod body;
mod dial;
mod sending;

mod hooks;

pub(crate) use call::HttpCall;
pub(crate) use hooks::HttpState;
pub(crate) use redact::Patterns;
