//! A web for the gate to look at: servers, names, and a host whose notes can be read.

mod certificate;
mod host;
mod names;
mod own_network;
mod server;

pub use certificate::{Certificate, certificate, self_signed};
pub use host::{Called, WebHost, shown};
pub use names::{Names, Record};
pub use own_network::in_own_network;
pub use server::{Answer, Asked, Server};
